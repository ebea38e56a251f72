"""The sums of `mma_scaled`: acc first, then the products by ascending k, each addition in float64.

The order is part of the definition, but seldom changes a result that is rounded to float32. So a BLAS
computes the sums first, in its own order. A cell of its result is kept if

  * every partial sum is exact in float64, so that all orders agree; or
  * every number that lies as near as rounding errors can take it rounds to the same float32; or
  * NaN is among its values.

The other cells are added up in order; they are few, except for contrived data and infinities. Either
way the float32 is the one of the defined order, to the bit.

The sums of `sparse_mma_scaled` have no products where x keeps nothing. There zeros stand in for x, which
change no sum but that of -0, unless y is infinite or NaN.
"""

from __future__ import annotations

import numpy as np

from .sparse_metadata import scatter

# Magnitudes are bounded in chunks of k, by the norm of a row of x times the norm of a column of y
# (Cauchy and Schwarz): tight if a chunk has one scale, as blocks do.
_CHUNK = 16
# In-order sums: a matrix is cut into rows whose sums and terms stay in a cache, and single cells
# into as many as have their factors gathered in some megabytes.
_CACHED_VALUES = 1 << 15
_GATHERED_VALUES = 1 << 21
# A gathered product costs as much as so many in a matrix.
_GATHER_COST = 16


def _add_in_order(total, x, y):
    """Adds x[k] * y[k] to `total` for k = 0, 1, ...; the factors broadcast to its shape."""
    term = np.empty_like(total)
    for x_k, y_k in zip(x, y):
        np.multiply(x_k, y_k, out=term)
        np.add(total, term, out=total)


def _blocks_of_cells(terms, rows, columns):
    """The cells at (rows, columns), each with so many terms, in parts whose factors fit some megabytes."""
    count = max(_GATHERED_VALUES // terms, 1)
    for first in range(0, len(rows), count):
        yield rows[first : first + count], columns[first : first + count]


def _matrix_in_order(total, x, y):
    """total + x @ y for x (M, K) and y (K, N), in place."""
    height = max(_CACHED_VALUES // y.shape[1], 1)
    for row in range(0, len(x), height):
        rows = slice(row, row + height)
        _add_in_order(total[rows], x[rows].T[:, :, None], y[:, None, :])


def _cells_in_order(total, x, y, rows, columns):
    """The same for the cells at (rows, columns), two arrays of shape (n,)."""
    y_rows = np.ascontiguousarray(y.T)
    for cells in _blocks_of_cells(x.shape[1], rows, columns):
        sums = total[cells]
        _add_in_order(sums, x[cells[0]].T.copy(), y_rows[cells[1]].T.copy())
        total[cells] = sums


def _kept_cells_in_order(total, kept, positions, y, rows, columns):
    """The same for the products kept[:, i] * y[positions[:, i]] of a sparse x."""
    y_rows = np.ascontiguousarray(y.T)
    for cells in _blocks_of_cells(kept.shape[1], rows, columns):
        sums = total[cells]
        y_kept = np.take_along_axis(y_rows[cells[1]], positions[cells[0]], axis=1)
        _add_in_order(sums, kept[cells[0]].T.copy(), y_kept.T.copy())
        total[cells] = sums


def _lengths(x):
    """The Euclidean norms of the chunks of the rows of x (rows, K): (rows, chunks)."""
    padded = np.pad(x, ((0, 0), (0, -x.shape[1] % _CHUNK)))
    return np.sqrt(np.square(padded).reshape(len(x), -1, _CHUNK).sum(axis=-1))


def _units(values):
    """The weight of the lowest set bit of each value, a power of two; infinity for 0."""
    fractions, exponents = np.frexp(values)
    bits = np.ldexp(fractions, 53).astype(np.int64)
    units = np.ldexp((bits & -bits).astype(np.float64), exponents - 53)
    return np.where(values == 0, np.inf, units)


def _bits(values):
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(np.float32).view(np.uint32)


def _order_shows(total, acc, x, y):
    """Where `total`, acc + x @ y summed in any order, may round to another float32 than in order."""
    # The factor covers the rounding errors of the bound itself.
    magnitude = (np.abs(acc) + _lengths(x) @ _lengths(y.T).T) * (1 + 2.0**-20)
    unit = np.minimum(_units(x).min(axis=1)[:, None] * _units(y).min(axis=0), _units(acc))
    exact = magnitude <= 2.0**53 * unit
    # Either order errs by K * 2^-53 * magnitude at most; 4 more cover second-order terms, and the
    # rounding of the two ends.
    error = np.where(exact, 0.0, (2 * x.shape[1] + 4) * 2.0**-53 * magnitude)
    # A sum is -0 where acc and all terms are, and a BLAS may start with +0.
    minus_zero = (total == 0) & (acc == 0) & np.signbit(acc)
    return (_bits(total - error) != _bits(total + error)) | minus_zero


def finite(values):
    """The values, with 0 instead of infinity and NaN."""
    return np.where(np.isfinite(values), values, 0.0)


def _where_any(property, acc, x, y):
    """The cells of acc + x @ y whose sums have a term with the property."""
    return property(acc) | property(x).any(axis=1)[:, None] | property(y).any(axis=0)


def _add_matrix(acc, x, y):
    start, x_values, y_values = finite(acc), finite(x), finite(y)
    total = start + x_values @ y_values
    again = _order_shows(total, start, x_values, y_values) | _where_any(np.isinf, acc, x, y)
    nan = _where_any(np.isnan, acc, x, y)
    total[nan] = np.nan
    again &= ~nan
    if np.count_nonzero(again) * _GATHER_COST > again.size:
        total = acc.copy()
        _matrix_in_order(total, x, y)
    elif again.any():
        total[again] = acc[again]
        _cells_in_order(total, x, y, *np.nonzero(again))
    return total


def add_products(acc, x, y):
    """acc + x @ y: float64 arrays of shapes (..., M, N), (..., M, K) and (..., K, N).

    Batches of x and y broadcast to that of acc. Rounded to float32 the result is that of adding the
    products x[:, k] * y[k] to acc one after the other, k = 0, 1, ..., K - 1, NaN and infinity
    included. Every product must be exact in float64, and no sum may leave its range.
    """
    *batch, m, n = acc.shape
    x = np.broadcast_to(x, (*batch, m, x.shape[-1]))
    y = np.broadcast_to(y, (*batch, y.shape[-2], n))
    total = np.empty_like(acc)
    with np.errstate(invalid="ignore"):  # inf - inf, 0 * inf
        for index in np.ndindex(*batch):
            total[index] = _add_matrix(acc[index], x[index], y[index])
    return total


def add_scaled_blocks(acc, x, y, x_scale, y_scale, block):
    """acc + the sums of `block` products along K, each times its two scales: coarse scales.

    acc      float64 of shape (..., M, N)
    x, y     float64 of shapes (..., M, K) and (..., K, N)
    x_scale  float64 of shape (..., M, blocks), y_scale (..., blocks, N)
    block    elements along K; the last block may be partial

    Batches broadcast. Each sum starts at 0 and adds products by ascending k, and the sums are added to
    acc in order; every operation is one of float64, so that the result is defined to the bit.
    """
    *batch, m, n = acc.shape
    x, x_scale = (np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in (x, x_scale))
    y, y_scale = (np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in (y, y_scale))
    total = acc.copy()
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf, 0 * inf
        for index in np.ndindex(*batch):
            for i, k in enumerate(range(0, x.shape[-1], block)):
                sums = np.zeros((m, n))
                _matrix_in_order(sums, x[index][:, k : k + block], y[index][k : k + block])
                scale = x_scale[index][:, i, None] * y_scale[index][i]
                total[index] += sums * scale
    return total


def add_kept_products(acc, kept, positions, y):
    """acc + the products kept[:, i] * y[positions[:, i]], i = 0, 1, ...: the sums of `sparse_mma_scaled`.

    acc        float64 of shape (..., M, N)
    kept       float64 of shape (..., M, K / 2)
    positions  integers of the shape of `kept`, ascending along K; one may be there twice, with zeros
    y          float64 of shape (..., K, N)

    Batches broadcast, and the result is to the bit, as in `add_products`. What `positions` does not name
    takes no part, even if y is infinite or NaN there.
    """
    total = add_products(acc, scatter(kept, positions), finite(y))
    again = (acc == 0) & np.signbit(acc) & (total == 0)
    if not np.isfinite(y).all():
        named = scatter(np.ones(kept.shape), positions)
        nan = named @ np.isnan(y) > 0
        total[nan] = np.nan
        again = (again | (named @ np.isinf(y) > 0)) & ~nan
    *batch, _, _ = acc.shape
    kept, positions, y = (np.broadcast_to(a, (*batch, *a.shape[-2:])) for a in (kept, positions, y))
    with np.errstate(invalid="ignore"):  # inf - inf, 0 * inf
        for index in np.ndindex(*batch):
            cells = np.nonzero(again[index])
            total[index][cells] = acc[index][cells]
            _kept_cells_in_order(total[index], kept[index], positions[index], y[index], *cells)
    return total
