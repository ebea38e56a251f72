#!/usr/bin/python3
"""Estimated times of grouped NVFP4 products against those of their bytes.

usage: grouped_estimates.py [--chip=CHIP]... [--shape=ROWS+ROWS...xNxK]... [--build=DIR]

One product for each of a few groups with rows of their own, results of f16, scales of the weights in the 32x4x4
layout: by default of the four shapes of a public contest (gpu-mode, nvfp4_group_gemm). Each runs in
the simulator with all SMs of the chip, which takes up to minutes. The table has the bytes that are read and
written once and their time at the chip's memory rate, the estimates of all kernels and of the product's alone, and
the ratio of the former to the time of the bytes.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The SMs, and the GB/s of memory that the simulator's rates have: B200, and RTX PRO 6000.
CHIPS = {"sm_100a": (148, 7672), "sm_120a": (188, 1792)}
# Rows of the groups, N, K.
SHAPES = [
    ([80, 176, 128, 72, 64, 248, 96, 160], 4096, 7168),
    ([40, 76, 168, 72, 164, 148, 196, 160], 7168, 2048),
    ([192, 320], 3072, 4096),
    ([128, 384], 4096, 1536),
]
BLOCK = 16


def parse_shape(text):
    rows, *sizes = text.split("x")
    if len(sizes) != 2 or not all(part.isdigit() for part in [*rows.split("+"), *sizes]):
        raise argparse.ArgumentTypeError(f"expected ROWS+ROWS...xNxK, got {text!r}")
    return [int(part) for part in rows.split("+")], int(sizes[0]), int(sizes[1])


def program(sizes, n, k):
    g, t, blocks = len(sizes), sum(sizes), k // BLOCK
    nk, kn = f"tensor<{g}x{n}x{k}xf4E2M1FN>", f"tensor<{g}x{k}x{n}xf4E2M1FN>"
    atoms = f"tensor<{g}x{-(-n // 128)}x{-(-blocks // 4)}x32x16xf8E4M3FN>"
    rows, columns = f"tensor<{g}x{n}x{blocks}xf8E4M3FN>", f"tensor<{g}x{blocks}x{n}xf8E4M3FN>"
    return f"""func.func @main(%x: tensor<{t}x{k}xf4E2M1FN>, %xs: tensor<{t}x{blocks}xf8E4M3FN>, %w: {nk}, %ws: {atoms},
                %o: tensor<{g}xi32>) -> tensor<{t}x{n}xf16> {{
  %acc = arith.constant dense<0.0> : tensor<{t}x{n}xf32>
  %r = blockscale.unswizzle_scales %ws : {atoms} to {rows}
  %e = tensor.empty() : {kn}
  %y = linalg.transpose ins(%w : {nk}) outs(%e : {kn}) permutation = [0, 2, 1]
  %f = tensor.empty() : {columns}
  %ys = linalg.transpose ins(%r : {rows}) outs(%f : {columns}) permutation = [0, 2, 1]
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {{legal_groups}}
      : tensor<{t}x{k}xf4E2M1FN>, tensor<{t}x{blocks}xf8E4M3FN>, {kn}, {columns}, tensor<{g}xi32>, tensor<{t}x{n}xf32>
  %h = arith.truncf %d : tensor<{t}x{n}xf32> to tensor<{t}x{n}xf16>
  return %h : tensor<{t}x{n}xf16>
}}
"""


def count_bytes(sizes, n, k):
    g, t = len(sizes), sum(sizes)
    return (t + g * n) * (k // 2 + k // BLOCK) + 2 * t * n


def estimate(folder, chip, sizes, n, k, build):
    """Microseconds of all kernels, and of the product's."""
    rng = np.random.default_rng(1)
    g, t, blocks = len(sizes), sum(sizes), k // BLOCK

    def scales(*shape):
        return rng.integers(0x30, 0x40, shape, np.uint8)

    arrays = [rng.integers(0, 16, (t, k), np.uint8), scales(t, blocks), rng.integers(0, 16, (g, n, k), np.uint8),
              scales(g, -(-n // 128), -(-blocks // 4), 32, 16), np.cumsum(sizes).astype(np.int32)]
    (folder / "program.mlir").write_text(program(sizes, n, k))
    for i, array in enumerate(arrays):
        np.save(folder / f"{i}.npy", array)
    subprocess.run(
        [f"{build}/bin/blockscale-run", folder / "program.mlir", *(folder / f"{i}.npy" for i in range(len(arrays))),
         "--device=sim", f"--target={chip}", f"--multiprocessors={CHIPS[chip][0]}", f"--stats={folder / 'stats.json'}",
         "-o", os.devnull], check=True)
    kernels = json.loads((folder / "stats.json").read_text())["kernels"]
    times = [kernel["estimate"]["microseconds"] for kernel in kernels]
    return sum(times), max(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chip", action="append", choices=CHIPS)
    parser.add_argument("--shape", action="append", type=parse_shape)
    parser.add_argument("--build", default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    options = parser.parse_args()
    print(f"{'chip':8} {'groups':>6} {'rows':>5} {'N':>5} {'K':>5} {'MB':>6} {'bytes, us':>9} {'kernels, us':>11}"
          f" {'product':>7} {'ratio':>5}")
    for chip in options.chip or CHIPS:
        for sizes, n, k in options.shape or SHAPES:
            with tempfile.TemporaryDirectory() as folder:
                total, product = estimate(pathlib.Path(folder), chip, sizes, n, k, options.build)
            size = count_bytes(sizes, n, k)
            least = size / CHIPS[chip][1] / 1000
            print(f"{chip:8} {len(sizes):6} {sum(sizes):5} {n:5} {k:5} {size / 1e6:6.1f} {least:9.1f} {total:11.1f}"
                  f" {product:7.1f} {total / least:5.2f}", flush=True)


if __name__ == "__main__":
    main()
