#!/usr/bin/python3
"""Finds names that this project no longer uses, in tracked files and in their paths.

The table is names.txt: an old name and the one that the field has for it. A name is a whole
identifier, a whole file name without its extension, or, for the spellings of attributes and of
schedules, a regular expression. Exempt are the changelog, and whoever refuses an old spelling with
the new one.

usage: check_names.py [--sample WORD [--count N]]

With --sample, nothing is checked: it prints N lines drawn at random that have an English word, for a
reader who judges in which sense it is used.
"""

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "scripts" / "names.txt"

# What users wrote: old spelling, new spelling.
SPELLINGS = (
    (r"#blockscale\.(ring_)?schedule<", "#blockscale.multistage_schedule, #blockscale.warp_specialized_schedule"),
    (r"#blockscale\.row<", "#blockscale.type_combination"),
    (r"(path|instruction)<convert\b", "dequant_mma"),
    (r"blockscale\.multiprocessors\b", "blockscale.sm_count"),
    (r"(?<![\w-])exchanged ?= ?(true|false|[01])\b", "swap_ab"),
    (r"(?<![\w-])splits ?= ?\d", "split_k"),
    (r"[,<] ?pair ?= ?(true|false|[01])\b", "two_cta"),
    (r"persistent ?= ?(true|[01]),? ?group ?=", "raster_group"),
)
EXEMPT = (
    "CHANGELOG.md",
    "scripts/names.txt",
    "scripts/check_names.py",
    "lib/Dialect/Transforms/Kernels/Gemm/Schedule/ScheduleText.cpp",
    "test/Tools/schedule.test",
    "test/python/test_names.py",
)


def read_table():
    """Old names and new ones."""
    rows = (line.split() for line in TABLE.read_text().splitlines() if line and not line.startswith("#"))
    return {old: new for old, new in rows}


def tracked():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in names.split("\0") if name and (ROOT / name).is_file()]


def lines_of(name):
    try:
        return (ROOT / name).read_text().splitlines()
    except UnicodeDecodeError:
        return []


def check(table):
    """Prints each old name that is left; how many there are."""
    word = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, table)) + r")(?!\w)")
    spellings = [(re.compile(pattern), new) for pattern, new in SPELLINGS]
    count = 0
    for name in tracked():
        if name in EXEMPT:
            continue
        if Path(name).stem in table:
            print(f"{name}: the name is now {table[Path(name).stem]}")
            count += 1
        for number, line in enumerate(lines_of(name), 1):
            found = [(m[0], table[m[0]]) for m in word.finditer(line)]
            found += [(m[0], new) for pattern, new in spellings for m in pattern.finditer(line)]
            for old, new in found:
                print(f"{name}:{number}: '{old}' is now {new}")
            count += len(found)
    return count


def sample(text, count):
    pattern = re.compile(rf"\b{re.escape(text)}\b", re.IGNORECASE)
    hits = [
        f"{name}:{number}: {line.strip()}"
        for name in tracked() for number, line in enumerate(lines_of(name), 1) if pattern.search(line)
    ]
    print("\n".join(random.sample(hits, min(count, len(hits)))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", metavar="WORD")
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    if options.sample:
        sample(options.sample, options.count)
        return 0
    count = check(read_table())
    print(f"{count} old names")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
