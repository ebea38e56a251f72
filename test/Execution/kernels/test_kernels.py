"""All kernels of cases.py in the simulator, with orders of warps that differ, and all checks on."""

import os

import launch
import pytest
from blackwell_cases import blackwell_cases
from cases import all_cases
from harness import REPO

BUILD = launch.Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build"))
SIMULATOR = BUILD / "bin" / "blockscale-sim"
CASES = [*all_cases(), *blackwell_cases()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernel(case, tmp_path):
    seeds = (0, 1) if case.file in ("copies", "clusters") else (0,)
    for seed in seeds:
        flags = [f"--seed={seed}", "--check=race,proxy,strict"]
        results, messages = launch.launch(case, tmp_path, SIMULATOR, flags)
        launch.check(case, results)
        assert messages == "", messages
