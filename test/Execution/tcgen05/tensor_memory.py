"""Tensor memory as arrays: where D, A and scale factors of tcgen05.mma lie.

The tensor memory of a CTA is uint32 (128 lanes, columns). Functions for pairs of CTAs have a first
dimension for the CTA. Sources: PTX ISA, tcgen05, "Data path layout organization" (D and A) and "Scale
factor A/B layout"; for metadata, which the ISA has in figures only, CUTLASS and JAX.
"""

import numpy as np

LANES = 128


def d_positions(config):
    """(cta, lane, column) of every element of D, int arrays that broadcast to (m, n)."""
    m, n = np.arange(config.m)[:, None], np.arange(config.n)
    if config.split:  # layout B
        half = config.n // 2
        return m // 64, m % 64 + 64 * (n >= half), n % half
    if config.m == 64:  # layout F
        return m * 0, m // 16 * 32 + m % 16, n
    return m // LANES, m % LANES, n  # layouts A and D


def a_words(config, words):
    """A (m, words) as uint32 (ctas, 128, words)."""
    assert config.a_rows == LANES
    return words.reshape(config.ctas, LANES, -1)


def _rows_to_lanes(words, lanes):
    """uint32 (rows, words) as (lanes, columns): row r at lane r % 32, column r / 32, replicated; the next
    word of a row is as many columns further as there are groups of 32 rows."""
    rows, count = words.shape
    groups = rows // 32
    image = words.reshape(groups, 32, count).transpose(1, 2, 0).reshape(32, count * groups)
    return np.tile(image, (lanes // 32, 1))


def scale_words(codes):
    """Scale factors, uint8 (rows, blocks), as uint32 (rows, ceil(blocks / 4)); padding is 0xFF."""
    rows, blocks = codes.shape
    padded = np.full((rows, -(-blocks // 4) * 4), 0xFF, np.uint8)
    padded[:, :blocks] = codes
    return padded.view(np.uint32)


def _padded_rows(words, unit):
    """Rows up to a multiple of `unit`; padding is 0xFF."""
    rows = -(-len(words) // unit) * unit
    padded = np.full((rows, words.shape[1]), 0xFFFFFFFF, np.uint32)
    padded[: len(words)] = words
    return padded


def a_scales(config, codes):
    """Scale factors of A, uint8 (m, blocks), as uint32 (ctas, 128, columns)."""
    words = scale_words(codes)
    return np.stack([_rows_to_lanes(part, LANES) for part in np.split(words, config.ctas)])


def b_scales(config, codes):
    """Scale factors of B, uint8 (n, blocks), as uint32 (ctas, 128, columns)."""
    words = scale_words(codes)
    if config.split:  # columns of D of the first half in lanes 0 to 63, the others in 64 to 127
        halves = [_rows_to_lanes(_padded_rows(part, 32), 64) for part in np.split(words, 2)]
        image = np.concatenate(halves)
    else:
        image = _rows_to_lanes(_padded_rows(words, LANES), LANES)
    return np.stack([image] * config.ctas)


def metadata_words(config, fields):
    """Metadata of a sparse A, fields uint8 (m, chunks) of 4 bits, as uint32 (ctas, 128, columns): each row
    is a lane, and its fields follow each other from the lowest bits of the first column on."""
    weights = np.uint32(1) << np.arange(0, 32, 4, dtype=np.uint32)
    words = (fields.reshape(len(fields), -1, 8) * weights).sum(axis=2, dtype=np.uint32)
    return words.reshape(config.ctas, LANES, -1)


def scale_columns(config, operand):
    """Columns from one word of scale factors to the next."""
    if config.split:
        return 2 if operand == "a" else -(-config.n // 64)
    rows = LANES if operand == "a" else config.n
    return -(-rows // LANES) * 4
