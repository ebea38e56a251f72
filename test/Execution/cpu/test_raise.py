"""Block-scaled products as other compilers write them, raised to mma_scaled and executed.

M is not N, left and right types differ where a row allows it, and scales differ from block to
block, so that an exchanged operand or index shows in the result.
"""

import subprocess

import numpy as np
import pytest
from blockscale import mma_scaled
from harness import RUN, Combination, assert_bit_equal, exact, execute
from upstream import Upstream, stored

OPT = RUN.with_name("blockscale-opt")

MIXED = Combination("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32)
FP6 = Combination("f6E3M2FN", "f6E2M3FN", "f8E8M0FNU", 32)
FP8 = Combination("f8E5M2", "f8E4M3FN", "f8E8M0FNU", 32)
MXFP4_16 = Combination("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 16)
NVFP4 = Combination("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)
COMBINATIONS = [MIXED, FP6, FP8, MXFP4_16, NVFP4]


def check(program, row, data, folder, options=""):
    """The program, raised, computes what mma_scaled does; no other contraction is left."""
    done = subprocess.run(
        [OPT, f"--blockscale-raise={options}", "-"], input=program.text(), capture_output=True,
        text=True, check=False,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr + program.text()
    assert done.stdout.count("blockscale.mma_scaled") == 1, program.text()
    assert "reduction" not in done.stdout and "matmul" not in done.stdout
    [result] = execute(folder, done.stdout, program.arrays, 1, program.entry)
    assert_bit_equal(result, mma_scaled(*data, **row.types))


def arguments(program, row, data, orders=("mk", "mk", "kn", "kn", "mn"), shapes=(None,) * 5):
    """The five operands as arguments, stored in `orders`."""
    elements = (row.x, row.scale, row.y, row.scale, "f32")
    values = []
    for array, order, canonical, element, shape in zip(
        data, orders, ("mk", "mk", "kn", "kn", "mn"), elements, shapes
    ):
        batch = "b" * (array.ndim - 2)
        array = stored(array, batch + order, batch + canonical)
        values.append(program.arg(array, element, shape))
    return values


def decode(program, value, scale, order, row, how="broadcast", by="scaling_extf"):
    """A matrix times its scales as f32; both are stored in `order`."""
    scale = program.spread(scale, order.index("k"), row.block, how)
    if row.scale == "f8E4M3FN":  # The sign is to be ignored.
        scale = program.absf(scale)
        by = "extf"
    if by == "scaling_extf":
        return program.scaling_extf(value, scale)
    factors = program.extf(value), program.extf(scale)
    return program.mulf(*factors[:: 1 if by == "extf" else -1])


def with_signs(row, data, seed=1):
    """Scales of type f8E4M3FN with bit 7 set here and there."""
    if row.scale != "f8E4M3FN":
        return data
    signs = np.random.default_rng(seed).integers(0, 2, (2, 64, 64), np.uint8) << 7
    x, x_scale, y, y_scale, acc = data
    return [
        x, x_scale | signs[0][tuple(map(slice, x_scale.shape))],
        y, y_scale | signs[1][tuple(map(slice, y_scale.shape))], acc,
    ]


# Whole tensors and vectors, decoded before the contraction


@pytest.mark.parametrize("row", COMBINATIONS, ids=str)
@pytest.mark.parametrize("how", ["broadcast", "floordiv"])
def test_matmul(row, how, tmp_path):
    data = with_signs(row, exact(row, 3, 5, 96, 1))
    program = Upstream()
    x, x_scale, y, y_scale, acc = arguments(program, row, data)
    x = decode(program, x, x_scale, "mk", row, how)
    y = decode(program, y, y_scale, "kn", row, how, by="swapped extf")
    program.result(program.contract("linalg.matmul", x, y, acc, ("mk", "kn", "mn")))
    check(program, row, data, tmp_path)


@pytest.mark.parametrize(
    "row, dtype", [*((row, "f32") for row in COMBINATIONS), (FP6, "bf16"), (NVFP4, "bf16")], ids=str
)
def test_dequantize(row, dtype, tmp_path):
    """Both operands dequantized; signs of scales are ignored without being asked to be."""
    data = with_signs(row, exact(row, 3, 5, 96, 4))
    program = Upstream()
    x, x_scale, y, y_scale, acc = arguments(program, row, data, ("mk", "mk", "nk", "nk", "mn"))

    def dequantize(elements, scales):
        types = f"{elements.type}, {scales.type} to {{result}}"
        return program.like(f"blockscale.dequantize {elements.name}, {scales.name} : {types}", elements, None, dtype)

    x, y = dequantize(x, x_scale), program.transpose(dequantize(y, y_scale))
    program.result(program.contract("linalg.matmul", x, y, acc, ("mk", "kn", "mn")))
    check(program, row, data, tmp_path)


ORDERS = [("mk", "kn"), ("mk", "nk"), ("km", "kn"), ("km", "nk")]
CONTRACTIONS = ["linalg.contract", "linalg.generic", "vector.contract"]


@pytest.mark.parametrize("orders", ORDERS, ids="-".join)
@pytest.mark.parametrize(
    "name, is_swapped",
    [("linalg.matmul", False), *((name, swap) for name in CONTRACTIONS for swap in (False, True))],
)
def test_orders(name, is_swapped, orders, tmp_path):
    """Operands stored either way, and swapped."""
    data = exact(MIXED, 3, 5, 96, 2)
    program = Upstream()
    values = arguments(program, MIXED, data, (orders[0],) * 2 + (orders[1],) * 2 + ("mn",))
    if name == "vector.contract":
        values = [program.read(value) for value in values]
    x, x_scale, y, y_scale, acc = values
    how = "stretch" if name == "vector.contract" else "broadcast"
    x = decode(program, x, x_scale, orders[0], MIXED, "broadcast")
    y = decode(program, y, y_scale, orders[1], MIXED, how, by="extf")
    operands, maps = (x, y), orders
    if is_swapped:
        operands, maps = (y, x), orders[::-1]
    result = program.contract(name, *operands, acc, (*maps, "mn"))
    program.result(program.write(result) if name == "vector.contract" else result)
    check(program, MIXED, data, tmp_path)


@pytest.mark.parametrize("row", [FP6, NVFP4], ids=str)
def test_scales_stored_otherwise(row, tmp_path):
    """Scales transposed before they are broadcast; acc is a fill with zero."""
    data = with_signs(row, exact(row, 3, 5, 96, 3, zero_acc=True))
    program = Upstream()
    x, x_scale, y, y_scale, acc = arguments(program, row, data, ("mk", "km", "nk", "kn", "mn"))
    x = decode(program, x, program.transpose(x_scale), "mk", row)
    y = decode(program, y, program.transpose(y_scale), "nk", row)
    zero = program.op("arith.constant 0.0 : f32").name
    acc = program.op(
        f"linalg.fill ins({zero} : f32) outs({acc.name} : {acc.type}) -> {acc.type}", *acc[1:]
    )
    program.result(program.contract("linalg.contract", x, y, acc, ("mk", "nk", "mn")))
    check(program, row, data, tmp_path)


# Batches


BOTH, TRANSPOSED, X_ONLY, Y_ONLY = (
    ("bmk", "bkn"), ("bmk", "bnk"), ("bmk", "kn"), ("km", "bnk")
)


@pytest.mark.parametrize(
    "name, orders",
    [
        *(("linalg.batch_matmul", orders) for orders in (BOTH, TRANSPOSED)),
        *(("linalg.contract", orders) for orders in (BOTH, X_ONLY, Y_ONLY)),
        *(("vector.contract", orders) for orders in (TRANSPOSED, Y_ONLY)),
    ],
)
def test_batch(name, orders, tmp_path):
    x_batch, y_batch = ((2,) * ("b" in order) for order in orders)
    data = exact(MIXED, 3, 5, 64, 5, x_batch=x_batch, y_batch=y_batch)
    matrix_orders = [order.replace("b", "") for order in orders]
    program = Upstream()
    stored_as = (matrix_orders[0],) * 2 + (matrix_orders[1],) * 2 + ("mn",)
    values = arguments(program, MIXED, data, stored_as)
    if name == "vector.contract":
        values = [program.read(value) for value in values]
    x, x_scale, y, y_scale, acc = values
    x = decode(program, x, x_scale, orders[0], MIXED)
    y = decode(program, y, y_scale, orders[1], MIXED)
    result = program.contract(name, x, y, acc, (*orders, "bmn"))
    program.result(program.write(result) if name == "vector.contract" else result)
    check(program, MIXED, data, tmp_path)


def test_broadcast_batch(tmp_path):
    """y is repeated for each matrix of x after it is decoded."""
    data = exact(MIXED, 3, 5, 64, 6, x_batch=(2,))
    program = Upstream()
    x, x_scale, y, y_scale, acc = arguments(program, MIXED, data)
    x = decode(program, x, x_scale, "bmk", MIXED)
    y = program.repeat(decode(program, y, y_scale, "kn", MIXED), 0, 2)
    program.result(program.contract("linalg.batch_matmul", x, y, acc, ("bmk", "bkn", "bmn")))
    check(program, MIXED, data, tmp_path)


# K as two loops


@pytest.mark.parametrize("orders", [("msi", "sin"), ("sim", "nsi")], ids="-".join)
@pytest.mark.parametrize("name", CONTRACTIONS)
@pytest.mark.parametrize("row", [MIXED, NVFP4], ids=str)
def test_split_k(row, name, orders, tmp_path):
    """Elements expanded to blocks, scales repeated in a dimension of their own."""
    data = with_signs(row, exact(row, 3, 5, 96, 7))
    program = Upstream()
    matrix_orders = [order.replace("si", "k") for order in orders]
    stored_as = (matrix_orders[0],) * 2 + (matrix_orders[1],) * 2 + ("mn",)
    values = arguments(program, row, data, stored_as)
    if name == "vector.contract":
        values = [program.read(value) for value in values]
    *values, acc = values
    decoded = []
    for (value, scale), order in zip((values[:2], values[2:]), orders):
        dim = order.index("s")
        value = program.split(value, dim, row.block)
        scale = program.repeat(scale, dim + 1, row.block)
        if row.scale == "f8E4M3FN":
            scale = program.clear_signs(scale)
            decoded.append(program.mulf(program.extf(value), program.extf(scale)))
        else:
            decoded.append(program.scaling_extf(value, scale))
    result = program.contract(name, *decoded, acc, (*orders, "mn"))
    program.result(program.write(result) if name == "vector.contract" else result)
    check(program, row, data, tmp_path)


# Decoding in the body of a linalg.generic


def body_of(program, row, by):
    """A body of x, x_scale, y, y_scale."""
    def product(args):
        values = [
            program.op(f"arith.extf {arg} : {kind} to f32").name
            for arg, kind in zip(args, (row.x, row.scale, row.y, row.scale))
        ]
        while len(values) > 1:
            left, right = values.pop(0), values.pop()
            values.append(program.op(f"arith.mulf {left}, {right} : f32").name)
        return values[0]

    def scaled(value, scale, kind):
        return program.op(
            f"arith.scaling_extf {value}, {scale} : {kind}, {row.scale} to f32"
        ).name

    def body(args, out):
        x, x_scale, y, y_scale = args
        if by == "extf":
            if row.scale == "f8E4M3FN":
                x_scale, y_scale = (
                    program.op(f"math.absf {s} : {row.scale}").name for s in (x_scale, y_scale)
                )
            term = product([x, x_scale, y, y_scale])
        else:
            left, right = scaled(x, x_scale, row.x), scaled(y, y_scale, row.y)
            term = program.op(f"arith.mulf {left}, {right} : f32").name
        return program.op(f"arith.addf {out}, {term} : f32").name

    return body


IN_BODY = {
    "floordiv": (["mk", "m/", "kn", "/n"], "mnk"),
    "floordiv-transposed": (["km", "/m", "nk", "n/"], "nkm"),
    "blocks": (["msi", "ms", "nsi", "ns"], "mnsi"),
    "blocks-first": (["sim", "sm", "sin", "ns"], "sinm"),
}


@pytest.mark.parametrize("orders, loops", IN_BODY.values(), ids=IN_BODY)
@pytest.mark.parametrize(
    "row, by", [(FP6, "scaling_extf"), (NVFP4, "extf"), (FP8, "extf")], ids=str
)
def test_in_body(row, by, orders, loops, tmp_path):
    """`/` is k floordiv B. Blocks may be dimensions of the arguments."""
    data = with_signs(row, exact(row, 3, 5, 96, 8))
    program = Upstream()
    sizes = {"m": 3, "n": 5, "k": 96, "/": 96 // row.block, "s": 96 // row.block, "i": row.block}
    inputs = []
    for array, canonical, order, element in zip(
        data, ("mk", "m/", "kn", "/n"), orders, (row.x, row.scale, row.y, row.scale)
    ):
        flat = order.replace("si", "k").replace("s", "/")
        array = stored(array, flat, canonical).reshape([sizes[d] for d in order])
        inputs.append(program.arg(array, element))
    acc = program.arg(data[4], "f32")
    maps = [
        [f"k floordiv {row.block}" if d == "/" else d for d in order] for order in orders
    ]
    kinds = ["reduction" if d in "ksi" else "parallel" for d in loops]
    program.result(
        program.generic(inputs, maps, acc, "mn", loops, kinds, body_of(program, row, by))
    )
    check(program, row, data, tmp_path)


# Scales that are missing, constant or one for all of K


@pytest.mark.parametrize("scaled", ["x", "y"])
@pytest.mark.parametrize("row", [MIXED, MXFP4_16, NVFP4], ids=str)
def test_one_sided(row, scaled, tmp_path):
    """The other operand has no scales: they are 1."""
    x, x_scale, y, y_scale, acc = exact(row, 3, 5, 96, 9)
    one = np.uint8({"f8E8M0FNU": 127, "f8E4M3FN": 0x38}[row.scale])
    if scaled == "x":
        y_scale = np.full_like(y_scale, one)
    else:
        x_scale = np.full_like(x_scale, one)
    data = with_signs(row, [x, x_scale, y, y_scale, acc])
    program = Upstream()
    x, x_scale, y, y_scale, acc = arguments(program, row, data)
    x = decode(program, x, x_scale, "mk", row) if scaled == "x" else program.extf(x)
    y = decode(program, y, y_scale, "kn", row) if scaled == "y" else program.extf(y)
    program.result(program.contract("linalg.matmul", x, y, acc, ("mk", "kn", "mn")))
    check(program, row, data, tmp_path)


def test_splat_scale(tmp_path):
    data = exact(MIXED, 3, 5, 96, 10)
    data[1] = np.full_like(data[1], 129)
    program = Upstream()
    x, _, y, y_scale, acc = arguments(program, MIXED, data)
    x = program.scaling_extf(x, program.constant(4, x.shape, MIXED.scale))
    y = decode(program, y, y_scale, "kn", MIXED)
    program.result(program.contract("linalg.matmul", x, y, acc, ("mk", "kn", "mn")))
    check(program, MIXED, data, tmp_path)


@pytest.mark.parametrize("is_vector", [False, True], ids=["tensor", "vector"])
def test_one_block(is_vector, tmp_path):
    """K is B: scales of one column or row are repeated."""
    data = exact(MIXED, 3, 5, 32, 11)
    program = Upstream()
    values = arguments(program, MIXED, data)
    if is_vector:
        values = [program.read(value) for value in values]
    x, x_scale, y, y_scale, acc = values
    x = decode(program, x, x_scale, "mk", MIXED)
    if is_vector:
        y_scale = program.like(
            f"vector.broadcast {y_scale.name} : {y_scale.type} to {{result}}", y_scale, y.shape
        )
        y = program.scaling_extf(y, y_scale)
    else:
        y = decode(program, y, y_scale, "kn", MIXED, "floordiv")
    name = "vector.contract" if is_vector else "linalg.contract"
    result = program.contract(name, x, y, acc, ("mk", "kn", "mn"))
    program.result(program.write(result) if is_vector else result)
    check(program, MIXED, data, tmp_path)


@pytest.mark.parametrize("is_vector", [False, True], ids=["tensor", "vector"])
def test_scales_without_blocks(is_vector, tmp_path):
    """K is B, and scales have no dimension for it."""
    data = exact(MIXED, 3, 5, 32, 15)
    program = Upstream()
    shaped = [data[0], data[1][:, 0], data[2], data[3][0], data[4]]
    elements = (MIXED.x, MIXED.scale, MIXED.y, MIXED.scale, "f32")
    values = [program.arg(array, element) for array, element in zip(shaped, elements)]
    if is_vector:
        values = [program.read(value) for value in values]
    x, x_scale, y, y_scale, acc = values
    x = program.scaling_extf(x, program.repeat(x_scale, 1, 32))
    y = program.scaling_extf(y, program.repeat(y_scale, 0, 32))
    name = "vector.contract" if is_vector else "linalg.matmul"
    result = program.contract(name, x, y, acc, ("mk", "kn", "mn"))
    program.result(program.write(result) if is_vector else result)
    check(program, MIXED, data, tmp_path)


@pytest.mark.parametrize("m, n", [(1, 5), (3, 1), (1, 1)])
@pytest.mark.parametrize("row", [MIXED, NVFP4], ids=str)
def test_one_row(row, m, n, tmp_path):
    """Decoded values of one row lose it and get it back."""
    data = with_signs(row, exact(row, m, n, 96, 16))
    program = Upstream()
    x, x_scale, y, y_scale, acc = arguments(program, row, data)
    x = program.split(program.merge(decode(program, x, x_scale, "mk", row), 0), 0, 96)
    y = program.split(program.merge(decode(program, y, y_scale, "kn", row), 0), 0, n)
    program.result(program.contract("linalg.matmul", x, y, acc, ("mk", "kn", "mn")))
    check(program, row, data, tmp_path)


def test_assumed_signs(tmp_path):
    """Scales whose sign is not known: the option says that they are positive."""
    data = exact(NVFP4, 3, 5, 96, 17)
    program = Upstream()
    x, x_scale, y, y_scale, acc = arguments(program, NVFP4, data)
    x = program.mulf(program.extf(x), program.extf(program.spread(x_scale, 1, 16)))
    y = program.mulf(program.extf(y), program.extf(program.spread(y_scale, 0, 16)))
    program.result(program.contract("linalg.matmul", x, y, acc, ("mk", "kn", "mn")))
    check(program, NVFP4, data, tmp_path, "assume-positive-scales")


# Dynamic sizes


def test_dynamic_rows(tmp_path):
    data = exact(MIXED, 3, 5, 96, 12)
    program = Upstream()
    shapes = ((None, 96), (None, 3), (96, None), (3, None), (None, None))
    x, x_scale, y, y_scale, acc = arguments(program, MIXED, data, shapes=shapes)
    x = decode(program, x, x_scale, "mk", MIXED, by="extf")
    y = decode(program, y, y_scale, "kn", MIXED)
    program.result(program.contract("linalg.matmul", x, y, acc, ("mk", "kn", "mn")))
    check(program, MIXED, data, tmp_path)


@pytest.mark.parametrize("is_one_sided", [False, True], ids=["", "one-sided"])
def test_dynamic_k(is_one_sided, tmp_path):
    """K is the size of scales that were repeated, so a multiple of B."""
    data = exact(MIXED, 3, 5, 96, 13)
    if is_one_sided:
        data[3] = np.full_like(data[3], 127)
    program = Upstream()
    shapes = ((3, None), (3, None), (None, 5), (None, 5), (3, 5))
    x, x_scale, y, y_scale, acc = arguments(program, MIXED, data, shapes=shapes)
    x = decode(program, x, x_scale, "mk", MIXED)
    y = program.extf(y) if is_one_sided else decode(program, y, y_scale, "kn", MIXED)
    program.result(program.contract("linalg.matmul", x, y, acc, ("mk", "kn", "mn")))
    check(program, MIXED, data, tmp_path)


# The meaning without the pass


@pytest.mark.parametrize("row", [MIXED, FP8, NVFP4], ids=str)
def test_same_as_upstream(row, tmp_path):
    """The program computes the same before it is raised."""
    data = exact(row, 3, 5, 96, 14)
    program = Upstream()
    x, x_scale, y, y_scale, acc = arguments(program, row, data)
    x_scale = program.spread(x_scale, 1, row.block)
    y_scale = program.spread(y_scale, 0, row.block)
    x = program.mulf(program.extf(x), program.extf(x_scale))
    y = program.mulf(program.extf(y), program.extf(y_scale))
    program.result(program.contract("linalg.matmul", x, y, acc, ("mk", "kn", "mn")))
    [result] = program.run(tmp_path)
    assert_bit_equal(result, mma_scaled(*data, **row.types))
