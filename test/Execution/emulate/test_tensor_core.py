"""Kernels of the path tcgen05 with the tensor core in software, in the simulator: results are exact, and
nothing races. Their code is for a chip without tensor memory; for chips that have padded tensor maps,
too, which then bring fp4 and fp6.
"""

import re

import emulated_cases
import gpu_bundle
import pytest
import warp_specialized_cases
import tiers
from harness import RUN

SIMULATOR = RUN.parent / "blockscale-sim"
CHECKS = ["--check=race,proxy,strict"]


def emulate(case, folder, chip="sm_90a"):
    gpu_bundle.write_case(case, folder, ["--target=sm_100a", f"--emulate-on={chip}", "--native-only"])
    text = (folder / f"{case.name}.ptx").read_text()
    assert f".target {chip}" in text and "tcgen05." not in text
    return text


def run(case, folder, chip="sm_90a"):
    text = emulate(case, folder, chip)
    gpu_bundle.check_case(case, folder, SIMULATOR, CHECKS)
    return text


def name(case):
    return case.name


def types(case):
    """Each x, each y and each way to scale."""
    return list(enumerate(case.expectations[0].row))


@pytest.mark.parametrize("case", tiers.cover(list(emulated_cases.combinations()), types), ids=name)
def test_combinations(case, tmp_path):
    text = run(case, tmp_path)
    assert "cp.async.bulk.tensor" in text and "call.uni emulated_tcgen05_mma_" in text


def is_padded(case):
    row = case.expectations[0].row
    return any("f8" not in element for element in row[:2]) and row[:2] != ("f4E2M1FN", "f4E2M1FN")


PADDED = [emulated_cases.packed(), *filter(is_padded, emulated_cases.combinations())]


@pytest.mark.parametrize("case", tiers.cover(PADDED, types), ids=name)
def test_padded(case, tmp_path):
    """Copies pad elements that are packed in memory, if the chip that runs the code has such copies."""
    run(case, tmp_path, "sm_100a")
    maps = set(re.findall(r"u[46]x16_align16", (tmp_path / f"{case.name}.json").read_text()))
    is_packed = {"u4x16_align16": "f4" in case.name, "u6x16_align16": case.name == "packed-emulated"}
    assert maps == {name for name, is_there in is_packed.items() if is_there}


def of_schedules():
    """Cases, each about another schedule."""
    others = {case.name for case in emulated_cases.combinations()}
    return [case for case in emulated_cases.all_emulated() if case.name not in others]


# Thirty times as long as others: those are for a card.
SLOW = "warp-specialized-slots", "dynamic-emulated", "-factors-"


def about(case):
    return [re.sub(r"f\w+-f\w+-f\w+-\d+|-\d+", "", case.name)]


QUICK = [case for case in of_schedules() if not any(part in case.name for part in SLOW)][::2]


@pytest.mark.parametrize("case", tiers.cover(QUICK, about), ids=name)
def test_schedules(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_seeds(seed, tmp_path):
    schedule = "--schedule=tile=128x16x256,stages=3,accumulators=2,persistent=1"
    case = warp_specialized_cases.case("seeds", warp_specialized_cases.NVFP4, [(300, 16, 800, emulated_cases.BY_MAPS, ())], (schedule,))
    emulate(case, tmp_path)
    gpu_bundle.check_case(case, tmp_path, SIMULATOR, [*CHECKS, f"--seed={seed}"])
