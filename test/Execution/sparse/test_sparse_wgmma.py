"""Products through wgmma.mma_async.sp of bf16 in the simulator, whose x is dequantized in registers, against exact rationals."""

import subprocess

import blockscale
import harness
import numpy as np
import pytest
import tiers
from harness import assert_bit_equal
from sparse_cases import HARD_EXPONENTS, hard_data, product_data, product_program, rectified_program, run, start
from sparse_oracle import batched_product, exact_product, fields_of, metadata_of

E8M0, E4M3 = "f8E8M0FNU", "f8E4M3FN"
ELEMENTS = ("f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN")
FP4 = ("f4E2M1FN", "f4E2M1FN")
COMPILE = harness.RUN.parent / "blockscale-compile"
CHIP = "sm_90a"
REMARK = "dequantized to bf16 for wgmma.mma_async.sp, which reads the metadata"
MOVED = "computed on the path wgmma"
CHECKS = "race,proxy,strict"
# Types of x, y and scales, block size, granularity.
BYTES = (("f8E4M3FN", "f8E5M2", E8M0), 32, "2:4")
WIDE = (("f8E4M3FN", "f8E4M3FN", E8M0), 64, "2:4")
NIBBLES = ((*FP4, E8M0), 32, "2:4")
PAIRS = ((*FP4, E8M0), 32, "pairs")
NV_PAIRS = ((*FP4, E4M3), 32, "pairs")
ROWS = [
    *(((x, y, E8M0), block, "2:4") for x in ELEMENTS for y in ELEMENTS for block in (32, 64)),
    *(((*FP4, scale), block, units) for units in ("2:4", "pairs") for scale, block in ((E8M0, 64), (E8M0, 32), (E4M3, 32))),
    (("f4E2M1FN", "f8E4M3FN", E8M0), 32, "pairs"), (("f4E2M1FN", "f6E3M2FN", E8M0), 64, "pairs"),
]
SOME = [BYTES, WIDE, NIBBLES, PAIRS, NV_PAIRS]


def name(row):
    types, block, granularity = row
    return "-".join([*types, str(block), granularity])


def schedule(row, m=64, n=16, chunks=1, stages=2, split_k=1):
    """`chunks` chunks of 64 bytes of kept elements in each K slice of a block."""
    slices = 256 // m if n <= 64 else 128 // m
    chunk = 256 if row[0][0] == "f4E2M1FN" else 128
    return (f"tile={m}x{n}x{slices * chunks * chunk},stages={stages},accumulators=1,persistent=0,swap_ab=0,"
            f"split_k={split_k},kernel=sparse_input")


def exact(data, row):
    return batched_product(*data, *row, product=exact_product)


def check(folder, row, data, given=None, expected=None, transposed=(3,), flags=()):
    text = product_program([a.shape for a in data], *row, transposed=transposed)
    stored = [np.ascontiguousarray(a.T) if i in transposed else a for i, a in enumerate(data)]
    flags = [f"--schedule={given or schedule(row)}", *flags]
    [result], printed = run(folder, text, stored, 1, CHIP, flags, CHECKS)
    assert_bit_equal(result, exact(data, row) if expected is None else expected)
    assert REMARK in printed or MOVED in printed
    return printed


def compiled(folder, text, *flags, chip=CHIP):
    path = folder / "program.mlir"
    path.write_text(text)
    return subprocess.run([COMPILE, path, f"--target={chip}", *flags], capture_output=True, text=True, check=False)


def features(row):
    types, block, granularity = row
    return *enumerate(types[:2]), (types[0] == "f4E2M1FN", types[2], block, granularity)


@pytest.mark.parametrize("row", tiers.cover(ROWS, features), ids=name)
def test_rows(row, tmp_path):
    """Ragged M, N and K: a part of a slice at the end of K, and no step for some slices."""
    check(tmp_path, row, product_data(*row, 70, 12, 576, seed=1))


# M, N, K; M and N of the tile, its chunks, stages.
SIZES = [
    (64, 16, 512, 64, 16, 1, 2), (1, 2, 1024, 64, 8, 1, 2), (130, 40, 1088, 64, 24, 1, 3), (128, 64, 2048, 64, 64, 1, 1),
    (128, 72, 1024, 64, 72, 1, 2), (200, 130, 768, 128, 128, 1, 2), (256, 64, 512, 256, 64, 1, 2),
    (64, 16, 2048, 64, 16, 2, 1), (70, 100, 576, 64, 96, 2, 1),
]


@pytest.mark.parametrize("row, sizes", tiers.product(SOME, SIZES), ids=str)
def test_sizes(row, sizes, tmp_path):
    m, n, k, *tile = sizes
    check(tmp_path, row, product_data(*row, m, n, k, seed=2), schedule(row, *tile))


@pytest.mark.parametrize("row", SOME, ids=name)
def test_split_k(row, tmp_path):
    check(tmp_path, row, product_data(*row, 70, 10, 3 * 1024, seed=5), schedule(row, split_k=3))


@pytest.mark.parametrize("x_batch, y_batch", [((3,), ()), ((), (3,)), ((3,), (3,)), ((1,), (3,))], ids=str)
def test_batch(x_batch, y_batch, tmp_path):
    check(tmp_path, BYTES, product_data(*BYTES, 70, 10, 256, 3, x_batch, y_batch), transposed=())


@pytest.mark.parametrize("transposed", [(3,), (), (1, 3), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("row", [BYTES, PAIRS], ids=name)
def test_layouts(row, transposed, tmp_path):
    """Metadata, scales and y stored along rows."""
    check(tmp_path, row, product_data(*row, 64, 32, 512, seed=12), transposed=transposed)


def test_transposed_x(tmp_path):
    data = product_data(*BYTES, 64, 32, 512, seed=12)
    text = product_program([a.shape for a in data], *BYTES, transposed=(0,))
    attribute = "#blockscale.warp_specialized_schedule<tile = [64, 16, 512], stages = 2, accumulators = 1, persistent = false, kernel = sparse_input>"
    done = compiled(tmp_path, text.replace("{gran", f"{{blockscale.schedule = {attribute}, gran"))
    assert done.returncode == 1 and "expected an x that is an argument, and contiguous along K" in done.stderr


@pytest.mark.parametrize("row", SOME, ids=name)
def test_every_field(row, tmp_path):
    """Each field alone, and chunks of two, one and no kept unit that is not zero."""
    data = product_data(*row, 64, 16, 512, seed=6)
    fields = fields_of(data[1])
    legal = [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]
    fields[...] = np.array(legal)[np.add.outer(np.arange(64), np.arange(fields.shape[1])) % 6]
    data[1] = metadata_of(fields)
    unit = 2 if row[2] == "pairs" else 1
    kept = data[0].reshape(64, -1, 2, unit)
    kept[8:16, :, 0] = 0
    kept[16:24, :, 1] = 0
    kept[24:32] = 0
    check(tmp_path, row, data)


@pytest.mark.parametrize("exponents", HARD_EXPONENTS, ids=str)
@pytest.mark.parametrize("row", [BYTES, PAIRS], ids=name)
def test_hard_blocks(row, exponents, tmp_path):
    """Scales that bf16 cannot hold with all elements: the exact recomputation."""
    check(tmp_path, row, hard_data(row, 70, 12, 384, exponents))


@pytest.mark.parametrize("code", [0x00, 0x7F, 0xFF])
def test_special_scales(code, tmp_path):
    """f8E4M3FN scales of 0, NaN and negative NaN."""
    data = product_data(*NV_PAIRS, 70, 10, 256, seed=17)
    data[2][3, 1] = data[2][17, 7] = data[4][2, 5] = code
    check(tmp_path, NV_PAIRS, data, expected=batched_product(*data, *NV_PAIRS))


@pytest.mark.parametrize("row", [WIDE, (("f8E5M2", "f8E5M2", E8M0), 32, "2:4")], ids=name)
def test_only_kept_is_read(row, tmp_path):
    """What is not kept is not read, even NaN and infinity; a kept zero times NaN is NaN."""
    data = product_data(*row, 66, 8, 256, seed=8)
    data[3][5, :4] = 0x7F
    data[3][70, 6] = 0xFF
    if row[0][1] == "f8E5M2":
        data[3][9, 5] = 0x7C
    data[0][7, 12] = 0x7F
    expected = batched_product(*data, *row)
    assert np.isnan(expected).any() and not np.isnan(expected[:7, :4]).all() and not np.isnan(expected[:7, 4]).any()
    check(tmp_path, row, data, expected=expected)


def test_empty_chunks(tmp_path):
    """CUTLASS's field 0000, where both kept units are zeros and y has no NaN."""
    row = (("f8E4M3FN", "f6E2M3FN", E8M0), 64, "2:4")
    data = product_data(*row, 66, 9, 128, seed=9)
    fields = fields_of(data[1])
    fields[3, 4] = 0
    data[1] = metadata_of(fields)
    data[0][3, 8:10] = 0
    check(tmp_path, row, data)


def test_illegal_fields(tmp_path):
    data = product_data(*BYTES, 66, 8, 256, seed=10)
    fields = fields_of(data[1])
    fields[-1, -1] = 0b0101
    data[1] = metadata_of(fields)
    done, _ = start(tmp_path, product_program([a.shape for a in data], *BYTES), data, 1, CHIP, [f"--schedule={schedule(BYTES)}"])
    assert done.returncode == 1
    assert "expected fields of metadata whose two positions ascend" in done.stderr


@pytest.mark.parametrize("row", SOME, ids=name)
def test_random(row, tmp_path):
    """Sums that are rounded, within the bound."""
    data = product_data(*row, 66, 18, 512, seed=18)
    if row[0][2] == E8M0:
        rng = np.random.default_rng(18)
        for i in (2, 4):
            data[i] = rng.integers(100, 150, data[i].shape, np.uint8)
    flags = ["--compare", f"--schedule={schedule(row)}"]
    run(tmp_path, product_program([a.shape for a in data], *row), data, 1, CHIP, flags, CHECKS)


def test_surroundings(tmp_path):
    """Ops behind the result are fused, and so is the accumulator."""
    data = product_data(*BYTES, 70, 24, 320, seed=14)
    text = rectified_program([a.shape for a in data], *BYTES)
    [result], _ = run(tmp_path, text, data, 1, CHIP, [f"--schedule={schedule(BYTES)}"], CHECKS)
    assert_bit_equal(result, np.maximum(exact(data, BYTES), 0))


def test_choices(tmp_path):
    """Products of static sizes with many rows; a path, or a schedule of another kernel, can be requested."""

    def printed(sizes, row=BYTES, transposed=(3,), attribute="", flags=()):
        m, n, k = sizes
        metadata = k // (16 if row[2] == "pairs" else 8)
        shapes = [(m, k // 2), (m, metadata), (m, k // row[1]), (k, n), (k // row[1], n), (m, n)]
        text = product_program(shapes, *row, transposed=transposed)
        return compiled(tmp_path, text.replace("{gran", f"{{{attribute}gran"), "--emit=tile", *flags).stderr

    path = "blockscale.path = #blockscale.path<{}>, ".format
    for sizes in ((8192, 8192, 8192), (8192, 1, 8192), (8192, 16, 8192), (1024, 256, 1024)):
        for row in (BYTES, NIBBLES, PAIRS) if sizes[1] != 1 else (BYTES,):
            assert REMARK in printed(sizes, row)
    large = (8192, 8192, 8192)
    assert REMARK not in printed((512, 256, 1024))
    assert REMARK not in printed(large, transposed=())
    assert REMARK not in printed(large, attribute=path("dequant_mma"))
    assert "x is decompressed" in printed(large, attribute=path("wgmma"))
    assert REMARK not in printed(large, flags=["--no-workspace"])
    assert REMARK not in printed(large, ((*FP4, E8M0), 16, "pairs"))


@pytest.mark.parametrize("version, opcode", [("82", "mma.sp.sync"), ("87", "mma.sp::ordered_metadata.sync")])
def test_ptx_version(version, opcode, tmp_path):
    """PTX 8.2 has the instruction; the exact recomputation uses mma.sp as that version has it."""
    data = product_data(*BYTES, 64, 8, 512, seed=7)
    text = product_program([a.shape for a in data], *BYTES, transposed=(3,))
    flags = [f"--schedule={schedule(BYTES)}"]
    ptx = compiled(tmp_path, text, *flags, f"--ptx-version={version}").stdout
    assert "wgmma.mma_async.sp.sync.aligned.m64n16k32.f32.bf16.bf16" in ptx and opcode in ptx
    done = compiled(tmp_path, text, *flags, "--ptx-version=81")
    assert done.returncode == 1 and "PTX 8.1 is too old" in done.stderr and "expected at least 8.2" in done.stderr


def sized_program(m, n, k, row=BYTES, attributes=""):
    shapes = [(m, k // 2), (m, k // (16 if row[2] == "pairs" else 8)), (m, k // row[1]), (k, n), (k // row[1], n), (m, n)]
    return product_program(shapes, *row, transposed=(3,)).replace("{gran", f"{{{attributes}gran")


def entries(ptx):
    return [line.split()[2] for line in ptx.splitlines() if line.startswith(".visible .entry")]


@pytest.mark.parametrize("row", [BYTES, PAIRS], ids=name)
def test_printed_tiles_are_the_same_program(row, tmp_path):
    """The tile level names path and schedule: the same kernels come of it."""
    text = sized_program(1024, 64, 1024, row, "legal_metadata, ")
    made = entries(compiled(tmp_path, text).stdout)
    tiles = compiled(tmp_path, text, "--emit=tile").stdout
    assert "kernel = sparse_input" in tiles
    assert entries(compiled(tmp_path, tiles).stdout) == made


WARPS = ("blockscale.schedule = #blockscale.warp_specialized_schedule<tile = [64, 16, {}], stages = 2, accumulators = 1, "
         "persistent = false, kernel = sparse_input>, ")


def test_schedule_attributes(tmp_path):
    """One asks for the kernel, with its path or without; on other paths and chips it is refused, not dropped."""
    path, size = "blockscale.path = #blockscale.path<{}>, ".format, (64, 16, 512)
    for attributes in (WARPS.format(512), path("wgmma") + WARPS.format(512)):
        result = compiled(tmp_path, sized_program(*size, attributes=attributes), "--emit=tile")
        assert REMARK in result.stderr and "kernel = sparse_input" in result.stdout
    for attributes, chip, message in (
        (path("dequant_mma") + WARPS.format(512), CHIP, "to be a schedule of the path dequant_mma"),
        (WARPS.format(512), "sm_90", "to be a schedule of the path dequant_mma"),
        (WARPS.format(256), CHIP, "expected K of the tile to be 4 K slices of a multiple of 128"),
    ):
        result = compiled(tmp_path, sized_program(*size, attributes=attributes), chip=chip)
        assert result.returncode == 1 and message in result.stderr


@pytest.mark.parametrize("change, message", [
    (("x512", "x256"), "expected K of the tile to be 4 K slices of a multiple of 128"),
    (("stages=2", "stages=9"), "expected at most 8 stages"),
    (("swap_ab=0,split_k=1,kernel=sparse_input", "swap_ab=1,kernel=mixed_input"), "expected a dense x"),
], ids=["K", "stages", "kernel"])
def test_refused_schedules(change, message, tmp_path):
    """The option says why the kernel does not take the product."""
    given = schedule(BYTES).replace(*change)
    result = compiled(tmp_path, sized_program(64, 16, 512), f"--schedule={given}")
    assert result.returncode == 1 and message in result.stderr
