"""Kernels of our own, what they are launched with, and what must come out.

The PTX beside each CUDA source is what nvcc 13.0 makes of it (see README.md). Results are computed
here with numpy; data are chosen so that they are exact in any order of additions.
"""

from pathlib import Path
from typing import NamedTuple

import blockscale
import numpy as np
from tensor_cases import multicast_case, tensor_cases

HERE = Path(__file__).resolve().parent


class Case(NamedTuple):
    """A launch of kernel `entry` of FILE.ptx.

    Arguments are scalars (int), arrays and tensor maps; an array that is in `results` under its
    number is written. Shapes are (x, y, z) or shorter.
    """

    file: str
    entry: str
    grid: tuple
    block: tuple
    arguments: list
    results: dict
    # Replaced in the text of the PTX.
    edits: tuple = ()
    label: str = ""
    target: str = "sm_90"
    # Blocks of a cluster; nothing where the launch names none.
    cluster: tuple = ()

    @property
    def name(self):
        return f"{self.file}-{self.entry}{self.label and '-' + self.label}"

    @property
    def ptx(self):
        text = (HERE / f"{self.file}.ptx").read_text()
        for old, new in self.edits:
            assert old in text, old
            text = text.replace(old, new)
        return text


class Sweep(Case):
    """A case whose PTX is made where it is needed: `file` is the text, `label` the name."""

    @property
    def ptx(self):
        return self.file

    @property
    def name(self):
        return self.label


# mma.sync of every type


def integers(rng, shape, smallest, largest):
    return rng.integers(smallest, largest + 1, shape)


def pack(codes, bits):
    """Codes along the last axis in words of 32 bits."""
    per_word = 32 // bits
    parts = codes.astype(np.uint64).reshape(*codes.shape[:-1], -1, per_word)
    words = np.zeros(parts.shape[:-1], np.uint64)
    for i in range(per_word):
        words |= parts[..., i] << np.uint64(i * bits)
    return words.astype(np.uint32)


def to_codes(values, kind):
    """The codes of small values in a type of mma.sync."""
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16)
    if kind in ("bf16", "tf32"):
        words = values.astype(np.float32).view(np.uint32)
        return words >> 16 if kind == "bf16" else words
    if kind in ("e4m3", "e5m2"):
        return blockscale.encode(values, {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2"}[kind])
    return values & (1 << BITS[kind]) - 1


BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4}
RANGES = {"s8": (-128, 127), "u8": (0, 255), "s4": (-8, 7), "u4": (0, 15)}


def gemm(entry, a_kind, b_kind, k, acc=np.float32, rows=16, saturates=False, seed=1):
    rng = np.random.default_rng(seed)
    m, n = 2 * rows, 24
    a_range, b_range = RANGES.get(a_kind, (-8, 8)), RANGES.get(b_kind, (-8, 8))
    a, b = integers(rng, (m, k), *a_range), integers(rng, (n, k), *b_range)
    if saturates:
        a[0], b[0] = 127, 127
    c = integers(rng, (m, n), -50, 50)
    if saturates:
        c[0, 0] = 2**31 - 100
    total = c + a @ b.T
    if saturates:
        assert total[0, 0] > 2**31
        total = np.clip(total, -(2**31), 2**31 - 1)
    words = k * BITS[a_kind] // 32
    arguments = [
        pack(to_codes(a, a_kind), BITS[a_kind]), pack(to_codes(b, b_kind), BITS[b_kind]),
        c.astype(acc), np.zeros((m, n), acc), words,
    ]
    return Case("gemm", entry, (n // 8, m // rows), (32,), arguments, {3: total.astype(acc)})


def gemm_f64():
    rng = np.random.default_rng(2)
    a, b, c = (integers(rng, shape, -9, 9).astype(float) for shape in ((16, 12), (8, 12), (16, 8)))
    arguments = [a, b, c, np.zeros((16, 8)), 12]
    return Case("gemm", "f64_m8n8k4", (1, 2), (32,), arguments, {3: c + a @ b.T})


def all_gemms():
    yield gemm("f16_k16", "f16", "f16", 64)
    yield gemm("f16_k8", "f16", "f16", 24)
    yield gemm("f16_f16_k16", "f16", "f16", 48, acc=np.float16)
    yield gemm("f16_f16_k8", "f16", "f16", 24, acc=np.float16)
    yield gemm("bf16_k16", "bf16", "bf16", 64)
    yield gemm("bf16_k8", "bf16", "bf16", 24)
    yield gemm("tf32_k8", "tf32", "tf32", 32)
    yield gemm("tf32_k4", "tf32", "tf32", 12)
    yield gemm("e4m3_k32", "e4m3", "e4m3", 64)
    yield gemm("e5m2_e4m3_k32", "e5m2", "e4m3", 64)
    yield gemm("e4m3_e5m2_k32", "e4m3", "e5m2", 64)
    yield gemm("e5m2_k32", "e5m2", "e5m2", 64)
    yield gemm("s8_k32", "s8", "s8", 96, np.int32)
    yield gemm("s8_k16", "s8", "s8", 48, np.int32)
    yield gemm("u8_k32", "u8", "u8", 96, np.int32)
    yield gemm("s8_u8_k32", "s8", "u8", 96, np.int32)
    yield gemm("s8_satfinite_k32", "s8", "s8", 96, np.int32, saturates=True)
    yield gemm("s4_k64", "s4", "s4", 128, np.int32)
    yield gemm("s4_k32", "s4", "s4", 96, np.int32)
    yield gemm("u4_k64", "u4", "u4", 128, np.int32)
    yield gemm("u4_s4_k64", "u4", "s4", 128, np.int32)
    yield gemm("s8_m8n8k16", "s8", "s8", 48, np.int32, rows=8)
    yield gemm("s4_m8n8k32", "s4", "s4", 96, np.int32, rows=8)
    yield gemm_f64()


# Control flow


def collatz():
    numbers = np.arange(1, 101, dtype=np.int32)

    def steps(x):
        count = 0
        while x != 1 and count != 200:
            x = 3 * x + 1 if x % 2 else x // 2
            count += 1
        return count

    out = np.full(128, -1, np.int32)
    expected = out.copy()
    expected[:100] = [steps(int(x)) for x in numbers]
    return Case("divergence", "collatz", (2,), (64,), [numbers, out, 100], {1: expected})


def calls():
    numbers = np.arange(64, dtype=np.int32)
    fibonacci = [0, 1]
    for _ in range(10):
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    expected = np.array([fibonacci[x % 12] for x in numbers], np.int32)
    return Case("divergence", "calls", (2,), (32,), [numbers, np.zeros(64, np.int32)], {1: expected})


def switches():
    rng = np.random.default_rng(3)
    numbers = rng.integers(-1000, 1000, 256).astype(np.int32)

    def quotient(x, y):
        return abs(x) // y * (1 if x >= 0 else -1)

    def result(x):
        kind = x & 15
        cases = {
            0: x * 3, 1: x ^ 0x55, 2: x >> 2, 3: -x, 4: -x,
            5: 7 if x & 64 else quotient(x, 7),
            6: bin(x & 0xFFFFFFFF).count("1"), 7: 32 - (x & 0xFFFFFFFF).bit_length(),
        }
        return cases.get(kind, x - 9 * quotient(x, 9))

    expected = np.array([result(int(x)) for x in numbers], np.int32)
    arguments = [numbers, np.zeros(256, np.int32)]
    return Case("divergence", "switches", (2,), (128,), arguments, {1: expected})


def sorts():
    rng = np.random.default_rng(4)
    numbers = rng.integers(-99, 99, (64, 8)).astype(np.int32)
    arguments = [numbers, np.zeros_like(numbers)]
    return Case("divergence", "sorts", (1,), (64,), arguments, {1: np.sort(numbers)})


def variables():
    numbers = np.arange(16, dtype=np.int32)
    expected = np.array([3, 1, 4, 1, 5, 9, 2, 6] * 2, np.int32) + 5
    arguments = [numbers, np.zeros(16, np.int32)]
    return Case("divergence", "variables", (1,), (16,), arguments, {1: expected})


# Warps that work together


def block_sum():
    values = np.arange(1024, dtype=np.float32).reshape(4, 256)
    arguments = [values, np.zeros(4, np.float32)]
    return Case(
        "reductions", "block_sum", (4,), (256,), arguments, {1: values.sum(1, dtype=np.float32)}
    )


def scan():
    rng = np.random.default_rng(5)
    numbers = rng.integers(-99, 99, (4, 32)).astype(np.int32)
    arguments = [numbers, np.zeros_like(numbers)]
    return Case(
        "reductions", "scan", (2,), (64,), arguments, {1: numbers.cumsum(1, dtype=np.int32)}
    )


def collectives():
    rng = np.random.default_rng(6)
    numbers = rng.integers(-20, 1000, (3, 32)).astype(np.int32)
    numbers[1] = np.arange(32) % 3 + 256
    numbers[2] = 3
    expected = np.zeros((3, 32, 12), np.uint32)
    for warp, row in enumerate(numbers):
        def ballot(bits):
            return sum(int(bit) << i for i, bit in enumerate(bits))

        unsigned = row.astype(np.uint32)
        is_same = bool((row >> 8 == row[0] >> 8).all())
        for lane, x in enumerate(row):
            half = slice(0, 16) if lane < 16 else slice(16, 32)
            source = (int(x) & 31) % 16 + lane // 16 * 16
            last = (
                ballot(row[half] & 2 != 0) if lane < 16
                else int(np.bitwise_or.reduce(unsigned[half] & 0xF0))
            )
            expected[warp, lane] = np.array([
                ballot(row & 1), (row == 3).any(), (row >= 0).all(), ballot(row & 7 == x & 7),
                (0xFFFFFFFF + 1) & 0xFFFFFFFF if is_same else 0,
                int(row.sum()) & 0xFFFFFFFF, int(row.min()) & 0xFFFFFFFF, int(unsigned.max()),
                np.bitwise_xor.reduce(unsigned), unsigned[lane ^ 5], unsigned[source], last,
            ], np.int64).astype(np.uint32)
    arguments = [numbers, np.zeros((96, 12), np.uint32)]
    return Case(
        "reductions", "collectives", (1,), (96,), arguments, {1: expected.reshape(96, 12)}
    )


def counts():
    numbers = np.arange(96, dtype=np.int32)
    expected = np.full(96, 48 * 4 + 2, np.int32)
    arguments = [numbers, np.zeros(96, np.int32)]
    return Case("reductions", "counts", (1,), (96,), arguments, {1: expected})


def histogram():
    rng = np.random.default_rng(7)
    numbers = rng.integers(-500, 500, 300).astype(np.int32)
    out = np.zeros(24, np.uint32)
    expected = out.copy()
    expected[:16] = np.bincount(numbers & 15, minlength=16)
    expected[16] = max(numbers.max(), 0)
    expected[17] = np.uint32(int(numbers.min()) & 0xFFFFFFFF)
    expected[18] = np.bitwise_xor.reduce(numbers.view(np.uint32))
    expected[19] = 300
    expected[20] = 77
    expected[21] = np.float32(150).view(np.uint32)
    expected[23] = 600
    return Case("reductions", "histogram", (5,), (64,), [numbers, out, 300], {1: expected})


# Asynchronous copies


def copied_gemm(entry, threads):
    rng = np.random.default_rng(8)
    m, n, k = 64, 96, 160
    a, b = integers(rng, (m, k), -4, 4), integers(rng, (n, k), -4, 4)
    arguments = [
        a.astype(np.float16), b.astype(np.float16), np.zeros((m, n), np.float32), n, k,
    ]
    expected = (a @ b.T).astype(np.float32)
    return Case("copies", entry, (n // 32, m // 32), (threads,), arguments, {2: expected})


def bulk_round_trip():
    numbers = np.arange(768, dtype=np.int32)
    return Case("copies", "bulk_round_trip", (3,), (256,), [numbers], {0: numbers + 1})


# Clusters


def in_cluster(entry, grid, block, cluster, arguments, results):
    label = "x".join(map(str, cluster))
    return Case("clusters", entry, grid, block, arguments, results, (), label, "sm_90", cluster)


def rotated(size, shift):
    numbers = np.arange(1, 4 * size * 64 + 1, dtype=np.int32)
    blocks = numbers.reshape(4, size, 64)
    expected = np.roll(blocks, -shift, axis=1).reshape(-1)
    arguments = [numbers, np.zeros_like(numbers), shift]
    return in_cluster("rotate", (4 * size,), (64,), (size,), arguments, {1: expected})


def distributed_histogram(size):
    rng = np.random.default_rng(11)
    numbers = rng.integers(0, 1000, (2, 700)).astype(np.int32)
    bins = 16 * size
    expected = np.stack([np.bincount(row % bins, minlength=bins) for row in numbers])
    arguments = [numbers, np.zeros((2, bins), np.int32), 700]
    return in_cluster(
        "histogram", (2 * size,), (64,), (size,), arguments, {1: expected.astype(np.int32)}
    )


def ring(size, rounds):
    rng = np.random.default_rng(12)
    numbers = rng.integers(-1000, 1000, (2, size, 32, 4)).astype(np.int32)
    expected = numbers
    ranks = np.arange(size, dtype=np.int32)[None, :, None]
    for _ in range(rounds):
        got = np.roll(expected, 1, axis=1)
        expected = np.stack([
            got[..., 0] + ranks, got[..., 1] + 2 * ranks, got[..., 2] - ranks,
            got[..., 3] ^ ranks,
        ], -1)
    return in_cluster(
        "ring", (2 * size,), (32,), (size,), [numbers, rounds], {0: expected.astype(np.int32)}
    )


def tally(size):
    ranks, threads = np.meshgrid(np.arange(1, size), np.arange(64), indexing="ij")
    counters = [
        1000 * i + (ranks * 10 + threads)[threads % 4 == i].sum() for i in range(4)
    ]
    expected = np.array([counters, counters], np.int32)
    arguments = [np.zeros_like(expected)]
    return in_cluster("tally", (2 * size,), (64,), (size,), arguments, {0: expected})


def multicast(size):
    numbers = np.arange(512, dtype=np.int32).reshape(2, 256)
    expected = numbers[:, None] * np.arange(1, size + 1, dtype=np.int32)[None, :, None]
    arguments = [numbers, np.zeros_like(expected)]
    return in_cluster("multicast", (2 * size,), (256,), (size,), arguments, {1: expected})


def send(size):
    numbers = np.arange(2 * size * 128, dtype=np.int32).reshape(2, size, 128)
    expected = np.roll(numbers, 1, axis=1) + 1
    return in_cluster("send", (2 * size,), (128,), (size,), [numbers], {0: expected})


def relax(size, steps):
    rng = np.random.default_rng(13)
    numbers = rng.integers(-5, 6, (2, size * 64)).astype(np.int32)
    expected = numbers
    for _ in range(steps):
        expected = 3 * expected + np.roll(expected, 1, 1) + np.roll(expected, -1, 1)
    return in_cluster("relax", (2 * size,), (64,), (size,), [numbers, steps], {0: expected})


def ranks(cluster):
    # Two clusters along x and y, one along z.
    grid = (2 * cluster[0], 2 * cluster[1], cluster[2])
    expected = np.zeros((*reversed(grid), 12), np.int32)

    def rank(x, y, z):
        return (z * cluster[1] + y) * cluster[0] + x

    for z, y, x in np.ndindex(*reversed(grid)):
        inner = x % cluster[0], y % cluster[1], z
        in_y = rank(inner[0], (inner[1] + 1) % cluster[1], z)
        in_x = rank((inner[0] + 1) % cluster[0], inner[1], z)
        size = cluster[0] * cluster[1] * cluster[2]
        expected[z, y, x] = [rank(*inner), size, *inner, *cluster, 1, in_y, 100 + in_y, 100 + in_x]
    arguments = [np.zeros_like(expected)]
    return in_cluster("ranks", grid, (1,), cluster, arguments, {0: expected})


def all_clusters():
    yield rotated(4, 1)
    yield rotated(8, 3)
    yield distributed_histogram(2)
    yield distributed_histogram(8)
    yield ring(2, 5)
    yield ring(4, 9)
    yield tally(4)
    yield multicast(2)
    yield multicast(4)
    yield send(2)
    yield send(8)
    yield relax(4, 6)
    for cluster in ((2, 1, 1), (1, 4, 1), (2, 2, 1), (4, 2, 1), (2, 3, 1), (2, 2, 2)):
        yield ranks(cluster)


def all_cases():
    """Those that a card of sm_90 can execute."""
    yield from all_gemms()
    yield from (collatz(), calls(), switches(), sorts(), variables())
    yield from (block_sum(), scan(), collectives(), counts(), histogram())
    yield copied_gemm("double_buffered", 128)
    yield copied_gemm("producer_consumer", 160)
    yield bulk_round_trip()
    yield from tensor_cases(Case)
    yield multicast_case(Case)
    yield from all_clusters()
