"""Calls of the functions of kernels.bundle in the simulator, and what they should give."""

import functools
import subprocess
import zlib

import blockscale
import numpy as np
from blockscale import runtime
from entries import extract

# Reading a bundle takes a second.
load = functools.lru_cache(maxsize=None)(runtime.load)

COMBINATIONS = ("f8E4M3FN", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E4M3FN", 16)
FORMATS = dict(zip(("mxfp8", "mxfp4", "nvfp4"), COMBINATIONS))
PRODUCTS = ("linear", "mma_scaled")


def to_bf16(values):
    """bf16 bits, of values that are exact in bf16, or rounded to nearest even."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Quantized:
    """Random quantized elements with scales as the card has them, and their values, without g."""

    def __init__(self, rng, rows, k, format):
        element, scale, block = FORMATS[format]
        codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
        codes = rng.choice(codes[np.isfinite(blockscale.decode(codes, element))], (rows, k))
        low, high = (124, 130) if scale == "f8E8M0FNU" else (0x30, 0x48)
        self.scales = rng.integers(low, high, (rows, k // block), dtype=np.uint8)
        self.codes = blockscale.pack(codes, element) if element.startswith("f4") else codes
        self.values = blockscale.dequantize(codes, self.scales, element, scale, block).astype(np.float64)


class Simulated:
    """A bundle whose functions run in the simulator."""

    def __init__(self, program, bundle, folder):
        self.program, self.bundle, self.folder = program, bundle, folder

    def __call__(self, function, chip, arguments, results):
        """Arguments are arrays, and floats for f32; `results` are (dtype, shape) each; "f4", () is a number."""
        words = []
        for i, array in enumerate(arguments):
            if isinstance(array, float):
                words.append(f"f32:{array}")
                continue
            np.save(self.folder / f"{i}.npy", array)
            words.append(f"in:{self.folder / f'{i}.npy'}")
        for i, (dtype, shape) in enumerate(results):
            # A number is an array of one element.
            words.append(f"out:{self.folder / f'r{i}.npy'}:{dtype}:{'x'.join(map(str, shape or (1,)))}")
        done = subprocess.run(
            [self.program, extract(self.bundle, function, chip), "--check=race,proxy,strict", *words],
            capture_output=True, text=True, check=False, timeout=300,
        )
        assert done.returncode == 0, f"{function} for {chip}: {done.stderr}"
        return [np.load(self.folder / f"r{i}.npy") for i in range(len(results))]


def check_product(run, kind, format, chip, m, n, k):
    rng = np.random.default_rng(zlib.crc32(f"{kind} {format} {m} {n} {k}".encode()))
    y = Quantized(rng, n, k, format)
    bias = rng.standard_normal(n).astype(np.float32)
    if kind == "linear":
        x = from_bf16(to_bf16(rng.standard_normal((m, k))))
        arguments, values, scales = [to_bf16(x)], x.astype(np.float64), [0.37]
    else:
        x = Quantized(rng, m, k, format)
        arguments, values, scales = [x.codes, x.scales], x.values, [1.7, 0.37]
    scales = [np.float32(g) for g in scales] if format == "nvfp4" else []
    arguments += [y.codes, y.scales, *(np.array(g) for g in scales), to_bf16(bias)]
    [got] = run(f"{kind}_{format}", chip, arguments, [("u2", (m, n))])
    factor = np.prod(scales, dtype=np.float64) if scales else 1.0
    expected = values @ y.values.T * factor + from_bf16(to_bf16(bias))
    size = np.abs(values) @ np.abs(y.values.T) * factor + np.abs(bias)
    # f32 sums in any order, then two products and a sum, and one rounding to bf16.
    bound = (k + 4) * 2.0**-22 * size + np.abs(expected) * 2.0**-8
    error = np.abs(from_bf16(got) - expected)
    assert (error <= bound).all(), f"{np.argwhere(error > bound)[:5]} {error.max()}"


def check_quantize(run, format, number, chip, m, k):
    element, scale, block = FORMATS[format]
    x = np.random.default_rng(m * k).standard_normal((m, k)).astype(np.float32) * 3
    x[0, :block], x[-1, -block:] = 0, np.inf
    stored, x = {
        "bf16": lambda: (to_bf16(x), from_bf16(to_bf16(x))), "f16": lambda: (x.astype(np.float16),) * 2,
        "f32": lambda: (x, x),
    }[number]()
    g = {"tensor_scale": np.float32(0.0042)} if format == "nvfp4" else {}
    codes, scales = blockscale.quantize(x.astype(np.float32), element, scale, block, **g)
    codes = blockscale.pack(codes, element) if element.startswith("f4") else codes
    got = run(f"quantize_{format}_{number}", chip, [stored, *(np.array(each) for each in g.values())],
              [("u1", codes.shape), ("u1", scales.shape)])
    np.testing.assert_array_equal(got[1], scales)
    np.testing.assert_array_equal(got[0], codes)
