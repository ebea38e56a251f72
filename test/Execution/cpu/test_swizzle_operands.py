"""Programs before and after blockscale-swizzle-scale-operands compute the same.

The results are those of the numpy reference, bit for bit. Scales differ from block to block and
sizes are no multiples of an atom, so that a slice of wrong atoms or a byte of padding (0xFF where
a caller makes it) shows.
"""

import re
import subprocess
from typing import NamedTuple

import blockscale
import numpy as np
import pytest
from blockscale import mma_scaled
from harness import RUN, Combination, Program, any_codes, assert_bit_equal, exact, execute

OPT = RUN.parent / "blockscale-opt"
PASS = "--blockscale-swizzle-scale-operands"
MIXED = Combination("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32)
NVFP4 = Combination("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)


def optimize(text, *passes):
    done = subprocess.run(
        [OPT, *passes], input=text, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr}\n{text}"
    return done.stdout


def run(folder, text, arrays, results=1):
    return execute(folder, text, arrays, results, "main")


def transposed(array):
    return np.ascontiguousarray(np.swapaxes(array, -1, -2))


def swizzled(scales):
    """Scales in the 32x4x4 layout, padding bytes 0xFF."""
    used = blockscale.swizzle_scales(np.ones_like(scales)) == 1
    return np.where(used, blockscale.swizzle_scales(scales), np.uint8(0xFF))


def count_swizzles(text):
    return text.count(" blockscale.swizzle_scales ")


# Loops that tiling makes


TILE = """
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["blockscale.mma_scaled"]} in %module
        : (!transform.any_op) -> !transform.any_op
  %tile, %loops:COUNT = transform.structured.tile_using_KIND %op tile_sizes SIZES
        : (!transform.any_op) -> (!transform.any_op, RESULTS)
  transform.yield
}
"""


def tile(text, kind, sizes):
    """The program with its mma_scaled tiled."""
    count = sum(size != 0 for size in sizes) if kind == "for" else 1
    sequence = TILE.replace("COUNT", str(count)).replace("KIND", kind)
    sequence = sequence.replace("SIZES", str(sizes))
    sequence = sequence.replace("RESULTS", ", ".join(["!transform.any_op"] * count))
    module = f"module attributes {{transform.with_named_sequence}} {{\n{text}\n{sequence}}}\n"
    return optimize(module, "--transform-interpreter")


class Tiling(NamedTuple):
    """A program, how it is tiled, and how many of its scale operands are sliced then.

    Sizes of tiles are those of (batch,) M, N, K; 0 leaves a dimension whole. The last tiles are
    smaller than the others, except in `whole`.
    """

    row: Combination
    kind: str
    sizes: list
    mnk: tuple
    sliced: int
    x_batch: tuple = ()
    y_batch: tuple = ()
    is_nk: bool = False  # y is stored as N x K
    dynamic: str = ""  # letters of the sizes that are `?`


TILINGS = {
    "for": Tiling(MIXED, "for", [128, 128, 128], (300, 140, 288), 2),
    "y-nk": Tiling(MIXED, "for", [0, 128, 256], (33, 300, 608), 2, is_nk=True),
    "whole": Tiling(MIXED, "for", [128, 128, 128], (256, 128, 256), 2, is_nk=True),
    "forall": Tiling(NVFP4, "forall", [128, 256], (200, 300, 96), 2),
    "batch": Tiling(NVFP4, "for", [1, 128, 0, 64], (140, 9, 160), 2, x_batch=(3,)),
    "batch-y": Tiling(MIXED, "forall", [2, 0, 128], (7, 140, 96), 1, y_batch=(3,), is_nk=True),
    "dynamic": Tiling(MIXED, "for", [128, 128, 128], (140, 200, 160), 2, dynamic="mnk"),
    "dynamic-batch": Tiling(
        NVFP4, "for", [1, 128, 128, 64], (140, 150, 80), 2, y_batch=(2,), is_nk=True, dynamic="bmn"
    ),
}


@pytest.mark.parametrize("tiling", TILINGS.values(), ids=TILINGS)
def test_tiled(tiling, tmp_path):
    row, is_nk = tiling.row, tiling.is_nk
    data = exact(row, *tiling.mnk, 1, x_batch=tiling.x_batch, y_batch=tiling.y_batch)
    stored = list(data)
    if is_nk:
        stored[2:4] = [transposed(data[2]), transposed(data[3])]
    program = Program()
    x, x_scale, y, y_scale, acc = program.mma_args(
        row, stored, tiling.dynamic, y_order="nk" if is_nk else "kn"
    )
    if is_nk:
        y, y_scale = program.transpose(y), program.transpose(y_scale)
    program.result(program.mma(x, x_scale, y, y_scale, acc, block_size=row.block))
    before = tile(program.text(), tiling.kind, tiling.sizes)
    expected = mma_scaled(*data, **row.types)

    after = optimize(before, PASS)
    assert count_swizzles(after) == tiling.sliced
    [result] = run(tmp_path, after, stored)
    assert_bit_equal(result, expected)

    if not tiling.dynamic:
        changed = optimize(before, f"{PASS}=change-signature")
        assert count_swizzles(changed) == 0
        stored[1] = swizzled(stored[1])
        stored[3] = swizzled(stored[3] if is_nk else transposed(stored[3]))
        [result] = run(tmp_path, changed, stored)
        assert_bit_equal(result, expected)


# Constants


def dense(program, array, element):
    """A constant with the bytes of `array`."""
    kind = "x".join(map(str, array.shape)) + f"x{element}"
    text = f'arith.constant dense<"0x{array.tobytes().hex().upper()}"> : tensor<{kind}>'
    return program.op(text, array.shape, element)


def extract(program, value, offsets, sizes):
    """A slice with strides of 1; sizes of the batch that are None drop it."""
    kept = [1 if size is None else size for size in sizes]
    result = value._replace(shape=tuple(size for size in sizes if size is not None))
    return program.op(
        f"tensor.extract_slice {value.name}{list(offsets)} {kept} {[1] * len(kept)} "
        f": {value.type} to {result.type}",
        *result[1:],
    )


@pytest.mark.parametrize("row", [MIXED, NVFP4], ids=str)
@pytest.mark.parametrize("batch", [(), (2,)], ids=["rank2", "rank3"])
def test_constants(row, batch, tmp_path):
    """Any bytes, NaN included, whole and in slices. y's scales are of K_s x N."""
    blocks = 9
    data = any_codes(row, 140, 33, blocks * row.block, 1)
    scales = np.random.default_rng(2).integers(0, 256, (*batch, 300, blocks), np.uint8)
    program = Program()
    x, _, y, _, acc = program.mma_args(row, data)
    if batch:
        x_scale = extract(program, dense(program, scales, row.scale), (1, 128, 0), (None, 140, 9))
    else:
        x_scale = extract(program, dense(program, scales, row.scale), (128, 0), (140, 9))
    y_scale = dense(program, data[3], row.scale)
    program.result(program.mma(x, x_scale, y, y_scale, acc))
    text = optimize(program.text(), PASS)
    assert text.count("unswizzle_scales") == 2 and count_swizzles(text) == 0
    [result] = run(tmp_path, text, data)

    data[1] = scales[(1,) * len(batch)][128:268]
    blockscale.compare(result, *data, **row.types)
    [before] = program.run(tmp_path)
    assert_bit_equal(result, before)


# Arguments


CALLS = """
func.func private @product(%x: X, %sx: SX, %y: Y, %sy: SY, %acc: ACC) -> ACC {
  %d = blockscale.mma_scaled %x, %sx, %y, %sy, %acc : X, SX, Y, SY, ACC
  return %d : ACC
}
func.func private @twice(%x: X, %sx: SX, %y: Y, %sy_nk: SYNK, %acc: ACC) -> ACC {
  %init = tensor.empty() : SY
  %sy = linalg.transpose ins(%sy_nk : SYNK) outs(%init : SY) permutation = [1, 0]
  %d = call @product(%x, %sx, %y, %sy, %acc) : (X, SX, Y, SY, ACC) -> ACC
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = scf.for %i = %c0 to %c1 step %c1 iter_args(%sum = %d) -> ACC {
    %next = func.call @product(%x, %sx, %y, %sy, %sum) : (X, SX, Y, SY, ACC) -> ACC
    scf.yield %next : ACC
  }
  return %e : ACC
}
func.func @main(%x: X, %sx: SX, %y: Y, %sy_nk: SYNK, %acc: ACC) -> ACC {
  %d = call @twice(%x, %sx, %y, %sy_nk, %acc) : (X, SX, Y, SYNK, ACC) -> ACC
  return %d : ACC
}
"""


@pytest.mark.parametrize("row", [MIXED, NVFP4], ids=str)
def test_calls(row, tmp_path):
    """Through two calls, no scale is moved, and padding is never read."""
    data = exact(row, 140, 33, 9 * row.block, 1)
    x, x_scale, y, y_scale, acc = data
    arrays = [x, x_scale, y, transposed(y_scale), acc]
    names = ("X", "SX", "Y", "SYNK", "ACC", "SY")
    elements = (row.x, row.scale, row.y, row.scale, "f32", row.scale)
    types = {
        name: "tensor<" + "x".join(map(str, array.shape)) + f"x{element}>"
        for name, array, element in zip(names, [*arrays, y_scale], elements)
    }
    text = re.sub(r"\b[A-Z]+\b", lambda match: types[match[0]], CALLS)
    once = mma_scaled(*data, **row.types)
    expected = mma_scaled(*data[:4], once, **row.types)
    [result] = run(tmp_path, text, arrays)
    assert_bit_equal(result, expected)

    text = optimize(text, f"{PASS}=change-signature")
    assert text.count("blockscale.swizzled =") == 6 and count_swizzles(text) == 0
    arrays[1], arrays[3] = swizzled(arrays[1]), swizzled(arrays[3])
    [result] = run(tmp_path, text, arrays)
    assert_bit_equal(result, expected)


# Swizzles of the user


@pytest.mark.parametrize("element", blockscale.SCALE_FORMATS)
def test_bytes(element, tmp_path):
    """Bytes of slices and pairs, padding included, do not change."""
    rng = np.random.default_rng(1)
    matrix, batch = (rng.integers(0, 256, n, np.uint8) for n in ((300, 9), (3, 20, 400)))
    tiles = rng.integers(0, 256, (3, 3, 32, 16), np.uint8)
    program = Program()
    s, b, t = (program.arg(a, element) for a in (matrix, batch, tiles))
    columns = extract(program, b, (1, 4, 128), (2, 16, 272))
    for rows in (
        extract(program, s, (128, 4), (172, 5)),
        extract(program, s, (128, 4), (128, 4)),
        extract(program, s, (0, 8), (300, 1)),
        extract(program, s, (128, 4), (100, 3)),
        program.transpose(columns),
        program.transpose(extract(program, columns, (1, 12, 0), (None, 4, 256))),
    ):
        program.result(program.swizzle(rows))
    unswizzled = program.unswizzle(t, (300, 9))
    program.result(extract(program, unswizzled, (128, 4), (130, 3)))
    y = program.transpose(program.unswizzle(t, (384, 12)))
    part = extract(program, y, (4, 256), (8, 128))
    program.result(part)
    program.result(program.swizzle(program.transpose(part)))

    text = optimize(program.text(), PASS)
    results = run(tmp_path, text, program.arrays, len(program.results))
    for result, before in zip(results, program.run(tmp_path)):
        np.testing.assert_array_equal(result, before)
    np.testing.assert_array_equal(results[0], blockscale.swizzle_scales(matrix[128:, 4:]))
    np.testing.assert_array_equal(results[-1], tiles[2:, 1:])
