"""Blocks of elements that share one coarse scale: the table, and the scales of each element.

A block is (rows, k): rows of x (along M) or columns of y (along N), and elements along K. "all" stands
for all of them. A matrix of R x K has ceil(R / rows) x ceil(K / k) scales, so the last blocks may be
partial. (1, 128) and (128, 128) are the blocks of FP8 weights and activations with `weight_block_size`
[128, 128]; (1, "all") is a scale per token or channel, ("all", "all") one per tensor.
"""

from __future__ import annotations

from typing import NamedTuple, Tuple, Union

import numpy as np

from .arrays import expect_array, expect_codes, require, type_name
from .block_formats import BLOCK_FORMATS
from .formats import decode

ALL = "all"
SCALE_BLOCK_ROWS = (1, 128, ALL)
SCALE_BLOCK_KS = (16, 32, 64, 128, ALL)

# How a block is given: (rows, k).
Block = Tuple[Union[int, str], Union[int, str]]


class ScaleBlockRow(NamedTuple):
    """The blocks that scales of one type have: any of `rows` with any of `ks`. `element` None is any type."""

    scale: str
    element: Union[str, None]
    rows: tuple
    ks: tuple


SCALE_BLOCKS = (
    ScaleBlockRow("f32", None, SCALE_BLOCK_ROWS, SCALE_BLOCK_KS),
    ScaleBlockRow("f8E8M0FNU", None, SCALE_BLOCK_ROWS, (32, 64, 128, ALL)),
    ScaleBlockRow("f8E8M0FNU", "f4E2M1FN", (1,), (16,)),
    ScaleBlockRow("f8E4M3FN", "f4E2M1FN", (1,), (16,)),
)

_FORMATS = {"f8E8M0FNU": "f8E8M0FNU", "f8E4M3FN": "ue4m3"}


def legal_blocks(element, scale):
    """The blocks of an element type with scales of this type; empty if there are none."""
    return [
        (rows, k)
        for row in SCALE_BLOCKS
        if row.scale == scale and row.element in (None, element)
        for rows in row.rows
        for k in row.ks
    ]


def expect_block(block, name):
    """`block`, (rows, k) or None. Raises TypeError or ValueError, which name the argument, for everything else."""
    if block is None:
        return None
    is_pair = isinstance(block, (tuple, list)) and len(block) == 2
    if not is_pair or any(isinstance(size, bool) or not isinstance(size, (str, int, np.integer)) for size in block):
        raise TypeError(f"{name}: expected (rows, k), each an integer or 'all', got {type_name(block)}")
    for size, sizes, what in ((block[0], SCALE_BLOCK_ROWS, "rows"), (block[1], SCALE_BLOCK_KS, "k")):
        require(size in sizes, name, f"{what} of {', '.join(map(str, sizes[:-1]))} or {sizes[-1]}", repr(size))
    return tuple(block)


def is_coarse(scales, block):
    """Whether the scales of an operand are coarse: float32, or with a block of their own."""
    return block is not None or (isinstance(scales, np.ndarray) and scales.dtype == np.float32)


def count(size, block):
    """The scales of `size` elements in blocks of `block`."""
    return 1 if block == ALL else -(-size // block)


def is_whole(block, scale):
    """Whether blocks are those of block-scaled instructions, which are never partial."""
    return scale != "f32" and block[0] == 1 and block[1] in (16, 32)


class Scales(NamedTuple):
    """The scales of one operand, in float64, and their block."""

    factors: np.ndarray
    block: Block

    def spread(self, shape, row_axis, k_axis, k_block=1):
        """A factor for each row, and each `k_block` elements along K, of an operand of `shape`."""
        factors = self.factors
        rows, k = self.block
        for axis, block, step in ((row_axis, rows, 1), (k_axis, k, k_block)):
            if step == ALL:
                continue  # one block along K
            first = np.arange(0, shape[axis], step)
            index = np.zeros_like(first) if block == ALL else first // block
            factors = np.take(factors, index, axis=axis)
        return factors


def read_scales(scales, shape, row_axis, k_axis, element, scale_type, block, names, rows=SCALE_BLOCK_ROWS):
    """The scales of an operand of `shape` (rows and K at the axes, from the end), as Scales.

    scales      float32, or uint8 codes (or the type of ml_dtypes) of `scale_type`
    element     the element type, for the blocks that it has
    block       (rows, k), or None if it follows from the shapes
    names       of the scales and of the block, for messages
    rows        the rows that a block may have

    Raises TypeError for arrays of another type, ValueError for other shapes and blocks.
    """
    name, block_name = names
    if isinstance(scales, np.ndarray) and scales.dtype == np.float32:
        scale_type, factors = "f32", expect_array(scales, name, np.float32).astype(np.float64)
    else:
        require(scale_type in _FORMATS, "scale_type", f"one of {', '.join(_FORMATS)} for {name}", repr(scale_type))
        codes = expect_codes(scales, name, _FORMATS[scale_type])
        factors = decode(codes, _FORMATS[scale_type], name)
    if block is not None:
        require(block[0] in rows, block_name, f"rows of {' or '.join(map(str, rows))} for groups", block[0])
    legal = [candidate for candidate in legal_blocks(element, scale_type) if candidate[0] in rows]
    require(legal, name, f"scales of f8E8M0FNU or float32 for {element}", scale_type)
    require(
        factors.ndim == len(shape) and factors.shape[:-2] == shape[:-2],
        f"batch of {name}", shape[:-2], factors.shape[:-2],
    )

    def shape_of(candidate):
        sizes = list(shape)
        for axis, size in ((row_axis, candidate[0]), (k_axis, candidate[1])):
            sizes[axis] = count(shape[axis], size)
        return tuple(sizes)

    if block is None:
        fitting = [candidate for candidate in legal if shape_of(candidate) == factors.shape]
        require(fitting, f"shape of {name}", f"that of a block of {shape}: {rows} x {SCALE_BLOCK_KS}", factors.shape)
        require(len(fitting) == 1, block_name, f"one of {fitting}, which all fit {factors.shape}", None)
        block = fitting[0]
    require(block in legal, block_name, f"one of {legal} for {element} with {scale_type} scales", block)
    require(factors.shape == shape_of(block), f"shape of {name}", shape_of(block), factors.shape)
    if is_whole(block, scale_type):
        require(shape[k_axis] % block[1] == 0, "K", f"a multiple of {block[1]}, the block of {name}", shape[k_axis])
    return Scales(factors, block)


def finer(block, other):
    """The smaller one of two blocks along K."""
    if ALL in (block, other):
        return other if block == ALL else block
    return min(block, other)


def own_format(type_of_operand):
    """(element, scale, block) of an operand's type, a block format or an element type."""
    format = BLOCK_FORMATS.get(type_of_operand)
    return (format.element, format.scale, (1, format.block_size)) if format else (type_of_operand, None, None)
