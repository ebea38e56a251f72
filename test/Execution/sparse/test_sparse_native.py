"""Products through mma.sp in the simulator, against exact rationals: every row of the instruction table."""

import re
import subprocess

import blockscale
import harness
import numpy as np
import pytest
import tiers
from harness import assert_bit_equal
from sparse_cases import PAIR_ROWS, product_data, product_program, run, start
from sparse_oracle import batched_product, fields_of, metadata_of

E8M0 = "f8E8M0FNU"
ELEMENTS = ("f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN")
FP4 = ("f4E2M1FN", "f4E2M1FN")
# Types of x, y and scales, block size, granularity.
ROWS = [
    *(((*FP4, scale), block, "pairs") for scale, block in sorted(PAIR_ROWS)),
    *(((x, y, E8M0), 64, "2:4") for x in ELEMENTS for y in ELEMENTS),
]
COMPILE = harness.RUN.parent / "blockscale-compile"
NATIVE = ("--native-only",)


def name(row):
    types, block, granularity = row
    return "-".join([*types, str(block), granularity])


def check(folder, row, data, chip="sm_120a", dynamic=False, flags=()):
    text = product_program([a.shape for a in data], *row, dynamic)
    [result], printed = run(folder, text, data, 1, chip, (*NATIVE, *flags))
    assert_bit_equal(result, batched_product(*data, *row))
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
def test_rows(row, tmp_path):
    """Ragged M, N and K: tails of a tile, of an instruction's K, and of a word of metadata."""
    check(tmp_path, row, product_data(*row, 21, 12, 5 * max(row[1], 64), seed=1))


# M, N and blocks along K: one row, two columns, more than a tile, whole tiles.
SIZES = [(1, 8, 1), (16, 2, 2), (70, 10, 7), (128, 64, 8), (130, 72, 9), (40, 136, 4)]
SIZED = [ROWS[0], ROWS[1], ROWS[2], ROWS[3], ROWS[-1]]


@pytest.mark.parametrize("row", SIZED, ids=name)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dynamic", [False, tiers.full(True)], ids=["static", "dynamic"])
def test_sizes(row, sizes, dynamic, tmp_path):
    m, n, blocks = sizes
    check(tmp_path, row, product_data(*row, m, n, blocks * row[1], seed=2), dynamic=dynamic)


@pytest.mark.parametrize("x_batch, y_batch", [((3,), ()), ((), (3,)), ((3,), (3,)), ((1,), (3,))], ids=str)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_batch(x_batch, y_batch, dynamic, tmp_path):
    row = ROWS[0]
    data = product_data(*row, 18, 10, 4 * row[1], 3, x_batch, y_batch)
    check(tmp_path, row, data, dynamic=dynamic)


SCHEDULES = [
    "tile=32x32x256,warps=1x1,stages=1", "tile=64x128x256,warps=2x2,stages=2",
    "tile=128x64x512,warps=4x1,stages=1", "tile=64x64x256,warps=1x4,stages=3",
]


@pytest.mark.parametrize("row", [ROWS[0], ROWS[1], ROWS[3]], ids=name)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules(row, schedule, tmp_path):
    data = product_data(*row, 130, 70, 9 * max(row[1], 64), seed=4)
    check(tmp_path, row, data, flags=[f"--schedule={schedule}"])


# Which of x, metadata and y are stored transposed; y of N x K is what torch has.
LAYOUTS = [(3,), (0,), (1,), (0, 1, 3)]


@pytest.mark.parametrize("row", tiers.cover([ROWS[0], ROWS[1], ROWS[4], ROWS[-2], ROWS[12]], lambda row: row[2]), ids=name)
@pytest.mark.parametrize("transposed", LAYOUTS, ids=str)
def test_layouts(row, transposed, tmp_path):
    data = product_data(*row, 34, 18, 10 * max(row[1], 64), seed=12)
    stored = [np.ascontiguousarray(a.T) if i in transposed else a for i, a in enumerate(data)]
    text = product_program([a.shape for a in data], *row, transposed=transposed)
    [result], _ = run(tmp_path, text, stored, 1, "sm_120a", NATIVE)
    assert_bit_equal(result, batched_product(*data, *row))


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
    text = product_program([a.shape for a in data], *row)
    kind = "tensor<40x24xf32>"
    text = text.replace(f"  return %d : {kind}", f"""  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {kind}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%d : {kind}) outs(%e : {kind}) {{
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %z : f32
    linalg.yield %m : f32
  }} -> {kind}
  return %r : {kind}""").replace("granularity =", "legal_metadata, granularity =")
    [result], _ = run(tmp_path, text, data, 1, "sm_120a", NATIVE)
    assert_bit_equal(result, np.maximum(batched_product(*data, *row), 0))
    done = subprocess.run(
        [COMPILE, tmp_path / "program.mlir", "--target=sm_120a"], capture_output=True, text=True, check=True
    )
    assert done.stdout.count(".entry") == 1


def test_split_k(tmp_path):
    row = ROWS[3]
    data = product_data(*row, 33, 17, 1600, seed=5)
    check(tmp_path, row, data, flags=["--schedule=tile=32x32x256,warps=1x1,stages=2,split_k=3"])


@pytest.mark.parametrize("seed", range(4))
def test_seeds(seed, tmp_path):
    """Warps in other orders."""
    row = ROWS[2]
    data = product_data(*row, 130, 72, 6 * 64, seed=6)
    check(tmp_path, row, data, flags=[f"--sim-seed={seed}"])


@pytest.mark.parametrize("chip", ["sm_120a", "sm_121a", "sm_120f", "sm_121f"])
def test_chips(chip, tmp_path):
    """Families have sparse instructions for bytes, not for packed fp4."""
    text = compiled(tmp_path, ROWS[3], (32, 16, 256), chip)
    assert re.search(r"mma\.sp::ordered_metadata\S*kind::mxf8f6f4", text)
    row = ROWS[0]
    data = product_data(*row, 16, 8, 4 * row[1], seed=7)
    program = product_program([a.shape for a in data], *row)
    done, _ = start(tmp_path, program, data, 1, chip, NATIVE)
    if chip.endswith("a"):
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 1
    reason = f"no kernel with a sparse instruction for it on {chip}, one computes it on sm_120a, sm_121a"
    assert reason in done.stderr


def test_two_instructions(tmp_path):
    """Blocks of 32 with f8E8M0FNU scales take two instructions, each with half of x."""
    halves = next(row for row in ROWS if row[0][2] == E8M0 and row[1] == 32)
    whole = next(row for row in ROWS if row[0][2] == E8M0 and row[1] == 64 and row[2] == "pairs")
    sizes = (32, 32, 256)
    counts = [compiled(tmp_path, row, sizes).count("mma.sp") for row in (halves, whole)]
    assert counts[0] == 2 * counts[1] > 0


def test_dense_y_is_not_read(tmp_path):
    """What is not kept is not read, even NaN; a kept zero times NaN is NaN."""
    row = (("f8E4M3FN", "f8E4M3FN", E8M0), 64, "2:4")
    data = product_data(*row, 6, 8, 128, seed=8)
    data[3][5, :] = 0x7F
    expected = batched_product(*data, *row)
    assert np.isnan(expected).any() and not np.isnan(expected).all()
    check(tmp_path, row, data)


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
