"""Coarse scales in numpy, against sums of fractions, which are exact, and checks of arguments."""

from fractions import Fraction

import blockscale
import numpy as np
import pytest
from blockscale import dequantize, error_bound, mma_scaled, quantize
from blockscale.scale_blocks import finer, legal_blocks

ALL = "all"
FP8 = dict(x_type="f8E4M3FN", y_type="f8E4M3FN")


def test_table():
    """What issues of the same table elsewhere would break: 15 blocks of f32, 12 of e8m0, and those of fp4."""
    assert len(legal_blocks("f8E4M3FN", "f32")) == 15
    assert len(legal_blocks("f8E4M3FN", "f8E8M0FNU")) == 12
    assert legal_blocks("f4E2M1FN", "f8E8M0FNU")[-1] == (1, 16)
    assert legal_blocks("f4E2M1FN", "f8E4M3FN") == [(1, 16)]
    assert legal_blocks("f8E4M3FN", "f8E4M3FN") == []
    assert [finer(*pair) for pair in ((16, 128), (ALL, 32), (64, ALL), (ALL, ALL))] == [16, 32, 64, ALL]


def exact(x, x_scale, y, y_scale, acc, x_block, y_block, columns):
    """The formula, element by element, in fractions; finite numbers only, and these columns."""
    def at(scales, block, row, k, is_x):
        index = [0 if size == ALL else each // size for each, size in zip((row, k), block)]
        return Fraction(float(scales[tuple(index if is_x else index[::-1])]))

    x, y = blockscale.decode(x, "f8E4M3FN"), blockscale.decode(y, "f8E4M3FN")
    m, k = x.shape
    result = np.empty((m, len(columns)), object)
    for i in range(m):
        for at_column, j in enumerate(columns):
            result[i, at_column] = Fraction(float(acc[i, j])) + sum(
                Fraction(x[i, l]) * at(x_scale, x_block, i, l, True) * Fraction(y[l, j]) * at(y_scale, y_block, j, l, False)
                for l in range(k)
            )
    return result


@pytest.mark.parametrize("x_block, y_block", [
    ((1, 128), (128, 128)), ((128, 64), (1, 16)), ((1, ALL), (1, ALL)), ((ALL, ALL), (128, 32)), ((1, 16), (ALL, ALL)),
])
def test_exact(x_block, y_block):
    """f64 has more bits than these sums lose, so results are the fractions, rounded once."""
    rng = np.random.default_rng(1)
    m, n, k = 3, 130, 150
    count = lambda size, block: 1 if block == ALL else -(-size // block)
    x = rng.integers(0, 0x7F, (m, k)).astype(np.uint8) | np.uint8(0x80) * rng.integers(0, 2, (m, k)).astype(np.uint8)
    y = rng.integers(0, 0x7F, (k, n)).astype(np.uint8)
    x_scale = np.float32(rng.standard_normal((count(m, x_block[0]), count(k, x_block[1]))))
    y_scale = np.float32(rng.standard_normal((count(k, y_block[1]), count(n, y_block[0]))))
    acc = np.float32(rng.standard_normal((m, n)))
    result = mma_scaled(x, x_scale, y, y_scale, acc, **FP8, x_scale_block=x_block, y_scale_block=y_block)
    columns = [0, 1, 64, 126, 127, 128, 129]
    result = result[:, columns]
    wanted = exact(x, x_scale, y, y_scale, acc, x_block, y_block, columns)
    near = np.array([[float(value) for value in row] for row in wanted]).astype(np.float32)
    assert np.abs(result.astype(np.float64) - near).max() <= np.spacing(np.abs(near)).max() * 2.0**-20
    assert (result == near).mean() > 0.95


def test_compare_and_bound():
    rng = np.random.default_rng(2)
    codes, scales = quantize(np.float32(rng.standard_normal((130, 200))), "f8E4M3FN", "f32", scale_block=(1, 128))
    y, y_scale = quantize(np.float32(rng.standard_normal((200, 70))), "f8E4M3FN", "f32", scale_block=(128, 128))
    blocks = dict(x_scale_block=(1, 128), y_scale_block=(128, 128))
    operands = codes, scales, y, y_scale, np.zeros((130, 70), np.float32)
    result = mma_scaled(*operands, **FP8, **blocks)
    assert blockscale.compare(result, *operands, **FP8, **blocks) == 0
    bound, comparable = error_bound(*operands, **FP8, **blocks)
    values = dequantize(codes, scales, "f8E4M3FN"), dequantize(y, y_scale, "f8E4M3FN", scale_block=(128, 128))
    magnitude = np.abs(values[0].astype(np.float64)) @ np.abs(values[1].astype(np.float64))
    np.testing.assert_allclose(bound, 200 * 2.0**-22 * magnitude + 2.0**-122, rtol=1e-5)
    assert comparable.all()
    with pytest.raises(AssertionError, match="cell"):
        blockscale.compare(result * np.float32(1.01), *operands, **FP8, **blocks)


def test_blocks_of_instructions():
    """A block that the 27 rows have gives what they give."""
    rng = np.random.default_rng(3)
    x, x_scale = quantize(np.float32(rng.standard_normal((5, 96))), "mxfp8")
    y, y_scale = (array.T.copy() for array in quantize(np.float32(rng.standard_normal((7, 96))), "mxfp4"))
    acc = np.zeros((5, 7), np.float32)
    types = dict(x_type="mxfp8", y_type="mxfp4")
    plain = mma_scaled(x, x_scale, y, y_scale, acc, **types)
    np.testing.assert_array_equal(plain, mma_scaled(x, x_scale, y, y_scale, acc, **types, x_scale_block=(1, 32)))


def test_formats_beside_coarse_scales():
    """MXFP4 weights beside activations with one f32 scale for each row: the format gives its own block."""
    rng = np.random.default_rng(4)
    x, x_scale = quantize(np.float32(rng.standard_normal((5, 96))), "f8E4M3FN", "f32", scale_block=(1, ALL))
    y, y_scale = (array.T.copy() for array in quantize(np.float32(rng.standard_normal((7, 96))), "mxfp4"))
    result = mma_scaled(
        x, x_scale, y, y_scale, np.zeros((5, 7), np.float32), x_type="f8E4M3FN", y_type="mxfp4", x_scale_block=(1, ALL)
    )
    wanted = dequantize(x, x_scale, "f8E4M3FN", scale_block=(1, ALL)).astype(np.float64) @ dequantize(
        y.T.copy(), y_scale.T.copy(), "mxfp4").T
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


X = np.zeros((300, 256), np.uint8)
Y = np.zeros((256, 576), np.uint8)


def f32(*shape):
    return np.ones(shape, np.float32)


@pytest.mark.parametrize("changes, message", [
    (dict(x_scale=f32(10, 8)), "shape of x_scale: expected"),
    (dict(y_scale=f32(2, 4), y_scale_block=(128, 128)), r"shape of y_scale: expected \(2, 5\), got \(2, 4\)"),
    (dict(x_scale=f32(2, 300)), "shape of x_scale: expected"),
    (dict(x_scale_block=(32, 32)), "x_scale_block: expected rows of 1, 128 or all, got 32"),
    (dict(x_scale_block=(1, 48)), "x_scale_block: expected k of 16, 32, 64, 128 or all, got 48"),
    (dict(x=X[:1], x_scale=f32(1, 2), acc=f32(1, 576)), r"x_scale_block: expected one of .* fit \(1, 2\), got None"),
    (dict(block_size=128), "block_size: expected none with coarse scales, got 128"),
    (dict(x_scale=np.ones((300, 2), np.uint8), x_scale_block=(1, 128)), "scale_type: expected one of f8E8M0FNU"),
    (dict(x_scale=np.ones((300, 16), np.uint8), scale_type="f8E4M3FN"), "x_scale: expected scales of f8E8M0FNU or float32"),
    (dict(x_type="f8E4M3"), "x_type: expected one of"),
    (dict(acc=f32(300, 575)), "acc shape: expected"),
    (dict(y=Y[:128], y_scale=f32(1, 5), y_scale_block=(128, ALL)), "K of y: expected 256 as in x, got 128"),
    (dict(x_scale=f32(1, 300, 2)), "batch of x_scale: expected"),
])
def test_wrong_products(changes, message):
    right = dict(x=X, x_scale=f32(300, 2), y=Y, y_scale=f32(2, 5), acc=f32(300, 576), **FP8)
    assert np.array_equal(mma_scaled(**right), right["acc"])
    with pytest.raises(ValueError, match=message):
        mma_scaled(**{**right, **changes})


@pytest.mark.parametrize("changes, message", [
    (dict(scale_block=None), "scale_block: expected a block with scales of f32"),
    (dict(scale_block=(1, 48)), "scale_block: expected k of"),
    (dict(scale="f8E8M0FNU", scale_block=(1, 32)), "scale_block: expected one of"),
    (dict(scale="f8E4M3FN"), "scale: expected f32 or f8E8M0FNU for f8E4M3FN"),
    (dict(block_size=128), "block_size: expected none with scale_block"),
    (dict(pad=True), "pad: expected False with scale_block"),
    (dict(tensor_scale=2.0), "tensor_scale: expected none with scale_block"),
    (dict(rule="up"), "rule: expected one of"),
    (dict(x=np.ones(128, np.float32)), "x rank: expected at least 2"),
    (dict(element="f8E4M3"), "element: expected one of"),
])
def test_wrong_quantize(changes, message):
    right = dict(x=f32(4, 128), element="f8E4M3FN", scale="f32", scale_block=(1, 128))
    quantize(**right)
    with pytest.raises(ValueError, match=message):
        quantize(**{**right, **changes})


def test_quantize_one_by_one():
    """The rule of f32 scales, element by element, in f32."""
    rng = np.random.default_rng(6)
    x = np.float32(rng.standard_normal((130, 200))) * np.float32(2) ** rng.integers(-60, 60, (130, 200)).astype(np.float32)
    codes, scales = quantize(x, "f8E4M3FN", "f32", scale_block=(128, 128))
    assert scales.shape == (2, 2)
    for i, j in ((0, 0), (127, 127), (128, 0), (5, 128), (129, 199)):
        block = x[i // 128 * 128 : i // 128 * 128 + 128, j // 128 * 128 : j // 128 * 128 + 128]
        scale = np.abs(block).max() / np.float32(448)
        assert scales[i // 128, j // 128] == scale
        assert codes[i, j] == blockscale.encode(x[i, j] / scale, "f8E4M3FN")


def test_powers_are_the_bit_form():
    """rceil with scales of f32: amax / 448, its exponent plus one where the mantissa is not zero."""
    amax = np.float32(np.concatenate([
        448 * 2.0 ** np.arange(-20, 20), np.nextafter(np.float32(448) * np.float32(2) ** np.arange(-20, 20, dtype=np.float32), np.float32(np.inf)),
        np.random.default_rng(7).standard_normal(1000),
    ]))
    x = np.zeros((len(amax), 64), np.float32)
    x[:, 5] = amax
    _, scales = quantize(x, "f8E4M3FN", "f32", rule="rceil", scale_block=(1, 64))
    bits = (np.abs(amax) / np.float32(448)).view(np.uint32)
    field = (bits >> 23) + (bits & 0x7FFFFF != 0)
    np.testing.assert_array_equal(scales[:, 0], (field << 23).astype(np.uint32).view(np.float32))
