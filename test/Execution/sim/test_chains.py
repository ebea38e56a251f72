"""Chains around a product of dynamic sizes, on the CPU and in the simulator."""

import gpu_bundle
import pytest
from simulated import check

CHAINS = gpu_bundle.select("chain-")
TARGETS = ["sm_90", "sm_100a", "sm_120a"]


@pytest.mark.parametrize("case", CHAINS, ids=lambda case: case.name)
def test_cpu(case, tmp_path):
    for program, expectations in ((case.program, case.expectations), *case.variants):
        for result, expectation in zip(program.run(tmp_path), expectations, strict=True):
            expectation.check(result)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CHAINS, ids=lambda case: case.name)
def test_simulated(case, target, tmp_path):
    check(case, tmp_path, [f"--target={target}"])


@pytest.mark.parametrize("name", ["negated", "relu", "scaled", "bias"])
def test_joined(name, tmp_path):
    """The kernel of the product does it all, as with static sizes."""
    (case,) = gpu_bundle.select(f"chain-{name}")
    gpu_bundle.write_case(case, tmp_path, ["--target=sm_120a"])
    assert (tmp_path / f"{case.name}.ptx").read_text().count(".visible .entry") == 1
