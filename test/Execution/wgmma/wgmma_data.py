"""Operands of wgmma.mma_async, what must come out, and where elements are in registers.

Thread T = 32 w + 4 g + t of a warpgroup. Source: PTX ISA, wgmma, "Register fragments".
"""

import numpy as np
from operand_types import ELEMENTS, encode, shared_units
from shared_images import k_major, mn_major

THREADS, ROWS = 128, 64
D_DTYPES = {"f32": np.float32, "f16": np.float16, "s32": np.int32}
RANGES = {"s8": (-128, 127), "u8": (0, 255)}
CHUNK, KEPT = 4, 2  # elements of a sparse A, and how many of them are kept
FIELDS = np.array([0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110], np.uint32)
T = np.arange(THREADS)
W, G, LOW = T // 32, T % 32 // 4, T % 4


def values(rng, name, shape):
    """Values whose products add up without rounding in f16."""
    if name in RANGES:
        return rng.integers(RANGES[name][0], RANGES[name][1] + 1, shape)
    return rng.integers(-4, 5, shape) / 2


def expand(kept, fields):
    """The matrix with kept elements at their positions, and zeros elsewhere."""
    dense = np.zeros((ROWS, kept.shape[1] * CHUNK // KEPT))
    rows, chunks = np.indices(fields.shape)
    for i in range(KEPT):
        dense[rows, CHUNK * chunks + (fields >> 2 * i & 3)] = kept[:, i::KEPT]
    return dense


class Data:
    """A (64, k), B (n, k) as codes; D before and after. A sparse A has its kept elements, and fields."""

    def __init__(self, config, seed=1):
        rng = np.random.default_rng([seed, config.n, config.k])
        a = values(rng, config.a_type, (ROWS, config.k))
        b = values(rng, config.b_type, (config.n, config.k))
        d = rng.integers(-50, 51, (ROWS, config.n)).astype(float)
        if config.saturates:
            d[::2] = 2**31 - 100
            d[1::2] = 100 - 2**31
        kept = a
        if config.selector is not None:
            self.fields = rng.choice(FIELDS, (ROWS, config.k // CHUNK))
            self.fields[:, ::5] = FIELDS[0]
            kept = a[:, ::2]
            a = expand(kept, self.fields)
        self.a, self.b = encode(kept, config.a_type), encode(b, config.b_type)
        if config.selector is not None:  # NaN that no row of A meets
            for unnamed in (2, 3):
                self.b[:, unnamed :: 5 * CHUNK] = 0xFFFF
        if config.a_type == "tf32":  # what is behind tf32 in its word does not count
            self.a |= rng.integers(0, 1 << 13, self.a.shape, np.uint32)
            self.b |= rng.integers(0, 1 << 13, self.b.shape, np.uint32)
        sign = (-1) ** (config.negate_a + config.negate_b)
        steps = [
            sign * a[:, k : k + config.k_step] @ b[:, k : k + config.k_step].T
            for k in range(0, config.k, config.k_step)
        ]
        total = d if config.scale_d[1] else np.zeros_like(d)
        for step in steps:
            total = total + step
            if config.saturates:
                total = np.clip(total, -(2**31), 2**31 - 1)
        dtype = D_DTYPES[config.d_type]
        if not config.scale_d[1] and dtype != np.int32:
            d[:] = np.nan  # not read
        self.before, self.after = d.astype(dtype), total.astype(dtype)
        assert (self.after == total).all(), "not exact"
        assert not config.saturates or (abs(total) >= 2**31 - 1).any(), "nothing saturates"


def d_elements(config):
    """(row, column) of the elements of D, each (registers, elements of one, 128)."""
    elements = 2 if config.d_type == "f16" else 1
    i = np.arange(config.registers * elements).reshape(-1, elements, 1)
    row = 16 * W + G + 8 * (i >> 1 & 1)
    return row, 8 * (i >> 2) + 2 * LOW + (i & 1)


def d_words(config, d):
    """What the registers of D hold: uint32 (registers, 128)."""
    elements = np.ascontiguousarray(np.moveaxis(d[d_elements(config)], 1, 2))
    return elements.view(np.uint32)[..., 0]


def a_words(config, codes):
    """What the registers of A hold, for each instruction: uint32 (steps, 4, 128)."""
    per_word = 32 // ELEMENTS[config.a_type].bits
    e = np.arange(4 * per_word).reshape(4, per_word, 1)
    register, inside = e // per_word, e % per_word
    row = 16 * W + G + 8 * (register & 1)
    k = per_word * LOW + inside + 4 * per_word * (register >> 1)
    steps = codes.reshape(ROWS, config.steps, config.kept_step)
    elements = np.ascontiguousarray(np.moveaxis(np.moveaxis(steps, 1, 0)[:, row, k], 2, 3))
    return elements.view(np.uint32)[..., 0]


def metadata_words(config, fields):
    """What the register of metadata holds, for each instruction: uint32 (steps, 128).

    Two lanes of four have the fields of four chunks each, of rows G and G + 8 of a warp; no field of the
    other lanes is legal.
    """
    steps = np.moveaxis(fields.reshape(ROWS, config.steps, config.k_step // CHUNK), 1, 0)
    words = np.zeros((config.steps, THREADS), np.uint32)
    for f in range(8):
        words |= steps[:, 16 * W + G + 8 * (f // 4), 4 * (LOW % 2) + f % 4] << np.uint32(4 * f)
    return np.where(LOW // 2 == config.selector, words, 0xFFFFFFFF).astype(np.uint32)


def image(config, storage, codes, name):
    """An operand in shared memory, and its bytes."""
    k_step = codes.shape[1] // config.steps
    if storage.major == "MN":
        units = shared_units(np.ascontiguousarray(codes.T), "", name)
        image = mn_major(storage, units.shape[1], k_step, config.steps)
    else:
        units = shared_units(codes, "", name)
        image = k_major(storage, len(codes), units.shape[1] // config.steps, config.steps)
    return image, image.arrange(units)


