"""compress and decompress against a table that is written out, over every kind of chunk."""

from itertools import product

import numpy as np
import pytest
from blockscale import FORMATS, compress, decode, decompress

ELEMENTS = ["f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN"]
WIDTH = {"2:4": 1, "pairs": 2}
GRANULARITIES = list(WIDTH)
FIELDS = [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]
MINUS_ZERO = {"f8E4M3FN": 0x80, "f8E5M2": 0x80, "f6E3M2FN": 0x20, "f6E2M3FN": 0x20, "f4E2M1FN": 0x08}

# By which units are not zero (the first one on the left): the positions that are kept.
KEPT = {
    "0000": (0, 1), "1000": (0, 3), "0100": (1, 3), "0010": (2, 3), "0001": (0, 3), "1100": (0, 1), "1010": (0, 2),
    "1001": (0, 3), "0110": (1, 2), "0101": (1, 3), "0011": (2, 3),
}


def units_of(element_type, width):
    """Units of every kind, zeros first: of 0 and -0, and with codes that are not zero."""
    minus = MINUS_ZERO[element_type]
    codes = (0, minus, minus - 1, 2 * minus - 1)  # 0, -0, the largest codes of either sign, also NaN
    zeros = list(product(codes[:2], repeat=width))
    return zeros, [unit for unit in product(codes, repeat=width) if unit not in zeros]


def chunks_of(element_type, width, counts):
    """All chunks of zeros and of random units that are not zero, so many of them, as lists of units."""
    zeros, others = units_of(element_type, width)
    rng = np.random.default_rng(0)
    for used in product((0, 1), repeat=4):
        if sum(used) in counts:
            for filling in product(zeros, repeat=4):
                yield used, [others[rng.integers(len(others))] if u else z for u, z in zip(used, filling)]


def expected_chunk(used, units, width, cutlass):
    """(kept codes, field)"""
    first, second = KEPT["".join(map(str, used))]
    kept = [code for i in (first, second) for code in (units[i] if used[i] else (0,) * width)]
    return kept, 0 if cutlass and not any(used) else first | second << 2


def flat(units):
    return [code for unit in units for code in unit]


def bytes_of(fields):
    return [low | high << 4 for low, high in zip(fields[::2], fields[1::2])]


@pytest.mark.parametrize("cutlass", [False, True])
@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("element_type", ELEMENTS)
def test_every_chunk(element_type, granularity, cutlass):
    width = WIDTH[granularity]
    chunks = list(chunks_of(element_type, width, (0, 1, 2)))
    chunks += chunks[: len(chunks) % 2]
    codes = np.array(flat(flat(units) for _, units in chunks), np.uint8)
    pieces = [expected_chunk(used, units, width, cutlass) for used, units in chunks]
    kept, metadata = compress(codes, element_type, granularity, cutlass)
    assert kept.dtype == metadata.dtype == np.uint8
    assert kept.tolist() == flat(piece[0] for piece in pieces)
    assert metadata.tolist() == bytes_of([piece[1] for piece in pieces])
    # And back: the values are the same, and units of zeros have lost their signs.
    dense = flat(flat(u if v else (0,) * width for v, u in zip(used, units)) for used, units in chunks)
    got = decompress(kept, metadata, element_type, granularity)
    assert got.dtype == np.uint8 and got.tolist() == dense
    np.testing.assert_array_equal(decode(got, element_type), decode(codes, element_type))


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_all_codes_but_zeros_count(granularity):
    for element_type in ELEMENTS:
        for code in range(2 ** FORMATS[element_type].bits):
            codes = np.zeros(16, np.uint8)
            codes[5] = code
            zero = code in (0, MINUS_ZERO[element_type])
            _, metadata = compress(codes, element_type, granularity)
            if granularity == "2:4":
                assert metadata.tolist() == [0x44 if zero else 0xD4, 0x44]
            else:
                assert metadata.tolist() == [0x44 if zero else 0x4E]


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (2, 1, 4)])
def test_batch(granularity, batch):
    width = WIDTH[granularity]
    chunks = list(chunks_of("f4E2M1FN", width, (0, 1, 2)))
    picks = np.random.default_rng(batch).integers(0, len(chunks), (*batch, 6))
    codes = np.array([flat(chunks[i][1]) for i in picks.reshape(-1)], np.uint8).reshape(*batch, 24 * width)
    kept, metadata = compress(codes, "f4E2M1FN", granularity)
    assert kept.shape == (*batch, 12 * width) and metadata.shape == (*batch, 3)
    dense = decompress(kept, metadata, "f4E2M1FN", granularity)
    for index in np.ndindex(*batch):
        one = compress(codes[index].copy(), "f4E2M1FN", granularity)
        np.testing.assert_array_equal(kept[index], one[0])
        np.testing.assert_array_equal(metadata[index], one[1])
        np.testing.assert_array_equal(dense[index], decompress(*one, "f4E2M1FN", granularity))


def test_strides_do_not_matter():
    codes = np.zeros((32, 6), np.uint8)
    codes[::5] = np.arange(1, 7)
    for granularity in GRANULARITIES:
        strided = codes.T[::-1]
        for a, b in zip(compress(strided, "f8E5M2", granularity), compress(strided.copy(), "f8E5M2", granularity)):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("element_type", ELEMENTS)
def test_too_many(element_type, granularity):
    width = WIDTH[granularity]
    name = {"2:4": "elements", "pairs": "pairs"}[granularity]
    for used, units in chunks_of(element_type, width, (3, 4)):
        codes = np.zeros((2, 3, 32 * width), np.uint8)
        codes[1, 2, 20 * width : 24 * width] = flat(units)
        codes[1, 2, 28 * width :] = 1  # a later one
        message = f"expected at most 2 of 4 {name} that are not zero, got {sum(used)}$"
        places = {r"row \(1, 2\), chunk 5": np.s_[:], "row 2, chunk 5": np.s_[1], "chunk 5": np.s_[1, 2]}
        for place, rows in places.items():
            with pytest.raises(ValueError, match=f"^codes {place}: {message}"):
                compress(codes[rows], element_type, granularity)


# decompress


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("element_type", ELEMENTS)
def test_every_pair_of_fields(element_type, granularity):
    """And every code at every position: what is kept does not matter, also if it is zero."""
    width = WIDTH[granularity]
    count = 2 ** FORMATS[element_type].bits
    for number, (low, high) in enumerate(product(FIELDS, repeat=2)):
        kept = (np.arange(4 * width) * 37 + 11 * number) % count
        dense = [0] * 8 * width
        for i, field in enumerate((low, high)):
            for j, unit in enumerate((field & 3, field >> 2)):
                for e in range(width):
                    dense[4 * width * i + width * unit + e] = kept[2 * width * i + width * j + e]
        metadata = np.array([low | high << 4], np.uint8)
        assert decompress(kept.astype(np.uint8), metadata, element_type, granularity).tolist() == dense
    for code in range(count):
        kept = np.full((2, 4 * width), code, np.uint8)
        got = decompress(kept, np.full((2, 1), 0xD9, np.uint8), element_type, granularity)
        assert got.tolist() == [flat([(u,) * width for u in (0, code, code, 0, 0, code, 0, code)])] * 2


LEGAL = "0100, 1000, 1001, 1100, 1101, 1110, or 0000 with zeros"


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("field", [f for f in range(16) if f not in FIELDS])
def test_illegal_fields(granularity, field):
    width = WIDTH[granularity]
    kept = np.zeros((2, 3, 16 * width), np.uint8)
    kept[..., 1] = 1
    metadata = np.full((2, 3, 4), 0x9C, np.uint8)
    metadata[1, 2, 1:3] = 0x0C | field << 4, 0x55  # chunks 3, 4 and 5
    if field == 0:
        metadata[1, 0, 3] = 0x90  # legal, with zeros
        kept[1, 2, 7 * width - 1] = 1
    values = "" if field else " with values that are not zero"
    message = f"expected one of {LEGAL}, got {field:04b}{values}$"
    for rows, place in ((np.s_[:], r"row \(1, 2\), chunk 3"), (np.s_[1], "row 2, chunk 3"), (np.s_[1, 2], "chunk 3")):
        with pytest.raises(ValueError, match=f"^metadata {place}: {message}"):
            decompress(kept[rows], metadata[rows], "f4E2M1FN", granularity)


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("element_type", ELEMENTS)
def test_0000(element_type, granularity):
    """With zeros of either sign, and with nothing else at any place."""
    width, minus = WIDTH[granularity], MINUS_ZERO[element_type]
    for zeros in product((0, minus), repeat=2 * width):
        kept, metadata = np.array([*zeros, *[1] * 2 * width], np.uint8), np.array([0x90], np.uint8)
        dense = [0] * 5 * width + [1] * 2 * width + [0] * width
        assert decompress(kept, metadata, element_type, granularity).tolist() == dense
        for i in range(2 * width):
            for code in (1, minus - 1, minus + 1):
                wrong = kept.copy()
                wrong[i] = code
                with pytest.raises(ValueError, match="^metadata chunk 0: .* got 0000 with values that are not zero$"):
                    decompress(wrong, metadata, element_type, granularity)


# Arguments


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_sizes(granularity):
    width = WIDTH[granularity]
    for k in range(1, 34):
        codes = np.zeros((2, k), np.uint8)
        message = "^last dimension of codes: expected a multiple of {}, got {}$"
        if k % (8 * width):
            with pytest.raises(ValueError, match=message.format(8 * width, k)):
                compress(codes, "f8E4M3FN", granularity)
        if k % (4 * width):
            with pytest.raises(ValueError, match=message.format(4 * width, k)):
                decompress(codes, np.zeros((2, 1), np.uint8), "f8E4M3FN", granularity)
    kept, metadata = compress(np.zeros((2, 32), np.uint8), "f8E4M3FN", granularity)
    for wrong in (metadata[:1], metadata[0], metadata[:, :1], np.repeat(metadata, 2, axis=1)):
        with pytest.raises(ValueError) as error:
            decompress(kept, wrong, "f8E4M3FN", granularity)
        assert str(error.value) == f"metadata shape: expected {metadata.shape}, got {wrong.shape}"
    for call in (compress, lambda codes, *names: decompress(codes, np.zeros(1, np.uint8), *names)):
        with pytest.raises(ValueError, match="^codes rank: expected at least 1, got 0$"):
            call(np.zeros((), np.uint8), "f8E4M3FN", granularity)
        with pytest.raises(ValueError, match=r"^codes shape: expected sizes of at least 1, got \(0, 32\)$"):
            call(np.zeros((0, 32), np.uint8), "f8E4M3FN", granularity)


def test_names():
    codes, metadata = np.zeros((2, 16), np.uint8), np.zeros((2, 4), np.uint8)
    for call in (compress, lambda codes, *names: decompress(codes, metadata, *names)):
        for granularity in ("1:2", None, "PAIRS"):
            with pytest.raises(ValueError, match=f"^granularity: expected one of 2:4, pairs, got {granularity!r}$"):
                call(codes, "f8E4M3FN", granularity)
        for element_type in ("f8E8M0FNU", "ue4m3", "mxfp8", None):
            message = f"^element_type: expected one of {', '.join(ELEMENTS)}, got {element_type!r}$"
            with pytest.raises(ValueError, match=message):
                call(codes, element_type, "2:4")
    with pytest.raises(TypeError, match="^cutlass: expected True or False, got int$"):
        compress(codes, "f8E4M3FN", "2:4", 1)


@pytest.mark.parametrize("element_type", ELEMENTS[2:])
def test_wide_codes(element_type):
    codes, limit = np.zeros((2, 16), np.uint8), 2 ** FORMATS[element_type].bits
    codes[1, 3] = limit
    message = rf"^codes: {element_type} code at index \(1, 3\): {limit}, expected 0 to {limit - 1}$"
    with pytest.raises(ValueError, match=message):
        compress(codes, element_type, "2:4")
    with pytest.raises(ValueError, match=message):
        decompress(codes, np.full((2, 4), 0x44, np.uint8), element_type, "2:4")


@pytest.mark.parametrize("wrong", [np.zeros((2, 16)), np.zeros((2, 16), np.int8), [0] * 16])
def test_other_types(wrong):
    with pytest.raises(TypeError, match="^codes: expected an array of uint8 or float8_e5m2, got (float64|int8|list)$"):
        compress(wrong, "f8E5M2", "2:4")
    with pytest.raises(TypeError, match="^codes: expected an array of uint8 or float8_e5m2, got (float64|int8|list)$"):
        decompress(wrong, np.zeros((2, 4), np.uint8), "f8E5M2", "2:4")
    with pytest.raises(TypeError, match="^metadata: expected an array of uint8, got (float64|int8|list)$"):
        decompress(np.zeros((2, 64), np.uint8), wrong, "f8E5M2", "2:4")
