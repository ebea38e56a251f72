"""Kernels of the path tcgen05 in the simulator, which checks races and proxies."""

import functools
import re
import shutil
import subprocess
from pathlib import Path

import gpu_bundle
import pytest
import warp_specialized_cases
import tiers
from gpu_cases import Expectation
from harness import COMBINATIONS, REPO, RUN, Combination
from simulated import ROW, SIMULATOR, around, features, parts

CHIPS = ["sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f"]
CHECKS = ["--check=race,proxy,strict"]
PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
# Those that every path takes; schedules are of one path each.
SHARED = [
    case for case in gpu_bundle.every_case()
    if not getattr(case, "flags", ()) and not hasattr(case, "grid")
]


def types(case):
    """Each x, each y and each way to scale, or else the name."""
    return [feature[1:] if isinstance(feature, tuple) else feature for feature in features(case)]


ALL = tiers.pairs(SHARED, parts, types)


def native_combinations(chip):
    """Those of the compiler's table of instructions."""
    done = subprocess.run(
        [gpu_bundle.COMPILE, f"--print-support-matrix={chip}"], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    # Of a sparse x: see test_sparse_native.py.
    dense = [line for line in lines if "/" not in line[1]]
    return {Combination(*line[1:4], int(line[4])) for line in dense if line[5] == "native"}


@pytest.mark.parametrize("chip", CHIPS)
def test_every_combination_is_executed(chip):
    """With --full: a combination without a case is missing here."""
    executed = {
        expectation.row for case in tiers.runs_with_full(ALL) for expectation in getattr(case, "expectations", ())
        if isinstance(expectation, Expectation)
    }
    assert native_combinations(chip) == set(COMBINATIONS) == executed


def run(case, folder, chip="sm_100a", flags=()):
    gpu_bundle.write_case(case, folder, [f"--target={chip}", "--native-only", *flags])
    gpu_bundle.check_case(case, folder, SIMULATOR, CHECKS)
    return (folder / f"{case.name}.ptx").read_text()


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_all(case, tmp_path):
    gpu_bundle.write_case(case, tmp_path, ["--target=sm_100a", "--native-only"])
    gpu_bundle.check_case(case, tmp_path, SIMULATOR)


@pytest.mark.parametrize("case", tiers.first(list(warp_specialized_cases.factors()), 12), ids=lambda case: case.name)
def test_factors(case, tmp_path):
    assert re.search(r"tcgen05\.mma\.cta_group::[12]\.kind::", run(case, tmp_path))


@pytest.mark.parametrize("case", list(warp_specialized_cases.schedules()), ids=lambda case: case.name)
def test_schedules(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", list(warp_specialized_cases.rounds()), ids=lambda case: case.name)
def test_rounds(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", list(warp_specialized_cases.groups()), ids=lambda case: case.name)
def test_groups(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(list(warp_specialized_cases.swap_ab()), 15, 3), ids=lambda case: case.name)
def test_swap_ab(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", list(warp_specialized_cases.swapped_tiles()), ids=lambda case: case.name)
def test_swapped_tiles(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", list(warp_specialized_cases.odd_columns()), ids=lambda case: case.name)
def test_odd_columns(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(list(warp_specialized_cases.split_k()), 15, 3), ids=lambda case: case.name)
def test_split_k_ranges(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(list(warp_specialized_cases.clusters()), 15, 3), ids=lambda case: case.name)
def test_clusters(case, tmp_path):
    text = run(case, tmp_path)
    group = 2 if "two_cta=1" in case.flags[0] else 1
    assert set(re.findall(r"tcgen05\.mma\.cta_group::(\d)", text)) == {str(group)}


@pytest.mark.parametrize("case", tiers.first(list(warp_specialized_cases.wide()), 4), ids=lambda case: case.name)
def test_wide(case, tmp_path):
    run(case, tmp_path, chip="sm_103a")


AROUND = [
    *warp_specialized_cases.around("swap_ab", "swap_ab=1"), *warp_specialized_cases.around("split_k", "split_k=3"),
    *warp_specialized_cases.around("both", "raster_group=2,swap_ab=1,split_k=2"),
]


@pytest.mark.parametrize("case", tiers.pairs(AROUND, around), ids=lambda case: case.name)
def test_around(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("options", ["", "swap_ab=1", "swap_ab=1,split_k=2"])
@pytest.mark.parametrize("seed", range(4))
def test_seeds(seed, options, tmp_path):
    """What runs when does not matter, with the schedule that is chosen and with others."""
    schedule = f"--schedule=tile=128x64x256,stages=3,accumulators=2,persistent=1,{options}"
    case = warp_specialized_cases.case(
        "seeds", warp_specialized_cases.NVFP4,
        [(300, 520, 800, (True, False, True, False), ()), (200, 130, 512, (False, True, False, False), ())],
        (schedule,) if options else (),
    )
    gpu_bundle.write_case(case, tmp_path, ["--target=sm_100a"])
    gpu_bundle.check_case(case, tmp_path, SIMULATOR, [*CHECKS, f"--seed={seed}"])


def test_few_tiles_are_divided(tmp_path):
    """With the schedule that is chosen: one tile, and 56 steps along K."""
    case = warp_specialized_cases.case("few", warp_specialized_cases.E4M3, [(16, 128, 7168, (True, False, True, False), ())])
    text = run(case, tmp_path)
    assert text.count(".entry") == 2 and "__split_k_reduction_1(" in text


@pytest.mark.parametrize("chip", CHIPS)
def test_chips(chip, tmp_path):
    case = warp_specialized_cases.case(
        "chips", warp_specialized_cases.MIXED, [(37, 24, 96, (True, False, True, False), ())]
    )
    assert f".target {chip}" in run(case, tmp_path, chip)


def shape_of_code(case):
    """What the code of a case depends on: types, what is around products, and its schedule but for stages."""
    row = ROW.search(case.name)
    flags = case.flags[0].removeprefix("--schedule=").split(",") if case.flags else []
    return [row[0] if row else "", *(flag for flag in flags if "stages" not in flag and "raster_group" not in flag)]


@functools.cache
def cases_for_ptxas():
    # Pairs with 64 rows may spill some where warps fill stages.
    clusters = [case for case in warp_specialized_cases.clusters() if "64x256" not in case.name]
    return tiers.pairs([
        *warp_specialized_cases.factors(), *warp_specialized_cases.schedules(), *warp_specialized_cases.rounds(), *warp_specialized_cases.groups(),
        *warp_specialized_cases.swap_ab(), *warp_specialized_cases.swapped_tiles(), *warp_specialized_cases.split_k(), *clusters, *AROUND,
    ], shape_of_code)


@pytest.mark.full
@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
@pytest.mark.parametrize("chip", CHIPS)
def test_ptxas(chip, tmp_path, request):
    """ptxas takes kernels of each pair of what code depends on for the first chip and some for each other one, and spills
    no register. With --exhaustive, it takes all kernels.
    """
    number = CHIPS.index(chip)
    if request.config.getoption("--exhaustive"):
        cases = [tiers.unmarked(case) for case in cases_for_ptxas()]
    else:
        cases = tiers.runs_always(cases_for_ptxas()) if number else tiers.runs_with_full(cases_for_ptxas())
    for case in cases[number::len(CHIPS)] if number else cases:
        gpu_bundle.write_case(case, tmp_path, [f"--target={chip}", "--native-only"])
        done = subprocess.run(
            [PTXAS, "-v", f"-arch={chip}", tmp_path / f"{case.name}.ptx", "-o", "/dev/null"],
            check=True, capture_output=True, text=True,
        )
        spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr)
        assert spills and set(spills) == {("0", "0")}, case.name


def test_scales_by_copies(tmp_path):
    """The example with scales in the 32x4x4 layout: only the accumulator goes through registers."""
    example = REPO / "examples" / "mma_scaled_swizzled.mlir"
    out = tmp_path / "kernel.ptx"
    subprocess.run([RUN.parent / "blockscale-compile", example, "--target=sm_100a", "-o", out], check=True)
    text = out.read_text()
    assert "tcgen05.cp.cta_group::1.32x128b.warpx4" in text
    for opcode in ("tcgen05.st", "ld.global", "ld.shared.v", "st.shared.v", "cp.async.ca", "cp.async.cg"):
        assert opcode not in text
    done = subprocess.run(
        [RUN, example, "--device=sim", "--target=sm_100a", "--seed=1", *CHECKS],
        capture_output=True, text=True, check=True,
    )
    assert done.stderr == ""
