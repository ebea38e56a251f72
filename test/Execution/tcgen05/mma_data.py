"""Operands of tcgen05.mma for a configuration, and what must come out, in float64.

Exact data: every partial sum is exact in D's type, whatever the order. No two neighbouring rows,
columns and blocks have equal scale factors.
"""

import blockscale
import harness
import numpy as np
import sparse_data
from mma_plan import Data
from operand_types import ELEMENTS, decode, encode, negated

SCALE_FORMATS = {"ue8m0": "f8E8M0FNU", "ue4m3": "f8E4M3FN"}
D_DTYPES = {"f16": np.float16, "f32": np.float32, "s32": np.int32}

# Smallest and largest value of exact data, and the step from one to the next.
INTEGERS = {"s8": (-128, 127, 1), "u8": (0, 255, 1)}
HALVES = (-2, 2, 1)  # sums that f16 has
FRACTIONS = (-7.5, 7.5, 0.125)
WHOLE = (-3, 3, 1)  # values that every small float has


def _row(config):
    """The row of the dialect's table that a kind with scales computes."""
    formats = (ELEMENTS[name].format for name in (config.a_type, config.b_type))
    return harness.Combination(*formats, SCALE_FORMATS[config.scale], config.block)


def _as_data(config, operands):
    """Operands [x, x_scale, y, y_scale, acc] of mma_scaled."""
    x, x_scale, y, y_scale, acc = operands
    return Data(x, y.T.copy(), x_scale, y_scale.T.copy(), acc if config.accumulate else acc * 0)


def _plain(config, seed):
    """Exact data for kinds without scales."""
    rng = np.random.default_rng([seed, config.m, config.n, config.k])

    def codes(name, rows):
        low, high, step = INTEGERS.get(name, WHOLE if ELEMENTS[name].format else FRACTIONS)
        if config.d_type == "f16":
            low, high, step = HALVES
        values = rng.integers(round(low / step), round(high / step) + 1, (rows, config.k)) * step
        return encode(values, name)

    a, b = codes(config.a_type, config.m), codes(config.b_type, config.n)
    c = rng.integers(-50, 51, (config.m, config.n)) * config.accumulate
    c = c.astype(D_DTYPES[config.d_type])
    if config.saturate:
        a[0] = b[0] = 127
        c[0, 0] = 2**31 - 100
    return Data(a, b, None, None, c)


def exact(config, seed=1):
    """Data whose result must come out bit for bit."""
    if not config.scaled:
        return _plain(config, seed)
    if config.sparse:
        return sparse_data.exact(config, seed)
    return _as_data(config, harness.exact(_row(config), config.m, config.n, config.k, seed))


def random(config, seed=2):
    """Any finite codes, for kinds with scales."""
    if config.sparse:
        return sparse_data.random(config, seed)
    return _as_data(config, harness.random(_row(config), config.m, config.n, config.k, seed))


def special(config, seed=3):
    """Zero, ends of the subnormal and normal values, infinity and NaN in the first rows of A and B, and
    special scale factors in the last ones; the rest is exact. For kinds with scales."""
    data = exact(config, seed)
    scales = [
        code for code in harness.SPECIAL_SCALES[SCALE_FORMATS[config.scale]]
        if config.scale == "ue8m0" or code < 0x80  # ue4m3 has no sign
    ]
    for codes, factors, name in (
        (data.a, data.a_scale, config.a_type), (data.b, data.b_scale, config.b_type)
    ):
        elements = harness.special_codes(ELEMENTS[name].format)
        assert len(elements) + len(scales) < len(codes)
        codes[: len(elements)] = np.array(elements, np.uint8)[:, None]
        factors[-len(scales) :] = np.array(scales, np.uint8)[:, None]
    return data


def _operands(config, data):
    """Operands of mma_scaled; codes of negated matrices have their other sign."""
    a = negated(data.a, config.a_type) if config.negate_a else data.a
    b = negated(data.b, config.b_type) if config.negate_b else data.b
    return a, data.a_scale, b.T.copy(), data.b_scale.T.copy(), data.c


def expected(config, data):
    """D (m, n) of exact data."""
    if config.sparse:
        result = sparse_data.expected(config, data)
        assert (result == sparse_data.sums(config, data)).all(), "the data are not exact"
        return result
    if config.scaled:
        return blockscale.mma_scaled(*_operands(config, data), **_row(config).types)
    sign = -1 if config.negate_a != config.negate_b else 1
    total = sign * decode(data.a, config.a_type) @ decode(data.b, config.b_type).T + data.c
    if config.saturate:
        assert total.max() > 2**31
        total = total.clip(-(2**31), 2**31 - 1)
    result = total.astype(D_DTYPES[config.d_type])
    assert (result == total).all(), "the data are not exact"
    return result


def check_bound(config, data, result):
    """Asserts that D is within the bound of the reference. For kinds with scales."""
    blockscale.compare(result, *_operands(config, data), **_row(config).types)
