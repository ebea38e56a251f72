"""Bits of bf16 against exact rationals."""

from fractions import Fraction

import blockscale
import numpy as np
import pytest
from blockscale import from_bf16, to_bf16

BITS = np.arange(1 << 16, dtype=np.uint16)
F32 = from_bf16(BITS)
FINITE = np.isfinite(F32)


def nearest(value):
    """The bits of a finite number that is no halfway case beyond the largest one, by exact comparison."""
    number = Fraction(value if isinstance(value, int) else float(value))
    sign = 0x8000 if np.copysign(1.0, float(value)) < 0 else 0
    low, high = 0, 0x7F80  # of magnitudes; the upper end stands for 2^128
    size = lambda bits: Fraction(2) ** 128 if bits == 0x7F80 else Fraction(float(F32[bits]))  # noqa: E731
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) <= abs(number) else (low, middle)
    below, above = abs(number) - size(low), size(high) - abs(number)
    return sign | (low if below < above or below == above and low % 2 == 0 else high)


def test_every_code_comes_back():
    assert F32.dtype == np.float32 and F32[0x3F80] == 1 and F32[0xFF80] == -np.inf
    np.testing.assert_array_equal(to_bf16(F32[~np.isnan(F32)]), BITS[~np.isnan(F32)])
    assert set(to_bf16(F32[np.isnan(F32)])) == {0x7FC0}


def halfway():
    """Between neighbours, and one step of f64 to either side."""
    low = F32[FINITE & (BITS < 0x8000)].astype(np.float64)[::97]
    middle = low + np.spacing(low.astype(np.float32)).astype(np.float64) * 2**15
    return np.concatenate([middle, np.nextafter(middle, 0), np.nextafter(middle, np.inf), -middle])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_rounded_once_to_nearest_even(dtype):
    rng = np.random.default_rng(0)
    values = np.concatenate([halfway(), rng.standard_normal(500) * 2.0 ** rng.integers(-140, 128, 500)])
    with np.errstate(over="ignore"):
        values = values.astype(dtype)
    values = values[np.isfinite(values)]
    assert [int(bits) for bits in to_bf16(values)] == [nearest(value) for value in values]


def test_f64_is_not_rounded_twice():
    """By way of f32 this would be a tie, and go down to the even one."""
    value = 1 + 2.0**-8 + 2.0**-40
    assert to_bf16([value])[0] == 0x3F81
    assert to_bf16(np.float32([value]))[0] == 0x3F80


def test_integers():
    values = [0, 1, -3, 255, 257, 2**53, 2**60 + 2**52, 2**60 + 2**52 + 1, -(2**60) - 2**52 - 1, 2**63 - 1, -(2**63)]
    assert [int(bits) for bits in to_bf16(values)] == [nearest(value) for value in values]
    big = np.array([2**64 - 1, 2**63 + 2**55, 2**63 + 2**55 + 1], np.uint64)
    assert [int(bits) for bits in to_bf16(big)] == [nearest(int(value)) for value in big]


def test_ends():
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 3.39e38, 3.4e38, 1e300, -1e300, 1e-300, -1e-300, 2.0**-133])
    expected = [0, 0x8000, 0x7F80, 0xFF80, 0x7FC0, 0x7F7F, 0x7F80, 0x7F80, 0xFF80, 0, 0x8000, 1]
    assert to_bf16(values).tolist() == expected
    assert to_bf16(np.float32([3.39e38, np.nan, -np.nan])).tolist() == [0x7F7F, 0x7FC0, 0x7FC0]


def test_shapes():
    assert (to_bf16(1.0).shape, to_bf16(np.zeros((2, 0, 3))).shape) == ((), (2, 0, 3))
    assert from_bf16(np.array(0x3F80, np.uint16)) == 1
    x = np.arange(12, dtype=np.float32).reshape(3, 4).T  # not in C order
    np.testing.assert_array_equal(from_bf16(to_bf16(x)), x)
    np.testing.assert_array_equal(to_bf16(x[:, ::2]), to_bf16(x)[:, ::2])


def test_they_are_the_bits_that_quantize_takes():
    x = np.linspace(-3, 3, 64, dtype=np.float32).reshape(1, 64)
    for one, other in zip(blockscale.quantize(to_bf16(x), "mxfp8"), blockscale.quantize(from_bf16(to_bf16(x)), "mxfp8")):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("values", [["1"], [1j], [None], [True], [[1], [1, 2]]])
def test_what_is_no_number(values):
    with pytest.raises(TypeError, match="^values: expected (real numbers|an array), got"):
        to_bf16(values)


@pytest.mark.parametrize("bits", [[1], np.zeros(2, np.int16), np.zeros(2, np.float32)])
def test_what_is_no_bits(bits):
    with pytest.raises(TypeError, match="^bits: expected an array of uint16 or bfloat16, got"):
        from_bf16(bits)
