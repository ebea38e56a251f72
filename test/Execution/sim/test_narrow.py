"""Products of few rows or columns, whose K is divided among blocks of warps."""

import narrow_cases
import pytest
import warp_specialized_cases
import tiers
from gpu_bundle import check_case, write_case
from gpu_cases import Case, Expectation, add_problem
from harness import Program, exact
from simulated import SIMULATOR, check, parts

SPLITS = list(narrow_cases.split_k())


@pytest.mark.parametrize("case", tiers.first(SPLITS, 12), ids=lambda case: case.name)
def test_dequant_mma(case, tmp_path):
    check(case, tmp_path, ["--target=sm_80"])


@pytest.mark.parametrize("case", tiers.first(SPLITS[1::5], 2), ids=lambda case: case.name)
def test_native(case, tmp_path):
    """Schedules are those of all instructions of warps."""
    check(case, tmp_path, ["--target=sm_120a"])


@pytest.mark.parametrize("case", tiers.pairs(narrow_cases.around(), parts), ids=lambda case: case.name)
def test_around(case, tmp_path):
    check(case, tmp_path, ["--target=sm_80"])


CHOSEN = {
    "x": (5, 130, 1280, (False, False, True, False), ()),
    "y": (130, 40, 1056, (True, True, False, False), ()),
    "batch": (20, 72, 1024, (False, False, True, True), (3,)),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_chosen(name, tmp_path):
    """The schedule that is chosen, with parts of at least four steps; without workspace K is whole."""
    case = warp_specialized_cases.case(f"chosen-{name}", warp_specialized_cases.MIXED, [CHOSEN[name]])
    target, race = ["--target=sm_90a"], ["--check=race"]
    write_case(case, tmp_path, target)
    text = (tmp_path / f"{case.name}.ptx").read_text()
    assert text.count(".entry") == 2 and "__split_k_reduction" in text
    check_case(case, tmp_path, SIMULATOR, race)
    write_case(case, tmp_path, [*target, "--no-workspace"])
    assert (tmp_path / f"{case.name}.ptx").read_text().count(".entry") == 1
    check_case(case, tmp_path, SIMULATOR, race)


def test_inexact(tmp_path):
    """NaN in one part of K, and a scale that bf16 does not hold in another one."""
    row = warp_specialized_cases.MIXED
    data = exact(row, 16, 136, 1024, 3, "fine")
    data[0][3, 700] = 0x7F
    data[1][5, 2] = 0
    program = Program()
    program.result(add_problem(program, row, data, y_is_nk=True))
    case = Case("narrow-inexact", program, [Expectation(row, data, False)])
    check(case, tmp_path, ["--target=sm_80", f"--schedule={narrow_cases.schedule(16, True, 4)}"])
