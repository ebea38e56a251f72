"""Runs programs on the CPU and in the simulator, for tests of ops along rows."""

import subprocess

import harness
import numpy as np

CHIPS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
DEVICES = ("cpu", *CHIPS)


def tensor(shape, element):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def to_bits(values, dtype):
    """Values as in an .npy file of `dtype`: bf16 as its bits, rounded to nearest even."""
    if dtype == "bf16":
        bits = np.asarray(values, np.float32).view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.asarray(values).astype({"f64": "f8", "f32": "f4", "f16": "f2"}.get(dtype, dtype))


def from_bits(array, dtype):
    """The values of such a file, as float64."""
    if dtype == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def run(folder, text, arrays, device, results=1, compare=False):
    program = folder / "program.mlir"
    program.write_text(text)
    command = [harness.RUN, program]
    if device != "cpu":
        command += ["--device=sim", f"--target={device}", "--check=race,strict"]
        command += ["--compare"] if compare else []
    for i in range(results):
        command += ["-o", folder / f"{device}{i}.npy"]
    for i, array in enumerate(arrays):
        np.save(folder / f"in{i}.npy", array)
        command.append(folder / f"in{i}.npy")
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False
    )
    assert done.returncode == 0, f"{device}: {done.stderr}\n{text}"
    return [np.load(folder / f"{device}{i}.npy", allow_pickle=False) for i in range(results)]
