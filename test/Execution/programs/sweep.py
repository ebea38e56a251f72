"""Runs many programs of made_inside.py, on the CPU and in the simulator for each chip, and counts what differs.

usage: /usr/bin/python3 sweep.py [--first N] [--count N] [--targets A,B] [--jobs N] [--keep DIR]
"""

import argparse
import collections
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import conftest  # noqa: F401, makes the harness importable
import outcomes
from made_inside import Case


def check(number, targets, keep):
    case = Case(number)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if keep:
            folder = Path(keep) / str(number)
            folder.mkdir(parents=True, exist_ok=True)
        return number, case, outcomes.compare(folder, case, targets)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--targets", default=",".join(outcomes.TARGETS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="a folder for programs and data")
    options = parser.parse_args()
    targets = options.targets.split(",")
    counts = collections.Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        numbers = range(options.first, options.first + options.count)
        for number, case, found in pool.map(lambda n: check(n, targets, options.keep), numbers):
            for target, outcome in found.items():
                counts[target, "same" if outcome == "same" else "other"] += 1
                if outcome != "same":
                    print(f"{number} {case.row} {' '.join(case.steps)}\n  {target}: {outcome}", flush=True)
    for target in ("cpu", *targets):
        print(f"{target}: {counts[target, 'same']} same, {counts[target, 'other']} other")
    return any(key[1] == "other" for key in counts)


if __name__ == "__main__":
    sys.exit(main())
