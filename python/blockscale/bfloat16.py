"""bf16 values as uint16 bit patterns, since numpy has no bf16 type."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .arrays import expect_array, expect_reals, ml_name

NAN = 0x7FC0


def round_f32(values):
    """float32 to bf16 bits, rounded to nearest even; NaN becomes NAN."""
    bits = values.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(values), NAN, rounded).astype(np.uint16)


def widen(bits):
    """bf16 bits to float32; exact."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _narrow_f64(values):
    """float64 to float32, rounded to odd: towards zero, with the last bit set if that is inexact.

    Rounding the result to bf16 then gives the same as rounding the value to bf16 at once.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = values.astype(np.float32)
        wide = narrow.astype(np.float64)
    bits = narrow.view(np.uint32)
    bits = np.where(np.abs(wide) > np.abs(values), bits - np.uint32(1), bits)
    is_inexact = (wide != values) & ~np.isnan(values)
    return (bits | is_inexact.astype(np.uint32)).astype(np.uint32).view(np.float32)


def _narrow_integers(values):
    """Integers to float64, rounded to odd if they have more than 53 bits."""
    if values.dtype.itemsize < 8:
        return values.astype(np.float64)
    high, low = values >> 11, values & values.dtype.type(0x7FF)
    odd = (high | (low != 0)).astype(np.float64) * 2048.0
    limit = 1 << 53
    is_wide = values > limit if values.dtype.kind == "u" else (values > limit) | (values < -limit)
    return np.where(is_wide, odd, values.astype(np.float64))


def to_bf16(values: ArrayLike) -> np.ndarray:
    """`values` rounded to bf16, as bits: a uint16 array of their shape.

    values  real numbers of at most 64 bits, also of ml_dtypes, of any shape

    Rounds once, to nearest, ties to even, with subnormals; overflow becomes infinity. The sign of
    zero is kept; every NaN becomes 0x7FC0.

    >>> import numpy as np
    >>> [hex(bits) for bits in to_bf16([1.0, -2.5, 1 + 2.0**-8, np.nan])]
    ['0x3f80', '0xc020', '0x3f80', '0x7fc0']

    Raises TypeError if `values` are not such numbers.
    """
    values = expect_reals(values, "values")
    if ml_name(values) == "bfloat16":
        return np.array(values.view(np.uint16))
    if values.dtype.kind in "iu":
        values = _narrow_integers(values)
    elif values.dtype.kind != "f":  # of ml_dtypes: at most 8 bits
        values = values.astype(np.float32)
    if values.dtype == np.float64:
        return round_f32(_narrow_f64(values))
    return round_f32(values.astype(np.float32))


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """The values of bf16 bits, a float32 array of their shape; exact.

    bits  uint16, or bfloat16 of ml_dtypes, of any shape

    >>> import numpy as np
    >>> from_bf16(np.array([0x3F80, 0xC020], np.uint16))
    array([ 1. , -2.5], dtype=float32)

    Raises TypeError for arrays of another type.
    """
    return widen(expect_array(bits, "bits", np.uint16, "bfloat16"))
