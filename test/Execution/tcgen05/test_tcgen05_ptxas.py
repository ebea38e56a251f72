"""Every generated kernel is PTX that ptxas takes; the simulator takes the same forms of tcgen05.mma.sp."""

import shutil
import subprocess
from itertools import product
from pathlib import Path

import gemm_kernel
import mma_cases
import mma_data
import mma_launch
import pytest
import tmem_moves
import tmem_protocol
from mma_kernels import kernel
from mma_plan import make_plan

# Targets, and the first versions of PTX that have them.
TARGETS = {"sm_100a": 86, "sm_103a": 88, "sm_110a": 90, "sm_100f": 88, "sm_103f": 88, "sm_110f": 90}
VERSIONS = (86, 87, 88, 90)
SPELLINGS = ("", ".scale_vec::1X", ".scale_vec::2X", ".scale_vec::4X", ".block16", ".block32")
OPERANDS = "[%r0], %d0, %d1, [%r1], %r2, [%r3], [%r4], %p0"
FORMS = (
    *(("sp", "", f".collector::{use}") for use in ("a::fill", "a::use", "a::lastuse", "a::discard", "b0::fill")),
    ("sp", ".ashift", ""), ("ws.sp", "", ""), ("sp.ws", "", ""), ("sp::ordered_metadata", "", ""),
)
OPERAND_FORMS = (
    "[%r0+4], %d0, %d1, [%r1+2], %r2, [%r3+4], [%r4+4], %p0",
    "[%r0], %d0, %d1, [%r1], 0x08A00004, [%r3], [%r4], !%p0",
    "[%r0], %d0, %d1, [%r1], %r2, [%r3], [%r4], 1",
    "[%r0], %d0, %d1, %r1, %r2, [%r3], [%r4], %p0",
    "[%r0], %d0, %d1, [64], %r2, [%r3], [%r4], %p0",
    "[%r0], %d0, %d1, %r2, [%r3], [%r4], %p0",
    "[%r0], %d0, %d1, [%r1], %r2, [%r3], [%r4], {%r5, %r5, %r5, %r5}, %p0",
    "[%r0], %d0, %d1, [%r1], %r2, [%r3], [%r4], %p0, 1",
)

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


def sparse_instructions():
    """(target, version, instruction)."""
    kinds = ("mxf8f6f4", "mxf4", "mxf4nvf4")
    for kind, spelling, (target, first) in product(kinds, SPELLINGS, TARGETS.items()):
        for version in (version for version in VERSIONS if version >= first):
            name = f"tcgen05.mma.sp.cta_group::{version % 2 + 1}.kind::{kind}.block_scale{spelling}"
            yield target, version, f"{name} {OPERANDS};"
    for kind, (sparsity, middle, end) in product(kinds, FORMS):
        name = f"tcgen05.mma.{sparsity}.cta_group::1.kind::{kind}.block_scale.block32{middle}{end}"
        yield "sm_100a", 88, f"{name} {OPERANDS};"
    for operands in OPERAND_FORMS:
        yield "sm_100a", 88, f"tcgen05.mma.sp.cta_group::2.kind::mxf4.block_scale.block32 {operands};"


@pytest.mark.full
@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
def test_forms_of_sparse_instructions(tmp_path):
    program, differences, taken = tmp_path / "kernel.ptx", [], 0
    for target, version, instruction in sparse_instructions():
        program.write_text(
            f".version {version // 10}.{version % 10}\n.target {target}\n.address_size 64\n"
            ".visible .entry k() { .reg .b32 %r<6>; .reg .b64 %d<2>; .reg .pred %p<1>;\n"
            f"exit;\n{instruction}\nret; }}\n"
        )
        results = [
            subprocess.run(command, capture_output=True, check=False).returncode == 0
            for command in (
                [PTXAS, f"-arch={target}", "-o", "/dev/null", program],
                [mma_launch.SIMULATOR, program, "--grid=1", "--block=32"],
            )
        ]
        taken += results[0]
        if results[0] != results[1]:
            differences.append((target, version, instruction))
    assert not differences and taken > 50
