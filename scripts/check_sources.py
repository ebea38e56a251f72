#!/usr/bin/python3
"""Checks the C++ sources with clang-format or clang-tidy, and reports as JUnit does.

clang-format looks at all sources, clang-tidy at those of the libraries without
MLIR, or with --all at all that is compiled of the libraries and programs: a
file with MLIR's headers takes it ten times as long. A warning of either is a
failure. Where the tool is not installed, nothing was checked, and the one test
is skipped.

usage: check_sources.py {clang-format,clang-tidy} [--all] [--build DIR] [--report FILE] [--jobs N]
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = 22
PLAIN = ("lib/Support", "lib/Runtime", "lib/Simulator")


def all_sources():
    folders = ("include", "lib", "tools", "test")
    return sorted(path for name in folders for path in (ROOT / name).rglob("*") if path.suffix in (".cpp", ".h"))


def compiled_sources(build, folders):
    """The sources in some folders that the build compiles."""
    commands = json.loads((build / "compile_commands.json").read_text())
    files = {pathlib.Path(command["directory"], command["file"]).resolve() for command in commands}
    return sorted(path for path in files if any(path.is_relative_to(ROOT / folder) for folder in folders))


def run(command):
    """The output of a tool; empty if it finds nothing."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return done.stdout
    return done.stdout + done.stderr or f"exit code {done.returncode}\n"


def check_format(tool, options):
    return run([tool, "--dry-run", "--Werror", *all_sources()])


def check_tidy(tool, options):
    command = [tool, "--quiet", "-p", options.build]
    files = compiled_sources(options.build, ("lib", "tools") if options.all else PLAIN)
    with ThreadPoolExecutor(options.jobs) as pool:
        return "".join(pool.map(lambda path: run([*command, path]), files))


def write_report(path, name, tag, message):
    suite = ElementTree.Element("testsuite", name="sources")
    case = ElementTree.SubElement(suite, "testcase", classname="sources", name=name)
    if tag:
        ElementTree.SubElement(case, tag, message=message)
    ElementTree.ElementTree(suite).write(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", choices=["clang-format", "clang-tidy"])
    parser.add_argument("--all", action="store_true", help="clang-tidy: files with MLIR, too")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--report", type=pathlib.Path, default=os.devnull)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    tool = shutil.which(f"{options.tool}-{VERSION}")
    if not tool:
        message = f"{options.tool}-{VERSION} is not installed"
        print(f"not run: {message}")
        write_report(options.report, options.tool, "skipped", message)
        return 0
    warnings = (check_format if options.tool == "clang-format" else check_tidy)(tool, options)
    print(warnings or "no warnings")
    write_report(options.report, options.tool, "failure" if warnings else "", "see the output")
    return 1 if warnings else 0


if __name__ == "__main__":
    sys.exit(main())
