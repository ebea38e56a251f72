"""Launches kernels of tcgen05 instructions in the simulator."""

import os
import subprocess
from pathlib import Path

import numpy as np
from harness import REPO
from mma_data import D_DTYPES
from mma_kernels import kernel
from tensor_memory import LANES, d_positions

SIMULATOR = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")) / "bin" / "blockscale-sim"
TIMEOUT_S = 300
SHARED_SLACK = 1024  # for the alignment of the first byte


def launch(folder, text, arguments, shared=0, grid=1, cluster=1, block=128, flags=(), maps=()):
    """Runs a kernel on tensor maps and arrays, of which the last one is written. (exit code, that array,
    messages)."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "kernel.ptx"
    program.write_text(text)
    paths = [folder / f"{i}.npy" for i in range(len(arguments))]
    for path, array in zip(paths, arguments):
        np.save(path, array)
    command = [
        SIMULATOR, program, f"--grid={grid}", f"--block={block}", f"--shared={shared + SHARED_SLACK}",
        *([f"--cluster={cluster}"] if cluster > 1 else []), *flags,
        *(f"tmap:{each}" for each in maps), *(f"in:{path}" for path in paths[:-1]), f"inout:{paths[-1]}",
    ]
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    return done.returncode, np.load(paths[-1]), done.stderr


def launch_text(folder, plan, text, flags=()):
    """Runs the text of a plan's kernel; (exit code, D (m, n), messages)."""
    config = plan.config
    out = np.zeros((config.ctas, LANES, config.d_columns), np.uint32)
    code, words, messages = launch(
        folder, text, [plan.shared, plan.fill_words, out], plan.shared.shape[1], config.ctas, config.ctas,
        flags=flags,
    )
    dtype = np.dtype(D_DTYPES[config.d_type])
    d = np.ascontiguousarray(words[d_positions(config)])
    return code, d.astype(f"u{dtype.itemsize}").view(dtype), messages


def run(folder, plan, flags=("--check=race,proxy,strict",)):
    """D (m, n) of a plan; the run must be clean but for what the PTX ISA leaves open."""
    allowed = []
    if plan.config.d_type == "f16":  # what is above an f16 in its cell
        flags = [*flags, "--allow-undefined-output"]
        allowed.append("bytes are undefined at the end")
    if "e2m1" in (plan.config.a_type, plan.config.b_type):  # shipped compilers do that
        allowed.append("of .e2m1 is transposed, which the PTX ISA does not list")
    code, d, messages = launch_text(folder, plan, kernel(plan), flags)
    rest = [line for line in messages.splitlines() if not any(text in line for text in allowed)]
    assert code == 0 and not rest, f"exit code {code}\n{messages}"
    return d
