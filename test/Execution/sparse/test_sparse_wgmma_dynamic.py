"""Sparse products of dynamic sizes on sm_90a: the launch chooses kernels of wgmma, or that of mma.sp."""

import json
import subprocess

import harness
import numpy as np
import pytest
import tiers
from harness import assert_bit_equal
from sparse_cases import HARD_EXPONENTS, attribute, hard_data, product_data
from sparse_oracle import batched_product, exact_product, fields_of, metadata_of

E8M0, E4M3 = "f8E8M0FNU", "f8E4M3FN"
FP4 = ("f4E2M1FN", "f4E2M1FN")
BYTES = (("f8E4M3FN", "f8E5M2", E8M0), 64, "2:4")
PAIRS = ((*FP4, E8M0), 64, "pairs")
NV_PAIRS = ((*FP4, E4M3), 32, "pairs")
REMARK = ("dequantized to bf16 for wgmma.mma_async.sp or, where K has no whole units, mma.sp.m16n8k32.f32.bf16.bf16.f32, "
          "which reads the metadata")
ROWS = {"bytes": BYTES, "pairs": PAIRS, "nv-pairs": NV_PAIRS}
# The arguments have y and its scales contiguous along K, as layers have activations.
PROGRAM = """
func.func @main(%x: {x}, %metadata: tensor<?x?xi8>, %xs: {s}, %y: {y}, %ys: {s}, %acc: {f32}) -> {f32} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %y, %c0 : {y}
  %k = tensor.dim %y, %c1 : {y}
  %blocks = tensor.dim %ys, %c1 : {s}
  %ye = tensor.empty(%k, %n) : {y}
  %yt = linalg.transpose ins(%y : {y}) outs(%ye : {y}) permutation = [1, 0]
  %yse = tensor.empty(%blocks, %n) : {s}
  %yst = linalg.transpose ins(%ys : {s}) outs(%yse : {s}) permutation = [1, 0]
  %d = blockscale.sparse_mma_scaled %x, %metadata, %xs, %yt, %yst, %acc {{{granularity}, block_size = {block} : i64}}
      : {x}, tensor<?x?xi8>, {s}, {y}, {s}, {f32}
  return %d : {f32}
}}
"""


def program_of(row):
    types, block, granularity = row
    kinds = {name: f"tensor<?x?x{element}>" for name, element in zip("xys", types)}
    return PROGRAM.format(**kinds, f32="tensor<?x?xf32>", block=block, granularity=attribute(granularity))


def compile_with(folder, attributes, *flags, row=BYTES):
    """Compiles the product with these attributes; the finished process."""
    (folder / "p.mlir").write_text(program_of(row).replace("{gran", f"{{{attributes}gran"))
    return subprocess.run(
        [harness.RUN.with_name("blockscale-compile"), "p.mlir", "--target=sm_90a", *flags], cwd=folder,
        capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False,
    )


def elements_of(row):
    x, y, scale = row[0]
    return x, "i8", scale, y, scale, "f32"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compiles the product of a row once, whatever the sizes."""
    done = {}

    def compile(row):
        if row not in done:
            folder = done[row] = tmp_path_factory.mktemp("compiled")
            made = compile_with(folder, "", "--launch-info=p.json", "-o", "p.ptx", row=row)
            assert made.returncode == 0 and REMARK in made.stderr, made.stderr
        return done[row]

    return compile


def start(folder, program, row, data):
    """Launches what was compiled; the finished process."""
    m, n = data[5].shape
    stored = [data[i].T if i in (3, 4) else data[i] for i in range(6)]
    arguments = []
    for i, (array, element) in enumerate(zip(stored, elements_of(row))):
        np.save(folder / f"{i}.npy", harness.gpu_buffer(np.ascontiguousarray(array), element))
        arguments.append(f"in:{folder / str(i)}.npy")
    return subprocess.run(
        [harness.RUN.with_name("blockscale-sim"), program / "p.ptx", f"--launch-info={program / 'p.json'}",
         "--check=race,proxy,strict", f"--stats={folder / 'stats.json'}", *arguments,
         f"out:{folder / 'd.npy'}:f4:{m}x{n}"],
        capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False,
    )


def launch(folder, program, row, data):
    """The result, and the kernels that were launched, by name."""
    done = start(folder, program, row, data)
    assert done.returncode == 0 and not done.stderr, done.stderr
    statistics = json.loads((folder / "stats.json").read_text())
    return np.load(folder / "d.npy"), {kernel["name"]: kernel for kernel in statistics["kernels"]}


def check(folder, program, row, data):
    """The sparse instructions of each kernel that has computed the result, which is exact, and the names of all."""
    result, kernels = launch(folder, program, row, data)
    assert_bit_equal(result, batched_product(*data, *row, product=exact_product))
    return [opcode for kernel in kernels.values() for opcode in kernel["matrix"]], list(kernels)


# M, N, K, and the columns of the chosen tile: those that end in a tile; K of no whole slices, of no whole chunks, and of
# as many as have split-K ranges. No columns: only mma.sp takes this K, unless blocks are of 32.
SIZES = [
    (70, 1, 1024, 16), (1, 16, 256, 16), (130, 17, 384, 64), (64, 64, 640, 64), (40, 65, 256, 128), (300, 264, 256, 128),
    (64, 3, 8192, 16), (70, 20, 8320, 64), (70, 10, 192, None),
]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("row", ROWS)
def test_sizes(row, sizes, compiled, tmp_path):
    *sizes, columns = sizes
    if row == "nv-pairs":
        columns = columns or 16
    row = ROWS[row]
    opcodes, kernels = check(tmp_path, compiled(row), row, product_data(*row, *sizes, seed=21))
    assert opcodes == [f"wgmma.sp.m64n{columns}k32.f32.bf16.bf16" if columns else "mma.sp.m16n8k32.bf16.bf16.f32"]
    assert any("split_k_reduction" in name for name in kernels) == (sizes[2] >= 8192)


@pytest.mark.parametrize("case", tiers.first([
    ("bytes", (8400, 380, 128), 192), ("bytes", (8400, 510, 128), 256), ("pairs", (8400, 380, 256), 192),
], 1), ids=str)
def test_many_tiles(case, compiled, tmp_path):
    """More tiles than SMs: estimated times choose among the wide ones."""
    row, sizes, columns = case
    row = ROWS[row]
    opcodes, _ = check(tmp_path, compiled(row), row, product_data(*row, *sizes, seed=22))
    assert opcodes == [f"wgmma.sp.m64n{columns}k32.f32.bf16.bf16"]


@pytest.mark.parametrize("k", [384, 192])
@pytest.mark.parametrize("exponents", HARD_EXPONENTS, ids=str)
def test_hard_blocks(exponents, k, compiled, tmp_path):
    """Scales that bf16 cannot hold with all elements: mma.sp computes the result, at first or anew."""
    opcodes, _ = check(tmp_path, compiled(BYTES), BYTES, hard_data(BYTES, 70, 12, k, exponents))
    assert opcodes[-1].startswith("mma.sp") and len(opcodes) == (2 if k == 384 else 1)


def test_no_elements(compiled, tmp_path):
    """No rows: nothing is computed. The op has at least one column."""
    data = product_data(*BYTES, 70, 12, 256, seed=23)
    result, kernels = launch(tmp_path, compiled(BYTES), BYTES, [*(a[:0] for a in data[:3]), *data[3:5], data[5][:0]])
    assert result.shape == (0, 12) and not any(kernel["matrix"] for kernel in kernels.values())
    done = start(tmp_path, compiled(BYTES), BYTES, [*data[:3], *(a[:, :0] for a in data[3:])])
    assert done.returncode == 1 and "expected N to be at least 1" in done.stderr


def test_illegal_fields(compiled, tmp_path):
    data = product_data(*BYTES, 66, 8, 256, seed=10)
    fields = fields_of(data[1])
    fields[-1, -1] = 0b0101
    data[1] = metadata_of(fields)
    done = start(tmp_path, compiled(BYTES), BYTES, data)
    assert done.returncode != 0 and "expected fields of metadata whose two positions ascend" in done.stderr


SCHEDULE = ("#blockscale.warp_specialized_schedule<tile = [64, 16, {}], stages = 2, accumulators = 1, persistent = false, "
            "kernel = sparse_input>").format
ALTERNATIVE = ("blockscale.alternatives = [#blockscale.alternative<most_rows = 16, most_ranges = 1, cost = 0, "
               "instruction = <wgmma, 64x8x{}>, schedule = {}>], ").format
RIGHT = "32, unscaled, bf16, bf16, none, 0, 2:4"


def test_requests(tmp_path):
    """Nothing is chosen beside what a program requests, and its own list is checked."""
    assert "most_rows = 16" in compile_with(tmp_path, "", "--emit=tile").stdout
    for attributes in ("blockscale.path = #blockscale.path<dequant_mma>, ", f"blockscale.schedule = {SCHEDULE(512)}, "):
        made = compile_with(tmp_path, attributes, "--emit=tile")
        assert made.returncode == 0 and "blockscale.alternatives" not in made.stdout
    assert compile_with(tmp_path, ALTERNATIVE(RIGHT, SCHEDULE(512)), "--emit=tile").returncode == 0
    for instruction in ("32, unscaled, f16, f16, none, 0, 2:4", "16, unscaled, bf16, bf16, none, 0",
                        "32, unscaled, bf16, bf16, none, 0, pairs"):
        made = compile_with(tmp_path, ALTERNATIVE(instruction, SCHEDULE(512)))
        assert made.returncode == 1 and "alternative #0: expected the instruction that its path has for the op" in made.stderr


def test_units_of_all_kernels(tmp_path):
    """The product's own kernel needs whole units, too: other K are refused at the launch."""
    path, schedule = "blockscale.path = #blockscale.path<wgmma>, ", SCHEDULE(512)
    attributes = path + f"blockscale.schedule = {schedule}, " + ALTERNATIVE(RIGHT, schedule)
    made = compile_with(tmp_path, attributes, "--launch-info=p.json", "-o", "p.ptx")
    assert made.returncode == 0, made.stderr
    check(tmp_path, tmp_path, BYTES, product_data(*BYTES, 66, 8, 512, seed=24))
    done = start(tmp_path, tmp_path, BYTES, product_data(*BYTES, 66, 8, 192, seed=24))
    assert done.returncode == 1 and "check failed at run time" in done.stderr
