"""mma_scaled with coarse scales on the CPU, against the numpy reference and against exact sums.

Both operands have blocks of their own, M is not N, and sizes are no multiples of blocks unless a case
is about that. Each scale is another power of two where results are exact, so that a scale of another
block, row or operand shows.
"""

import re
import subprocess
from typing import NamedTuple

import blockscale
import numpy as np
import pytest
from blockscale.scale_blocks import legal_blocks
from harness import RUN, Program, assert_bit_equal, execute

ALL = "all"


class Operand(NamedTuple):
    """The element type, the scale type and the block, (rows, k), of one operand."""

    element: str
    scale: str
    block: tuple

    def __str__(self):
        return f"{self.element}-{self.scale}-{self.block[0]}x{self.block[1]}"

    @property
    def attribute(self):
        return f"#blockscale.scale_block<rows = {self.block[0]}, k = {self.block[1]}>"


def fp8(rows, k, element="f8E4M3FN", scale="f32"):
    return Operand(element, scale, (rows, k))


MXFP4 = Operand("f4E2M1FN", "f8E8M0FNU", (1, 32))
MXFP4_16 = Operand("f4E2M1FN", "f8E8M0FNU", (1, 16))
NVFP4 = Operand("f4E2M1FN", "f8E4M3FN", (1, 16))
CASES = [
    (fp8(1, 128), fp8(128, 128)), (fp8(128, 128), fp8(1, 128)), (fp8(1, 128), fp8(1, 128, "f8E5M2")),
    (fp8(1, ALL), fp8(1, ALL)), (fp8(ALL, ALL), fp8(ALL, ALL)), (fp8(ALL, ALL), fp8(1, ALL, "f8E5M2")),
    (fp8(1, 128), MXFP4), (MXFP4, fp8(128, 128)), (fp8(1, ALL), MXFP4), (MXFP4, fp8(1, ALL)),
    (fp8(1, 64), NVFP4), (MXFP4_16, MXFP4), (MXFP4, NVFP4), (fp8(1, 16), fp8(128, 32, "f6E3M2FN")),
    (fp8(ALL, 128), fp8(ALL, 64, "f6E2M3FN")), (fp8(128, ALL, "f4E2M1FN"), fp8(1, 128)),
    (fp8(128, 128, scale="f8E8M0FNU"), fp8(1, 128, scale="f8E8M0FNU")),
    (fp8(1, ALL, "f8E5M2", "f8E8M0FNU"), fp8(1, 128)), (fp8(ALL, 32, scale="f8E8M0FNU"), fp8(ALL, ALL)),
]
# M, N, K: none of them a multiple of 128, N and K of real layers, and blocks that are whole.
SIZES = [(3, 5, 96), (130, 576, 192), (1, 300, 320), (256, 128, 256)]


def count(size, block):
    return 1 if block == ALL else -(-size // block)


def scale_shape(operand, rows, k, is_x):
    shape = (count(rows, operand.block[0]), count(k, operand.block[1]))
    return shape if is_x else shape[::-1]


def elements(operand, shape, rng):
    codes = np.arange(1 << blockscale.FORMATS[operand.element].bits, dtype=np.uint8)
    return rng.choice(codes[np.isfinite(blockscale.decode(codes, operand.element))], shape)


def scales(operand, shape, rng):
    if operand.scale == "f32":
        return (rng.standard_normal(shape) * np.exp2(rng.integers(-20, 20, shape))).astype(np.float32)
    if operand.scale == "f8E8M0FNU":
        return rng.integers(107, 147, shape).astype(np.uint8)
    return rng.integers(0, 0x7F, shape).astype(np.uint8)


def random(x, y, m, n, k, seed):
    rng = np.random.default_rng([seed, m, n, k])
    return [
        elements(x, (m, k), rng), scales(x, scale_shape(x, m, k, True), rng),
        elements(y, (k, n), rng), scales(y, scale_shape(y, n, k, False), rng),
        rng.standard_normal((m, n)).astype(np.float32),
    ]


def mma(program, x, y, operands, has_x=True, has_y=True):
    """The op on `operands`, which are SSA values."""
    names = ", ".join(value.name for value in operands)
    types = ", ".join(value.type for value in operands)
    blocks = [("x", x.attribute)] * has_x + [("y", y.attribute)] * has_y
    attributes = ", ".join(f"{name}_scale_block = {block}" for name, block in blocks)
    acc = operands[-1]
    return program.op(f"blockscale.mma_scaled {names} {{{attributes}}} : {types}", acc.shape, "f32", acc.container)


def arguments(program, x, y, data, shapes=None):
    types = (x.element, x.scale, y.element, y.scale, "f32")
    return [program.arg(array, type, shape) for array, type, shape in zip(data, types, shapes or [None] * 5)]


def reference(x, y, data):
    """The operand with codes as scales has the format that the reference knows, if both have codes."""
    scale_types = {each.scale for each in (x, y)} - {"f32"}
    if len(scale_types) < 2:
        return blockscale.mma_scaled(
            *data, x_type=x.element, y_type=y.element, scale_type=next(iter(scale_types), None),
            x_scale_block=x.block, y_scale_block=y.block,
        )
    # NVFP4 beside MXFP4: scales of the former are f32 values, too.
    decoded = [
        blockscale.decode(codes, blockscale.SCALE_FORMATS[each.scale]).astype(np.float32)
        for each, codes in ((x, data[1]), (y, data[3]))
    ]
    return blockscale.mma_scaled(
        data[0], decoded[0], data[2], decoded[1], data[4], x_type=x.element, y_type=y.element,
        x_scale_block=x.block, y_scale_block=y.block,
    )


def run(cases, folder):
    """The results of several products in one function."""
    program = Program()
    for x, y, data in cases:
        program.result(mma(program, x, y, arguments(program, x, y, data)))
    return program.run(folder)


@pytest.mark.parametrize("x, y", CASES, ids=lambda case: str(case))
def test_random(x, y, tmp_path):
    """To the bit: the reference adds in the order of the definition."""
    cases = [(x, y, random(x, y, *sizes, seed)) for seed, sizes in enumerate(SIZES)]
    for case, result in zip(cases, run(cases, tmp_path)):
        assert_bit_equal(result, reference(*case))


# All elements are 1, so that the result is a sum of products of scales, which is exact.


def powers(shape):
    """Distinct powers of two, or as many as there are between 2^0 and 2^11."""
    return np.exp2(np.arange(np.prod(shape)).reshape(shape) % 12)


@pytest.mark.parametrize("x, y", CASES, ids=lambda case: str(case))
def test_powers_of_two(x, y, tmp_path):
    cases = []
    for m, n, k in SIZES:
        x_scale, y_scale = powers(scale_shape(x, m, k, True)), powers(scale_shape(y, n, k, False))
        encoded = [
            values.astype(np.float32) if each.scale == "f32"
            else blockscale.encode(values % 7 + 1, blockscale.SCALE_FORMATS[each.scale])
            if each.scale == "f8E4M3FN" else blockscale.encode(values, "f8E8M0FNU")
            for each, values in ((x, x_scale), (y, y_scale))
        ]
        ones = [blockscale.encode(np.ones(shape), each.element) for each, shape in ((x, (m, k)), (y, (k, n)))]
        cases.append((x, y, [ones[0], encoded[0], ones[1], encoded[1], np.zeros((m, n), np.float32)]))
    for (_, _, data), (m, n, k), result in zip(cases, SIZES, run(cases, tmp_path)):
        factors = [
            scale.astype(np.float64) if each.scale == "f32" else blockscale.decode(scale, blockscale.SCALE_FORMATS[each.scale])
            for each, scale in ((x, data[1]), (y, data[3]))
        ]
        # One number after the other, by the formula of the op.
        for i, j in {(0, 0), (m - 1, n - 1), (m // 2, n // 3), (m - 1, 0), (min(128, m - 1), min(128, n - 1))}:
            expected = sum(
                factors[0][0 if x.block[0] == ALL else i // x.block[0], 0 if x.block[1] == ALL else each // x.block[1]]
                * factors[1][0 if y.block[1] == ALL else each // y.block[1], 0 if y.block[0] == ALL else j // y.block[0]]
                for each in range(k)
            )
            assert result[i, j] == expected, (i, j)


# Special scales


def test_special_scales(tmp_path):
    """Zero, subnormal, negative, infinite and NaN scales, and factors that cancel."""
    special = np.array([0, -0.0, 1e-45, -1e-40, -3, np.inf, -np.inf, np.nan, 2.0**120, 2.0**-120, 2.0**127], np.float32)
    x, y = fp8(1, 128), fp8(1, ALL)
    m, n, k = len(special), len(special), 200
    rng = np.random.default_rng(1)
    x_scale = np.stack([special, rng.permutation(special)], axis=1)
    data = [elements(x, (m, k), rng), x_scale, elements(y, (k, n), rng), special[None], np.float32(rng.standard_normal((m, n)))]
    data[0][1] = 0  # rows of zeros: 0 * infinity
    (result,) = run([(x, y, data)], tmp_path)
    assert_bit_equal(result, reference(x, y, data))
    assert np.isnan(result[7]).all() and np.isnan(result[:, 7]).all()


def test_factors_that_cancel(tmp_path):
    """Neither the operands nor the product with one scale are in the range of f32."""
    x, y = fp8(1, ALL), fp8(1, ALL)
    ones = blockscale.encode(np.full((2, 64), 448.0), "f8E4M3FN")
    data = [
        ones, np.array([[2.0**127], [2.0**-149]], np.float32), ones.T.copy(), np.array([[2.0**-127, 2.0**127]], np.float32),
        np.zeros((2, 2), np.float32),
    ]
    (result,) = run([(x, y, data)], tmp_path)
    expected = 64 * 448.0**2 * np.array([[1, 2.0**254], [2.0**-276, 2.0**-22]])
    with np.errstate(over="ignore", under="ignore"):
        assert_bit_equal(result, expected.astype(np.float32))


def test_all_zero_and_nan_elements(tmp_path):
    x, y = fp8(1, 128), fp8(128, 128)
    data = random(x, y, 130, 140, 300, 3)
    data[0][5] = 0
    data[0][7, 299] = 0x7F  # NaN in the partial block
    (result,) = run([(x, y, data)], tmp_path)
    assert_bit_equal(result, reference(x, y, data))
    assert_bit_equal(result[5], data[4][5])
    assert np.isnan(result[7]).all() and not np.isnan(result[6]).any()


# Forms of the op


@pytest.mark.parametrize("x_batch, y_batch", [((3,), (3,)), ((3,), ()), ((), (2,)), ((1,), (3,)), ((3,), (1,))])
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_batches(x_batch, y_batch, is_dynamic, tmp_path):
    x, y = fp8(1, 128), fp8(128, 128)
    m, n, k = 5, 150, 200
    rng = np.random.default_rng(4)
    data = [
        elements(x, (*x_batch, m, k), rng), scales(x, (*x_batch, m, 2), rng),
        elements(y, (*y_batch, k, n), rng), scales(y, (*y_batch, 2, 2), rng),
        rng.standard_normal((*np.broadcast_shapes(x_batch, y_batch), m, n)).astype(np.float32),
    ]
    program = Program()
    shapes = [[None] * array.ndim for array in data] if is_dynamic else None
    program.result(mma(program, x, y, arguments(program, x, y, data, shapes)))
    (result,) = program.run(tmp_path)
    assert_bit_equal(result, reference(x, y, data))


def test_vectors_and_transposes(tmp_path):
    """y and its scales are stored N x K, in tensors and in vectors."""
    x, y = fp8(1, 64), fp8(128, 32, "f4E2M1FN")
    data = random(x, y, 4, 6, 80, 5)
    stored = [*data[:2], data[2].T.copy(), data[3].T.copy(), data[4]]
    program = Program()
    values = arguments(program, x, y, stored)
    ends = [*values[:2], program.transpose(values[2]), program.transpose(values[3]), values[4]]
    program.result(mma(program, x, y, ends))
    read = [program.read(value) for value in values[:4]]
    read[2:] = [program.transpose(value) for value in read[2:]]
    program.result(program.write(mma(program, x, y, [*read, program.read(values[4])])))
    for result in program.run(tmp_path):
        assert_bit_equal(result, reference(x, y, data))


def test_inferred(tmp_path):
    """Sizes that only one block fits need no attribute."""
    x, y = fp8(1, 128), fp8(128, 128)
    data = random(x, y, 300, 576, 192, 6)
    program = Program()
    program.result(mma(program, x, y, arguments(program, x, y, data), has_y=False))
    assert_bit_equal(program.run(tmp_path)[0], reference(x, y, data))


def test_blocks_of_instructions(tmp_path):
    """Blocks that have a block_size are the same op."""
    x, y = Operand("f8E5M2", "f8E8M0FNU", (1, 32)), MXFP4
    data = random(x, y, 3, 5, 96, 7)
    types = dict(x_type=x.element, y_type=y.element, scale_type="f8E8M0FNU")
    assert_bit_equal(run([(x, y, data)], tmp_path)[0], blockscale.mma_scaled(*data, **types))


# The table


def test_table_of_the_verifier(tmp_path):
    """The compiler accepts the blocks that the Python package has, and no others."""
    cases, text = [], ""
    for element in blockscale.ELEMENT_TYPES:
        for scale in ("f32", "f8E8M0FNU", "f8E4M3FN"):
            for rows in blockscale.SCALE_BLOCK_ROWS:
                for k in blockscale.SCALE_BLOCK_KS:
                    x = f"tensor<256x256x{element}>"
                    x_scale = f"tensor<{count(256, rows)}x{count(256, k)}x{scale}>"
                    rest = "tensor<256x8xf8E4M3FN>, tensor<1x8xf32>, tensor<256x8xf32>"
                    text += (
                        f"func.func @f(%x: {x}, %s: {x_scale}, %y: tensor<256x8xf8E4M3FN>, %t: tensor<1x8xf32>, %a: tensor<256x8xf32>) {{\n"
                        f"  %d = blockscale.mma_scaled %x, %s, %y, %t, %a {{x_scale_block = {Operand(element, scale, (rows, k)).attribute}, "
                        f"y_scale_block = #blockscale.scale_block<rows = 1, k = all>}} : {x}, {x_scale}, {rest}\n"
                        f"  return\n}}\n// -----\n"
                    )
                    cases.append((element, scale, (rows, k)))
    path = tmp_path / "table.mlir"
    path.write_text(text)
    done = subprocess.run(
        [RUN.with_name("blockscale-opt"), path, "--split-input-file", "-o", "/dev/null"], capture_output=True, text=True, check=False
    )
    refused = {int(line) // 5 for line in re.findall(r"table\.mlir:(\d+):\d+: error", done.stderr)}
    expected = {i for i, (element, scale, block) in enumerate(cases) if block not in legal_blocks(element, scale)}
    assert len(cases) == 225 and refused == expected


# Tiles


@pytest.mark.parametrize("sizes", [(64, 256, 64), (128, 32, 128), (1, 384, 384), (32, 128, 32)])
def test_tiles(sizes, tmp_path):
    """A tiled product is the product, but for sums that are rounded to f32 after each tile of K: exact here."""
    x, y = fp8(128, 128), fp8(128, ALL)
    m, n, k = 130, 300, 320
    rng = np.random.default_rng(8)
    data = [
        blockscale.encode(rng.integers(-2, 3, (m, k)), "f8E4M3FN"), np.float32(np.exp2(rng.integers(-2, 3, (2, 3)))),
        blockscale.encode(rng.integers(-2, 3, (k, n)), "f8E4M3FN"), np.float32(np.exp2(rng.integers(-2, 3, (1, 3)))),
        np.zeros((m, n), np.float32),
    ]
    program = Program()
    program.result(mma(program, x, y, arguments(program, x, y, data)))
    sequence = (
        "module attributes {transform.with_named_sequence} {\n" + program.text()
        + "transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {\n"
        '  %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %m : (!transform.any_op) -> !transform.any_op\n'
        f"  %t, %l:3 = transform.structured.tile_using_for %op tile_sizes {list(sizes)}\n"
        "    : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)\n"
        "  transform.yield\n}\n}\n"
    )
    path = tmp_path / "tiles.mlir"
    path.write_text(sequence)
    tiled = subprocess.run(
        [RUN.with_name("blockscale-opt"), path, "--transform-interpreter"], capture_output=True, text=True, check=False
    )
    assert tiled.returncode == 0, tiled.stderr
    text, _, _ = tiled.stdout.partition("  transform.named_sequence")
    assert "scf.for" in text
    text = text.replace("module attributes {transform.with_named_sequence}", "module") + "}\n"
    (result,) = execute(tmp_path, text, data, 1, "main")
    assert_bit_equal(result, reference(x, y, data))
