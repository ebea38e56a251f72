"""Kernels that move words between registers, shared memory and tensor memory, and what they must do.

Tensor memory is uint32 (128 lanes, columns). Every kernel fills it with a pattern by st.32x32b, moves
data in the way that is tested, and returns what it read.

Sources: PTX ISA, tcgen05.ld, tcgen05.st ("Matrix fragments"), tcgen05.cp ("Multicast", "Decompression")
and tcgen05.shift; the maps as CuTe's copy traits for sm_100 give them.
"""

from typing import NamedTuple

import numpy as np
from matrix_descriptors import shared_descriptor
from mma_config import Storage
from shared_images import k_major, round_up
from tcgen05_ptx import (
    allocate, await_phase, block_barrier, commit, copy_to_shared, fill_columns, from_global, lane_pointer,
    matrix_descriptor, module, read_columns, release, sync, to_global, words,
)

LANES, COLUMNS = 128, 512


class Shape(NamedTuple):
    """A shape of tcgen05.ld and .st: registers and columns of .x1, and the largest count."""

    name: str
    registers: int
    columns: int
    largest: int


SHAPES = (
    Shape("32x32b", 1, 1, 128), Shape("16x64b", 1, 2, 128), Shape("16x128b", 2, 4, 64),
    Shape("16x256b", 4, 8, 32), Shape("16x32bx2", 1, 1, 128),
)


class Access(NamedTuple):
    """One tcgen05.ld or .st. `lane` is 0 or 16 in the warp's lanes; `split` is the distance of the
    second window of 16x32bx2; `packed` is pack::16b or unpack::16b."""

    shape: Shape
    count: int
    lane: int
    column: int
    split: int
    packed: bool

    @property
    def registers(self):
        return self.shape.registers * self.count

    def position(self):
        """(lane of the warp, first column) of each register, int (32, registers)."""
        t, r = np.arange(32)[:, None], np.arange(self.registers)
        lane, column = {
            "32x32b": (t + 0 * r, r + 0 * t),
            "16x64b": (t // 4 + t % 2 * 8 + 0 * r, t // 2 % 2 + 2 * r),
            "16x128b": (t // 4 + r % 2 * 8, t % 4 + r // 2 * 4),
            "16x256b": (t // 4 + r // 2 % 2 * 8, t % 4 * 2 + r % 2 + r // 4 * 8),
            "16x32bx2": (t % 16 + 0 * r, r + 0 * t),
        }[self.shape.name]
        window = (t >= 16) * self.split if self.shape.name == "16x32bx2" else 0
        return lane + self.lane, column * (1 + self.packed) + window + self.column

    def text(self, direction):
        """The instruction; the address is in %r0."""
        is_load = direction == "ld"
        suffix = (".pack::16b" if is_load else ".unpack::16b") * self.packed
        name = f"tcgen05.{direction}.sync.aligned.{self.shape.name}.x{self.count}{suffix}.b32"
        split = f", {self.split}" if self.shape.name == "16x32bx2" else ""
        data = words(self.registers)
        operands = f"{data}, [%r0]{split}" if is_load else f"[%r0]{split}, {data}"
        return [
            f"    add.u32 %r0, %mine, {self.lane << 16 | self.column:#x};",
            f"    {name} {operands};",
        ]


def accesses(shape, packed):
    """Every count, the largest first, in both halves of a warp's lanes, from odd columns where they fit."""
    count, found = shape.largest, []
    while count:
        width = shape.columns * count * (1 + packed)
        two_windows = shape.name == "16x32bx2"
        split = width + 2 if two_windows and 2 * width + 2 <= COLUMNS else width
        used = split + width if two_windows else width
        lane = 0 if shape.name == "32x32b" else 16 * (len(found) % 2)
        found.append(Access(shape, count, lane, min(5, COLUMNS - used), split * two_windows, packed))
        count //= 2
    return found


def pattern(columns=COLUMNS):
    """Different words everywhere, uint32 (128, columns)."""
    number = np.arange(LANES * columns, dtype=np.uint32).reshape(LANES, columns)
    return number * np.uint32(2654435761) + np.uint32(12345)


def _with_pattern(columns, body, params=("pattern", "out"), before=()):
    """A kernel that allocates, stores the pattern, and then does `body`."""
    return module("sm_100a", "kernel", params, [
        *before, *allocate(512), *lane_pointer("pattern", columns), *fill_columns(0, columns, 0),
        sync("tcgen05.wait::st.sync.aligned;", "wait::st"), *body, *release(512),
    ])


def row_words(moves):
    """Words of a thread's row of data: the registers of all accesses, up to a multiple of 16 bytes."""
    return round_up(sum(move.registers for move in moves), 4)


def load_text(moves):
    """Loads by every access of the list; out uint32 (128 threads, row_words)."""
    body, offset = lane_pointer("out", row_words(moves)), 0
    for move in moves:
        body += [*move.text("ld"), "    tcgen05.wait::ld.sync.aligned;"]
        body += to_global(move.registers, offset)
        offset += move.registers
    return _with_pattern(COLUMNS, body)


def loaded(moves, memory):
    """What `load_text` must return; the end of a row stays 0."""
    results = []
    for move in moves:
        lane, column = move.position()
        warps = memory.reshape(4, 32, -1)
        data = warps[:, lane, column]
        if move.packed:
            data = data & 0xFFFF | warps[:, lane, column + 1] << 16
        results.append(data.reshape(LANES, -1))
    data = np.concatenate(results, axis=1)
    return np.pad(data, ((0, 0), (0, row_words(moves) - data.shape[1])))


def store_text(moves):
    """Stores by every access of the list, in its order; out uint32 (128, 512): the memory after that."""
    body, offset = lane_pointer("data", row_words(moves)), 0
    for move in moves:
        body += [*from_global(move.registers, offset), *move.text("st")]
        body.append("    tcgen05.wait::st.sync.aligned;")
        offset += move.registers
    body += [*lane_pointer("out", COLUMNS), *read_columns(0, COLUMNS)]
    return _with_pattern(COLUMNS, body, ("pattern", "data", "out"))


def stored(moves, memory, data):
    """(memory, mask of bits that are defined) after `store_text`."""
    warps = memory.reshape(4, 32, -1).copy()
    defined = np.full_like(warps, 0xFFFFFFFF)
    offset = 0
    for move in moves:
        lane, column = move.position()
        part = data[:, offset : offset + move.registers].reshape(4, 32, -1)
        offset += move.registers
        if move.packed:
            warps[:, lane, column], warps[:, lane, column + 1] = part & 0xFFFF, part >> 16
            defined[:, lane, column] = defined[:, lane, column + 1] = 0xFFFF
        else:
            warps[:, lane, column], defined[:, lane, column] = part, 0xFFFFFFFF
    return warps.reshape(LANES, -1), defined.reshape(LANES, -1)


class SharedCopy(NamedTuple):
    """A tcgen05.cp: its qualifiers, rows and units of 16 bytes in shared memory, and groups of lanes.

    `lanes` lists for each replica the lane of every source row.
    """

    name: str
    rows: int
    units: int
    lanes: tuple
    lane: int = 0  # of the address


_ROWS = np.arange(LANES)
SHARED_COPIES = (
    SharedCopy("128x256b", 128, 2, (_ROWS,)),
    SharedCopy("128x128b", 128, 1, (_ROWS,)),
    SharedCopy("64x128b.warpx2::02_13", 64, 1, (_ROWS[:64], _ROWS[:64] + 64)),
    SharedCopy(
        "64x128b.warpx2::01_23", 64, 1, tuple(_ROWS[:64] + _ROWS[:64] // 32 * 32 + far for far in (0, 32))
    ),
    SharedCopy("32x128b.warpx4", 32, 1, tuple(_ROWS[:32] + 32 * i for i in range(4))),
    SharedCopy("4x256b", 4, 2, (_ROWS[:4] * 32,)),
    SharedCopy("4x256b", 4, 2, (_ROWS[:4] * 32,), 31),
)
SUFFIXES = (".b8x16.b6x16_p32", ".b8x16.b4x16_p64")
COPY_COLUMNS = 64  # enough for one after the other, with a gap


def _copy_plan(swizzle):
    """(copy, image, offset in shared memory, column) of all copies."""
    plan, offset, column = [], 0, 4
    for copy in SHARED_COPIES:
        image = k_major(Storage("K", swizzle, "MN", 0), copy.rows, copy.units, 1)
        plan.append((copy, image, offset, column))
        offset += image.size
        column += 4 * copy.units + (4 if copy.rows == 64 else 0)
    return plan, offset


def _issue(lines):
    """Thread 0 issues, everybody waits."""
    return [
        *block_barrier("operands"), "    setp.ne.u32 %p4, %thread, 0;", "    @%p4 bra ISSUED;", *lines,
        *commit(), "ISSUED:", *await_phase(0),
    ]


def copy_text(swizzle, suffix=""):
    """All shapes of tcgen05.cp from one swizzle; out uint32 (128, COPY_COLUMNS)."""
    plan, size = _copy_plan(swizzle)
    lines = []
    for copy, image, offset, column in plan:
        descriptor = shared_descriptor(image.leading, image.stride, swizzle)
        lines += [
            *matrix_descriptor("%d2", offset, descriptor),
            f"    add.u32 %r1, %tmem, {copy.lane << 16 | column:#x};",
            f"    tcgen05.cp.cta_group::1.{copy.name}{suffix} [%r1], %d2;",
        ]
    body = [*_issue(lines), *lane_pointer("out", COPY_COLUMNS), *read_columns(0, COPY_COLUMNS)]
    return _with_pattern(
        COPY_COLUMNS, body, ("shared", "pattern", "out"), copy_to_shared("shared", size)
    )


def _decompressed(units, suffix):
    """uint8 (..., 16): one byte for each of the 16 packed elements of a unit."""
    bits = {"b6x16_p32": 6, "b4x16_p64": 4}[suffix.split(".")[-1]]
    stream = np.unpackbits(units[..., : 2 * bits], axis=-1, bitorder="little")
    codes = (stream.reshape(*units.shape[:-1], 16, bits) << np.arange(bits)).sum(-1)
    return (codes << (1 if bits == 6 else 2)).astype(np.uint8)


def copied(swizzle, suffix, memory, seed=0):
    """(bytes of shared memory, the memory after `copy_text`)."""
    plan, size = _copy_plan(swizzle)
    shared, memory = np.zeros(size, np.uint8), memory.copy()
    for copy, image, offset, column in plan:
        rng = np.random.default_rng([seed, copy.rows, column])
        units = rng.integers(0, 256, (copy.rows, copy.units, 16), np.uint8)
        shared[offset : offset + image.size] = image.arrange(units)
        data = (_decompressed(units, suffix) if suffix else units).reshape(copy.rows, -1).view(np.uint32)
        for lanes in copy.lanes:
            memory[lanes + copy.lane, column : column + data.shape[1]] = data
    return shared, memory


SHIFT_COLUMNS = 32
SHIFTED = (32, 8)  # first lane and first column


def shift_text():
    """tcgen05.shift of 32 lanes and 8 columns; out uint32 (128, SHIFT_COLUMNS)."""
    lane, column = SHIFTED
    lines = [
        f"    add.u32 %r1, %tmem, {lane << 16 | column:#x};",
        "    tcgen05.shift.cta_group::1.down [%r1];",
    ]
    body = [*_issue(lines), *lane_pointer("out", SHIFT_COLUMNS), *read_columns(0, SHIFT_COLUMNS)]
    return _with_pattern(SHIFT_COLUMNS, body)


def shifted(memory):
    """Each row of the warp's lanes gets the next one; the last stays. The direction is an inference from
    the shape's name, .31x256b, and from what `.ashift` was observed to do."""
    lane, column = SHIFTED
    result = memory.copy()
    result[lane : lane + 31, column : column + 8] = memory[lane + 1 : lane + 32, column : column + 8]
    return result


def all_texts():
    """The PTX of every kernel of this module."""
    for shape in SHAPES:
        for packed in (False, True):
            moves = accesses(shape, packed)
            yield load_text(moves)
            yield store_text(moves)
    for swizzle in (0, 32, 64, 128):
        yield copy_text(swizzle)
    for suffix in SUFFIXES:
        yield copy_text(0, suffix)
    yield shift_text()
