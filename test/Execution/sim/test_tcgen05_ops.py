"""Kernels of the instruction level of tcgen05, in the simulator, against numpy."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tcgen05_kernels
import tiers
from harness import REPO, Combination, assert_bit_equal
from tcgen05_kernels import Tile

BIN = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")) / "bin"
PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
TIMEOUT_S = 300
FP8 = Combination("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32)
NVFP4 = Combination("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)
MXFP4 = Combination("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32)
HALF_BLOCKS = Combination("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 16)
MIXED = Combination("f8E5M2", "f6E2M3FN", "f8E8M0FNU", 32)
NARROW = Combination("f4E2M1FN", "f8E4M3FN", "f8E8M0FNU", 32)

TILES = [
    Tile("mxfp8", FP8, "mxf8f6f4", n=128, k=128),
    Tile("nvfp4", NVFP4, "mxf4nvf4", n=256, k=256),
    Tile("mn-major", FP8, "mxf8f6f4", n=256, k=128, a_major="mn", b_major="mn"),
    Tile("loop", FP8, "mxf8f6f4", n=192, k=384, in_loop=True),
    Tile("mxfp4", MXFP4, "mxf4", n=136, k=256),
    Tile("half-blocks", HALF_BLOCKS, "mxf4nvf4", n=64, k=128, row_bytes=64),
    Tile("padded", MIXED, "mxf8f6f4", n=64, k=64, row_bytes=64),
    Tile("narrow-rows", NARROW, "mxf8f6f4", n=32, k=96, row_bytes=32),
    Tile("not-swizzled", FP8, "mxf8f6f4", n=32, k=64, row_bytes=16),
    Tile("mn-rows-64", FP8, "mxf8f6f4", n=64, k=64, row_bytes=64, a_major="mn"),
    Tile("mn-rows-32", FP8, "mxf8f6f4", n=64, k=64, row_bytes=32, b_major="mn"),
    Tile("mn-not-swizzled", FP8, "mxf8f6f4", n=64, k=64, row_bytes=16, a_major="mn", b_major="mn"),
    Tile("a-in-tensor", FP8, "mxf8f6f4", n=96, k=128, a_in_tensor=True),
    Tile("packed-in-tensor", NVFP4, "mxf4nvf4", n=160, k=256, a_in_tensor=True),
    Tile("accumulate", FP8, "mxf8f6f4", n=96, k=64, row_bytes=64, accumulates=True),
]


def run(command):
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )


def compile_tile(tile, buffers, folder, target="sm_100a", stage="ptx", flags=()):
    """(program, bytes of shared memory)."""
    text, shared = tcgen05_kernels.kernel(tile, buffers)
    source, program = folder / "kernel.mlir", folder / f"kernel.{stage}"
    source.write_text(text)
    done = run([BIN / "blockscale-compile", source, f"--target={target}", f"--emit={stage}", *flags, "-o", program])
    assert done.returncode == 0, done.stderr
    return program, shared


def simulate(tile, folder, target="sm_100a", flags=()):
    """(result, what is expected)."""
    operands = tcgen05_kernels.data(tile)
    buffers = tcgen05_kernels.arguments(tile, operands)
    program, shared = compile_tile(tile, buffers, folder, target, flags=flags)
    paths = [folder / f"in{i}.npy" for i in range(len(buffers))]
    for path, buffer in zip(paths, buffers):
        np.save(path, buffer)
    out = folder / "out.npy"
    done = run([
        BIN / "blockscale-sim", program, "--grid=1", f"--block={tcgen05_kernels.THREADS}",
        f"--shared={shared}", "--check=race,proxy,strict", *(f"in:{path}" for path in paths),
        f"out:{out}:f4:{tcgen05_kernels.LANES}x{tile.n}",
    ])
    assert done.returncode == 0 and not done.stderr, done.stderr
    return np.load(out), tcgen05_kernels.expected(tile, operands)


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: tile.name)
def test_tile(tile, tmp_path):
    assert_bit_equal(*simulate(tile, tmp_path))


TARGETS = ["sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f"]


@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("tile", tiers.first(TILES, 3), ids=lambda tile: tile.name)
def test_ptxas(tile, target, tmp_path):
    buffers = tcgen05_kernels.arguments(tile, tcgen05_kernels.data(tile))
    compile_tile(tile, buffers, tmp_path, target, stage="cubin")


@pytest.mark.parametrize("target", TARGETS[1:])
@pytest.mark.parametrize("tile", tiers.first(TILES[:3], 1), ids=lambda tile: tile.name)
def test_targets(tile, target, tmp_path):
    assert_bit_equal(*simulate(tile, tmp_path, target))
