"""Products through mma.sp and tcgen05.mma.sp in the simulator, against exact rationals: every row of the instruction table."""

import re
import subprocess

import blockscale
import harness
import numpy as np
import pytest
import tiers
from harness import assert_bit_equal
from sparse_cases import PAIR_ROWS, product_data, product_program, rectified_program, run, start
from sparse_oracle import batched_product, fields_of, metadata_of

E8M0 = "f8E8M0FNU"
ELEMENTS = ("f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN")
FP4 = ("f4E2M1FN", "f4E2M1FN")
# Types of x, y and scales, block size, granularity.
ROWS = [
    *(((*FP4, scale), block, "pairs") for scale, block in sorted(PAIR_ROWS)),
    *(((x, y, E8M0), 64, "2:4") for x in ELEMENTS for y in ELEMENTS),
]
CHIPS = ("sm_120a", "sm_100a", "sm_103a")
CHECKS = "race,proxy,strict"
COMPILE = harness.RUN.parent / "blockscale-compile"
NATIVE = ("--native-only",)


def name(row):
    types, block, granularity = row
    return "-".join([*types, str(block), granularity])


def expected_of(data, row):
    """The exact result; where fractions would take long, that of the package `blockscale` in numpy."""
    if data[0].shape[-2] * data[3].size < 10**6:
        return batched_product(*data, *row)
    (x_type, y_type, scale_type), block_size, granularity = row
    types = dict(x_type=x_type, y_type=y_type, scale_type=scale_type)
    return blockscale.sparse_mma_scaled(*data, **types, granularity=granularity, block_size=block_size)


def check(folder, row, data, chip="sm_120a", dynamic=False, flags=()):
    text = product_program([a.shape for a in data], *row, dynamic)
    [result], printed = run(folder, text, data, 1, chip, (*NATIVE, *flags), CHECKS)
    assert_bit_equal(result, expected_of(data, row))
    return printed


def compiled(folder, row, sizes, chip="sm_120a", dynamic=False):
    """The PTX of a product."""
    data = product_data(*row, *sizes, seed=0)
    path = folder / "program.mlir"
    path.write_text(product_program([a.shape for a in data], *row, dynamic))
    done = subprocess.run(
        [COMPILE, path, f"--target={chip}", "--native-only"], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize("row", tiers.cover(ROWS, lambda row: (*enumerate(row[0]), row[1:])), ids=name)
@pytest.mark.parametrize("chip", [*CHIPS[:2], tiers.full(CHIPS[2])])
def test_rows(row, chip, tmp_path):
    """Ragged M, N and K: tails of a tile, of an instruction's K, and of a word of metadata."""
    check(tmp_path, row, product_data(*row, 21, 12, 5 * max(row[1], 64), seed=1), chip)


# M, N and blocks along K: one row, two columns, more than a tile, whole tiles.
SIZES = [(1, 8, 1), (16, 2, 2), (70, 10, 7), (128, 64, 8), (130, 72, 9), (40, 136, 4)]
SIZED = [ROWS[0], ROWS[1], ROWS[2], ROWS[3], ROWS[-1]]


@pytest.mark.parametrize("row", SIZED, ids=name)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dynamic", [False, tiers.full(True)], ids=["static", "dynamic"])
@pytest.mark.parametrize("chip", CHIPS[:2])
def test_sizes(row, sizes, dynamic, chip, tmp_path):
    m, n, blocks = sizes
    check(tmp_path, row, product_data(*row, m, n, blocks * row[1], seed=2), chip, dynamic)


@pytest.mark.parametrize("x_batch, y_batch", [((3,), ()), ((), (3,)), ((3,), (3,)), ((1,), (3,))], ids=str)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("chip", CHIPS[:2])
def test_batch(x_batch, y_batch, dynamic, chip, tmp_path):
    row = ROWS[0]
    data = product_data(*row, 18, 10, 4 * row[1], 3, x_batch, y_batch)
    check(tmp_path, row, data, chip, dynamic)


SCHEDULES = [
    "tile=32x32x256,warps=1x1,stages=1", "tile=64x128x256,warps=2x2,stages=2",
    "tile=128x64x512,warps=4x1,stages=1", "tile=64x64x256,warps=1x4,stages=3",
]
# Stages of warp-specialized kernels have 256 or, with packed elements, 512 along K.
ROLES = {
    "sm_120a": ["tile=128x64x{k},stages=2,accumulators=1,persistent=1", "tile=128x128x{k},stages=1,accumulators=1,persistent=1"],
    "sm_100a": [
        f"tile=128x{columns}x{{k}},stages={stages},accumulators={accumulators},persistent=1{more}"
        for columns, stages, accumulators, more in [
            (64, 2, 2, ""), (256, 2, 1, ""), (128, 3, 2, ",cluster=2x1"), (128, 1, 1, ",cluster=1x2"),
            (256, 2, 2, ",cluster=2x1,two_cta=1"), (128, 2, 2, ",cluster=4x1,two_cta=1"),
            (128, 2, 2, ",cluster=2x2,two_cta=1"),
        ]
    ],
}


@pytest.mark.parametrize("row", [ROWS[0], ROWS[1], ROWS[3]], ids=name)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules(row, schedule, tmp_path):
    data = product_data(*row, 130, 70, 9 * max(row[1], 64), seed=4)
    check(tmp_path, row, data, flags=[f"--schedule={schedule}"])


ROLE_ROWS = [ROWS[0], ROWS[1], ROWS[2], ROWS[3], ROWS[15], ROWS[-1]]
# Whole tiles, whose metadata bulk copies bring in rows; and ragged ones, of which a kernel in front makes atoms.
ROLE_SIZES = [(256, 128, 1024), (300, 200, 1088)]


ROLE_CASES = [
    (chip, schedule, row, sizes, dynamic) for chip in ROLES for schedule in ROLES[chip] for row in ROLE_ROWS
    for sizes in ROLE_SIZES for dynamic in (False, True)
]


@pytest.mark.parametrize(
    "case",
    tiers.pairs(ROLE_CASES, lambda case: [case[:2], case[2], case[3:]], lambda case: [case[:2], (case[0], case[2]), (case[0], case[3:])]),
    ids=lambda case: "-".join([*case[:2], name(case[2]), *map(str, case[3:])]),
)
def test_roles(case, tmp_path):
    """Warp-specialized kernels: with metadata in rows and in atoms, in clusters and in pairs of CTAs."""
    chip, schedule, row, sizes, dynamic = case
    data = product_data(*row, *sizes, seed=15)
    flags = [f"--schedule={schedule.format(k=512 if row[2] == 'pairs' else 256)}"]
    check(tmp_path, row, data, chip, dynamic, flags)


@pytest.mark.parametrize("chip", ROLES)
@pytest.mark.parametrize("sizes", [(256, 64, 1024), (200, 64, 1088)], ids=str)
def test_atoms(chip, sizes, tmp_path):
    """Atoms whose padding is no metadata are not read in place."""
    row = (("f8E4M3FN", "f8E4M3FN", E8M0), 64, "2:4")
    data = product_data(*row, *sizes, seed=16)
    rows, width = data[1].shape
    atoms = np.full((-(-width // 16), -(-rows // 128), 128, 16), 0x55, np.int8)
    for byte in range(width):
        for m in range(rows):
            atoms[byte // 16, m // 128, m % 128, byte % 16] = data[1][m, byte]
    text = product_program([a.shape for a in data], *row).replace("granularity =", "legal_metadata, granularity =")
    kind, stored = f"tensor<{rows}x{width}xi8>", f"tensor<{'x'.join(map(str, atoms.shape))}xi8>"
    text = text.replace(f"%arg1: {kind}", f"%tiled: {stored}").replace(
        "{\n", f"{{\n  %arg1 = blockscale.untile_metadata %tiled : {stored} to {kind}\n", 1
    )
    flags = (*NATIVE, f"--schedule={ROLES[chip][0].format(k=256)}")
    [result], _ = run(tmp_path, text, [data[0], atoms, *data[2:]], 1, chip, flags, CHECKS)
    assert_bit_equal(result, expected_of(data, row))
    done = subprocess.run([COMPILE, tmp_path / "program.mlir", f"--target={chip}", *flags], capture_output=True, text=True, check=True)
    # Scales get three kernels, too.
    assert done.stdout.count(".entry") == (4 if sizes[0] % 128 == 0 else 5)


# Which of x, metadata and y are stored transposed; y of N x K is what torch has.
LAYOUTS = [(3,), (0,), (1,), (0, 1, 3)]


@pytest.mark.parametrize("row", tiers.cover([ROWS[0], ROWS[1], ROWS[4], ROWS[-2], ROWS[12]], lambda row: row[2]), ids=name)
@pytest.mark.parametrize("transposed", LAYOUTS, ids=str)
@pytest.mark.parametrize("chip, sizes", [("sm_120a", (34, 18, 640)), ("sm_100a", (34, 18, 640)), ("sm_100a", (128, 128, 512))])
def test_layouts(row, transposed, chip, sizes, tmp_path):
    data = product_data(*row, *sizes, seed=12)
    stored = [np.ascontiguousarray(a.T) if i in transposed else a for i, a in enumerate(data)]
    text = product_program([a.shape for a in data], *row, transposed=transposed)
    [result], _ = run(tmp_path, text, stored, 1, chip, NATIVE, CHECKS)
    assert_bit_equal(result, expected_of(data, row))


def test_dynamic_whole_tiles(tmp_path):
    """Metadata of a dynamic K is copied asynchronously where the tile divides all sizes."""
    row = next(row for row in ROWS if row[0][2] == "f8E4M3FN")
    data = product_data(*row, 128, 128, 512, seed=13)
    text = product_program([a.shape for a in data], *row, dynamic=True)
    [result], _ = run(tmp_path, text, data, 1, "sm_120a", NATIVE)
    assert_bit_equal(result, batched_product(*data, *row))
    # Copies of 8 bytes are those of scales and of metadata.
    counts = [
        len(re.findall(r"cp\.async\.ca\S* .*, 8;", compiled(tmp_path, row, (128, 128, 512), dynamic=dynamic)))
        for dynamic in (True, False)
    ]
    assert counts[0] >= counts[1] > 0


def test_surroundings(tmp_path):
    """Ops in front of the accumulator and behind the result are fused."""
    row = ROWS[3]
    data = product_data(*row, 40, 24, 320, seed=14)
    text = rectified_program([a.shape for a in data], *row)
    [result], _ = run(tmp_path, text, data, 1, "sm_120a", NATIVE)
    assert_bit_equal(result, np.maximum(batched_product(*data, *row), 0))
    done = subprocess.run(
        [COMPILE, tmp_path / "program.mlir", "--target=sm_120a"], capture_output=True, text=True, check=True
    )
    assert done.stdout.count(".entry") == 1


@pytest.mark.parametrize(
    "chip, schedule",
    [("sm_120a", "tile=32x32x256,warps=1x1,stages=2"), ("sm_120a", ROLES["sm_120a"][0]), ("sm_100a", ROLES["sm_100a"][0])],
)
def test_split_k(chip, schedule, tmp_path):
    row = ROWS[3]
    data = product_data(*row, 33, 17, 1600, seed=5)
    check(tmp_path, row, data, chip, flags=[f"--schedule={schedule.format(k=256)},split_k=3"])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("chip", CHIPS[:2])
def test_seeds(seed, chip, tmp_path):
    """Warps in other orders."""
    row = ROWS[2]
    data = product_data(*row, 130, 72, 6 * 64, seed=6)
    check(tmp_path, row, data, chip, flags=[f"--sim-seed={seed}"])


@pytest.mark.parametrize(
    "chip", ["sm_120a", "sm_121a", "sm_120f", "sm_121f", "sm_100a", "sm_103a", "sm_110a", "sm_100f", "sm_103f", "sm_110f"]
)
def test_chips(chip, tmp_path):
    """Families have sparse instructions for bytes, not for packed fp4."""
    text = compiled(tmp_path, ROWS[3], (32, 16, 256), chip)
    opcode = r"mma\.sp::ordered_metadata" if chip.startswith("sm_12") else r"tcgen05\.mma\.sp\."
    assert re.search(rf"{opcode}\S*kind::mxf8f6f4", text)
    row = ROWS[0]
    data = product_data(*row, 16, 8, 4 * row[1], seed=7)
    program = product_program([a.shape for a in data], *row)
    done, _ = start(tmp_path, program, data, 1, chip, NATIVE)
    if chip.endswith("a"):
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 1
    reason = f"no kernel with a sparse instruction for it on {chip}, one computes it on "
    assert reason + "sm_100a, sm_103a, sm_110a, sm_120a, sm_121a" in done.stderr


def test_two_instructions(tmp_path):
    """Blocks of 32 with f8E8M0FNU scales take two instructions, each with half of x."""
    halves = next(row for row in ROWS if row[0][2] == E8M0 and row[1] == 32)
    whole = next(row for row in ROWS if row[0][2] == E8M0 and row[1] == 64 and row[2] == "pairs")
    sizes = (32, 32, 256)
    counts = [compiled(tmp_path, row, sizes).count("mma.sp") for row in (halves, whole)]
    assert counts[0] == 2 * counts[1] > 0


@pytest.mark.parametrize("chip", CHIPS[:2])
def test_dense_y_is_not_read(chip, tmp_path):
    """What is not kept is not read, even NaN; a kept zero times NaN is NaN."""
    row = (("f8E4M3FN", "f8E4M3FN", E8M0), 64, "2:4")
    data = product_data(*row, 6, 8, 128, seed=8)
    data[3][5, :] = 0x7F
    expected = batched_product(*data, *row)
    assert np.isnan(expected).any() and not np.isnan(expected).all()
    check(tmp_path, row, data, chip)


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
        done, _ = start(tmp_path, text, data, 1, "sm_120a", NATIVE)
        assert done.returncode == 1 and "0000" in done.stderr.replace("0b", "")
        data[3][...] = np.where(data[3] & 0x7F == 0x7F, 0, data[3])
        [result], _ = run(tmp_path, text, data, 1, "sm_120a", NATIVE, "race")
    else:
        [result], _ = run(tmp_path, text, data, 1, "sm_120a", NATIVE)
    assert_bit_equal(result, batched_product(*data, *row))


@pytest.mark.parametrize("where", [0, -1])
def test_illegal_fields(where, tmp_path):
    row = ROWS[2]
    data = product_data(*row, 20, 8, 256, seed=10)
    fields = fields_of(data[1])
    fields[where, where] = 0b0101
    data[1] = metadata_of(fields)
    text = product_program([a.shape for a in data], *row)
    done, _ = start(tmp_path, text, data, 1, "sm_120a", NATIVE)
    assert done.returncode == 1
    assert "expected fields of metadata whose two positions ascend" in done.stderr


def test_legal_metadata(tmp_path):
    """Without the kernel that looks for illegal fields."""
    row = ROWS[3]
    data = product_data(*row, 32, 16, 256, seed=11)
    text = product_program([a.shape for a in data], *row)
    promised = text.replace("granularity =", "legal_metadata, granularity =")
    kernels = {}
    for folder, program in (("checked", text), ("promised", promised)):
        path = tmp_path / f"{folder}.mlir"
        path.write_text(program)
        done = subprocess.run(
            [COMPILE, path, "--target=sm_120a"], capture_output=True, text=True, check=True
        )
        kernels[folder] = done.stdout.count(".entry")
    assert kernels["promised"] == kernels["checked"] - 1
    [result], _ = run(tmp_path, promised, data, 1, "sm_120a", NATIVE)
    assert_bit_equal(result, batched_product(*data, *row))


@pytest.mark.parametrize("chip, opcode", [("sm_120a", r"mma\.sp::"), ("sm_100a", r"tcgen05\.mma\.sp"), ("sm_80", r"mma\.sp::")])
@pytest.mark.parametrize("is_weight", [False, True], ids=["x", "y"])
def test_raised(chip, opcode, is_weight, tmp_path):
    """A dense product of a decompressed x, or of weights N x K, becomes sparse with --raise, with the same result."""
    row = ((*FP4, E8M0), 32, "pairs")
    kept, metadata, scales, y, y_scales, acc = product_data(*row, 24, 40, 256, seed=17)
    wide, narrow = "tensor<24x256xf4E2M1FN>", "tensor<256x40xf4E2M1FN>"

    def transposed(name, source, shape, element):
        """`name`, the transpose of `source`, which has `shape`."""
        kinds = [f"tensor<{rows}x{columns}x{element}>" for rows, columns in (shape, shape[::-1])]
        return [f"  {name}_e = tensor.empty() : {kinds[1]}",
                f"  {name} = linalg.transpose ins({source} : {kinds[0]}) outs({name}_e : {kinds[1]}) permutation = [1, 0]"]

    lines = [f"  %dense = blockscale.decompress %kept, %metadata {{granularity = #blockscale.granularity<pairs>}}"
             f" : tensor<24x128xf4E2M1FN>, tensor<24x16xi8> to {wide}"]
    names, kinds = ("%dense", "%xs", "%y", "%ys"), (wide, f"tensor<24x8x{E8M0}>", narrow, f"tensor<8x40x{E8M0}>")
    result = "tensor<24x40xf32>"
    if is_weight:
        lines += [*transposed("%w", "%dense", (24, 256), "f4E2M1FN"), *transposed("%ws", "%xs", (24, 8), E8M0),
                  *transposed("%x", "%y", (256, 40), "f4E2M1FN"), *transposed("%s", "%ys", (8, 40), E8M0)]
        names, result, acc = ("%x", "%s", "%w", "%ws"), "tensor<40x24xf32>", np.ascontiguousarray(acc.T)
        kinds = ("tensor<40x256xf4E2M1FN>", f"tensor<40x8x{E8M0}>", "tensor<256x24xf4E2M1FN>", f"tensor<8x24x{E8M0}>")
    text = "\n".join([
        f"func.func @main(%kept: tensor<24x128xf4E2M1FN>, %metadata: tensor<24x16xi8>, %xs: tensor<24x8x{E8M0}>, %y: {narrow},"
        f" %ys: tensor<8x40x{E8M0}>, %acc: {result}) -> {result} {{", *lines,
        f"  %d = blockscale.mma_scaled {', '.join(names)}, %acc : {', '.join(kinds)}, {result}", f"  return %d : {result}", "}",
    ])
    data = [kept, metadata, scales, y, y_scales, acc]
    expected = batched_product(*data[:5], acc.T if is_weight else acc, *row)
    [got], _ = run(tmp_path, text, data, 1, chip, ["--raise"], CHECKS)
    assert_bit_equal(got, np.ascontiguousarray(expected.T) if is_weight else expected)
    done = subprocess.run(
        [COMPILE, tmp_path / "program.mlir", f"--target={chip}", "--raise"], capture_output=True, text=True, check=True
    )
    assert re.search(opcode, done.stdout)


@pytest.mark.parametrize("row", [ROWS[0], ROWS[1], ROWS[2], ROWS[3], ROWS[15], ROWS[-1]], ids=name)
@pytest.mark.parametrize("other", ["sm_90", "sm_80"])
def test_in_software(row, other, tmp_path):
    """The kernels of sm_120a, on chips without the instruction: ragged tiles, in rows and along K."""
    data = product_data(*row, 40, 18, 5 * max(row[1], 64), seed=24)
    check(tmp_path, row, data, "sm_120a", flags=[f"--emulate-on={other}"])
    done = subprocess.run(
        [COMPILE, tmp_path / "program.mlir", "--target=sm_120a", f"--emulate-on={other}"], capture_output=True, text=True,
        check=True,
    )
    assert f".target {other}" in done.stdout and "mma.sp" not in done.stdout and "emulated_mma_sp" in done.stdout


def test_warp_specialized_in_software(tmp_path):
    """Metadata in atoms, on a chip with bulk copies."""
    row = ROWS[3]
    data = product_data(*row, 256, 64, 512, seed=25)
    schedule = ROLES["sm_120a"][0].format(k=256)
    check(tmp_path, row, data, "sm_120a", flags=["--emulate-on=sm_90", f"--schedule={schedule}"])


def test_tensor_core_in_software(tmp_path):
    """Software has no tcgen05.mma.sp: a dense product takes its place."""
    row = ROWS[3]
    data = product_data(*row, 128, 16, 128, seed=26)
    text = product_program([a.shape for a in data], *row)
    [result], printed = run(tmp_path, text, data, 1, "sm_100a", ["--emulate-on=sm_90a"])
    assert_bit_equal(result, expected_of(data, row))
    assert "no tcgen05.mma.sp.kind::mxf8f6f4" in printed
    assert " in software; x is decompressed for a dense product" in printed
