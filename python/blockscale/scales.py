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
    m = np.arange(rows)[:, None]
    k = np.arange(blocks)
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
