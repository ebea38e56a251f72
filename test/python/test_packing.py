"""pack and unpack against a stream of single bits."""

import numpy as np
import pytest
from blockscale import decode, pack, unpack

# Bits of a code, codes in the smallest whole number of bytes, these bytes.
UNITS = {
    "f4E2M1FN": (4, 2, 1), "f6E3M2FN": (6, 4, 3), "f6E2M3FN": (6, 4, 3), "f8E4M3FN": (8, 1, 1),
    "f8E5M2": (8, 1, 1), "f8E8M0FNU": (8, 1, 1), "ue4m3": (8, 1, 1),
}
ODD = [name for name, unit in UNITS.items() if unit[0] < 8]


def stream(codes, bits):
    """Bit i of the stream is bit i % 8 of byte i / 8."""
    size = len(codes) * bits // 8
    number = sum(code << bits * i for i, code in enumerate(codes))
    return list(number.to_bytes(size, "little"))


def random_codes(name, *shape):
    return np.random.default_rng(shape).integers(0, 2 ** UNITS[name][0], shape, np.uint8)


@pytest.mark.parametrize(
    "codes, name, packed",
    [
        ([0x1, 0x2], "f4E2M1FN", [0x21]), ([0xF, 0x0, 0x0, 0xF], "f4E2M1FN", [0x0F, 0xF0]),
        ([0x3F, 0, 0, 0], "f6E3M2FN", [0x3F, 0, 0]), ([0, 0x3F, 0, 0], "f6E3M2FN", [0xC0, 0x0F, 0]),
        ([0, 0, 0x3F, 0], "f6E2M3FN", [0, 0xF0, 0x03]), ([0, 0, 0, 0x3F], "f6E2M3FN", [0, 0, 0xFC]),
        ([1, 2, 3, 4], "f6E2M3FN", [0x81, 0x30, 0x10]), ([0x80, 0x7F, 0xFF], "f8E5M2", [0x80, 0x7F, 0xFF]),
    ],
)
def test_bytes(codes, name, packed):
    got = pack(np.array(codes, np.uint8), name)
    assert got.dtype == np.uint8
    assert got.tolist() == packed
    assert unpack(got, name).tolist() == codes


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("shape", [(4,), (3, 64), (2, 3, 8), (1, 1020)])
def test_stream(name, shape):
    codes = random_codes(name, *shape)
    packed = pack(codes, name)
    assert packed.shape == (*shape[:-1], shape[-1] * UNITS[name][0] // 8)
    for index in np.ndindex(*shape[:-1]):
        assert packed[index].tolist() == stream(codes[index].tolist(), UNITS[name][0])
    np.testing.assert_array_equal(unpack(packed, name), codes)


@pytest.mark.parametrize("name", UNITS)
def test_every_code_keeps_its_value(name):
    codes = np.arange(2 ** UNITS[name][0], dtype=np.uint8)
    np.testing.assert_array_equal(decode(unpack(pack(codes, name), name), name), decode(codes, name))


def test_strides_do_not_matter():
    codes = random_codes("f6E2M3FN", 8, 12).T[::-1]
    np.testing.assert_array_equal(pack(codes, "f6E2M3FN"), pack(codes.copy(), "f6E2M3FN"))
    packed = pack(codes, "f6E2M3FN")[::2]
    np.testing.assert_array_equal(unpack(packed, "f6E2M3FN"), codes[::2])


def test_argument_stays_and_is_no_part_of_the_result():
    codes = random_codes("f8E5M2", 2, 4)
    packed = pack(codes, "f8E5M2")
    assert not np.shares_memory(packed, codes) and not np.shares_memory(unpack(packed, "f8E5M2"), packed)


@pytest.mark.parametrize("name", ODD)
def test_lines_end_on_a_byte(name):
    _, count, size = UNITS[name]
    for k in range(1, 9):
        if k % count:
            message = f"last dimension of codes: expected a multiple of {count}, got {k}"
            with pytest.raises(ValueError, match=message):
                pack(np.zeros((2, k), np.uint8), name)
        if k % size:
            message = f"last dimension of packed: expected a multiple of {size}, got {k}"
            with pytest.raises(ValueError, match=message):
                unpack(np.zeros((2, k), np.uint8), name)


@pytest.mark.parametrize("name", ODD)
def test_wide_code_is_named(name):
    codes = np.zeros((2, 8), np.uint8)
    codes[1, 3] = 2 ** UNITS[name][0]
    message = rf"^codes: {name} code at index \(1, 3\): {codes[1, 3]}, expected 0 to {codes[1, 3] - 1}$"
    with pytest.raises(ValueError, match=message):
        pack(codes, name)


@pytest.mark.parametrize("wrong", [np.zeros((2, 4)), np.zeros((2, 4), np.int8), [1, 2], b"ab", 3])
def test_other_types(wrong):
    with pytest.raises(TypeError, match="^codes: expected an array of uint8 or float4_e2m1fn, got"):
        pack(wrong, "f4E2M1FN")
    with pytest.raises(TypeError, match="^packed: expected an array of uint8, got"):
        unpack(wrong, "f4E2M1FN")


def test_other_arguments():
    for call in (pack, unpack):
        with pytest.raises(ValueError, match="rank: expected at least 1, got 0"):
            call(np.zeros((), np.uint8), "f4E2M1FN")
        with pytest.raises(ValueError, match="format: expected one of f8E4M3FN, .*, got 'fp4'"):
            call(np.zeros(2, np.uint8), "fp4")
