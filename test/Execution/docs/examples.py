"""Finds the fenced blocks of the documentation, and runs them.

A page is README.md, CONTRIBUTING.md, CHANGELOG.md or a file *.md below docs/; its blocks are run as
follows. Only `mlir` blocks are taken from the .td files below include/, whose fences are indented.

    mlir     blockscale-opt accepts it
    console  every line `$ COMMAND` is run by bash, and must print the lines that follow; a line
             `...` there stands for any lines. A command that ends in `\\` goes on in the next line,
             after `> `.
    python   runs on its own; if there are comments `# -> TEXT`, it must print these texts, line by
             line
    others   (`text`, `cmake`, `c`, `cpp`) are not run

A build with sanitizers has a plugin that the stock mlir-opt-22 cannot load; commands with it are left
out there.

A block whose first line is the comment `// NAME` or `# NAME`, NAME with a suffix, is also the
file NAME for the blocks after it. All blocks of a page share one folder, which looks like the root
of the repository; what they write stays there.
"""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
PAGES = [REPO / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((REPO / "docs").rglob("*.md"))
TABLES = sorted((REPO / "include").rglob("*.td"))
RUN_KINDS = ("mlir", "console", "python")
OTHER_KINDS = ("text", "cmake", "c", "cpp")
TIMEOUT_S = 120


def is_sanitized():
    cache = BUILD / "CMakeCache.txt"
    return cache.is_file() and "-fsanitize=" in cache.read_text()


class Block(NamedTuple):
    path: Path
    line: int  # of the opening fence, from 1
    kind: str
    text: str

    def __str__(self):
        return f"{self.path.relative_to(REPO)}:{self.line}"

    @property
    def file_name(self):
        """The name that the first line gives to the block, or None."""
        match = re.match(r"(?://|#) ([\w-]+\.\w+)$", self.text.split("\n")[0])
        return match and match[1]


def find_blocks(path):
    """The fenced blocks of a file, without indentation."""
    blocks, start, kind, body = [], None, None, []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        fence = re.match(r"\s*```(.*)$", line)
        if not fence:
            body.append(line)
        elif start is None:
            start, kind, body = number, fence[1].strip(), []
        else:
            text = textwrap.dedent("\n".join(body)) + "\n"
            blocks.append(Block(path, start, kind, text))
            start = None
    if start is not None:
        raise ValueError(f"{path}:{start}: the block does not end")
    return blocks


def make_folder(folder):
    """Makes `folder` look like the root of the repository, with the programs in build/."""
    for entry in REPO.iterdir():
        if not entry.name.startswith((".", "build")):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").symlink_to(BUILD)


def run(command, folder, **kwargs):
    """Runs a command; its standard output and error as they come on a terminal, and its code."""
    environment = dict(
        os.environ, PYTHONPATH=str(REPO / "python"), PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8",
        BLOCKSCALE_BIN=str(BUILD / "bin"), BLOCKSCALE_CACHE=str(folder / "cache.of.examples"),
    )
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=TIMEOUT_S, check=False, **kwargs,
    )
    return done.stdout, done.returncode


def parse_console(text):
    """Pairs of a command and the lines that it prints."""
    pairs, is_open = [], False
    for line in text.splitlines():
        if is_open and line.startswith("> "):
            pairs[-1][0] += "\n" + line[2:]
        elif line.startswith("$ "):
            pairs.append([line[2:], []])
        elif pairs:
            pairs[-1][1].append(line)
        else:
            raise ValueError(f"expected a line that starts with '$ ', got {line!r}")
        is_open = line.endswith("\\")
    return pairs


def matches(lines, patterns):
    """Whether the lines are those expected, where a pattern `...` is any number of lines."""
    if not patterns:
        return not lines
    if patterns[0] == "...":
        return any(matches(lines[i:], patterns[1:]) for i in range(len(lines) + 1))
    return bool(lines) and lines[0] == patterns[0] and matches(lines[1:], patterns[1:])


def check_output(where, command, output, expected):
    lines = [line.rstrip() for line in output.splitlines()]
    if not matches(lines, [line.rstrip() for line in expected]):
        raise AssertionError(
            f"{where}: {command}\n--- expected\n" + "\n".join(expected) + "\n--- got\n" + output
        )


def run_mlir(block, folder):
    output, code = run([BUILD / "bin" / "blockscale-opt"], folder, input=block.text)
    if code != 0:
        raise AssertionError(f"{block}: exit code {code}\n{output}")


def run_console(block, folder):
    code = 0
    for command, expected in parse_console(block.text):
        if "libBlockScalePlugin" in command and is_sanitized():
            continue
        # What `$?` is to the command.
        output, code = run(["bash", "-c", f"(exit {code})\n{command}"], folder)
        check_output(block, command, output, expected)


def run_python(block, folder):
    output, code = run([sys.executable, "-c", block.text], folder)
    if code != 0:
        raise AssertionError(f"{block}: exit code {code}\n{output}")
    expected = re.findall(r"^\s*# -> (.*)$", block.text, re.MULTILINE)
    if expected:
        check_output(block, "python", output, expected)


def run_page(blocks, folder):
    """Runs the console and Python blocks of a page, in order."""
    make_folder(folder)
    for block in blocks:
        if block.file_name:
            (folder / block.file_name).write_text(block.text)
        if block.kind == "console":
            run_console(block, folder)
        elif block.kind == "python":
            run_python(block, folder)
