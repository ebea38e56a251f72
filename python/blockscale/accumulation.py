"""The error of sums that fp8 tensor cores form: what the licence `#blockscale.accumulate` costs.

The rule of the cards (sm_89 and sm_90): K is cut into steps of 16 or 32 terms. Let E be the largest exponent
of the terms of a step and of C, the sum of the steps before; the exponent of a term is the sum of those of
its elements, and a subnormal element has the smallest exponent of its format. Each term and C are cut
toward zero at 2^(E - 13), the sum of that is exact, and is cut toward zero at 13 fraction bits. `licensed_error`
bounds what this loses, for each order of terms within blocks of 32:

  * A piece is what shares one such sum: `chunk` terms, or fewer if a block of scales ends before. A kernel
    may cut it further, at multiples of 32 (or of the block of scales, if that is 16).
  * Before a block of 32 terms of a piece, C is the exact sum of the last few blocks, and an error e at most.
    `up` and `down` are the largest such sum and its negative. All of block and C are in
    [-(down + N), up + P], with P and N the sums of the block's positive terms, and of the others.
  * So 2^E is at most `cap`, the larger one of the largest 2^exponent of a term and of
    (1 + 2^-7) (max(up + P, down + N) + e): 36 errors of 2^-13 2^E, those of the block itself, are
    less than 2^-7 2^E.
  * A term has at most 6 fraction bits, and loses nothing if its exponent is at least E - 7. Its magnitude is
    below 4 * 2^exponent. So only terms with 32 |term| < cap lose, at most 2^-13 cap each.
  * C loses that much once a step, and so does the sum: 4 in two steps.

Hence a block adds 2^-13 cap (4 + number of those terms) to e. All of it is for terms times their scales,
which are constant in a piece.

With `rebase`, elements are first rounded to multiples of 2^-9 of the largest scale of their row (of x) or
column (of y), which moves a term x y by at most w = dx (|y| + dy) + |x| dy, with d = 2^-10 of that scale, or 0
for an element 0. Pieces are whole chunks then, and e takes up w, too.
"""

from __future__ import annotations

import numpy as np

# The smallest exponent of normal elements, as tensor cores read the codes; fp6 and fp4 become e4m3.
_MIN_EXPONENTS = {"f8E5M2": -14}
_E4M3_MIN_EXPONENT = -6
_BLOCK = 32


def _add_block(error, up, down, x, y):
    """The state after one more block, x (..., M, n) and y (..., n, N): errors, and the largest sums."""
    (x, x_size, x_moves), (y, y_size, y_moves) = x, y
    total, magnitude = x @ y, np.abs(x) @ np.abs(y)
    positive, negative = (magnitude + total) / 2, (magnitude - total) / 2
    error = error + x_moves @ (np.abs(y) + y_moves) + np.abs(x) @ y_moves
    cap = (1 + 2.0**-7) * (np.maximum(up + positive, down + negative) + error)
    terms = range(x.shape[-1])
    for k in terms:
        np.maximum(cap, x_size[..., k, None] * y_size[..., None, k, :], out=cap)
    losing = np.zeros(cap.shape)
    for k in terms:
        term = np.abs(x[..., k, None] * y[..., None, k, :])
        losing += (term != 0) & (32 * term < cap)
    error = error + 2.0**-13 * cap * (4 + losing)
    return error, np.maximum(up + total, 0), np.maximum(down - total, 0)


def _operand(values, scales, type, axis, rebase):
    """The values, the sizes 2^exponent that alignment takes for them at most, and how far rebasing moves them."""
    scales = np.abs(scales)
    if rebase:
        scales = np.broadcast_to(scales.max(axis=axis, keepdims=True), values.shape)
    exponent = _MIN_EXPONENTS.get(type, _E4M3_MIN_EXPONENT)
    nonzero = values != 0
    sizes = np.where(nonzero, np.maximum(np.abs(values), scales * 2.0**exponent), 0)
    moves = np.where(nonzero & rebase, scales * 2.0**-10, 0)
    return values, sizes, moves


def licensed_error(x, x_scale, y, y_scale, types, chunk, k_block, rebase):
    """What the sums of products may lose by the licence: float64 of shape (..., M, N).

    x, y              float64 of shapes (..., M, K) and (..., K, N): finite elements times their scales
    x_scale, y_scale  float64 of these shapes: the finite scale of each element
    types             the types of both
    k_block           the elements along K that share both scales
    """
    piece = chunk if rebase else min(chunk, k_block)
    x = _operand(x, x_scale, types[0], -1, rebase)
    y = _operand(y, y_scale, types[1], -2, rebase)
    k = x[0].shape[-1]
    result = 0.0
    for start in range(0, k, piece):
        error = up = down = 0.0
        for first in range(start, min(start + piece, k), _BLOCK):
            block = slice(first, min(first + _BLOCK, start + piece))
            error, up, down = _add_block(
                error, up, down, [a[..., block] for a in x], [a[..., block, :] for a in y]
            )
        result = result + error
    return result
