"""The sums of fp8 tensor cores, in numpy, by their published rule, and products that are made of them."""

import numpy as np
from blockscale import decode, encode

SMALLEST = {"f8E4M3FN": -6, "f8E5M2": -14}
BITS = 13
NONE = -10000  # the exponent of zero


def _exponents(values, smallest):
    _, exponents = np.frexp(np.abs(values))
    return np.where(values == 0, NONE, np.maximum(exponents - 1, smallest))


def _cut(values, units):
    return np.trunc(values / units) * units


def add_up(x, y, types, step):
    """The sum over K of x (M, K) times y (K, N), in steps of `step` terms: float64, with 13 fraction bits."""
    sums = np.zeros((x.shape[0], y.shape[1]))
    x_exponents, y_exponents = _exponents(x, SMALLEST[types[0]]), _exponents(y, SMALLEST[types[1]])
    for k in range(0, x.shape[1], step):
        at = slice(k, k + step)
        terms = x[:, at, None] * y[None, at]
        exponents = x_exponents[:, at, None] + y_exponents[None, at]
        largest = np.where(terms == 0, NONE, exponents).max(axis=1)
        largest = np.maximum(largest, _exponents(sums, -126))
        units = np.ldexp(1.0, np.maximum(largest, -133) - BITS)
        sums = _cut(terms, units[:, None]).sum(axis=1) + _cut(sums, units)
        sums = _cut(sums, np.ldexp(1.0, np.maximum(_exponents(sums, -126), -126) - BITS))
    return sums


def multiply(x, x_scale, y, y_scale, types, piece, step):
    """float32 sums of pieces along K, each times its scales: one for a row, or a column, and `block` elements.

    x, y are values; x_scale (M, blocks) and y_scale (blocks, N), whose blocks pieces divide.
    """
    k = x.shape[1]
    block = -(-k // x_scale.shape[1])
    result = np.zeros((x.shape[0], y.shape[1]), np.float32)
    for start in range(0, k, piece):
        sums = add_up(x[:, start : start + piece], y[start : start + piece], types, step)
        scales = x_scale[:, start // block, None] * y_scale[start // block]
        with np.errstate(over="ignore"):
            result = (result + sums * scales).astype(np.float32)
    return result


def rebase(values, scales, type, axis):
    """Elements for the largest scale along the axis of K, and that scale. `scales` has one for each element."""
    largest = scales.max(axis=axis, keepdims=True)
    return decode(encode(values * (scales / largest), type), type), largest
