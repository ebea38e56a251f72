"""Integers of 128 bits as nvcc compiles them, in the simulator, on random operands.

inputs/wide_integers.ptx is what nvcc 13.0 made of this for sm_80, without its comments:

    extern "C" __global__ void wide(const unsigned __int128 *a, const unsigned __int128 *b,
                                    unsigned __int128 *o, int n) {
      int t = blockIdx.x * blockDim.x + threadIdx.x;
      if (t >= n) return;
      unsigned __int128 x = a[t], y = b[t];
      __int128 s = (__int128)x / (__int128)y;
      o[4 * t] = x / y; o[4 * t + 1] = s; o[4 * t + 2] = x * y; o[4 * t + 3] = x - y;
    }
"""

import random
import subprocess
from pathlib import Path

import numpy as np
from simulated import SIMULATOR

PROGRAM = Path(__file__).with_name("inputs") / "wide_integers.ptx"
COUNT = 1000
ALL = (1 << 128) - 1


def draw(engine):
    """Numbers of all lengths, many of them just below a power of 2 or negative."""
    bits = engine.choice([8, 31, 32, 33, 63, 64, 65, 96, 127, 128])
    number = engine.getrandbits(bits)
    if engine.random() < 0.3:
        number = (1 << bits) - 1 - engine.getrandbits(2)
    return (ALL - number if engine.random() < 0.2 else number) & ALL


def words(numbers):
    return np.array([[number & (1 << 64) - 1, number >> 64] for number in numbers], dtype=np.uint64)


def signed(number):
    return number - (1 << 128) if number >> 127 else number


def divide(a, b):
    """Cut off toward 0."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def test_quotients_products_and_differences(tmp_path):
    engine = random.Random(128)
    a = [draw(engine) for _ in range(COUNT)]
    b = [draw(engine) or 1 for _ in range(COUNT)]
    np.save(tmp_path / "a.npy", words(a))
    np.save(tmp_path / "b.npy", words(b))
    out = tmp_path / "o.npy"
    subprocess.run(
        [SIMULATOR, PROGRAM, "--grid=8", "--block=128", f"in:{tmp_path}/a.npy", f"in:{tmp_path}/b.npy",
         f"out:{out}:u8:{COUNT}x4x2", f"i32:{COUNT}"],
        check=True, timeout=120,
    )
    results = np.load(out)
    for x, y, row in zip(a, b, results):
        got = [int(low) | int(high) << 64 for low, high in row]
        expected = [x // y, divide(signed(x), signed(y)), x * y, x - y]
        assert got == [number & ALL for number in expected], (x, y)
