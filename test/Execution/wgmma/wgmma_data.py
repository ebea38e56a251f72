"""Operands of wgmma.mma_async, what must come out, and where elements are in registers.

Thread T = 32 w + 4 g + t of a warpgroup. Source: PTX ISA, wgmma, "Register fragments".
"""

import numpy as np
from operand_types import ELEMENTS, encode, shared_units
from shared_images import k_major, mn_major
from wgmma_config import STEP_BYTES

THREADS, ROWS = 128, 64
D_DTYPES = {"f32": np.float32, "f16": np.float16, "s32": np.int32}
RANGES = {"s8": (-128, 127), "u8": (0, 255)}
UNITS = STEP_BYTES // 16  # of 16 bytes, of each instruction
T = np.arange(THREADS)
W, G, LOW = T // 32, T % 32 // 4, T % 4


def values(rng, name, shape):
    """Values whose products add up without rounding in f16."""
    if name in RANGES:
        return rng.integers(RANGES[name][0], RANGES[name][1] + 1, shape)
    return rng.integers(-4, 5, shape) / 2


class Data:
    """A (64, k), B (n, k) as codes; D before and after."""

    def __init__(self, config, seed=1):
        rng = np.random.default_rng([seed, config.n, config.k])
        a = values(rng, config.a_type, (ROWS, config.k))
        b = values(rng, config.b_type, (config.n, config.k))
        d = rng.integers(-50, 51, (ROWS, config.n)).astype(float)
        if config.saturates:
            d[::2] = 2**31 - 100
            d[1::2] = 100 - 2**31
        self.a, self.b = encode(a, config.a_type), encode(b, config.b_type)
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
    steps = codes.reshape(ROWS, config.steps, config.k_step)
    elements = np.ascontiguousarray(np.moveaxis(np.moveaxis(steps, 1, 0)[:, row, k], 2, 3))
    return elements.view(np.uint32)[..., 0]


def image(config, storage, codes, name):
    """An operand in shared memory, and its bytes."""
    if storage.major == "MN":
        units = shared_units(np.ascontiguousarray(codes.T), "", name)
        image = mn_major(storage, units.shape[1], config.k_step, config.steps)
    else:
        units = shared_units(codes, "", name)
        image = k_major(storage, len(codes), UNITS, config.steps)
    return image, image.arrange(units)


