"""The metadata of a sparse operand: which elements of each chunk along K are kept.

A chunk is four units along K, and two of them are kept. A unit is an element (granularity "2:4") or two
neighbours (granularity "pairs"). Each chunk has a field of four bits: the position of the first kept unit
in bits 0 and 1, that of the second one, which is higher, in bits 2 and 3. A byte has the fields of two
chunks, the even one in the low nibble. So a row of K elements has K / 8 bytes of metadata, or K / 16 in
pairs.

Tensor core instructions read atoms of 128 rows and 16 bytes. Byte j of row m: atom (m / 128, j / 16),
inside it 16 * (m % 128) + j % 16. Atoms follow each other along M first, then along K.

Sources: PTX ISA, mma.sp::ordered_metadata and tcgen05.mma.sp, "Sparse matrix storage": the six fields, and
that kind::mxf4 and kind::mxf4nvf4 are sparse in pairs. CUTLASS, Sm1xxGemmSparseConfig: the atoms, and 0000
for chunks without anything. compressed-tensors, format sparse-24-bitmask: the bit masks.
"""

from __future__ import annotations

from typing import Sequence, Tuple

import numpy as np

from .arrays import expect_array, expect_flag, expect_name, expect_reals, expect_shape, require, type_name

# The elements of a unit, by granularity.
GRANULARITIES = {"2:4": 1, "pairs": 2}

CHUNK_UNITS = 4
KEPT_UNITS = 2
FIELDS_PER_BYTE = 2

# The fields that PTX defines, and the one that CUTLASS writes where nothing is kept, which has one position
# twice.
FIELDS = (0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)
EMPTY_FIELD = 0b0100
CUTLASS_EMPTY_FIELD = 0b0000

ATOM_ROWS = 128
ATOM_BYTES = 16


def expect_granularity(value: str) -> int:
    """The elements of a unit. Raises TypeError or ValueError for anything but a granularity."""
    require(
        expect_name(value, "granularity") in GRANULARITIES, "granularity", f"one of {', '.join(GRANULARITIES)}",
        repr(value),
    )
    return GRANULARITIES[value]


def empty_field(cutlass: bool) -> int:
    return CUTLASS_EMPTY_FIELD if cutlass else EMPTY_FIELD


def first_chunk(bad: np.ndarray) -> Tuple[Tuple[int, ...], str]:
    """The index of the first True in `bad`, of shape (..., chunks), and how messages name that chunk."""
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    *rows, chunk = index
    row = f" row {rows[0] if len(rows) == 1 else tuple(rows)}," if rows else ""
    return index, f"{row} chunk {chunk}"


def pack_fields(fields: np.ndarray) -> np.ndarray:
    """Fields of shape (..., chunks), an even number of chunks, as bytes of shape (..., chunks / 2)."""
    return (fields[..., ::2] | fields[..., 1::2] << 4).astype(np.uint8)


def unpack_fields(metadata: np.ndarray) -> np.ndarray:
    """The reverse of `pack_fields`."""
    fields = np.stack([metadata & 15, metadata >> 4], axis=-1)
    return fields.reshape(*metadata.shape[:-1], -1)


def check_fields(fields: np.ndarray, zeros: np.ndarray) -> None:
    """Raises ValueError, with the place, for the first field that is not legal.

    zeros  of the shape of `fields`: whether both kept units of a chunk are zero, which makes 0000 legal
    """
    legal = np.isin(fields, FIELDS)
    bad = ~legal & ~(zeros & (fields == CUTLASS_EMPTY_FIELD))
    if bad.any():
        index, place = first_chunk(bad)
        names = ", ".join(f"{field:04b}" for field in FIELDS)
        values = " with values that are not zero" if fields[index] == CUTLASS_EMPTY_FIELD else ""
        raise ValueError(
            f"metadata{place}: expected one of {names}, or 0000 with zeros, got {fields[index]:04b}{values}"
        )


def kept_positions(fields: np.ndarray, width: int) -> np.ndarray:
    """The k of every kept element, of shape (..., K / 2): ascending, except that 0000 has one position twice.

    fields  of shape (..., chunks)
    width   the elements of a unit
    """
    shifts = 2 * np.arange(KEPT_UNITS)[:, None]
    units = fields[..., None, None].astype(np.int64) >> shifts & 3  # (..., chunks, kept, 1)
    chunks = np.arange(fields.shape[-1])[:, None, None]
    positions = CHUNK_UNITS * width * chunks + width * units + np.arange(width)
    return positions.reshape(*fields.shape[:-1], -1)


def scatter(kept: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Kept elements at their positions along K, both of shape (..., K / 2), and zeros elsewhere: (..., K)."""
    dense = np.zeros((*kept.shape[:-1], 2 * kept.shape[-1]), kept.dtype)
    np.put_along_axis(dense, positions, kept, axis=-1)
    return dense


# Atoms


def _tiles(rows, size):
    """Shape of the tiled form of rows x size bytes."""
    return (-(-size // ATOM_BYTES), -(-rows // ATOM_ROWS), ATOM_ROWS, ATOM_BYTES)


def _position(rows, size):
    """Index arrays, broadcasting to (rows, size), into the last four dimensions of the tiles."""
    m = np.arange(rows)[:, None]
    j = np.arange(size)
    return j // ATOM_BYTES, m // ATOM_ROWS, m % ATOM_ROWS, j % ATOM_BYTES


def _check_shape(shape, name):
    require(
        len(shape) in (2, 3) and min(shape) >= 1,
        name, "(M, bytes) or (batch, M, bytes) with sizes >= 1", shape,
    )


def tile_metadata(metadata: np.ndarray, cutlass: bool = False) -> np.ndarray:
    """Metadata in the atoms of 128 rows x 16 bytes that sparse tensor core instructions read.

    metadata  uint8 of shape (M, bytes) or (batch, M, bytes): in each of M rows a byte for every 8
              elements along K, or for every 16 in pairs
    cutlass   whether padding is 0x00, as in CUTLASS; otherwise it is 0x44, whose fields are legal

    The result is uint8 of shape (ceil(bytes / 16), ceil(M / 128), 128, 16), after the batch if there is
    one: atoms run along M first, then along K, as CUTLASS has them for sm_100 and sm_120.

    >>> import numpy as np
    >>> tiles = tile_metadata(np.arange(40, dtype=np.uint8).reshape(2, 20))
    >>> tiles.shape
    (2, 1, 128, 16)
    >>> tiles[1, 0, :3, :6]  # 68 is 0x44
    array([[16, 17, 18, 19, 68, 68],
           [36, 37, 38, 39, 68, 68],
           [68, 68, 68, 68, 68, 68]], dtype=uint8)

    Raises TypeError for other element types, ValueError for other ranks and for sizes of 0.
    """
    metadata = expect_array(metadata, "metadata", np.uint8)
    cutlass = expect_flag(cutlass, "cutlass")
    _check_shape(metadata.shape, "metadata")
    *batch, rows, size = metadata.shape
    field = empty_field(cutlass)
    tiles = np.full((*batch, *_tiles(rows, size)), field | field << 4, np.uint8)
    tiles[(..., *_position(rows, size))] = metadata
    return tiles


def untile_metadata(t: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """The reverse of `tile_metadata`: row-major metadata of `shape`.

    t      uint8 of the shape that `tile_metadata` gives for `shape`; its padding may hold any byte
    shape  (M, bytes) or (batch, M, bytes): the shape of the result

    >>> import numpy as np
    >>> metadata = np.arange(2700, dtype=np.uint16).astype(np.uint8).reshape(150, 18)
    >>> bool((untile_metadata(tile_metadata(metadata), (150, 18)) == metadata).all())
    True

    Raises TypeError for other element types, ValueError for other shapes.
    """
    tiles = expect_array(t, "t", np.uint8)
    shape = expect_shape(shape, "shape")
    _check_shape(shape, "shape")
    *batch, rows, size = shape
    expected = (*batch, *_tiles(rows, size))
    require(t.shape == expected, "t", f"shape {expected} for metadata of {shape}", t.shape)
    return tiles[(..., *_position(rows, size))]


# Bit masks


def _mask_fields():
    """The field of a chunk by its four bits of a mask, bit i for element i; 0 where not two are set."""
    fields = np.zeros(1 << CHUNK_UNITS, np.uint8)
    for field in FIELDS:
        fields[1 << (field & 3) | 1 << (field >> 2)] = field
    return fields


_FIELD_OF_MASK = _mask_fields()


def compress_bitmask(values: np.ndarray, bitmask: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """What compressed-tensors stores as `sparse-24-bitmask`, as kept values and metadata of granularity 2:4.

    values   the tensor `compressed`, of shape (..., K / 2): codes, or values of any real type that are
             still to be quantized
    bitmask  the tensor `bitmask`, uint8 of shape (..., K / 8): bit i % 8 of byte i / 8 is set if the
             element at k = i is stored

    The result is (kept, metadata): `values`, which are in the order that is wanted here, and uint8 of shape
    (..., K / 8). No value is read, so that a zero that the mask keeps is kept here, too.

    >>> import numpy as np
    >>> kept, metadata = compress_bitmask(np.array([[1, 2, 3, 4]], np.uint8), np.array([[0b10100011]], np.uint8))
    >>> kept, [f"{byte:08b}" for byte in metadata[0]]
    (array([[1, 2, 3, 4]], dtype=uint8), ['11010100'])

    Raises TypeError for arrays of other types, ValueError for other shapes, a K that is no multiple of 8,
    and, with row and chunk, a chunk of which not two elements are stored.
    """
    if not isinstance(values, np.ndarray):
        raise TypeError(f"values: expected an array of real numbers, got {type_name(values)}")
    kept = expect_reals(values, "values")
    bitmask = expect_array(bitmask, "bitmask", np.uint8)
    require(kept.ndim >= 1, "values rank", "at least 1", kept.ndim)
    size = kept.shape[-1]
    require(size % CHUNK_UNITS == 0, "last dimension of values", f"a multiple of {CHUNK_UNITS}", size)
    expected = (*kept.shape[:-1], size // CHUNK_UNITS)
    require(bitmask.shape == expected, "bitmask shape", expected, bitmask.shape)
    masks = unpack_fields(bitmask)
    fields = _FIELD_OF_MASK[masks]
    bad = fields == 0
    if bad.any():
        index, place = first_chunk(bad)
        raise ValueError(f"bitmask{place}: expected 2 of 4 bits set, got {bin(masks[index]).count('1')}")
    return kept, pack_fields(fields)
