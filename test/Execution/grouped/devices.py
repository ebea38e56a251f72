"""Runs programs on the CPU and in the simulator, whose checks have to be silent."""

import subprocess

import blockscale
import harness
import numpy as np

CHIPS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
DEVICES = ("cpu", *CHIPS)
STORE = {"f32": np.float32, "f16": np.float16, "bf16": blockscale.to_bf16}
READ = {"f32": np.float32, "f16": np.float32, "bf16": blockscale.from_bf16}


def run(folder, text, arrays, device, results=1, fails=False, flags=()):
    """The results of `main`, or what it says if it has to fail."""
    path = folder / "program.mlir"
    path.write_text(text)
    command = [harness.RUN, path, *flags]
    if device != "cpu":
        command += ["--device=sim", f"--target={device}", "--check=race,proxy,strict"]
    outputs = [folder / f"out{i}.npy" for i in range(results)]
    for file in outputs:
        command += ["-o", file]
    for i, array in enumerate(arrays):
        np.save(folder / f"in{i}.npy", array)
        command.append(folder / f"in{i}.npy")
    done = subprocess.run(command, capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False)
    if fails:
        assert done.returncode == 1, f"{device}: exit code {done.returncode}\n{done.stderr}"
        return done.stderr
    assert done.returncode == 0, f"{device}: {done.stderr}\n{text}"
    return [np.load(file, allow_pickle=False) for file in outputs]
