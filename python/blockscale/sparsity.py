"""Structured sparsity: two of four elements, or of four pairs of elements, along K.

`sparsify` chooses what stays of dense values. `compress` stores what is not zero of quantized elements, with
the metadata of sparse_metadata.py, and `decompress` does the reverse.

Sources: PTX ISA, mma.sp and tcgen05.mma.sp: which granularities there are. CUTLASS, the compressor of
sm_100 and sm_120: which units it keeps where there are fewer than two.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np

from .arrays import expect_array, expect_codes, expect_flag, expect_name, require
from .formats import get_format
from .quantization import to_f32
from .reference import ELEMENT_TYPES
from .sparse_metadata import (
    CHUNK_UNITS,
    FIELDS_PER_BYTE,
    KEPT_UNITS,
    check_fields,
    empty_field,
    expect_granularity,
    first_chunk,
    kept_positions,
    pack_fields,
    scatter,
    unpack_fields,
)

_UNIT_NAMES = {1: "elements", 2: "pairs"}


def _check_k(shape, name, multiple):
    require(len(shape) >= 1, f"{name} rank", "at least 1", len(shape))
    require(min(shape) >= 1, f"{name} shape", "sizes of at least 1", shape)
    require(shape[-1] % multiple == 0, f"last dimension of {name}", f"a multiple of {multiple}", shape[-1])


# Choosing


def _magnitudes(units):
    """What units (..., width) of float32 are ordered by: magnitudes, and whether one is NaN, which is above infinity.

    That of a pair is one addition of float32.
    """
    magnitudes = np.abs(units)
    with np.errstate(over="ignore"):
        s = magnitudes[..., 0] if units.shape[-1] == 1 else magnitudes[..., 0] + magnitudes[..., 1]
    nan = np.isnan(s)
    return np.where(nan, np.float32(np.inf), s), nan


def sparsify(values: np.ndarray, granularity: str) -> np.ndarray:
    """Sets two of four elements along K, or two of four pairs of elements, to zero: those that are smallest.

    values       float32, float16, bfloat16 of ml_dtypes, or uint16 (the bits of bf16), of shape (..., K)
    granularity  "2:4": of four elements the two with the largest |v| stay; "pairs": of four pairs of
                 neighbours the two with the largest |a| + |b|. K is a multiple of 4, or of 8.

    The result has the shape and the type of `values`. What stays does not change, all else becomes +0. |a| +
    |b| is one addition of float32, and of equals the one with the lower index stays. Infinity is above all
    numbers, and NaN (with anything) above infinity: as long as two of four can hold them, they stay, and a
    chunk that has them never loses all of them.

    Sparsify before you quantize, so that the scale of a block comes from what stays.

    >>> import numpy as np
    >>> x = np.array([[1, -5, 2, 2, 0, 0, 7, 0.5]], np.float32)
    >>> sparsify(x, "2:4")
    array([[ 0. , -5. ,  2. ,  0. ,  0. ,  0. ,  7. ,  0.5]], dtype=float32)
    >>> sparsify(x, "pairs")
    array([[ 1. , -5. ,  0. ,  0. ,  0. ,  0. ,  7. ,  0.5]], dtype=float32)

    Raises TypeError for arrays of another type, ValueError for other granularities, and for a K that is no
    multiple of 4 or 8.
    """
    width = expect_granularity(granularity)
    numbers = to_f32(values, "values")
    _check_k(values.shape, "values", CHUNK_UNITS * width)
    s, is_nan = _magnitudes(numbers.reshape(*values.shape[:-1], -1, CHUNK_UNITS, width))
    # Unit i stays if fewer than two others go before it.
    first = np.arange(CHUNK_UNITS)[None, :] < np.arange(CHUNK_UNITS)[:, None]
    other_s, is_other_nan = s[..., None, :], is_nan[..., None, :]
    s, is_nan = s[..., :, None], is_nan[..., :, None]
    equal = (other_s == s) & (is_other_nan == is_nan)
    before = (other_s > s) | ((other_s == s) & (is_other_nan > is_nan)) | (equal & first)
    stays = np.repeat(before.sum(axis=-1) < KEPT_UNITS, width, axis=-1).reshape(values.shape)
    bits = values.view(f"u{values.dtype.itemsize}")
    return np.where(stays, bits, bits.dtype.type(0)).view(values.dtype)


# Storing


def expect_element_type(value: str) -> str:
    require(
        expect_name(value, "element_type") in ELEMENT_TYPES, "element_type", f"one of {', '.join(ELEMENT_TYPES)}",
        repr(value),
    )
    return value


def _not_zero(codes, element_type):
    return codes & ((1 << get_format(element_type).magnitude_bits) - 1) != 0


def _compression_rows():
    """By the four bits of which units of a chunk are not zero: the units that are kept, (16, 2).

    Two at i < j are kept as they are. One at i < 3 is kept in front of position 3, and one at 3 behind
    position 0. Rows of more than two, and of none, are not used.
    """
    rows = np.zeros((1 << CHUNK_UNITS, KEPT_UNITS), np.uint8)
    for mask in range(1 << CHUNK_UNITS):
        units = [i for i in range(CHUNK_UNITS) if mask >> i & 1]
        if len(units) == 1:
            units = sorted({*units, 0 if units == [3] else 3})
        if len(units) == 2:
            rows[mask] = units
    return rows


_KEPT_UNITS = _compression_rows()


def compress(
    codes: np.ndarray, element_type: str, granularity: str, cutlass: bool = False
) -> Tuple[np.ndarray, np.ndarray]:
    """Compresses quantized elements of which at most two of four, or two of four pairs, are not zero.

    codes         uint8 (or the type of ml_dtypes) of shape (..., K), one element per byte
    element_type  one of ELEMENT_TYPES
    granularity   "2:4": K is a multiple of 8; "pairs": of 16, so that rows of metadata fill bytes
    cutlass       whether chunks without any such element have the field 0000, as in CUTLASS; otherwise it
                  is 0100

    The result is (kept, metadata). kept is uint8 of shape (..., K / 2), one element per byte: the two kept
    elements, or pairs, of each chunk of four. metadata is uint8 of shape (..., K / 8), or (..., K / 16) in
    pairs: a field of four bits for each chunk, low nibble first, with the lower position in its low two bits.

    -0 counts as zero. If two are not zero, they are kept. A single one is kept with position 3, or with
    position 0 if it is at 3 itself. What is kept only to fill up is +0. In pairs both codes of a pair that
    is not zero are kept as they are.

    >>> import numpy as np
    >>> kept, metadata = compress(np.array([[0, 5, 0, 7, 0, 0, 9, 0]], np.uint8), "f8E4M3FN", "2:4")
    >>> kept, [f"{byte:08b}" for byte in metadata[0]]
    (array([[5, 7, 9, 0]], dtype=uint8), ['11101101'])

    Raises TypeError for arrays of another type; ValueError for other types, granularities and sizes, for
    codes with bits above the type's width, and, with row and chunk, where more than two are not zero.
    """
    element_type, width = expect_element_type(element_type), expect_granularity(granularity)
    cutlass = expect_flag(cutlass, "cutlass")
    codes = expect_codes(codes, "codes", element_type)
    _check_k(codes.shape, "codes", FIELDS_PER_BYTE * CHUNK_UNITS * width)
    get_format(element_type).check(codes, "codes")

    units = codes.reshape(*codes.shape[:-1], -1, CHUNK_UNITS, width)
    used = _not_zero(units, element_type).any(axis=-1)
    counts = used.sum(axis=-1)
    bad = counts > KEPT_UNITS
    if bad.any():
        index, place = first_chunk(bad)
        raise ValueError(
            f"codes{place}: expected at most 2 of 4 {_UNIT_NAMES[width]} that are not zero, got {counts[index]}"
        )

    kept = _KEPT_UNITS[(used << np.arange(CHUNK_UNITS)).sum(axis=-1)]
    fields = np.where(counts == 0, empty_field(cutlass), kept[..., 0] | kept[..., 1] << 2)
    units = np.where(used[..., None], units, np.uint8(0))
    kept_codes = np.take_along_axis(units, kept[..., None].astype(np.int64), axis=-2)
    return kept_codes.reshape(*codes.shape[:-1], -1), pack_fields(fields)


def read_fields(codes: np.ndarray, metadata: np.ndarray, element_type: str, width: int) -> np.ndarray:
    """The fields of `metadata`, of shape (..., chunks), for kept codes of a shape that fits.

    Raises ValueError, with the place, for the first one that is not legal.
    """
    fields = unpack_fields(metadata)
    kept = codes.reshape(*fields.shape, KEPT_UNITS * width)
    check_fields(fields, ~_not_zero(kept, element_type).any(axis=-1))
    return fields


def decompress(codes: np.ndarray, metadata: np.ndarray, element_type: str, granularity: str) -> np.ndarray:
    """The reverse of `compress`: uint8 codes of shape (..., K), with zeros where nothing is kept.

    codes         uint8 (or the type of ml_dtypes) of shape (..., K / 2): kept elements, one per byte
    metadata      uint8 of shape (..., K / 8), or (..., K / 16) in pairs
    element_type  one of ELEMENT_TYPES
    granularity   "2:4" or "pairs"

    A field must be one of 0100, 1000, 1001, 1100, 1101, 1110. Where all that is kept of a chunk is zero it
    may also be 0000, as in CUTLASS, and the chunk becomes +0.

    >>> import numpy as np
    >>> kept, metadata = np.array([[5, 7, 9, 0]], np.uint8), np.array([[0b11101101]], np.uint8)
    >>> decompress(kept, metadata, "f8E4M3FN", "2:4")
    array([[0, 5, 0, 7, 0, 0, 9, 0]], dtype=uint8)

    Raises TypeError for arrays of another type; ValueError for other types, granularities and sizes, for
    codes with bits above the type's width, and, with row and chunk, for the first field that is not legal.
    """
    element_type, width = expect_element_type(element_type), expect_granularity(granularity)
    codes = expect_codes(codes, "codes", element_type)
    metadata = expect_array(metadata, "metadata", np.uint8)
    kept_per_byte = FIELDS_PER_BYTE * KEPT_UNITS * width
    _check_k(codes.shape, "codes", kept_per_byte)
    expected = (*codes.shape[:-1], codes.shape[-1] // kept_per_byte)
    require(metadata.shape == expected, "metadata shape", expected, metadata.shape)
    get_format(element_type).check(codes, "codes")
    fields = read_fields(codes, metadata, element_type, width)
    # 0000 has one position twice: neither of its zeros stays, which may be of either sign.
    codes = np.where(np.repeat(fields == 0, KEPT_UNITS * width, axis=-1), np.uint8(0), codes)
    return scatter(codes, kept_positions(fields, width))
