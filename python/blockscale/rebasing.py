"""The meaning of `blockscale.rebase`, in numpy: elements with one scale for each row.

Scales of blocks along the last dimension are powers of two. The largest one of a row becomes that of the whole row, and
elements are multiplied by what their own one is less than that (formulas: docs/CoarseScales.md). Elements of fp6 and fp4
become f8E4M3FN, which has room below them: they are moved up as far as it goes, so that blocks with smaller scales stay
exact for longer.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np

from .arrays import expect_codes, expect_count, expect_name, require
from .formats import decode, encode, get_format
from .packing import packed_hint
from .reference import ELEMENT_TYPES

# Elements: what they become, and the power of two that they are moved up by.
REBASED_TYPES = {
    "f8E4M3FN": ("f8E4M3FN", 0),
    "f8E5M2": ("f8E5M2", 0),
    "f6E3M2FN": ("f8E4M3FN", 4),
    "f6E2M3FN": ("f8E4M3FN", 5),
    "f4E2M1FN": ("f8E4M3FN", 6),
}
REBASE_BLOCK_SIZES = (16, 32, 64, 128)

_BIAS = 127
_NAN = 0xFF


def rebase(codes: np.ndarray, scales: np.ndarray, element: str, block_size: int = 32) -> Tuple[np.ndarray, np.ndarray]:
    """Elements of fp8 with one scale for each row, from elements with one for each block of a row.

    codes       quantized elements of type `element`: uint8, or the type of ml_dtypes, of shape (..., K)
    scales      f8E8M0FNU: uint8, or the type of ml_dtypes, of shape (..., ceil(K / block_size))
    block_size  16, 32, 64 or 128

    Returns uint8 codes of shape (..., K), of f8E5M2 if `element` is that, else of f8E4M3FN, and float32
    scales of shape (..., 1). With r the largest code of a row's scales and shift that of REBASED_TYPES,

        row_scale = 2^(r - 127 - shift), NaN if r is NaN
        element   = element * 2^(scale code - r + shift), rounded to nearest even

    NaN and infinity keep their codes, and zero its sign.

    >>> import numpy as np
    >>> rebase(np.full((1, 64), 2, np.uint8), np.array([[127, 125]], np.uint8), "f4E2M1FN")[1]
    array([[0.015625]], dtype=float32)

    Raises TypeError for arrays of another type, ValueError for illegal types, shapes and codes.
    """
    require(expect_name(element, "element") in ELEMENT_TYPES, "element", f"one of {', '.join(ELEMENT_TYPES)}", repr(element))
    block_size = expect_count(block_size, "block_size")
    require(block_size in REBASE_BLOCK_SIZES, "block_size", f"one of {REBASE_BLOCK_SIZES}", repr(block_size))
    kind, shift = REBASED_TYPES[element]
    row = get_format(element)
    codes = row.check(expect_codes(codes, "codes", element), "codes")
    scales = expect_codes(scales, "scales", "f8E8M0FNU")
    require(codes.ndim >= 1 and codes.size, "codes shape", "at least one dimension and no size of 0", codes.shape)
    size = codes.shape[-1]
    wanted = (*codes.shape[:-1], -(-size // block_size))
    hint = packed_hint("codes", element, size, (scales.shape[-1] if scales.ndim else 0) * block_size)
    require(scales.shape == wanted, "scales shape", f"{wanted}{hint}", scales.shape)

    largest = scales.max(axis=-1, keepdims=True).astype(np.int64)
    rows = np.where(largest == _NAN, np.nan, np.ldexp(1.0, largest - _BIAS - shift)).astype(np.float32)
    powers = np.repeat(scales.astype(np.int64) - largest + shift, block_size, axis=-1)[..., :size]
    is_special = (codes & ~np.uint8(row.sign_bit)) >= row.finite_count
    # Exact in float64, so that encode rounds once.
    values = np.ldexp(decode(np.where(is_special, np.uint8(0), codes), element), powers)
    return np.where(is_special, codes, encode(values, kind)), rows
