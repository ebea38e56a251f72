"""Kernels of the path tcgen05 with the tensor core in software, in the simulator: results are exact, and
nothing races. Their code is for a chip without tensor memory; for chips that have padded tensor maps,
too, which then bring fp4 and fp6.
"""

import re

import emulated_cases
import gpu_bundle
import pytest
import ring_cases
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


@pytest.mark.parametrize("case", list(emulated_cases.rows()), ids=name)
def test_rows(case, tmp_path):
    text = run(case, tmp_path)
    assert "cp.async.bulk.tensor" in text and "call.uni emulated_tcgen05_mma_" in text


PADDED = [case for case in emulated_cases.rows() if re.search("f6|f8.*f4|f4.*-f8E4M3FN-f8E8M0FNU|f4.*-f8E5M2-", case.name)]


@pytest.mark.parametrize("case", tiers.first(PADDED, 4), ids=name)
def test_padded(case, tmp_path):
    """Copies make the padding."""
    run(case, tmp_path, "sm_100a")


def of_schedules():
    """Cases, each about another schedule."""
    rows = {case.name for case in emulated_cases.rows()}
    return [case for case in emulated_cases.all_emulated() if case.name not in rows]


def about(case):
    return [re.sub(r"f\w+-f\w+-f\w+-\d+|-\d+", "", case.name)]


@pytest.mark.parametrize("case", tiers.cover(of_schedules(), about), ids=name)
def test_schedules(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_seeds(seed, tmp_path):
    schedule = "--schedule=tile=128x16x256,stages=3,accumulators=2,persistent=1"
    case = ring_cases.case("seeds", ring_cases.NVFP4, [(300, 40, 800, emulated_cases.BY_MAPS, ())], (schedule,))
    emulate(case, tmp_path)
    gpu_bundle.check_case(case, tmp_path, SIMULATOR, [*CHECKS, f"--seed={seed}"])
