#!/usr/bin/python3
"""Writes the arguments of mma_scaled_swizzled.mlir as .npy files.

usage: mma_scaled_swizzled.py FOLDER

x and y (stored as N x K) are 128 x 128 matrices of ones, all scales are 2. The
scales are written in the 32x4x4 layout.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

import blockscale  # noqa: E402

M, N, K, BLOCK = 128, 128, 128, 32


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("x", M), ("y", N)):
        ones = blockscale.encode(np.ones((rows, K)), "f8E4M3FN")
        twos = blockscale.encode(np.full((rows, K // BLOCK), 2.0), "f8E8M0FNU")
        np.save(folder / f"{name}.npy", ones)
        np.save(folder / f"{name}_scale.npy", blockscale.swizzle_scales(twos))


if __name__ == "__main__":
    main()
