"""Programs with mma_scaled and the swizzle ops, executed on the CPU, against the numpy reference.

Left and right operands differ in type where a row allows it, M is not N, and scales differ from
block to block, so that an exchanged operand, index or byte shows in the result. Several ops
share a program: what costs time is starting and compiling it.
"""

import blockscale
import numpy as np
import pytest
from blockscale import compare, mma_scaled
from harness import COMBINATIONS, Combination, Program, any_codes, assert_bit_equal, exact, extreme, random

MIXED = Combination("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32)
FP6 = Combination("f6E3M2FN", "f6E2M3FN", "f8E8M0FNU", 32)
FP8 = Combination("f8E5M2", "f8E4M3FN", "f8E8M0FNU", 32)
MXFP4_16 = Combination("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 16)
NVFP4 = Combination("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)
SWIZZLED_TYPES = [MIXED, FP6, NVFP4]


def run_all(row, data, folder):
    """One mma_scaled for each list of operands, in one function."""
    program = Program()
    for operands in data:
        program.result(program.mma(*program.mma_args(row, operands)))
    return program.run(folder)


def check_exact(row, data, results):
    for operands, result in zip(data, results):
        assert_bit_equal(result, mma_scaled(*operands, **row.types))


# Every legal row of types and block sizes


@pytest.mark.parametrize("row", COMBINATIONS, ids=str)
def test_exact(row, tmp_path):
    data = [
        exact(row, 1, 1, row.block, 1),
        exact(row, 2, 2, 64, 2, zero_acc=True),
        exact(row, 3, 5, 96, 3),
        exact(row, 17, 33, 160, 4, "fine"),
    ]
    check_exact(row, data, run_all(row, data, tmp_path))


@pytest.mark.parametrize("row", COMBINATIONS, ids=str)
def test_random(row, tmp_path):
    data = [random(row, 3, 5, 96, 5), random(row, 17, 33, 160, 6)]
    for operands, result in zip(data, run_all(row, data, tmp_path)):
        _, comparable = blockscale.error_bound(*operands, **row.types)
        assert comparable.all()
        compare(result, *operands, **row.types)


@pytest.mark.parametrize("row", COMBINATIONS, ids=str)
def test_extreme(row, tmp_path):
    data = [extreme(row, 7), any_codes(row, 7, 5, row.block, 8)]
    for operands, result in zip(data, run_all(row, data, tmp_path)):
        compare(result, *operands, **row.types)


# The two examples of NVIDIA's cuda.tile documentation


def test_example_row_major(tmp_path):
    program = Program()
    x = program.constant(1, (2, 64), "f8E4M3FN")
    y = program.constant(1, (64, 2), "f8E4M3FN")
    scale = program.constant(2, (2, 2), "f8E8M0FNU")
    acc = program.constant(0, (2, 2), "f32")
    program.result(program.mma(x, scale, y, scale, acc))
    [result] = program.run(tmp_path)
    assert_bit_equal(result, np.full((2, 2), 256, np.float32))


def test_example_swizzled(tmp_path):
    program = Program()
    x = program.constant(1, (128, 128), "f8E4M3FN")
    y = program.transpose(program.constant(1, (128, 128), "f8E4M3FN"))
    tile = program.constant(2, (1, 1, 32, 16), "f8E8M0FNU")
    x_scale = program.unswizzle(tile, (128, 4))
    y_scale = program.transpose(program.unswizzle(tile, (128, 4)))
    acc = program.constant(0, (128, 128), "f32")
    program.result(program.mma(x, x_scale, y, y_scale, acc))
    [result] = program.run(tmp_path)
    assert_bit_equal(result, np.full((128, 128), 512, np.float32))


# Several ops that share operands


def test_accumulator_is_not_overwritten(tmp_path):
    """Two products on one acc, then one on a result: values, not buffers."""
    first, second = exact(MIXED, 3, 5, 64, 1), exact(MIXED, 3, 5, 96, 2)
    program = Program()
    *ab, acc = program.mma_args(MIXED, first)
    *cd, _ = program.mma_args(MIXED, second)
    left, right = program.mma(*ab, acc), program.mma(*cd, acc)
    for value in (left, right, program.mma(*cd, left)):
        program.result(value)
    results = program.run(tmp_path)
    chain = mma_scaled(*second[:4], mma_scaled(*first, **MIXED.types), **MIXED.types)
    assert_bit_equal(results[0], mma_scaled(*first, **MIXED.types))
    assert_bit_equal(results[1], mma_scaled(*second[:4], first[4], **MIXED.types))
    assert_bit_equal(results[2], chain)


# Batches: x and y broadcast against each other


BATCHES = {
    "x2-y3": ((), (3,)), "x3-y2": ((3,), ()), "x1-y3": ((1,), (3,)), "x3-y1": ((3,), (1,)),
    "x3-y3": ((3,), (3,)), "x1-y1": ((1,), (1,)), "x2-y1": ((), (1,)), "x1-y2": ((1,), ()),
}


@pytest.mark.parametrize("x_batch, y_batch", BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize("row", [MIXED, NVFP4], ids=str)
def test_batch(row, x_batch, y_batch, tmp_path):
    data = [exact(row, 3, 5, 96, 1, x_batch=x_batch, y_batch=y_batch)]
    check_exact(row, data, run_all(row, data, tmp_path))


# Dynamic sizes


@pytest.mark.parametrize(
    "row, dynamic",
    [(MIXED, "mnk"), (NVFP4, "mnk"), (FP6, "k"), (FP8, "m"), (MXFP4_16, "nk")],
    ids=str,
)
def test_dynamic(row, dynamic, tmp_path):
    """`?` in place of some sizes. With K known, block_size may be given or not."""
    data = exact(row, 17, 5, 96, 1)
    program = Program()
    args = program.mma_args(row, data, dynamic)
    for block_size in [row.block] + [None] * ("k" not in dynamic):
        program.result(program.mma(*args, block_size=block_size))
    results = program.run(tmp_path)
    check_exact(row, [data] * len(results), results)


@pytest.mark.parametrize(
    "x_batch, y_batch",
    [((3,), (3,)), ((3,), ()), ((1,), (3,))], ids=["x3-y3", "x3-y2", "x1-y3"],
)
def test_dynamic_batch(x_batch, y_batch, tmp_path):
    """The batch is `?` as well, and may turn out to be 1 and broadcast."""
    data = exact(MIXED, 3, 5, 64, 1, x_batch=x_batch, y_batch=y_batch)
    program = Program()
    args = program.mma_args(MIXED, data, "bmnk")
    program.result(program.mma(*args, block_size=32))
    check_exact(MIXED, [data], program.run(tmp_path))


def test_dynamic_operands_static_result(tmp_path):
    """Sizes known from some operands only."""
    data = exact(MIXED, 3, 5, 64, 1)
    program = Program()
    shapes = ((None, 64), (3, None), (None, None), (2, None), (None, 5))
    elements = (MIXED.x, MIXED.scale, MIXED.y, MIXED.scale, "f32")
    args = [program.arg(*arg) for arg in zip(data, elements, shapes)]
    program.result(program.mma(*args, block_size=32))
    check_exact(MIXED, [data], program.run(tmp_path))


# y and its scales stored K-contiguous, as N x K


def transposed(array):
    return np.ascontiguousarray(np.swapaxes(array, -1, -2))


TRANSPOSED = {
    "mixed": (MIXED, (), ""), "fp6": (FP6, (), ""), "nvfp4": (NVFP4, (), ""),
    "batch": (FP8, (3,), ""), "dynamic": (MIXED, (), "mnk"), "batch-dynamic": (NVFP4, (3,), "nk"),
}


@pytest.mark.parametrize("row, batch, dynamic", TRANSPOSED.values(), ids=TRANSPOSED)
def test_transposed_y(row, batch, dynamic, tmp_path):
    data = exact(row, 3, 5, 96, 1, y_batch=batch)
    stored = data[:2] + [transposed(data[2]), transposed(data[3])] + data[4:]
    program = Program()
    x, x_scale, y, y_scale, acc = program.mma_args(row, stored, dynamic, y_order="nk")
    y, y_scale = program.transpose(y), program.transpose(y_scale)
    program.result(program.mma(x, x_scale, y, y_scale, acc, block_size=row.block))
    check_exact(row, [data], program.run(tmp_path))


# Swizzled scales


def tiles_with_padding(scales, padding=0xFF):
    """Scales in the 32x4x4 layout, padding bytes set."""
    used = blockscale.swizzle_scales(np.ones_like(scales)) == 1
    return np.where(used, blockscale.swizzle_scales(scales), np.uint8(padding))


@pytest.mark.parametrize("row", SWIZZLED_TYPES, ids=str)
@pytest.mark.parametrize("batch", [(), (2,)], ids=["rank2", "rank3"])
def test_swizzled_scales(row, batch, tmp_path):
    """130 and 33 rows, 5 or 10 blocks: more than one atom each way, all with padding."""
    data = exact(row, 130, 33, 160, 1, x_batch=batch)
    program = Program()
    x, _, y, _, acc = program.mma_args(row, data)
    x_tiles, y_tiles = tiles_with_padding(data[1]), tiles_with_padding(transposed(data[3]))
    x_t, y_t = program.arg(x_tiles, row.scale), program.arg(y_tiles, row.scale)
    x_scale = program.unswizzle(x_t, data[1].shape)
    y_scale = program.transpose(program.unswizzle(y_t, data[3].T.shape))
    program.result(program.mma(x, x_scale, y, y_scale, acc))
    check_exact(row, [data], program.run(tmp_path))


def test_swizzled_scales_dynamic(tmp_path):
    data = exact(MIXED, 130, 33, 160, 1)
    program = Program()
    x, _, y, _, acc = program.mma_args(MIXED, data, "mnk")
    x_t = program.arg(tiles_with_padding(data[1]), MIXED.scale, (None, None, 32, 16))
    y_t = program.arg(tiles_with_padding(transposed(data[3])), MIXED.scale, (None, None, 32, 16))
    k, block = program.dim(x, 1), program.index(32)
    blocks = program.op(f"arith.divui {k}, {block} : index").name
    x_scale = program.unswizzle(x_t, (None, None), (program.dim(x, 0), blocks))
    y_scale = program.unswizzle(y_t, (None, None), (program.dim(y, 1), blocks))
    y_scale = program.transpose(y_scale)
    program.result(program.mma(x, x_scale, y, y_scale, acc, block_size=32))
    check_exact(MIXED, [data], program.run(tmp_path))


@pytest.mark.parametrize("element", blockscale.SCALE_FORMATS)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_swizzle_bytes(element, dynamic, tmp_path):
    """Bytes of the layout, padding 0x00; and back again, from tiles with padding 0xFF."""
    program = Program()
    rng = np.random.default_rng(1)
    expected = []
    for shape in ((300, 9), (1, 1), (128, 4), (2, 33, 5)):
        scales = rng.integers(0, 256, shape, np.uint8)
        types = [None] * len(shape) if dynamic else shape
        s = program.arg(scales, element, types)
        tiles = program.swizzle(s)
        program.result(tiles)
        expected.append(blockscale.swizzle_scales(scales))

        stored = tiles_with_padding(scales)
        t = program.arg(stored, element, tiles.shape)
        sizes = [program.dim(s, d) for d in range(len(shape))] if dynamic else ()
        for source in (t, tiles):
            program.result(program.unswizzle(source, types, sizes))
            expected.append(scales)
    for result, bytes_ in zip(program.run(tmp_path), expected):
        assert result.dtype == np.uint8
        np.testing.assert_array_equal(result, bytes_)


# Vectors


@pytest.mark.parametrize("row", [MIXED, FP6, FP8, MXFP4_16, NVFP4], ids=str)
def test_vector(row, tmp_path):
    data = [exact(row, 3, 5, 96, 1), exact(row, 1, 1, row.block, 2)]
    program = Program()
    for operands in data:
        vectors = [program.read(arg) for arg in program.mma_args(row, operands)]
        program.result(program.write(program.mma(*vectors)))
    check_exact(row, data, program.run(tmp_path))


@pytest.mark.parametrize(
    "x_batch, y_batch",
    [((2,), ()), ((2,), (2,)), ((1,), (2,))], ids=["x3-y2", "x3-y3", "x1-y3"],
)
def test_vector_batch(x_batch, y_batch, tmp_path):
    data = exact(MIXED, 3, 5, 64, 1, x_batch=x_batch, y_batch=y_batch)
    program = Program()
    vectors = [program.read(arg) for arg in program.mma_args(MIXED, data)]
    program.result(program.write(program.mma(*vectors)))
    check_exact(MIXED, [data], program.run(tmp_path))


@pytest.mark.parametrize("row", SWIZZLED_TYPES, ids=str)
def test_vector_transposed_y_and_swizzled_scales(row, tmp_path):
    data = exact(row, 5, 7, 96, 1)
    program = Program()
    x, _, _, _, acc = (program.read(arg) for arg in program.mma_args(row, data))
    y = program.transpose(program.read(program.arg(transposed(data[2]), row.y)))
    x_tiles, y_tiles = tiles_with_padding(data[1]), tiles_with_padding(transposed(data[3]))
    x_t, y_t = (program.read(program.arg(t, row.scale)) for t in (x_tiles, y_tiles))
    x_scale = program.unswizzle(x_t, data[1].shape)
    y_scale = program.transpose(program.unswizzle(y_t, data[3].T.shape))
    program.result(program.write(program.mma(x, x_scale, y, y_scale, acc)))
    check_exact(row, [data], program.run(tmp_path))


def test_vector_swizzle_bytes(tmp_path):
    scales = np.random.default_rng(1).integers(0, 256, (33, 5), np.uint8)
    program = Program()
    tiles = program.swizzle(program.read(program.arg(scales, "f8E8M0FNU")))
    program.result(program.write(tiles))
    [result] = program.run(tmp_path)
    np.testing.assert_array_equal(result, blockscale.swizzle_scales(scales))
