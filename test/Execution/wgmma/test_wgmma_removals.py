"""Each line that synchronises is left out in turn: some order of warps must show it."""

import os
from pathlib import Path

import launch
import pytest
import tiers
from harness import REPO
from sync_lines import SEEDS, removals
from wgmma_config import Config
from wgmma_kernels import case, stages

SIMULATOR = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")) / "bin" / "blockscale-sim"
BASES = {
    "stages": stages(),
    "registers": case(Config("f32", "f16", "f16", n=16, steps=2, a=None)),
    "shared": case(Config("f32", "e4m3", "e4m3", n=16, steps=2)),
}


def shows(folder, base, text):
    """Whether a run with some seed fails, warns, or is wrong."""
    each = base._replace(file=text)
    for seed in SEEDS:
        flags = [f"--seed={seed}", "--check=proxy"]
        try:
            results, messages = launch.launch(each, folder, SIMULATOR, flags)
            launch.check(each, results)
        except AssertionError:
            return True
        if messages:
            return True
    return False


@pytest.mark.parametrize("name", tiers.first(BASES, 1))
def test_each_line_is_needed(name, tmp_path):
    base = BASES[name]
    assert not shows(tmp_path, base, base.file)
    names = {line for line, _ in removals(base.file)}
    kinds = {"fence.proxy.async", "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group 0"}
    assert names >= kinds
    unnoticed = [line for line, text in removals(base.file) if not shows(tmp_path, base, text)]
    assert unnoticed == []
