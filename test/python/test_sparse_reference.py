"""sparse_mma_scaled against a loop over fields in exact rationals, and its errors."""

import math
from fractions import Fraction
from itertools import product

import blockscale
import numpy as np
import pytest
from blockscale import compress, decode, decompress, encode, mma_scaled, sparse_mma_scaled, sums

ELEMENTS = ["f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN"]
FIELDS = [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]
WIDTH = {"2:4": 1, "pairs": 2}
E8M0, UE4M3, FP4 = "f8E8M0FNU", "f8E4M3FN", "f4E2M1FN"

PAIRS = list(product(ELEMENTS, repeat=2))
ROWS = [(x, y, E8M0, granularity, block) for granularity in WIDTH for block in (32, 64) for x, y in PAIRS]
ROWS += [
    (FP4, FP4, scale, granularity, block)
    for scale, block in ((E8M0, 16), (UE4M3, 16), (UE4M3, 32)) for granularity in WIDTH
]
# One for each granularity, scale and B.
FEW = [
    ("f8E4M3FN", "f8E5M2", E8M0, "2:4", 64), ("f6E2M3FN", "f8E4M3FN", E8M0, "2:4", 32),
    ("f8E5M2", "f6E3M2FN", E8M0, "pairs", 32), ("f8E4M3FN", FP4, E8M0, "pairs", 64), (FP4, FP4, E8M0, "2:4", 64), (FP4, FP4, E8M0, "pairs", 64),
    (FP4, FP4, E8M0, "pairs", 32), (FP4, FP4, UE4M3, "pairs", 32), (FP4, FP4, UE4M3, "2:4", 16),
    (FP4, FP4, E8M0, "pairs", 16),
]


def case_id(row):
    return "-".join(map(str, row))


def names(row):
    return dict(x_type=row[0], y_type=row[1], scale_type=row[2], granularity=row[3])


def scale_value(code, scale_type):
    if scale_type == UE4M3:
        return float(decode(code & 0x7F, UE4M3))
    return math.nan if code == 0xFF else 2.0 ** (int(code) - 127)


# The oracle


def times(factors):
    if any(math.isnan(f) for f in factors):
        return math.nan
    if any(math.isinf(f) for f in factors):
        zero = any(f == 0 for f in factors)
        return math.nan if zero else math.prod(math.copysign(1, f) for f in factors) * math.inf
    return math.prod(map(Fraction, factors))


def add(numbers):
    """The sum, exact, and rounded to float32 through float64; of zeros alone as IEEE 754 adds them."""
    addends = [times(factors) for factors in numbers]
    special = [a for a in addends if isinstance(a, float)]
    with np.errstate(over="ignore"):
        if special:
            return np.float32(sum(special))  # inf - inf is NaN here as well
        minus = all(math.prod(math.copysign(1, f) for f in factors) < 0 for factors in numbers)
        if minus and not any(addends):
            return np.float32(-0.0)
        return np.float32(float(sum(addends)))


def fields_of(metadata):
    return [nibble for byte in metadata.tolist() for nibble in (byte & 15, byte >> 4)]


def by_fields(x, metadata, x_scale, y, y_scale, acc, row):
    """Each field names two units of its chunk; nothing else is read."""
    x_type, y_type, scale_type, granularity, block = row
    w = WIDTH[granularity]
    result = np.empty_like(acc)
    for m, n in np.ndindex(*acc.shape):
        terms = [[float(acc[m, n])]]
        for c, f in enumerate(fields_of(metadata[m])):
            for i, e in product(range(2), range(w)):
                p = 4 * w * c + w * (f >> 2 * i & 3) + e
                terms.append([
                    float(decode(x[m, 2 * w * c + w * i + e], x_type)), scale_value(x_scale[m, p // block], scale_type),
                    float(decode(y[p, n], y_type)), scale_value(y_scale[p // block, n], scale_type),
                ])
        result[m, n] = add(terms)
    return result


def operands(row, m, n, k, seed=0, scales=(0x7D, 0x81), x_batch=(), y_batch=(), finite=True):
    """Random elements and fields; e8m0 scales between the given codes, any finite ue4m3 scales."""
    x_type, y_type, scale_type, granularity, block = row
    rng = np.random.default_rng([seed, m, n, k])

    def elements(name, *shape):
        codes = np.arange(2 ** blockscale.FORMATS[name].bits, dtype=np.uint8)
        return rng.choice(codes[np.isfinite(decode(codes, name))] if finite else codes, shape)

    def scale(*shape):
        low, high = scales if scale_type == E8M0 else (0, 0x7E)
        return rng.integers(low, high + 1, shape, np.uint8)

    low, high = rng.choice(np.uint8(FIELDS), (2, *x_batch, m, k // 8 // WIDTH[granularity]))
    batch = np.broadcast_shapes(x_batch, y_batch)
    return [
        elements(x_type, *x_batch, m, k // 2), low | high << 4, scale(*x_batch, m, k // block),
        elements(y_type, *y_batch, k, n), scale(*y_batch, k // block, n),
        rng.integers(-50, 50, (*batch, m, n)).astype(np.float32),
    ]


def assert_equal(got, expected):
    """To the bit, with one NaN."""
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(expected[numbers]))


def check(args, row):
    got = sparse_mma_scaled(*args, **names(row))
    assert_equal(got, by_fields(*args, row))
    return got


# Results


def test_legal_combinations():
    assert len(ROWS) == 106
    assert sorted(blockscale.SPARSE_TYPE_COMBINATIONS) == sorted(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=case_id)
def test_exact_in_float64(row):
    """Scales close to 1, so that a float64 sum is exact and only the last rounding shows."""
    check(operands(row, 3, 2, 2 * row[4]), row)


@pytest.mark.parametrize("row", FEW, ids=case_id)
@pytest.mark.parametrize("low, high", product(FIELDS, repeat=2))
def test_every_field(row, low, high):
    args = operands(row, 2, 3, row[4], seed=low)
    args[1][:] = low | high << 4
    check(args, row)


@pytest.mark.parametrize("row", FEW, ids=case_id)
def test_is_the_dense_product_of_what_is_decompressed(row):
    """Where y is finite, and for B that the dense product has."""
    args = operands(row, 5, 4, 192)
    x, metadata, *others = args
    dense = decompress(x, metadata, row[0], row[3])
    types = dict(x_type=row[0], y_type=row[1], scale_type=row[2])
    if row[:3] + row[4:] in blockscale.LEGAL_TYPE_COMBINATIONS:
        assert_equal(sparse_mma_scaled(*args, **names(row)), mma_scaled(dense, *others, **types))


def test_of_sparse_values():
    """sparsify, quantize, compress and multiply: as the dense product, with either rule for empty chunks."""
    x = np.random.default_rng(0).standard_normal((6, 128)).astype(np.float32)
    x[2, :64], x[3], x[4, ::3] = 0, 0, -0.0
    y, y_scale = blockscale.quantize(np.random.default_rng(1).standard_normal((5, 128)).astype(np.float32), "mxfp8")
    acc = np.ones((6, 5), np.float32)
    for granularity, cutlass in product(WIDTH, (False, True)):
        codes, x_scale = blockscale.quantize(blockscale.sparsify(x, granularity), "mxfp4")
        kept, metadata = compress(codes, "f4E2M1FN", granularity, cutlass)
        assert (metadata == 0).any() == cutlass
        assert_equal(
            sparse_mma_scaled(
                kept, metadata, x_scale, y.T, y_scale.T, acc, x_type="mxfp4", y_type="mxfp8", granularity=granularity
            ),
            mma_scaled(codes, x_scale, y.T, y_scale.T, acc, x_type="mxfp4", y_type="mxfp8"),
        )


@pytest.mark.parametrize("row", FEW, ids=case_id)
def test_a_scale_covers_logical_elements(row):
    """One scale doubled: half a block of kept elements of its row, or a block of y, counts twice."""
    m, n, k, block = 3, 4, 3 * row[4], row[4]
    one, two = {E8M0: (0x7F, 0x80), UE4M3: (0x38, 0x40)}[row[2]]
    args = [
        encode(np.ones((m, k // 2)), row[0]), operands(row, m, n, k)[1], np.full((m, 3), one, np.uint8),
        encode(np.ones((k, n)), row[1]), np.full((3, n), one, np.uint8), np.zeros((m, n), np.float32),
    ]
    base = np.full((m, n), k // 2, np.float32)
    assert_equal(sparse_mma_scaled(*args, **names(row)), base)
    for q in range(3):
        for index, cell in ((2, (1, q)), (4, (q, 2))):
            copies = [a.copy() for a in args]
            copies[index][cell] = two
            expected = base.copy()
            expected[(1, np.s_[:]) if index == 2 else (np.s_[:], 2)] += block // 2
            assert_equal(sparse_mma_scaled(*copies, **names(row)), expected)


# NaN, infinity and zeros

NANS = {"f8E4M3FN": (0x7F, 0xFF), "f8E5M2": (0x7D, 0xFE, 0x7C, 0xFC)}  # and infinities


@pytest.mark.parametrize("y_type, code", [(name, code) for name, codes in NANS.items() for code in codes])
@pytest.mark.parametrize("granularity", WIDTH)
@pytest.mark.parametrize("field", FIELDS)
def test_what_is_not_kept_does_nothing(y_type, code, granularity, field):
    """NaN and infinity of y at every position of a chunk, kept or not."""
    row, w = ("f8E5M2", y_type, E8M0, granularity, 32), WIDTH[granularity]
    args = operands(row, 2, 2, 64)
    args[1][:] = field | field << 4
    clean = args[3].copy()
    base = sparse_mma_scaled(*args, **names(row))
    for p in range(4 * w):
        args[3] = clean.copy()
        args[3][32 + p, 1] = code
        got = check(args, row)
        assert_equal(got[:, 0], base[:, 0])
        if p // w in (field & 3, field >> 2):
            assert not np.isfinite(got[:, 1]).any()
        else:
            assert_equal(got, base)


@pytest.mark.parametrize("code", [0x7F, 0x7C, 0xFC])
def test_a_kept_zero_is_a_factor(code):
    """0 * NaN and 0 * infinity are NaN, also where compress put the zero to fill up."""
    row = ("f8E4M3FN", "f8E5M2", E8M0, "2:4", 64)
    args = operands(row, 1, 4, 64)
    args[0][:], args[1][:] = 0x38, 0xEE
    args[0][0, :2], args[1][0, 0] = (0x38, 0), 0xED  # of chunk 0: 1 is a number, 3 a zero
    for p in range(4):
        args[3][p] = 0x3C
        args[3][p, p] = code
    got = check(args, row)
    assert np.isfinite(got[0]).tolist() == [True, False, True, False] and np.isnan(got[0, 3])
    dense = np.zeros((1, 64), np.uint8)
    dense[0, 1] = 0x38
    args[0], args[1] = compress(dense, "f8E4M3FN", "2:4")
    assert args[1][0, 0] == 0x4D
    assert np.isnan(check(args, row)[0, 3])


@pytest.mark.parametrize("granularity", WIDTH)
def test_0000_reads_the_first_unit(granularity):
    """Zeros times what is at position 0, and nothing else, is read."""
    row, w = ("f8E4M3FN", "f8E4M3FN", E8M0, granularity, 32), WIDTH[granularity]
    args = operands(row, 2, 4 * w, 32)
    args[1][0, 0] &= 0xF0
    args[0][0, : 2 * w] = [0, 0x80] * w
    for p in range(4 * w):
        args[3][p, p] = 0x7F
    got = check(args, row)
    assert np.isnan(got[0]).tolist() == [True] * w + [False] * 3 * w


@pytest.mark.parametrize("row", FEW[:4], ids=case_id)
@pytest.mark.parametrize("scales", [(0x7D, 0x81), (0xFA, 0xFF)])
def test_random_specials(row, scales):
    """NaN and infinities among all operands, and scales of NaN."""
    for seed in range(4):
        args = operands(row, 6, 7, 2 * row[4], seed=seed, scales=scales, finite=False)
        args[5][seed, :4] = np.nan, np.inf, -np.inf, -0.0
        # Few in each column of y, so that some results are numbers.
        y_values = decode(args[3], row[1])
        args[3][~np.isfinite(y_values) & (np.random.default_rng(seed).random(y_values.shape) < 0.8)] = 0
        check(args, row)


def test_differences_of_infinities():
    row = ("f8E5M2", "f8E5M2", E8M0, "2:4", 64)
    for x0, y0, x1, y1, acc in product((0x7C, 0xFC, 0x3C, 0), (0x7C, 0xBC, 0), (0xFC, 0x3C), (0x7C, 0x3C), (0, np.inf)):
        x, metadata, x_scale, y, y_scale, sums_ = operands(row, 1, 1, 64, scales=(0x7F, 0x7F))
        metadata[:] = 0xC9
        x[0, :2], y[1:3, 0], sums_[0, 0] = (x0, x1), (y0, y1), acc
        y[0], y[3] = 0x7F, 0xFC  # not kept
        check([x, metadata, x_scale, y, y_scale, sums_], row)


@pytest.mark.parametrize("acc", [0.0, -0.0])
@pytest.mark.parametrize("x, y", [(0, 0x38), (0x80, 0x38), (0, 0), (0x80, 0xB8), (0, 0xB8)])
def test_sign_of_zero(acc, x, y):
    """A sum is -0 if acc and all products are, and what is not kept is no product."""
    row = ("f8E4M3FN", "f8E4M3FN", E8M0, "2:4", 64)
    args = operands(row, 2, 3, 64)
    args[0][:], args[3][:], args[5][:] = x, y, acc
    check(args, row)
    args[0][1, 5], args[3][7, 2] = x ^ 0x80, y ^ 0x80
    check(args, row)
    args[1][0, 0], args[3][3, :] = 0x44, (0x38, 0x7F, 0xFF)  # not kept in the first row
    check(args, row)


def test_order_of_a_sum_that_is_zero():
    """1 + 2^-53 is a tie, so that acc = -0 is left with +0; the other way round it is 2^-53."""
    row = ("f8E5M2", "f8E5M2", E8M0, "2:4", 64)
    x, metadata, x_scale, y, y_scale, acc = operands(row, 1, 1, 3 * 64, scales=(0x7F, 0x7F))
    x[:], y[:], acc[:] = 0, 0x3C, -0.0
    x[0, ::32], x_scale[0, 1] = (0x3C, 0x3C, 0xBC), 0x7F - 53
    assert_equal(sparse_mma_scaled(x, metadata, x_scale, y, y_scale, acc, **names(row)), np.zeros((1, 1), np.float32))


def test_one_rounding_to_float32():
    row = (FP4, FP4, E8M0, "pairs", 64)
    args = operands(row, 1, 1, 64)
    args[0][:], args[3][:], args[4][:], args[2][:] = 0x2, 0x2, 0x7F, 0x7F - 29
    args[5][:] = 1
    assert check(args, row) == 1  # 1 + 32 * 2^-29, a tie, to even
    args[5][:] = 1 + 2**-23
    assert check(args, row) == np.float32(1 + 2**-22)
    args[2][:], args[5][:] = 0, 0
    assert check(args, row) == 2.0**-122
    args[2][:], args[4][:], args[0][0, 0] = 0xFE, 0xFE, 0xA
    assert check(args, row) == np.inf


@pytest.mark.parametrize("start, first", [(0, (1, 2.0**-12)), (1, (2.0**-12, 0))])
def test_order_is_part_of_the_result(start, first):
    """As in mma_scaled: acc first, then k ascending, in float64. The exact sum rounds otherwise."""
    row = ("f8E5M2", "f8E5M2", E8M0, "2:4", 64)
    x, metadata, x_scale, y, y_scale, acc = operands(row, 2, 3, 16 * 64, scales=(0x7F, 0x7F))
    x[:], y[:], acc[:] = 0, 0x3C, start
    metadata[:, 0] = 0x44
    x[:, :2] = encode(first, "f8E5M2")  # with acc, 1 + 2^-24, a tie
    y[:2] = x[:1, :2].T
    x[:, 32:], x_scale[:, 1:] = encode(2.0**-14, "f8E5M2"), 127 - 40  # and many 2^-54, each of which is lost
    y[2:4, 2] = 0x7D  # the sums of this column are taken again
    got = sparse_mma_scaled(x, metadata, x_scale, y, y_scale, acc, **names(row))
    assert (got == 1).all() and (by_fields(x, metadata, x_scale, y, y_scale, acc, row) > 1).all()


def test_many_cells_are_taken_again(monkeypatch):
    """An infinity in every column of y: in parts, all the same."""
    monkeypatch.setattr(sums, "_GATHERED_VALUES", 100)
    row = ("f8E4M3FN", "f8E5M2", E8M0, "2:4", 64)
    args = operands(row, 9, 8, 128)
    args[3][17] = 0x7C
    got = check(args, row)
    assert 0 < np.isinf(got).sum() < got.size


BATCHES = {
    "x2-y3": ((), (3,)), "x3-y2": ((3,), ()), "x1-y3": ((1,), (3,)), "x3-y1": ((3,), (1,)),
    "x1-y1": ((1,), (1,)), "x3-y3": ((3,), (3,)), "x2-y1": ((), (1,)), "x1-y2": ((1,), ()),
}


@pytest.mark.parametrize("x_batch, y_batch", BATCHES.values(), ids=BATCHES)
def test_batch(x_batch, y_batch):
    row = ("f6E3M2FN", "f8E4M3FN", E8M0, "2:4", 64)
    args = operands(row, 2, 3, 64, x_batch=x_batch, y_batch=y_batch)
    args[3][..., 5, 1] = 0x7F
    got = sparse_mma_scaled(*args, **names(row))
    assert got.shape == args[5].shape and got.ndim == 3

    def of(array, b):
        return array if array.ndim == 2 else array[b % len(array)]

    for b in range(len(got)):
        assert_equal(got[b], by_fields(*[of(a, b) for a in args], row))


def test_operands_stay():
    row = FEW[0]
    args = operands(row, 2, 3, 64, finite=False)
    copies = [a.copy() for a in args]
    sparse_mma_scaled(*args, **names(row))
    for one, other in zip(args, copies):
        np.testing.assert_array_equal(one, other)


# Errors

ROW = ("f8E4M3FN", "f8E4M3FN", E8M0, "2:4", 64)


@pytest.mark.parametrize("granularity", WIDTH)
@pytest.mark.parametrize("x_type, y_type", PAIRS)
def test_illegal_combinations(x_type, y_type, granularity):
    """Every block size and scale type outside the 106 combinations."""
    for scale_type, block in product((E8M0, UE4M3), (1, 8, 16, 32, 64, 128)):
        row = (x_type, y_type, scale_type, granularity, block)
        args = operands(row, 2, 2, 128)
        if row in ROWS:
            sparse_mma_scaled(*args, **names(row))
            continue
        with pytest.raises(ValueError, match="^(x_type and y_type|block size K / K_s): expected .*, got"):
            sparse_mma_scaled(*args, **names(row))


def test_messages_of_combinations():
    args = operands(ROW, 2, 2, 128)
    with pytest.raises(ValueError, match=r"^block size K / K_s: expected one of \[32, 64\] for these types, got 128$"):
        sparse_mma_scaled(*args[:2], args[2][:, :1], args[3], args[4][:1], args[5], **names(ROW))
    message = r"^x_type and y_type: expected \[\('f4E2M1FN', 'f4E2M1FN'\)\] with f8E4M3FN scales, got"
    with pytest.raises(ValueError, match=message):
        sparse_mma_scaled(*args, **{**names(ROW), "scale_type": UE4M3})


def test_block_size_is_checked():
    args = operands(ROW, 2, 2, 128)
    assert_equal(sparse_mma_scaled(*args, **names(ROW), block_size=64), sparse_mma_scaled(*args, **names(ROW)))
    with pytest.raises(ValueError, match="^block_size: expected 64 = K / K_s, got 32$"):
        sparse_mma_scaled(*args, **names(ROW), block_size=32)
    with pytest.raises(ValueError, match="^block_size: expected 64 = K / K_s, got 32$"):
        sparse_mma_scaled(*args, x_type="mxfp8", y_type="mxfp8", granularity="2:4")


@pytest.mark.parametrize("name, value, expected", [
    ("x_type", "f8E8M0FNU", "one of f8E4M3FN, .*"), ("y_type", "ue4m3", "one of f8E4M3FN, .*"),
    ("y_type", None, "one of f8E4M3FN, .*"),
    ("scale_type", "ue4m3", "one of f8E8M0FNU, f8E4M3FN"), ("granularity", "4:8", "one of 2:4, pairs"),
    ("granularity", None, "one of 2:4, pairs"),
])
def test_unknown_names(name, value, expected):
    args = operands(ROW, 2, 2, 64)
    with pytest.raises(ValueError, match=f"^{name}: expected {expected}, got {value!r}$"):
        sparse_mma_scaled(*args, **{**names(ROW), name: value})


# operand index, shape instead, the message; x is 4 x 64, metadata 4 x 16, y 128 x 6
SHAPES = [
    (0, (64,), "x rank: expected 2 or 3, got 1"),
    (0, (1, 1, 4, 64), "x rank: expected 2 or 3, got 4"),
    (1, (16,), "metadata shape: expected (4, 16), got (16,)"),
    (1, (4, 8), "metadata shape: expected (4, 16), got (4, 8)"),
    (1, (5, 16), "metadata shape: expected (4, 16), got (5, 16)"),
    (1, (1, 4, 16), "metadata shape: expected (4, 16), got (1, 4, 16)"),
    (5, (6,), "acc rank: expected 2 or 3, got 1"),
    (0, (0, 64), "M: expected at least 1, got 0"),
    (3, (128, 0), "N: expected at least 1, got 0"),
    (0, (4, 0), "K: expected at least 1, got 0"),
    (2, (4, 0), "K_s: expected at least 1, got 0"),
    (0, (4, 128), "K of y: expected 256, twice the last dimension of x, got 128"),
    (3, (64, 6), "K of y: expected 128, twice the last dimension of x, got 64"),
    (2, (4, 3), "y_scale shape: expected (3, 6), got (2, 6)"),
    (2, (5, 2), "x_scale shape: expected (4, 2), got (5, 2)"),
    (2, (1, 4, 2), "x_scale shape: expected (4, 2), got (1, 4, 2)"),
    (4, (2, 5), "y_scale shape: expected (2, 6), got (2, 5)"),
    (5, (4, 5), "acc shape: expected (4, 6), got (4, 5)"),
    (5, (1, 4, 6), "acc shape: expected (4, 6), got (1, 4, 6)"),
]


@pytest.mark.parametrize("index, shape, message", SHAPES)
def test_illegal_shapes(index, shape, message):
    args = operands(ROW, 4, 6, 128)
    args[index] = np.zeros(shape, args[index].dtype)
    with pytest.raises(ValueError) as error:
        sparse_mma_scaled(*args, **names(ROW))
    assert str(error.value) == message


def test_illegal_k_and_batches():
    args = operands(ROW, 2, 2, 128)
    with pytest.raises(ValueError, match="^K: expected a multiple of K_s = 3, got 128$"):
        args[2], args[4] = np.zeros((2, 3), np.uint8), np.zeros((3, 2), np.uint8)
        sparse_mma_scaled(*args, **names(ROW))
    x, metadata, x_scale, _, _, acc = operands(ROW, 2, 2, 64, x_batch=(3,), y_batch=(3,))
    _, _, _, y, y_scale, _ = operands(ROW, 2, 2, 64, y_batch=(2,))
    with pytest.raises(ValueError, match=r"^batch of y: expected 1 or \[3\] as in x, got \[2\]$"):
        sparse_mma_scaled(x, metadata, x_scale, y, y_scale, acc, **names(ROW))
    with pytest.raises(ValueError, match=r"^metadata shape: expected \(3, 2, 8\), got \(1, 2, 8\)$"):
        sparse_mma_scaled(x, metadata[:1], x_scale, y[0], y_scale[0], acc, **names(ROW))
    with pytest.raises(ValueError, match=r"^acc shape: expected \(3, 2, 2\), got \(2, 2\)$"):
        sparse_mma_scaled(x, metadata, x_scale, y[0], y_scale[0], acc[0], **names(ROW))


def test_packed_x():
    row = (FP4, FP4, E8M0, "pairs", 64)
    args = operands(row, 2, 3, 64)
    args[0] = blockscale.pack(args[0], FP4)
    hint = r" \(is x packed\? here a code has a byte: unpack\(x, 'f4E2M1FN'\)\)"
    with pytest.raises(ValueError, match=f"^K of y: expected 32, twice the last dimension of x{hint}, got 64$"):
        sparse_mma_scaled(*args, **names(row))


@pytest.mark.parametrize("index, name", enumerate(["x", "metadata", "x_scale", "y", "y_scale", "acc"]))
def test_illegal_arrays(index, name):
    args = operands(ROW, 2, 2, 64)
    for wrong in (args[index].astype(np.int16), args[index].astype(np.float64), [[1]]):
        with pytest.raises(TypeError, match=f"^{name}: expected an array of (uint8|uint8 or .*|float32), got"):
            sparse_mma_scaled(*args[:index], wrong, *args[index + 1 :], **names(ROW))


@pytest.mark.parametrize("index, name", [(0, "x"), (3, "y")])
def test_wide_code_is_named(index, name):
    row = ("f6E2M3FN", "f6E2M3FN", E8M0, "2:4", 64)
    args = operands(row, 2, 2, 64)
    args[index][1, 1] = 0x40
    with pytest.raises(ValueError, match=rf"^{name}: f6E2M3FN code at index \(1, 1\): 64, expected 0 to 63$"):
        sparse_mma_scaled(*args, **names(row))


@pytest.mark.parametrize("granularity", WIDTH)
@pytest.mark.parametrize("field", [f for f in range(16) if f not in FIELDS])
def test_illegal_fields(field, granularity):
    row = ("f8E4M3FN", "f8E4M3FN", E8M0, granularity, 32)
    args = operands(row, 3, 2, 64, x_batch=(2,))
    args[0][args[0] == 0] = 1
    args[1][1, 2, 1] = 0x0C | field << 4
    args[1][1, 2, 3] = 0x55
    legal = "0100, 1000, 1001, 1100, 1101, 1110, or 0000 with zeros"
    values = "" if field else " with values that are not zero"
    message = f"expected one of {legal}, got {field:04b}{values}$"
    with pytest.raises(ValueError, match=rf"^metadata row \(1, 2\), chunk 3: {message}"):
        sparse_mma_scaled(*args, **names(row))
    one = [a if a.ndim == 2 else a[1] for a in args]
    with pytest.raises(ValueError, match=f"^metadata row 2, chunk 3: {message}"):
        sparse_mma_scaled(*one, **names(row))
