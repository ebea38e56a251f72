#!/usr/bin/python3
"""The wide cover of the path tcgen05 in the simulator: results of many problems against numpy.

usage: warp_specialized_cover.py [--combinations] [--triples TYPES...] [--clusters] [--seeds=N] [--only TEXT]
                     [--part I/N] [--build DIR]

--combinations takes each of the 27 combinations of types through the pairs of these and M, N, K, layout and batch;
--triples takes one (`nvfp4`, `mxfp4`, `mixed`) through every three values of M, N, K, and layout with batch;
--clusters takes six of them through the pairs of cluster, M, N, K, layout and swap_ab, with one CTA and with two
(two_cta), and those of packed fp4 through instructions with K = 96. All search for races and missing fences,
with --seed=0 to N - 1 (1). Prints one line for each case, and what is wrong; the exit code is 1 then.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

from compile_time import ROOT

TRIPLE_TYPES = ("mixed", "mxfp4", "nvfp4")


def make_cases(options):
    """The name, the chip and what makes the case."""
    import gpu_cases
    import harness
    import warp_specialized_cases

    arguments = list(warp_specialized_cases.pairs(harness.COMBINATIONS)) if options.combinations else []
    for name in options.triples:
        arguments += warp_specialized_cases.triples(getattr(gpu_cases, name.upper()))
    for of in arguments:
        yield of[0], "sm_100a", lambda of=of: warp_specialized_cases.case(*of)
    if options.clusters:
        for chip, cases in (("sm_100a", warp_specialized_cases.clusters()), ("sm_103a", warp_specialized_cases.wide())):
            for case in cases:
                yield case.name, chip, lambda case=case: case


def check(case, chip, seeds, folder, simulator):
    """What is wrong with a case, or None."""
    import gpu_bundle

    try:
        gpu_bundle.write_case(case, folder, [f"--target={chip}", "--native-only"])
        for seed in range(seeds):
            gpu_bundle.check_case(case, folder, simulator, ["--check=race,proxy,strict", f"--seed={seed}"])
    except AssertionError as error:
        return str(error).strip()
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--combinations", action="store_true")
    parser.add_argument("--triples", nargs="+", default=[], choices=TRIPLE_TYPES, metavar="TYPES")
    parser.add_argument("--clusters", action="store_true")
    parser.add_argument("--seeds", type=int, default=1)
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
    for number, (name, chip, make) in enumerate(make_cases(options)):
        if number % parts != part or options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            error = check(make(), chip, options.seeds, pathlib.Path(folder), simulator)
        print(f"{name}: {error or 'ok'}", flush=True)
        count += 1
        wrong += [name] * (error is not None)
    print(f"{count - len(wrong)} of {count} cases right, {time.perf_counter() - start:.0f} s", *wrong)
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
