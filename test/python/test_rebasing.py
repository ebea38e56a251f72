"""`rebase` in numpy, beside its definition with exact fractions, and its errors."""

from fractions import Fraction

import blockscale
import numpy as np
import pytest
from blockscale import decode, rebase


def nearest(value, type):
    """The code of the element nearest to a fraction, ties to even codes, with the sign of `value` (or None)."""
    row = blockscale.FORMATS[type]
    codes = range(row.finite_count)
    values = [Fraction(float(each)) for each in decode(np.arange(row.finite_count, dtype=np.uint8), type)]
    return min(codes, key=lambda code: (abs(values[code] - abs(value)), code % 2))


@pytest.mark.parametrize("element", blockscale.REBASED_TYPES)
def test_definition(element):
    """Each code with each difference of scales, at both ends of their range."""
    row = blockscale.FORMATS[element]
    kind, shift = blockscale.REBASED_TYPES[element]
    # No power of two more would fit.
    largest = {type: decode(np.uint8(blockscale.FORMATS[type].finite_count - 1), type) for type in (element, kind)}
    assert largest[element] * 2**shift <= largest[kind] < largest[element] * 2 ** (shift + 1)
    codes = np.resize(np.arange(1 << row.bits, dtype=np.uint8), 256)
    for top, difference in ((254, 1), (254, 3), (254, 9), (254, 17), (254, 40), (33, 33), (1, 1)):
        scales = np.full((1, 9), top - difference, np.uint8)
        scales[0, 8] = top
        got, rows = rebase(np.concatenate([codes, np.zeros(32, np.uint8)])[None], scales, element)
        assert Fraction(float(rows[0, 0])) == Fraction(2) ** (top - 127 - shift)
        for code, result in zip(codes, got[0]):
            magnitude = int(code) & ~row.sign_bit
            sign = 0x80 if int(code) & row.sign_bit else 0
            if magnitude >= row.finite_count:
                assert result == code
                continue
            value = Fraction(float(decode(np.uint8(magnitude), element))) * Fraction(2) ** (shift - difference)
            assert result == nearest(value, kind) | sign, (code, difference)


def test_nan_of_a_scale():
    got, rows = rebase(np.full((2, 64), 5, np.uint8), np.uint8([[255, 127], [127, 127]]), "f4E2M1FN")
    np.testing.assert_array_equal(rows, np.float32([[np.nan], [2.0**-6]]))
    assert (got[0, :32] == got[1, :32]).all() and (got[0, 32:] == 0).all()


def test_partial_blocks_and_batches():
    codes = np.arange(2 * 3 * 40, dtype=np.uint8).reshape(2, 3, 40) % 16
    scales = np.uint8([120, 122, 127]).repeat(2).reshape(2, 3, 1)
    got, rows = rebase(codes, scales, "f4E2M1FN", 64)
    assert got.shape == codes.shape and rows.shape == (2, 3, 1)
    np.testing.assert_array_equal(
        decode(got, "f8E4M3FN") * rows, decode(codes, "f4E2M1FN") * decode(scales, "f8E8M0FNU"))


CODES, SCALES = np.zeros((2, 64), np.uint8), np.full((2, 2), 127, np.uint8)


@pytest.mark.parametrize("arguments, message", [
    ((CODES, SCALES, "f32"), "element: expected one of"),
    ((CODES, SCALES, "f8E4M3FN", 48), r"block_size: expected one of \(16, 32, 64, 128\), got 48"),
    ((CODES, SCALES[:, :1], "f8E4M3FN"), r"scales shape: expected \(2, 2\), got \(2, 1\)"),
    ((CODES[:, :32], SCALES, "f4E2M1FN"), r"scales shape: expected \(2, 1\).*unpack.*, got \(2, 2\)"),
    ((CODES + 16, SCALES, "f4E2M1FN"), "codes: f4E2M1FN code at"),
    ((CODES[:, :0], SCALES[:, :0], "f8E4M3FN"), "codes shape: expected at least one dimension and no size of 0"),
])
def test_wrong_values(arguments, message):
    with pytest.raises(ValueError, match=message):
        rebase(*arguments)
