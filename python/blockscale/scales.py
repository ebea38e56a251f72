"""The 32x4x4 layout of scale factors that block-scaled tensor core instructions read.

A matrix of scale factors, one byte each, is cut into atoms of 128 rows and 4 k-blocks. Byte of
row m and k-block k: atom (m / 128, k / 4), inside it (m % 32) * 16 + (m / 32 % 4) * 4 + k % 4.
An atom is 512 contiguous bytes, kept as 32 x 16. For the right operand the rows are those of the
transposed, N x K_s, scales.

Source: PTX ISA, tcgen05.mma, "Scale factor A layout" and "Scale factor B layout": lane m % 32,
column m / 32 % 4, byte k % 4.
"""

import numpy as np

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


def _check_bytes(array, name):
    if not isinstance(array, np.ndarray) or array.dtype != np.uint8:
        got = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name}: expected an array of uint8, got {got}")


def _check_shape(shape, name):
    if len(shape) not in (2, 3) or min(shape) < 1:
        raise ValueError(
            f"{name}: expected (M, K_s) or (batch, M, K_s) with sizes >= 1, got {shape}"
        )


def swizzle_scales(s):
    """Scales s, uint8 of shape (M, K_s) or (batch, M, K_s), in the 32x4x4 layout.

    The result is uint8 of shape (ceil(M / 128), ceil(K_s / 4), 32, 16), after the batch if there
    is one. Padding is 0x00. Raises TypeError for other element types, ValueError for other ranks
    and for sizes of 0.
    """
    _check_bytes(s, "s")
    _check_shape(s.shape, "s")
    *batch, rows, blocks = s.shape
    tiles = np.zeros((*batch, *_tiles(rows, blocks)), np.uint8)
    tiles[(..., *_position(rows, blocks))] = s
    return tiles


def unswizzle_scales(t, shape):
    """The scales, uint8 of `shape` (M, K_s) or (batch, M, K_s), that lie in t.

    t is uint8 of the shape that `swizzle_scales` gives for `shape`; its padding may hold any
    byte. Raises TypeError for other element types, ValueError for other shapes.
    """
    _check_bytes(t, "t")
    shape = tuple(int(size) for size in shape)
    _check_shape(shape, "shape")
    *batch, rows, blocks = shape
    expected = (*batch, *_tiles(rows, blocks))
    if t.shape != expected:
        raise ValueError(f"t: expected shape {expected} for scales of {shape}, got {t.shape}")
    return t[(..., *_position(rows, blocks))]
