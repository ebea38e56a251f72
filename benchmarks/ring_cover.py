#!/usr/bin/python3
"""The wide cover of the path tcgen05 in the simulator: results of many problems against numpy.

usage: ring_cover.py [--rows] [--triples ROW...] [--only TEXT] [--part I/N] [--build DIR]

--rows takes each of the 27 rows through the pairs of row, M, N, K, layout and batch; --triples takes a
row (`nvfp4`, `mxfp4`, `mixed`) through every three values of M, N, K, and layout with batch. Both search
for races and missing fences. Prints one line for each case of eight problems, and what is wrong; the
exit code is 1 then.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

from compile_time import ROOT

ROWS_OF_TRIPLES = ("mixed", "mxfp4", "nvfp4")


def make_arguments(options):
    """Those of `ring_cases.case`."""
    import gpu_cases
    import harness
    import ring_cases

    if options.rows:
        yield from ring_cases.pairs(harness.ROWS)
    for name in options.triples:
        yield from ring_cases.triples(getattr(gpu_cases, name.upper()))


def check(arguments, folder, simulator):
    """What is wrong with a case, or None."""
    import gpu_bundle
    import ring_cases

    case = ring_cases.case(*arguments)
    try:
        gpu_bundle.write_case(case, folder, ["--target=sm_100a", "--native-only"])
        gpu_bundle.check_case(case, folder, simulator, ["--check=race,proxy,strict"])
    except AssertionError as error:
        return str(error).strip()
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--triples", nargs="+", default=[], choices=ROWS_OF_TRIPLES, metavar="ROW")
    parser.add_argument("--only", default="", help="cases whose names have this text")
    parser.add_argument("--part", default="0/1", help="every N-th case, from number I on")
    parser.add_argument("--build", default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    options = parser.parse_args()
    os.environ["BLOCKSCALE_BUILD"] = str(options.build)
    sys.path[:0] = [str(ROOT / "test" / "Execution" / "cuda"), str(ROOT / "test" / "Execution")]
    import conftest  # noqa: F401

    part, parts = map(int, options.part.split("/"))
    simulator = pathlib.Path(options.build, "bin", "blockscale-sim")
    count, wrong = 0, []
    start = time.perf_counter()
    for number, arguments in enumerate(make_arguments(options)):
        name = arguments[0]
        if number % parts != part or options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            error = check(arguments, pathlib.Path(folder), simulator)
        print(f"{name}: {error or 'ok'}", flush=True)
        count += 1
        wrong += [name] * (error is not None)
    print(f"{count - len(wrong)} of {count} cases right, {time.perf_counter() - start:.0f} s", *wrong)
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
