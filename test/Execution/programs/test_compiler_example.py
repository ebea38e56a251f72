"""examples/compiler: a compiler that uses this one, built as a project of its own; what it compiles is right."""

import subprocess

import blockscale
import numpy as np
import pytest
from harness import REPO, RUN

BUILD = RUN.parents[1]
EXAMPLE = REPO / "examples" / "compiler"
M, N, K = 37, 24, 128


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def tinyc(tmp_path_factory):
    cache = BUILD / "CMakeCache.txt"
    if cache.is_file() and "-fsanitize=" in cache.read_text():
        pytest.skip("needs a build without sanitizers: its libraries are linked into a program that has none")
    folder = tmp_path_factory.mktemp("tiny")
    package = BUILD / "lib" / "cmake" / "BlockScale"
    for command in (
        ("cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", folder, f"-DBlockScale_DIR={package}"),
        ("cmake", "--build", folder),
    ):
        done = run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "tinyc"


def operands():
    rng = np.random.default_rng(3)
    x, x_scale = blockscale.quantize(rng.normal(size=(M, K)).astype(np.float32), "mxfp8")
    w, w_scale = blockscale.quantize(rng.normal(size=(N, K)).astype(np.float32), "mxfp4")
    return x, x_scale, w, w_scale, rng.normal(size=N).astype(np.float32)


def expected(x, x_scale, w, w_scale, bias):
    sums = blockscale.mma_scaled(
        x, x_scale, w.T, w_scale.T, np.tile(bias, (M, 1)), x_type="mxfp8", y_type="mxfp4")
    return np.maximum(sums, 0)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_layer(tinyc, chip, tmp_path):
    done = run(tinyc, EXAMPLE / "model.mlir", chip, tmp_path / "layer")
    assert done.returncode == 0, done.stderr
    assert ("no block-scaled instruction" in done.stderr) == (chip in ("sm_80", "sm_90a")), done.stderr
    arrays = operands()
    x, x_scale, w, w_scale, bias = arrays
    arguments = []
    for name, array in zip("abcde", (x, x_scale, blockscale.pack(w, "f4E2M1FN"), w_scale, bias)):
        np.save(tmp_path / f"{name}.npy", array)
        arguments.append(f"in:{tmp_path}/{name}.npy")
    done = run(
        RUN.parent / "blockscale-sim", tmp_path / "layer.ptx", f"--launch-info={tmp_path}/layer.json", *arguments,
        f"out:{tmp_path}/d.npy:f4:{M}x{N}",
    )
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(np.load(tmp_path / "d.npy"), expected(*arrays), rtol=1e-5, atol=1e-6)


def test_text_and_errors(tinyc, tmp_path):
    done = run(tinyc, EXAMPLE / "model.mlir", "linalg")
    assert done.returncode == 0 and "tiny." not in done.stdout and "floordiv 32" in done.stdout
    wrong = tmp_path / "wrong.mlir"
    wrong.write_text((EXAMPLE / "model.mlir").read_text().replace("24xf32", "1x24xf32"))
    done = run(tinyc, wrong, "linalg")
    assert done.returncode == 1 and "expected operand 4 of rank 1" in done.stderr
    done = run(tinyc, EXAMPLE / "model.mlir", "sm_75", tmp_path / "out")
    assert done.returncode == 1 and "unknown target 'sm_75'" in done.stderr
