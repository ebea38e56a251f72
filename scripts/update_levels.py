#!/usr/bin/python3
"""Writes the ops of each level to docs/gpu/levels.md, from the output of blockscale-opt --show-levels.

usage: update_levels.py [--check] [--opt PROGRAM]

In the diagram of the section "Levels", a level is a line that begins with its name; the indented
lines behind it are its ops. With --check nothing is written: the exit code is 1, and the
differences are printed, if the page is stale.
"""

import argparse
import difflib
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gpu" / "levels.md"
WIDTH = 116
INDENT = " " * 10


def read_levels(opt):
    """The ops of each level, by its name, without the prefix of the dialect."""
    text = subprocess.run([opt, "--show-levels"], capture_output=True, text=True, check=True).stdout
    levels = {}
    for line in text.splitlines():
        level, op = line.split()
        levels.setdefault(level, []).append(op.removeprefix("blockscale."))
    if not levels:
        sys.exit(f"{opt} --show-levels: expected a line for each op, got nothing")
    return levels


def update(text, levels):
    """The page `text` with the ops of `levels`; fails if the diagram does not have each level once."""
    lines, found, in_list = [], [], False
    diagram = False
    for line in text.splitlines():
        if line.startswith("```"):
            diagram = not diagram and lines[-2:] == ["## Levels", ""]
        words = line.split()
        if diagram and line.startswith(INDENT) and in_list:
            continue
        in_list = bool(diagram and words and words[0] in levels and line.startswith(f" {words[0]} "))
        lines.append(line)
        if in_list:
            found.append(words[0])
            lines += textwrap.wrap(
                ", ".join(sorted(levels[words[0]])), WIDTH, initial_indent=INDENT,
                subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False,
            )
    if sorted(found) != sorted(levels):
        sys.exit(f"{PAGE}: expected the levels {sorted(levels)} in the diagram, got {sorted(found)}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--opt", default=ROOT / "build" / "bin" / "blockscale-opt")
    options = parser.parse_args()
    old = PAGE.read_text()
    new = update(old, read_levels(options.opt))
    if not options.check:
        PAGE.write_text(new)
    elif old != new:
        sys.stdout.writelines(difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), "docs/gpu/levels.md", "as it should be"))
        print("docs/gpu/levels.md is stale: run scripts/update_levels.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
