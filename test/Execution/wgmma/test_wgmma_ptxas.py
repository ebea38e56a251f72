"""Every generated kernel is PTX that ptxas takes."""

import shutil
import subprocess
from pathlib import Path

import pytest
from wgmma_launch import all_cases

PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"


@pytest.mark.full
@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
def test_ptxas_takes_every_kernel(tmp_path):
    program = tmp_path / "kernel.ptx"
    for each in all_cases():
        program.write_text(each.ptx)
        done = subprocess.run(
            [PTXAS, "-arch=sm_90a", "-o", "/dev/null", program], capture_output=True, text=True,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{each.name}"
