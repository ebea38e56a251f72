"""Element and scale formats of block-scaled matrix multiply: codes to values and back.

A code is the bit pattern of one value in the low bits of an integer. Formats have the names of
MLIR's types; `ue4m3` is f8E4M3FN as a scale, with the sign bit ignored.

Sources: OCP Microscaling Formats (MX) v1.0, section 5.3 (FP8, FP6 and FP4 elements) and section
5.4 (E8M0 scales); OCP 8-bit floating point (OFP8) v1.0 for the special codes of E4M3 and E5M2;
PTX ISA, "Alternate floating-point data formats", for ue4m3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Optional

import numpy as np
from numpy.typing import ArrayLike

from .arrays import ML_DTYPES, as_numpy, expect_flag, expect_name, expect_reals, ml_name, require, type_name


@dataclass(frozen=True)
class Format:
    """One row of the format table.

    A code is, from the high bit down: a sign bit (if `bits` is enough for one), `exponent_bits`
    bits E and `mantissa_bits` bits M. Its magnitude, the code without the sign bit, means

        M / 2^mantissa_bits * 2^(1 - bias)          if E = 0 and the format has subnormals,
        (1 + M / 2^mantissa_bits) * 2^(E - bias)    otherwise,

    except for the special magnitudes. These are the largest ones, so that the finite magnitudes
    are 0 .. finite_count - 1, in ascending order of value.
    """

    name: str
    bits: int
    exponent_bits: int
    mantissa_bits: int
    bias: int
    signed: bool  # False: no sign bit (e8m0), or one that is ignored (ue4m3)
    subnormals: bool
    infinity: Optional[int]  # magnitude that means infinity
    nans: range  # magnitudes that mean NaN

    @property
    def magnitude_bits(self):
        return self.exponent_bits + self.mantissa_bits

    @property
    def sign_bit(self):
        """Mask of the bit above the magnitude; 0 if there is none."""
        return ((1 << self.bits) - 1) >> self.magnitude_bits << self.magnitude_bits

    @property
    def finite_count(self):
        """Number of finite magnitudes."""
        specials = [*self.nans] + [self.infinity] * (self.infinity is not None)
        return min(specials, default=1 << self.magnitude_bits)

    @property
    def nan(self):
        """The magnitude written for NaN, all ones; None if the format has none."""
        return max(self.nans, default=None)

    @property
    def beyond(self):
        """The magnitude that overflow gives: infinity, else NaN, else None."""
        return self.nan if self.infinity is None else self.infinity

    def check(self, codes, name):
        """`codes`, an array of integers called `name`; ValueError if one has bits above the width."""
        if codes.dtype != np.uint8 or self.bits < 8:
            bad = (codes < 0) | (codes >= 1 << self.bits)
            if bad.any():
                raise ValueError(
                    f"{name}: {self.name} code at {_where(bad, codes)}, "
                    f"expected 0 to {(1 << self.bits) - 1}"
                )
        return codes

    def formula(self, magnitude):
        """The value of a magnitude (array of int) as if none were special; exact in float64."""
        fraction = magnitude & ((1 << self.mantissa_bits) - 1)
        exponent = magnitude >> self.mantissa_bits
        subnormal = (exponent == 0) & self.subnormals
        significand = np.where(subnormal, fraction, fraction + (1 << self.mantissa_bits))
        exponent = np.where(subnormal, 1, exponent)
        return np.ldexp(significand.astype(np.float64), exponent - self.bias - self.mantissa_bits)


_NONE = range(0)

# Columns: name, bits, exponent bits, mantissa bits, bias, signed, subnormals, infinity, NaNs.
FORMATS = {
    row.name: row
    for row in (
        Format("f8E4M3FN", 8, 4, 3, 7, True, True, None, range(0x7F, 0x80)),
        Format("f8E5M2", 8, 5, 2, 15, True, True, 0x7C, range(0x7D, 0x80)),
        Format("f6E3M2FN", 6, 3, 2, 3, True, True, None, _NONE),
        Format("f6E2M3FN", 6, 2, 3, 1, True, True, None, _NONE),
        Format("f4E2M1FN", 4, 2, 1, 1, True, True, None, _NONE),
        Format("f8E8M0FNU", 8, 8, 0, 127, False, False, None, range(0xFF, 0x100)),
        Format("ue4m3", 8, 4, 3, 7, False, True, None, range(0x7F, 0x80)),
    )
}


def get_format(name):
    """The row of FORMATS called `name`; ValueError if there is none."""
    require(expect_name(name, "format") in FORMATS, "format", f"one of {', '.join(FORMATS)}", repr(name))
    return FORMATS[name]


@lru_cache(maxsize=None)
def _decode_table(name):
    """float64 array of shape (2^bits,): the value of every code."""
    row = FORMATS[name]
    codes = np.arange(1 << row.bits)
    magnitudes = codes & ((1 << row.magnitude_bits) - 1)
    values = row.formula(magnitudes)
    values[np.isin(magnitudes, row.nans)] = np.nan
    if row.infinity is not None:
        values[magnitudes == row.infinity] = np.inf
    if row.signed:
        values = np.copysign(values, np.where(codes & row.sign_bit, -1.0, 1.0))
    values.flags.writeable = False  # shared by all callers
    return values


@lru_cache(maxsize=None)
def _grid(name):
    """The finite values >= 0, shape (n,), and the midpoints above each of them, shape (n,).

    Above the largest finite value lies the next value of the formula, as if the exponent were
    unbounded: IEEE 754 rounds on that grid before it asks whether the result overflows.
    """
    row = FORMATS[name]
    values = row.formula(np.arange(row.finite_count + 1))
    return values[:-1], (values[:-1] + values[1:]) / 2


def _where(bad, values):
    """"index (i, j): value" of the first True in `bad`."""
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"index {index}: {values[index]}"


def decode(codes: ArrayLike, format: str, name: str = "codes") -> np.ndarray:
    """The values of `codes`, a float64 array of their shape.

    codes   integers, or the type of ml_dtypes, of any shape
    format  a name in FORMATS
    name    the name of `codes` in messages

    Exact for every code. e8m0: 0x00 is 2^-127 and 0xFF is NaN (OCP MX v1.0, section 5.4.1).
    ue4m3: bit 7 is ignored, so that 0x7F and 0xFF are NaN.

    >>> decode([0, 1, 7, 15], "f4E2M1FN")
    array([ 0. ,  0.5,  6. , -6. ])

    Raises TypeError if `codes` does not hold integers, and ValueError, with the index and the
    code, if a code has bits above the format's width.
    """
    row = get_format(format)
    codes = as_numpy(codes, name)
    if ml_name(codes) == ML_DTYPES[format]:
        codes = codes.view(np.uint8)
    if codes.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected integers or {ML_DTYPES[format]}, got {type_name(codes)}")
    return np.asarray(_decode_table(format)[row.check(codes, name)])


def encode(values: ArrayLike, format: str, saturate: bool = True) -> np.ndarray:
    """The codes of `values`, a uint8 array of their shape.

    values    real numbers, also of ml_dtypes, of any shape
    format    a name in FORMATS
    saturate  whether overflow gives the largest finite value

    Rounds to the nearest value of the format, ties to the even code (roundTiesToEven; OCP MX v1.0,
    section 6.3). A value overflows if it would round beyond the largest finite value with an unbounded
    exponent; infinities overflow as well. Overflow gives the largest finite value of the same sign or,
    with `saturate=False`, infinity if the format has one, else NaN. The sign of zero is kept; NaN
    becomes the positive NaN with all mantissa bits set.

    e8m0 has powers of two only. Other values round to the nearest one by difference, and 1.5 * 2^e,
    halfway between two, to the even exponent code. (The scale of a block, OCP MX v1.0 section 6.3,
    is a power of two rounded down: take floor(log2) before calling.) A value below 2^-127, including
    zero, has no code, because the format has no zero to round down to.

    >>> encode([0.3, -2.5, 1000], "f4E2M1FN")
    array([ 1, 12,  7], dtype=uint8)

    Raises ValueError, with the index and the value, for
      * NaN in a format without NaN,
      * overflow with `saturate=False` in a format with neither infinity nor NaN,
      * negative values (-inf included; not -0.0, which is zero) in e8m0 and ue4m3,
      * values below 2^-127 in e8m0,
    and TypeError if `values` are not real numbers.
    """
    row = get_format(format)
    values = expect_reals(values, "values").astype(np.float64)
    saturate = expect_flag(saturate, "saturate")
    grid, midpoints = _grid(format)

    nan = np.isnan(values)
    magnitudes = np.where(nan, grid[0], np.abs(values))

    def reject(bad, why):
        if np.any(bad):
            raise ValueError(f"values: {format} {why} at {_where(bad, values)}")

    reject(nan & (row.nan is None), "has no NaN; value")
    reject((values < 0) & (not row.signed), "has no sign; value")
    reject(magnitudes < grid[0], f"starts at {grid[0]}; value")

    # midpoints[c] lies between the codes c and c + 1; a value on it goes to the even one.
    codes = np.asarray(np.searchsorted(midpoints, magnitudes, side="left"))
    nearest = midpoints[np.minimum(codes, len(midpoints) - 1)]
    codes += (magnitudes == nearest) & (codes % 2 == 1)

    overflow = codes == row.finite_count
    limit = row.finite_count - 1 if saturate else row.beyond
    reject(overflow & (limit is None), f"ends at {grid[-1]}; value")
    if overflow.any():
        codes[overflow] = limit
    if nan.any():
        codes[nan] = row.nan
    codes |= np.where(np.signbit(values) & row.signed & ~nan, row.sign_bit, 0)
    return codes.astype(np.uint8)
