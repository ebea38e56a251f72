"""Every form of wgmma.mma_async in the simulator, against numpy, with all checks on."""

import os
from pathlib import Path

import launch
import pytest
import tiers
from harness import REPO
from wgmma_config import Config, all_configs
from wgmma_kernels import case, stages

SIMULATOR = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")) / "bin" / "blockscale-sim"


def run(each, folder, flags=()):
    results, messages = launch.launch(each, folder, SIMULATOR, ["--check=race,proxy,strict", *flags])
    launch.check(each, results)
    assert messages == "", messages


def features(config):
    """Each value of each field, each triple of types with A in either memory, and what a sparse A has."""
    types = (config.d_type, config.a_type, config.b_type)
    sparse = (config.selector, config.a, config.b) if config.selector is not None else None
    return [*config._asdict().items(), (types, config.a is None, config.selector), ("sparse", sparse)]


@pytest.mark.parametrize("config", tiers.cover(all_configs(), features), ids=lambda config: config.label)
def test_exact(config, tmp_path):
    run(case(config), tmp_path)


def test_order_of_warps_does_not_matter(tmp_path):
    for each in (stages(), case(Config("f16", "e4m3", "e5m2", a=None)), case(Config("f32", "tf32", "tf32"))):
        for seed in range(4):
            run(each, tmp_path, [f"--seed={seed}"])
