"""Products through mma.sp of bf16 in the simulator, whose operands are dequantized in registers, against exact rationals."""

import itertools
import re
import subprocess

import blockscale
import harness
import numpy as np
import pytest
import tiers
from harness import assert_bit_equal
from sparse_cases import HARD_EXPONENTS, hard_data, product_data, product_program, rectified_program, run, start
from sparse_oracle import UNITS, batched_product, exact_product, fields_of, metadata_of

E8M0, E4M3 = "f8E8M0FNU", "f8E4M3FN"
ELEMENTS = ("f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN")
FP4 = ("f4E2M1FN", "f4E2M1FN")
CHIPS = ("sm_80", "sm_90a")
# Types of x, y and scales, block size, granularity.
ROWS = [
    *(((*FP4, scale), block, units) for units in UNITS for scale, block in
      ((E8M0, 16), (E8M0, 32), (E8M0, 64), (E4M3, 16), (E4M3, 32))),
    *(((x, y, E8M0), block, units) for x in ELEMENTS for y in ELEMENTS if (x, y) != FP4
      for block in (32, 64) for units in UNITS),
]
FP8 = ("f8E4M3FN", "f8E5M2", E8M0)
COMPILE = harness.RUN.parent / "blockscale-compile"
REMARK = "dequantized to bf16 for mma.sp.m16n8k32.f32.bf16.bf16.f32, which reads the metadata"
CHECKS = "race,proxy,strict"


def name(row):
    types, block, granularity = row
    return "-".join([*types, str(block), granularity])


def exact(data, row):
    return batched_product(*data, *row, product=exact_product)


def check(folder, row, data, chip="sm_80", dynamic=False, flags=(), expected=None):
    text = product_program([a.shape for a in data], *row, dynamic)
    [result], printed = run(folder, text, data, 1, chip, flags, CHECKS)
    assert_bit_equal(result, exact(data, row) if expected is None else expected)
    assert REMARK in printed


def compiled(folder, text, *flags):
    path = folder / "program.mlir"
    path.write_text(text)
    return subprocess.run([COMPILE, path, *flags], capture_output=True, text=True, check=False)


def features(row):
    """Formats on each side, and what one lane has of a block."""
    types, block, granularity = row
    is_fp4 = types[:2] == FP4
    return *enumerate(types[:2]), (is_fp4, types[2], block, granularity)


@pytest.mark.parametrize("row", tiers.cover(ROWS, features), ids=name)
def test_rows(row, tmp_path):
    """Ragged M, N and K: tails of a tile, of an instruction's K, and of a word of metadata."""
    chip = CHIPS[ROWS.index(row) % 2]
    check(tmp_path, row, product_data(*row, 21, 12, 5 * max(row[1], 16), seed=1), chip)


# M, N and blocks along K: one row, one column, two columns, more than a tile, whole tiles.
SIZES = [(1, 8, 1), (24, 1, 3), (16, 2, 2), (70, 10, 7), (128, 64, 8), (130, 72, 9), (40, 136, 4)]
SIZED = [(FP8, 64, "2:4"), (FP8, 32, "2:4"), ((*FP4, E4M3), 16, "pairs"), ((*FP4, E8M0), 32, "2:4"), (FP8, 64, "pairs")]


def sized_data(row, m, n, blocks):
    # Rows of packed fp4 end on a byte.
    n = max(n, 2 if row[0][:2] == FP4 else 1)
    return product_data(*row, m, n, blocks * row[1], seed=2)


@pytest.mark.parametrize("row, sizes", tiers.product(SIZED, SIZES), ids=str)
def test_sizes(row, sizes, tmp_path):
    check(tmp_path, row, sized_data(row, *sizes), CHIPS[SIZES.index(sizes) % 2])


@pytest.mark.parametrize("case", tiers.first(zip(itertools.cycle(SIZED), SIZES), 3), ids=str)
def test_dynamic(case, tmp_path):
    """(On sm_90a, dynamic sizes count as large ones, for which finite y are multiplied by dense products.)"""
    row, sizes = case
    check(tmp_path, row, sized_data(row, *sizes), "sm_80", dynamic=True)


@pytest.mark.parametrize("x_batch, y_batch", [((3,), ()), ((), (3,)), ((3,), (3,)), ((1,), (3,))], ids=str)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_batch(x_batch, y_batch, dynamic, tmp_path):
    row = SIZED[1]
    check(tmp_path, row, product_data(*row, 18, 10, 128, 3, x_batch, y_batch), "sm_90a", dynamic)


SCHEDULES = [
    "tile=32x32x256,warps=1x1,stages=1", "tile=64x128x256,warps=2x2,stages=2",
    "tile=128x64x256,warps=4x1,stages=1", "tile=64x64x256,warps=1x4,stages=3",
]


@pytest.mark.parametrize("row, schedule", tiers.product(SIZED[:4], SCHEDULES), ids=str)
def test_schedules(row, schedule, tmp_path):
    check(tmp_path, row, product_data(*row, 130, 70, 576, seed=4), flags=[f"--schedule={schedule}"])


def test_smallest_tile(tmp_path):
    """K of 128 has one word of scales for blocks of 32."""
    row = SIZED[1]
    check(tmp_path, row, product_data(*row, 40, 24, 160, seed=4), flags=["--schedule=tile=32x32x128,warps=2x2,stages=2"])


# Which of x, metadata and y are stored transposed; y of N x K is what torch has.
LAYOUTS = [(3,), (0,), (1,), (0, 1, 3), ()]
STORED = [
    (FP8, 64, "2:4"), (("f6E3M2FN", "f6E2M3FN", E8M0), 32, "2:4"), ((*FP4, E8M0), 16, "2:4"), ((*FP4, E4M3), 32, "pairs"),
    (("f4E2M1FN", "f8E4M3FN", E8M0), 32, "2:4"), (("f8E4M3FN", "f4E2M1FN", E8M0), 64, "pairs"),
]


@pytest.mark.parametrize("transposed", LAYOUTS, ids=str)
@pytest.mark.parametrize("row", STORED, ids=name)
def test_layouts(row, transposed, tmp_path):
    """Rows of whole copies, contiguous along K or along rows."""
    data = product_data(*row, 64, 32, 256, seed=12)
    stored = [np.ascontiguousarray(a.T) if i in transposed else a for i, a in enumerate(data)]
    text = product_program([a.shape for a in data], *row, transposed=transposed)
    [result], _ = run(tmp_path, text, stored, 1, "sm_80", checks=CHECKS)
    assert_bit_equal(result, exact(data, row))


@pytest.mark.parametrize("row", [((e, "f6E3M2FN", E8M0), 32, "2:4") for e in ("f6E2M3FN", "f8E4M3FN")], ids=name)
def test_packed(row, tmp_path):
    """fp6 that memory holds packed, which lanes spread to bytes."""
    data = product_data(*row, 32, 32, 256, seed=15)
    m, n, k = 32, 32, 256
    kinds = (f"tensor<{m}x{k // 2}x{row[0][0]}>", f"tensor<{n}x{k}x{row[0][1]}>")
    text = product_program([a.shape for a in data], *row, transposed=(3,))
    for i, kind in ((0, kinds[0]), (3, kinds[1])):
        if "f6" in kind:
            size = kind[len("tensor<") : -1].split("x")
            packed = f"tensor<{size[0]}x{int(size[1]) * 3 // 4}xi8>"
            text = text.replace(f"%arg{i}: {kind}", f"%p{i}: {packed}")
            text = text.replace("{\n", f"{{\n  %arg{i} = blockscale.unpack %p{i} : {packed} to {kind}\n", 1)
    stored = [np.ascontiguousarray(a.T) if i == 3 else a for i, a in enumerate(data)]
    for i, format in ((0, row[0][0]), (3, row[0][1])):
        if format.startswith("f6"):
            stored[i] = blockscale.pack(stored[i], format)
    [result], _ = run(tmp_path, text, stored, 1, "sm_80", checks=CHECKS)
    assert_bit_equal(result, exact(data, row))


@pytest.mark.parametrize("row, n", [(SIZED[1], 1), (SIZED[1], 24), (SIZED[2], 2), (SIZED[2], 16)], ids=str)
def test_split_k(row, n, tmp_path):
    data = product_data(*row, 70, n, 800, seed=5)
    check(tmp_path, row, data, "sm_90a", flags=["--schedule=tile=64x32x128,warps=4x1,stages=2,split_k=3"])


@pytest.mark.parametrize("row", [SIZED[0], SIZED[2]], ids=name)
def test_few_columns(row, tmp_path):
    """The schedule that is chosen for few columns, which divides K."""
    data = product_data(*row, 130, 2, 2048, seed=19)
    check(tmp_path, row, data, "sm_90a")
    ptx = compiled(tmp_path, product_program([a.shape for a in data], *row), "--target=sm_90a").stdout
    assert "split_k_reduction" in ptx


@pytest.mark.parametrize("exponents", HARD_EXPONENTS, ids=str)
@pytest.mark.parametrize("row", tiers.first([SIZED[1], SIZED[0], ((*FP4, E8M0), 16, "2:4"), ((*FP4, E8M0), 16, "pairs"),
                                             ((*FP4, E8M0), 32, "pairs"), SIZED[4]], 3), ids=name)
def test_hard_blocks(row, exponents, tmp_path):
    """One scale of each row, or all of one, that bf16 cannot hold with all elements: the sums of blocks are scaled."""
    check(tmp_path, row, hard_data(row, 34, 20, 384, exponents))


@pytest.mark.parametrize("code", [0x00, 0x7F, 0xFF])
def test_special_scales(code, tmp_path):
    """f8E4M3FN scales of 0, NaN and negative NaN."""
    row = ((*FP4, E4M3), 32, "2:4")
    data = product_data(*row, 18, 10, 256, seed=17)
    data[2][3, 1] = data[2][17, 7] = data[4][2, 5] = code
    check(tmp_path, row, data, expected=batched_product(*data, *row))


@pytest.mark.parametrize("row", [(("f8E4M3FN", "f8E4M3FN", E8M0), 32, "2:4"), (("f8E5M2", "f8E5M2", E8M0), 64, "pairs")], ids=name)
@pytest.mark.parametrize("chip", CHIPS)
def test_only_kept_is_read(row, chip, tmp_path):
    """What is not kept is not read, even NaN; a kept zero times NaN is NaN."""
    data = product_data(*row, 20, 8, 256, seed=8)
    data[3][5, :4] = 0x7F
    data[3][70, 6] = 0xFF
    expected = batched_product(*data, *row)
    assert np.isnan(expected).any() and not np.isnan(expected[:, :4]).all() and not np.isnan(expected[:, 4]).any()
    check(tmp_path, row, data, chip, expected=expected)


@pytest.mark.parametrize("y, is_replaced", [("f6E2M3FN", True), ("f8E4M3FN", False)])
def test_empty_chunks(y, is_replaced, tmp_path):
    """CUTLASS's field 0000, which PTX leaves open, where both kept units are zeros."""
    row = (("f8E4M3FN", y, E8M0), 64, "2:4")
    data = product_data(*row, 18, 9, 128, seed=9)
    fields = fields_of(data[1])
    fields[3, 4] = fields[17, 9] = 0
    data[1] = metadata_of(fields)
    data[0][3, 8:10] = 0
    data[0][17, 18:20] = blockscale.FORMATS["f8E4M3FN"].sign_bit
    text = product_program([a.shape for a in data], *row)
    if not is_replaced:
        # It reaches the instruction, where the simulator asks for one of the six with strict.
        done, _ = start(tmp_path, text, data, 1, "sm_80")
        assert done.returncode == 1 and "0000" in done.stderr.replace("0b", "")
    [result], _ = run(tmp_path, text, data, 1, "sm_80", checks="race,strict" if is_replaced else "race")
    assert_bit_equal(result, exact(data, row))


@pytest.mark.parametrize("where", [0, -1])
def test_illegal_fields(where, tmp_path):
    row = SIZED[2]
    data = product_data(*row, 20, 8, 256, seed=10)
    fields = fields_of(data[1])
    fields[where, where] = 0b0101
    data[1] = metadata_of(fields)
    done, _ = start(tmp_path, product_program([a.shape for a in data], *row), data, 1, "sm_90a")
    assert done.returncode == 1
    assert "expected fields of metadata whose two positions ascend" in done.stderr


@pytest.mark.parametrize("row", [SIZED[0], SIZED[3]], ids=name)
def test_random(row, tmp_path):
    """Sums that are rounded, within the bound."""
    data = product_data(*row, 33, 18, 320, seed=18)
    rng = np.random.default_rng(18)
    for i in (2, 4):
        data[i] = rng.integers(100, 150, data[i].shape, np.uint8)
    data[5] = rng.standard_normal(data[5].shape, np.float32)
    run(tmp_path, product_program([a.shape for a in data], *row), data, 1, "sm_80", ["--compare"], CHECKS)


def test_surroundings(tmp_path):
    """Ops behind the result are fused, and so is the accumulator."""
    row = SIZED[1]
    data = product_data(*row, 40, 24, 320, seed=14)
    text = rectified_program([a.shape for a in data], *row)
    [result], _ = run(tmp_path, text, data, 1, "sm_80")
    assert_bit_equal(result, np.maximum(exact(data, row), 0))
    assert compiled(tmp_path, text, "--target=sm_80").stdout.count(".entry") == 1


SPELLINGS = [((), "mma.sp::ordered_metadata.sync", "8.5"), (("--ptx-version=71",), "mma.sp.sync", "7.1"),
             (("--ptx-version=87",), "mma.sp::ordered_metadata.sync", "8.7")]


@pytest.mark.parametrize("flags, opcode, version", SPELLINGS, ids=str)
def test_spelling(flags, opcode, version, tmp_path):
    """Before PTX 8.5, the instruction has no qualifier."""
    row = SIZED[1]
    data = product_data(*row, 16, 8, 128, seed=7)
    text = product_program([a.shape for a in data], *row)
    ptx = compiled(tmp_path, text, "--target=sm_80", *flags).stdout
    assert f".version {version}" in ptx
    assert set(re.findall(r"mma\.sp\S*", ptx)) == {f"{opcode}.aligned.m16n8k32.row.col.f32.bf16.bf16.f32"}
    check(tmp_path, row, data, flags=flags)
    done = compiled(tmp_path, text, "--target=sm_80", "--ptx-version=70")
    assert done.returncode == 1 and "PTX 7.0 is too old" in done.stderr and "expected at least 7.1" in done.stderr


def test_choices(tmp_path):
    """Large products of finite operands are dense ones on sm_90a; a path or a native instruction can be requested."""
    small, large = (64, 64, 256), (8192, 8192, 8192)

    def printed(sizes, chip, y="f6E2M3FN", attribute="", flags=()):
        m, n, k = sizes
        row = (("f8E4M3FN", y, E8M0), 32, "2:4")
        shapes = [(m, k // 2), (m, k // 8), (m, k // 32), (k, n), (k // 32, n), (m, n)]
        text = product_program(shapes, *row)
        return compiled(tmp_path, text.replace("{gran", f"{{{attribute}gran"), f"--target={chip}", "--emit=tile", *flags).stderr

    path = "blockscale.path = #blockscale.path<{}>, ".format
    for sizes, chip in itertools.product((small, large), ("sm_80", "sm_89", "sm_90")):
        assert REMARK in printed(sizes, chip)
    assert REMARK in printed(small, "sm_90a")
    assert "x is decompressed" in printed(large, "sm_90a")
    # One product instead of two, or of three.
    assert "x is decompressed" in printed(large, "sm_90a", y="f8E4M3FN")
    assert REMARK in printed(large, "sm_90a", y="f8E5M2")
    assert REMARK in printed((512, 1, 8192), "sm_90a")
    assert REMARK in printed(large, "sm_90a", attribute=path("dequant_mma"))
    assert "x is decompressed" in printed(small, "sm_90a", attribute=path("wgmma"))
    assert "x is decompressed" in printed(small, "sm_100a")
    assert REMARK in printed(small, "sm_100a", attribute=path("dequant_mma"))
    assert "error" in printed(small, "sm_80", flags=["--native-only"])
