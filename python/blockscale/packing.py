"""Codes without the bits that a byte has more than they: how fp4 and fp6 lie in memory.

Codes along the last dimension are a stream of bits, from the least significant bit of the first
byte on: two codes of fp4 in a byte, the even index in the low half; four codes of fp6 in three
bytes. Codes of 8 bits are bytes as they are.

Source: CUDA driver API, cuTensorMapEncodeTiled: the types 16U4_ALIGN8B and 16U6_ALIGN16B as they lie
in global memory. Arguments of compiled functions lie so, too (docs/Programs.md).
"""

from __future__ import annotations

from math import gcd

import numpy as np

from .arrays import expect_array, expect_codes, require
from .formats import get_format


def packed_hint(name: str, format: str, got: int, wanted: int) -> str:
    """For a message about `got` codes in a line where `wanted` would fit: what packed codes need; else ""."""
    bits = get_format(format).bits
    if bits < 8 and got * 8 == wanted * bits:
        return f" (is {name} packed? here a code has a byte: unpack({name}, {format!r}))"
    return ""


def _unit(bits):
    """The smallest whole: (codes, bytes)."""
    codes = 8 // gcd(8, bits)
    return codes, codes * bits // 8


def _regroup(numbers, width, count, new_width):
    """Groups (..., n) of numbers of `width` bits as groups of `count` of `new_width` bits."""
    word = np.zeros(numbers.shape[:-1], np.uint32)
    for i in range(numbers.shape[-1]):
        word |= numbers[..., i].astype(np.uint32) << np.uint32(width * i)
    mask = np.uint32((1 << new_width) - 1)
    parts = [(word >> np.uint32(new_width * i)) & mask for i in range(count)]
    return np.stack(parts, axis=-1).astype(np.uint8)


def _convert(numbers, name, width, count, new_width, new_count):
    require(numbers.ndim >= 1, f"{name} rank", "at least 1", numbers.ndim)
    size = numbers.shape[-1]
    require(size % count == 0, f"last dimension of {name}", f"a multiple of {count}", size)
    groups = numbers.reshape(*numbers.shape[:-1], size // count, count)
    return _regroup(groups, width, new_count, new_width).reshape(
        *numbers.shape[:-1], size // count * new_count
    )


def pack(codes: np.ndarray, format: str) -> np.ndarray:
    """The bytes of codes, along the last dimension.

    codes   uint8 (or the type of ml_dtypes) of shape (..., K), one code for each byte
    format  a name in FORMATS

    The result is uint8 of shape (..., K * bits / 8): K / 2 for fp4, K * 3 / 4 for fp6, K for all
    others. A line must end on a byte: K is a multiple of 2 for fp4, of 4 for fp6.

    >>> import numpy as np
    >>> pack(np.array([[1, 2, 3, 15]], np.uint8), "f4E2M1FN")  # 0x21, 0xF3
    array([[ 33, 243]], dtype=uint8)
    >>> pack(np.array([63, 0, 63, 0], np.uint8), "f6E2M3FN")
    array([ 63, 240,   3], dtype=uint8)

    Raises TypeError for arrays of another type, ValueError for a K that ends inside a byte and for
    codes with bits above the format's width, with their index.
    """
    row = get_format(format)
    codes = row.check(expect_codes(codes, "codes", format), "codes")
    count, size = _unit(row.bits)
    return _convert(codes, "codes", row.bits, count, 8, size)


def unpack(packed: np.ndarray, format: str) -> np.ndarray:
    """The codes that `pack` made bytes of: uint8 of shape (..., K), one code for each byte.

    packed  uint8 of shape (..., bytes)
    format  a name in FORMATS

    >>> import numpy as np
    >>> unpack(np.array([[33, 243]], np.uint8), "f4E2M1FN")
    array([[ 1,  2,  3, 15]], dtype=uint8)

    Raises TypeError for arrays of another type, ValueError for lines that end inside a code: the
    bytes of fp6 are a multiple of 3.
    """
    row = get_format(format)
    packed = expect_array(packed, "packed", np.uint8)
    count, size = _unit(row.bits)
    return _convert(packed, "packed", 8, size, row.bits, count)
