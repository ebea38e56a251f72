"""All cases on this machine's CUDA card, if there is one, compiled for it.

`converted` is the code for chips without block-scaled instructions, `emulated` that for sm_120a with its
instructions in software. PTX for sm_80 runs on every later card.
"""

import subprocess

import gpu_bundle
import pytest

BIN = gpu_bundle.COMPILE.parent


def why_not():
    """Why nothing can run on a card here; None if it can."""
    example = gpu_bundle.REPO / "examples" / "mma_scaled.mlir"
    done = subprocess.run(
        [BIN / "blockscale-run", example, "--device=cuda", "--target=sm_80"],
        capture_output=True, text=True, timeout=gpu_bundle.TIMEOUT_S, check=False,
    )
    if done.returncode == 0:
        return None
    message = done.stderr.splitlines()[-1]
    missing = ("error: cannot open the CUDA driver", "error: cannot find a CUDA device")
    assert message.startswith(missing), message
    return message


@pytest.mark.parametrize(
    "flags", [["--target=sm_80"], ["--target=sm_120a", "--emulate-on=sm_80"]],
    ids=["converted", "emulated"],
)
def test_all_cases(flags, tmp_path):
    if reason := why_not():
        pytest.skip(reason)
    for case in gpu_bundle.select(""):
        gpu_bundle.write_case(case, tmp_path, flags)
    assert gpu_bundle.check_folder(tmp_path, BIN / "blockscale-launch") == 0
