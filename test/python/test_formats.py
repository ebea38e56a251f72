"""Formats against values computed apart from the package: published lists, and a formula that
reads codes as strings of binary digits, in exact rationals."""

from fractions import Fraction

import blockscale
import numpy as np
import pytest
from blockscale import decode, encode

INF, NAN = float("inf"), float("nan")

# sign digits, exponent digits, bias, {magnitude: special value}; OCP MX v1.0 sections 5.3, 5.4.
LAYOUTS = {
    "f8E4M3FN": (1, 4, 7, {0x7F: NAN}),
    "f8E5M2": (1, 5, 15, {0x7C: INF, 0x7D: NAN, 0x7E: NAN, 0x7F: NAN}),
    "f6E3M2FN": (1, 3, 3, {}),
    "f6E2M3FN": (1, 2, 1, {}),
    "f4E2M1FN": (1, 2, 1, {}),
}
WIDTHS = {
    "f8E4M3FN": 8, "f8E5M2": 8, "f6E3M2FN": 6, "f6E2M3FN": 6, "f4E2M1FN": 4, "f8E8M0FNU": 8,
    "ue4m3": 8,
}


def element_value(code, name):
    """The value of one element code, as a float with the sign of zero."""
    sign_digits, exponent_digits, bias, specials = LAYOUTS[name]
    digits = format(code, f"0{WIDTHS[name]}b")
    sign = -1.0 if digits[0] == "1" else 1.0
    magnitude = digits[sign_digits:]
    if int(magnitude, 2) in specials:
        return sign * specials[int(magnitude, 2)]
    exponent, fraction = magnitude[:exponent_digits], magnitude[exponent_digits:]
    significand = Fraction(int(fraction, 2), 2 ** len(fraction))
    if "1" in exponent:
        value = (1 + significand) * Fraction(2) ** (int(exponent, 2) - bias)
    else:
        value = significand * Fraction(2) ** (1 - bias)
    assert Fraction(float(value)) == value
    return sign * float(value)


def scale_value(code, name):
    if name == "ue4m3":
        return element_value(code & 0x7F, "f8E4M3FN")
    return NAN if code == 0xFF else float(Fraction(2) ** (code - 127))


def value(code, name):
    return (element_value if name in LAYOUTS else scale_value)(code, name)


def same(got, expected):
    """Equal values, NaN included, and equal signs of zero."""
    got, expected = np.asarray(got), np.asarray(expected)
    np.testing.assert_array_equal(got, expected)
    zero = expected == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(expected[zero]))


def test_names():
    assert sorted(blockscale.FORMATS) == sorted(WIDTHS)


@pytest.mark.parametrize("name", WIDTHS)
def test_decode_every_code(name):
    codes = np.arange(2 ** WIDTHS[name])
    got = decode(codes, name)
    assert got.dtype == np.float64
    same(got, [value(int(code), name) for code in codes])


# Lists as published, for the codes 0, 1, 2, ...
LISTS = {
    "f4E2M1FN": [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6],
    "f6E2M3FN": [
        *(0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875),
        *(1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875),
        *(2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 3.75),
        *(4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5),
    ],
    "f6E3M2FN": [
        *(0, 0.0625, 0.125, 0.1875, 0.25, 0.3125, 0.375, 0.4375),
        *(0.5, 0.625, 0.75, 0.875, 1, 1.25, 1.5, 1.75),
        *(2, 2.5, 3, 3.5, 4, 5, 6, 7),
        *(8, 10, 12, 14, 16, 20, 24, 28),
    ],
}


@pytest.mark.parametrize("name", LISTS)
def test_decode_published_list(name):
    same(decode(np.arange(len(LISTS[name]), dtype=np.uint8), name), LISTS[name])


# The e4m3 codes of the fp4 and fp6 values 0, 1, 2, ...: all are exact in e4m3.
EMBEDDINGS = {
    "f4E2M1FN": "00 30 38 3c 40 44 48 4c",
    "f6E2M3FN": "00 20 28 2c 30 32 34 36 38 39 3a 3b 3c 3d 3e 3f "
    "40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f",
    "f6E3M2FN": "00 18 20 24 28 2a 2c 2e 30 32 34 36 38 3a 3c 3e "
    "40 42 44 46 48 4a 4c 4e 50 52 54 56 58 5a 5c 5e",
}


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_embedding_in_e4m3(name):
    expected = np.frombuffer(bytes.fromhex(EMBEDDINGS[name]), np.uint8)
    values = decode(np.arange(len(expected)), name)
    np.testing.assert_array_equal(encode(values, "f8E4M3FN"), expected)
    np.testing.assert_array_equal(encode(-values, "f8E4M3FN"), expected | 0x80)


@pytest.mark.parametrize(
    "code, name, expected",
    [
        (0x7E, "f8E4M3FN", 448), (0x08, "f8E4M3FN", 2**-6), (0x01, "f8E4M3FN", 2**-9),
        (0x7B, "f8E5M2", 57344), (0x04, "f8E5M2", 2**-14), (0x01, "f8E5M2", 2**-16),
        (0xFC, "f8E5M2", -INF),
        (0x00, "f8E8M0FNU", 2**-127), (0x01, "f8E8M0FNU", 2**-126), (0x7F, "f8E8M0FNU", 1),
        (0xFE, "f8E8M0FNU", 2.0**127), (0xFF, "f8E8M0FNU", NAN),
        (0x7E, "ue4m3", 448), (0xFE, "ue4m3", 448), (0x80, "ue4m3", 0.0), (0x81, "ue4m3", 2**-9),
        (0x7F, "ue4m3", NAN), (0xFF, "ue4m3", NAN),
    ],
)
def test_decode_corner(code, name, expected):
    same(decode(code, name), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.uint64])
def test_decode_integer_types_and_shape(dtype):
    codes = np.array([[0, 1], [2, 3], [4, 5]], dtype)
    same(decode(codes, "f4E2M1FN"), [[0, 0.5], [1, 1.5], [2, 3]])


@pytest.mark.parametrize(
    "codes, name, index, code",
    [
        ([[0, 15], [16, 99]], "f4E2M1FN", "(1, 0)", "16"),
        ([63, 64], "f6E2M3FN", "(1,)", "64"),
        ([63, 255], "f6E3M2FN", "(1,)", "255"),
        ([0, 256], "f8E4M3FN", "(1,)", "256"),
        ([255, -1], "f8E8M0FNU", "(1,)", "-1"),
        ([256], "ue4m3", "(0,)", "256"),
    ],
)
def test_decode_names_wide_code(codes, name, index, code):
    with pytest.raises(ValueError) as error:
        decode(codes, name)
    assert f"index {index}: {code}," in str(error.value)


@pytest.mark.parametrize("codes", [[1.0], [True], ["1"], [1j]])
def test_decode_needs_integers(codes):
    with pytest.raises(TypeError, match="expected integers"):
        decode(codes, "f8E4M3FN")


@pytest.mark.parametrize("name", ["e4m3", "f8E4M3", "f32", None])
def test_unknown_format(name):
    for call in (decode, encode):
        with pytest.raises(ValueError, match="expected one of f8E4M3FN"):
            call([1], name)


@pytest.mark.parametrize("name", WIDTHS)
@pytest.mark.parametrize("saturate", [True, False])
def test_encode_inverts_decode(name, saturate):
    codes = np.arange(128 if name == "ue4m3" else 2 ** WIDTHS[name])
    codes = codes[[np.isfinite(value(int(code), name)) for code in codes]]
    values = np.array([value(int(code), name) for code in codes])
    got = encode(values, name, saturate)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got, codes)


def nearest(number, name):
    """The code nearest to a Fraction >= 0 inside the format's range, by search; ties to even."""
    codes = range(2 ** (WIDTHS[name] - (name != "f8E8M0FNU")))
    finite = [c for c in codes if np.isfinite(value(c, name))]
    return min(finite, key=lambda c: (abs(Fraction(value(c, name)) - number), c % 2))


@pytest.mark.parametrize("name", WIDTHS)
def test_encode_between_neighbours(name):
    """Halfway between neighbours, and one float64 step to either side of it."""
    codes = range(2 ** (WIDTHS[name] - (name != "f8E8M0FNU")))
    grid = [v for v in (value(c, name) for c in codes) if np.isfinite(v)]
    halfway = (np.array(grid[:-1]) + np.array(grid[1:])) / 2
    values = np.concatenate([halfway, np.nextafter(halfway, 0), np.nextafter(halfway, INF)])
    expected = [nearest(Fraction(float(number)), name) for number in values]
    if name in LAYOUTS:
        values = np.concatenate([values, -values])
        expected += [code | 1 << (WIDTHS[name] - 1) for code in expected]
    np.testing.assert_array_equal(encode(values, name), expected)
    np.testing.assert_array_equal(encode(values, name, saturate=False), expected)


@pytest.mark.parametrize(
    "number, name, expected",
    [
        (2.5, "f4E2M1FN", 0x4), (3.5, "f4E2M1FN", 0x6), (5.0, "f4E2M1FN", 0x6),
        (0.25, "f4E2M1FN", 0x0), (-0.25, "f4E2M1FN", 0x8), (0.75, "f4E2M1FN", 0x2),
        (1.0625, "f8E4M3FN", 0x38), (1.1875, "f8E4M3FN", 0x3A), (2**-10, "f8E4M3FN", 0x00),
        (3 * 2**-10, "f8E4M3FN", 0x02), (-0.0, "f8E5M2", 0x80),
        (1.5, "f8E8M0FNU", 0x80), (3.0, "f8E8M0FNU", 0x80), (2.9, "f8E8M0FNU", 0x80),
        (6.0, "f8E8M0FNU", 0x82), (1.4, "f8E8M0FNU", 0x7F), (1.6, "f8E8M0FNU", 0x80),
        (1.49 * 2**-127, "f8E8M0FNU", 0x00), (-0.0, "ue4m3", 0x00),
    ],
)
def test_encode_rounding(number, name, expected):
    assert encode(number, name) == expected


# name, number at which overflow begins (on a tie), number just below, largest finite code, code
# beyond it (None: raises)
OVERFLOWS = [
    ("f8E4M3FN", np.nextafter(464.0, INF), 464.0, 0x7E, 0x7F),
    ("f8E5M2", 61440.0, np.nextafter(61440.0, 0), 0x7B, 0x7C),
    ("f6E3M2FN", 30.0, np.nextafter(30.0, 0), 0x1F, None),
    ("f6E2M3FN", 7.75, np.nextafter(7.75, 0), 0x1F, None),
    ("f4E2M1FN", 7.0, np.nextafter(7.0, 0), 0x7, None),
    ("f8E8M0FNU", np.nextafter(1.5 * 2.0**127, INF), 1.5 * 2.0**127, 0xFE, 0xFF),
    ("ue4m3", np.nextafter(464.0, INF), 464.0, 0x7E, 0x7F),
]


@pytest.mark.parametrize("name, over, under, largest, beyond", OVERFLOWS)
def test_encode_overflow(name, over, under, largest, beyond):
    sign = 1 << (WIDTHS[name] - 1)
    for factor in (1, -1) if name in LAYOUTS else (1,):
        sign_bit = sign if factor < 0 else 0
        assert encode(factor * under, name, saturate=False) == largest | sign_bit
        for number in (over, 1e300, INF):
            values = [factor, factor * number]
            assert encode(values, name)[1] == largest | sign_bit
            if beyond is None:
                with pytest.raises(ValueError, match=r"ends at .* index \(1,\)"):
                    encode(values, name, saturate=False)
            else:
                assert encode(values, name, saturate=False)[1] == beyond | sign_bit


@pytest.mark.parametrize(
    "name, expected",
    [("f8E4M3FN", 0x7F), ("f8E5M2", 0x7F), ("f8E8M0FNU", 0xFF), ("ue4m3", 0x7F)],
)
def test_encode_nan(name, expected):
    assert encode([1.0, NAN, -NAN], name).tolist()[1:] == [expected, expected]


@pytest.mark.parametrize("name", ["f6E3M2FN", "f6E2M3FN", "f4E2M1FN"])
def test_encode_without_nan(name):
    with pytest.raises(ValueError, match=r"no NaN; value at index \(0, 1\)"):
        encode([[1.0, NAN]], name)


@pytest.mark.parametrize("name", ["f8E8M0FNU", "ue4m3"])
@pytest.mark.parametrize("number", [-1.0, -(2.0**-140), -INF])
def test_encode_without_sign(name, number):
    with pytest.raises(ValueError, match=r"no sign; value at index \(1,\)"):
        encode([1.0, number], name)


@pytest.mark.parametrize("number", [0.0, -0.0, np.nextafter(2.0**-127, 0)])
def test_encode_e8m0_has_no_zero(number):
    with pytest.raises(ValueError, match=r"starts at .* index \(2,\)"):
        encode([1.0, 2.0**-127, number], "f8E8M0FNU")


@pytest.mark.parametrize("values", [["1"], [1j], [None], [True]])
def test_encode_needs_real_numbers(values):
    with pytest.raises(TypeError, match="expected real numbers"):
        encode(values, "f8E4M3FN")


def test_encode_keeps_shape_and_argument():
    values = np.array([[1, 2, 3], [-1, -2, -3]], np.int64)
    assert encode(values, "f4E2M1FN").tolist() == [[2, 4, 5], [10, 12, 13]]
    assert values.tolist() == [[1, 2, 3], [-1, -2, -3]]
