"""Kernels for mma.sync whose stages bulk copies fill, in the simulator, which checks races and proxies."""

import re
import shutil
import subprocess
from pathlib import Path

import gpu_bundle
import pytest
import warp_specialized_cases
import tiers
import mma_sync_specialized_cases
from simulated import SIMULATOR, around, features

CHECKS = ["--check=race,proxy,strict"]
PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"


def run(case, folder, chip="sm_120a", flags=(), seed=None):
    gpu_bundle.write_case(case, folder, [f"--target={chip}", "--native-only", *flags])
    seeds = [] if seed is None else [f"--seed={seed}"]
    gpu_bundle.check_case(case, folder, SIMULATOR, [*CHECKS, *seeds])
    text = (folder / f"{case.name}.ptx").read_text()
    assert "cp.async.bulk.tensor" in text and "mma.sync" in text
    return text


@pytest.mark.parametrize(
    "case", tiers.cover(list(mma_sync_specialized_cases.all_combinations()), features), ids=lambda case: case.name
)
def test_combinations(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(list(mma_sync_specialized_cases.factors()), 8), ids=lambda case: case.name)
def test_factors(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(list(mma_sync_specialized_cases.split_k()), 6), ids=lambda case: case.name)
def test_split_k_ranges(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", list(mma_sync_specialized_cases.rounds()), ids=lambda case: case.name)
def test_rounds(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize(
    "case", tiers.pairs(mma_sync_specialized_cases.around(), around), ids=lambda case: case.name
)
def test_around(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", list(mma_sync_specialized_cases.accumulated()), ids=lambda case: case.name)
def test_accumulated(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_seeds(seed, tmp_path):
    """What runs when does not matter: five tiles of several steps, the last one cut."""
    case = warp_specialized_cases.case(
        "seeds", warp_specialized_cases.NVFP4,
        [(300, 136, 800, (True, False, True, False), ()), (200, 130, 512, (False, True, False, False), ())],
        mma_sync_specialized_cases.schedule(warp_specialized_cases.NVFP4, (64, 128, 2)),
    )
    run(case, tmp_path, seed=seed)


@pytest.mark.parametrize("chip", ["sm_120f", "sm_121a", "sm_121f"])
def test_chips(chip, tmp_path):
    case = warp_specialized_cases.case(
        "chips", warp_specialized_cases.MIXED, [(37, 24, 128, (True, False, True, False), ())],
        mma_sync_specialized_cases.schedule(warp_specialized_cases.MIXED, (64, 64, 2)),
    )
    assert f".target {chip}" in run(case, tmp_path, chip)


@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
@pytest.mark.parametrize(
    "tile", tiers.first(mma_sync_specialized_cases.TILES[:4], 1), ids=lambda tile: f"{tile[0]}x{tile[1]}"
)
def test_ptxas(tile, tmp_path):
    """ptxas spills no register where copies bring all, tiles are whole and K is rounds of all stages."""
    for number, row in enumerate(mma_sync_specialized_cases.FACTOR_TYPES):
        k = 4 * tile[2] * warp_specialized_cases.tile_k(row)
        problems = [(512, 512, k, (True, False, True, False), ())]
        case = warp_specialized_cases.case(f"ptxas-{number}", row, problems, mma_sync_specialized_cases.schedule(row, tile))
        gpu_bundle.write_case(case, tmp_path, ["--target=sm_120a"])
        done = subprocess.run(
            [PTXAS, "-v", "-arch=sm_120a", tmp_path / f"{case.name}.ptx", "-o", "/dev/null"],
            check=True, capture_output=True, text=True,
        )
        spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr)
        assert spills and set(spills) == {("0", "0")}, f"{row}: {spills}"
