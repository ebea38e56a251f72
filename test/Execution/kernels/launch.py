#!/usr/bin/python3
"""Launches the kernels of cases.py with a program, and compares what two programs made of them.

usage: launch.py run FOLDER --launcher=PROGRAM [--only=TEXT] [-- FLAG...]
       launch.py compare FOLDER FOLDER

`run` checks every result against numpy and stores it in FOLDER; PROGRAM is blockscale-sim or, on a
machine with a card of sm_90 or later, blockscale-launch. `compare` holds stored results against
each other, bit for bit. Both print a line for each case and exit with 1 if one is wrong.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import conftest  # noqa: E402, F401
import numpy as np  # noqa: E402
from cases import all_cases  # noqa: E402
from harness import assert_bit_equal  # noqa: E402
from tensor_cases import TensorMap  # noqa: E402

TIMEOUT_S = 300


def dim(sizes):
    return ",".join(map(str, sizes))


def launch(case, folder, launcher, flags=()):
    """Launches a case; the results by the number of their argument."""
    folder.mkdir(parents=True, exist_ok=True)
    ptx = folder / f"{case.name}.ptx"
    ptx.write_text(case.ptx)
    command = [
        launcher, ptx, f"--entry={case.entry}", f"--grid={dim(case.grid)}",
        f"--block={dim(case.block)}", *flags,
    ]
    if case.cluster:
        command.append(f"--cluster={dim(case.cluster)}")
    paths = {}
    for i, argument in enumerate(case.arguments):
        if isinstance(argument, int):
            command.append(f"i32:{argument}")
            continue
        path = folder / f"{case.name}.{i}.npy"
        if isinstance(argument, TensorMap):
            np.save(path, argument.array)
            command.append(argument.argument(path, i in case.results))
        else:
            np.save(path, argument)
            command.append(f"{'inout' if i in case.results else 'in'}:{path}")
        paths[i] = path
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {i: np.load(paths[i]) for i in case.results}, done.stderr


def check(case, results):
    for i, expected in case.results.items():
        assert_bit_equal(results[i], expected)


def run_all(folder, launcher, only, flags):
    wrong = 0
    for case in all_cases():
        if only not in case.name:
            continue
        try:
            results, _ = launch(case, folder, launcher, flags)
            check(case, results)
            print(f"{case.name}: ok")
        except AssertionError as error:
            wrong += 1
            print(f"{case.name}: {str(error).strip().splitlines()[:6]}")
    return wrong


def compare(first, second):
    wrong = 0
    for case in all_cases():
        for i in case.results:
            name = f"{case.name}.{i}.npy"
            same = (first / name).read_bytes() == (second / name).read_bytes()
            print(f"{name}: {'the same' if same else 'different'}")
            wrong += not same
    return wrong


def dispatch(doc, run, compare, digest=None):
    """The command line of this program and of those like it; the exit code."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    actions = parser.add_subparsers(dest="action", required=True)
    runner = actions.add_parser("run")
    runner.add_argument("folder", type=Path)
    runner.add_argument("--launcher", type=Path, required=True)
    runner.add_argument("--only", default="")
    runner.add_argument("flags", nargs="*")
    both = actions.add_parser("compare")
    both.add_argument("first", type=Path)
    both.add_argument("second", type=Path)
    if digest:
        actions.add_parser("digest").add_argument("folder", type=Path)
    options = parser.parse_args()
    if options.action == "digest":
        json.dump(digest(options.folder), sys.stdout, indent=0)
        return 0
    if options.action == "compare":
        return min(compare(options.first, options.second), 1)
    options.folder.mkdir(parents=True, exist_ok=True)
    return min(run(options.folder, options.launcher, options.only, options.flags), 1)


if __name__ == "__main__":
    sys.exit(dispatch(__doc__, run_all, compare))
