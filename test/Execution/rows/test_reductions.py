"""Reductions, and scalars that functions return, on the CPU and in the simulator."""

import re
import subprocess

import harness
import numpy as np
import pytest
from row_cases import CHIPS, DEVICES, run, tensor, to_bits

FLOATS = {"maximumf": np.max, "minimumf": np.min, "maxnumf": np.fmax.reduce, "minnumf": np.fmin.reduce}
INTEGERS = {
    "addi": np.sum, "muli": np.prod, "andi": np.bitwise_and.reduce, "ori": np.bitwise_or.reduce,
    "xori": np.bitwise_xor.reduce, "maxsi": np.max, "minsi": np.min,
}


def reduce(op, shape, dims, element, init, static=True):
    """A function that reduces its argument, beginning with `init`."""
    left = [n for i, n in enumerate(shape) if i not in dims]
    sizes = left if static else ["?"] * len(left)
    argument = tensor(shape if static else ["?"] * len(shape), element)
    result = tensor(sizes, element)
    return f"""func.func @main(%x: {argument}, %init: {result}) -> {result} {{
  %r = linalg.reduce {{ arith.{op} }} ins(%x : {argument}) outs(%init : {result})
       dimensions = {list(dims)}
  return %r : {result}
}}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_exact(device, tmp_path):
    """Whatever the order: the same bits. A warp for a row, a block, loops for short ones."""
    rng = np.random.default_rng(1)
    for shape, dims in [((5, 70), (1,)), ((2, 1500), (1,)), ((3, 40, 5), (0, 1)), ((600,), (0,)), ((9, 4), (1,))]:
        x = (rng.integers(-8, 8, shape) / 4).astype(np.float32)
        init = np.full([n for i, n in enumerate(shape) if i not in dims], 0.5, np.float32)
        for static in (True, False):
            text = reduce("addf", shape, dims, "f32", init, static)
            [result] = run(tmp_path, text, [x, init], device)
            assert (result == x.sum(axis=dims) + 0.5).all(), (shape, static)


@pytest.mark.parametrize("device", ("cpu", "sm_80", "sm_120a"))
@pytest.mark.parametrize("dtype", ("f32", "f16", "bf16", "f64"))
def test_extremes(device, dtype, tmp_path):
    """NaN wins, or does not count; so in a row of nothing else, and in what is there before."""
    rng = np.random.default_rng(2)
    x = rng.integers(-100, 100, (4, 70)).astype(np.float64)
    x[1, 5] = x[2, :] = np.nan
    init = np.array([-1000, 1000, np.nan, np.nan])
    for op, of in FLOATS.items():
        text = reduce(op, x.shape, (1,), dtype, init)
        arrays = [to_bits(x, dtype), to_bits(init, dtype)]
        [result] = run(tmp_path, text, arrays, device)
        with np.errstate(all="ignore"):
            expected = of(np.concatenate([x, init[:, None]], 1), axis=1)
        expected, isNaN = to_bits(expected, dtype), np.isnan(expected)
        assert (result[~isNaN] == expected[~isNaN]).all(), op
        quiet = to_bits(np.full(4, np.nan), dtype)[isNaN]
        unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[result.itemsize]
        bits = quiet.view(unsigned) & ~(unsigned(1) << unsigned(8 * result.itemsize - 1))
        assert (result[isNaN].view(unsigned) & bits == bits).all(), op


@pytest.mark.parametrize("device", ("cpu", "sm_80", "sm_120a"))
@pytest.mark.parametrize("bits", (8, 16, 32, 64))
def test_integers(device, bits, tmp_path):
    rng = np.random.default_rng(bits)
    dtype = np.dtype(f"i{bits // 8}")
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, (3, 100), dtype)
    init = rng.integers(info.min, info.max, 3, dtype)
    for op, of in INTEGERS.items():
        [result] = run(tmp_path, reduce(op, x.shape, (1,), f"i{bits}", init), [x, init], device)
        with np.errstate(all="ignore"):
            expected = of(np.concatenate([x, init[:, None]], 1), axis=1).astype(dtype)
        assert (result == expected).all(), op


@pytest.mark.parametrize("device", CHIPS)
def test_producers(device, tmp_path):
    """What makes the elements is part of the kernel; any order of a sum is within the bound."""
    x, y = (np.random.default_rng(n).standard_normal((4, 300)).astype(np.float32) for n in (1, 2))
    text = """func.func @main(%x: tensor<4x300xf32>, %y: tensor<4x300xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %p = arith.mulf %x, %y : tensor<4x300xf32>
  %a = math.absf %p : tensor<4x300xf32>
  %r = linalg.reduce { arith.addf } ins(%a : tensor<4x300xf32>) outs(%z : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}
"""
    [result] = run(tmp_path, text, [x, y], device, compare=True)
    exact = np.abs(x.astype(np.float64) * y).sum(1)
    assert (np.abs(result - exact) <= 300 * 2.0**-22 * exact).all()
    ptx = subprocess.run(
        [harness.RUN.with_name("blockscale-compile"), tmp_path / "program.mlir", f"--target={device}"],
        capture_output=True, text=True, check=True,
    ).stdout
    assert re.findall(r"\.entry (\w+)", ptx) == ["main"]
    assert ptx.count("shfl.sync.bfly") == 5


SCALARS = """func.func @main(%x: tensor<2x500xf32>, %i: index, %n: f32) -> (f32, f32, i32, index, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %seven = arith.constant 7 : i32
  %e = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %all = linalg.reduce { arith.addf } ins(%x : tensor<2x500xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]
  %sum = tensor.extract %all[] : tensor<f32>
  %mean = arith.divf %sum, %n : f32
  %first = tensor.extract %x[%one, %i] : tensor<2x500xf32>
  %root = math.exp %first : f32
  %mixed = arith.addf %mean, %root : f32
  %j = arith.addi %i, %one : index
  return %sum, %mixed, %seven, %j, %all : f32, f32, i32, index, tensor<f32>
}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_scalars(device, tmp_path):
    x = (np.random.default_rng(4).integers(-8, 8, (2, 500)) / 8).astype(np.float32)
    arrays = [x, np.int64(3), np.float32(1000)]
    sum, mixed, seven, j, all = run(tmp_path, SCALARS, arrays, device, 5, compare=True)
    assert sum == all == x.sum() and sum.shape == ()
    assert abs(mixed - (x.sum() / 1000 + np.exp(x[1, 3]))) < 1e-5
    assert (seven, j, j.dtype) == (7, 4, np.int64)


def test_scalars_are_printed(tmp_path):
    program = tmp_path / "program.mlir"
    program.write_text("func.func @main(%x: f32) -> f32 {\n  %y = arith.addf %x, %x : f32\n  return %y : f32\n}\n")
    np.save(tmp_path / "x.npy", np.float32(1.25))
    for flags in ([], ["--device=sim", "--target=sm_90a", "--compare"]):
        done = subprocess.run([harness.RUN, program, *flags, tmp_path / "x.npy"], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "2.5\n"), done.stderr
