"""Every generated kernel is PTX that ptxas takes."""

import shutil
import subprocess
from pathlib import Path

import gemm_kernel
import mma_cases
import mma_data
import pytest
import tmem_moves
import tmem_protocol
from mma_kernels import kernel
from mma_plan import make_plan

PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"


def texts():
    """(target, PTX) of each kernel."""
    for config in mma_cases.all_configs():
        yield config.target, kernel(make_plan(config, mma_data.exact(config)))
    moves = (*tmem_moves.all_texts(), *tmem_protocol.all_texts())
    for text in (*moves, gemm_kernel.kernel_text(256, 512)):
        yield "sm_100a", text


@pytest.mark.full
@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
def test_ptxas_takes_every_kernel(tmp_path):
    program = tmp_path / "kernel.ptx"
    for target, text in texts():
        program.write_text(text)
        done = subprocess.run(
            [PTXAS, f"-arch={target}", "-o", "/dev/null", program], capture_output=True, text=True,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{text}"
