"""Products of linalg by the path wgmma in the simulator, which checks races and proxies."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import gpu_bundle
import matmul_cases
import numpy as np
import pytest
import tiers
from harness import RUN
from matmul_cases import Problem
from simulated import SIMULATOR

CHECKS = ["--check=race,proxy,strict"]
PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"


def run(case, folder, flags=(), checks=()):
    gpu_bundle.write_case(case, folder, ["--target=sm_90a", "--native-only", *flags])
    gpu_bundle.check_case(case, folder, SIMULATOR, [*CHECKS, *checks])
    text = (folder / f"{case.name}.ptx").read_text()
    assert "wgmma.mma_async" in text
    return text


@pytest.mark.parametrize("case", tiers.first(matmul_cases.factors(), 12), ids=lambda case: case.name)
def test_factors(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(matmul_cases.split_k(), 6), ids=lambda case: case.name)
def test_split_k_ranges(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", list(matmul_cases.dynamic_sizes()), ids=lambda case: case.name)
def test_dynamic_sizes(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize(
    "case", [*matmul_cases.constants(), *matmul_cases.chained()], ids=lambda case: case.name
)
def test_surroundings(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(list(matmul_cases.persistent()), 2), ids=lambda case: case.name)
def test_persistent(case, tmp_path):
    run(case, tmp_path)


@pytest.mark.parametrize("case", tiers.first(matmul_cases.clusters(), 8), ids=lambda case: case.name)
def test_clusters(case, tmp_path):
    text = run(case, tmp_path)
    assert ".reqnctapercluster" in text and ".multicast::cluster" in text and "mapa" in text


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cluster", matmul_cases.CLUSTERS)
def test_clusters_in_rounds(cluster, seed, tmp_path):
    """More tiles than blocks, a number of steps that is no multiple of the stages, and a last tile that is cut;
    in each direction some clusters have a tile outside of the result. All sums are exact.
    """
    schedule = (64, 32, 3, 1, 2, 1, cluster)
    problems = [
        Problem("bf16", 700, 152, 312, y_order="transposed", acc="argument", end="relu", schedule=schedule),
        Problem("f16", 456, 136, 264, "transposed", batch=2, dynamic="mnk", end="bf16", schedule=schedule),
    ]
    run(matmul_cases.case("rounds", problems), tmp_path, checks=[f"--seed={seed}"])


@pytest.mark.parametrize("cluster", matmul_cases.CLUSTERS)
@pytest.mark.parametrize("multiprocessors", [1, 7])
def test_clusters_are_whole(cluster, multiprocessors, tmp_path):
    """The blocks of a grid are a multiple of those of a cluster, for any number of SMs."""
    schedule = f"tile=64x32x64,stages=2,accumulators=1,persistent=1,cluster={cluster}"
    case = matmul_cases.case("whole", [Problem("bf16", 300, 152, 64)], (f"--schedule={schedule}",))
    run(case, tmp_path, checks=[f"--multiprocessors={multiprocessors}"])


def entries(text):
    return re.findall(r"\.entry (\w+)\(", text)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("schedule", [
    "tile=64x64x64,stages=1,accumulators=1,persistent=1", "tile=192x64x64,stages=3,accumulators=1,persistent=1",
    tiers.full("tile=256x64x64,stages=2,accumulators=1,persistent=0"),
    tiers.full("tile=128x64x64,stages=2,accumulators=1,persistent=1,split_k=2"),
])
def test_seeds(seed, schedule, tmp_path):
    """What runs when does not matter; a flag gives all products their schedule."""
    problems = [
        Problem("bf16", 300, 200, 300, "plain", "transposed", end="bf16"),
        Problem("f16", 130, 65, 200, "transposed", "plain", 3, "argument"),
    ]
    case = matmul_cases.case("seeds", problems, (f"--schedule={schedule}",))
    run(case, tmp_path, checks=[f"--seed={seed}"])


def test_schedule_of_the_function(tmp_path):
    """It is that of products without one of their own."""
    own = (192, 64, 2, 1, 8, 1)
    case = matmul_cases.case("function", [
        Problem("bf16", 64, 64, 128), Problem("bf16", 64, 64, 128, schedule=own),
    ])
    source = case.program.text()
    of_all = matmul_cases.attribute((64, 32, 2, 0, 8, 2))
    case.program.text = lambda: source.replace(" {\n", f" attributes {{blockscale.schedule = {of_all}}} {{\n", 1)
    text = run(case, tmp_path)
    assert len(entries(text)) == 3 and "m64n32k16" in text and "m64n64k16" in text


NOT_TAKEN = {
    "f16-sums": ("f16", "f16", "f16", "sm_90a"),
    "f32": ("f32", "f32", "f32", "sm_90a"),
    "mixed": ("bf16", "f16", "f32", "sm_90a"),
    "sm_90": ("bf16", "f16", "f32", "sm_90"),
    "sm_120a": ("f16", "f16", "f16", "sm_120a"),
}


@pytest.mark.parametrize("name", NOT_TAKEN)
def test_what_is_not_taken_stays_loops(name, tmp_path):
    x_type, y_type, sum_type, chip = NOT_TAKEN[name]
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((20, 30), (30, 10)))

    def store(array, element):
        return array if element == "f32" else matmul_cases.to_element(array, element)

    program = matmul_cases.Program()
    a, b = program.arg(store(x, x_type), x_type), program.arg(store(y, y_type), y_type)
    zero = program.arg(store(np.zeros((20, 10), np.float32), sum_type), sum_type)
    program.result(program.op(
        f"linalg.matmul ins({a.name}, {b.name} : {a.type}, {b.type}) outs({zero.name} : {zero.type}) -> {zero.type}",
        (20, 10), sum_type,
    ))
    case = matmul_cases.Case(name, program, [matmul_cases.Equal(store(x @ y, sum_type), sum_type)])
    gpu_bundle.write_case(case, tmp_path, [f"--target={chip}", "--native-only"])
    gpu_bundle.check_case(case, tmp_path, SIMULATOR, CHECKS)
    text = (tmp_path / f"{name}.ptx").read_text()
    assert "wgmma" not in text and "__loops" in text


DYNAMIC = """
func.func @main(%x: tensor<?x?xbf16>, %y: tensor<?x?xbf16>, %acc: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%x, %y : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%acc : tensor<?x?xf32>)
       -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
SIZES = {
    "m": ((8, 16), (16, 24), (9, 24), "expected size 0 of operand #2 to fit the loops over it"),
    "n": ((8, 16), (16, 24), (8, 25), "expected size 1 of operand #2 to fit the loops over it"),
    "k": ((8, 16), (17, 24), (8, 24), "expected size 0 of operand #1 to fit the loops over it"),
    "no rows": ((0, 16), (16, 24), (0, 24), None),
    "right": ((8, 16), (16, 24), (8, 24), None),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_that_do_not_fit(name, tmp_path):
    """Checked when the kernel starts, or before."""
    *shapes, message = SIZES[name]
    program = tmp_path / "dynamic.mlir"
    program.write_text(DYNAMIC)
    for i, shape in enumerate(shapes):
        np.save(tmp_path / f"in{i}.npy", np.zeros(shape, np.float32 if i == 2 else np.uint16))
    done = subprocess.run(
        [RUN, program, "--device=sim", "--target=sm_90a", *(tmp_path / f"in{i}.npy" for i in range(3))],
        capture_output=True, text=True, check=False,
    )
    assert (done.returncode == 0) == (message is None), done.stderr
    assert message is None or message in done.stderr


DYNAMIC_ROWS = """
func.func @main(%x: tensor<?x16xbf16>, %y: tensor<16x24xbf16>, %acc: tensor<?x24xf32>) -> tensor<?x24xf32> {
  %r = linalg.matmul ins(%x, %y : tensor<?x16xbf16>, tensor<16x24xbf16>) outs(%acc : tensor<?x24xf32>)
       -> tensor<?x24xf32>
  return %r : tensor<?x24xf32>
}
"""


@pytest.mark.parametrize("rows", [8, 9])
def test_checks_are_a_kernel_of_their_own(rows, tmp_path):
    """If no kernel but a product would have them; the product waits for it."""
    program = tmp_path / "rows.mlir"
    program.write_text(DYNAMIC_ROWS)
    info = tmp_path / "rows.json"
    subprocess.run([gpu_bundle.COMPILE, program, "--target=sm_90a", "-o", tmp_path / "rows.ptx",
                    f"--launch-info={info}"], check=True)
    checks, product = json.loads(info.read_text())["kernels"]
    assert checks["name"] == "main__checks_0" and checks["grid"] == checks["block"] == [1, 1, 1]
    assert product["name"] == "main" and product["programmatic"]
    parts = (tmp_path / "rows.ptx").read_text().split(".entry ")[1:]
    assert {part.split("(")[0]: "call" in part for part in parts} == {"main__checks_0": True, "main": False}
    assert ["griddepcontrol.wait" in part for part in parts if part.startswith("main(")] == [True]
    rng = np.random.default_rng(4)
    arrays = [matmul_cases.to_bf16(rng.integers(-3, 4, shape)) for shape in ((8, 16), (16, 24))]
    arrays.append(rng.integers(-9, 9, (rows, 24)).astype(np.float32))
    for i, array in enumerate(arrays):
        np.save(tmp_path / f"in{i}.npy", array)
    done = subprocess.run(
        [RUN, program, "--device=sim", "--target=sm_90a", *CHECKS, *(tmp_path / f"in{i}.npy" for i in range(3)),
         "-o", tmp_path / "d.npy"], capture_output=True, text=True, check=False,
    )
    if rows != 8:
        assert done.returncode != 0 and "expected size 0 of operand #2 to fit the loops over it" in done.stderr
        return
    x, y = (matmul_cases.from_element(array, "bf16") for array in arrays[:2])
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "d.npy"), x @ y + arrays[2])


# Tiles, three warpgroups and two parts of one among them.
TILES = [(64, 64), (64, 256), (128, 128), (128, 256), (192, 128), (256, 128)]
ORDERS = [("plain", "transposed"), ("transposed", "plain")]
DEFAULT_TILES = [(64, 64), (64, 128), (64, 256), (128, 128), (128, 192), (128, 256)]


def assemble(case, folder, level=3):
    """What ptxas says of the kernels."""
    gpu_bundle.write_case(case, folder, ["--target=sm_90a", "--native-only"])
    program = folder / f"{case.name}.ptx"
    return subprocess.run(
        [PTXAS, "-v", f"-O{level}", "-arch=sm_90a", program, "-o", "/dev/null"],
        check=True, capture_output=True, text=True,
    ).stderr


def check_spills(said):
    """None, and no wgmma waits for another one."""
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
    assert spills and set(spills) == {("0", "0")}, said
    assert not re.search(r"C75\d\d", said), said


@pytest.mark.full
@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
@pytest.mark.parametrize(
    "tile, k, orders", tiers.product(TILES, [(256, 1), (296, 1), (512, 2)], ORDERS), ids=tiers.names
)
def test_ptxas(tile, k, orders, tmp_path):
    """Of whole tiles, no register is spilled, and no wgmma waits for the one in front (C7510, C7517, C7518)."""
    size, split_k = k
    problems = [
        Problem("bf16", 768, 768, size, *orders, acc=acc, end=end, schedule=(*tile, 3, 1, 8, split_k))
        for acc, end in (("zero", ""), ("zero", "bf16"), ("bias", "residual"))
    ]
    check_spills(assemble(matmul_cases.case("tiles", problems), tmp_path))


@pytest.mark.full
@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
@pytest.mark.parametrize(
    "tile, dynamic, n, orders", tiers.product(DEFAULT_TILES, ["", "m", "mn", "mnk"], [1000, 1003], ORDERS),
    ids=tiers.names,
)
def test_ptxas_of_tiles_that_are_cut(tile, dynamic, n, orders, tmp_path):
    """The same for tiles that are taken by default where they may end behind the result. A check that fails is
    a call, which would let all products of its kernel wait (C7510).
    """
    problems = [
        Problem("bf16", 1000, n, 200, *orders, None, acc, end, dynamic, (*tile, 3, 1, 8, 1))
        for acc, end in (("zero", ""), ("argument", ""), ("bias", "residual"), ("argument", "bf16"))
    ]
    check_spills(assemble(matmul_cases.case("cut", problems), tmp_path))


def schedules(case):
    """Those of the products of a case."""
    return re.findall(r"#blockscale\.\w+<tile.*?>", case.program.text())


@pytest.mark.full
@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
@pytest.mark.parametrize(
    "case", tiers.cover(
        [*matmul_cases.factors(), *matmul_cases.split_k(), *matmul_cases.dynamic_sizes()], schedules,
    ), ids=lambda case: case.name,
)
def test_ptxas_takes(case, tmp_path):
    """Of all other sizes and tiles, some of which spill registers. Without optimization, which takes most of the time."""
    assert "Used" in assemble(case, tmp_path, level=0)


BATCH_INSIDE = {
    "sm_90a": """
func.func @main(%s: tensor<{xs}xbf16>, %t: tensor<{ys}xbf16>) -> tensor<{b}x40x48xf32> {{
  %acc = arith.constant dense<0.0> : tensor<{b}x40x48xf32>
  %ex = tensor.empty() : tensor<{b}x40x64xbf16>
  %x = linalg.transpose ins(%s : tensor<{xs}xbf16>) outs(%ex : tensor<{b}x40x64xbf16>) permutation = {xp}
  %ey = tensor.empty() : tensor<{b}x64x48xbf16>
  %y = linalg.transpose ins(%t : tensor<{ys}xbf16>) outs(%ey : tensor<{b}x64x48xbf16>) permutation = {yp}
  %d = linalg.batch_matmul ins(%x, %y : tensor<{b}x40x64xbf16>, tensor<{b}x64x48xbf16>)
       outs(%acc : tensor<{b}x40x48xf32>) -> tensor<{b}x40x48xf32>
  return %d : tensor<{b}x40x48xf32>
}}
""",
    "sm_100a": """
func.func @main(%s: tensor<{xs}xf8E4M3FN>, %ss: tensor<{b}x40x2xf8E8M0FNU>, %t: tensor<{ys}xf8E4M3FN>,
                %ts: tensor<{b}x2x48xf8E8M0FNU>) -> tensor<{b}x40x48xf32> {{
  %acc = arith.constant dense<0.0> : tensor<{b}x40x48xf32>
  %ex = tensor.empty() : tensor<{b}x40x64xf8E4M3FN>
  %x = linalg.transpose ins(%s : tensor<{xs}xf8E4M3FN>) outs(%ex : tensor<{b}x40x64xf8E4M3FN>) permutation = {xp}
  %ey = tensor.empty() : tensor<{b}x64x48xf8E4M3FN>
  %y = linalg.transpose ins(%t : tensor<{ys}xf8E4M3FN>) outs(%ey : tensor<{b}x64x48xf8E4M3FN>) permutation = {yp}
  %d = blockscale.mma_scaled %x, %ss, %y, %ts, %acc
       : tensor<{b}x40x64xf8E4M3FN>, tensor<{b}x40x2xf8E8M0FNU>, tensor<{b}x64x48xf8E4M3FN>,
         tensor<{b}x2x48xf8E8M0FNU>, tensor<{b}x40x48xf32>
  return %d : tensor<{b}x40x48xf32>
}}
""",
}


def source_of(shape, permutation):
    """The shape of what a transpose makes `shape` of."""
    return "x".join(str(shape[permutation.index(i)]) for i in range(3))


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize(
    "permutations", [([1, 0, 2], [0, 1, 2]), ([1, 2, 0], [1, 0, 2]), ([0, 2, 1], [1, 2, 0])], ids=str,
)
@pytest.mark.parametrize("chip", BATCH_INSIDE)
def test_batch_inside(chip, permutations, batch, tmp_path):
    """Matrices of a batch whose rows are further apart than the batch's matrices, as heads of attention are."""
    x, y = permutations
    (tmp_path / "p.mlir").write_text(BATCH_INSIDE[chip].format(
        b=batch, xp=x, yp=y, xs=source_of((batch, 40, 64), x), ys=source_of((batch, 64, 48), y)))
    done = subprocess.run(
        [RUN, "p.mlir", "--device=sim", f"--target={chip}", *CHECKS, "--compare", "--seed=2", "-o", "d.npy"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr


GLOBAL = """
memref.global "private" constant @w : memref<16x64xbf16> = dense<2.0>
func.func @main(%x: tensor<8x16xbf16>, %acc: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %m = memref.get_global @w : memref<16x64xbf16>
  %y = bufferization.to_tensor %m restrict : memref<16x64xbf16> to tensor<16x64xbf16>
  %d = linalg.matmul ins(%x, %y : tensor<8x16xbf16>, tensor<16x64xbf16>) outs(%acc : tensor<8x64xf32>)
       -> tensor<8x64xf32>
  return %d : tensor<8x64xf32>
}
"""


def test_globals_are_copied(tmp_path):
    (tmp_path / "p.mlir").write_text(GLOBAL)
    done = subprocess.run(
        [RUN, "p.mlir", "--device=sim", "--target=sm_90a", "--compare", "--seed=1", "-o", "d.npy"], cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "y is copied first" in done.stderr
