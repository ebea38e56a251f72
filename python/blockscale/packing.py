"""Packed elements: fp4 and fp6 in memory, without padding bits.

The codes of the elements along the last dimension are a bit stream that starts at the least
significant bit of the first byte: two fp4 elements per byte, the even index in the low nibble; four
fp6 elements in three bytes. 8-bit elements are not changed.

Source: CUDA driver API, cuTensorMapEncodeTiled: the types 16U4_ALIGN8B and 16U6_ALIGN16B in global
memory. Packed arguments of compiled functions have the same layout (docs/Programs.md).
"""

from __future__ import annotations

from math import gcd

import numpy as np

from .arrays import expect_array, expect_codes, require
from .formats import get_format


def packed_hint(name: str, format: str, got: int, wanted: int) -> str:
    """A hint for messages if a row has `got` elements where `wanted` packed ones would fit; else ""."""
    bits = get_format(format).bits
    if bits < 8 and got * 8 == wanted * bits:
        return f" (is {name} packed? here a code has a byte: unpack({name}, {format!r}))"
    return ""


def _unit(bits):
    """The smallest number of elements that fills whole bytes: (elements, bytes)."""
    elements = 8 // gcd(8, bits)
    return elements, elements * bits // 8


def _regroup(integers, width, count, new_width):
    """Regroups bits: groups (..., n) of `width`-bit integers become groups of `count` of `new_width` bits."""
    word = np.zeros(integers.shape[:-1], np.uint32)
    for i in range(integers.shape[-1]):
        word |= integers[..., i].astype(np.uint32) << np.uint32(width * i)
    mask = np.uint32((1 << new_width) - 1)
    parts = [(word >> np.uint32(new_width * i)) & mask for i in range(count)]
    return np.stack(parts, axis=-1).astype(np.uint8)


def _convert(integers, name, width, count, new_width, new_count):
    require(integers.ndim >= 1, f"{name} rank", "at least 1", integers.ndim)
    size = integers.shape[-1]
    require(size % count == 0, f"last dimension of {name}", f"a multiple of {count}", size)
    groups = integers.reshape(*integers.shape[:-1], size // count, count)
    return _regroup(groups, width, new_count, new_width).reshape(
        *integers.shape[:-1], size // count * new_count
    )


def pack(codes: np.ndarray, format: str) -> np.ndarray:
    """Packs quantized elements along the last dimension.

    codes   uint8 (or the type of ml_dtypes) of shape (..., K), one element per byte
    format  a name in FORMATS

    The result is uint8 of shape (..., K * bits / 8): K / 2 for fp4, K * 3 / 4 for fp6, K for 8 bits.
    Rows must fill whole bytes: K is a multiple of 2 for fp4 and of 4 for fp6.

    >>> import numpy as np
    >>> pack(np.array([[1, 2, 3, 15]], np.uint8), "f4E2M1FN")  # 0x21, 0xF3
    array([[ 33, 243]], dtype=uint8)
    >>> pack(np.array([63, 0, 63, 0], np.uint8), "f6E2M3FN")
    array([ 63, 240,   3], dtype=uint8)

    Raises TypeError for arrays of another type, and ValueError for a K that does not fill whole bytes
    and, with the index, for codes with bits above the format's width.
    """
    row = get_format(format)
    codes = row.check(expect_codes(codes, "codes", format), "codes")
    count, size = _unit(row.bits)
    return _convert(codes, "codes", row.bits, count, 8, size)


def unpack(packed: np.ndarray, format: str) -> np.ndarray:
    """The reverse of `pack`: uint8 of shape (..., K), one element per byte.

    packed  uint8 of shape (..., bytes)
    format  a name in FORMATS

    >>> import numpy as np
    >>> unpack(np.array([[33, 243]], np.uint8), "f4E2M1FN")
    array([[ 1,  2,  3, 15]], dtype=uint8)

    Raises TypeError for arrays of another type, ValueError for rows that end inside an element: the
    bytes of fp6 must be a multiple of 3.
    """
    row = get_format(format)
    packed = expect_array(packed, "packed", np.uint8)
    count, size = _unit(row.bits)
    return _convert(packed, "packed", 8, size, row.bits, count)
