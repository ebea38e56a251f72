"""The 32x4x4 layout of scale factors that block-scaled tensor core instructions read.

A matrix of scale factors, one byte each, is cut into atoms of 128 rows and 4 k-blocks. Byte of
row m and k-block k: atom (m / 128, k / 4), inside it (m % 32) * 16 + (m / 32 % 4) * 4 + k % 4.
An atom is 512 contiguous bytes, kept as 32 x 16. For the right operand the rows are those of the
transposed, N x K_s, scales.

Source: PTX ISA, tcgen05.mma, "Scale factor A layout" and "Scale factor B layout": lane m % 32,
column m / 32 % 4, byte k % 4.
"""

from __future__ import annotations

from typing import Sequence

import numpy as np

from .arrays import SCALE_TYPES, expect_array, expect_shape, require

ATOM_ROWS = 128
ATOM_BLOCKS = 4
ATOM_SHAPE = (32, 16)


def _tiles(rows, blocks):
    """Shape of the swizzled form of rows x blocks scales."""
    return (-(-rows // ATOM_ROWS), -(-blocks // ATOM_BLOCKS)) + ATOM_SHAPE


def _position(rows, blocks):
    """Index arrays, broadcasting to (rows, blocks), into the last four dimensions of the tiles."""
    return _place(np.arange(rows)[:, None], np.arange(blocks))


def _place(m, k):
    """The same for rows m and k-blocks k."""
    return m // ATOM_ROWS, k // ATOM_BLOCKS, m % 32, m // 32 % 4 * 4 + k % 4


def _check_shape(shape, name):
    require(
        len(shape) in (2, 3) and min(shape) >= 1,
        name, "(M, K_s) or (batch, M, K_s) with sizes >= 1", shape,
    )


def swizzle_scales(s: np.ndarray) -> np.ndarray:
    """Scales s in the 32x4x4 layout.

    s  uint8, or a scale type of ml_dtypes, of shape (M, K_s) or (batch, M, K_s): in each of M rows
       a scale for every block of B elements along K

    The result is of shape (ceil(M / 128), ceil(K_s / 4), 32, 16), after the batch if there is one,
    and of the type of s. Padding is 0x00.

    >>> import numpy as np
    >>> tiles = swizzle_scales(np.arange(8, dtype=np.uint8).reshape(2, 4))
    >>> tiles.shape
    (1, 1, 32, 16)
    >>> tiles[0, 0, :2, :4]
    array([[0, 1, 2, 3],
           [4, 5, 6, 7]], dtype=uint8)

    Raises TypeError for other element types, ValueError for other ranks and for sizes of 0.
    """
    scales = expect_array(s, "s", np.uint8, *SCALE_TYPES)
    _check_shape(s.shape, "s")
    *batch, rows, blocks = s.shape
    tiles = np.zeros((*batch, *_tiles(rows, blocks)), np.uint8)
    tiles[(..., *_position(rows, blocks))] = scales
    return tiles.view(s.dtype)


def swizzle_group_scales(s: np.ndarray, offsets: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Scales of the x of a grouped product, with atoms of their own for each group.

    s        uint8, or a scale type of ml_dtypes, of shape (R, K_s)
    offsets  int32 of (G,): the inclusive ends of the groups. Ones that descend, or are beyond T,
             count as the nearest legal ones.
    rows     int32 of (T,): the row of s for each row of the product. Without it, T is R.

    Group g starts at row (first + 127 g) // 128 * 128 of the atoms, where first is its first row.
    The result is of shape ((T + 127 G) // 128, ceil(K_s / 4), 32, 16) and of the type of s. Padding
    is 0x00, as are rows that s does not have.

    >>> import numpy as np
    >>> s = np.arange(1, 13, dtype=np.uint8).reshape(3, 4)
    >>> swizzle_group_scales(s, np.array([1, 3], np.int32))[:, 0, :2, :4].tolist()
    [[[1, 2, 3, 4], [0, 0, 0, 0]], [[5, 6, 7, 8], [9, 10, 11, 12]]]

    Raises TypeError for other element types, ValueError for other ranks and for K_s or G of 0.
    """
    scales = expect_array(s, "s", np.uint8, *SCALE_TYPES)
    require(scales.ndim == 2 and scales.shape[1] >= 1, "s", "(R, K_s) with K_s >= 1", s.shape)
    ends = expect_array(offsets, "offsets", np.int32).astype(np.int64)
    require(ends.ndim == 1 and len(ends) >= 1, "offsets", "(G,) with G >= 1", ends.shape)
    chosen = np.arange(len(scales)) if rows is None else expect_array(rows, "rows", np.int32)
    require(chosen.ndim == 1, "rows", "(T,)", chosen.shape)
    count, groups, blocks = len(chosen), len(ends), scales.shape[1]
    ends = np.minimum(np.maximum.accumulate(np.maximum(ends, 0)), count)
    first = np.concatenate([[0], ends[:-1]])
    result = np.zeros(((count + (ATOM_ROWS - 1) * groups) // ATOM_ROWS, *_tiles(0, blocks)[1:]), np.uint8)
    group = np.searchsorted(ends, np.arange(count), side="right")
    taken = np.flatnonzero((group < groups) & (chosen >= 0) & (chosen < len(scales)))
    of = group[taken]
    start = (first[of] + (ATOM_ROWS - 1) * of) // ATOM_ROWS * ATOM_ROWS
    m, k = (start + taken - first[of])[:, None], np.arange(blocks)
    result[_place(m, k)] = scales[chosen[taken]]
    return result.view(s.dtype)


def unswizzle_scales(t: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """The reverse of `swizzle_scales`: row-major scales of `shape`.

    t      uint8, or a scale type of ml_dtypes, of the shape that `swizzle_scales` gives for
           `shape`; its padding may hold any byte
    shape  (M, K_s) or (batch, M, K_s): the shape of the result, which has the type of t

    >>> import numpy as np
    >>> s = np.arange(2700, dtype=np.uint16).astype(np.uint8).reshape(300, 9)
    >>> bool((unswizzle_scales(swizzle_scales(s), (300, 9)) == s).all())
    True

    Raises TypeError for other element types, ValueError for other shapes.
    """
    tiles = expect_array(t, "t", np.uint8, *SCALE_TYPES)
    shape = expect_shape(shape, "shape")
    _check_shape(shape, "shape")
    *batch, rows, blocks = shape
    expected = (*batch, *_tiles(rows, blocks))
    require(t.shape == expected, "t", f"shape {expected} for scales of {shape}", t.shape)
    return tiles[(..., *_position(rows, blocks))].view(t.dtype)
