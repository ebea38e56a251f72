#!/usr/bin/python3
"""Runs the cases of gpu_cases.py on a CUDA card, compiled here or on another machine.

usage: gpu_bundle.py write FOLDER --target=CHIP [--emulate-on=CHIP2] [--only=TEXT] [--mixed-input|--warp-specialized|--mma-sync-specialized]
       gpu_bundle.py check FOLDER --launcher=PROGRAM [--mixed-input|--warp-specialized|--mma-sync-specialized]

`write` needs blockscale-compile; `check` needs blockscale-launch, numpy and a card. Between the
two, FOLDER and this repository's test and python folders may travel. `check` prints one line per
case and exits with 1 if one is wrong. With --mixed-input, cases are those of mixed_input_cases.py, for sm_90a;
with --warp-specialized, those of emulated_cases.py, for --target=sm_100a --emulate-on=sm_90a; with --mma-sync-specialized,
those of mma_sync_specialized_cases.py, for --target=sm_120a and, emulated, for sm_90.
"""

import argparse
import functools
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
# First, since it finds the package that cases use.
import conftest  # noqa: E402, F401
import chain_cases  # noqa: E402
import mixed_input_cases  # noqa: E402
import dequantize_cases  # noqa: E402
import dynamic_cases  # noqa: E402
import emulated_cases  # noqa: E402
import fusion_cases  # noqa: E402
import gpu_cases  # noqa: E402
import layout_cases  # noqa: E402
import numpy as np  # noqa: E402
import tile_kernels  # noqa: E402
import vector_kernels  # noqa: E402
import mma_sync_specialized_cases  # noqa: E402
from harness import REPO, gpu_buffer  # noqa: E402

COMPILE = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")) / "bin" / "blockscale-compile"
TIMEOUT_S = 300


def run(command):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise AssertionError("; ".join(errors) or f"exit code {done.returncode}")


def is_kernel(case):
    return isinstance(case, gpu_cases.KernelCase)


@functools.lru_cache(maxsize=512)
def compile_text(name, text, flags, has_info):
    """The PTX of a program, and its launch info if it has one. Compiling takes longer than most tests run; a program
    that several tests of a process need is compiled once.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, ptx, info = (Path(folder) / f"{name}.{end}" for end in ("mlir", "ptx", "json"))
        source.write_text(text)
        run([COMPILE, source, *flags, "-o", ptx, *([f"--launch-info={info}"] if has_info else [])])
        return ptx.read_text(), info.read_text() if has_info else None


def write_case(case, folder, flags):
    """Compiles one case to FOLDER/NAME.ptx, and NAME.json where it is a function."""
    folder.mkdir(parents=True, exist_ok=True)
    text = case.text if is_kernel(case) else case.program.text()
    flags = (*flags, *getattr(case, "flags", []))
    ptx, info = compile_text(case.name, text, flags, not is_kernel(case))
    (folder / f"{case.name}.mlir").write_text(text)
    (folder / f"{case.name}.ptx").write_text(ptx)
    if info is not None:
        (folder / f"{case.name}.json").write_text(info)


def describe(program, expectations):
    """The arguments, buffers or scalars, and (type, shape, expectation) of results."""
    buffers = [
        array if value.container == "scalar"
        else gpu_buffer(array, value.element, i in program.packed)
        for i, (value, array) in enumerate(zip(program.args, program.arrays))
    ]
    results = []
    for value, expectation in zip(program.results, expectations):
        shape = expectation.shape if None in value.shape else value.shape
        zeros = gpu_buffer(np.zeros(shape, np.uint8), value.element)
        dtype = {"f32": "f4", "f16": "f2", "bf16": "u2"}.get(value.element, "u1")
        results.append((dtype, zeros.shape, expectation))
    return buffers, results


def check_case(case, folder, launcher, flags=()):
    """Launches one case and checks its results; its files are made and removed here."""
    if is_kernel(case):
        how = ["--entry=kernel", f"--grid={case.grid}", f"--block={case.block}", *flags]
        return launch(case, folder, launcher, how, case.arrays, [("f4", case.shape, case)])
    how = [f"--launch-info={folder / case.name}.json", *flags]
    for program, expectations in ((case.program, case.expectations), *case.variants):
        launch(case, folder, launcher, how, *describe(program, expectations))
    return None


def launch(case, folder, launcher, how, buffers, results):
    inputs = [folder / f"{case.name}.in{i}.npy" for i in range(len(buffers))]
    outputs = [folder / f"{case.name}.out{i}.npy" for i in range(len(results))]
    arguments = []
    for path, array in zip(inputs, buffers):
        np.save(path, array)
        arguments.append(f"f32:{array}" if array.ndim == 0 else f"in:{path}")
    for path, (dtype, shape, _) in zip(outputs, results):
        arguments.append(f"out:{path}:{dtype}:{'x'.join(map(str, shape))}")
    try:
        run([launcher, folder / f"{case.name}.ptx", *how, *arguments])
        for path, (_, _, expectation) in zip(outputs, results):
            expectation.check(np.load(path))
    finally:
        for path in inputs + outputs:
            path.unlink(missing_ok=True)


@functools.cache
def every_case():
    """All cases; their data takes seconds to make."""
    return [
        *gpu_cases.all_cases(), *vector_kernels.all_kernels(), *tile_kernels.all_tiles(),
        *layout_cases.all_layouts(), *fusion_cases.all_fusions(), *layout_cases.schedules(),
        *dynamic_cases.all_dynamic(), *dequantize_cases.all_edges(), *chain_cases.all_chains(),
    ]


# Cases by what chooses them.
SETS = {
    "all": every_case,
    "mixed-input": functools.cache(lambda: list(mixed_input_cases.all_mixed_input())),
    "warp-specialized": functools.cache(emulated_cases.all_emulated),
    "mma-sync-specialized": functools.cache(lambda: [*mma_sync_specialized_cases.all_combinations(), *mma_sync_specialized_cases.factors()]),
}


def select(only, name="all"):
    """Cases of a set, by a part of their names."""
    return [case for case in SETS[name]() if only in case.name]


def check_folder(folder, launcher, sets=tuple(SETS)):
    """The number of wrong cases of those that FOLDER has, of such sets."""
    cases = [
        case for name in sets for case in select("", name)
        if (folder / f"{case.name}.ptx").is_file()
    ]

    def check(case):
        try:
            check_case(case, folder, launcher)
        except AssertionError as error:
            return str(error).strip().splitlines()[0:6]
        return None

    wrong = 0
    with ThreadPoolExecutor(8) as pool:
        for case, error in zip(cases, pool.map(check, cases)):
            print(f"{case.name}: {error or 'ok'}")
            wrong += error is not None
    print(f"{folder.name}: {len(cases) - wrong} of {len(cases)} cases right")
    return wrong + (not cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["write", "check"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target")
    parser.add_argument("--emulate-on")
    parser.add_argument("--only", default="")
    for name in list(SETS)[1:]:
        parser.add_argument(f"--{name}", dest="set", action="store_const", const=name, default="all")
    parser.add_argument("--launcher", type=Path)
    options = parser.parse_args()
    if options.action == "check":
        sets = SETS if options.set == "all" else [options.set]
        return min(check_folder(options.folder, options.launcher, sets), 1)
    flags = [f"--target={options.target}"]
    if options.emulate_on:
        flags.append(f"--emulate-on={options.emulate_on}")
    for case in select(options.only, options.set):
        write_case(case, options.folder, flags)
    return 0


if __name__ == "__main__":
    sys.exit(main())
