"""Programs for GPUs: what to compile, the arguments, and what must come out.

Each case has several problems in one function where that costs nothing: what takes time is
starting a program and compiling PTX. x and y differ in type where a row allows it, M is not N,
and scales differ from block to block, so that an exchanged operand, index or byte shows.
"""

from typing import NamedTuple

import blockscale
import numpy as np
from harness import (
    COMBINATIONS, Combination, Program, any_codes, assert_bit_equal, exact, extreme, gpu_buffer, random,
)

MIXED = Combination("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32)
FP6 = Combination("f6E3M2FN", "f6E2M3FN", "f8E8M0FNU", 32)
NVFP4 = Combination("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)
MXFP4 = Combination("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32)
MXFP4_16 = Combination("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 16)


class Expectation(NamedTuple):
    """A result that is `mma_scaled` of operands: bit for bit, or within its bound."""

    row: Combination
    operands: list
    is_exact: bool

    @property
    def shape(self):
        return self.operands[4].shape

    def check(self, result):
        if self.is_exact:
            assert_bit_equal(result, blockscale.mma_scaled(*self.operands, **self.row.types))
        else:
            blockscale.compare(result, *self.operands, **self.row.types)


class Same(NamedTuple):
    """A result that is known."""

    expected: np.ndarray

    @property
    def shape(self):
        return self.expected.shape

    def check(self, result):
        assert_bit_equal(result, self.expected)


class Case(NamedTuple):
    name: str
    program: Program
    expectations: list
    # Further flags of blockscale-compile.
    flags: tuple = ()
    # More pairs of a program with the same text, but other data, and its expectations.
    variants: tuple = ()


class KernelCase(NamedTuple):
    """A kernel in MLIR; its last parameter is the result, float32."""

    name: str
    text: str
    arrays: list
    shape: tuple
    expected: np.ndarray
    grid: int = 1
    block: int = 32

    def check(self, result):
        assert_bit_equal(result, self.expected)


def swapped(array):
    return np.ascontiguousarray(np.swapaxes(array, -1, -2))


def add_problem(program, row, data, y_is_nk=False, packed=False):
    """One mma_scaled on arguments of its own; gives its result."""
    x, x_scale, y, y_scale, acc = data
    x = program.arg(x, row.x, packed=packed and "f6" in row.x)
    x_scale = program.arg(x_scale, row.scale)
    y = program.arg(swapped(y) if y_is_nk else y, row.y, packed=packed and "f6" in row.y)
    y_scale = program.arg(swapped(y_scale) if y_is_nk else y_scale, row.scale)
    if y_is_nk:
        y, y_scale = program.transpose(y), program.transpose(y_scale)
    return program.mma(x, x_scale, y, y_scale, program.arg(acc, "f32"))


def single(row, m, n, k, y_is_nk):
    """One kernel."""
    data = exact(row, m, n, k, seed=1, kind="fine")
    program = Program()
    program.result(add_problem(program, row, data, y_is_nk))
    return Case(f"{row}-{m}x{n}x{k}", program, [Expectation(row, data, True)])


def several(row):
    """Kernels of many shapes, in one function. (fp4 along N needs an even N, K is whole blocks.)"""
    problems = [
        (exact(row, 1, 2, 2 * row.block, 2), True, False),
        (exact(row, 130, 70, 288, 3), True, False),
        (random(row, 37, 20, 96, 4), False, False),
        (random(row, 17, 130, 160, 5), False, True),
        (exact(row, 33, 6, 3 * row.block + (32 if row.block == 32 else 16), 6), True, False),
        (exact(row, 5, 4, 64, 7, x_batch=(3,), y_batch=(1,)), True, False),
        (exact(row, 5, 4, 64, 8, y_batch=(2,), zero_acc=True), True, True),
        (any_codes(row, 7, 6, 64, 9), False, False),
    ]
    data = extreme(row, 10)
    if data[2].shape[-1] % 2 == 0:
        problems.append((data, False, False))
    problems.append((data, False, True))
    program, expectations = Program(), []
    for operands, is_exact, y_is_nk in problems:
        program.result(add_problem(program, row, operands, y_is_nk))
        expectations.append(Expectation(row, operands, is_exact))
    return Case(f"{row}-several", program, expectations)


def tiles_with_padding(scales):
    """Scales in the 32x4x4 layout; padding is 0xFF, which must not show."""
    used = blockscale.swizzle_scales(np.ones_like(scales)) == 1
    return np.where(used, blockscale.swizzle_scales(scales), np.uint8(0xFF))


def swizzled(row):
    """Scales are read from the 32x4x4 layout; with and without a batch."""
    program, expectations = Program(), []
    for m, n, k, batch in ((37, 18, 96, ()), (140, 130, 320, ()), (37, 18, 96, (2,))):
        data = exact(row, m, n, k, seed=11, x_batch=batch, y_batch=batch)
        x, x_scale, y, y_scale, acc = data
        x_tiles = program.arg(tiles_with_padding(x_scale), row.scale)
        y_tiles = program.arg(tiles_with_padding(swapped(y_scale)), row.scale)
        x_scale = program.unswizzle(x_tiles, x_scale.shape)
        y_scale = program.transpose(program.unswizzle(y_tiles, swapped(y_scale).shape))
        y = program.transpose(program.arg(swapped(y), row.y))
        program.result(
            program.mma(program.arg(x, row.x), x_scale, y, y_scale, program.arg(acc, "f32"))
        )
        expectations.append(Expectation(row, data, True))
    return Case(f"{row}-swizzled", program, expectations)


def packed_fp6():
    """Both fp6 operands as bit streams, in both orientations of y."""
    program, expectations = Program(), []
    for n, y_is_nk in ((19, True), (20, False)):
        data = exact(FP6, 37, n, 96, seed=12, kind="fine")
        program.result(add_problem(program, FP6, data, y_is_nk, packed=True))
        expectations.append(Expectation(FP6, data, True))
    return Case("packed-fp6", program, expectations)


def swizzle_kernels():
    """Swizzles that no mma_scaled absorbs."""
    rng = np.random.default_rng(13)
    scales = rng.integers(0, 256, (2, 150, 9), np.uint8)
    program = Program()
    value = program.arg(scales, "f8E8M0FNU")
    program.result(program.swizzle(value))
    tiles = program.arg(tiles_with_padding(scales), "f8E8M0FNU")
    program.result(program.unswizzle(tiles, scales.shape))
    return Case(
        "swizzle-kernels", program, [Same(blockscale.swizzle_scales(scales)), Same(scales)]
    )


def fp4_results():
    """Quantized elements that move through a function: unpacked at the start, packed at the end."""
    rng = np.random.default_rng(16)
    codes = rng.integers(0, 16, (6, 10), np.uint8)
    fp6 = rng.integers(0, 64, (5, 8), np.uint8)
    program = Program()
    value = program.arg(codes, "f4E2M1FN")
    program.result(program.transpose(value))
    program.result(value)
    program.result(program.transpose(program.arg(fp6, "f6E2M3FN", packed=True)))
    expected = [gpu_buffer(swapped(codes), "f4E2M1FN"), gpu_buffer(codes, "f4E2M1FN"), fp6.T]
    return Case("fp4-results", program, [Same(array) for array in expected])


def single_elements():
    """Copies and elementwise ops of one element, which need no loop."""
    tiles = np.full((1, 1, 32, 16), 0xFF, np.uint8)
    tiles[0, 0, 0, 0] = 0x7B
    scale = tiles[0, 0, :1, :1]
    program = Program()
    program.result(program.unswizzle(program.arg(tiles, "f8E8M0FNU"), (1, 1)))
    program.result(program.arg(scale, "f8E8M0FNU"))
    one, other = (program.arg(np.float32([[number]]), "f32") for number in (2.5, 0.25))
    program.result(program.op(f"arith.subf {one.name}, {other.name} : {one.type}", (1, 1), "f32"))
    program.result(program.transpose(one))
    expected = [scale, scale, np.float32([[2.25]]), np.float32([[2.5]])]
    return Case("single-elements", program, [Same(array) for array in expected])


def surroundings():
    """Constants, fills, elementwise ops between two products, shared and returned operands."""
    first, second = exact(MIXED, 33, 18, 64, 14), exact(MIXED, 33, 18, 96, 15)
    program = Program()
    left = add_problem(program, MIXED, first, y_is_nk=True)
    doubled = program.op(
        f"arith.addf {left.name}, {left.name} : {left.type}", left.shape, "f32"
    )
    x, x_scale, y, y_scale, _ = program.mma_args(MIXED, second)
    zero = program.constant(0, (33, 18), "f32")
    program.result(program.mma(x, x_scale, y, y_scale, doubled))
    program.result(program.mma(x, x_scale, y, y_scale, zero))
    ones = program.constant(1, (33, 96), "f8E4M3FN")
    program.result(program.mma(ones, x_scale, y, y_scale, zero))
    program.result(left)
    acc = 2 * blockscale.mma_scaled(*first, **MIXED.types)
    no_acc = np.zeros_like(acc)
    one = blockscale.encode(np.ones((33, 96)), "f8E4M3FN")
    return Case(
        "surroundings",
        program,
        [
            Expectation(MIXED, [*second[:4], acc], True),
            Expectation(MIXED, [*second[:4], no_acc], True),
            Expectation(MIXED, [one, *second[1:4], no_acc], True),
            Expectation(MIXED, first, True),
        ],
    )


def all_cases():
    for row in COMBINATIONS:
        yield single(row, 64, 64, 128, y_is_nk=False)
        yield single(row, 37, 19, 96, y_is_nk=True)
        yield several(row)
    for row in (MIXED, FP6, MXFP4, MXFP4_16, NVFP4):
        yield swizzled(row)
    yield packed_fp6()
    yield swizzle_kernels()
    yield fp4_results()
    yield single_elements()
    yield surroundings()
