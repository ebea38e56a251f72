"""The meaning of `blockscale.mma_scaled`, in numpy, and the error bound of results.

    result[i, j] = acc[i, j] + sum_k x[i, k] * x_scale[i, k / B] * y[k, j] * y_scale[k / B, j]

with B = K / K_s: OCP MX v1.0, section 6.1 (dot product) and 6.2 (general dot product), with the
sums taken in float64 and rounded once to float32. Terms are exact in float64: four significands of
at most 4 bits each, and an exponent far inside the range.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike

from .accumulation import licensed_error
from .arrays import as_numpy, expect_array, expect_codes, expect_name, require
from .block_formats import resolve_product
from .formats import decode
from .licence import check_licence
from .packing import packed_hint
from .scale_blocks import ALL, SCALE_BLOCK_ROWS, Block, expect_block, finer, is_coarse, own_format, read_scales
from .sums import add_products, add_scaled_blocks, finite

ELEMENT_TYPES = ("f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN")

# The format of each scale type.
SCALE_FORMATS = {"f8E8M0FNU": "f8E8M0FNU", "f8E4M3FN": "ue4m3"}

# The legal (x_type, y_type, scale_type, B): any two of the concrete MX formats with floating-point
# elements (OCP MX v1.0, section 5: E8M0 scales, blocks of 32), and fp4 in blocks of 16 (PTX ISA,
# mma with .kind::mxf4nvf4 and .scale_vec::4X).
LEGAL_TYPE_COMBINATIONS = tuple(
    (x_type, y_type, "f8E8M0FNU", 32) for x_type, y_type in itertools.product(ELEMENT_TYPES, repeat=2)
) + (
    ("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 16),
    ("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16),
)

# |acc| + sum |terms| up to which no order of summation can overflow float32.
OVERFLOW_LIMIT = 2.0**126


def check_types(x_type, y_type, scale_type, combinations):
    """The block sizes that the three types have in `combinations`, rows (x_type, y_type, scale_type, B)."""
    for name, value in (("x_type", x_type), ("y_type", y_type)):
        require(value in ELEMENT_TYPES, name, f"one of {', '.join(ELEMENT_TYPES)}", repr(value))
    require(
        scale_type in SCALE_FORMATS, "scale_type", f"one of {', '.join(SCALE_FORMATS)}",
        repr(scale_type),
    )
    sizes = [row[3] for row in combinations if row[:3] == (x_type, y_type, scale_type)]
    pairs = {row[:2] for row in combinations if row[2] == scale_type}
    require(
        sizes, "x_type and y_type", f"{sorted(pairs)} with {scale_type} scales",
        (x_type, y_type),
    )
    return sizes


def check_arrays(x, x_scale, y, y_scale, acc, x_type, y_type, scale_type):
    """The operands as arrays of uint8, and acc, each of rank 2 or 3."""
    arrays = {
        name: expect_codes(codes, name, format)
        for name, codes, format in (
            ("x", x, x_type), ("x_scale", x_scale, SCALE_FORMATS[scale_type]),
            ("y", y, y_type), ("y_scale", y_scale, SCALE_FORMATS[scale_type]),
        )
    }
    arrays["acc"] = expect_array(acc, "acc", np.float32)
    for name, array in arrays.items():
        require(array.ndim in (2, 3), f"{name} rank", "2 or 3", array.ndim)
    return arrays.values()


def check_shapes(x_shape, x_scale, y, y_scale, acc, x_type, y_type, sizes, block_size, k_of_x=" as in x"):
    """The block size B of operands whose shapes fit each other; x has the logical shape `x_shape`."""
    *x_batch, m, k = x_shape
    *y_batch, y_k, n = y.shape
    k_s = x_scale.shape[-1]

    require(m >= 1, "M", "at least 1", m)
    require(n >= 1, "N", "at least 1", n)
    require(k >= 1, "K", "at least 1", k)
    require(k_s >= 1, "K_s", "at least 1", k_s)
    require(y_k == k, "K of y", f"{k}{k_of_x}" + packed_hint("x", x_type, k, y_k), y_k)
    require(
        x_scale.shape == (*x_batch, m, k_s), "x_scale shape", (*x_batch, m, k_s), x_scale.shape
    )
    require(
        y_scale.shape == (*y_batch, k_s, n), "y_scale shape", (*y_batch, k_s, n), y_scale.shape
    )
    require(
        1 in (*x_batch, *y_batch) or not x_batch or not y_batch or x_batch == y_batch,
        "batch of y", f"1 or {x_batch} as in x", y_batch,
    )
    result_shape = (*np.broadcast_shapes(tuple(x_batch), tuple(y_batch)), m, n)
    hint = packed_hint("y", y_type, n, acc.shape[-1])
    require(acc.shape == result_shape, "acc shape", f"{result_shape}{hint}", acc.shape)

    require(k % k_s == 0, "K", f"a multiple of K_s = {k_s}", k)
    block = k // k_s
    require(block in sizes, "block size K / K_s", f"one of {sizes} for these types", block)
    require(
        block_size is None or block_size == block, "block_size", f"{block} = K / K_s", block_size
    )
    return block


class _Product(NamedTuple):
    """The terms of a product, in float64: x and y times their scales, or, if scales are coarse, without them.

    There is a scale for each row or column and each `block` elements along K.
    """

    acc: np.ndarray
    x: np.ndarray
    y: np.ndarray
    x_scale: np.ndarray
    y_scale: np.ndarray
    block: int
    types: Tuple[str, str]
    is_coarse: bool

    def total(self):
        if not self.is_coarse:
            return add_products(self.acc, self.x, self.y)
        return add_scaled_blocks(*self[:6])

    def magnitude(self):
        """|acc| + sum |terms| over the finite ones, a float64 array of acc's shape."""
        # A term is finite if both factors are: its exponent stays far inside the range.
        acc, x, y, *scales = (np.abs(finite(values)) for values in self[:5])
        if not self.is_coarse:
            return acc + x @ y
        return add_scaled_blocks(acc, x, y, *scales, self.block)

    def licensed_error(self, chunk, rebase):
        """What the finite terms may lose by a licence, a float64 array of acc's shape."""
        operands = []
        for values, scales, axis in ((self.x, self.x_scale, -1), (self.y, self.y_scale, -2)):
            scales = np.repeat(finite(scales), self.block, axis)
            scales = np.take(scales, np.arange(values.shape[axis]), axis)
            operands += [finite(values) * scales if self.is_coarse else finite(values), scales]
        return licensed_error(*operands, self.types, chunk, self.block, rebase)

    def bound(self, total, k, chunk, rebase):
        """See error_bound."""
        magnitude = self.magnitude()
        lost = 0.0 if chunk is None else self.licensed_error(chunk, rebase)
        bound = lost + k * 2.0**-22 * (magnitude + lost) + 2.0**-122
        bound = np.where(np.isfinite(total), bound, 0.0)
        return bound, np.isnan(total) | (magnitude <= OVERFLOW_LIMIT)


def read_coarse_operand(name, codes, scales, type, scale_type, block, ranks=(2, 3), least=1, rows=SCALE_BLOCK_ROWS):
    """Checks an operand with coarse scales, "x" or "y".

    Returns its element type, its elements in float64, its Scales, and the axes of its rows and of K. `ranks` are the
    legal ones, `least` is the least size of a dimension, and `rows` are those that a block may have.
    """
    axes = (-2, -1) if name == "x" else (-1, -2)
    element, own_scale, own_block = own_format(expect_name(type, f"{name}_type"))
    require(element in ELEMENT_TYPES, f"{name}_type", f"one of {', '.join(ELEMENT_TYPES)}", repr(type))
    codes = expect_codes(codes, name, element)
    require(codes.ndim in ranks, f"{name} rank", " or ".join(map(str, ranks)), codes.ndim)
    require(min(codes.shape) >= least, f"{name} shape", f"sizes of at least {least}", codes.shape)
    if block is None and own_block is not None and not is_coarse(scales, None):
        block = own_block
    names = (f"{name}_scale", f"{name}_scale_block")
    scales = read_scales(scales, codes.shape, *axes, element, own_scale or scale_type, block, names, rows)
    return element, decode(codes, element, name), scales, axes


def _read_coarse(x, x_scale, y, y_scale, acc, types, scale_type, x_block, y_block):
    """Checks the operands of a product with coarse scales."""
    x_element, x, x_scales, x_axes = read_coarse_operand("x", x, x_scale, types[0], scale_type, x_block)
    y_element, y, y_scales, y_axes = read_coarse_operand("y", y, y_scale, types[1], scale_type, y_block)
    acc = expect_array(acc, "acc", np.float32)
    *x_batch, m, k = x.shape
    *y_batch, y_k, n = y.shape
    require(y_k == k, "K of y", f"{k} as in x", y_k)
    require(
        1 in (*x_batch, *y_batch) or not x_batch or not y_batch or x_batch == y_batch,
        "batch of y", f"1 or {x_batch} as in x", y_batch,
    )
    shape = (*np.broadcast_shapes(tuple(x_batch), tuple(y_batch)), m, n)
    require(acc.shape == shape, "acc shape", shape, acc.shape)
    block = finer(x_scales.block[1], y_scales.block[1])
    factors = (x_scales.spread(x.shape, *x_axes, block), y_scales.spread(y.shape, *y_axes, block))
    block = k if block == ALL else block
    return _Product(acc.astype(np.float64), x, y, *factors, block, (x_element, y_element), is_coarse=True)


def _read(x, x_scale, y, y_scale, acc, x_type, y_type, scale_type, block_size, x_scale_block, y_scale_block):
    """Checks the operands, and decodes them."""
    x_block, y_block = expect_block(x_scale_block, "x_scale_block"), expect_block(y_scale_block, "y_scale_block")
    if is_coarse(x_scale, x_block) or is_coarse(y_scale, y_block):
        require(block_size is None, "block_size", "none with coarse scales", block_size)
        return _read_coarse(x, x_scale, y, y_scale, acc, (x_type, y_type), scale_type, x_block, y_block)
    x_type, y_type, scale_type, block_size = resolve_product(x_type, y_type, scale_type, block_size)
    sizes = check_types(x_type, y_type, scale_type, LEGAL_TYPE_COMBINATIONS)
    x, x_scale, y, y_scale, acc = check_arrays(
        x, x_scale, y, y_scale, acc, x_type, y_type, scale_type
    )
    block = check_shapes(x.shape, x_scale, y, y_scale, acc, x_type, y_type, sizes, block_size)
    scale_format = SCALE_FORMATS[scale_type]
    with np.errstate(invalid="ignore"):  # 0 * inf
        x_factors = decode(x_scale, scale_format, "x_scale")
        y_factors = decode(y_scale, scale_format, "y_scale")
        x_scaled = decode(x, x_type, "x") * np.repeat(x_factors, block, axis=-1)
        y_scaled = decode(y, y_type, "y") * np.repeat(y_factors, block, axis=-2)
    types = (x_type, y_type)
    return _Product(acc.astype(np.float64), x_scaled, y_scaled, x_factors, y_factors, block, types, is_coarse=False)


def round_f32(total):
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return total.astype(np.float32)


def mma_scaled(
    x: np.ndarray,
    x_scale: np.ndarray,
    y: np.ndarray,
    y_scale: np.ndarray,
    acc: np.ndarray,
    *,
    x_type: str,
    y_type: str,
    scale_type: Optional[str] = None,
    block_size: Optional[int] = None,
    x_scale_block: Optional[Block] = None,
    y_scale_block: Optional[Block] = None,
) -> np.ndarray:
    """Block-scaled matrix multiply-accumulate; a float32 array of acc's shape.

    x        uint8 codes of x_type,     (M, K)   or (batch, M, K)
    x_scale  uint8 codes of scale_type, (M, K_s) or (batch, M, K_s)
    y        uint8 codes of y_type,     (K, N)   or (batch, K, N)
    y_scale  uint8 codes of scale_type, (K_s, N) or (batch, K_s, N)
    acc      float32,                   (M, N)   or (batch, M, N)

    Arrays may also have the types of ml_dtypes. Scales are factors.

    Types are MLIR's names; scales of type f8E4M3FN are read as ue4m3, without sign. x_type and
    y_type may be block formats such as "mxfp8" (BLOCK_FORMATS), which include scale_type. x and y
    may differ in rank, and their batches (1 or equal) broadcast. A scale has the rank and the batch
    of its operand. acc has the broadcast shape, with a batch if and only if x or y has one. The types
    and B = K / K_s must be one of the 27 LEGAL_TYPE_COMBINATIONS; `block_size`, if given, must be B.

    The sum is taken in float64, acc first, then k ascending, and rounded once to float32. NaN and
    infinity follow from the formula; overflow of float32 gives infinity.

    >>> import numpy as np
    >>> x = np.full((1, 32), 0x2, np.uint8)  # 1.0
    >>> y = np.full((32, 2), 0x3, np.uint8)  # 1.5
    >>> x_scale = np.array([[0x80]], np.uint8)  # 2
    >>> y_scale = np.array([[0x7F, 0x7E]], np.uint8)  # 1 and 1/2
    >>> mma_scaled(x, x_scale, y, y_scale, np.zeros((1, 2), np.float32),
    ...            x_type="f4E2M1FN", y_type="f4E2M1FN", scale_type="f8E8M0FNU")
    array([[96., 48.]], dtype=float32)
    >>> mma_scaled(x, x_scale, y, y_scale, np.zeros((1, 2), np.float32), x_type="mxfp4", y_type="mxfp4")
    array([[96., 48.]], dtype=float32)

    Scales may be coarse: float32 arrays, or codes with x_scale_block or y_scale_block, (rows, k) with rows
    of 1, 128 or "all", and k of 16, 32, 64, 128 or "all". The scales of x have the shape
    (ceil(M / rows), ceil(K / k)), those of y (ceil(K / k), ceil(N / rows)), with the batch of their
    operand. A block is required unless exactly one of SCALE_BLOCKS fits the shapes. The operands are
    independent; `scale_type` is that of scales which are codes. Then the products of each block along K,
    the smaller one of both, are added up first, and multiplied by the product of both scales:

    >>> x_scale = np.array([[2.0**120]], np.float32)
    >>> y_scale = np.array([[2.0**-120, 2.0**-121]], np.float32)
    >>> mma_scaled(x, x_scale, y, y_scale, np.zeros((1, 2), np.float32), x_type="f4E2M1FN", y_type="f4E2M1FN",
    ...            x_scale_block=("all", "all"), y_scale_block=(1, "all"))
    array([[48., 24.]], dtype=float32)

    Raises TypeError for arrays of another element type, ValueError for illegal shapes, types or codes;
    both name what was expected and what was given.
    """
    product = _read(
        x, x_scale, y, y_scale, acc, x_type, y_type, scale_type, block_size, x_scale_block, y_scale_block
    )
    return round_f32(product.total())


def error_bound(
    x: np.ndarray,
    x_scale: np.ndarray,
    y: np.ndarray,
    y_scale: np.ndarray,
    acc: np.ndarray,
    *,
    x_type: str,
    y_type: str,
    scale_type: Optional[str] = None,
    block_size: Optional[int] = None,
    x_scale_block: Optional[Block] = None,
    y_scale_block: Optional[Block] = None,
    chunk: Optional[int] = None,
    rebase: bool = False,
) -> Tuple[np.ndarray, np.ndarray]:
    """How far a float32 implementation may be from `mma_scaled`: (bound, comparable).

    Both have acc's shape. `bound`, float64, is K * 2^-22 * (|acc| + sum |terms|) + 2^-122, and 0 where
    the result is infinite or NaN, which must match exactly. `comparable`, bool, is True where the
    result is determined:

      * NaN (an operand, 0 * inf, inf - inf) always;
      * otherwise if the finite part of |acc| + sum |terms| is at most 2^126: above that, a partial
        sum may overflow float32.

    >>> import numpy as np
    >>> ones, scales = np.full((1, 32), 0x2, np.uint8), np.array([[0x7F]], np.uint8)
    >>> bound, comparable = error_bound(
    ...     ones, scales, ones.T, scales, np.zeros((1, 1), np.float32),
    ...     x_type="f4E2M1FN", y_type="f4E2M1FN", scale_type="f8E8M0FNU")
    >>> bool(bound[0, 0] == 32 * 2.0**-22 * 32 + 2.0**-122), comparable
    (True, array([[ True]]))

    `chunk` (32, 64 or 128) and `rebase` are a licence, `#blockscale.accumulate` (docs/Numerics.md). With it,
    `bound` is L + K * 2^-22 * (|acc| + sum |terms| + L) + 2^-122, where L is what the adder of fp8 tensor
    cores may lose:

    >>> x = np.array([[0x38] + [0x08] * 31], np.uint8)  # 1 and 31 times 2^-6
    >>> operands = x, scales, x.T, scales, np.zeros((1, 1), np.float32)
    >>> types = dict(x_type="mxfp8", y_type="mxfp8")
    >>> exact, licensed = error_bound(*operands, **types), error_bound(*operands, **types, chunk=128)
    >>> np.log2([exact[0][0, 0], licensed[0][0, 0]]).round(1)
    array([-17. ,  -7.8])

    Raises ValueError and TypeError as `mma_scaled` does, and for a licence that there is not.
    """
    check_licence(chunk, rebase)
    product = _read(
        x, x_scale, y, y_scale, acc, x_type, y_type, scale_type, block_size, x_scale_block, y_scale_block
    )
    return product.bound(product.total(), x.shape[-1], chunk, rebase)


def compare(
    result: ArrayLike,
    x: np.ndarray,
    x_scale: np.ndarray,
    y: np.ndarray,
    y_scale: np.ndarray,
    acc: np.ndarray,
    *,
    x_type: str,
    y_type: str,
    scale_type: Optional[str] = None,
    block_size: Optional[int] = None,
    x_scale_block: Optional[Block] = None,
    y_scale_block: Optional[Block] = None,
    chunk: Optional[int] = None,
    rebase: bool = False,
) -> float:
    """Asserts that `result`, float32 of acc's shape, is `mma_scaled` within `error_bound`.

    Returns the relative error: the norm of the difference over the norm of `mma_scaled`, of the cells
    that are finite and compared (0 if both are 0). Equal infinities are equal, and NaN equals NaN.
    Raises AssertionError with the first wrong cell, the expected and the given value, the bound, and
    the relative error, which is NaN or infinity if a cell is so and should not be. `chunk` and `rebase` are
    those of `error_bound`; the other arguments and their errors are those of `mma_scaled`.

    >>> import numpy as np
    >>> ones, scales = np.full((1, 32), 0x2, np.uint8), np.array([[0x7F]], np.uint8)
    >>> operands = ones, scales, ones.T, scales, np.zeros((1, 1), np.float32)
    >>> types = dict(x_type="mxfp4", y_type="mxfp4")
    >>> compare(np.array([[32]], np.float32), *operands, **types)
    0.0
    >>> compare(np.array([[33]], np.float32), *operands, **types)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: cell (0, 0): expected 32.0, got 33.0, bound 0.000244141; 1 of 1 compared ...
    """
    check_licence(chunk, rebase)
    product = _read(
        x, x_scale, y, y_scale, acc, x_type, y_type, scale_type, block_size, x_scale_block, y_scale_block
    )
    total = product.total()
    bound, comparable = product.bound(total, x.shape[-1], chunk, rebase)
    expected = round_f32(total)
    result = as_numpy(result, "result")
    if (result.dtype, result.shape) != (expected.dtype, expected.shape):
        raise AssertionError(
            f"result: expected {expected.dtype} of shape {expected.shape}, "
            f"got {result.dtype} of shape {result.shape}"
        )
    with np.errstate(invalid="ignore"):  # inf - inf
        error = np.abs(result.astype(np.float64) - expected)
    good = (result == expected) | (np.isnan(result) & np.isnan(expected)) | (error <= bound)
    bad = comparable & ~good
    relative = _relative_error(result, expected, comparable)
    if bad.any():
        cell = tuple(int(i) for i in np.argwhere(bad)[0])
        raise AssertionError(
            f"cell {cell}: expected {expected[cell]}, got {result[cell]}, bound {bound[cell]:g}; "
            f"{bad.sum()} of {comparable.sum()} compared cells are wrong, relative error {relative:.3g}"
        )
    return relative


def _relative_error(result, expected, comparable):
    """The norm of the difference over the norm of the expected values; equal infinities and NaN do not count.

    NaN or infinity if a cell is NaN or infinite and should not be.
    """
    same = (result == expected) | (np.isnan(result) & np.isnan(expected))
    cells = comparable & ~(same & ~np.isfinite(expected))
    wanted = expected[cells].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # infinity where a 0 was expected
        error = np.linalg.norm(result[cells] - wanted)
        return float(error / np.linalg.norm(wanted[np.isfinite(wanted)])) if error else 0.0
