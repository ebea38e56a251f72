"""The licence of fp8 tensor cores: what they compute is within the bound, whatever the data; some reach half of it."""

import blockscale
import numpy as np
import pytest
from blockscale import compare, decode, encode, error_bound, mma_scaled
from fp8_adder import add_up, multiply, rebase

FP8 = ["f8E4M3FN", "f8E5M2"]
PAIRS = [(x, y) for x in FP8 for y in FP8]
ROWS = dict(x_scale_block=(1, "all"), y_scale_block=(1, "all"))
SMALLEST = {"f8E4M3FN": 2.0**-9, "f8E5M2": 2.0**-16}


def normal(rng, shape, axis, type):
    return rng.normal(size=shape) * 16


def one_sign(rng, shape, axis, type):
    return np.abs(normal(rng, shape, axis, type))


def subnormal(rng, shape, axis, type):
    return rng.integers(-4, 5, shape) * SMALLEST[type]


def mixed_sizes(rng, shape, axis, type):
    return rng.choice([-1, 1], shape) * 2.0 ** rng.integers(-9, 9, shape)


def outliers(rng, shape, axis, type):
    values = rng.normal(size=shape)
    np.moveaxis(values, axis, -1)[..., ::96] *= 200
    return values


def ascending(rng, shape, axis, type):
    """Each term above those before it, so that C loses again and again."""
    k = np.moveaxis(np.broadcast_to(np.arange(shape[axis]), shape[::-1] if axis == 0 else shape), -1, axis)
    return 1.1 ** (k % 64) * (1 + rng.random(shape))


def cancelling(rng, shape, axis, type):
    """Large terms that add up to nothing, and small ones between them."""
    values = np.full(shape, 0.03) * (1 + rng.random(shape))
    lines = np.moveaxis(values, axis, -1)
    lines[..., 5::64], lines[..., 50::64] = 300, 300 if axis == 0 else -300
    return values


def few(rng, shape, axis, type):
    """Terms of which none is lost, but sums of them are cut."""
    values = one_sign(rng, shape, axis, type) + 16
    np.moveaxis(values, axis, -1)[..., np.arange(shape[axis]) % 8 != 0] = 0
    return values


DATA = [normal, one_sign, subnormal, mixed_sizes, outliers, ascending, cancelling, few]


def draw_codes(rng, shape, type):
    """Of finite numbers; those of fp8 are positive."""
    return rng.integers(0, {"f4": 16, "f6": 64, "f8": 0x78}[type[:2]], shape).astype(np.uint8)


def product_of(draw, types, k, seed, m=6, n=5):
    rng = np.random.default_rng(seed)
    x, y = encode(draw(rng, (m, k), 1, types[0]), types[0]), encode(draw(rng, (k, n), 0, types[1]), types[1])
    return x, y


@pytest.mark.parametrize("types", PAIRS, ids="-".join)
@pytest.mark.parametrize("draw", DATA, ids=lambda draw: draw.__name__)
def test_sums_are_within_the_bound(draw, types):
    """Also those that are promoted more often than the licence demands, and of either chip's steps."""
    for seed, k in enumerate([128, 512, 320, 90]):
        x, y = product_of(draw, types, k, seed)
        x_scale, y_scale = np.float32(2.0 ** np.arange(-3, 3))[:, None], np.float32([[3, -0.7, 1, 2.0**-60, 9]])
        operands = x, x_scale, y, y_scale, np.zeros((6, 5), np.float32)
        names = dict(x_type=types[0], y_type=types[1], **ROWS)
        for chunk in (32, 64, 128):
            for piece in (32, 64, 128):
                if piece > chunk:
                    continue
                for step in (16, 32):
                    got = multiply(
                        decode(x, types[0]), x_scale, decode(y, types[1]), y_scale, types, piece, step
                    )
                    compare(got, *operands, **names, chunk=chunk)


def test_the_old_bound_does_not_hold():
    """So the test above tests something."""
    x, y = product_of(one_sign, PAIRS[0], 512, 1)
    ones = np.ones((6, 1), np.float32), np.ones((1, 5), np.float32)
    got = multiply(decode(x, FP8[0]), ones[0], decode(y, FP8[0]), ones[1], PAIRS[0], 128, 32)
    names = dict(x_type=FP8[0], y_type=FP8[0], **ROWS)
    operands = x, ones[0], y, ones[1], np.zeros((6, 5), np.float32)
    compare(got, *operands, **names, chunk=128)
    with pytest.raises(AssertionError, match="30 of 30 compared cells are wrong"):
        compare(got, *operands, **names)


@pytest.mark.parametrize("chunk", [32, 64, 128])
@pytest.mark.parametrize("step", [16, 32])
def test_some_sums_reach_half_of_the_bound(chunk, step):
    """One large term, and all others just below 2^(E - 13), each of which is lost."""
    k = 2 * chunk
    x, y = np.full((1, k), 15 * 2.0**-9), np.full((k, 1), 2.0**-7)
    x[0, ::chunk], y[::chunk, 0] = 2, 1  # E is 1, so that terms are cut at 2^-12
    assert (decode(encode(x, FP8[0]), FP8[0]) == x).all()
    ones = np.ones((1, 1), np.float32)
    got = multiply(x, ones, y, ones, PAIRS[0], chunk, step)
    assert got[0, 0] == 4
    operands = encode(x, FP8[0]), ones, encode(y, FP8[0]), ones, np.zeros((1, 1), np.float32)
    names = dict(x_type=FP8[0], y_type=FP8[0], **ROWS)
    bound, comparable = error_bound(*operands, **names, chunk=chunk)
    assert comparable.all()
    lost = abs(got - (x @ y))[0, 0]
    assert bound[0, 0] / 2 < lost <= bound[0, 0]


@pytest.mark.parametrize(
    "first, others, lost",
    [
        # The first code of x is subnormal, so that its exponent is 3 above that of its value.
        ((2.0**-9, 2.0**7), (15 * 2.0**-9, 15 * 2.0**-9), 2.0**-12 * 0.43),
        # 225 / 64 * 2^-8 has one bit too many beside 1, although it is not far below 1 / 64.
        ((1, 1), (15 * 2.0**-7, 15 * 2.0**-7), 2.0**-14),
    ],
    ids=["subnormal", "odd"],
)
def test_what_each_of_31_terms_loses(first, others, lost):
    x, y = np.full((1, 32), others[0]), np.full((32, 1), others[1])
    x[0, 0], y[0, 0] = first
    ones = np.ones((1, 1), np.float32)
    operands = encode(x, FP8[0]), ones, encode(y, FP8[0]), ones, np.zeros((1, 1), np.float32)
    got = multiply(x, ones, y, ones, PAIRS[0], 32, 32)
    assert (x @ y - got)[0, 0] >= 30 * lost
    compare(got, *operands, x_type=FP8[0], y_type=FP8[0], **ROWS, chunk=32)


@pytest.mark.parametrize("types", PAIRS, ids="-".join)
def test_blocks_of_scales_end_pieces(types):
    """With scales per 32, tensor cores add up no more than 32 terms, and the bound says so."""
    for draw in DATA:
        x, y = product_of(draw, types, 256, 3)
        rng = np.random.default_rng(4)
        x_scale, y_scale = rng.integers(117, 138, (6, 8), np.uint8), rng.integers(117, 138, (8, 5), np.uint8)
        operands = x, x_scale, y, y_scale, np.zeros((6, 5), np.float32)
        names = dict(x_type=types[0], y_type=types[1], scale_type="f8E8M0FNU")
        scales = decode(x_scale, "f8E8M0FNU"), decode(y_scale, "f8E8M0FNU")
        for step in (16, 32):
            got = multiply(decode(x, types[0]), scales[0], decode(y, types[1]), scales[1], types, 32, step)
            compare(got, *operands, **names, chunk=128)
        bounds = [error_bound(*operands, **names, chunk=chunk)[0] for chunk in (32, 64, 128)]
        assert (bounds[0] == bounds[1]).all() and (bounds[0] == bounds[2]).all()


@pytest.mark.parametrize("types", PAIRS, ids="-".join)
@pytest.mark.parametrize("spread", [1, 4, 12, 200])
def test_rebased_products_are_within_the_bound(types, spread):
    """Rows of one scale, also where almost all codes become subnormal or zero."""
    for seed, draw in enumerate(DATA):
        x, y = product_of(draw, types, 256, seed)
        rng = np.random.default_rng(seed)
        x_scale = rng.integers(127 - spread // 2, 128 + spread // 2, (6, 8)).astype(np.uint8)
        y_scale = rng.integers(127 - spread // 2, 128 + spread // 2, (8, 5)).astype(np.uint8)
        operands = x, x_scale, y, y_scale, np.zeros((6, 5), np.float32)
        names = dict(x_type=types[0], y_type=types[1], scale_type="f8E8M0FNU")
        x_values, x_row = rebase(
            decode(x, types[0]), np.repeat(decode(x_scale, "f8E8M0FNU"), 32, axis=1), types[0], 1
        )
        y_values, y_row = rebase(
            decode(y, types[1]), np.repeat(decode(y_scale, "f8E8M0FNU"), 32, axis=0), types[1], 0
        )
        for chunk in (32, 64, 128):
            for step in (16, 32):
                got = multiply(x_values, x_row, y_values, y_row, types, chunk, step)
                compare(got, *operands, **names, chunk=chunk, rebase=True)


def test_rebasing_needs_its_licence():
    """A code that is half of the smallest one: it becomes 0, the even one."""
    x, y = np.zeros((1, 64), np.uint8), np.full((64, 1), 0x38, np.uint8)
    x[0, 32] = 0x01  # 2^-9
    x_scale, y_scale = np.uint8([[127 + 1, 127]]), np.full((2, 1), 127, np.uint8)
    operands = x, x_scale, y, y_scale, np.zeros((1, 1), np.float32)
    names = dict(x_type=FP8[0], y_type=FP8[0], scale_type="f8E8M0FNU")
    lost = np.zeros((1, 1), np.float32)
    compare(lost, *operands, **names, chunk=128, rebase=True)
    with pytest.raises(AssertionError, match="expected 0.001953125, got 0.0"):
        compare(lost, *operands, **names, chunk=128)


@pytest.mark.parametrize("types", [("f4E2M1FN", "f4E2M1FN"), ("f6E3M2FN", "f8E4M3FN"), ("f6E2M3FN", "f8E5M2")])
def test_narrow_elements_become_e4m3(types):
    """With one scale for each row, which rebasing makes; codes that are e4m3 after it are exact."""
    rng = np.random.default_rng(5)
    x, y = draw_codes(rng, (8, 128), types[0]), draw_codes(rng, (8, 128), types[1]).T
    scales = rng.integers(120, 130, (2, 8, 4)).astype(np.uint8)
    x_scale, y_scale = scales[0], scales[1].T
    cards = ["f8E5M2" if type == "f8E5M2" else "f8E4M3FN" for type in types]
    x_values, x_row = rebase(
        decode(x, types[0]), np.repeat(decode(x_scale, "f8E8M0FNU"), 32, axis=1), cards[0], 1
    )
    y_values, y_row = rebase(
        decode(y, types[1]), np.repeat(decode(y_scale, "f8E8M0FNU"), 32, axis=0), cards[1], 0
    )
    got = multiply(x_values, x_row, y_values, y_row, cards, 128, 32)
    operands = x, x_scale, y, y_scale, np.zeros((8, 8), np.float32)
    compare(got, *operands, x_type=types[0], y_type=types[1], scale_type="f8E8M0FNU", chunk=128, rebase=True)


def test_a_licence_never_narrows_the_bound():
    """Results without it are within it, and larger licences include smaller ones."""
    for types in [*PAIRS, ("f4E2M1FN", "f4E2M1FN")]:
        row = (*types, "f8E8M0FNU", 32)
        rng = np.random.default_rng(6)
        x, y = (draw_codes(rng, (4, 96), type) for type in types)
        x_scale, y_scale = rng.integers(117, 138, (2, 4, 3)).astype(np.uint8)
        operands = x, x_scale, y.T, y_scale.T, rng.normal(size=(4, 4)).astype(np.float32)
        names = dict(x_type=row[0], y_type=row[1], scale_type=row[2])
        bounds = [error_bound(*operands, **names)[0]]
        for rebasing in (False, True):
            for chunk in (32, 64, 128):
                bounds.append(error_bound(*operands, **names, chunk=chunk, rebase=rebasing)[0])
        for small, large in zip(bounds, bounds[1:]):
            finite = bounds[0] > 0
            assert (small[finite] <= (1 + 1e-12) * large[finite]).all()
        compare(mma_scaled(*operands, **names), *operands, **names, chunk=128)


def test_batches():
    x, y = product_of(normal, PAIRS[0], 128, 1)
    ones = np.ones((6, 1), np.float32), np.ones((1, 5), np.float32)
    names = dict(x_type=FP8[0], y_type=FP8[0], **ROWS, chunk=64)
    single = error_bound(x, ones[0], y, ones[1], np.zeros((6, 5), np.float32), **names)[0]
    stacked = error_bound(
        np.stack([x, x]), np.stack([ones[0]] * 2), y, ones[1], np.zeros((2, 6, 5), np.float32), **names
    )[0]
    assert (stacked == single).all()


def test_specials_keep_their_meaning():
    x, y = product_of(normal, ("f8E5M2", "f8E5M2"), 64, 2)
    x[0, 3], x[1, 4], y[7, 2] = 0x7E, 0x7C, 0x00
    scales = np.full((6, 2), 0x7F, np.uint8), np.full((2, 5), 0x7F, np.uint8)
    scales[0][2, 1] = 0xFF
    operands = x, scales[0], y, scales[1], np.zeros((6, 5), np.float32)
    names = dict(x_type="f8E5M2", y_type="f8E5M2", scale_type="f8E8M0FNU")
    for rebasing in (False, True):
        bound, comparable = error_bound(*operands, **names, chunk=128, rebase=rebasing)
        assert np.isfinite(bound).all() and (bound[:3] == 0).all() and (bound[3:] > 0).all()
        assert comparable.all()
        expected = mma_scaled(*operands, **names)
        compare(expected, *operands, **names, chunk=128, rebase=rebasing)


def test_zeros_lose_nothing():
    zeros = np.zeros((1, 64), np.uint8)
    ones = np.ones((1, 1), np.float32)
    operands = zeros, ones, zeros.T, ones, np.zeros((1, 1), np.float32)
    names = dict(x_type=FP8[0], y_type=FP8[0], **ROWS)
    assert error_bound(*operands, **names, chunk=128, rebase=True)[0] == 2.0**-122


@pytest.mark.parametrize(
    "licence, error, message",
    [
        (dict(chunk=100), ValueError, r"chunk: expected one of \(32, 64, 128\), got 100"),
        (dict(chunk=True), TypeError, "chunk: expected an integer or None, got bool"),
        (dict(chunk=128.0), TypeError, "chunk: expected an integer or None, got float"),
        (dict(rebase=True), ValueError, r"chunk: expected one of \(32, 64, 128\) with rebase, got None"),
        (dict(chunk=128, rebase=1), TypeError, "rebase: expected True or False, got int"),
    ],
)
def test_what_is_no_licence(licence, error, message):
    x, y = product_of(normal, PAIRS[0], 64, 1)
    ones = np.ones((6, 1), np.float32), np.ones((1, 5), np.float32)
    operands = x, ones[0], y, ones[1], np.zeros((6, 5), np.float32)
    for function, first in ((error_bound, ()), (compare, (operands[-1],))):
        with pytest.raises(error, match=message):
            function(*first, *operands, x_type=FP8[0], y_type=FP8[0], **ROWS, **licence)


def test_the_emulator_cuts_as_the_rule_says():
    """Of 2 and terms of 15/16 * 2^-12, these are lost; alone they stay."""
    x, y = np.full((1, 32), 15 * 2.0**-9), np.full((32, 1), 2.0**-7)
    assert add_up(x, y, PAIRS[0], 32)[0, 0] == 32 * 15 * 2.0**-16
    x[0, 0], y[0, 0] = 2, 1
    assert add_up(x, y, PAIRS[0], 32)[0, 0] == 2
    # 2^-9 has the exponent -6, so that it cuts at 2^-12 what its value would cut at 2^-15.
    x[0, 0], y[0, 0] = 2.0**-9, 2.0**7
    y[1:] = 15 * 2.0**-9
    assert add_up(x, y, PAIRS[0], 32)[0, 0] == 0.25 + 31 * 3 * 2.0**-12
