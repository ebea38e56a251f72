#!/usr/bin/python3
"""How long the CPU reference takes, as a ratio to numpy's float64 product.

Runs blockscale-run on one MXFP8 product of SIZE cubed, and numpy's `@` on
float64 matrices of that size in the same process, with one thread, and prints
both times and their ratio. The time of blockscale-run is that of the whole
program: reading the inputs, compiling and storing the result included.

usage: cpu_matmul.py [--size N] [--repeat N] [--build DIR]
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402  (the thread count must be set first)

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import blockscale  # noqa: E402

PROGRAM = """
func.func @main(%x: tensor<{n}x{n}xf8E4M3FN>, %xs: tensor<{n}x{k}xf8E8M0FNU>,
                %y: tensor<{n}x{n}xf8E4M3FN>, %ys: tensor<{k}x{n}xf8E8M0FNU>,
                %acc: tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32> {{
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<{n}x{n}xf8E4M3FN>, tensor<{n}x{k}xf8E8M0FNU>,
         tensor<{n}x{n}xf8E4M3FN>, tensor<{k}x{n}xf8E8M0FNU>,
         tensor<{n}x{n}xf32>
  return %d : tensor<{n}x{n}xf32>
}}
"""


def find_blas():
    """The BLAS library that this process has loaded, as its file name."""
    with open("/proc/self/maps") as maps:
        paths = {line.split()[-1] for line in maps if "blas" in line.lower()}
    return ", ".join(sorted(os.path.realpath(path) for path in paths)) or "none"


def best(function, repeat):
    """The least of `repeat` times, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--build", default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    options = parser.parse_args()
    n = options.size
    k = n // 32

    rng = np.random.default_rng(0)
    # No NaN: the codes of e4m3 but 0x7F and 0xFF.
    codes = rng.choice([c for c in range(256) if c & 0x7F != 0x7F], (2, n, n)).astype(np.uint8)
    scales = rng.integers(123, 132, (2, n, k), dtype=np.uint8)
    x, y = codes
    xs, ys = scales[0], np.ascontiguousarray(scales[1].T)
    acc = rng.standard_normal((n, n)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, array in dict(x=x, xs=xs, y=y, ys=ys, acc=acc).items():
            paths.append(f"{folder}/{name}.npy")
            np.save(paths[-1], array)
        program = pathlib.Path(folder, "mma.mlir")
        program.write_text(PROGRAM.format(n=n, k=k))
        command = [f"{options.build}/bin/blockscale-run", program, *paths, "-o", f"{folder}/d.npy"]
        ours = best(lambda: subprocess.run(command, check=True), options.repeat)
        result = np.load(f"{folder}/d.npy")

    def scaled(matrix, scale, axis):
        values = blockscale.decode(matrix, "f8E4M3FN")
        return values * np.repeat(blockscale.decode(scale, "f8E8M0FNU"), 32, axis)

    a, b = scaled(x, xs, 1), scaled(y, ys, 0)
    numpy_time = best(lambda: a @ b, options.repeat)
    error = np.abs(result - (acc.astype(np.float64) + a @ b)).max()
    print(f"BLAS of numpy:   {find_blas()}")
    print(f"blockscale-run:  {ours:.3f} s")
    print(f"numpy float64 @: {numpy_time:.3f} s")
    print(f"ratio:           {ours / numpy_time:.2f}")
    print(f"largest error:   {error:.3g}")


if __name__ == "__main__":
    main()
