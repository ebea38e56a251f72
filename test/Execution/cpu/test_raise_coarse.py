"""Products with coarse scales as importers write them: raised, they compute what they did before.

Each program is executed as it is and raised, and numpy computes the same from mma_scaled. Elements and scales
are such that all sums are exact; scales are other powers of two from block to block, so that one of another block,
row or operand shows. M is not N, and the last blocks are partial where a form can say that.
"""

import subprocess
from typing import NamedTuple

import blockscale
import numpy as np
import pytest
from harness import RUN, assert_bit_equal, execute
from upstream import Upstream

OPT = RUN.with_name("blockscale-opt")
ALL = "all"


class Operand(NamedTuple):
    """The shape and the type of elements; the shape, the type and the block, (rows, k), of scales. Rows come first."""

    shape: tuple
    element: str
    scales: tuple
    scale: str
    block: tuple


def exact_data(x, y, m, n, seed):
    """Elements and scales as the reference takes them: rows of x, columns of y."""
    rng = np.random.default_rng(seed)

    def elements(operand):
        values = rng.choice([-2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2], operand.shape)
        return blockscale.encode(values, operand.element)

    def scales(operand):
        # Walks through the powers in non-zero steps along every dimension.
        steps = [rng.integers(1, 5, size).cumsum() for size in operand.scales]
        powers = np.exp2(sum(np.ix_(*steps)) % 5 - 2.0)
        return powers.astype(np.float32) if operand.scale == "f32" else blockscale.encode(powers, operand.scale)

    x, x_scale, y, y_scale = elements(x), scales(x), elements(y), scales(y)
    return [x, x_scale, y, y_scale, rng.integers(-64, 65, (*x.shape[:-2], m, n)).astype(np.float32)]


def reference(x, y, data):
    """y and its scales are stored as rows of N."""
    codes, x_scale, y_codes, y_scale, acc = data
    turn = lambda array: np.ascontiguousarray(np.swapaxes(array, -1, -2))
    return blockscale.mma_scaled(
        codes, x_scale, turn(y_codes), turn(y_scale), acc, x_type=x.element, y_type=y.element,
        scale_type=next((each.scale for each in (x, y) if each.scale != "f32"), None),
        x_scale_block=x.block, y_scale_block=y.block,
    )


def body_of(program, operands):
    """A body that multiplies each element by its scale."""
    def build(args, out):
        values = [
            arg if operand.element == "f32" else program.op(f"arith.extf {arg} : {operand.element} to f32").name
            for arg, operand in zip(args, operands, strict=True)
        ]
        left = program.op(f"arith.mulf {values[0]}, {values[1]} : f32").name
        right = program.op(f"arith.mulf {values[3]}, {values[2]} : f32").name
        term = program.op(f"arith.mulf {left}, {right} : f32").name
        return program.op(f"arith.addf {out}, {term} : f32").name

    return build


def in_body(program, data, x, y, maps, loops="mnk"):
    """All of it in one op; `maps` of x, its scales, y and its scales."""
    types = (x.element, x.scale, y.element, y.scale)
    inputs = [program.arg(array, element) for array, element in zip(data, types)]
    acc = program.arg(data[4], "f32")
    kinds = ["reduction" if loop in "ksi" else "parallel" for loop in loops]
    program.result(program.generic(inputs, maps, acc, ["m", "n"], loops, kinds, body_of(program, inputs)))


def matmul(program, x, y, acc):
    program.result(program.contract("linalg.matmul", x, program.transpose(y), acc, ("mk", "kn", "mn")))


# Forms. Each gives the operands as the reference takes them, and adds the program.


def block128(program, seed):
    """Scales at divisions of indices; M, N and K end in partial blocks."""
    x = Operand((3, 320), "f8E4M3FN", (3, 3), "f32", (1, 128))
    y = Operand((192, 320), "f8E5M2", (2, 3), "f32", (128, 128))
    data = exact_data(x, y, 3, 192, seed)
    blocks = [["m", "k"], ["m", "k floordiv 128"], ["n", "k"], ["n floordiv 128", "k floordiv 128"]]
    in_body(program, data, x, y, blocks)
    return reference(x, y, data)


def rows_of_128(program, seed):
    """128 rows of x share a scale, and all columns of y."""
    x = Operand((130, 96), "f8E4M3FN", (2, 2), "f32", (128, 64))
    y = Operand((5, 96), "f8E4M3FN", (1, 6), "f32", (ALL, 16))
    data = exact_data(x, y, 130, 5, seed)
    in_body(program, data, x, y, [["m", "k"], ["m floordiv 128", "k floordiv 64"], ["n", "k"], ["0", "k floordiv 16"]])
    return reference(x, y, data)


def two_loops(program, seed):
    """K as blocks of 128 and their elements, for MXFP4 weights beside blocks of f32."""
    x = Operand((3, 256), "f8E4M3FN", (3, 2), "f32", (1, 128))
    y = Operand((5, 256), "f4E2M1FN", (5, 8), "f8E8M0FNU", (1, 32))
    data = exact_data(x, y, 3, 5, seed)
    split = [data[0].reshape(3, 2, 128), data[1], data[2].reshape(5, 2, 128), *data[3:]]
    maps = [["m", "s", "i"], ["m", "s"], ["n", "s", "i"], ["n", "(s * 128 + i) floordiv 32"]]
    in_body(program, split, x, y, maps, "mnsi")
    return reference(x, y, data)


def expanded(program, seed):
    """Scales of weights are repeated, and cut to the shape of the weights; x has one for each row, of rank 1."""
    x = Operand((3, 320), "f8E4M3FN", (3, 1), "f32", (1, ALL))
    y = Operand((192, 320), "f8E4M3FN", (2, 3), "f32", (128, 128))
    data = exact_data(x, y, 3, 192, seed)
    codes, x_scale = program.arg(data[0], x.element), program.arg(data[1][:, 0], "f32")
    y_codes, y_scale = program.arg(data[2], y.element), program.arg(data[3], "f32")
    left = program.mulf(program.extf(codes), program.repeat(x_scale, 1, 320))
    repeated = program.spread(program.spread(y_scale, 1, 128), 0, 128)
    cut = f"tensor.extract_slice {repeated.name}[0, 0] [192, 320] [1, 1] : {repeated.type} to {{result}}"
    repeated = program.like(cut, repeated, (192, 320))
    right = program.mulf(repeated, program.extf(y_codes))
    matmul(program, left, right, program.arg(data[4], "f32"))
    return reference(x, y, data)


def tensors(program, seed):
    """A number of f32 for x, and an element of a tensor for y."""
    x = Operand((3, 96), "f8E5M2", (1, 1), "f32", (ALL, ALL))
    y = Operand((5, 96), "f8E4M3FN", (1, 1), "f32", (ALL, ALL))
    data = exact_data(x, y, 3, 5, seed)
    data[1][:], data[3][:] = 4, 0.25
    codes, y_codes = program.arg(data[0], x.element), program.arg(data[2], y.element)
    number = program.scalar(np.float32(4), "f32")
    several = program.arg(np.float32([8, 0.25, 2]), "f32")
    element = program.op(f"tensor.extract {several.name}[{program.index(1)}] : {several.type}").name
    scales = [
        program.op(f"tensor.splat {scalar} : tensor<{rows}x96xf32>", (rows, 96), "f32")
        for scalar, rows in ((number.name, 3), (element, 5))
    ]
    left, right = (program.mulf(program.extf(v), s) for v, s in zip((codes, y_codes), scales))
    matmul(program, left, right, program.arg(data[4], "f32"))
    return reference(x, y, data)


def e8m0(program, seed):
    """Squares of 128 with powers of two, beside a scale for each column."""
    x = Operand((3, 192), "f8E4M3FN", (3, 2), "f8E8M0FNU", (1, 128))
    y = Operand((130, 192), "f8E4M3FN", (2, 1), "f8E8M0FNU", (128, ALL))
    data = exact_data(x, y, 3, 130, seed)
    in_body(program, data, x, y, [["m", "k"], ["m", "k floordiv 128"], ["n", "k"], ["n floordiv 128", "0"]])
    return reference(x, y, data)


FORMS = [block128, rows_of_128, two_loops, expanded, tensors, e8m0]


@pytest.fixture(scope="module")
def program():
    """All forms in one function, and what it is to compute."""
    program = Upstream()
    expected = [form(program, seed) for seed, form in enumerate(FORMS)]
    done = subprocess.run(
        [OPT, "--blockscale-raise", "-"], input=program.text(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and not done.stderr, done.stderr + program.text()
    return program, done.stdout, expected


def check(results, expected):
    for form, result, each in zip(FORMS, results, expected, strict=True):
        assert len(np.unique(each)) > 10, form.__name__
        try:
            assert_bit_equal(result, each)
        except AssertionError as error:
            raise AssertionError(form.__name__) from error


def test_as_it_is(program, tmp_path):
    """The program computes this without the pass."""
    program, _, expected = program
    check(program.run(tmp_path), expected)


def test_raised(program, tmp_path):
    program, raised, expected = program
    assert raised.count("blockscale.mma_scaled") == len(FORMS) and "reduction" not in raised and "matmul" not in raised
    check(execute(tmp_path, raised, program.arrays, len(expected), program.entry), expected)


def test_simulated(program, tmp_path):
    """On a GPU, to the bit, too: kernels read scales where they are."""
    program, _, expected = program
    (tmp_path / "main.mlir").write_text(program.text())
    inputs = [tmp_path / f"in{i}.npy" for i in range(len(program.arrays))]
    outputs = [tmp_path / f"out{i}.npy" for i in range(len(expected))]
    for path, array in zip(inputs, program.arrays, strict=True):
        np.save(path, array)
    command = [RUN, tmp_path / "main.mlir", "--raise", "--device=sim", "--target=sm_90a"]
    for path in outputs:
        command += ["-o", path]
    done = subprocess.run([*command, *inputs], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "not raised" not in done.stderr, done.stderr
    check([np.load(path) for path in outputs], expected)


# What the op has and the program, of f32, has not: see docs/Raising.md.


def test_factors_that_cancel(tmp_path):
    """An element times 2^120 leaves f32 in the program, which has infinity; the op has the product."""
    x = Operand((3, 32), "f8E5M2", (3, 1), "f32", (1, ALL))
    data = [np.full((3, 32), 0x70, np.uint8), np.full((3, 1), 2.0**120, np.float32),
            np.full((5, 32), 0x3C, np.uint8), np.full((5, 1), 2.0**-120, np.float32), np.zeros((3, 5), np.float32)]
    program = Upstream()
    in_body(program, data, x, x, [["m", "k"], ["m", "0"], ["n", "k"], ["n", "0"]])
    [plain] = program.run(tmp_path)
    done = subprocess.run(
        [OPT, "--blockscale-raise", "-"], input=program.text(), capture_output=True, text=True, check=True
    )
    [result] = execute(tmp_path, done.stdout, program.arrays, 1, program.entry)
    assert np.isinf(plain).all()
    assert_bit_equal(result, reference(x, x, data))
    assert (result == 32 * 8192).all()
