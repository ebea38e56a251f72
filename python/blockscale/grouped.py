"""The meaning of `blockscale.grouped_mma_scaled`, in numpy: products in which each group of rows has a y of its own.

    result[i, j] = acc[i, j] + sum_k x[r, k] * x_scale[r, k / B] * y[g, k, j] * y_scale[g, k / B, j]

with the group g = g(i), the number of offsets that are at most i, and the row r = r(i) of x: i, or rows[i]. Where
there is no such group, or no row, the result is acc. Offsets are the inclusive ends of groups, as those of
torch._grouped_mm are: group g has the rows from offsets[g - 1] to offsets[g] - 1.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from .arrays import expect_array, expect_codes, require
from .block_formats import resolve_product
from .formats import decode
from .reference import LEGAL_TYPE_COMBINATIONS, SCALE_FORMATS, check_types, read_coarse_operand, round_f32
from .scale_blocks import ALL, Block, expect_block, finer, is_coarse
from .sums import add_products, add_scaled_blocks

NO_ROW = -1

# Groups of rows start anywhere.
SCALE_BLOCK_ROWS_OF_X = (1, ALL)


def groups_of(offsets: np.ndarray, count: int) -> np.ndarray:
    """The group of each of `count` rows; the number of offsets for rows of nobody.

    Raises ValueError for offsets that do not ascend from 0 to at most `count`.
    """
    before = np.concatenate([[0], offsets[:-1]])
    bad = (offsets < before) | (offsets > count)
    if bad.any():
        place = int(np.argmax(bad))
        raise ValueError(
            f"offsets: expected numbers that ascend from 0 to at most {count}, got {offsets[place]} at {place}"
        )
    return np.searchsorted(offsets, np.arange(count), side="right")


def _expect_shape(array, name, shape):
    require(array.shape == shape, f"{name} shape", shape, array.shape)


def _check_rows(rows, count, limit):
    """The row of x for each row of the result."""
    if rows is None:
        require(limit == count, "rows of x", f"{count}, as acc has", limit)
        return np.arange(count)
    rows = expect_array(rows, "rows", np.int32)
    _expect_shape(rows, "rows", (count,))
    bad = (rows < NO_ROW) | (rows >= limit)
    if bad.any():
        place = int(np.argmax(bad))
        raise ValueError(f"rows: expected numbers from -1 to {limit - 1}, got {rows[place]} at {place}")
    return rows


def grouped_mma_scaled(
    x: np.ndarray,
    x_scale: np.ndarray,
    y: np.ndarray,
    y_scale: np.ndarray,
    offsets: np.ndarray,
    acc: np.ndarray,
    *,
    x_type: str,
    y_type: str,
    scale_type: Optional[str] = None,
    block_size: Optional[int] = None,
    x_scale_block: Optional[Block] = None,
    y_scale_block: Optional[Block] = None,
    rows: Optional[np.ndarray] = None,
    group_scale: Optional[np.ndarray] = None,
    bias: Optional[np.ndarray] = None,
) -> np.ndarray:
    """Block-scaled multiply-accumulate of groups of rows; a float32 array of acc's shape.

    x, x_scale   uint8 codes of x_type, (R, K), and of scale_type, (R, K_s)
    y, y_scale   uint8 codes of y_type, (G, K, N), and of scale_type, (G, K_s, N)
    offsets      int32 of (G,): the inclusive ends of the groups, which ascend from 0 to at most T
    acc          float32 of (T, N); without `rows`, T is R
    rows         int32 of (T,): the row of x that each row of the result reads, or -1 for none
    group_scale  float32 of (G,): a factor of the sums of each group
    bias         float32 of (G, N): what is added to each row of a group

    Types, block_size and B = K / K_s are those of `mma_scaled`, and so are coarse scales, x_scale_block and
    y_scale_block: x_scale has the shape (ceil(R / rows), ceil(K / k)) with rows of 1 or "all", y_scale
    (G, ceil(K / k), ceil(N / rows)). The sum is taken in float64 and rounded once to
    float32, with acc; with a group_scale, the sum, its product and the sum with acc are rounded, each to float32. The
    bias is added last, and rounded.

    >>> import numpy as np
    >>> x = np.full((3, 32), 0x38, np.uint8)  # 1.0
    >>> y = np.stack([np.full((32, 1), code, np.uint8) for code in (0x38, 0x40)])  # 1.0 and 2.0
    >>> ones = np.full((3, 1), 0x7F, np.uint8)
    >>> offsets = np.array([1, 2], np.int32)  # a row each; the third one is nobody's
    >>> grouped_mma_scaled(x, ones, y, ones[:2, None], offsets, np.zeros((3, 1), np.float32),
    ...                    x_type="f8E4M3FN", y_type="f8E4M3FN", scale_type="f8E8M0FNU")
    array([[32.],
           [64.],
           [ 0.]], dtype=float32)

    Raises TypeError for arrays of another element type; ValueError for illegal shapes, types, codes, offsets and rows.
    """
    offsets, acc = expect_array(offsets, "offsets", np.int32), expect_array(acc, "acc", np.float32)
    x_block, y_block = expect_block(x_scale_block, "x_scale_block"), expect_block(y_scale_block, "y_scale_block")
    scaled = (x, x_scale, y, y_scale)
    if is_coarse(x_scale, x_block) or is_coarse(y_scale, y_block):
        require(block_size is None, "block_size", "none with coarse scales", block_size)
        add_group, limit, groups, n = _read_coarse(*scaled, x_type, y_type, scale_type, x_block, y_block)
    else:
        add_group, limit, groups, n = _read_scaled(*scaled, x_type, y_type, scale_type, block_size)
    require(acc.ndim == 2, "acc rank", 2, acc.ndim)
    count = len(acc)
    _expect_shape(offsets, "offsets", (groups,))
    _expect_shape(acc, "acc", (count, n))
    if group_scale is not None:
        group_scale = expect_array(group_scale, "group_scale", np.float32)
        _expect_shape(group_scale, "group_scale", (groups,))
    if bias is not None:
        bias = expect_array(bias, "bias", np.float32)
        _expect_shape(bias, "bias", (groups, n))
    rows = _check_rows(rows, count, limit)
    group_of = groups_of(offsets, count)

    result = acc.copy()
    with np.errstate(invalid="ignore", over="ignore"):  # 0 * inf, sums beyond float32
        for g in range(groups):
            at = np.flatnonzero((group_of == g) & (rows != NO_ROW))
            if not at.size:
                continue
            start = acc[at].astype(np.float64) if group_scale is None else np.zeros((at.size, n))
            sums = round_f32(add_group(start, rows[at], g))
            if group_scale is not None:
                sums = acc[at] + sums * group_scale[g]
            result[at] = sums if bias is None else sums + bias[g]
    return result


def _read_scaled(x, x_scale, y, y_scale, x_type, y_type, scale_type, block_size):
    """Checks the operands: (what adds the products of rows of x and of a group to sums, R, G, N)."""
    x_type, y_type, scale_type, block_size = resolve_product(x_type, y_type, scale_type, block_size)
    sizes = check_types(x_type, y_type, scale_type, LEGAL_TYPE_COMBINATIONS)
    scale_format = SCALE_FORMATS[scale_type]
    x, x_scale, y, y_scale = (
        expect_codes(codes, name, format)
        for codes, name, format in (
            (x, "x", x_type), (x_scale, "x_scale", scale_format), (y, "y", y_type), (y_scale, "y_scale", scale_format),
        )
    )
    for name, array, rank in (("x", x, 2), ("x_scale", x_scale, 2), ("y", y, 3)):
        require(array.ndim == rank, f"{name} rank", rank, array.ndim)
    (limit, k), (groups, y_k, n) = x.shape, y.shape
    k_s = x_scale.shape[1]
    require(min(k, k_s, n, groups) >= 1, "K, K_s, N and G", "at least 1", (k, k_s, n, groups))
    require(y_k == k, "K of y", f"{k} as in x", y_k)
    require(k % k_s == 0, "K", f"a multiple of K_s = {k_s}", k)
    block = k // k_s
    require(block in sizes, "block size K / K_s", f"one of {sizes} for these types", block)
    require(block_size in (None, block), "block_size", f"{block} = K / K_s", block_size)
    _expect_shape(x_scale, "x_scale", (limit, k_s))
    _expect_shape(y_scale, "y_scale", (groups, k_s, n))

    def add_group(start, at, g):
        left = decode(x[at], x_type, "x") * np.repeat(decode(x_scale[at], scale_format, "x_scale"), block, axis=-1)
        right = decode(y[g], y_type, "y") * np.repeat(decode(y_scale[g], scale_format, "y_scale"), block, axis=-2)
        return add_products(start, left, right)

    return add_group, limit, groups, n


def _read_coarse(x, x_scale, y, y_scale, x_type, y_type, scale_type, x_block, y_block):
    """The same for coarse scales."""
    _, x, x_scales, x_axes = read_coarse_operand(
        "x", x, x_scale, x_type, scale_type, x_block, ranks=(2,), least=0, rows=SCALE_BLOCK_ROWS_OF_X
    )
    _, y, y_scales, y_axes = read_coarse_operand("y", y, y_scale, y_type, scale_type, y_block, ranks=(3,))
    (limit, k), (groups, y_k, n) = x.shape, y.shape
    require(y_k == k, "K of y", f"{k} as in x", y_k)
    block = finer(x_scales.block[1], y_scales.block[1])
    x_factors, y_factors = x_scales.spread(x.shape, *x_axes, block), y_scales.spread(y.shape, *y_axes, block)
    block = k if block == ALL else block

    def add_group(start, at, g):
        return add_scaled_blocks(start, x[at], y[g], x_factors[at], y_factors[g], block)

    return add_group, limit, groups, n


def combine_rows(source: np.ndarray, positions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted sums of rows: for each token, the results of its experts. A float32 array of shape (S, N).

    source     float32 of (T, N)
    positions  int32 of (S, J): rows of source, or -1 for none
    weights    float32 of (S, J)

    result[s] is the sum over j = 0, 1, ... of weights[s, j] * source[positions[s, j]], which starts with +0; each
    product and each sum is rounded to float32. The op `blockscale.combine_rows` also rounds to narrower types.

    >>> import numpy as np
    >>> source = np.array([[1, 2], [10, 20], [100, 200]], np.float32)
    >>> positions = np.array([[2, 0], [1, -1]], np.int32)
    >>> combine_rows(source, positions, np.array([[0.5, 1], [2, 3]], np.float32))
    array([[ 51., 102.],
           [ 20.,  40.]], dtype=float32)

    Raises TypeError for arrays of another element type, ValueError for illegal shapes and positions.
    """
    source, weights = expect_array(source, "source", np.float32), expect_array(weights, "weights", np.float32)
    positions = expect_array(positions, "positions", np.int32)
    for name, array in (("source", source), ("positions", positions)):
        require(array.ndim == 2, f"{name} rank", 2, array.ndim)
        require(array.shape[1] >= 1, "N and J", "at least 1", array.shape[1])
    _expect_shape(weights, "weights", positions.shape)
    bad = (positions < NO_ROW) | (positions >= len(source))
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"positions: expected numbers from -1 to {len(source) - 1}, got {positions[place]} at {place}"
        )
    result = np.zeros((len(positions), source.shape[1]), np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        for slot in range(positions.shape[1]):
            there = positions[:, slot] != NO_ROW
            result[there] += weights[there, slot, None] * source[positions[there, slot]]
    return result
