"""quantize and dequantize with coarse scales on the CPU, against the numpy functions and by hand."""

import blockscale
import numpy as np
import pytest
from harness import Program, Value, assert_bit_equal

ALL = "all"
BLOCKS = [(1, 128), (128, 128), (1, ALL), (ALL, ALL), (128, ALL), (ALL, 16), (1, 64)]
SHAPES = [(130, 320), (3, 96), (2, 129, 192)]
MLIR_VALUES = {np.dtype(np.float32): "f32", np.dtype(np.float16): "f16", np.dtype(np.uint16): "bf16"}


def attribute(block, rule=None):
    text = f"scale_block = #blockscale.scale_block<rows = {block[0]}, k = {block[1]}>"
    return text + (f", rule = #blockscale.scale_rule<{rule}>" if rule else "")


def scale_shape(shape, block):
    counts = [1 if size == ALL else n and -(-n // size) for n, size in zip(shape[-2:], block)]  # None stays
    return (*shape[:-2], *counts)


def quantize(program, value, element, scale, block, rule=None, amax=False):
    """The names and types of the results."""
    results = [Value("", value.shape, element), Value("", scale_shape(value.shape, block), scale)]
    results += [Value("", (), "f32")] * amax
    types = ", ".join(result.type for result in results)
    name = f"%q{program.values}"
    program.values += 1
    count = f":{len(results)}"
    program.body.append(
        f"{name}{count} = blockscale.quantize {value.name} {{{attribute(block, rule)}}} : {value.type} to {types}"
    )
    return [result._replace(name=f"{name}#{i}") for i, result in enumerate(results)]


def dequantize(program, codes, scales, block, dtype="f32"):
    kind = Value("", codes.shape, dtype).type
    return program.op(
        f"blockscale.dequantize {codes.name}, {scales.name} {{{attribute(block)}}} : {codes.type}, {scales.type} to {kind}",
        codes.shape, dtype,
    )


def hard_values(shape, seed):
    """Blocks of many magnitudes, some of zeros, of one special value, or of subnormals."""
    rng = np.random.default_rng([seed, *shape])
    values = rng.standard_normal(shape).astype(np.float32)
    flat = values.reshape(-1, shape[-1])
    flat *= np.exp2(rng.integers(-30, 30, (len(flat), 1))).astype(np.float32)
    flat[1] = 0
    flat[2, ::2] = -0.0
    flat[-1] *= np.float32(2.0**-140)
    return values


def check(cases, folder):
    program, expected = Program(), []
    for values, element, scale, block, rule in cases:
        x = program.arg(values, MLIR_VALUES[values.dtype])
        for result in quantize(program, x, element, scale, block, rule, amax=True):
            program.result(result)
        expected += blockscale.quantize(values, element, scale, rule=rule, scale_block=block, amax=True)
    for got, wanted in zip(program.run(folder), expected):
        assert_bit_equal(got, np.asarray(wanted))


@pytest.mark.parametrize("scale", ["f32", "f8E8M0FNU"])
@pytest.mark.parametrize("element", blockscale.ELEMENT_TYPES)
def test_hard_blocks(element, scale, tmp_path):
    rules = [None, "rceil", "floor"]
    legal = [block for block in BLOCKS if scale == "f32" or block[1] != 16]
    check([
        (hard_values(shape, i), element, scale, block, rules[(i + j) % 3])
        for i, block in enumerate(legal) for j, shape in enumerate(SHAPES)
    ], tmp_path)


def test_special_values(tmp_path):
    """A block with NaN or infinity has the scale NaN and elements 0, the others keep theirs."""
    values = hard_values((256, 256), 1)
    values[5, 7], values[5, 200], values[200, 9] = np.nan, -np.inf, np.inf
    check([(values, "f8E4M3FN", scale, block, None) for scale in ("f32", "f8E8M0FNU") for block in [(1, 128), (128, 128)]], tmp_path)
    codes, scales = blockscale.quantize(values, "f8E4M3FN", "f32", scale_block=(128, 128))
    assert np.isnan(scales).tolist() == [[True, True], [True, False]]
    assert not codes[:128].any() and codes[128:, 128:].any()


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_narrow_values(dtype, tmp_path):
    values = hard_values((130, 200), 2)
    with np.errstate(over="ignore", under="ignore"):
        narrow = blockscale.to_bf16(values) if dtype == "bf16" else values.astype(np.float16)
    check([(narrow, "f8E4M3FN", "f32", block, None) for block in [(1, 128), (128, 128)]], tmp_path)


def test_by_hand(tmp_path):
    """amax on 448 * 2^k and beside it, the smallest numbers, and zeros: scales that the definition gives."""
    largest = np.float32(448)
    rows = [largest, np.nextafter(largest, np.float32(np.inf)), 448 * 2.0**-140, 1e-45, 0, 2.0**127, 1.0]
    values = np.zeros((len(rows), 128), np.float32)
    values[:, 3] = rows
    plain = [1, np.nextafter(np.float32(1), np.float32(2)), 2.0**-140, 1, 1, np.float32(2.0**127) / largest, 1 / largest]
    powers = [1, 2, 2.0**-127, 2.0**-127, 1, 2.0**119, 2.0**-8]
    program = Program()
    x = program.arg(values, "f32")
    for rule in (None, "rceil"):
        for result in quantize(program, x, "f8E4M3FN", "f32", (1, 128), rule):
            program.result(result)
    codes, scales, power_codes, power_scales = program.run(tmp_path)
    assert_bit_equal(scales[:, 0], np.float32(plain))
    assert_bit_equal(power_scales[:, 0], np.float32(powers))
    assert blockscale.decode(codes[:, 3], "f8E4M3FN").tolist() == [448, 448, 448, 0, 0, 448, 448]
    assert blockscale.decode(power_codes[:, 3], "f8E4M3FN").tolist() == [448, 224, 448 * 2.0**-13 * 1.0, 0, 0, 256, 256]


@pytest.mark.parametrize("scale", ["f32", "f8E8M0FNU"])
def test_dequantize(scale, tmp_path):
    program, expected = Program(), []
    rng = np.random.default_rng(3)
    for i, element in enumerate(blockscale.ELEMENT_TYPES):
        shape, block, dtype = SHAPES[i % 3], [b for b in BLOCKS if b[1] != 16][i], ("f32", "f16", "bf16")[i % 3]
        codes = rng.integers(0, 1 << blockscale.FORMATS[element].bits, shape).astype(np.uint8)
        scales = rng.integers(0, 256, scale_shape(shape, block)).astype(np.uint8)
        if scale == "f32":
            scales = rng.integers(0, 1 << 32, scale_shape(shape, block)).astype(np.uint32).view(np.float32)
        values = [program.arg(codes, element), program.arg(scales, scale)]
        program.result(dequantize(program, *values, block, dtype))
        expected.append(blockscale.dequantize(codes, scales, element, scale, dtype=dtype, scale_block=block))
    for got, wanted in zip(program.run(tmp_path), expected):
        if got.dtype == np.uint16:
            got, wanted = blockscale.from_bf16(got), blockscale.from_bf16(wanted)
        assert_bit_equal(got, wanted)


def test_dynamic(tmp_path):
    values = hard_values((130, 200), 4)
    program = Program()
    x = program.arg(values, "f32", (None, None))
    block = "scale_block = #blockscale.scale_block<rows = 128, k = 64>"
    program.body.append(
        f"%q:2 = blockscale.quantize {x.name} {{{block}}} : {x.type} to tensor<?x?xf8E4M3FN>, tensor<?x?xf32>"
    )
    program.result(Value("%q#1", (None, None), "f32"))
    program.body.append(
        f"%d = blockscale.dequantize %q#0, %q#1 {{{block}}} : tensor<?x?xf8E4M3FN>, tensor<?x?xf32> to {x.type}"
    )
    program.result(Value("%d", (None, None), "f32"))
    scales, back = program.run(tmp_path)
    codes, wanted = blockscale.quantize(values, "f8E4M3FN", "f32", scale_block=(128, 64))
    assert_bit_equal(scales, wanted)
    assert_bit_equal(back, blockscale.dequantize(codes, wanted, "f8E4M3FN", scale_block=(128, 64)))


def test_a_layer(tmp_path):
    """Activations quantised on the way, times weights: within what the quantisation costs."""
    rng = np.random.default_rng(5)
    x, w = rng.standard_normal((150, 576)).astype(np.float32), rng.standard_normal((576, 200)).astype(np.float32)
    y, y_scale = blockscale.quantize(w, "f8E4M3FN", "f32", scale_block=(128, 128))
    program = Program()
    values = [program.arg(x, "f32"), program.arg(y, "f8E4M3FN"), program.arg(y_scale, "f32")]
    codes, scales = quantize(program, values[0], "f8E4M3FN", "f32", (1, 128))
    acc = program.constant(0, (150, 200), "f32")
    names = ", ".join(v.name for v in (codes, scales, *values[1:], acc))
    types = ", ".join(v.type for v in (codes, scales, *values[1:], acc))
    program.result(program.op(f"blockscale.mma_scaled {names} : {types}", (150, 200), "f32"))
    (result,) = program.run(tmp_path)
    assert np.abs(result - x @ w).max() < 0.25 * np.sqrt(576)
    x_codes, x_scale = blockscale.quantize(x, "f8E4M3FN", "f32", scale_block=(1, 128))
    expected = blockscale.mma_scaled(
        x_codes, x_scale, y, y_scale, np.zeros_like(result), x_type="f8E4M3FN", y_type="f8E4M3FN"
    )
    assert_bit_equal(result, expected)
