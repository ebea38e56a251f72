"""Kernels for chips without block-scaled instructions: operands are dequantized to bf16 for mma.sync."""

import gpu_bundle
import pytest
import tiers
from simulated import SIMULATOR, check, parts

CHIPS = "sm_89", "sm_90"
EDGES = gpu_bundle.select("-edges")
# One for each row, and some with dynamic sizes.
FEW = [*gpu_bundle.select("-37x19x96"), *gpu_bundle.select("dynamic-chosen")]


def compiled(case, folder, target):
    gpu_bundle.write_case(case, folder, [f"--target={target}"])
    return (folder / f"{case.name}.ptx").read_text()


@pytest.mark.parametrize("case", tiers.pairs(gpu_bundle.every_case(), parts), ids=lambda case: case.name)
def test_all(case, tmp_path):
    """All that there is for sm_120a, for the lowest chip."""
    check(case, tmp_path, ["--target=sm_80"])


@pytest.mark.parametrize("case", tiers.pairs([*EDGES, *FEW], parts), ids=lambda case: case.name)
def test_chips(case, tmp_path):
    """Two chips in turns, with the instructions of sm_80 (and, on sm_90, programmatic launches)."""
    target = CHIPS[[*EDGES, *FEW].index(case) % 2]
    text = compiled(case, tmp_path, target)
    assert "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" in text
    gpu_bundle.check_case(case, tmp_path, SIMULATOR)


@pytest.mark.parametrize("case", tiers.first(EDGES, 3), ids=lambda case: case.name)
def test_edges_on_hardware(case, tmp_path):
    """Where products are aligned as tensor cores do, a subnormal one would push others out."""
    compiled(case, tmp_path, "sm_80")
    gpu_bundle.check_case(case, tmp_path, SIMULATOR, ["--numerics=hardware"])
