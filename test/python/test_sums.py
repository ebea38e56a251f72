"""The sums of mma_scaled against a loop over k in float64, to the bit, whichever way they are taken."""

import math

import blockscale
import numpy as np
import pytest
from blockscale import decode, sums

F32 = np.float32
MXFP8 = ("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32)
E5M2 = ("f8E5M2", "f8E5M2", "f8E8M0FNU", 32)
NVFP4 = ("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)
WIDTHS = {"f8E4M3FN": 8, "f8E5M2": 8, "f4E2M1FN": 4}


def in_order(acc, x, y):
    """The definition: acc first, then k ascending, each addition rounded to float64."""
    total = acc.copy()
    with np.errstate(all="ignore"):
        for k in range(x.shape[1]):
            total += x[:, k : k + 1] * y[k]
    return total


def bits(total):
    """The bits of the float32 of each sum, one and the same for every NaN."""
    with np.errstate(all="ignore"):
        rounded = total.astype(F32)
    return np.where(np.isnan(rounded), np.uint32(0x7FC00000), rounded.view(np.uint32))


def assert_in_order(acc, x, y):
    np.testing.assert_array_equal(bits(sums.add_products(acc, x, y)), bits(in_order(acc, x, y)))


def scaled_operands(row, m, n, k, scales, finite=True, seed=0):
    """Random codes times random scales, in float64, and a random acc."""
    x_type, y_type, scale_type, block = row
    rng = np.random.default_rng([seed, m, n, k])

    def elements(name, *shape):
        values = decode(np.arange(2 ** WIDTHS[name]), name)
        return rng.choice(values[np.isfinite(values)] if finite else values, shape)

    def factors(*shape):
        format = blockscale.SCALE_FORMATS[scale_type]
        return decode(rng.integers(scales[0], scales[1] + 1, shape), format)

    with np.errstate(invalid="ignore"):
        x = elements(x_type, m, k) * np.repeat(factors(m, k // block), block, axis=1)
        y = elements(y_type, k, n) * np.repeat(factors(k // block, n), block, axis=0)
    return rng.integers(-50, 50, (m, n)).astype(float), x, y


@pytest.mark.parametrize("m, n, k", [(1, 1, 32), (40, 24, 96), (7, 130, 320), (130, 1, 1024)])
@pytest.mark.parametrize(
    "row, scales",
    [
        (MXFP8, (0x7F, 0x7F)), (MXFP8, (0x70, 0x8F)), (MXFP8, (0, 0xFE)), (E5M2, (0x7F, 0x7F)),
        (E5M2, (0, 0xFE)), (NVFP4, (0x30, 0x40)), (NVFP4, (0, 0x7E)),
    ],
)
def test_random(row, scales, m, n, k):
    assert_in_order(*scaled_operands(row, m, n, k, scales))


@pytest.mark.parametrize("row", [MXFP8, E5M2])
@pytest.mark.parametrize("scales", [(0x70, 0x8F), (0xF0, 0xFF)])
def test_random_specials(row, scales):
    """NaN, infinities and scales of NaN, in all lines and in few."""
    assert_in_order(*scaled_operands(row, 20, 30, 64, scales, finite=False))
    acc, x, y = scaled_operands(row, 64, 96, 64, (0x70, 0x8F))
    x[3, 5], x[4, 6], y[7, 8], acc[9, 10], acc[11, 12] = np.nan, np.inf, -np.inf, np.inf, np.nan
    y[6, :5] = 0  # times infinity
    assert_in_order(acc, x, y)


def order_case(acc, first, others, count=1023):
    """Terms `first` and then `count` times `others`: a line of x, a column of y, and acc."""
    terms = np.array([first] + [others] * count)
    return np.full((1, 1), float(acc)), terms[None, :], np.ones((count + 1, 1))


# acc, first term, other terms. Together the others are worth a bit, each alone is lost: 1 + 2^-24 is
# a tie between two float32, 1 + 3 * 2^-24 one that goes up and 2^-54 takes nothing from it.
TIES = [
    (1, 2.0**-24, 2.0**-54), (1, 3 * 2.0**-24, -(2.0**-54)), (-1, -(2.0**-24), -(2.0**-54)),
    (0, 1 + 2.0**-24, 2.0**-54), (2.0**-126, 2.0**-150, 2.0**-180), (0, 2.0**-150, 2.0**-204),
]


@pytest.mark.parametrize("acc, first, others", TIES)
def test_order_is_part_of_the_result(acc, first, others):
    acc, x, y = order_case(acc, first, others)
    ordered = bits(in_order(acc, x, y))
    assert ordered != bits(np.array([[math.fsum([acc[0, 0], *x[0]])]]))
    assert bits(sums.add_products(acc, x, y)) == ordered


@pytest.mark.parametrize("rows, columns", [(1, 100), (60, 100), (100, 1)])
def test_few_and_many_such_cells(rows, columns):
    """In a large matrix: single cells are added up anew, or all of them."""
    acc, x, y = scaled_operands(MXFP8, 100, 100, 1024, (0x70, 0x8F))
    _, line, _ = order_case(*TIES[0])
    acc[:rows, :columns] = 1
    x[:rows], y[:, :columns] = line, 1
    assert_in_order(acc, x, y)


def test_exact_sums_are_not_taken_again():
    """Sums that cancel, and ties: whole numbers have one sum, however it is taken."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-(2**12), 2**12, shape).astype(float) for shape in ((50, 64), (64, 50)))
    acc = -(x @ y)
    acc[:25] += 2.0**24 + 1
    assert not sums._order_shows(acc + x @ y, acc, x, y).any()
    assert_in_order(acc, x, y)


@pytest.mark.parametrize("acc", [0.0, -0.0])
@pytest.mark.parametrize("x, y", [(0.0, 1.0), (-0.0, 1.0), (0.0, 0.0), (1.0, -0.0)])
def test_sign_of_zero(acc, x, y):
    assert_in_order(np.full((2, 3), acc), np.full((2, 32), x), np.full((32, 3), y))


def test_few_cells_are_taken_again():
    """Random data are fast because of this."""
    acc, x, y = scaled_operands(MXFP8, 256, 256, 1024, (0x70, 0x8F))
    assert sums._order_shows(acc + x @ y, acc, x, y).mean() < 0.001


def test_batches():
    acc, x, y = scaled_operands(MXFP8, 6, 8, 64, (0x70, 0x8F))
    accs, xs = np.stack([acc, acc + 1, -acc]), np.stack([x, x[::-1], -x])
    got = sums.add_products(accs, xs, y)
    for b in range(3):
        np.testing.assert_array_equal(bits(got[b]), bits(in_order(accs[b], xs[b], y)))
