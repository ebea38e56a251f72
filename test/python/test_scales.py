"""The 32x4x4 scale layout against the reshape that defines it, and against single bytes."""

import numpy as np
import pytest
from blockscale import swizzle_group_scales, swizzle_scales, unswizzle_scales


def padded(s):
    rows, blocks = s.shape
    return np.pad(s, ((0, -rows % 128), (0, -blocks % 4)))


def swizzle_by_reshape(s):
    """swizzle_32_4_4 of NVIDIA's cuda.tile documentation; sizes multiples of 128 and 4."""
    rows, blocks = s.shape
    m0, k0 = rows // 128, blocks // 4
    s = s.reshape(m0, 4, 32, k0, 4).transpose(0, 3, 2, 1, 4)
    return s.reshape(m0, k0, 32, 16)


def random_scales(*shape):
    return np.random.default_rng(shape).integers(1, 256, shape, np.uint8)


SHAPES = [(128, 4), (256, 8), (384, 4), (128, 12), (1, 1), (300, 9), (33, 3), (129, 5), (127, 4), (63, 1023)]


@pytest.mark.parametrize("shape", SHAPES)
def test_swizzle_is_the_reshape(shape):
    s = random_scales(*shape)
    got = swizzle_scales(s)
    assert got.dtype == np.uint8
    assert got.shape == (-(-shape[0] // 128), -(-shape[1] // 4), 32, 16)
    np.testing.assert_array_equal(got, swizzle_by_reshape(padded(s)))


@pytest.mark.parametrize(
    "m, k, tile",
    [
        # off(r, k) = 16 * (r % 32) + 4 * (r / 32) + k inside the 512-byte atom
        (0, 0, (0, 0, 0, 0)), (0, 3, (0, 0, 0, 3)), (1, 0, (0, 0, 1, 0)),
        (31, 0, (0, 0, 31, 0)), (32, 0, (0, 0, 0, 4)), (64, 1, (0, 0, 0, 9)),
        (96, 3, (0, 0, 0, 15)), (127, 3, (0, 0, 31, 15)), (0, 4, (0, 1, 0, 0)),
        (128, 0, (1, 0, 0, 0)), (165, 6, (1, 1, 5, 6)), (299, 8, (2, 2, 11, 4)),
    ],
)
def test_swizzle_byte(m, k, tile):
    s = np.zeros((300, 9), np.uint8)
    s[m, k] = 0xA5
    got = swizzle_scales(s)
    assert got.shape == (3, 3, 32, 16)
    assert np.argwhere(got).tolist() == [list(tile)]
    assert got[tile] == 0xA5


def test_swizzle_pads_with_zero():
    got = swizzle_scales(np.full((33, 3), 0xFF, np.uint8))
    assert np.count_nonzero(got) == 33 * 3
    assert got[0, 0, 0].tolist() == [255, 255, 255, 0] * 2 + [0] * 8  # rows 0, 32, 64, 96
    assert got[0, 0, 1].tolist() == [255, 255, 255, 0] + [0] * 12  # rows 1, 33, 65, 97


@pytest.mark.parametrize("shape", SHAPES)
def test_unswizzle_ignores_padding(shape):
    s = random_scales(*shape)
    padding = swizzle_scales(np.ones(shape, np.uint8)) == 0
    t = swizzle_scales(s)
    t[padding] = 0xFF
    np.testing.assert_array_equal(unswizzle_scales(t, shape), s)


def test_batch_stays_in_front():
    s = random_scales(3, 130, 6)
    t = swizzle_scales(s)
    assert t.shape == (3, 2, 2, 32, 16)
    for b in range(3):
        np.testing.assert_array_equal(t[b], swizzle_scales(s[b]))
    np.testing.assert_array_equal(unswizzle_scales(t, s.shape), s)


@pytest.mark.parametrize("s", [np.ones((2, 2)), np.ones((2, 2), np.int8), [[1, 2]]])
def test_swizzle_needs_bytes(s):
    with pytest.raises(TypeError, match="s: expected an array of uint8, .*, got (float64|int8|list)"):
        swizzle_scales(s)
    with pytest.raises(TypeError, match="t: expected an array of uint8"):
        unswizzle_scales(s, (2, 2))


@pytest.mark.parametrize("shape", [(4,), (), (1, 1, 4, 4), (0, 4), (4, 0), (0, 4, 4)])
def test_scales_have_rank_2_or_3(shape):
    with pytest.raises(ValueError, match=r"expected \(M, K_s\) or .* got \("):
        swizzle_scales(np.zeros(shape, np.uint8))
    with pytest.raises(ValueError, match=r"expected \(M, K_s\) or .* got \("):
        unswizzle_scales(np.zeros((1, 1, 32, 16), np.uint8), shape)


@pytest.mark.parametrize(
    "t_shape, shape",
    [
        ((1, 1, 32, 16), (129, 4)), ((1, 1, 32, 16), (128, 5)), ((2, 1, 32, 16), (128, 4)),
        ((1, 1, 16, 32), (128, 4)), ((1, 1, 1, 32, 16), (128, 4)), ((1, 1, 32, 16), (1, 128, 4)),
        ((2, 1, 1, 32, 16), (3, 128, 4)),
    ],
)
def test_unswizzle_checks_shape(t_shape, shape):
    with pytest.raises(ValueError) as error:
        unswizzle_scales(np.zeros(t_shape, np.uint8), shape)
    expected = (*shape[:-2], -(-shape[-2] // 128), -(-shape[-1] // 4), 32, 16)
    assert f"expected shape {expected}" in str(error.value)
    assert f"got {t_shape}" in str(error.value)


def atoms(scales, offsets, rows=None):
    """The definition, element by element."""
    chosen = np.arange(len(scales)) if rows is None else rows
    groups, t = len(offsets), len(chosen)
    result = np.zeros(((t + 127 * groups) // 128, -(-scales.shape[1] // 4), 32, 16), np.uint8)
    first = 0
    for group, end in enumerate(offsets):
        end = min(max(end, first), t)
        for i in range(first, end):
            p = (first + 127 * group) // 128 * 128 + i - first
            if 0 <= chosen[i] < len(scales):
                for k, scale in enumerate(scales[chosen[i]]):
                    result[p // 128, k // 4, p % 32, p // 32 % 4 * 4 + k % 4] = scale
        first = end
    return result


@pytest.mark.parametrize("offsets", [[0, 5, 5, 205, 208, 208], [300] * 35, [7, 3, 900, -1], [1, 128, 257]])
@pytest.mark.parametrize("has_rows", [False, True])
def test_groups_have_atoms_of_their_own(offsets, has_rows):
    """Also with offsets that descend or are too large, and rows that there are not."""
    scales = random_scales(40 if has_rows else 300, 9)
    rows = np.random.default_rng(1).integers(-2, 43, 300, np.int32) if has_rows else None
    got = swizzle_group_scales(scales, np.int32(offsets), rows)
    np.testing.assert_array_equal(got, atoms(scales, np.int32(offsets), rows))


@pytest.mark.parametrize("s, offsets, rows, message", [
    (np.zeros((2, 0), np.uint8), [2], None, "s: expected (R, K_s) with K_s >= 1"),
    (np.zeros((1, 2, 4), np.uint8), [2], None, "s: expected (R, K_s)"),
    (np.zeros((2, 4), np.uint8), [], None, "offsets: expected (G,) with G >= 1"),
    (np.zeros((2, 4), np.uint8), [2], [[0]], "rows: expected (T,)"),
])
def test_wrong_shapes_of_groups(s, offsets, rows, message):
    with pytest.raises(ValueError) as error:
        swizzle_group_scales(s, np.array(offsets, np.int32), None if rows is None else np.int32(rows))
    assert message in str(error.value)
