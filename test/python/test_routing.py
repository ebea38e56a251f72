"""route and sort_routes against loops over rows and slots."""

import math

import blockscale
import numpy as np
import pytest

SCORINGS = ("logits", "softmax", "softmax_of_chosen")


def slow_route(logits, top_k, scoring):
    """By sorting lists, and f64."""
    ids, weights = [], []
    for row in logits.astype(float).tolist():
        # sorted is stable: of equal ones the first one comes first.
        order = sorted(range(len(row)), key=lambda group: (0, 0) if math.isnan(row[group]) else (1, -row[group]))
        chosen = order[:top_k]
        of = {"logits": [], "softmax": order, "softmax_of_chosen": chosen}[scoring]
        total = sum(math.exp(row[group] - row[chosen[0]]) for group in of)
        ids.append(chosen)
        weights.append([math.exp(row[group] - row[chosen[0]]) / total if of else row[group] for group in chosen])
    return np.array(ids), np.array(weights)


def check_route(logits, top_k, scoring):
    ids, weights = blockscale.route(logits, top_k, scoring)
    assert (ids.dtype, weights.dtype, ids.shape) == (np.int32, np.float32, weights.shape)
    expected = slow_route(logits, top_k, scoring)
    np.testing.assert_array_equal(ids, expected[0])
    np.testing.assert_allclose(weights, expected[1], rtol=1e-6 if scoring != "logits" else 0, atol=0)


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("shape, top_k", [((7, 5), 1), ((7, 5), 5), ((40, 36), 4), ((3, 128), 8), ((2, 33), 32)])
def test_route(shape, top_k, scoring):
    check_route(np.random.default_rng(0).standard_normal(shape, np.float32) * 3, top_k, scoring)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_ties(scoring):
    """The lower number first, also of -0 and +0."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        check_route(rng.integers(-2, 3, (20, 12)).astype(np.float32), 6, scoring)
        check_route(rng.choice(np.float32([0, -0.0]), (20, 12)), 5, scoring)
    ids, weights = blockscale.route(np.float32([[-1, -0.0, 0.0, -0.0]]), 3, "logits")
    np.testing.assert_array_equal(ids, [[1, 2, 3]])
    np.testing.assert_array_equal(np.signbit(weights), [[True, False, True]])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scoring", SCORINGS)
def test_what_is_no_number(scoring):
    """NaN is largest, whatever its sign; infinities are numbers like others."""
    inf, nan = np.inf, np.nan
    logits = np.float32([[1, inf, nan, 2, -nan, 3], [-inf, nan, inf, nan, nan, nan], [-inf, 1, -inf, 0, 2, 1]])
    check_route(logits, 4, scoring)
    ids, weights = blockscale.route(logits, 4, scoring)
    np.testing.assert_array_equal(ids, [[2, 4, 1, 5], [1, 3, 4, 5], [4, 1, 5, 3]])
    assert scoring == "logits" or np.isnan(weights[:2]).all()
    # Of infinity alone, the softmax is that of infinity - infinity.
    for row in ([inf, 1, 2, 0], [-inf] * 4):
        ids, weights = blockscale.route(np.float32([row]), 2, "softmax")
        np.testing.assert_array_equal(ids, [[0, 2 if row[1] == 1 else 1]])
        assert np.isnan(weights[0, 0])
    # Far apart, nothing overflows.
    np.testing.assert_array_equal(blockscale.route(np.float32([[-3e38, 3e38]]), 2, "softmax")[1], [[1, 0]])


def test_sums_of_weights():
    logits = np.random.default_rng(2).standard_normal((9, 40), np.float32)
    of_all, of_chosen = (blockscale.route(logits, 6, scoring) for scoring in SCORINGS[1:])
    np.testing.assert_array_equal(of_all[0], of_chosen[0])
    np.testing.assert_allclose(of_chosen[1].sum(axis=1), 1, rtol=1e-6)
    assert (of_all[1].sum(axis=1) < 0.9).all()
    np.testing.assert_allclose(of_all[1] / of_all[1].sum(axis=1, keepdims=True), of_chosen[1], rtol=1e-5)


def test_no_rows():
    for scoring in SCORINGS:
        ids, weights = blockscale.route(np.zeros((0, 5), np.float32), 2, scoring)
        assert ids.shape == weights.shape == (0, 2)


LOGITS = np.zeros((2, 4), np.float32)


@pytest.mark.parametrize("arguments, kind, message", [
    ((LOGITS[0], 2, "softmax"), ValueError, "logits rank: expected 2, got 1"),
    ((LOGITS.astype(np.float64), 2, "softmax"), TypeError, "logits: expected an array of float32, got float64"),
    ((LOGITS, 0, "softmax"), ValueError, "top_k: expected from 1 to 4, got 0"),
    ((LOGITS, 5, "softmax"), ValueError, "top_k: expected from 1 to 4, got 5"),
    ((np.zeros((2, 64), np.float32), 33, "softmax"), ValueError, "top_k: expected from 1 to 32, got 33"),
    ((LOGITS, None, "softmax"), ValueError, "top_k: expected from 1 to 4, got None"),
    ((LOGITS, 2.0, "softmax"), TypeError, "top_k: expected an integer, got float"),
    ((LOGITS, 2, "sigmoid"), ValueError, "scoring: expected one of logits, softmax, softmax_of_chosen, got 'sigmoid'"),
    ((LOGITS, 2, None), ValueError, "scoring: expected one of logits, softmax, softmax_of_chosen, got None"),
])
def test_wrong_arguments_of_route(arguments, kind, message):
    with pytest.raises(kind) as error:
        blockscale.route(*arguments)
    assert str(error.value) == message


def slow_sort(ids, groups):
    slots = [[] for _ in range(groups)]
    for row, line in enumerate(ids.tolist()):
        for slot, group in enumerate(line):
            if 0 <= group < groups:
                slots[group].append((row, slot))
    offsets, rows, positions = [], [], np.full(ids.shape, -1)
    for each in slots:
        for row, slot in each:
            positions[row, slot] = len(rows)
            rows.append(row)
        offsets.append(len(rows))
    return offsets, rows + [-1] * (ids.size - len(rows)), positions


def check_sort(ids, groups):
    got = blockscale.sort_routes(ids, groups)
    assert all(each.dtype == np.int32 for each in got)
    for each, expected in zip(got, slow_sort(ids, groups)):
        np.testing.assert_array_equal(each, expected)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("shape, groups", [((1, 1), 1), ((9, 4), 3), ((40, 2), 36), ((5, 8), 2048), ((0, 2), 3)])
def test_sort_routes(shape, groups, dtype):
    rng = np.random.default_rng(groups)
    check_sort(rng.integers(0, groups, shape).astype(dtype), groups)
    # Some slots are nobody's.
    check_sort(rng.integers(-2, groups + 2, shape).astype(dtype), groups)
    check_sort(rng.choice(np.array([0, groups - 1, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype), shape), groups)
    check_sort(np.full(shape, groups, dtype), groups)


def test_the_lower_half_of_an_id_is_not_all_of_it():
    check_sort(np.array([[2**32 + 1, 1, -(2**32) + 1]]), 3)


def test_rows_of_other_strides():
    check_sort(np.random.default_rng(3).integers(0, 5, (8, 12)).T[::-2], 5)


def test_what_products_do_with_them():
    """A weighted sum of rows that are sorted and put back is that of the rows themselves."""
    rng = np.random.default_rng(4)
    logits, x = rng.standard_normal((9, 6), np.float32), rng.standard_normal((9, 8), np.float32)
    ids, weights = blockscale.route(logits, 2, "softmax_of_chosen")
    ids[4, 1] = 6
    offsets, rows, positions = blockscale.sort_routes(ids, 6)
    group_of = np.searchsorted(offsets, np.arange(18), side="right")
    factors = np.append(rng.standard_normal(6), np.nan)
    source = (x[rows] * factors[group_of, None]).astype(np.float32)
    expected = x * (weights * np.where(ids < 6, factors[ids], 0)).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(blockscale.combine_rows(source, positions, weights), expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("ids, groups, kind, message", [
    (np.zeros(3, np.int32), 2, ValueError, "ids shape: expected (S, J) with J of at least 1, got (3,)"),
    (np.zeros((3, 0), np.int32), 2, ValueError, "ids shape: expected (S, J) with J of at least 1, got (3, 0)"),
    (np.zeros((3, 1), np.uint8), 2, TypeError, "ids: expected an array of int32 or int64, got uint8"),
    ([[0]], 2, TypeError, "ids: expected an array of int32 or int64, got list"),
    (np.zeros((3, 1), np.int32), 0, ValueError, "groups: expected from 1 to 2048, got 0"),
    (np.zeros((3, 1), np.int32), 2049, ValueError, "groups: expected from 1 to 2048, got 2049"),
    (np.zeros((3, 1), np.int32), True, TypeError, "groups: expected an integer, got bool"),
])
def test_wrong_arguments_of_sort_routes(ids, groups, kind, message):
    with pytest.raises(kind) as error:
        blockscale.sort_routes(ids, groups)
    assert str(error.value) == message
