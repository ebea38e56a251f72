"""Running what was compiled: results, and errors before anything runs."""

import json
import os
import re
from pathlib import Path

import blockscale
import harness
import numpy as np
import pytest
from blockscale import execution, programs
from programs_for_tests import PRODUCT, ROW, TWO_FUNCTIONS, TWO_RESULTS, product_arrays

# With the chip of each path.
CHIPS = ("sm_120a", "sm_100a", "sm_90a")


def expected(arrays, row=ROW):
    return blockscale.mma_scaled(*arrays, **row.types)


@pytest.fixture(scope="module")
def kernel():
    return blockscale.compile(PRODUCT, target="sm_120a")


@pytest.fixture
def no_program(kernel, monkeypatch):
    """Of which no error may come."""

    def refuse(*_):
        raise AssertionError("a program was started")

    monkeypatch.setattr(programs, "run", refuse)


# Results


@pytest.mark.parametrize("device", ["cpu", "sim"])
def test_codes_as_they_are_in_files(kernel, device):
    arrays = product_arrays()
    result = kernel.run(*arrays, device=device)
    harness.assert_bit_equal(result, expected(arrays))


@pytest.mark.parametrize("target", [*CHIPS, "cpu"])
@pytest.mark.parametrize("row", harness.COMBINATIONS, ids=str)
def test_every_row(row, target):
    program, arrays = harness.Program(), harness.exact(row, 40, 24, 64, seed=2)
    program.result(program.mma(*program.mma_args(row, arrays), block_size=row.block))
    kernel = blockscale.compile(program.text(), target=target)
    device = "cpu" if target == "cpu" else "sim"
    harness.assert_bit_equal(kernel.run(*arrays, device=device), expected(arrays, row))


@pytest.mark.parametrize("target, device", [("cpu", "cpu"), ("sm_80", "cpu"), ("sm_80", "sim")])
def test_several_results_scalars_and_dynamic_sizes(target, device):
    kernel = blockscale.compile(TWO_RESULTS, target=target)
    x = np.arange(12, dtype=np.float32).reshape(4, 3).T  # not in C order
    x = np.concatenate([x, x[:1] + 1])
    scaled, twice = kernel.run(x, np.float32(2.5), device=device)
    np.testing.assert_array_equal(scaled, x * np.float32(2.5))
    assert (twice.shape, twice.dtype, twice[()]) == ((), np.float32, 5.0)


@pytest.fixture
def fake_driver(monkeypatch, tmp_path):
    """That of test/FakeCuda: a kernel adds n + 1 to all bytes of the buffer of its parameter n."""
    folder = Path(os.environ["BLOCKSCALE_BIN"]).parent / "test" / "FakeCuda"
    assert (folder / "libcuda.so.1").is_file(), f"{folder}: build all of blockscale first"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    monkeypatch.setenv("FAKE_CUDA_TRACE", str(tmp_path / "trace"))
    return tmp_path / "trace"


ADD = """\
func.func @add(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %d = arith.addi %x, %y : tensor<4xi32>
  return %d : tensor<4xi32>
}
"""


def test_on_a_card(fake_driver):
    x = np.arange(4, dtype=np.int32)
    result = blockscale.compile(ADD, target="sm_90a").run(x, x, device="cuda")
    assert result.tolist() == [0x03030303] * 4  # the parameter behind both arguments
    assert "launch add " in fake_driver.read_text()


def test_no_card(fake_driver, monkeypatch):
    monkeypatch.setenv("FAKE_CUDA_FAIL", "cuInit=100")
    with pytest.raises(blockscale.RunError) as caught:
        blockscale.compile(ADD, target="sm_90a").run(seed=1, device="cuda")
    assert (caught.value.code, caught.value.line) == (1, None)
    assert caught.value.message.startswith("cannot find a CUDA device")


def test_a_kernel_of_a_chip_runs_in_the_simulator(kernel, monkeypatch):
    """If nobody says where, the code that was compiled runs, and not the reference."""
    seen, run = [], programs.run
    monkeypatch.setattr(programs, "run", lambda *a: seen.append(a[1]) or run(*a))
    harness.assert_bit_equal(kernel.run(*product_arrays()), expected(product_arrays()))
    assert "--device=sim" in seen[-1] and "--target=sm_120a" in seen[-1]
    assert kernel.device == "sim"
    cpu = blockscale.compile(PRODUCT, target="cpu")
    harness.assert_bit_equal(cpu.run(*product_arrays()), expected(product_arrays()))
    assert "--device=cpu" in seen[-1]
    assert cpu.device == "cpu"


def test_seed(kernel):
    first = kernel.run(seed=1)
    assert first.shape == (64, 32)
    np.testing.assert_array_equal(first, kernel.run(seed=1))
    assert (first != kernel.run(seed=2)).any()


PRODUCT_AND_SUM = """
func.func @two(%x: tensor<16x32xf8E4M3FN>, %sx: tensor<16x1xf8E8M0FNU>, %y: tensor<32x16xf8E4M3FN>,
               %sy: tensor<1x16xf8E8M0FNU>, %acc: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %product = blockscale.mma_scaled %x, %sx, %y, %sy, %acc
             : tensor<16x32xf8E4M3FN>, tensor<16x1xf8E8M0FNU>, tensor<32x16xf8E4M3FN>, tensor<1x16xf8E8M0FNU>,
               tensor<16x16xf32>
  %sum = arith.addf %acc, %acc : tensor<16x16xf32>
  return %product, %sum : tensor<16x16xf32>, tensor<16x16xf32>
}
"""


def test_comparison_is_a_line_for_each_result(monkeypatch):
    """Without remarks, which the programs print in front of it."""
    kernel = blockscale.compile(PRODUCT_AND_SUM, target="sm_80")
    execute, seen = execution.execute, []

    def watch(*arguments):
        outcome = execute(*arguments)
        seen.append(outcome.messages)
        return outcome

    monkeypatch.setattr(execution, "execute", watch)
    kernel.run(seed=3, compare=True)
    assert "remark: " in seen[0]
    first, second = kernel.comparison.split("\n")
    assert first.startswith("result #0: largest error ") and second.startswith("result #1: largest error ")


def test_compare(kernel):
    with pytest.raises(ValueError, match="comparison: expected a run with compare=True before, got none"):
        blockscale.compile(PRODUCT, target="sm_120a").comparison
    assert kernel.run(seed=3, compare=True).shape == (64, 32)
    assert kernel.comparison.startswith("result #0: largest error ")
    assert "relative error" in kernel.comparison
    assert "\n" not in kernel.comparison
    with pytest.raises(ValueError, match="compare: expected device 'sim' or 'cuda', got 'cpu'"):
        kernel.run(seed=3, compare=True, device="cpu")


def test_the_options_are_those_of_the_kernel(kernel, monkeypatch):
    seen, run = [], programs.run
    monkeypatch.setattr(programs, "run", lambda *a: seen.append(a[1]) or run(*a))
    options = dict(
        schedule="tile=64x64x128,warps=2x2,stages=2", ptx_version="8.8", native_only=True, no_workspace=True,
        raise_=True,
    )
    other = blockscale.compile(PRODUCT, target="sm_121a", **options)
    other.run(seed=1)
    assert seen[-1][1:10] == [
        "--target=sm_121a", "--schedule=tile=64x64x128,warps=2x2,stages=2", "--native-only",
        "--ptx-version=8.8", "--no-workspace", "--raise", "--device=sim", "--entry=main", "--seed=1",
    ]  # fmt: skip
    other.run(seed=1, device="cpu")
    assert seen[-1][1:5] == ["--raise", "--device=cpu", "--entry=main", "--seed=1"]


def test_emulated_instructions_run(monkeypatch):
    """On the chip that emulates, whose code it is."""
    text = PRODUCT.replace("f4E2M1FN", "f8E5M2")
    row = harness.Combination("f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32)
    arrays = harness.exact(row, 64, 32, 128, seed=1)
    emulated = blockscale.compile(text, target="sm_120a", emulate_on="sm_90a")
    harness.assert_bit_equal(emulated.run(*arrays), expected(arrays, row))
    [statistics] = emulated.stats["kernels"]
    assert not any("block_scale" in name or "mxf" in name for name in statistics["matrix"])


def test_stats(kernel):
    fresh = blockscale.compile(PRODUCT, target="sm_120a")
    with pytest.raises(ValueError, match='stats: expected a run with device="sim" before, got none'):
        fresh.stats
    fresh.run(seed=1)
    [statistics] = fresh.stats["kernels"]
    assert statistics["name"] == "main"
    assert statistics["multiply_adds"] == 64 * 32 * 128
    before = fresh.stats
    fresh.run(seed=1, device="cpu")
    assert fresh.stats is before


def test_trace(kernel):
    trace = kernel.trace(seed=1)
    assert trace["traceEvents"]
    assert json.loads(json.dumps(trace)) == trace
    assert kernel.trace(*product_arrays())["traceEvents"]


# Errors


def wrong_product(index, array):
    arrays = product_arrays()
    arrays[index] = array
    return arrays


PACKED = r"argument #2: expected shape \(128, 32\) with one element per byte \(.* unpack.*\), got \(128, 16\)"
WRONG = [
    (wrong_product(2, np.zeros((128, 16), np.uint8)), ValueError, PACKED),
    (product_arrays()[:-1], TypeError, r"arguments: expected 5 arrays, got 4"),
    ([], TypeError, r"arguments: expected 5 arrays, got 0"),
    (
        wrong_product(1, np.zeros((64, 3), np.uint8)),
        ValueError, r"argument #1: expected shape \(64, 4\), got \(64, 3\)",
    ),
    (
        wrong_product(0, np.zeros((64, 1, 128), np.uint8)),
        ValueError, r"argument #0: expected shape \(64, 128\), got \(64, 1, 128\)",
    ),
    (
        wrong_product(4, np.zeros((64, 32))),
        TypeError, r"argument #4: expected an array of float32, got float64",
    ),
    (
        wrong_product(0, np.zeros((64, 128), np.int8)),
        TypeError, r"argument #0: expected an array of uint8, got int8",
    ),
    (wrong_product(2, [[1]]), TypeError, r"argument #2: expected an array of uint8, got list"),
    (
        wrong_product(4, np.zeros((64, 32), ">f4")),
        TypeError, r"argument #4: expected an array of float32, got >f4",
    ),
]  # fmt: skip


@pytest.mark.parametrize("arrays, error, text", WRONG, ids=[text for *_, text in WRONG])
@pytest.mark.parametrize("device", ["cpu", "sim", "cuda"])
def test_wrong_arguments(kernel, no_program, arrays, error, text, device):
    with pytest.raises(error, match=text):
        kernel.run(*arrays, device=device)


def test_wrong_arguments_for_the_cpu(monkeypatch):
    kernel = blockscale.compile(TWO_RESULTS, target="cpu")
    monkeypatch.setattr(programs, "run", None)
    with pytest.raises(ValueError, match=r"argument #0: expected shape \(any, 4\), got \(3, 5\)"):
        kernel.run(np.zeros((3, 5), np.float32), np.float32(1))
    with pytest.raises(ValueError, match=r"argument #1: expected shape \(\), got \(1,\)"):
        kernel.run(np.zeros((3, 4), np.float32), np.zeros(1, np.float32))


def test_wrong_devices(kernel, no_program, monkeypatch):
    with pytest.raises(ValueError, match="device: expected one of cpu, sim, cuda, got 'gpu'"):
        kernel.run(seed=1, device="gpu")
    with pytest.raises(TypeError, match="arguments: expected none beside seed, got 1"):
        kernel.run(np.zeros(1), seed=1)


@pytest.mark.parametrize("device", ["sim", "cuda"])
def test_devices_of_other_kernels(device):
    cpu = blockscale.compile(PRODUCT, target="cpu")
    with pytest.raises(ValueError, match="device: expected a kernel for a GPU, got one for cpu"):
        cpu.run(seed=1, device=device)


def test_the_simulator_has_options(kernel):
    for options in (dict(check="race,proxy,strict"), dict(numerics="hardware"), dict(max_steps=10**6)):
        assert kernel.run(seed=1, **options).shape == (64, 32)
        with pytest.raises(ValueError, match=f"{[*options][0]}: expected device 'sim', got 'cpu'"):
            kernel.run(seed=1, device="cpu", **options)
    with pytest.raises(blockscale.RunError, match="more steps than max_steps allows"):
        kernel.run(seed=1, max_steps=10)


NO_FLAGS = [
    (lambda: blockscale.compile(TWO_FUNCTIONS, target="sm_80"),
     "expected entry, which names one of several public functions"),
    (lambda: blockscale.compile("gpu.module @none {\n}", target="sm_80"), "expected a public function in the program"),
    (lambda: blockscale.compile(PRODUCT, target="sm_120a", entry="none"), "'none'"),
    (lambda: blockscale.compile(PRODUCT, target="cpu", schedule="tile=64x64x128,warps=2x2,stages=2"),
     "expected a GPU as target for schedule, got target='cpu'"),
    (lambda: blockscale.compile(PRODUCT, target="cpu", no_workspace=True), "for no_workspace, got target='cpu'"),
    (lambda: blockscale.compile(PRODUCT, target="sm_120a", schedule="large"), "expected a schedule of the form tile="),
    (lambda: blockscale.compile(PRODUCT, target="sm_120a", emulate_on="cpu"), "expected a GPU for emulate_on, got cpu"),
    (lambda: blockscale.compile(PRODUCT, target="sm_120a", ptx_version="1.0"), "unknown PTX version '1.0'"),
    (lambda: blockscale.compile(PRODUCT, target=""), "no target given"),
    (lambda: blockscale.compile(TWO_RESULTS, target="sm_80").run(seed=1), "give an array for each argument"),
    (lambda: blockscale.compile(PRODUCT, target="sm_120a").show_layout("c"), "unknown layout 'c'"),
    (lambda: blockscale.compile(PRODUCT, target="sm_120a").run(seed=1, check="all,never"), "check"),
]


@pytest.mark.parametrize("call, text", NO_FLAGS, ids=[text for _, text in NO_FLAGS])
def test_no_message_names_a_flag(call, text):
    """Nor a file: none of these was typed."""
    with pytest.raises((blockscale.CompileError, blockscale.RunError)) as caught:
        call()
    for diagnostic in caught.value.diagnostics:
        assert "--" not in diagnostic.message and ".npy" not in diagnostic.message
    assert text in caught.value.message


def test_codes_that_are_none(kernel):
    arrays = product_arrays()
    arrays[2][0, 0] = 16
    with pytest.raises(blockscale.RunError) as caught:
        kernel.run(*arrays, device="sim")
    assert "code 16 at (0, 0)" in caught.value.message
    assert caught.value.code == 1
    assert caught.value.message.startswith("argument #2: code 16")  # and no file of ours
    assert "expected one element per byte, not packed" in caught.value.message


@pytest.mark.parametrize("target", ["cpu", "sm_120a"])
@pytest.mark.parametrize("format, width", [("f4E2M1FN", 32), ("f6E3M2FN", 48)])
def test_packed_elements(target, format, width):
    """Packed arrays instead of one element per byte, where the compiled function packs them."""
    attribute = "{blockscale.packed}" if format.startswith("f6") else ""
    text = f"""\
func.func @main(%x: tensor<2x64x{format}> {attribute}, %s: tensor<2x2xf8E8M0FNU>) -> tensor<2x64xf32> {{
  %d = blockscale.dequantize %x, %s {{block_size = 32 : i64}}
      : tensor<2x64x{format}>, tensor<2x2xf8E8M0FNU> to tensor<2x64xf32>
  return %d : tensor<2x64xf32>
}}
"""
    kernel = blockscale.compile(text, target=target)
    codes, scales = np.full((2, 64), 3, np.uint8), np.full((2, 2), 127, np.uint8)
    assert kernel.run(codes, scales).shape == (2, 64)
    packed = blockscale.pack(codes, format)
    assert packed.shape == (2, width)
    with pytest.raises(ValueError, match=r"argument #0: expected shape \(2, 64\) with one element per byte"):
        kernel.run(packed, scales)
    with pytest.raises(ValueError) as caught:  # another wrong size is no packing
        kernel.run(codes[:, :20], scales)
    assert "unpack" not in str(caught.value)


def test_bf16_is_named():
    text = """func.func @main(%x: tensor<4xbf16>) -> tensor<4xbf16> {
      %d = arith.addf %x, %x : tensor<4xbf16>
      return %d : tensor<4xbf16>
    }"""
    kernel = blockscale.compile(text, target="sm_90a")
    x = np.arange(4, dtype=np.float32)
    assert blockscale.from_bf16(kernel.run(blockscale.to_bf16(x))).tolist() == [0, 2, 4, 6]
    with pytest.raises(TypeError, match="argument #0: expected an array of uint16 .*to_bf16.*, got float32"):
        kernel.run(x)


# Levels and explanations


@pytest.mark.parametrize("target, levels", [
    ("sm_120a", {
        "tile": "blockscale.mma_scaled", "kernel": "blockscale.tile_mma", "instr": "blockscale.mma_sync",
        "nvvm": "llvm.func", "llvm": "target triple",
    }),
    ("cpu", {"tile": "blockscale.mma_scaled", "kernel": "memref", "llvm": "define"}),
])
def test_levels(target, levels):
    kernel = blockscale.compile(PRODUCT, target=target)
    texts = {level: kernel.ir(level) for level in levels}
    assert len(set(texts.values())) == len(levels)
    for level, what in levels.items():
        assert what in texts[level], level
        assert kernel.ir(level) is texts[level]
    with pytest.raises(ValueError, match=f"level: expected one of {', '.join(levels)} for {target}, got 'ptx'"):
        kernel.ir("ptx")


def test_explain(kernel):
    text = kernel.explain()
    assert text.startswith("@main: 64 x 32 x 128, mma_sync with mxf8f6f4\n")
    assert "@main: 1 kernel\n  main  mma_scaled  " in text
    assert "clocks" in text
    with pytest.raises(ValueError, match="explain: expected a kernel for a GPU, got one for cpu"):
        blockscale.compile(PRODUCT, target="cpu").explain()


SEVERAL_KERNELS = """\
func.func @several(%a: tensor<{m}x256xf32>, %y: tensor<64x256xf4E2M1FN>, %ys: tensor<64x8xf8E8M0FNU>,
                   %acc: tensor<{m}x64xf32>) -> (tensor<64xf32>, tensor<{m}x64xf32>) {{
  %x, %xs = blockscale.quantize %a {{block_size = 32}} : tensor<{m}x256xf32> to tensor<{m}x256xf4E2M1FN>, tensor<{m}x8xf8E8M0FNU>
  %e = tensor.empty() : tensor<256x64xf4E2M1FN>
  %es = tensor.empty() : tensor<8x64xf8E8M0FNU>
  %yt = linalg.transpose ins(%y : tensor<64x256xf4E2M1FN>) outs(%e : tensor<256x64xf4E2M1FN>) permutation = [1, 0]
  %yst = linalg.transpose ins(%ys : tensor<64x8xf8E8M0FNU>) outs(%es : tensor<8x64xf8E8M0FNU>) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %yst, %acc
       : tensor<{m}x256xf4E2M1FN>, tensor<{m}x8xf8E8M0FNU>, tensor<256x64xf4E2M1FN>, tensor<8x64xf8E8M0FNU>, tensor<{m}x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %sum = linalg.reduce {{ arith.addf }} ins(%d : tensor<{m}x64xf32>) outs(%zero : tensor<64xf32>) dimensions = [0]
  %sin = math.sin %d : tensor<{m}x64xf32>
  return %sum, %sin : tensor<64xf32>, tensor<{m}x64xf32>
}}
"""
# In the sizes and the numbers of blocks.
EXTENT = r"(?:\d+|\?)"
KERNEL_LINE = rf"  (\S+) +(\S+) +({EXTENT}) x ({EXTENT}) x ({EXTENT}) +blocks of +(\d+) threads(?:  of (\d+):(\d+))?"


@pytest.mark.parametrize("m", ["48", "?"])
@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_explain_lists_every_kernel(target, m):
    """In the order of launches, with the extents of the launch info."""
    text = SEVERAL_KERNELS.format(m=m)
    kernel = blockscale.compile(text, target=target)
    products, _, listed = kernel.explain().rpartition("@several: ")
    launches = kernel.launch_info["kernels"]
    assert len(launches) > 2
    head, *lines = listed.splitlines()
    assert head == f"{len(launches)} kernels, in this order"
    rows = [re.fullmatch(KERNEL_LINE, line).groups() for line in lines]
    assert [row[0] for row in rows] == [launch["name"] for launch in launches]
    for (name, purpose, x, y, z, threads, line, _), launch in zip(rows, launches):
        assert [x, y, z] == [str(n) if isinstance(n, int) else "?" for n in launch["grid"]]
        assert int(threads) == np.prod(launch["block"])
        assert name == kernel.entry or f"__{purpose}_" in name
        assert 1 <= int(line) <= len(text.splitlines())
    assert {"mma_scaled", "quantize", "loops"} <= {row[1] for row in rows}
    assert products.startswith(f"@several: {m} x 64 x 256, ")
    assert ("? counts as 65536" in products) == (m == "?" and "no schedule" not in products)


def test_explain_has_no_remarks():
    kernel = blockscale.compile(PRODUCT, target="sm_90a")
    assert kernel.remarks
    assert "remark" not in kernel.explain() and "@main" in kernel.explain()


def test_a_check_at_run_time():
    text = PRODUCT.replace("x_scale: tensor<64x4", "x_scale: tensor<?x4").replace(
        "tensor<64x4xf8E8M0FNU>,\n         tensor<128", "tensor<?x4xf8E8M0FNU>,\n         tensor<128"
    )
    arrays = product_arrays()
    arrays[1] = arrays[1][:63]
    with pytest.raises(blockscale.RunError) as caught:
        blockscale.compile(text, target="cpu").run(*arrays)
    assert "expected x_scale to have the M of x" in caught.value.message
    assert (caught.value.file, caught.value.line, caught.value.column) == ("<text>", 4, 8)


DESTINATIONS = """
func.func @write(%x: tensor<?x4xf32>, %ym: memref<?x4xf32>, %sum: memref<?x4xf32>, %half: memref<2x4xf16>)
    -> tensor<?x4xf32> {
  %y = bufferization.to_tensor %ym restrict : memref<?x4xf32> to tensor<?x4xf32>
  %s = arith.addf %x, %y : tensor<?x4xf32>
  bufferization.materialize_in_destination %s in restrict writable %sum : (tensor<?x4xf32>, memref<?x4xf32>) -> ()
  %ones = arith.constant dense<1.0> : tensor<2x4xf16>
  bufferization.materialize_in_destination %ones in restrict writable %half : (tensor<2x4xf16>, memref<2x4xf16>) -> ()
  %p = arith.mulf %x, %y : tensor<?x4xf32>
  return %p : tensor<?x4xf32>
}
func.func @other(%x: memref<4xf32>) {
  return
}
"""


@pytest.mark.parametrize("target", ["cpu", "sm_80"])
def test_destinations_are_results(target):
    """Behind those that are returned, on all targets."""
    kernel = blockscale.compile(DESTINATIONS, target=target, entry="write")
    x, y = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    product, total, half = kernel.run(x, y)
    harness.assert_bit_equal(product, x * y)
    harness.assert_bit_equal(total, x + y)
    harness.assert_bit_equal(half, np.ones((2, 4), np.float16))
    with pytest.raises(TypeError, match="arguments: expected 2 arrays, got 3"):
        kernel.run(x, y, x)
