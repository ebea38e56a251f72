"""What a kernel has to do for a configuration: bytes of memories, copies and instructions.

The plan of a kernel is data, so that tests can change one term of it at a time.
"""

from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy as np
from blockscale import swizzle_scales
from matrix_descriptors import instruction_descriptor, shared_descriptor
from operand_types import shared_units, tensor_words, unit_elements
from shared_images import ALIGNMENT, k_major, mn_major, round_up
from tensor_memory import (
    LANES, a_scales, a_words, b_scales, d_positions, metadata_words, scale_columns,
)

A_SCALE_COLUMNS = 32  # at the start of tensor memory; D follows
ATOM_BYTES = 512
ATOM_STRIDE = 128  # of eight rows of 16 bytes, in a copy
METADATA_COLUMNS = 2  # of an instruction


class Copy(NamedTuple):
    """tcgen05.cp of four columns: from an offset in shared memory to a column."""

    offset: int
    descriptor: int
    column: int
    shape: str = "32x128b.warpx4"


class Mma(NamedTuple):
    """One tcgen05.mma.

    a and b are offsets in shared memory, a_next and b_next those of the panels where rows continue, or
    None; a is a column where A is in tensor memory. Columns count from the allocation's first.
    `accumulates` is enable-input-d. `metadata` is None if A is not sparse.
    """

    d: int
    a: int
    a_descriptor: int
    b: int
    b_descriptor: int
    instruction: int
    a_scale: int
    b_scale: int
    accumulates: bool
    a_next: Optional[int]
    b_next: Optional[int]
    metadata: Optional[int]


class Fill(NamedTuple):
    """Columns of tensor memory that tcgen05.st writes; uint32 (ctas, 128, count)."""

    column: int
    words: np.ndarray


@dataclass(frozen=True)
class Plan:
    """All that the text of a kernel and its arguments are made of. `shared` is uint8 (ctas, bytes)."""

    config: object
    shared: np.ndarray
    fills: list
    copies: list
    mmas: list
    d_column: int
    columns: int  # allocated

    @property
    def fill_words(self):
        """The columns of all fills, uint32 (ctas, 128, words), rows of whole 16 bytes."""
        words = [np.zeros((self.config.ctas, LANES, 0), np.uint32), *(fill.words for fill in self.fills)]
        joined = np.concatenate(words, axis=2)
        return np.pad(joined, ((0, 0), (0, 0), (0, -joined.shape[2] % 4)))


class Data(NamedTuple):
    """Codes of A (m, k) and B (n, k), of their scale factors (m, blocks) and (n, blocks) or None, and C
    (m, n) in D's type. If A is sparse: its kept codes (m, k / 2), and fields (m, chunks)."""

    a: np.ndarray
    b: np.ndarray
    a_scale: np.ndarray
    b_scale: np.ndarray
    c: np.ndarray
    fields: Optional[np.ndarray] = None


def _operand(config, storage, codes, name, ctas):
    """The image, and its bytes uint8 (ctas, size), of one operand; `codes` (rows, k or kept k)."""
    rows = len(codes) // ctas
    step = codes.shape[1] // config.steps
    if storage.major == "K":
        image = k_major(storage, rows, step // unit_elements(config.kind, name), config.steps)
        parts = codes.reshape(ctas, rows, -1)
    else:
        parts = [part.T for part in codes.reshape(ctas, rows, -1)]
        units = shared_units(parts[0], config.kind, name).shape[1]
        image = mn_major(storage, units, step, config.steps)
    content = [shared_units(np.ascontiguousarray(part), config.kind, name, 0xAA) for part in parts]
    return image, np.stack([image.arrange(units) for units in content])


def _descriptor(storage, image):
    return shared_descriptor(image.leading, image.stride, storage.swizzle, storage.across)


def _atoms(codes):
    """Scale factors (rows, blocks) as atoms, uint8 (words, groups of 128 rows, 512); padding is 0xFF."""
    rows, blocks = codes.shape
    padded = np.full((round_up(rows, 128), round_up(blocks, 4)), 0xFF, np.uint8)
    padded[:rows, :blocks] = codes
    return swizzle_scales(padded).swapaxes(0, 1).reshape(padded.shape[1] // 4, -1, ATOM_BYTES)


def _c_words(config, c):
    """C as words of tensor memory, uint32 (ctas, 128, columns); other lanes hold a pattern."""
    words = np.full((config.ctas, LANES, config.d_columns), 0x7FC00BAD, np.uint32)
    halves = c.dtype.itemsize == 2
    words[d_positions(config)] = c.view(np.uint16 if halves else np.uint32)
    return words


def _scales(config, data, offset, columns):
    """(bytes of shared memory, copies, fills) that bring scale factors to columns (of A, of B)."""
    if config.scales_by == "st":
        images = (a_scales(config, data.a_scale), b_scales(config, data.b_scale))
        return np.zeros((config.ctas, 0), np.uint8), [], [
            Fill(column, words) for column, words in zip(columns, images)
        ]
    descriptor = shared_descriptor(0, ATOM_STRIDE, 0)
    a_atoms = [_atoms(part) for part in np.split(data.a_scale, config.ctas)]
    parts = [a_atoms, [_atoms(data.b_scale)] * config.ctas]
    copies, content = [], []
    for column, atoms in zip(columns, parts):
        content.append(np.stack([part.reshape(-1) for part in atoms]))
        for i in range(content[-1].shape[1] // ATOM_BYTES):
            copies.append(Copy(offset, descriptor, column + 4 * i))
            offset += ATOM_BYTES
    return np.concatenate(content, axis=1), copies, []


def _metadata(config, data, offset, column):
    """(bytes of shared memory, copies, fills) that bring the metadata of a sparse A to a column on."""
    words = metadata_words(config, data.fields)
    if config.scales_by == "st":
        return np.zeros((config.ctas, 0), np.uint8), [], [Fill(column, words)]
    # A copy brings the metadata of two instructions; what it pads is no legal field.
    padded = np.pad(words, ((0, 0), (0, 0), (0, -words.shape[2] % 4)), constant_values=0xFFFFFFFF)
    parts = padded.reshape(config.ctas, LANES, -1, 4).swapaxes(1, 2)
    descriptor = shared_descriptor(0, ATOM_STRIDE, 0)
    copies = [
        Copy(offset + 16 * LANES * i, descriptor, column + 4 * i, "128x128b") for i in range(parts.shape[1])
    ]
    return np.ascontiguousarray(parts).view(np.uint8).reshape(config.ctas, -1), copies, []


def make_plan(config, data):
    """The plan of a kernel that computes D from `data`."""
    d_column = A_SCALE_COLUMNS
    a_column = d_column + config.d_columns
    b_scale_column = a_column
    fills, content = [], []
    if config.a_memory == "tensor":
        words = a_words(config, tensor_words(data.a, config.kind, config.a_type))
        fills.append(Fill(a_column, words))
        b_scale_column += words.shape[2]
        step_words = words.shape[2] // config.steps
        a_starts, a_descriptor = [a_column + step_words * i for i in range(config.steps)], 0
        a_nexts = [None] * config.steps
    else:
        image, bytes_ = _operand(config, config.a, data.a, config.a_type, config.ctas)
        content.append(bytes_)
        a_starts, a_descriptor, a_nexts = image.steps, _descriptor(config.a, image), image.nexts
    image, bytes_ = _operand(config, config.b, data.b, config.b_type, config.ctas)
    b_start = sum(part.shape[1] for part in content)
    content.append(bytes_)
    b_descriptor = _descriptor(config.b, image)
    copies = []
    if config.scaled:
        offset = b_start + bytes_.shape[1]
        atoms, copies, scale_fills = _scales(config, data, offset, (0, b_scale_column))
        content.append(atoms)
        fills += scale_fills
    a_width, b_width = (scale_columns(config, operand) for operand in "ab")
    used = b_scale_column + (config.scale_words * b_width if config.scaled else 0)
    metadata = [None] * config.steps
    if config.sparse:
        first = used + -used % 4
        offset = sum(part.shape[1] for part in content)
        rows, metadata_copies, metadata_fills = _metadata(config, data, offset, first)
        content.append(rows)
        copies += metadata_copies
        fills += metadata_fills
        metadata = [first + METADATA_COLUMNS * i for i in range(config.steps)]
        used = first + METADATA_COLUMNS * (config.steps + config.steps % 2)
    if config.accumulate:
        fills.append(Fill(d_column, _c_words(config, data.c)))
    mmas = []
    for i in range(config.steps):
        factor = i * config.step_factors if config.scaled else 0
        mmas.append(Mma(
            d_column, a_starts[i], a_descriptor, b_start + image.steps[i], b_descriptor,
            instruction_descriptor(config, factor), factor // 4 * a_width,
            b_scale_column + factor // 4 * b_width, config.accumulate or i > 0, a_nexts[i],
            None if image.nexts[i] is None else b_start + image.nexts[i], metadata[i],
        ))
    assert not config.scaled or config.scale_words * a_width <= A_SCALE_COLUMNS
    columns = max(32, 1 << (used - 1).bit_length())
    assert columns <= 512
    shared = np.concatenate(content, axis=1)
    shared = np.pad(shared, ((0, 0), (0, -shared.shape[1] % ALIGNMENT)))
    return Plan(config, shared, fills, copies, mmas, d_column, columns)
