"""quantize and dequantize against exact rationals, and how other projects' rules differ."""

import math
from fractions import Fraction
from functools import lru_cache

import blockscale
import numpy as np
import pytest
import quantize_oracle as oracle
from blockscale import dequantize, quantize

F32 = np.float32
E8M0_COMBINATIONS = [row for row in oracle.COMBINATIONS if row[1] == "f8E8M0FNU"]
NVFP4 = ("f4E2M1FN", "f8E4M3FN", 16)
MXFP8 = ("f8E4M3FN", "f8E8M0FNU", 32)

# All rules of all combinations on f32, one rule on the other types.
CASES = (
    [(row, rule, "f32") for row in E8M0_COMBINATIONS for rule in oracle.RULES]
    + [(row, "rceil", value_type) for row in E8M0_COMBINATIONS for value_type in ("f16", "bf16")]
    + [(NVFP4, None, value_type) for value_type in oracle.VALUE_TYPES]
)


def case_id(value):
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


def to_type(values, value_type):
    """A float32 array in the form in which `quantize` takes the type; values must be exact there."""
    if value_type == "bf16":
        bits = values.view(np.uint32)
        assert not (bits & 0xFFFF).any()
        return (bits >> 16).astype(np.uint16)
    dtype = {"f32": np.float32, "f16": np.float16}[value_type]
    narrow = values.astype(dtype)
    np.testing.assert_array_equal(narrow.astype(np.float32), values)
    return narrow


def block(*values, size=32):
    """One block as f32: the values, and zeros behind them."""
    return np.array([*values] + [0] * (size - len(values)), F32)


def assert_quantized(got, blocks, row, rule, tensor_scale=None):
    codes, scales = got
    assert codes.dtype == scales.dtype == np.uint8
    assert codes.shape == blocks.shape
    assert scales.shape == (len(blocks), 1)
    for i, values in enumerate(blocks.tolist()):
        expected = oracle.quantize(values, *row, rule, tensor_scale)
        where = f"block {i}: {values}"
        assert (codes[i].tolist(), scales[i].tolist()) == expected, where


@lru_cache(maxsize=None)
def hard_blocks(row, rule, value_type):
    blocks = oracle.hard_blocks(*row, rule, value_type)
    blocks.flags.writeable = False  # shared by tests
    return blocks


# Against the oracle


def test_combinations():
    assert sorted(blockscale.QUANTIZE_TYPE_COMBINATIONS) == sorted(oracle.COMBINATIONS)
    assert sorted(blockscale.SCALE_RULES) == sorted(oracle.RULES)


@pytest.mark.parametrize("row, rule, value_type", CASES, ids=case_id)
def test_hard_blocks(row, rule, value_type):
    blocks = hard_blocks(row, rule, value_type)
    x = to_type(blocks, value_type)
    *got, amax = quantize(x, *row, rule, amax=True)
    assert_quantized(got, blocks, row, rule)
    assert math.isnan(amax)
    finite = blocks[np.isfinite(blocks).all(axis=1)]
    amax = quantize(to_type(finite, value_type), *row, rule, amax=True)[2]
    assert amax.dtype == np.float32
    assert amax == oracle.largest_magnitude(finite.ravel().tolist())


# Powers of two and others; the smallest and the largest f32; subnormal ones.
TENSOR_SCALES = (
    0.5, 0.37, 1 / 2688, 1e-6, 12345.678, 2.0**-149, 3 * 2.0**-149, 2.0**-127, 1.7e-39,
    3.4028234663852886e38, 2.0**120,
)


@pytest.mark.parametrize("g", TENSOR_SCALES)
def test_tensor_scale(g):
    g = float(F32(g))
    blocks = oracle.hard_blocks(*NVFP4, None, "f32", g)[::5]
    assert_quantized(quantize(blocks, *NVFP4, tensor_scale=g), blocks, NVFP4, None, g)


def scale_samples(scale):
    """Scale codes at both ends and in the middle."""
    if scale == "f8E4M3FN":
        return [*range(9), 0x30, 0x38, 0x7D, 0x7E, 0x7F, 0x80, 0x81, 0xB8, 0xFE, 0xFF]
    return [*range(6), 20, 23, 24, 101, 126, 127, 128, 142, 143, 240, 247, *range(251, 256)]


def assert_same(got, expected):
    """Equal, NaN included, and zeros of equal sign."""
    np.testing.assert_array_equal(got, expected)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(expected[zero]))


def to_f32(values):
    """The result of `dequantize` as float32."""
    if values.dtype == np.uint16:
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32)


@pytest.mark.parametrize("dtype", oracle.VALUE_TYPES)
@pytest.mark.parametrize("row", oracle.COMBINATIONS, ids=case_id)
def test_dequantize_every_code(row, dtype):
    element, scale, size = row
    count = 2 ** (1 + sum(oracle.ELEMENTS[element][:2]))
    line = (np.arange(max(count, size)) % count).astype(np.uint8)
    scales = np.repeat(np.array(scale_samples(scale), np.uint8)[:, None], len(line) // size, axis=1)
    codes = np.tile(line, (len(scales), 1))
    for g in (None, 0.37, 2.0**-149, 1.7e38):
        g = g and float(F32(g))
        got = dequantize(codes, scales, *row, tensor_scale=g, dtype=dtype)
        assert got.dtype == {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}[dtype]
        assert got.shape == codes.shape
        expected = [
            oracle.dequantize(c, s, *row, g, dtype) for c, s in zip(codes.tolist(), scales.tolist())
        ]
        assert_same(to_f32(got), np.array(expected, np.float32))


# The oracle itself, and the hard blocks


@pytest.mark.parametrize(
    "element, amax, exponents",
    [
        # floor, ceil, even, rceil; by hand.
        ("f8E4M3FN", 448, (0, 1, 0, 0)), ("f8E4M3FN", 449, (0, 1, 0, 1)),
        ("f8E4M3FN", 256, (0, 0, 0, 0)), ("f8E4M3FN", 257, (0, 1, 0, 0)),
        ("f8E4M3FN", 495.9, (0, 1, 0, 1)), ("f8E4M3FN", 496, (0, 1, 1, 1)),
        ("f8E5M2", 57344, (0, 1, 0, 0)), ("f8E5M2", 61439, (0, 1, 0, 1)),
        ("f8E5M2", 61440, (0, 1, 1, 1)), ("f8E5M2", 1, (-15, -15, -15, -15)),
        ("f6E3M2FN", 28, (0, 1, 0, 0)), ("f6E3M2FN", 30, (0, 1, 1, 1)),
        ("f6E2M3FN", 7.5, (0, 1, 0, 0)), ("f6E2M3FN", 7.75, (0, 1, 1, 1)),
        ("f4E2M1FN", 6, (0, 1, 0, 0)), ("f4E2M1FN", 6.5, (0, 1, 0, 1)),
        ("f4E2M1FN", 7, (0, 1, 1, 1)), ("f4E2M1FN", 3, (-1, 0, -1, -1)),
        ("f4E2M1FN", 2.0**-149, (-127,) * 4), ("f8E4M3FN", 2.0**-119, (-127,) * 4),
        ("f8E4M3FN", 2.0**-118, (-126,) * 4), ("f4E2M1FN", 2.0**-124, (-126,) * 4),
    ],
)
def test_scale_exponent(element, amax, exponents):
    for rule, e in zip(oracle.RULES, exponents):
        got = oracle.scale_exponent(Fraction(F32(amax).item()), element, rule)
        assert got == e, rule
        x = block(-amax)
        assert quantize(x, element, "f8E8M0FNU", 32, rule)[1] == [127 + e]


def test_oracle_largest_values():
    for element, (largest, exponent) in oracle.LARGEST.items():
        assert oracle.magnitudes(element)[-1] == largest
        assert oracle.floor_log2(Fraction(largest)) == exponent


def test_oracle_rounds_as_numpy():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**63, 2000, np.uint64)
    values = np.concatenate([bits.view(np.float64), rng.standard_normal(500) * 2.0**-130])
    with np.errstate(over="ignore", under="ignore"):
        for value_type, dtype in (("f32", np.float32), ("f16", np.float16)):
            for value in values[np.isfinite(values)]:
                expected = float(dtype(value))
                assert float(oracle.round_to(Fraction(value), value_type)) == expected


@pytest.mark.parametrize("row, rule, value_type", CASES, ids=case_id)
def test_hard_blocks_are_hard(row, rule, value_type):
    element, scale, size = row
    blocks = hard_blocks(row, rule, value_type)
    assert blocks.shape[1] == size and len(blocks) < 1000
    to_type(blocks, value_type)
    finite = blocks[np.isfinite(blocks).all(axis=1)]
    codes, scales = quantize(finite, *row, rule)

    # Every finite code, every scale that the type can reach, every lane as the largest.
    signed = 2 ** sum(oracle.ELEMENTS[element][:2])
    magnitudes = oracle.ELEMENTS[element][3]
    largest, exponent = oracle.LARGEST[element]
    if rule == "ceil":  # no quotient is above 2^emax
        magnitudes = oracle.magnitudes(element).index(2**exponent) + 1
    assert set(codes.ravel().tolist()) == {c + s for c in range(magnitudes) for s in (0, signed)}
    top = oracle.VALUE_TYPES[value_type][2] - exponent - (rule in ("floor", "even"))
    low = max(oracle.VALUE_TYPES[value_type][1] - exponent + 1, -127)
    ue4m3 = range(0x7F)
    expected = ue4m3 if scale == "f8E4M3FN" else range(127 + low, 127 + top)
    assert set(expected) <= set(scales.ravel().tolist())
    assert set(np.abs(finite).argmax(axis=1).tolist()) == set(range(size))

    assert np.isnan(blocks).any() and np.isposinf(blocks).any() and np.isneginf(blocks).any()
    assert (finite == 0).all(axis=1).sum() >= 3
    smallest = 2.0 ** oracle.VALUE_TYPES[value_type][1]
    assert (np.abs(finite) == smallest).any()

    # Midpoints between two codes occur exactly, and saturation if the rule has it.
    if scale == "f8E8M0FNU":
        quotients = np.abs(np.ldexp(finite.astype(np.float64), 127 - scales.astype(int)))
        values = np.array([float(v) for v in oracle.magnitudes(element)])
        halves = (values[1:] + values[:-1]) / 2
        if rule == "ceil":
            halves = halves[halves < 2.0**exponent]
        assert np.isin(halves, quotients).all()
        assert (quotients > largest).any() == (rule in ("floor", "even"))


# Shapes and types of arrays


@pytest.mark.parametrize("row", oracle.COMBINATIONS, ids=case_id)
@pytest.mark.parametrize("shape", [(64,), (3, 64), (2, 3, 64), (2, 1, 3, 192)])
def test_shapes(row, shape):
    x = np.random.default_rng(shape).standard_normal(shape).astype(F32)
    codes, scales = quantize(x, *row)
    assert codes.shape == shape
    assert scales.shape == (*shape[:-1], shape[-1] // row[2])
    for index in np.ndindex(*shape[:-1]):
        assert (codes[index].tolist(), scales[index].tolist()) == oracle.quantize(x[index], *row)
    np.testing.assert_array_equal(
        dequantize(codes, scales, *row).reshape(-1, row[2]),
        dequantize(codes.reshape(-1, row[2]), scales.reshape(-1, 1), *row),
    )


@pytest.mark.parametrize("row", oracle.COMBINATIONS, ids=case_id)
@pytest.mark.parametrize("size", [1, 15, 33, 47, 100])
def test_pad_is_as_if_zeros_followed(row, size):
    x = np.random.default_rng(size).standard_normal((3, size)).astype(F32)
    zeros = np.zeros((3, -size % row[2]), F32)
    codes, scales, amax = quantize(x, *row, amax=True, pad=True)
    full_codes, full_scales, full_amax = quantize(np.hstack([x, zeros]), *row, amax=True)
    assert codes.shape == x.shape and codes.flags.c_contiguous
    np.testing.assert_array_equal(codes, full_codes[:, :size])
    np.testing.assert_array_equal(scales, full_scales)
    assert amax == full_amax
    np.testing.assert_array_equal(
        dequantize(codes, scales, *row), dequantize(full_codes, full_scales, *row)[:, :size]
    )


def test_pad_leaves_whole_blocks_alone():
    x = np.random.default_rng(0).standard_normal((2, 64)).astype(F32)
    for got, expected in zip(quantize(x, *MXFP8, pad=True), quantize(x, *MXFP8)):
        np.testing.assert_array_equal(got, expected)


def test_strides_do_not_matter():
    x = np.random.default_rng(0).standard_normal((64, 4)).astype(F32)
    for array in (x.T, x.T[:, ::-1], x.T[::2]):
        for got, expected in zip(quantize(array, *MXFP8), quantize(array.copy(), *MXFP8)):
            np.testing.assert_array_equal(got, expected)


def test_input_stays():
    x = block(1000, math.nan, -0.0)
    before = x.copy()
    quantize(x, *MXFP8)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize(
    "values, amax",
    [
        ([1, -3], 3), ([0, -0.0], 0), ([1, math.inf], math.inf), ([-math.inf, 5], math.inf),
        ([math.inf, math.nan], math.nan), ([2.0**-149], 2.0**-149),
    ],
)
def test_amax(values, amax):
    got = quantize(np.stack([block(*values), block(0.0)]), *MXFP8, amax=True)[2]
    assert isinstance(got, np.float32) and not np.signbit(got)
    np.testing.assert_equal(float(got), float(amax))


def test_default_rule():
    blocks = hard_blocks(MXFP8, "rceil", "f32")
    for got, expected in zip(quantize(blocks, *MXFP8), quantize(blocks, *MXFP8, "rceil")):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("row", E8M0_COMBINATIONS, ids=case_id)
@pytest.mark.parametrize("rule", oracle.RULES)
def test_again_gives_the_same_values(row, rule):
    """Dequantized values are exact with their own scale, whichever that is."""
    x = np.random.default_rng(7).standard_normal((50, row[2])).astype(F32)
    once = dequantize(*quantize(x, *row, rule), *row)
    np.testing.assert_array_equal(dequantize(*quantize(once, *row, rule), *row), once)


# Errors

X = np.zeros((2, 64), F32)
CODES, SCALES = quantize(X, *MXFP8)


@pytest.mark.parametrize("x", [X.astype(np.float64), X.astype(np.int16), [1.0], 3.0, X[0, 0]])
def test_values_have_a_type(x):
    got = "(float64|int16|list|float|float32 scalar)$"
    with pytest.raises(TypeError, match=f"x: expected an array of float32, float16, .*, got {got}"):
        quantize(x, *MXFP8)


@pytest.mark.parametrize(
    "row",
    [
        ("f8E4M3FN", "f8E8M0FNU", 16), ("f8E4M3FN", "f8E4M3FN", 16), ("f8E8M0FNU", "f8E8M0FNU", 32),
        ("f4E2M1FN", "f8E4M3FN", 64), ("f4E2M1FN", "ue4m3", 16), ("e4m3", "f8E8M0FNU", 32),
        ("f8E4M3FN", "f8E8M0FNU", 0), ("f8E4M3FN", None, 32),
    ],
)
def test_legal_rows(row):
    for call in (lambda: quantize(X, *row), lambda: dequantize(CODES, SCALES, *row)):
        with pytest.raises(ValueError) as error:
            call()
        assert "expected one of ('f8E4M3FN', 'f8E8M0FNU', 32), " in str(error.value)
        assert f"got {row}" in str(error.value)


QUANTIZE_ERRORS = [
    (dict(rule="round"), "rule: expected one of floor, ceil, even, rceil, got 'round'"),
    (dict(row=NVFP4, rule="rceil"), "rule: expected none with f8E4M3FN, got 'rceil'"),
    (dict(tensor_scale=2.0), "tensor_scale: expected none with f8E8M0FNU, got 2.0"),
    (dict(row=NVFP4, tensor_scale=0.0), "expected a positive, finite f32, got 0.0"),
    (dict(row=NVFP4, tensor_scale=-1), "expected a positive, finite f32, got -1"),
    (dict(row=NVFP4, tensor_scale=math.inf), "expected a positive, finite f32, got inf"),
    (dict(row=NVFP4, tensor_scale=math.nan), "expected a positive, finite f32, got nan"),
    (dict(row=NVFP4, tensor_scale=1e-50), "expected a positive, finite f32, got 1e-50"),
    (dict(row=NVFP4, tensor_scale=1e50), "expected a positive, finite f32, got 1e+50"),
    (dict(x=X[:, :40]), "last dimension of x: expected a multiple of 32, or pad=True, got 40"),
    (dict(x=np.zeros((), F32)), "x rank: expected at least 1, got 0"),
    (dict(x=X[:0]), "x shape: expected sizes of at least 1, got (0, 64)"),
    (dict(x=X[:, :0], pad=True), "x shape: expected sizes of at least 1, got (2, 0)"),
]


@pytest.mark.parametrize("arguments, message", QUANTIZE_ERRORS)
def test_quantize_errors(arguments, message):
    arguments = dict(arguments)
    x, row = arguments.pop("x", X), arguments.pop("row", MXFP8)
    with pytest.raises(ValueError) as error:
        quantize(x, *row, **arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "kind, arguments, message",
    [
        (TypeError, dict(codes=X), "codes: expected an array of uint8 or float8_e4m3fn, got float32"),
        (
            TypeError, dict(scales=[[1]]),
            "scales: expected an array of uint8 or float8_e8m0fnu, got list",
        ),
        (TypeError, dict(tensor_scale="1"), "tensor_scale: expected a real number, got str"),
        (ValueError, dict(tensor_scale=-2.0), "expected a positive, finite f32, got -2.0"),
        (ValueError, dict(dtype="f64"), "dtype: expected one of f32, f16, bf16, got 'f64'"),
        (ValueError, dict(scales=SCALES[:, :1]), "scales shape: expected (2, 2), got (2, 1)"),
        (ValueError, dict(scales=SCALES[0]), "scales shape: expected (2, 2), got (2,)"),
        (ValueError, dict(codes=CODES[:, :33][:0]), "codes shape: expected sizes of at least 1"),
    ],
)
def test_dequantize_errors(kind, arguments, message):
    given = dict(codes=CODES, scales=SCALES)
    given.update({k: v for k, v in arguments.items() if k in given})
    rest = {k: v for k, v in arguments.items() if k not in given}
    with pytest.raises(kind) as error:
        dequantize(given["codes"], given["scales"], *MXFP8, **rest)
    assert message in str(error.value)


def test_dequantize_names_wide_codes():
    codes, scales = quantize(X, "f4E2M1FN", "f8E8M0FNU", 32)
    codes[1, 2] = 16
    with pytest.raises(ValueError, match=r"f4E2M1FN code at index \(1, 2\): 16"):
        dequantize(codes, scales, "f4E2M1FN", "f8E8M0FNU", 32)


# Where other projects differ: docs/Quantization.md, "Other rules". Each is a little model of a
# public implementation, named in the page, with the inputs that tell it from ours.


def times_reciprocal(amax, element):
    """The e8m0 code of fl(amax * fl(1 / max)), rounded up: torchao's RCEIL, Transformer Engine."""
    product = F32(amax) * F32(1 / oracle.LARGEST[element][0])
    fraction, exponent = math.frexp(product)
    return max(exponent - 1 + (fraction != 0.5), -127) + 127


def rceil_code(amax, element):
    return int(quantize(block(amax), element, "f8E8M0FNU", 32, "rceil")[1][0])


@pytest.mark.parametrize("element", oracle.ELEMENTS)
def test_reciprocal_differs_once(element):
    """Both codes grow with amax, so that they differ only if they change at other values: it is
    enough to look at max * 2^e and the number above."""
    largest = oracle.LARGEST[element][0]
    different = []
    for e in range(-127, 128 - oracle.LARGEST[element][1]):
        exact = F32(largest * 2.0**e)
        for amax in (exact, np.nextafter(exact, F32(np.inf))):
            if times_reciprocal(amax, element) != rceil_code(amax, element):
                different.append((float(amax), times_reciprocal(amax, element)))
    # The product is subnormal and loses the bit that tells: code 0 instead of 1.
    above = float(np.nextafter(F32(largest * 2.0**-127), F32(1)))
    assert different == [(above, 0)]
    assert rceil_code(above, element) == 1


def test_torchao_even_ends_in_nan():
    """EVEN adds half a unit to the bits and drops the rest: the largest f32 becomes infinity."""
    amax = np.finfo(F32).max
    bits = (int(amax.view(np.uint32)) + (1 << 19)) & 0xFF800000
    assert np.uint32(bits).view(F32) == np.inf  # and then scale 0xFF
    codes, scales = quantize(block(amax, -amax), *MXFP8, "even")
    assert scales == [127 + 128 - 8]
    assert codes[:2].tolist() == [0x78, 0xF8]  # 2^8 times 2^120


@pytest.mark.parametrize("element", oracle.ELEMENTS)
def test_torchao_even_is_even_elsewhere(element):
    """Halves go up there and to even here: the only half that carries is that to 2, also even."""
    mantissa_bits, emax = oracle.ELEMENTS[element][1], oracle.LARGEST[element][1]
    for step in range(2 << mantissa_bits):
        amax = F32((1 + step / (2 << mantissa_bits)) * 2.0**emax)
        bits = (int(amax.view(np.uint32)) + (1 << 22 - mantissa_bits)) >> 23
        got = quantize(block(amax), element, "f8E8M0FNU", 32, "even")[1]
        assert got == [bits - emax]


def torchao_nvfp4(x, g):
    """Scale code and element codes of one block: scales from 2^-6 up, times a reciprocal."""
    scale = np.clip(np.abs(x).max() / F32(6) / g, F32(2**-6), F32(448))
    code = blockscale.encode(scale, "ue4m3")
    factor = F32(1) / g / F32(blockscale.decode(code, "ue4m3"))
    return int(code), blockscale.encode(x * factor, "f4E2M1FN").tolist()


@pytest.mark.parametrize(
    "values, theirs, ours",
    [
        # (scale, first codes)
        ([0.0, -0.0], (0x08, [0, 8]), (0x00, [0, 8])),
        ([6 * 2.0**-8, -(2.0**-8)], (0x08, [3, 8]), (0x02, [7, 10])),
        ([6 * 2.0**-6, 2.0**-6], (0x08, [7, 2]), (0x08, [7, 2])),
    ],
)
def test_torchao_nvfp4_has_no_small_scales(values, theirs, ours):
    x = block(*values, size=16)
    code, codes = torchao_nvfp4(x, F32(1))
    assert (code, codes[:2]) == theirs
    codes, scales = quantize(x, *NVFP4)
    assert (int(scales[0]), codes[:2].tolist()) == ours


def test_torchao_nvfp4_multiplies_by_a_reciprocal():
    """A number that is halfway after the division, and not after two roundings."""
    scale = 0.9375
    x = block(6 * scale, 1.25 * scale, size=16)
    assert x[1] / F32(scale) == 1.25 < x[1] * (F32(1) / F32(scale))
    code, codes = torchao_nvfp4(x, F32(1))
    assert (code, codes[:2]) == (0x37, [7, 3])  # 1.5
    codes, scales = quantize(x, *NVFP4)
    assert scales == [0x37] and codes[:2].tolist() == [7, 2]  # 1


def microxcaling_exponent(amax, emax):
    """floor of a log2 that is rounded to f32 (mx_ops.py, without the CUDA extension)."""
    return int(math.floor(F32(math.log2(amax)))) - emax


@pytest.mark.parametrize("k, differs", [(1, False), (2, False), (3, True), (8, True), (100, True)])
def test_microxcaling_rounds_the_logarithm(k, differs):
    amax = float(np.nextafter(F32(2.0**k), F32(0)))
    e = int(quantize(block(amax), *MXFP8, "floor")[1][0]) - 127
    assert e == k - 1 - 8
    assert microxcaling_exponent(amax, 8) == e + differs


def test_microxcaling_rounds_halves_away():
    """Its default, round="nearest", is floor(|x| + 0.5) at the last bit."""
    x = block(4, 2.5, -0.25, 1.25)  # with scale 1
    codes, scales = quantize(x, "f4E2M1FN", "f8E8M0FNU", 32, "floor")
    assert scales == [127]
    assert codes[:4].tolist() == [6, 4, 8, 2]  # 2, -0, 1
    units = np.array([2, 1, 0.5, 0.5], F32)
    away = np.sign(x[:4]) * np.floor(np.abs(x[:4]) / units + F32(0.5)) * units
    assert away.tolist() == [4, 3, -0.5, 1.5]


def test_microxcaling_may_flush_subnormal_blocks():
    """mx_flush_fp32_subnorms makes blocks of subnormals zero; these rules never do."""
    x = block(2.0**-127, -(2.0**-130))
    codes, scales = quantize(x, *MXFP8, "floor")
    assert scales == [0]
    assert dequantize(codes, scales, *MXFP8)[:2].tolist() == [2.0**-127, -(2.0**-130)]


def test_transformer_engine_keeps_nan_in_its_element():
    """fmaxf leaves NaN out, so that the scale is that of the others; infinity has scale 0xFE."""
    values = block(math.nan, 448)
    amax = np.fmax.reduce(np.abs(values))
    assert times_reciprocal(amax, "f8E4M3FN") == 127
    codes, scales = quantize(values, *MXFP8)
    assert scales == [0xFF] and not codes.any()
    codes, scales = quantize(block(math.inf, 448), *MXFP8)
    assert scales == [0xFF] and not codes.any()


def transformer_engine_nvfp4(x, global_amax):
    """Scale code and element codes of one block by S_enc = 2688 / amax of the tensor."""
    encode = F32(2688) / F32(global_amax)
    wanted = np.abs(x).max() * (encode * (F32(1) / F32(6)))
    code = blockscale.encode(wanted, "ue4m3")
    with np.errstate(divide="ignore", over="ignore"):
        inverse = F32(1) / (F32(blockscale.decode(code, "ue4m3")) * (F32(1) / encode))
        inverse = min(inverse, np.finfo(F32).max)
        return int(code), blockscale.encode(x * inverse, "f4E2M1FN").tolist()


def test_transformer_engine_nvfp4_scale():
    """184 * fl(6 * fl(1/6)) is 184, halfway between two scales, and goes to the even one, 192;
    fl(fl(184 / 6) / fl(1/6)) is below it and goes to 176."""
    x = block(184, -46, size=16)
    g = F32(1) / (F32(2688) / F32(448))
    assert transformer_engine_nvfp4(x, 448)[0] == 0x74
    assert quantize(x, *NVFP4, tensor_scale=g)[1] == [0x73]


def test_transformer_engine_nvfp4_scale_zero():
    """Elements of 6 with a scale of 0: the values are the same, the codes are not."""
    x = block(1e-7, -1e-8, 0, -0.0, size=16)
    code, codes = transformer_engine_nvfp4(x, 2688)
    assert (code, codes[:4]) == (0, [7, 15, 0, 8])
    codes, scales = quantize(x, *NVFP4, tensor_scale=1.0)
    assert scales == [0] and codes[:4].tolist() == [0, 8, 0, 8]


def test_transformer_engine_nvfp4_dequantize():
    """code * fl(fl(scale * amax) * fl(1 / 2688)) against fl(fl(code * scale) * g)."""
    codes, scales = np.arange(16, dtype=np.uint8), np.array([0x07], np.uint8)
    amax = F32(5)
    g = amax / F32(2688)
    ours = dequantize(codes, scales, *NVFP4, tensor_scale=g)
    scale = F32(blockscale.decode(scales, "ue4m3")[0])
    theirs = blockscale.decode(codes, "f4E2M1FN").astype(F32) * (scale * amax * F32(1 / 2688))
    assert (ours != theirs).any()
    np.testing.assert_allclose(ours, theirs, rtol=2.0**-22)
