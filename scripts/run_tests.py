#!/usr/bin/python3
"""Runs every test of blockscale and sums the results of all runners.

The runners are lit, googletest and pytest. Each writes a JUnit report; a
runner that leaves none, or exits with an error that its report does not show,
counts as one failure. The last line is `N passed, N failed, N skipped`; the
exit code is 0 if and only if nothing failed and something passed.

usage: run_tests.py [--build DIR] [--lit PATH]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commands(build, lit, reports):
    """(name, command, report) for each runner."""
    yield (
        "lit",
        [sys.executable, lit, "-v", f"--xunit-xml-output={reports}/lit.xml", build / "test"],
        reports / "lit.xml",
    )
    for program in sorted((build / "test" / "Unit").glob("*Tests")):
        report = reports / f"{program.name}.xml"
        yield program.name, [program, "--gtest_brief=1", f"--gtest_output=xml:{report}"], report
    for folder in ("python", "Execution"):
        report = reports / f"pytest-{folder}.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        yield f"pytest {folder}", [*command, f"--junitxml={report}", ROOT / "test" / folder], report


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


def run(name, command, report, environment):
    """Runs one runner and counts its results."""
    print(f"== {name}", flush=True)
    report.unlink(missing_ok=True)
    code = subprocess.run([str(part) for part in command], env=environment).returncode
    try:
        passed, failed, skipped = count(report)
    except (OSError, ElementTree.ParseError) as error:
        print(f"{name}: no report ({error}), exit code {code}")
        return 0, 1, 0
    if code != 0 and failed == 0:
        print(f"{name}: exit code {code}, though no test failed")
        failed = 1
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--lit", default="/usr/lib/llvm-22/bin/lit")
    options = parser.parse_args()
    build = options.build.resolve()
    reports = build / "test" / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, BLOCKSCALE_BUILD=str(build), PYTHONDONTWRITEBYTECODE="1")

    totals = [0, 0, 0]
    for name, command, report in commands(build, options.lit, reports):
        for i, number in enumerate(run(name, command, report, environment)):
            totals[i] += number
    passed, failed, skipped = totals
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed != 0 else 1


if __name__ == "__main__":
    sys.exit(main())
