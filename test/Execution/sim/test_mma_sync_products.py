"""Products of linalg by mma.sync (the path dequant_mma) in the simulator, which checks races."""

import re
import shutil
import subprocess
from pathlib import Path

import gpu_bundle
import matmul_cases
import numpy as np
import pytest
import tiers
from harness import RUN
from matmul_cases import Multistage, Problem
from simulated import SIMULATOR

CHECKS = ["--check=race,proxy,strict"]
PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"


def run(case, folder, chip="sm_80", flags=(), checks=()):
    gpu_bundle.write_case(case, folder, [f"--target={chip}", "--native-only", *flags])
    gpu_bundle.check_case(case, folder, SIMULATOR, [*CHECKS, *checks])
    text = (folder / f"{case.name}.ptx").read_text()
    products = [part for part in text.split(".entry ")[1:] if "mma.sync.aligned.m16n8k16" in part]
    assert products and "wgmma" not in text and "fma.rn.f32" not in text
    return text


@pytest.mark.parametrize(
    "case", tiers.first(matmul_cases.factors("dequant_mma"), 12), ids=lambda case: case.name
)
def test_factors(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(matmul_cases.split_k("dequant_mma"), 6), ids=lambda case: case.name)
def test_split_k_ranges(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize(
    "case", list(matmul_cases.dynamic_sizes(Multistage(64, 64, 64, (2, 2), 2))), ids=lambda case: case.name
)
def test_dynamic_sizes(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize(
    "case", [*matmul_cases.constants(), *matmul_cases.chained()], ids=lambda case: case.name
)
def test_surroundings(case, tmp_path):
    run(case, tmp_path)


CHIPS = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_120a")


@pytest.mark.parametrize("chip", CHIPS)
def test_chips(chip, tmp_path):
    """The default tiles, large and small, fit on each; so does the order of operands."""
    problems = [
        Problem("bf16", 300, 520, 200, "plain", "transposed", end="bf16"),
        Problem("f16", 260, 264, 72, "transposed", "plain", acc="argument"),
        Problem("bf16", 8, 520, 1000, "plain", "plain", dynamic="n"),
    ]
    text = run(matmul_cases.case("chips", problems), tmp_path, chip)
    assert "cp.async.cg.shared.global" in text and "ldmatrix.sync.aligned.m8n8.x4.trans" in text


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("stages", [1, 2, 5])
def test_seeds(stages, seed, tmp_path):
    """What runs when does not matter, with fewer steps than stages, as many, and more."""
    schedule = Multistage(64, 64, 32, (2, 2), stages)
    problems = [
        Problem("bf16", 130, 72, k, "plain", order, dynamic=dynamic, schedule=schedule)
        for k in (17, 160, 300) for order in ("plain", "transposed") for dynamic in ("", "k")
    ]
    run(matmul_cases.case("seeds", problems), tmp_path, checks=[f"--seed={seed}"])


@pytest.mark.parametrize("element", matmul_cases.ELEMENTS)
def test_special_values(element, tmp_path):
    """NaN and infinities reach the results of their row and column, and no others."""
    rng = np.random.default_rng(2)
    x, y = (np.float32(rng.integers(1, 4, shape)) for shape in ((40, 70), (70, 48)))
    x[3, 5], x[7, 69], y[11, 2], y[0, 9] = np.nan, np.inf, -np.inf, np.nan
    x[7, 11] = 0
    with np.errstate(invalid="ignore"):
        expected = x.astype(np.float64) @ y.astype(np.float64)
    program = matmul_cases.Program()
    a, b = (program.arg(matmul_cases.to_element(values, element), element) for values in (x, y))
    zero = program.constant(0.0, (40, 48), "f32")
    program.result(program.op(
        f"linalg.matmul ins({a.name}, {b.name} : {a.type}, {b.type}) outs({zero.name} : {zero.type}) -> {zero.type}",
        (40, 48), "f32",
    ))
    case = matmul_cases.Case("special", program, [matmul_cases.Equal(np.float32(expected), "f32")])
    run(case, tmp_path)
    assert np.isnan(expected).sum() > 48 and np.isinf(expected).sum() > 40


def test_without_workspace_on_hopper(tmp_path):
    """Where bulk copies would need a copy of an operand first."""
    problems = [Problem("bf16", 33, 35, 37), Problem("f16", 20, 30, 7, "transposed", acc="argument")]
    run(matmul_cases.case("odd", problems), tmp_path, "sm_90a", ["--no-workspace"])


def test_schedule_moves_products_of_hopper(tmp_path):
    """A schedule of the form for mma.sync asks for it where wgmma would be chosen."""
    case = matmul_cases.case("moved", [Problem("bf16", 64, 64, 128), Problem("f16", 64, 128, 64)])
    run(case, tmp_path, "sm_90a", ["--schedule=tile=64x64x64,warps=2x2,stages=2"])
    text = run(matmul_cases.case("attribute", [
        Problem("bf16", 64, 64, 128, schedule=Multistage(32, 32, 32, (1, 1), 3)),
    ]), tmp_path, "sm_90a")
    assert ".maxntid 32" in text


PRODUCT = """
func.func @main(%x: tensor<40x64xbf16>, %y: tensor<64x72xbf16>) -> tensor<40x72xf32> {
  %acc = arith.constant dense<0.0> : tensor<40x72xf32>
  %d = linalg.matmul ins(%x, %y : tensor<40x64xbf16>, tensor<64x72xbf16>) outs(%acc : tensor<40x72xf32>)
       -> tensor<40x72xf32>
  return %d : tensor<40x72xf32>
}
"""


@pytest.mark.parametrize("numerics", ["exact", "hardware"])
@pytest.mark.parametrize("chip", CHIPS)
def test_bound(chip, numerics, tmp_path):
    """Random values, against the reference and the bound of docs/Numerics.md."""
    (tmp_path / "p.mlir").write_text(PRODUCT)
    done = subprocess.run(
        [RUN, "p.mlir", "--device=sim", f"--target={chip}", f"--numerics={numerics}", *CHECKS, "--compare",
         "--seed=3", "-o", "d.npy"], cwd=tmp_path, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "loops" not in done.stderr


TILES = [
    Multistage(128, 256, 64, (2, 4), 3), Multistage(256, 128, 64, (4, 2), 3), Multistage(128, 128, 32, (2, 2), 5),
    Multistage(128, 256, 32, (2, 4), 4), Multistage(64, 128, 64, (2, 2), 3), Multistage(64, 64, 64, (2, 2), 4),
]


@pytest.mark.full
@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
@pytest.mark.parametrize("tile", TILES, ids=lambda tile: "x".join(map(str, tile[:3])))
def test_ptxas(tile, tmp_path):
    """No register is spilled in whole tiles."""
    problems = [
        Problem(element, 1024, 1024, 1024, x_order, y_order, acc=acc, end=end, schedule=tile)
        for element, x_order, y_order in (("bf16", "plain", "transposed"), ("f16", "transposed", "plain"),
                                          ("bf16", "plain", "plain"))
        for acc, end in (("zero", ""), ("zero", "bf16"), ("bias", "residual"))
    ]
    case = matmul_cases.case("tiles", problems)
    gpu_bundle.write_case(case, tmp_path, ["--target=sm_80"])
    said = subprocess.run(
        [PTXAS, "-v", "-arch=sm_80", tmp_path / "tiles.ptx", "-o", "/dev/null"], check=True, capture_output=True,
        text=True,
    ).stderr
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
    assert spills and set(spills) == {("0", "0")}, said
