"""mma_scaled against a triple loop in exact rationals, its errors, and its comparison."""

import math
from fractions import Fraction
from itertools import product

import blockscale
import numpy as np
import pytest
from blockscale import compare, decode, encode, error_bound, mma_scaled

ELEMENTS = ["f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN"]
COMBINATIONS = [(x, y, "f8E8M0FNU", 32) for x in ELEMENTS for y in ELEMENTS] + [
    ("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 16),
    ("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16),
]
WIDTHS = {"f8E4M3FN": 8, "f8E5M2": 8, "f6E3M2FN": 6, "f6E2M3FN": 6, "f4E2M1FN": 4}
ONE = {"f8E8M0FNU": 0x7F, "f8E4M3FN": 0x38}


def case_id(row):
    return "-".join(map(str, row))


def types(row):
    return dict(x_type=row[0], y_type=row[1], scale_type=row[2])


def scale_value(code, scale_type):
    if scale_type == "f8E4M3FN":
        return float(decode(code & 0x7F, "f8E4M3FN"))
    return math.nan if code == 0xFF else 2.0 ** (int(code) - 127)


def dot(acc, terms):
    """acc + sum of products, exact; each term is a list of floats, specials included."""

    def times(factors):
        if any(math.isnan(f) for f in factors):
            return math.nan
        if any(math.isinf(f) for f in factors):
            zero = any(f == 0 for f in factors)
            return math.nan if zero else math.prod(math.copysign(1, f) for f in factors) * math.inf
        return math.prod(map(Fraction, factors))

    addends = [times([acc])] + [times(factors) for factors in terms]
    special = [a for a in addends if isinstance(a, float)]
    total = sum(special) if special else float(sum(addends))  # inf - inf is NaN here as well
    with np.errstate(over="ignore"):
        return np.float32(total)


def triple_loop(x, x_scale, y, y_scale, acc, row):
    x_type, y_type, scale_type, block = row
    result = np.empty_like(acc)
    for i, j in np.ndindex(*acc.shape):
        terms = [
            [
                float(decode(x[i, k], x_type)), scale_value(x_scale[i, k // block], scale_type),
                float(decode(y[k, j], y_type)), scale_value(y_scale[k // block, j], scale_type),
            ]
            for k in range(x.shape[1])
        ]
        result[i, j] = dot(float(acc[i, j]), terms)
    return result


def operands(row, m, n, k, seed=0, scales=(0x70, 0x8F), x_batch=(), y_batch=()):
    """Random finite elements; e8m0 scales between the given codes, any finite ue4m3 scales."""
    x_type, y_type, scale_type, block = row
    rng = np.random.default_rng([seed, m, n, k])

    def elements(name, *shape):
        codes = np.arange(2 ** WIDTHS[name], dtype=np.uint8)
        return rng.choice(codes[np.isfinite(decode(codes, name))], shape)

    def scale(*shape):
        low, high = scales if scale_type == "f8E8M0FNU" else (0, 0x7E)
        return rng.integers(low, high + 1, shape, np.uint8)

    batch = np.broadcast_shapes(x_batch, y_batch)
    return [
        elements(x_type, *x_batch, m, k), scale(*x_batch, m, k // block),
        elements(y_type, *y_batch, k, n), scale(*y_batch, k // block, n),
        rng.integers(-50, 50, (*batch, m, n)).astype(np.float32),
    ]


def assert_equal(got, expected):
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, expected)


def test_legal_combinations():
    assert sorted(blockscale.LEGAL_TYPE_COMBINATIONS) == sorted(COMBINATIONS)
    assert len(COMBINATIONS) == 27


@pytest.mark.parametrize("row", COMBINATIONS, ids=case_id)
def test_exact_in_float64(row):
    """Scales close to 1, so that a float64 sum is exact and only the last rounding shows."""
    args = operands(row, 3, 2, 2 * row[3], scales=(0x7D, 0x81))
    assert_equal(mma_scaled(*args, **types(row)), triple_loop(*args, row))


@pytest.mark.parametrize("row", COMBINATIONS, ids=case_id)
def test_every_block_and_operand_counts(row):
    """One element, scale or accumulator changed: exactly its row or column changes."""
    m, n, k = 3, 4, 2 * row[3]
    one = ONE[row[2]]
    x = encode(np.ones((m, k)), row[0])
    y = encode(np.ones((k, n)), row[1])
    args = [x, np.full((m, 2), one, np.uint8), y, np.full((2, n), one, np.uint8)]
    args.append(np.zeros((m, n), np.float32))
    base = np.full((m, n), k, np.float32)
    assert_equal(mma_scaled(*args, **types(row)), base)

    def changed(index, cell, code):
        copies = [a.copy() for a in args]
        copies[index][cell] = code
        return mma_scaled(*copies, **types(row)) - base

    two = {"f8E8M0FNU": 0x80, "f8E4M3FN": 0x40}[row[2]]
    in_row, in_column = np.zeros((m, n)), np.zeros((m, n))
    in_row[1], in_column[:, 2] = 1, 1
    for q in range(2):
        assert_equal(changed(1, (1, q), two), in_row * row[3])
        assert_equal(changed(3, (q, 2), two), in_column * row[3])
    for kk in (0, row[3] - 1, row[3], k - 1):
        assert_equal(changed(0, (1, kk), encode(2.0, row[0])), in_row)
        assert_equal(changed(2, (kk, 2), encode(2.0, row[1])), in_column)
    assert_equal(changed(4, (1, 2), 5), in_row * in_column * 5)


# one special code at a time: operand index, cell, code, row
SPECIALS = [
    *((0, (0, 5), c, r) for c in (0x7F, 0xFF) for r in (0, 4)),  # e4m3 NaN in x
    *((2, (5, 1), c, 1) for c in (0x7C, 0xFC, 0x7D, 0x7E, 0x7F, 0xFF)),  # e5m2 in y
    *((1, (1, 0), c, 0) for c in (0x00, 0x01, 0xFE, 0xFF)),  # e8m0 ends
    *((3, (1, 1), c, 24) for c in (0x00, 0x01, 0xFE, 0xFF)),
    *((1, (1, 0), c, 25) for c in (0x00, 0xFE, 0xFF)),
    *((1, (1, 0), c, 26) for c in (0x00, 0x80, 0x01, 0x81, 0x7E, 0xFE, 0x7F, 0xFF, 0xB8)),
    *((3, (0, 1), c, 26) for c in (0x80, 0xC0, 0x7F, 0xFF)),
    *((4, (0, 0), c, 1) for c in (np.inf, -np.inf, np.nan, -0.0, 3e38)),
]


@pytest.mark.parametrize("index, cell, code, row", SPECIALS)
def test_special_codes(index, cell, code, row):
    row = COMBINATIONS[row]
    args = operands(row, 2, 3, 2 * row[3], scales=(0x7F, 0x7F))
    args[index][cell] = code
    if index in (1, 3):  # the scaled block alone, so that float64 holds the sum exactly
        block = cell[1] if index == 1 else cell[0]
        args[0][:, slice(row[3], None) if block == 0 else slice(row[3])] = 0
        args[4][:] = 0
    assert_equal(mma_scaled(*args, **types(row)), triple_loop(*args, row))


def test_zero_times_infinity_and_difference_of_infinities():
    row = ("f8E5M2", "f8E5M2", "f8E8M0FNU", 32)
    x, xs, y, ys, acc = operands(row, 1, 1, 32, scales=(0x7F, 0x7F))
    plus, minus, zero = 0x7C, 0xFC, 0x00
    cases = [  # x[0], y[0], x[1], y[1], acc, result
        (plus, zero, 0x3C, 0x3C, 0, np.nan), (zero, minus, 0x3C, 0x3C, 0, np.nan),
        (plus, 0x3C, 0x3C, minus, 0, np.nan), (plus, 0xBC, minus, 0x3C, 0, -np.inf),
        (plus, 0x3C, 0x3C, 0x3C, -np.inf, np.nan), (plus, 0x3C, 0x3C, 0x3C, 0, np.inf),
        (plus, minus, 0x3C, 0x3C, 0, -np.inf), (0x3C, 0x3C, 0x3C, 0x3C, -np.inf, -np.inf),
    ]
    for x0, y0, x1, y1, a, expected in cases:
        x[0, :2], y[:2, 0], acc[0, 0] = (x0, x1), (y0, y1), a
        assert_equal(mma_scaled(x, xs, y, ys, acc, **types(row)), np.float32([[expected]]))
        assert_equal(triple_loop(x, xs, y, ys, acc, row), np.float32([[expected]]))


def test_ends_of_e8m0_cancel():
    """2^127 times 2^-127 is 1 in a term; a product of two factors alone leaves float32."""
    row = ("f8E5M2", "f8E4M3FN", "f8E8M0FNU", 32)
    x, y = encode(np.full((1, 32), 57344), row[0]), encode(np.full((32, 1), 448), row[1])
    acc = np.zeros((1, 1), np.float32)
    for a, b, scale in [(0xFE, 0x00, 1), (0x00, 0xFE, 1), (0x00, 0x00, 0), (0xFE, 0xFE, np.inf)]:
        xs, ys = np.full((1, 1), a, np.uint8), np.full((1, 1), b, np.uint8)
        got = mma_scaled(x, xs, y, ys, acc, **types(row))
        assert_equal(got, np.float32([[32 * 57344.0 * 448 * scale]]))


def test_one_rounding_to_float32():
    """Terms too small for a float32 sum count, and a result may be subnormal."""
    row = ("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32)
    x, y = encode(np.ones((1, 32)), row[0]), encode(np.ones((32, 1)), row[1])
    scale = np.full((1, 1), 0x7F, np.uint8)
    tiny = np.full((1, 1), 0x7F - 29, np.uint8)
    acc = np.ones((1, 1), np.float32)
    got = mma_scaled(x, scale, y, tiny, acc, **types(row))  # 1 + 32 * 2^-29, tie to even
    assert got == 1
    acc = np.float32([[1 + 2**-23]])
    got = mma_scaled(x, scale, y, tiny, acc, **types(row))  # the tie goes up here
    assert got == np.float32(1 + 2**-22)
    smallest = np.full((1, 1), 0x00, np.uint8)
    got = mma_scaled(x, scale, y, smallest, np.zeros((1, 1), np.float32), **types(row))
    assert got == 2.0**-122
    x[0, 1:] = 0
    got = mma_scaled(x, scale, y, smallest, np.zeros((1, 1), np.float32), **types(row))
    assert got == 2.0**-127


BATCHES = {
    "x2-y3": ((), (3,)), "x3-y2": ((3,), ()), "x1-y3": ((1,), (3,)), "x3-y1": ((3,), (1,)),
    "x1-y1": ((1,), (1,)), "x3-y3": ((3,), (3,)), "x2-y1": ((), (1,)), "x1-y2": ((1,), ()),
}


@pytest.mark.parametrize("x_batch, y_batch", BATCHES.values(), ids=BATCHES)
def test_batch(x_batch, y_batch):
    row = ("f6E3M2FN", "f8E4M3FN", "f8E8M0FNU", 32)
    x, xs, y, ys, acc = operands(row, 2, 3, 64, x_batch=x_batch, y_batch=y_batch)
    got = mma_scaled(x, xs, y, ys, acc, **types(row))
    assert got.shape == acc.shape and acc.ndim == 3

    def of(array, b):
        return array if array.ndim == 2 else array[b % len(array)]

    for b in range(len(acc)):
        one = [of(a, b) for a in (x, xs, y, ys, acc)]
        assert_equal(got[b], mma_scaled(*one, **types(row)))


def test_block_size_is_checked():
    row = COMBINATIONS[0]
    args = operands(row, 2, 2, 64)
    expected = mma_scaled(*args, **types(row))
    assert_equal(mma_scaled(*args, **types(row), block_size=32), expected)
    with pytest.raises(ValueError, match="block_size: expected 32 = K / K_s, got 16"):
        mma_scaled(*args, **types(row), block_size=16)


@pytest.mark.parametrize("x_type, y_type", product(ELEMENTS, repeat=2))
def test_illegal_combinations(x_type, y_type):
    """Every block size and scale type outside the 27 combinations."""
    for scale_type, block in product(("f8E8M0FNU", "f8E4M3FN"), (1, 8, 16, 32, 64)):
        row = (x_type, y_type, scale_type, block)
        args = operands(row, 2, 2, 64)
        if row in COMBINATIONS:
            mma_scaled(*args, **types(row))
            continue
        with pytest.raises(ValueError, match="expected .*, got"):
            mma_scaled(*args, **types(row))


@pytest.mark.parametrize(
    "name, value",
    [("x_type", "f8E8M0FNU"), ("y_type", "ue4m3"), ("x_type", "f32"), ("scale_type", "ue4m3"),
     ("scale_type", "f8E5M2"), ("y_type", None)],
)
def test_unknown_types(name, value):
    args = operands(COMBINATIONS[0], 2, 2, 64)
    with pytest.raises(ValueError, match=f"{name}: expected one of .*, got {value!r}"):
        mma_scaled(*args, **{**types(COMBINATIONS[0]), name: value})


# operand index, shape instead, part of the message; x is 4x64, y is 64x6
SHAPES = [
    (0, (64,), r"x rank: expected 2 or 3, got 1"),
    (0, (1, 1, 4, 64), r"x rank: expected 2 or 3, got 4"),
    (4, (6,), r"acc rank: expected 2 or 3, got 1"),
    (0, (0, 64), r"M: expected at least 1, got 0"),
    (2, (64, 0), r"N: expected at least 1, got 0"),
    (0, (4, 0), r"K: expected at least 1, got 0"),
    (1, (4, 0), r"K_s: expected at least 1, got 0"),
    (0, (4, 96), r"K of y: expected 96 as in x, got 64"),
    (1, (4, 3), r"y_scale shape: expected \(3, 6\), got \(2, 6\)"),
    (1, (5, 2), r"x_scale shape: expected \(4, 2\), got \(5, 2\)"),
    (1, (1, 4, 2), r"x_scale shape: expected \(4, 2\), got \(1, 4, 2\)"),
    (3, (2, 5), r"y_scale shape: expected \(2, 6\), got \(2, 5\)"),
    (3, (1, 2, 6), r"y_scale shape: expected \(2, 6\), got \(1, 2, 6\)"),
    (4, (4, 5), r"acc shape: expected \(4, 6\), got \(4, 5\)"),
    (4, (1, 4, 6), r"acc shape: expected \(4, 6\), got \(1, 4, 6\)"),
    (4, (6, 4), r"acc shape: expected \(4, 6\), got \(6, 4\)"),
]


@pytest.mark.parametrize("index, shape, message", SHAPES)
def test_illegal_shapes(index, shape, message):
    args = operands(COMBINATIONS[0], 4, 6, 64)
    args[index] = np.zeros(shape, args[index].dtype)
    with pytest.raises(ValueError, match=message):
        mma_scaled(*args, **types(COMBINATIONS[0]))


def test_illegal_k():
    def zeros(k, k_s):
        return [np.zeros(s, np.uint8) for s in ((2, k), (2, k_s), (k, 2), (k_s, 2))]

    acc = np.zeros((2, 2), np.float32)
    with pytest.raises(ValueError, match="K: expected a multiple of K_s = 3, got 64"):
        mma_scaled(*zeros(64, 3), acc, **types(COMBINATIONS[0]))
    with pytest.raises(ValueError, match="K: expected a multiple of K_s = 2, got 33"):
        mma_scaled(*zeros(33, 2), acc, **types(COMBINATIONS[0]))
    with pytest.raises(ValueError, match=r"block size K / K_s: expected one of \[32\].*, got 64"):
        mma_scaled(*zeros(64, 1), acc, **types(COMBINATIONS[0]))


def test_illegal_batches():
    row = COMBINATIONS[0]
    x, xs, _, _, acc = operands(row, 2, 2, 32, x_batch=(3,), y_batch=(3,))
    _, _, y, ys, _ = operands(row, 2, 2, 32, x_batch=(2,), y_batch=(2,))
    with pytest.raises(ValueError, match=r"batch of y: expected 1 or \[3\] as in x, got \[2\]"):
        mma_scaled(x, xs, y, ys, acc, **types(row))
    with pytest.raises(ValueError, match=r"acc shape: expected \(3, 2, 2\), got \(1, 2, 2\)"):
        mma_scaled(x, xs, y[0], ys[0], acc[:1], **types(row))
    with pytest.raises(ValueError, match=r"x_scale shape: expected \(3, 2, 1\), got \(1, 2, 1\)"):
        mma_scaled(x, xs[:1], y[0], ys[0], acc, **types(row))
    with pytest.raises(ValueError, match=r"acc shape: expected \(3, 2, 2\), got \(2, 2\)"):
        mma_scaled(x, xs, y[0], ys[0], acc[0], **types(row))


@pytest.mark.parametrize("index, name", enumerate(["x", "x_scale", "y", "y_scale", "acc"]))
def test_illegal_arrays(index, name):
    args = operands(COMBINATIONS[0], 2, 2, 32)
    for wrong in (args[index].astype(np.int16), args[index].astype(np.float64), [[1]]):
        with pytest.raises(TypeError, match=f"^{name}: expected an array of (uint8 or .*|float32), got"):
            mma_scaled(*args[:index], wrong, *args[index + 1 :], **types(COMBINATIONS[0]))


def test_wide_code_is_named():
    row = ("f6E2M3FN", "f4E2M1FN", "f8E8M0FNU", 32)
    args = operands(row, 2, 2, 32)
    args[2][3, 1] = 0x10
    with pytest.raises(ValueError, match=r"^y: f4E2M1FN code at index \(3, 1\): 16, expected 0 to 15"):
        mma_scaled(*args, **types(row))


def test_error_bound():
    row = ("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32)
    x, xs, y, ys, acc = operands(row, 2, 3, 64)
    bound, comparable = error_bound(x, xs, y, ys, acc, **types(row))
    assert bound.dtype == np.float64 and comparable.dtype == bool and comparable.all()
    x_value = decode(x, row[0]) * np.repeat(decode(xs, row[2]), 32, 1)
    y_value = decode(y, row[1]) * np.repeat(decode(ys, row[2]), 32, 0)
    for i, j in np.ndindex(2, 3):
        terms = abs(acc[i, j]) + np.abs(x_value[i] * y_value[:, j]).sum()
        assert bound[i, j] == pytest.approx(64 * 2**-22 * terms + 2**-122, rel=1e-12)


def test_error_bound_of_zero():
    """2^-122 is left for results in the subnormal range."""
    args = operands(COMBINATIONS[0], 2, 3, 32)
    args[0][:], args[4][:] = 0, 0
    bound, comparable = error_bound(*args, **types(COMBINATIONS[0]))
    assert_equal(np.float32(bound), np.full((2, 3), 2.0**-122))
    assert comparable.all()


def bound_case(x0, x_scale, acc, y0=1.0):
    """1x1 with K = 32: x = [x0, 1, 0, ...], y = [y0, 1, 0, ...]; e5m2."""
    row = ("f8E5M2", "f8E5M2", "f8E8M0FNU", 32)
    x = encode([[x0, 1.0] + [0.0] * 30], row[0], saturate=False)
    y = encode([[y0], [1.0]] + [[0.0]] * 30, row[1], saturate=False)
    scales = np.uint8([[x_scale]]), np.uint8([[0x7F]])
    return [x, scales[0], y, scales[1], np.float32([[acc]])], types(row)


@pytest.mark.parametrize(
    "x0, x_scale, acc, y0, comparable",
    [
        (0.0, 0x7F + 126, 0.0, 1.0, True),  # 2^126
        (2.0**-16, 0x7F + 126, 0.0, 1.0, False),  # just above
        (1.0, 0x7F + 125, 0.0, 1.0, True), (-1.0, 0x7F + 126, 0.0, 1.0, False),
        (0.0, 0x7F, 1.5 * 2.0**126, 1.0, False),  # acc counts as well
        (np.inf, 0x7F, 0.0, 1.0, True),  # an infinity is no overflow
        (np.inf, 0x7F + 127, 0.0, 1.0, False),
        (np.nan, 0x7F + 127, 0.0, 1.0, True), (1.0, 0xFF, 0.0, 1.0, True),
        (1.0, 0x7F + 127, np.nan, 1.0, True),
        (np.inf, 0x7F + 127, -np.inf, 1.0, True),  # inf - inf
        (0.0, 0x7F + 127, 0.0, np.inf, True),  # 0 * inf
    ],
)
def test_comparable(x0, x_scale, acc, y0, comparable):
    args, names = bound_case(x0, x_scale, acc, y0)
    bound, mask = error_bound(*args, **names)
    assert mask.tolist() == [[comparable]]
    expected = mma_scaled(*args, **names)
    assert not comparable or (bound[0, 0] == 0) == (not np.isfinite(expected[0, 0]))
    compare(expected, *args, **names)
    wrong = np.float32([[12345.0]])
    if comparable:
        with pytest.raises(AssertionError):
            compare(wrong, *args, **names)
    else:
        compare(wrong, *args, **names)


def test_compare_takes_the_bound_and_no_more():
    row = ("f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32)
    args = operands(row, 3, 4, 64)
    expected = mma_scaled(*args, **types(row))
    bound, _ = error_bound(*args, **types(row))
    compare(expected, *args, **types(row))
    compare((expected + 0.9 * bound).astype(np.float32), *args, **types(row))
    for cell in np.ndindex(3, 4):
        wrong = expected.copy()
        wrong[cell] -= np.float32(1.1 * bound[cell])
        with pytest.raises(AssertionError) as error:
            compare(wrong, *args, **types(row))
        message = str(error.value)
        assert f"cell {cell}: expected {expected[cell]}, got {wrong[cell]}" in message
        assert f"bound {bound[cell]:g}; 1 of 12 compared cells" in message


@pytest.mark.parametrize("x0, acc", [(np.inf, 0.0), (-np.inf, 0.0), (np.nan, 0.0), (1.0, np.inf)])
def test_compare_specials(x0, acc):
    args, names = bound_case(x0, 0x7F, acc)
    expected = mma_scaled(*args, **names)
    compare(expected, *args, **names)
    for wrong in {np.inf, -np.inf, 0.0, 3e38} - {float(expected[0, 0])}:
        with pytest.raises(AssertionError, match=r"cell \(0, 0\)"):
            compare(np.float32([[wrong]]), *args, **names)


def test_compare_refuses_nan_for_a_number():
    args = operands(COMBINATIONS[0], 2, 2, 32)
    wrong = mma_scaled(*args, **types(COMBINATIONS[0]))
    wrong[1, 0] = np.nan
    with pytest.raises(AssertionError, match=r"cell \(1, 0\): expected .*, got nan.* relative error nan$"):
        compare(wrong, *args, **types(COMBINATIONS[0]))


@pytest.mark.parametrize("x0, scale, wrong, relative", [
    (0x38, 0x7F, np.inf, "inf"), (0x38, 0x7F, -np.inf, "inf"), (0, 0x7F, np.inf, "inf"), (0, 0x7F, np.nan, "nan"),
    (0x38, 0xFF, 1.0, "nan"),
])
def test_relative_error_of_what_is_not_finite(x0, scale, wrong, relative):
    args, names = bound_case(x0, scale, 0.0)
    with pytest.raises(AssertionError, match=f"1 of 1 compared cells are wrong, relative error {relative}$"):
        compare(np.float32([[wrong]]), *args, **names)


def test_compare_gives_the_relative_error():
    row = ("f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32)
    args = operands(row, 3, 4, 64)
    expected = mma_scaled(*args, **types(row))
    bound, _ = error_bound(*args, **types(row))
    near = (expected + 0.9 * bound).astype(np.float32)
    error = np.linalg.norm(near.astype(np.float64) - expected) / np.linalg.norm(expected.astype(np.float64))
    assert compare(expected, *args, **types(row)) == 0
    assert 0 < compare(near, *args, **types(row)) == error < 1e-3
    with pytest.raises(AssertionError, match="12 of 12 compared cells are wrong, relative error 0.992$"):
        compare(expected * np.float32(2**-7), *args, **types(row))


@pytest.mark.parametrize("x0, acc", [(0x38, 0.0), (0, 0.0), (0x7F, 1.0)])
def test_relative_error_of_zeros_and_nan(x0, acc):
    args, names = bound_case(x0, 0x7F, acc)
    assert compare(mma_scaled(*args, **names), *args, **names) == 0


def test_compare_checks_type_and_shape():
    args = operands(COMBINATIONS[0], 2, 3, 32)
    expected = mma_scaled(*args, **types(COMBINATIONS[0]))
    for wrong in (expected.astype(np.float64), expected.T, expected[None], expected[:1]):
        with pytest.raises(AssertionError, match="result: expected float32 of shape"):
            compare(wrong, *args, **types(COMBINATIONS[0]))


def test_minus_zero_is_zero():
    args = operands(("f8E4M3FN",) * 2 + ("f8E8M0FNU", 32), 1, 1, 32)
    args[0][:] = 0x80
    args[4][:] = -0.0
    compare(np.float32([[0.0]]), *args, **types(COMBINATIONS[0]))
    compare(np.float32([[-0.0]]), *args, **types(COMBINATIONS[0]))


def test_seed_example_row_major():
    """Ones (2, 64) by ones (64, 2), scales 2: 256."""
    x = encode(np.ones((2, 64)), "f8E4M3FN")
    y = encode(np.ones((64, 2)), "f8E4M3FN")
    scales = encode(np.full((2, 2), 2.0), "f8E8M0FNU")
    got = mma_scaled(x, scales, y, scales, np.zeros((2, 2), np.float32), **types(COMBINATIONS[0]))
    assert_equal(got, np.full((2, 2), 256.0))


def test_seed_example_swizzled():
    """Ones 128 x 128 x 128, scales 2 through the 32x4x4 layout: 512."""
    x = encode(np.ones((128, 128)), "f8E4M3FN")
    y = encode(np.ones((128, 128)), "f8E4M3FN").T
    tile = blockscale.swizzle_scales(encode(np.full((128, 4), 2.0), "f8E8M0FNU"))
    x_scale = blockscale.unswizzle_scales(tile, (128, 4))
    y_scale = blockscale.unswizzle_scales(tile, (128, 4)).T
    acc = np.zeros((128, 128), np.float32)
    got = mma_scaled(x, x_scale, y, y_scale, acc, **types(COMBINATIONS[0]))
    assert_equal(got, np.full((128, 128), 512.0))
