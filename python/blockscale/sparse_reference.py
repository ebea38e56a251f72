"""The meaning of `blockscale.sparse_mma_scaled`, in numpy: the product of `mma_scaled` with a sparse x.

    result[i, j] = acc[i, j] + sum of x[i, k] * x_scale[i, k / B] * y[k, j] * y_scale[k / B, j]

over those k that the metadata names. The other k have no product, so that NaN and infinity of y there do not
reach the result. B = K / K_s is a number of logical elements: a scale covers B elements of y and B / 2 kept
ones of x.

Source: PTX ISA, mma.sp and tcgen05.mma.sp with .block_scale. There K of the instruction is logical, too, and
a scale covers twice as many elements of K as in the dense instructions.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from .arrays import expect_array, require
from .block_formats import resolve_product
from .formats import decode
from .reference import (
    LEGAL_TYPE_COMBINATIONS,
    SCALE_FORMATS,
    check_arrays,
    check_shapes,
    check_types,
    round_f32,
)
from .sparse_metadata import FIELDS_PER_BYTE, GRANULARITIES, KEPT_UNITS, expect_granularity, kept_positions
from .sparsity import read_fields
from .sums import add_kept_products

# The legal (x_type, y_type, scale_type, granularity, B): the types of the dense product, and its B or twice that. A
# scale of a sparse instruction covers as many kept elements as one of a dense instruction.
SPARSE_TYPE_COMBINATIONS = tuple(
    dict.fromkeys(
        (x_type, y_type, scale_type, granularity, times * block)
        for granularity in GRANULARITIES
        for x_type, y_type, scale_type, block in LEGAL_TYPE_COMBINATIONS
        for times in (1, 2)
    )
)


def sparse_mma_scaled(
    x: np.ndarray,
    metadata: np.ndarray,
    x_scale: np.ndarray,
    y: np.ndarray,
    y_scale: np.ndarray,
    acc: np.ndarray,
    *,
    x_type: str,
    y_type: str,
    granularity: str,
    scale_type: Optional[str] = None,
    block_size: Optional[int] = None,
) -> np.ndarray:
    """Block-scaled matrix multiply-accumulate with a sparse x; a float32 array of acc's shape.

    x            uint8 codes of x_type, (M, K / 2) or (batch, M, K / 2): what `compress` keeps
    metadata     uint8 of shape (M, K / 8) or (batch, M, K / 8), in pairs K / 16: which k these are
    granularity  "2:4" or "pairs"

    The other arguments are those of `mma_scaled`, with the logical K: x_scale (M, K_s), y (K, N), y_scale
    (K_s, N), acc (M, N), each or all with a batch. metadata and x_scale have the rank and the batch of x.
    B = K / K_s counts logical elements, and types, granularity and B must be one of
    SPARSE_TYPE_COMBINATIONS.

    A k that no field names has no product: NaN and infinity of y do nothing there. A kept zero is a factor
    as any other, so 0 * NaN is NaN. The sum is taken in float64, acc first, then kept elements with k
    ascending, and rounded once to float32. A field must be one of 0100, 1000, 1001, 1100, 1101, 1110. Where
    all that is kept of a chunk is zero it may also be 0000, as in CUTLASS, which names its first unit twice.

    >>> import numpy as np
    >>> x = np.full((1, 32), 0x2, np.uint8)  # 1.0, of 32 kept elements
    >>> metadata = np.full((1, 8), 0x44, np.uint8)  # the first two of each four
    >>> y = np.tile(np.array([[2], [4], [7], [7]], np.uint8), (16, 1))  # 1.0, 2.0, 6.0, 6.0
    >>> scales = np.array([[0x7F]], np.uint8)
    >>> sparse_mma_scaled(x, metadata, scales, y, scales, np.zeros((1, 1), np.float32),
    ...                   x_type="f4E2M1FN", y_type="f4E2M1FN", scale_type="f8E8M0FNU", granularity="2:4")
    array([[48.]], dtype=float32)

    Raises TypeError for arrays of another element type; ValueError for illegal shapes, types, granularities
    and codes, and, with row and chunk, for the first field that is not legal.
    """
    width = expect_granularity(granularity)
    x_type, y_type, scale_type, block_size = resolve_product(x_type, y_type, scale_type, block_size)
    combinations = [(*row[:3], row[4]) for row in SPARSE_TYPE_COMBINATIONS if row[3] == granularity]
    sizes = check_types(x_type, y_type, scale_type, combinations)
    x, x_scale, y, y_scale, acc = check_arrays(x, x_scale, y, y_scale, acc, x_type, y_type, scale_type)
    metadata = expect_array(metadata, "metadata", np.uint8)
    *batch, m, kept = x.shape
    x_shape = (*batch, m, 2 * kept)
    twice = ", twice the last dimension of x"
    block = check_shapes(x_shape, x_scale, y, y_scale, acc, x_type, y_type, sizes, block_size, twice)
    # Every B is a multiple of the elements that a byte of metadata has, so K is, too.
    expected = (*batch, m, kept // (FIELDS_PER_BYTE * KEPT_UNITS * width))
    require(metadata.shape == expected, "metadata shape", expected, metadata.shape)

    scale_format = SCALE_FORMATS[scale_type]
    x_values, y_values = decode(x, x_type, "x"), decode(y, y_type, "y")
    positions = kept_positions(read_fields(x, metadata, x_type, width), width)
    with np.errstate(invalid="ignore"):  # 0 * inf
        x_factors = decode(x_scale, scale_format, "x_scale")
        x_scaled = x_values * np.take_along_axis(x_factors, positions // block, axis=-1)
        y_scaled = y_values * np.repeat(decode(y_scale, scale_format, "y_scale"), block, axis=-2)
    return round_f32(add_kept_products(acc.astype(np.float64), x_scaled, positions, y_scaled))
