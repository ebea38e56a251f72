#!/usr/bin/python3
"""Runs the tests of blockscale and adds up the results of all runners.

The runners are lit, googletest, pytest and the checks of check_sources.py. Each
writes a JUnit report; a runner that leaves none, or exits with an error that
its report does not show, counts as one failure. lit uses all cores by itself;
of the others, several run at the same time. The last line is
`N passed, N failed, N skipped`; the exit code is 0 if and only if nothing
failed and something passed.

Without --full, the wide cover is left out, and is no part of the sum: the cases
of pytest that are marked `full`, and clang-tidy. The wide cover has each legal
combination of types on each path, and of cases that have each pair of values a
third (test/conftest.py); with --exhaustive, all of these and whole products run,
which takes hours.

usage: run_tests.py [--full | --exhaustive] [--build DIR] [--lit PATH] [--jobs N]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = ROOT / "test"
# These take minutes, and start first, so that none of them runs alone at the end: in the order of --full.
LONGEST = (
    "python", "test_warp_specialized.py", "test_weight_only.py", "test_dequantized_products.py",
    "test_wgmma_products.py", "test_mixed_input.py", "test_warp_specialized_mutations.py", "test_tcgen05_products.py",
    "test_mma_sync_specialized.py", "test_programs.py", "test_native.py", "test_simulated.py", "test_fused.py",
    "test_imported_weights.py", "test_tune.py", "test_chains.py", "test_captured.py", "test_softmax.py",
    "test_tensor_core.py", "test_mma_sync_products.py",
)


class Runner(NamedTuple):
    """A command; REPORT in it stands for the file that it reports to."""

    name: str
    command: list


def lit(build, program):
    return Runner("lit", [sys.executable, program, "-v", "--xunit-xml-output=REPORT", build / "test"])


def pytest(path, flags):
    command = [sys.executable, "-m", "pytest", "-q", *flags, "--junitxml=REPORT", path]
    return Runner(f"pytest {path.relative_to(TEST)}", command)


def check_sources(build, tool):
    script = ROOT / "scripts" / "check_sources.py"
    return Runner(tool, [sys.executable, script, tool, "--build", build, "--report=REPORT"])


def parallel_runners(build, flags):
    """The commands that may run in parallel: one for each program, and for each file of long tests."""
    if flags:
        yield check_sources(build, "clang-tidy")
    files = [*TEST.glob("Execution/*/test_*.py"), *TEST.glob("Benchmarks/test_*.py"), TEST / "python"]
    longest = {name: i for i, name in enumerate(LONGEST)}
    for path in sorted(files, key=lambda path: (longest.get(path.name, len(longest)), path)):
        yield pytest(path, flags)
    for program in sorted((build / "test" / "Unit").glob("*Tests")):
        yield Runner(program.name, [program, "--gtest_brief=1", "--gtest_output=xml:REPORT"])
    yield check_sources(build, "clang-format")


def count(report):
    """(passed, failed, skipped) of a JUnit report."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).iter("testcase"):
        tags = {child.tag for child in case}
        if tags & {"failure", "error"}:
            failed += 1
        elif "skipped" in tags or case.get("status") == "notrun":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def run(runner, reports, environment):
    """Runs one runner and counts its results; its output is printed when it is done."""
    report = reports / (runner.name.replace("/", "-").replace(" ", "-") + ".xml")
    report.unlink(missing_ok=True)
    command = [str(part).replace("REPORT", str(report)) for part in runner.command]
    start = time.monotonic()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = [f"== {runner.name}, {time.monotonic() - start:.0f} s"]
    lines += done.stdout.decode(errors="replace").rstrip().splitlines()
    try:
        passed, failed, skipped = count(report)
        if done.returncode != 0 and failed == 0:
            lines.append(f"{runner.name}: exit code {done.returncode}, though no test failed")
            failed = 1
    except (OSError, ElementTree.ParseError) as error:
        lines.append(f"{runner.name}: no report ({error}), exit code {done.returncode}")
        passed, failed, skipped = 0, 1, 0
    print("\n".join(lines), flush=True)
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="also run the wide cover")
    parser.add_argument("--exhaustive", action="store_true", help="also run whole products of cases; has --full")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--lit", default="/usr/lib/llvm-22/bin/lit")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runners at the same time")
    options = parser.parse_args()
    build = options.build.resolve()
    reports = build / "test" / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, BLOCKSCALE_BUILD=str(build), PYTHONDONTWRITEBYTECODE="1")

    results = [run(lit(build, options.lit), reports, environment)]
    with ThreadPoolExecutor(options.jobs) as pool:
        flags = ["--exhaustive"] if options.exhaustive else ["--full"] if options.full else []
        runners = parallel_runners(build, flags)
        results += pool.map(lambda runner: run(runner, reports, environment), runners)
    passed, failed, skipped = map(sum, zip(*results))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed != 0 else 1


if __name__ == "__main__":
    sys.exit(main())
