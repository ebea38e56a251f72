"""The atoms of metadata against the offset of each byte, and bit masks against single bits."""

import numpy as np
import pytest
from blockscale import compress_bitmask, decompress, tile_metadata, untile_metadata

# Two bits of a mask, the lower k first, and the field of the chunk.
FIELD_OF_BITS = {
    (0, 1): 0b0100, (0, 2): 0b1000, (1, 2): 0b1001, (0, 3): 0b1100, (1, 3): 0b1101, (2, 3): 0b1110,
}


def random_bytes(*shape):
    return np.random.default_rng(shape).integers(0, 256, shape, np.uint8)


SHAPES = [(128, 16), (256, 16), (128, 48), (1, 1), (136, 36), (129, 17), (127, 15), (300, 33)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("elements", [8, 16])
def test_offset_of_every_byte(shape, elements):
    """As CUTLASS lays them out, for a byte of 8 elements (2:4) and of 16 (pairs)."""
    metadata = random_bytes(*shape)
    tiles = tile_metadata(metadata)
    atoms_m, atoms_k = -(-shape[0] // 128), -(-shape[1] // 16)
    assert tiles.dtype == np.uint8 and tiles.shape == (atoms_k, atoms_m, 128, 16) and tiles.flags.c_contiguous
    memory = tiles.reshape(-1)
    for m in range(shape[0]):
        for k in range(0, shape[1] * elements, elements):
            atom = m // 128 + atoms_m * (k // (16 * elements))
            offset = 2048 * atom + 16 * (m % 128) + k % (16 * elements) // elements
            assert memory[offset] == metadata[m, k // elements]


@pytest.mark.parametrize("m, j, offset", [
    (0, 0, 0), (0, 15, 15), (1, 0, 16), (127, 15, 2047), (128, 0, 2048), (0, 16, 3 * 2048),
    (300, 33, (2 * 3 + 2) * 2048 + 44 * 16 + 1),
])
def test_byte(m, j, offset):
    metadata = np.zeros((301, 34), np.uint8)
    metadata[m, j] = 0xA5
    assert np.flatnonzero(tile_metadata(metadata, cutlass=True)).tolist() == [offset]


@pytest.mark.parametrize("cutlass, padding", [(False, 0x44), (True, 0x00)])
def test_padding(cutlass, padding):
    tiles = tile_metadata(np.full((33, 18), 0xEE, np.uint8), cutlass)
    assert np.count_nonzero(tiles == 0xEE) == 33 * 18
    assert np.count_nonzero(tiles == padding) == tiles.size - 33 * 18
    assert tiles[1, 0, 32].tolist() == [0xEE] * 2 + [padding] * 14
    assert tiles[0, 0, 33].tolist() == [padding] * 16


@pytest.mark.parametrize("shape", SHAPES)
def test_untile_ignores_padding(shape):
    metadata = random_bytes(*shape)
    padding = tile_metadata(np.ones(shape, np.uint8)) == 0x44
    tiles = tile_metadata(metadata)
    tiles[padding] = 0xFF
    np.testing.assert_array_equal(untile_metadata(tiles, shape), metadata)


def test_batch_stays_in_front():
    metadata = random_bytes(3, 130, 20)
    tiles = tile_metadata(metadata)
    assert tiles.shape == (3, 2, 2, 128, 16)
    for b in range(3):
        np.testing.assert_array_equal(tiles[b], tile_metadata(metadata[b]))
    np.testing.assert_array_equal(untile_metadata(tiles, metadata.shape), metadata)


@pytest.mark.parametrize("wrong", [np.ones((2, 2)), np.ones((2, 2), np.int8), [[1, 2]]])
def test_tiles_are_of_bytes(wrong):
    with pytest.raises(TypeError, match="^metadata: expected an array of uint8, got (float64|int8|list)$"):
        tile_metadata(wrong)
    with pytest.raises(TypeError, match="^t: expected an array of uint8, got (float64|int8|list)$"):
        untile_metadata(wrong, (2, 2))


@pytest.mark.parametrize("shape", [(4,), (), (1, 1, 4, 4), (0, 4), (4, 0), (0, 4, 4)])
def test_metadata_has_rank_2_or_3(shape):
    message = r": expected \(M, bytes\) or \(batch, M, bytes\) with sizes >= 1, got \("
    with pytest.raises(ValueError, match="^metadata" + message):
        tile_metadata(np.zeros(shape, np.uint8))
    with pytest.raises(ValueError, match="^shape" + message):
        untile_metadata(np.zeros((1, 1, 128, 16), np.uint8), shape)


@pytest.mark.parametrize("t_shape, shape", [
    ((1, 1, 128, 16), (129, 16)), ((1, 1, 128, 16), (128, 17)), ((2, 1, 128, 16), (256, 16)), 
    ((1, 1, 16, 128), (128, 16)),
    ((1, 1, 1, 128, 16), (128, 16)), ((1, 1, 128, 16), (1, 128, 16)),
])
def test_untile_checks_shape(t_shape, shape):
    with pytest.raises(ValueError) as error:
        untile_metadata(np.zeros(t_shape, np.uint8), shape)
    expected = (*shape[:-2], -(-shape[-1] // 16), -(-shape[-2] // 128), 128, 16)
    assert str(error.value) == f"t: expected shape {expected} for metadata of {shape}, got {t_shape}"


# Bit masks


def random_mask(*shape):
    """Two of four, shape (..., K) of bool."""
    rng = np.random.default_rng(shape)
    rows = np.array([[i in bits for i in range(4)] for bits in FIELD_OF_BITS])
    return rng.choice(rows, (*shape[:-1], shape[-1] // 4)).reshape(shape)


def bytes_of(mask):
    """Bit k % 8 of byte k / 8."""
    packed = np.zeros((*mask.shape[:-1], mask.shape[-1] // 8), np.uint8)
    for index in np.argwhere(mask):
        *row, k = index.tolist()
        packed[(*row, k // 8)] |= 1 << k % 8
    return packed


@pytest.mark.parametrize("shape", [(8,), (3, 64), (2, 5, 24)])
def test_bitmask(shape):
    mask = random_mask(*shape)
    values = np.random.default_rng(1).integers(1, 127, (*shape[:-1], shape[-1] // 2), np.uint8)
    kept, metadata = compress_bitmask(values, bytes_of(mask))
    np.testing.assert_array_equal(kept, values)
    assert metadata.dtype == np.uint8 and metadata.shape == (*shape[:-1], shape[-1] // 8)
    for index in np.ndindex(*shape[:-1]):
        for c in range(shape[-1] // 4):
            bits = tuple(np.flatnonzero(mask[index][4 * c : 4 * c + 4]).tolist())
            assert metadata[index][c // 2] >> 4 * (c % 2) & 15 == FIELD_OF_BITS[bits]
    dense = np.zeros(shape, np.uint8)
    dense[mask] = values.reshape(-1)  # as compressed-tensors decompresses
    np.testing.assert_array_equal(decompress(kept, metadata, "f8E4M3FN", "2:4"), dense)


def test_bitmask_of_zeros():
    """compressed-tensors stores two of every four, also where they are zero: the mask decides."""
    kept, metadata = compress_bitmask(np.zeros((1, 4), np.uint8), np.array([[0b1001_0110]], np.uint8))
    assert kept.tolist() == [[0] * 4] and metadata.tolist() == [[0b1100_1001]]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint16, np.int8])
def test_bitmask_with_values_of_other_types(dtype):
    values = np.arange(8).reshape(2, 4).astype(dtype)
    kept, _ = compress_bitmask(values, np.full((2, 1), 0x33, np.uint8))
    assert kept.dtype == dtype
    np.testing.assert_array_equal(kept, values)


@pytest.mark.parametrize("mask", [mask for mask in range(16) if bin(mask).count("1") != 2])
def test_bitmask_without_two_of_four(mask):
    count = bin(mask).count("1")
    bitmask = np.full((2, 3, 4), 0x33, np.uint8)
    bitmask[1, 2, 1] = 0x03 | mask << 4
    bitmask[1, 2, 3] = 0xFF
    values = np.ones((2, 3, 16), np.uint8)
    for rows, place in ((np.s_[:], r"row \(1, 2\), chunk 3"), (np.s_[1], "row 2, chunk 3"), (np.s_[1, 2], "chunk 3")):
        with pytest.raises(ValueError, match=f"^bitmask {place}: expected 2 of 4 bits set, got {count}$"):
            compress_bitmask(values[rows], bitmask[rows])


def test_bitmask_shapes_and_types():
    with pytest.raises(ValueError, match=r"^bitmask shape: expected \(2, 2\), got \(2, 1\)$"):
        compress_bitmask(np.ones((2, 8), np.uint8), np.full((2, 1), 0x33, np.uint8))
    with pytest.raises(ValueError, match=r"^bitmask shape: expected \(2, 1\), got \(1, 2, 1\)$"):
        compress_bitmask(np.ones((2, 4), np.uint8), np.full((1, 2, 1), 0x33, np.uint8))
    with pytest.raises(ValueError, match="^last dimension of values: expected a multiple of 4, got 6$"):
        compress_bitmask(np.ones((2, 6), np.uint8), np.full((2, 2), 0x33, np.uint8))
    with pytest.raises(ValueError, match="^values rank: expected at least 1, got 0$"):
        compress_bitmask(np.ones((), np.uint8), np.full((1,), 0x33, np.uint8))
    with pytest.raises(TypeError, match="^bitmask: expected an array of uint8, got bool$"):
        compress_bitmask(np.ones((2, 4), np.uint8), np.ones((2, 1), bool))
    with pytest.raises(TypeError, match="^values: expected an array of real numbers, got list$"):
        compress_bitmask([[1, 2, 3, 4]], np.full((1, 1), 0x33, np.uint8))
    with pytest.raises(TypeError, match="^values: expected real numbers, got complex128$"):
        compress_bitmask(np.ones((2, 4), complex), np.full((2, 1), 0x33, np.uint8))
