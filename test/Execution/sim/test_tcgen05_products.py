"""Products of linalg by the path tcgen05 in the simulator, which checks races and proxies."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import gpu_bundle
import matmul_cases
import numpy as np
import pytest
import tiers
from matmul_cases import Problem
from simulated import SIMULATOR

CHECKS = ["--check=race,proxy,strict"]
CHIPS = ["sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f"]
PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"


def run(case, folder, chip="sm_100a", checks=()):
    gpu_bundle.write_case(case, folder, [f"--target={chip}", "--native-only"])
    gpu_bundle.check_case(case, folder, SIMULATOR, [*CHECKS, *checks])
    text = (folder / f"{case.name}.ptx").read_text()
    kernels = [part for part in text.split(".entry ") if re.search(r"tcgen05\.mma\.cta_group::[12]\.kind::f16\b", part)]
    assert len(kernels) >= len(case.expectations)
    return text


@pytest.mark.parametrize("case", tiers.first(matmul_cases.factors("tcgen05"), 12), ids=lambda case: case.name)
def test_factors(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", matmul_cases.narrow_tiles(), ids=lambda case: case.name)
def test_narrow_tiles(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(matmul_cases.split_k("tcgen05"), 5), ids=lambda case: case.name)
def test_split_k_ranges(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(matmul_cases.clusters("tcgen05"), 7), ids=lambda case: case.name)
def test_clusters(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("schedule", [(128, 64, 2, 1, 8, 1, "", 2), (128, 64, 2, 1, 8, 1, "2x1", 2, 0, 1)], ids=str)
def test_dynamic_sizes(schedule, tmp_path):
    for case in matmul_cases.dynamic_sizes(schedule):
        run(case, tmp_path)


@pytest.mark.parametrize(
    "case", [*matmul_cases.constants(), *matmul_cases.chained()], ids=lambda case: case.name
)
def test_surroundings(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize(
    "case", tiers.first(list(matmul_cases.persistent("tcgen05")), 2), ids=lambda case: case.name
)
def test_persistent(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("chip", CHIPS)
def test_chips(chip, tmp_path):
    """Of each chip by default: few rows and many; K of less than an instruction, and of several ranges."""
    problems = [
        Problem("bf16", 3, 130, 17, dynamic="m"), Problem("f16", 300, 65, 1, "transposed", end="f16"),
        Problem("bf16", 130, 136, 200, y_order="transposed", acc="bias", end="bf16"),
        Problem("bf16", 1, 64, 1500, y_order="map"),
    ]
    run(matmul_cases.case("chips", problems), tmp_path, chip)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("more", [("", 2), ("2x1", 2, 0, 1), ("2x2", 1, 1, 1)], ids=str)
def test_seeds(more, seed, tmp_path):
    """What runs when does not matter."""
    schedule = (128, 64, 3, 1, 2, 1, *more)
    problems = [
        Problem("bf16", 700, 152, 312, y_order="transposed", acc="argument", end="relu", schedule=schedule),
        Problem("f16", 456, 136, 264, "transposed", batch=2, dynamic="mnk", end="bf16", schedule=schedule),
    ]
    text = run(matmul_cases.case("rounds", problems), tmp_path, checks=[f"--seed={seed}"])
    assert set(re.findall(r"tcgen05\.mma\.cta_group::(\d)", text)) == {"2" if schedule[-1] == 1 else "1"}


class Special(NamedTuple):
    """An f32 result, in which any NaN is right where one is expected."""

    expected: np.ndarray

    @property
    def shape(self):
        return self.expected.shape

    element = "f32"

    def check(self, result):
        np.testing.assert_array_equal(result, self.expected)


@pytest.mark.parametrize("more", [("", 2), ("", 2, 1), ("2x1", 2, 0, 1)], ids=str)
@pytest.mark.parametrize("y_order", ["plain", "transposed"])
def test_nan_and_infinity(y_order, more, tmp_path):
    """They stay in their rows and columns, also where K and tiles end in the middle."""
    m, n, k = 140, 136, 72
    rng = np.random.default_rng(3)
    x, y = (np.float32(rng.integers(-3, 4, shape)) for shape in ((m, k), (k, n)))
    x[5, k - 1], x[m - 1, 2], y[7, n - 1], y[k - 1, 3] = np.nan, np.inf, -np.inf, np.nan
    program = matmul_cases.Program()
    x_value = program.arg(matmul_cases.to_bf16(x), "bf16")
    stored = y if y_order == "plain" else np.ascontiguousarray(y.T)
    y_value = program.arg(matmul_cases.to_bf16(stored), "bf16")
    y_value = y_value if y_order == "plain" else program.transpose(y_value)
    zero = program.constant(0.0, (m, n), "f32")
    schedule = matmul_cases.attribute((128, 64, 2, 1, 8, 1, *more))
    program.result(program.op(
        f"linalg.matmul {{blockscale.schedule = {schedule}}} ins({x_value.name}, {y_value.name} : {x_value.type}, "
        f"{y_value.type}) outs({zero.name} : {zero.type}) -> {zero.type}", (m, n), "f32",
    ))
    with np.errstate(invalid="ignore"):
        expected = x @ y
    assert 0 < np.isnan(expected).sum() < expected.size / 10
    run(matmul_cases.Case("special", program, [Special(expected)]), tmp_path)


@pytest.mark.parametrize("element", matmul_cases.ELEMENTS)
def test_hardware_sums(element, tmp_path):
    """As tensor cores add: within the bound that docs/Numerics.md has."""
    problems = [Problem(element, 130, 72, 300, x, y, is_exact=False)
                for x, y in (("plain", "plain"), ("transposed", "transposed"))]
    run(matmul_cases.case("adders", problems), tmp_path, checks=["--numerics=hardware"])


def assemble(case, folder):
    """What ptxas says of the kernels."""
    gpu_bundle.write_case(case, folder, ["--target=sm_100a", "--native-only"])
    program = folder / f"{case.name}.ptx"
    return subprocess.run(
        [PTXAS, "-v", "-arch=sm_100a", program, "-o", "/dev/null"], check=True, capture_output=True, text=True
    ).stderr


@pytest.mark.full
@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
@pytest.mark.parametrize("tile_n, more, n, dynamic, orders", tiers.product(
    [64, 128, 192, 256], [("", 2), ("2x1", 2, 0, 1), ("", 2, 1), ("2x1", 2, 1, 1)], [1024, 1003],
    ["", "m", "mn", "mnk"], [("plain", "transposed"), ("transposed", "plain")],
), ids=tiers.names)
def test_ptxas(tile_n, more, n, dynamic, orders, tmp_path):
    """No register is spilled."""
    problems = [
        Problem("bf16", 1024, n, k, *orders, None, acc, end, dynamic, (128, tile_n, 3, 1, 8, 1, *more))
        for k in (256, 200) for acc, end in (("zero", ""), ("argument", ""), ("bias", "residual"), ("zero", "bf16"))
    ]
    said = assemble(matmul_cases.case("tiles", problems), tmp_path)
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
    assert spills and set(spills) == {("0", "0")}, said
