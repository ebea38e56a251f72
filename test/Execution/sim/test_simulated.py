"""Kernels in the simulator: every combination of types, as PTX that is executed.

They are blockscale.LEGAL_TYPE_COMBINATIONS, which test/Unit holds against the compiler's table: a
new one runs here, or the suite fails.
"""

import copy
import re
import subprocess
from collections import Counter

import blockscale
import gpu_bundle
import numpy as np
import pytest
import tiers
import vector_kernels
from gpu_cases import add_problem
from harness import COMBINATIONS, RUN, Program, exact, random
from simulated import check, parts

SHAPES = [(1, 1, None), (2, 2, 64), (33, 17, 96), (130, 70, 160)]


def shapes_program(row):
    """All shapes, then a batch; y is an N x K argument that is read through a transpose."""
    program = Program()
    for m, n, k in SHAPES:
        data = random(row, m, n, k or row.block, seed=1)
        program.result(add_problem(program, row, data, y_is_nk=True))
    data = [np.stack([array] * 3) for array in random(row, 33, 17, 96, seed=1)]
    program.result(add_problem(program, row, data, y_is_nk=True))
    return program


@pytest.mark.parametrize("row", COMBINATIONS, ids=str)
def test_compare(row, tmp_path):
    """Against the reference on the CPU, on arguments drawn from a seed."""
    source = tmp_path / "program.mlir"
    source.write_text(shapes_program(row).text())
    done = subprocess.run(
        [RUN, source, "--device=sim", "--target=sm_120a", "--compare", "--seed=1"],
        capture_output=True, text=True, timeout=gpu_bundle.TIMEOUT_S, check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("result #")]
    assert len(lines) == len(SHAPES) + 1, done.stderr


# Of x and y.
BATCHES = [((1,), ()), ((), (1,)), ((1,), (1,)), ((3,), ()), ((), (3,)), ((1,), (3,)), ((3,), (1,)), ((2,), (2,))]


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_batches(target, tmp_path):
    """Operands without a batch, with a batch of 1, and with several matrices, side by side."""
    program, row = Program(), COMBINATIONS[0]
    for x_batch, y_batch in BATCHES:
        data = exact(row, 5, 24, 96, 1, x_batch=x_batch, y_batch=y_batch)
        program.result(program.mma(*program.mma_args(row, data)))
    source = tmp_path / "program.mlir"
    source.write_text(program.text())
    done = subprocess.run(
        [RUN, source, "--device=sim", f"--target={target}", "--compare", "--seed=1"],
        capture_output=True, text=True, timeout=gpu_bundle.TIMEOUT_S, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("result #") == len(BATCHES), done.stderr


@pytest.mark.parametrize("case", gpu_bundle.select("fused"), ids=lambda case: case.name)
def test_fused(case, tmp_path):
    """Elementwise ops are in the kernel of the product."""
    gpu_bundle.write_case(case, tmp_path, ["--target=sm_120a"])
    assert (tmp_path / f"{case.name}.ptx").read_text().count(".visible .entry") == 1


@pytest.mark.parametrize("case", vector_kernels.wide_kernels(), ids=lambda case: case.name)
def test_wide_loads(case, tmp_path):
    """What is known to be aligned is not read byte by byte."""
    gpu_bundle.write_case(case, tmp_path, ["--target=sm_120a"])
    text = (tmp_path / f"{case.name}.ptx").read_text()
    loads = Counter(re.findall(r"\b(?:ldmatrix|ld\.(?:global|shared)[.\w]*)", text))
    space = "shared" if case.name.endswith("shared") else "global"
    assert loads[f"ld.{space}.b8"] == 0, loads
    assert loads[f"ld.{space}.b32"] != 0, loads
    assert (loads["ldmatrix"] != 0) == (space == "shared"), loads


# One for each row, and some with dynamic sizes.
ELSEWHERE = [*gpu_bundle.select("-37x19x96"), *gpu_bundle.select("dynamic-chosen")]


@pytest.mark.parametrize(
    "case", tiers.first(gpu_bundle.select("-37x19x96"), 2), ids=lambda case: case.name
)
def test_plain(case, tmp_path):
    """The reference kernel, for which ops ask."""
    program = copy.copy(case.program)
    path = "{blockscale.path = #blockscale.path<decompose>}"
    program.body = [re.sub("(mma_scaled .*?) :", rf"\1 {path} :", line) for line in program.body]
    assert sum(path in line for line in program.body) == len(program.results)
    case = case._replace(program=program)
    check(case, tmp_path, ["--target=sm_80"])
    assert "mma" not in (tmp_path / f"{case.name}.ptx").read_text().replace("mma_scaled", "")


@pytest.mark.parametrize("case", tiers.pairs(ELSEWHERE, parts), ids=lambda case: case.name)
def test_emulated(case, tmp_path):
    """The code for sm_120a with its instructions in software."""
    check(case, tmp_path, ["--target=sm_120a", "--emulate-on=sm_80"])


def test_emulated_nibbles_along_n(tmp_path):
    """Rows of 16 codes of fp4, the last of which ends with what no one has written."""
    source = tmp_path / "program.mlir"
    types = "tensor<16x192xf6E3M2FN>, tensor<16x6xf8E8M0FNU>, tensor<192x40xf4E2M1FN>, tensor<6x40xf8E8M0FNU>, tensor<16x40xf32>"
    names = ("%x", "%xs", "%y", "%ys", "%acc")
    arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types.split(", ")))
    source.write_text(
        f"func.func @main({arguments}) -> tensor<16x40xf32> {{\n"
        f"  %d = blockscale.mma_scaled {', '.join(names)} {{block_size = 32 : i64}} : {types}\n"
        "  return %d : tensor<16x40xf32>\n}\n"
    )
    done = subprocess.run(
        [RUN, source, "--device=sim", "--target=sm_120a", "--emulate-on=sm_86", "--check=race,proxy,strict", "--compare",
         "--seed=3"], capture_output=True, text=True, timeout=gpu_bundle.TIMEOUT_S, check=False,
    )
    assert done.returncode == 0, done.stderr


def run_compare(program, folder):
    source = folder / "program.mlir"
    source.write_text(program.text())
    inputs = [folder / f"in{i}.npy" for i in range(len(program.arrays))]
    for path, array in zip(inputs, program.arrays):
        np.save(path, array)
    command = [RUN, source, "--device=sim", "--compare", "-o", folder / "out.npy", *inputs]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=gpu_bundle.TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_compare_overflow(tmp_path):
    """2^129 - 2^129 in two blocks: the first partial sum overflows, and nothing is compared."""
    row = COMBINATIONS[0]
    ones = blockscale.encode(np.ones((2, 64)), row.x)
    signs = blockscale.encode(np.repeat([[1.0], [-1.0]], 32, 0), row.y)
    scale = np.full((2, 2), 127 + 62, np.uint8)
    data = [ones, scale, signs, scale[:, :1], np.zeros((2, 1), np.float32)]
    program = Program()
    program.result(add_problem(program, row, data, y_is_nk=True))
    line = run_compare(program, tmp_path)
    assert "2 elements may overflow and are not compared" in line, line


def test_compare_nan(tmp_path):
    """A NaN operand shows in its row, and in no other."""
    row = COMBINATIONS[0]
    data = random(row, 20, 10, 64, seed=2)
    data[0][3, 5] = 0x7F
    program = Program()
    program.result(add_problem(program, row, data, y_is_nk=True))
    run_compare(program, tmp_path)
    assert np.array_equal(np.isnan(np.load(tmp_path / "out.npy")).any(1), np.arange(20) == 3)


def test_scalars(tmp_path):
    """A sum, which has no parallel loop, and an elementwise op, which has none at all."""
    program = Program()
    factor, vector = program.arg(np.float32(1.5), "f32"), program.arg(np.float32([1, 2, 4, 8]), "f32")
    total = program.op(
        f"linalg.reduce {{ arith.addf }} ins({vector.name} : {vector.type}) "
        f"outs({factor.name} : {factor.type}) dimensions = [0]", (), "f32",
    )
    program.result(program.op(f"arith.mulf {total.name}, {factor.name} : {total.type}", (), "f32"))
    run_compare(program, tmp_path)
    assert np.load(tmp_path / "out.npy") == 16.5 * 1.5
