"""Runs a program of made_inside.py on the CPU and in the simulator, and says how the results compare."""

import subprocess

import numpy as np
from harness import RUN, TIMEOUT_S

# The last one takes what it can by bulk copies; where it cannot, it is the one before.
BULK = "tile=64x64x{k},stages=2,accumulators=1,persistent=1"
TARGETS = {
    "sm_80": ("sm_80", None), "sm_90a": ("sm_90a", None), "sm_100a": ("sm_100a", None), "sm_103a": ("sm_103a", None),
    "sm_120a": ("sm_120a", None), "sm_120a-bulk": ("sm_120a", BULK),
}


def run(folder, case, flags, name):
    """The result, or the process that left none."""
    output = folder / f"{name}.npy"
    inputs = [folder / f"in{i}.npy" for i in range(len(case.p.arrays))]
    command = [RUN, folder / "main.mlir", *flags, "-o", output, *inputs]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    return (np.load(output) if done.returncode == 0 else None), done


def write(folder, case):
    (folder / "main.mlir").write_text(case.p.text())
    for i, array in enumerate(case.p.arrays):
        np.save(folder / f"in{i}.npy", array)


def is_same(result, expected, tolerance):
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return False
    if not tolerance:
        return np.array_equal(result, expected)
    most = np.abs(expected).max(initial=0.0)
    return bool(np.all(np.abs(result - expected) <= tolerance * most))


def flags_of(case, target):
    chip, schedule = TARGETS[target]
    flags = ["--device=sim", f"--target={chip}"]
    if schedule:
        narrow = case.row.x == case.row.y == "f4E2M1FN"
        flags.append("--schedule=" + schedule.format(k=256 if narrow else 128))
    return flags


def compare(folder, case, targets):
    """For "cpu" and each target, "same" or what happened instead."""
    write(folder, case)
    expected, done = run(folder, case, [], "cpu")
    if expected is None:
        return {"cpu": describe(done)}
    outcomes = {"cpu": "same"}
    for target in targets:
        result, done = run(folder, case, flags_of(case, target), target)
        if result is None:
            outcomes[target] = describe(done)
        elif is_same(result, expected, case.tolerance):
            outcomes[target] = "same"
        else:
            outcomes[target] = "wrong values"
    return outcomes


def describe(done):
    lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:] or [""]
    return f"exit code {done.returncode}: {lines[0]}"
