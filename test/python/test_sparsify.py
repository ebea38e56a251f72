"""sparsify against a choice unit by unit."""

import math
from itertools import product

import numpy as np
import pytest
from blockscale import from_bf16, sparsify, to_bf16

WIDTH = {"2:4": 1, "pairs": 2}
GRANULARITIES = list(WIDTH)


def rank(unit):
    """What units are ordered by: NaN above infinity above numbers."""
    if any(math.isnan(v) for v in unit):
        return 2, 0
    if any(math.isinf(v) for v in unit):
        return 1, 0
    # The sum of two float32 is exact in float64, but where one is far too small to matter; then it is rounded once.
    with np.errstate(over="ignore"):
        total = float(np.float32(sum(abs(v) for v in unit)))
    return (1, 0) if math.isinf(total) else (0, total)


def chosen(chunk, width):
    """Which of a chunk's values stay, True or False for each."""
    units = [chunk[i : i + width] for i in range(0, 4 * width, width)]
    # sorted is stable, also in reverse: of equals the lower index comes first.
    best = sorted(range(4), key=lambda i: rank(units[i]), reverse=True)[:2]
    return [i // width in best for i in range(4 * width)]


def check(values, granularity, widen=lambda values: values):
    """The bits of the result are those of the values that stay, and 0."""
    width = WIDTH[granularity]
    got = sparsify(values, granularity)
    assert got.dtype == values.dtype and got.shape == values.shape
    assert not np.shares_memory(got, values)
    numbers = widen(values).astype(float).reshape(-1, 4 * width).tolist()
    stays = np.array([chosen(chunk, width) for chunk in numbers]).reshape(values.shape)
    bits = f"u{values.dtype.itemsize}"
    np.testing.assert_array_equal(got.view(bits), np.where(stays, values.view(bits), 0))


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan, -np.nan]


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_ties_and_specials(granularity):
    """Few values, so that most chunks have ties."""
    rng = np.random.default_rng(0)
    check(rng.choice(np.float32(SPECIAL), (500, 16)), granularity)
    check(rng.integers(-3, 4, (500, 16)).astype(np.float32), granularity)


def test_every_chunk_of_four():
    check(np.float32(list(product(SPECIAL, repeat=4))), "2:4")


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_types(granularity):
    values = np.random.default_rng(0).standard_normal((50, 3, 16)).astype(np.float32)
    values[0, 0, :3] = np.nan, np.inf, -0.0
    check(values, granularity)
    check(values.astype(np.float16), granularity)
    check(to_bf16(values), granularity, from_bf16)


def test_small_and_large_numbers():
    """Subnormals are numbers, and of two large ones it is not infinity that is compared."""
    tiny, huge = np.float32(2.0**-149), np.finfo(np.float32).max
    check(np.float32([[tiny, 0, 2 * tiny, -tiny], [huge, -huge, np.inf, 1]]), "2:4")
    check(np.float32([[tiny, 0, tiny, tiny, 0, 0, -tiny, 0]]), "pairs")
    check(np.float32([[huge, 1, huge, 2, huge, huge, 0, huge], [huge, huge, huge, huge, np.inf, 0, huge, 0]]), "pairs")


def test_sums_of_pairs_are_rounded():
    """2^-25 does not show beside 1, so that the first of equals stay; 2^-22 does."""
    for small, kept in ((2.0**-25, [0, 1]), (2.0**-22, [2, 3])):
        values = np.float32([[1, 0, 0, 1, 1, small, small, -1]])
        check(values, "pairs")
        stays = np.repeat(np.isin(np.arange(4), kept), 2)
        np.testing.assert_array_equal(sparsify(values, "pairs"), np.where(stays, values, 0))


def test_a_nan_never_goes_for_a_number():
    """Three in a chunk: the first two stay."""
    values = np.float32([[np.nan, 5, np.inf, 7], [1, np.nan, np.nan, np.nan], [9, np.inf, -np.inf, np.nan]])
    np.testing.assert_array_equal(
        sparsify(values, "2:4"), np.float32([[np.nan, 0, np.inf, 0], [0, np.nan, np.nan, 0], [0, np.inf, 0, np.nan]])
    )
    values = np.float32([[9, 9, np.inf, 0, 0, np.nan, 8, 8]])
    np.testing.assert_array_equal(sparsify(values, "pairs"), np.float32([[0, 0, np.inf, 0, 0, np.nan, 0, 0]]))


def test_strides_do_not_matter():
    values = np.random.default_rng(0).standard_normal((16, 24)).astype(np.float32).T[::-2]
    for granularity in GRANULARITIES:
        check(values.copy(), granularity)
        np.testing.assert_array_equal(sparsify(values, granularity), sparsify(values.copy(), granularity))


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_k(granularity):
    multiple = 4 * WIDTH[granularity]
    for k in range(1, 18):
        values = np.ones((2, k), np.float32)
        if k % multiple == 0:
            assert sparsify(values, granularity).sum() == k
            continue
        with pytest.raises(ValueError, match=f"^last dimension of values: expected a multiple of {multiple}, got {k}$"):
            sparsify(values, granularity)
    with pytest.raises(ValueError, match="^values rank: expected at least 1, got 0$"):
        sparsify(np.zeros((), np.float32), granularity)
    for shape in ((0, 8), (2, 0)):
        with pytest.raises(ValueError, match=r"^values shape: expected sizes of at least 1, got \("):
            sparsify(np.zeros(shape, np.float32), granularity)


@pytest.mark.parametrize("granularity", ["4:8", "2:4 ", "", None])
def test_other_granularities(granularity):
    with pytest.raises(ValueError, match=f"^granularity: expected one of 2:4, pairs, got {granularity!r}$"):
        sparsify(np.ones((2, 8), np.float32), granularity)


@pytest.mark.parametrize("values", [np.ones((2, 8)), np.ones((2, 8), np.uint8), np.ones((2, 8), np.int32), [[1.0] * 8]])
def test_other_types(values):
    message = r"^values: expected an array of float32, float16, bfloat16 or uint16 \(bits of bf16\), got"
    with pytest.raises(TypeError, match=message):
        sparsify(values, "2:4")
