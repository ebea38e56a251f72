"""`--numerics=hardware` for tcgen05.mma, against the algorithm of docs/Simulator.md in numpy."""

import blockscale
import mma_data
import mma_launch
import numpy as np
import pytest
import sparse_data
from harness import assert_bit_equal
from mma_cases import mxf4, mxf8f6f4, nvf4
from mma_config import Config
from mma_plan import Data, make_plan
from operand_types import ELEMENTS, decode

LOWEST = {"e4m3": -6, "e5m2": -14, "e3m2": -2, "e2m3": 0, "e2m1": 0, "f16": -14, "bf16": -126, "tf32": -126,
          "f32": -126, "ue8m0": -127, "ue4m3": -6}
NONE = -10000
GROUP = 16
PLAIN = [
    Config(kind="f16", a_type="f16", b_type="f16", steps=3),
    Config(kind="f16", a_type="f16", b_type="f16", d_type="f16", steps=3),
    Config(kind="f16", a_type="bf16", b_type="f16", steps=3),
    Config(kind="tf32", a_type="tf32", b_type="tf32", steps=3),
    Config(kind="f8f6f4", a_type="e4m3", b_type="e5m2", steps=3),
    Config(kind="f8f6f4", a_type="e5m2", b_type="e2m3", d_type="f16", steps=3),
]
SCALED = [
    mxf8f6f4(), mxf8f6f4(a_type="e5m2", b_type="e2m1"), mxf4(), nvf4(),
    nvf4(steps=2, step_k=96, target="sm_103a"), mxf8f6f4(m=256, ctas=2, a_type="e3m2"),
    mxf8f6f4(sparse=True), mxf8f6f4(a_type="e5m2", b_type="e3m2", sparse=True), mxf4(sparse=True), nvf4(sparse=True),
]


def exponents(values, name):
    return np.where(values == 0, NONE, np.maximum(np.frexp(values)[1] - 1, LOWEST[name]))


def power(exponent):
    return np.ldexp(1.0, exponent)


def add_chunk(c, terms, term_exponents, config):
    """Terms are (m, n, number)."""
    bits, floor = (35, -139) if config.packed else (25, -21 if config.d_type == "f16" else -133)
    top = np.maximum(np.maximum(exponents(c, config.d_type), floor), term_exponents.max(axis=2))
    total = np.trunc(c * power(bits - top))
    total += np.trunc(terms * power(bits - top)[..., None]).sum(axis=2)
    total *= power(top - bits)
    if config.d_type == "f16":
        return total.astype(np.float16).astype(np.float64)
    rounded = total.astype(np.float32)
    beyond = np.abs(rounded.astype(np.float64)) > np.abs(total)
    return np.where(beyond, np.nextafter(rounded, np.float32(0)), rounded).astype(np.float64)


def expected(config, data):
    a, b = decode(data.a, config.a_type)[:, None], decode(data.b, config.b_type)[None]
    if config.sparse:  # what A keeps, in its order
        b = b[0][:, sparse_data.positions(config, data.fields)].swapaxes(0, 1)
    products = a * b
    if config.scaled:
        form = mma_data.SCALE_FORMATS[config.scale]
        scales = [
            np.abs(np.repeat(blockscale.decode(codes, form), config.block, axis=1))
            for codes in (data.a_scale, data.b_scale)
        ]
        scale_a, scale_b = scales[0][:, None], scales[1][None]
        scale_exponents = exponents(scale_a, config.scale) + exponents(scale_b, config.scale)
        products_scaled = products * scale_a * scale_b
    if config.packed:
        grouped = (*products.shape[:2], -1, GROUP)
        terms = products_scaled.reshape(grouped).sum(axis=3)
        is_zero = (products.reshape(grouped) == 0).all(axis=3)
        all_exponents = np.where(is_zero, NONE, scale_exponents[..., ::GROUP])
        size = 64 // GROUP
    else:
        all_exponents = exponents(a, config.a_type) + exponents(b, config.b_type)
        terms, size = products, {"f16": 16, "tf32": 8}.get(config.kind, 32)
        if config.scaled:
            all_exponents, terms = all_exponents + scale_exponents, products_scaled
    c = data.c.astype(np.float64)
    of_step = config.a_step // (GROUP if config.packed else 1)
    for step in range(0, terms.shape[2], of_step):
        for first in range(step, step + of_step, size):
            chunk = slice(first, min(first + size, step + of_step))
            c = add_chunk(c, terms[..., chunk], all_exponents[..., chunk], config)
    return c.astype(mma_data.D_DTYPES[config.d_type])


def draw(config):
    """Finite codes of any element, and an accumulator near the products."""
    if config.scaled:
        return mma_data.random(config)
    rng = np.random.default_rng(5)

    def codes(name, rows):
        bits = ELEMENTS[name].bits
        drawn = rng.integers(0, 2**bits, (rows, config.k), dtype=f"u{max(bits, 8) // 8}")
        if name in ("bf16", "tf32"):  # exponents of -7 to 8
            sign = drawn & (1 << (bits - 1))
            exponent = (drawn >> (bits - 5) & 15) + 120
            fraction = drawn & ((1 << (bits - 9)) - 1) & -(1 << (13 if bits == 32 else 0))
            drawn = (sign | exponent << (bits - 9) | fraction).astype(drawn.dtype)
        if config.d_type == "f16":  # below 2
            drawn &= drawn.dtype.type(~(1 << (bits - 2)) & ((1 << bits) - 1))
        special = ~np.isfinite(decode(drawn, name))
        return np.where(special, 0, drawn).astype(drawn.dtype)

    c = (rng.standard_normal((config.m, config.n)) * 64).astype(mma_data.D_DTYPES[config.d_type])
    return Data(codes(config.a_type, config.m), codes(config.b_type, config.n), None, None, c)


@pytest.mark.parametrize("config", [*SCALED, *PLAIN], ids=lambda config: config.label)
def test_bits(config, tmp_path):
    data = draw(config)
    result = mma_launch.run(tmp_path, make_plan(config, data), ["--numerics=hardware"])
    want = expected(config, data)
    assert np.isfinite(want).mean() > 0.5
    assert_bit_equal(result, want)


