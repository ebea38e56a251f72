"""Running what was compiled: results, and errors before anything runs."""

import json
import os
from pathlib import Path

import blockscale
import harness
import numpy as np
import pytest
from blockscale import programs
from programs_for_tests import PRODUCT, ROW, TWO_RESULTS, product_arrays

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
@pytest.mark.parametrize("row", harness.ROWS, ids=str)
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


def test_seed(kernel):
    first = kernel.run(seed=1)
    assert first.shape == (64, 32)
    np.testing.assert_array_equal(first, kernel.run(seed=1))
    assert (first != kernel.run(seed=2)).any()


def test_compare(kernel):
    assert kernel.run(seed=3, device="sim", compare=True).shape == (64, 32)
    with pytest.raises(ValueError, match="compare: expected device 'sim' or 'cuda', got 'cpu'"):
        kernel.run(seed=3, compare=True)


def test_the_options_are_those_of_the_kernel(kernel, monkeypatch):
    seen, run = [], programs.run
    monkeypatch.setattr(programs, "run", lambda *a: seen.append(a[1]) or run(*a))
    options = dict(schedule="tile=64x64x128,warps=2x2,stages=2", ptx_version="8.8", native_only=True)
    other = blockscale.compile(PRODUCT, target="sm_121a", **options)
    other.run(seed=1, device="sim")
    assert seen[-1][1:8] == [
        "--target=sm_121a", "--schedule=tile=64x64x128,warps=2x2,stages=2", "--native-only",
        "--ptx-version=8.8", "--device=sim", "--entry=main", "--seed=1",
    ]  # fmt: skip
    other.run(seed=1)
    assert seen[-1][1:4] == ["--device=cpu", "--entry=main", "--seed=1"]


def test_stats(kernel):
    fresh = blockscale.compile(PRODUCT, target="sm_120a")
    with pytest.raises(ValueError, match='stats: expected a run with device="sim" before, got none'):
        fresh.stats
    fresh.run(seed=1, device="sim")
    [statistics] = fresh.stats["kernels"]
    assert statistics["name"] == "main"
    assert statistics["multiply_adds"] == 64 * 32 * 128
    before = fresh.stats
    fresh.run(seed=1)
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


WRONG = [
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
    emulated = blockscale.compile(PRODUCT, target="sm_120a", emulate_on="sm_90")
    text = f"expected 'cpu' for what is compiled with emulate_on, got '{device}'"
    with pytest.raises(ValueError, match=text):
        emulated.run(seed=1, device=device)
    assert emulated.run(seed=1).shape == (64, 32)


def test_codes_that_are_none(kernel):
    arrays = product_arrays()
    arrays[2][0, 0] = 16
    with pytest.raises(blockscale.RunError) as caught:
        kernel.run(*arrays, device="sim")
    assert "code 16 at (0, 0)" in caught.value.message
    assert caught.value.code == 1


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
