#!/usr/bin/python3
"""The reference in numpy, `blockscale.mma_scaled`, against numpy's float64 `@` of the same size.

    random    scales over 32 powers of two: few sums show the order in which they are taken
    exact     scales of 1: no sum is rounded in float64
    infinite  random, with an infinity in every row: all sums are taken in order

usage: reference.py [--size N] [--repeat N]
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import blockscale  # noqa: E402

TYPES = dict(x_type="f8E5M2", y_type="f8E4M3FN", scale_type="f8E8M0FNU")
BLOCK = 32
# Name, first and last code of scales, the largest magnitude of x (0x7C is infinity).
CASES = (("random", 0x70, 0x8F, 0x7B), ("exact", 0x7F, 0x7F, 0x43), ("infinite", 0x70, 0x8F, 0x7C))


def operands(size, low, high, largest):
    rng = np.random.default_rng(0)

    def elements(largest):
        magnitudes = rng.integers(0, largest + 1, (size, size), np.uint8)
        magnitudes[np.arange(size), np.arange(size)] = largest  # in every row
        return magnitudes | rng.integers(0, 2, (size, size), np.uint8) << 7

    def scales(*shape):
        return rng.integers(low, high + 1, shape, np.uint8)

    blocks = size // BLOCK
    acc = rng.integers(-50, 50, (size, size)).astype(np.float32)
    return elements(largest), scales(size, blocks), elements(0x7E), scales(blocks, size), acc


def median_time(repeat, function):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1024, help="M, N and K, a multiple of 32")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    matrix = np.random.default_rng(0).standard_normal((options.size, options.size))
    product = median_time(options.repeat, lambda: matrix @ matrix)
    print(f"{'numpy float64 @':16}{product:7.3f} s")
    for name, *bounds in CASES:
        args = operands(options.size, *bounds)
        seconds = median_time(options.repeat, lambda: blockscale.mma_scaled(*args, **TYPES))
        print(f"{name:16}{seconds:7.3f} s, ratio {seconds / product:.2f}")


if __name__ == "__main__":
    main()
