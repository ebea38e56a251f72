"""quantize and dequantize with coarse scales in the simulator, bit for bit the numpy functions.

Kernels differ by block, by how values lie in memory (whole vectors of a row, or not), and by what is
known of sizes; arithmetic by types, rule and chip. Each meets each other one.
"""

import re
import subprocess
import sys
from pathlib import Path

import blockscale
import numpy as np
import pytest
import tiers
from harness import RUN, Program
from warp_specialized_cases import cover

sys.path.append(str(Path(__file__).resolve().parents[1] / "quantize"))
from test_coarse_quantize import ALL, dequantize, hard_values, quantize, scale_shape

TARGETS = ["sm_80", "sm_90a", "sm_100a", "sm_120a"]
F32, E8M0 = "f32", "f8E8M0FNU"
BLOCKS = [(rows, k) for rows in (1, 128, ALL) for k in (16, 32, 64, 128, ALL)]
RULES = [None, "rceil", "floor", "ceil", "even"]
TYPES = ["f32", "f16", "bf16"]
# Whole vectors of 8 and of fewer values or single ones, whole and partial last blocks, more rows than a tile has.
SHAPES = [(130, 320), (3, 97), (257, 36), (2, 129, 192), (1, 1), (2, 2, 5, 1096), (256, 128), (3, 131, 50)]
LAYOUTS = ["static", "dynamic", "rows", "multiples", "transposed", "in"]


def simulate(program, target, folder):
    """The results, as arrays."""
    (folder / "main.mlir").write_text(program.text())
    inputs = [folder / f"in{i}.npy" for i in range(len(program.arrays))]
    outputs = [folder / f"out{i}.npy" for i in range(len(program.results))]
    for path, array in zip(inputs, program.arrays):
        np.save(path, array)
    command = [RUN, folder / "main.mlir", "--device=sim", f"--target={target}", "--check=race,strict"]
    for path in outputs:
        command += ["-o", path]
    done = subprocess.run([*command, *inputs], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr + program.text()
    return [np.load(path) for path in outputs]


def assert_same_bits(got, wanted):
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    bits = [each.view(f"u{each.itemsize}") for each in (got.reshape(-1), np.ascontiguousarray(wanted).reshape(-1))]
    np.testing.assert_array_equal(*bits)


def to_type(values, dtype):
    with np.errstate(over="ignore", under="ignore"):
        return {"f32": lambda: values, "f16": lambda: values.astype(np.float16), "bf16": lambda: blockscale.to_bf16(values)}[dtype]()


def make_values(shape, dtype, seed):
    """Some blocks have a special value, in any of their columns."""
    rng = np.random.default_rng(seed)
    values = hard_values(shape, seed) if np.prod(shape[:-1]) > 2 else rng.standard_normal(shape).astype(np.float32)
    if seed % 2:
        values.reshape(-1)[rng.integers(values.size)] = [np.nan, np.inf, -np.inf][seed % 3]
    return to_type(values, dtype)


def is_legal(element, scale, block):
    return scale == F32 or (block[1] != 16 and block != (1, 32))


def add_argument(program, values, dtype, layout):
    """x, of which the layout says what is known."""
    shape = values.shape
    if layout == "transposed":
        return program.transpose(program.arg(np.ascontiguousarray(np.swapaxes(values, -1, -2)), dtype))
    if layout == "in":
        # Made by another op, which may be fused.
        x = program.arg(values, dtype)
        return program.op(f"arith.negf {x.name} : {x.type}", shape, dtype)
    known = {"dynamic": [None] * len(shape), "multiples": [None] * len(shape), "rows": [*[None] * (len(shape) - 1), shape[-1]]}
    return program.arg(values, dtype, known.get(layout))


def give_multiples(program, shape):
    """Promises what divides the sizes of the first argument."""
    multiples = ", ".join(["1"] * (len(shape) - 1) + [str(8 if shape[-1] % 8 == 0 else 1)])
    text = program.text
    program.text = lambda: re.sub(
        r"(%arg0: tensor<[^>]*>)", rf"\1 {{blockscale.multiples = array<i64: {multiples}>}}", text(), count=1
    )


FORMATS = [(element, scale) for scale in (F32, E8M0) for element in blockscale.ELEMENT_TYPES]


def tiered(layouts, seed, **others):
    """Cases by number. Always each block in each of `layouts`; with --full, each value with each other one."""
    factors = {"format": FORMATS, "block": BLOCKS, "layout": layouts, "shape": SHAPES, "dtype": TYPES, "target": TARGETS, **others}
    cases = [{"number": i, **dict(zip(factors, values))} for i, values in enumerate(cover(list(factors.values()), 2, seed))]
    return tiers.pairs(
        cases, lambda case: [(name, str(case[name])) for name in factors],
        lambda case: [(name, str(case[name])) for name in factors] + [(case["block"], case["layout"])],
    )


@pytest.mark.parametrize("case", tiered(LAYOUTS, 7, rule=RULES), ids=lambda case: str(case["number"]))
def test_quantize(case, tmp_path):
    (element, scale), block, shape, dtype, layout = (case[name] for name in ("format", "block", "shape", "dtype", "layout"))
    number, rule = case["number"], case["rule"]
    if not is_legal(element, scale, block):
        block = (block[0], 64)
    if element == "f4E2M1FN":
        shape = (*shape[:-1], shape[-1] + shape[-1] % 2)  # packed rows end on a byte
    values = make_values(shape, dtype, number)
    program = Program()
    x = add_argument(program, values, dtype, layout)
    if layout == "in":
        values = -values if dtype != "bf16" else values ^ np.uint16(0x8000)
    if layout == "multiples":
        give_multiples(program, shape)
    for result in quantize(program, x, element, scale, block, rule, amax=True):
        program.result(result)
    wanted = blockscale.quantize(values, element, scale, rule=rule, scale_block=block, amax=True)
    for got, each in zip(simulate(program, case["target"], tmp_path), wanted):
        assert_same_bits(got, each)


def boundary_values(element, scale_power, rng):
    """128 x 128 f32s: each row has the scale amax / max, and quotients on the borders between elements, and beside."""
    decoded = blockscale.decode(np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8), element)
    finite = np.unique(decoded[np.isfinite(decoded)])
    borders = np.concatenate([(finite[1:] + finite[:-1]) / 2, finite[np.abs(finite) < finite.max()]])
    amax = np.float32(finite.max()) * (np.exp2(scale_power) * (1 + rng.random((128, 1)))).astype(np.float32)
    scales = amax / np.float32(finite.max())
    values = (rng.choice(borders, (128, 128)) * scales.astype(np.float64)).astype(np.float32)
    for far, columns in ((np.float32(np.inf), slice(40, 80)), (np.float32(-np.inf), slice(80, 127))):
        values[:, columns] = np.nextafter(values[:, columns], far)
    values[:, 127:] = amax
    return np.clip(values, -amax, amax)


@pytest.mark.parametrize("target", TARGETS)
def test_borders(target, tmp_path):
    """Where a quotient that is not rounded to nearest shows, with scales from subnormals to the largest ones."""
    rng, program, expected = np.random.default_rng(8), Program(), []
    for i, element in enumerate(blockscale.ELEMENT_TYPES):
        powers = (-145, -126, -120, -100, -52, -50, -20, 0, 49, 50, 110)
        values = np.concatenate([boundary_values(element, power, rng) for power in powers])
        for block in [(1, 128), (1, ALL)]:
            for result in quantize(program, program.arg(values, F32), element, F32, block):
                program.result(result)
            expected += blockscale.quantize(values, element, F32, scale_block=block)
    for got, wanted in zip(simulate(program, target, tmp_path), expected):
        assert_same_bits(got, wanted)


@pytest.mark.parametrize("target", TARGETS[1:3])
@pytest.mark.parametrize("k", [1, 31, 1024, 1032, 3002, 8192, 16424, 40008])
def test_long_rows(k, target, tmp_path):
    """A warp, several warps, and more than the registers hold."""
    values = blockscale.to_bf16(np.random.default_rng(k).standard_normal((5, k)).astype(np.float32))
    values[3, k // 2:] = 0x7F80
    program = Program()
    for rows in ((5, k), (None, k), (None, None)):
        for result in quantize(program, program.arg(values, "bf16", rows), "f8E4M3FN", F32, (1, ALL), amax=True):
            program.result(result)
    wanted = blockscale.quantize(blockscale.from_bf16(values), "f8E4M3FN", F32, scale_block=(1, ALL), amax=True)
    for got, each in zip(simulate(program, target, tmp_path), wanted * 3):
        assert_same_bits(got, each)


@pytest.mark.parametrize("case", tiered(["static", "dynamic", "rows", "transposed"], 9), ids=lambda case: str(case["number"]))
def test_dequantize(case, tmp_path):
    """All codes, and all scales."""
    (element, scale), block, shape, dtype, layout = (case[name] for name in ("format", "block", "shape", "dtype", "layout"))
    number = case["number"]
    if not is_legal(element, scale, block):
        block = (block[0], 64)
    # Packed rows end on a byte, those of the transposed one, too.
    shape = tuple(n + n % 2 for n in shape) if element == "f4E2M1FN" else shape
    rng = np.random.default_rng(number)
    codes = rng.integers(0, 1 << blockscale.FORMATS[element].bits, shape).astype(np.uint8)
    scales = rng.integers(0, 256, scale_shape(shape, block)).astype(np.uint8)
    if scale == F32:
        scales = rng.integers(0, 1 << 32, scales.shape).astype(np.uint32).view(np.float32)
    program = Program()
    x = add_argument(program, codes, element, layout)
    known = x.shape if layout in ("dynamic", "rows") else shape
    program.result(dequantize(program, x, program.arg(scales, scale, scale_shape(known, block)), block, dtype))
    (got,) = simulate(program, case["target"], tmp_path)
    with np.errstate(invalid="ignore"):  # signaling NaNs
        wanted = blockscale.dequantize(codes, scales, element, scale, dtype=dtype, scale_block=block)
    if dtype == "bf16":
        got, wanted = blockscale.from_bf16(got), blockscale.from_bf16(wanted)
    np.testing.assert_array_equal(got, wanted)  # NaN has any payload
    np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(wanted[wanted == 0]))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element, scale, block", [("f8E5M2", F32, (1, 128)), ("f8E4M3FN", E8M0, (128, 64)), ("f8E4M3FN", F32, (1, ALL))])
def test_a_product_between(element, scale, block, target, tmp_path):
    """x times dequantized weights, with exact sums, which are quantized: neither is fused into the product."""
    rng = np.random.default_rng(10)
    x, w = rng.integers(-8, 9, (130, 64)).astype(np.float32), rng.integers(-8, 9, (64, 200)).astype(np.float32)
    factors = np.float32([[0.5, 4]])
    program = Program()
    operands = [
        program.arg(blockscale.to_bf16(x), "bf16"), program.arg(blockscale.encode(w, "f8E4M3FN"), "f8E4M3FN"), program.arg(factors, F32)
    ]
    y = dequantize(program, *operands[1:], (128, 128), "bf16")
    acc = program.constant(0, (130, 200), F32)
    product = program.op(
        f"linalg.matmul ins(%arg0, {y.name} : {operands[0].type}, {y.type}) outs({acc.name} : {acc.type}) -> {acc.type}",
        (130, 200), F32,
    )
    for result in quantize(program, product, element, scale, block):
        program.result(result)
    wanted = blockscale.quantize(x @ (w * factors.repeat(128, 1)[:, :200]), element, scale, scale_block=block)
    for got, each in zip(simulate(program, target, tmp_path), wanted):
        assert_same_bits(got, each)


@pytest.mark.parametrize("block", [(1, 128), (1, ALL), (128, 128), (ALL, ALL)])
def test_reshaped(block, tmp_path):
    """Rows of a block stay rows of one matrix if x is reshaped in front."""
    values = hard_values((260, 96), 11)
    program = Program()
    x = program.arg(values, F32)
    shape = "[[0, 1], [2]] output_shape [2, 130, 96]"
    x = program.op(f"tensor.expand_shape {x.name} {shape} : {x.type} into tensor<2x130x96xf32>", (2, 130, 96), F32)
    for result in quantize(program, x, "f8E4M3FN", F32, block):
        program.result(result)
    wanted = blockscale.quantize(values.reshape(2, 130, 96), "f8E4M3FN", F32, scale_block=block)
    for got, each in zip(simulate(program, "sm_90a", tmp_path), wanted):
        assert_same_bits(got, each)
