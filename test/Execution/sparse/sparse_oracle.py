"""What the ops on sparse operands mean, element by element, in exact rationals.

Written from the rules on docs/Sparse.md. Shares no code with the compiler; of the Python package
it takes the values of codes only.
"""

import math
from fractions import Fraction

import blockscale
import numpy as np

# Elements of a unit.
UNITS = {"2:4": 1, "pairs": 2}
# First and second position of each legal field.
FIELDS = {
    0b0100: (0, 1), 0b1000: (0, 2), 0b1001: (1, 2), 0b1100: (0, 3), 0b1101: (1, 3), 0b1110: (2, 3)
}
SCALE_FORMATS = {"f8E8M0FNU": "f8E8M0FNU", "f8E4M3FN": "ue4m3"}


def fields_of(metadata):
    """The fields of each row, low nibble first."""
    return np.stack([metadata & 15, metadata >> 4], -1).reshape(*metadata.shape[:-1], -1)


def metadata_of(fields):
    """Rows of fields as bytes."""
    pairs = np.asarray(fields, np.uint8).reshape(*np.shape(fields)[:-1], -1, 2)
    return pairs[..., 0] | pairs[..., 1] << 4


def logical_index(index, field, unit):
    """The logical index of kept element `index` of a row, whose chunk has `field`."""
    chunk, rest = divmod(index, 2 * unit)
    which, in_unit = divmod(rest, unit)
    position = field >> 2 * which & 3
    return 4 * unit * chunk + unit * position + in_unit


def add(terms):
    """The sum of floats: exact if all are finite, else what IEEE 754 gives."""
    if all(map(math.isfinite, terms)):
        exact = sum(map(Fraction, terms), Fraction(0))
        return float(exact)
    if any(map(math.isnan, terms)):
        return math.nan
    infinities = {term for term in terms if math.isinf(term)}
    return infinities.pop() if len(infinities) == 1 else math.nan


def multiply(*factors):
    """The product of floats, which is exact for decoded elements and scales."""
    result = 1.0
    for factor in factors:
        result = float(np.float64(result) * np.float64(factor))
    return result


def product(x, metadata, x_scale, y, y_scale, acc, types, block, granularity):
    """sparse_mma_scaled of rank 2; `types` are those of x, y and scales."""
    unit = UNITS[granularity]
    x = blockscale.decode(x, types[0])
    y = blockscale.decode(y, types[1])
    x_scale = blockscale.decode(x_scale, blockscale.SCALE_FORMATS[types[2]])
    y_scale = blockscale.decode(y_scale, blockscale.SCALE_FORMATS[types[2]])
    fields = fields_of(metadata)
    result = np.empty_like(acc)
    with np.errstate(all="ignore"):
        for m in range(x.shape[0]):
            places = [
                logical_index(i, int(fields[m, i // (2 * unit)]), unit) for i in range(x.shape[1])
            ]
            for n in range(y.shape[1]):
                terms = [float(acc[m, n])]
                for i, k in enumerate(places):
                    terms.append(
                        multiply(x[m, i], x_scale[m, k // block], y[k, n], y_scale[k // block, n])
                    )
                result[m, n] = add(terms)
    return result


def exact_product(x, metadata, x_scale, y, y_scale, acc, types, block, granularity):
    """The same for finite operands whose sums are exact in float64, as float64 computes them."""
    unit = UNITS[granularity]
    x, y = blockscale.decode(x, types[0]), blockscale.decode(y, types[1])
    scales = [blockscale.decode(codes, blockscale.SCALE_FORMATS[types[2]]) for codes in (x_scale, y_scale)]
    fields = fields_of(metadata)
    y = y.astype(np.float64) * scales[1].astype(np.float64).repeat(block, 0)
    kept = np.arange(x.shape[1])
    in_chunk = kept % (2 * unit)
    result = np.empty_like(acc)
    for m in range(x.shape[0]):
        position = fields[m, kept // (2 * unit)] >> 2 * (in_chunk // unit) & 3
        places = kept // (2 * unit) * 4 * unit + position.astype(int) * unit + in_chunk % unit
        result[m] = acc[m] + (x[m] * scales[0][m, places // block].astype(np.float64)) @ y[places]
    assert np.isfinite(result).all()
    return result


def batched_product(x, metadata, x_scale, y, y_scale, acc, *rules, product=product):
    """`product` with a batch of x or y or both, which broadcasts."""
    if acc.ndim == 2:
        return product(x, metadata, x_scale, y, y_scale, acc, *rules)

    def take(array, i):
        return array if array.ndim == 2 else array[i % array.shape[0]]

    return np.stack([
        product(*(take(a, i) for a in (x, metadata, x_scale, y, y_scale, acc)), *rules)
        for i in range(acc.shape[0])
    ])


def is_zero(codes, element):
    return all(blockscale.decode(np.array(codes, np.uint8), element) == 0)


def compress(dense, element, granularity):
    """Kept elements and metadata of rows of codes."""
    unit = UNITS[granularity]
    kept, fields = [], []
    for chunk in dense.reshape(-1, 4, unit):
        zeros = [is_zero(chunk[i], element) for i in range(4)]
        places = [i for i in range(4) if not zeros[i]]
        assert len(places) <= 2
        if not places:
            places = [0, 1]
        elif places == [3]:
            places = [0, 3]
        elif len(places) == 1:
            places.append(3)
        fields.append(places[0] + 4 * places[1])
        for i in places:
            kept += [0] * unit if zeros[i] else list(chunk[i])
    rows = dense.shape[:-1]
    return (
        np.array(kept, np.uint8).reshape(*rows, -1),
        metadata_of(np.array(fields).reshape(*rows, -1)),
    )


def decompress(kept, metadata, granularity):
    unit = UNITS[granularity]
    dense = np.zeros((*kept.shape[:-1], 2 * kept.shape[-1]), np.uint8)
    fields = fields_of(metadata)
    for at in np.ndindex(kept.shape):
        field = int(fields[(*at[:-1], at[-1] // (2 * unit))])
        dense[(*at[:-1], logical_index(at[-1], field, unit))] = kept[at]
    return dense


def sparsify(values, granularity):
    """float32 values; the magnitude of a pair is one addition of float32."""
    unit = UNITS[granularity]
    result = np.zeros_like(values)
    chunks, to = values.reshape(-1, 4, unit), result.reshape(-1, 4, unit)
    with np.errstate(all="ignore"):
        magnitudes = np.abs(chunks[..., 0])
        if unit == 2:
            magnitudes = np.float32(magnitudes + np.abs(chunks[..., 1]))
    # NaN is above infinity, and the sort is stable.
    wide = magnitudes.astype(np.float64)
    keys = np.where(np.isnan(wide), np.inf, np.nan_to_num(wide, posinf=1e39))
    for chunk, out, key in zip(chunks, to, keys):
        for i in np.argsort(-key, kind="stable")[:2]:
            out[i] = chunk[i]
    return result


def tile(metadata, padding=0x44):
    """Atoms of 128 rows of 16 bytes, along M first."""
    rows, columns = metadata.shape
    m, k = -(-rows // 128), -(-columns // 16)
    tiled = np.full(m * k * 2048, padding, np.uint8)
    for row in range(rows):
        for column in range(columns):
            offset = (row // 128 + m * (column // 16)) * 2048 + 16 * (row % 128) + column % 16
            tiled[offset] = metadata[row, column]
    return tiled.reshape(k, m, 128, 16)
