"""Operands of tcgen05.mma with a sparse A, and what must come out.

Of four consecutive elements of a row of A (of four pairs in kinds with packed elements) two are kept. A
field of 4 bits says which: bits 0 and 1 have the place of the first one, bits 2 and 3 that of the second.
What no field names is not multiplied.

Sources: PTX ISA, "Sparse matrix storage" and tcgen05, "Sparse matrices".
"""

import blockscale
import harness
import numpy as np
from mma_plan import Data
from operand_types import ELEMENTS, decode

LEGAL_FIELDS = np.array([0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110], np.uint8)
SCALE_FORMATS = {"ue8m0": "f8E8M0FNU", "ue4m3": "f8E4M3FN"}


def _data(config, make, seed):
    """Operands that `make`, a function of harness, gives for kept elements, with a B of all K."""
    formats = (ELEMENTS[name].format for name in (config.a_type, config.b_type))
    row = harness.Combination(*formats, SCALE_FORMATS[config.scale], config.block)
    x, x_scale, _, y_scale, acc = make(row, config.m, config.n, config.a_k, seed)
    y = make(row, config.m, config.n, config.k, seed + 1)[2]
    rng = np.random.default_rng([seed, config.m, config.k])
    fields = rng.choice(LEGAL_FIELDS, (config.m, config.k // config.chunk))
    return Data(
        x, y.T.copy(), x_scale, y_scale.T.copy(), acc if config.accumulate else acc * 0, fields
    )


def exact(config, seed=1):
    """Data whose result must come out bit for bit."""
    return _data(config, harness.exact, seed)


def random(config, seed=2):
    """Any finite codes."""
    return _data(config, harness.random, seed)


def positions(config, fields):
    """The index along K of each kept element, int (m, k / 2)."""
    kept = np.arange(config.a_k)
    width = config.chunk // 4  # elements in a place
    chunk, inside = kept // (2 * width), kept % (2 * width)
    place = fields[:, chunk] >> 2 * (inside // width) & 3
    return config.chunk * chunk + width * place + inside % width


def _scaled(codes, name, scales, scale, block):
    factors = np.abs(blockscale.decode(scales, SCALE_FORMATS[scale]))
    return decode(codes, name) * factors.repeat(block, axis=1)


def sums(config, data, magnitudes=False):
    """D (m, n) in float64, and NaN where it is; or the sums of the magnitudes of all terms."""
    sign = -1 if config.negate_a != config.negate_b else 1
    # A factor covers `block` kept elements of A, which are 2 * block of K.
    a = sign * _scaled(data.a, config.a_type, data.a_scale, config.scale, config.block)
    b = _scaled(data.b, config.b_type, data.b_scale, config.scale, 2 * config.block)
    c = data.c.astype(np.float64)
    if magnitudes:
        a, b, c = np.abs(a), np.abs(b), np.abs(c)
    places = positions(config, data.fields)
    return np.stack([c[m] + b[:, places[m]] @ a[m] for m in range(config.m)])


def expected(config, data):
    return sums(config, data).astype(np.float32)
