"""Cases of tensors.cu, and what tensor copies make of a tensor, with numpy.

A map's lists are in the order of the array's shape; coordinates start with the innermost one,
which is a multiple of 16 bytes.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np

# What fills elements outside of a tensor with FILL=nan, for every type.
NAN_BYTES = b"\xf7\x7f"
# The row of 128 bytes that an address is in, modulo the first number, times the second.
SWIZZLES = {
    "none": (1, 0), "32": (2, 16), "64": (4, 16), "128": (8, 16), "128-atom32": (4, 32),
    "128-atom32-flip8": (4, 32), "128-atom64": (2, 64),
}
# Shared memory of the kernels.
WORDS = 6144


class TensorMap(NamedTuple):
    array: np.ndarray
    dtype: str
    box: tuple
    swizzle: str = "none"
    strides: tuple = ()
    fill: str = "zero"

    def argument(self, path, is_stored):
        """The ARG of the programs."""
        def dims(sizes):
            return "x".join(map(str, sizes))

        return (
            f"tmap:{path}:{self.dtype}:BOX={dims(self.box)}:SWIZZLE={self.swizzle}"
            + (f":STRIDES={dims(self.strides)}" if self.strides else "")
            + (f":FILL={self.fill}" if self.fill != "zero" else "")
            + (":STORE=1" if is_stored else "")
        )

    def indices(self, coordinates):
        """By dimension: where the elements of the box are."""
        strides = self.strides or (1,) * len(self.box)
        return [
            start + np.arange(0, size, stride, dtype=np.int64)
            for start, size, stride in zip(reversed(coordinates), self.box, strides)
        ]

    def inside(self, coordinates):
        """Whether elements of the box are in the tensor, and indices that are, for all."""
        indices = self.indices(coordinates)
        is_in = [(i >= 0) & (i < n) for i, n in zip(indices, self.array.shape)]
        grid = np.ix_(*(np.where(valid, i, 0) for i, valid in zip(indices, is_in)))
        return reduce(np.logical_and.outer, is_in), grid

    def addresses(self, counts, offset):
        """Where the bytes of a box with `counts` elements are in shared memory, rows one after the other."""
        width, rows = counts[-1] * self.array.itemsize, int(np.prod(counts[:-1]))
        pitch = {"none": width, "32": 32, "64": 64}.get(self.swizzle, 128)
        address = offset + (np.arange(rows)[:, None] * pitch + np.arange(width)).reshape(-1)
        period, step = SWIZZLES[self.swizzle]
        row = address // 128
        address = address ^ row % period * step
        return address ^ row % 2 * 8 if self.swizzle.endswith("flip8") else address

    def load(self, coordinates, offset, memory):
        """Shared memory after a load; how many bytes came."""
        mask, grid = self.inside(coordinates)
        box = self.array[grid]
        unit = NAN_BYTES if self.fill == "nan" else bytes(2)
        fill = np.frombuffer(unit * 4, box.dtype)[0]
        data = np.frombuffer(np.where(mask, box, fill).tobytes(), np.uint8)
        memory[self.addresses(mask.shape, offset)] = data
        return len(data)

    def store(self, coordinates, offset, memory, combine=None):
        """The tensor after a store."""
        mask, grid = self.inside(coordinates)
        box = np.frombuffer(memory[self.addresses(mask.shape, offset)].tobytes(), self.array.dtype)
        box = box.reshape(mask.shape)
        result = self.array.copy()
        indices = np.nonzero(mask)
        targets = tuple(np.broadcast_to(part, mask.shape)[indices] for part in grid)
        old = result[targets]
        result[targets] = combine(old, box[indices]) if combine else box[indices]
        return result


def blank():
    return np.full(WORDS * 4, 0xCC, np.uint8)


def load_case(make, label, tensor, coordinates, offset=0, entry=None):
    memory = blank()
    num_bytes = tensor.load(coordinates, offset, memory)
    count = min((offset + 4 * num_bytes) // 128 + 2, WORDS // 32) * 32
    out = np.zeros(count, np.uint32)
    arguments = [tensor, np.array(coordinates, np.int32), out, offset, num_bytes, count]
    if entry:
        arguments[3] = np.zeros(128, np.uint8)
    rank = len(tensor.box)
    return make(
        "tensors", entry or f"load_{rank}d", (1,), (64,), arguments,
        {2: memory.view(np.uint32)[:count]}, label=label,
    )


def store_case(make, label, tensor, coordinates, offset=0, entry=None, combine=None, words=None):
    if words is None:
        words = np.random.default_rng(1).integers(0, 2**32, WORDS, dtype=np.uint32)
    memory = blank()
    memory[: len(words) * 4] = words.view(np.uint8)
    expected = tensor.store(coordinates, offset, memory, combine)
    arguments = [tensor, np.array(coordinates, np.int32), words, offset, len(words)]
    rank = len(tensor.box)
    return make(
        "tensors", entry or f"store_{rank}d", (1,), (64,), arguments, {0: expected}, label=label,
    )


def numbers(shape, dtype):
    count = int(np.prod(shape))
    return (np.arange(count) * 40503 + 77).astype(dtype).reshape(shape)


# Shape, box, strides and coordinates by rank: inside, across every side, and outside.
RANKS = [
    ((300,), (64,), (1,), [(16,), (-8,), (288,), (-64,), (2**31 - 8,)]),
    ((20, 64), (8, 32), (2, 1), [(0, 0), (-8, -3), (40, 15), (8, -9), (64, 0)]),
    ((5, 9, 48), (3, 4, 16), (1, 3, 1), [(8, 2, 1), (-8, -1, -1), (40, 7, 4), (0, 0, -4)]),
    ((3, 4, 5, 32), (2, 3, 2, 16), (1, 1, 2, 1), [(8, 1, 1, 1), (-8, -1, -1, -1), (24, 3, 2, 2)]),
    (
        (2, 3, 4, 5, 16), (2, 2, 3, 2, 16), (1, 2, 1, 1, 1),
        [(0, 0, 0, 0, 0), (-8, -1, -2, -1, -1), (8, 4, 2, 2, 1)],
    ),
]


def shared_case(make, file, entry, box, block, expected, **launch):
    """A kernel of two blocks that loads boxes and stores them again."""
    tensor = TensorMap(numbers((16, 32), np.uint32), "u4", box)
    arguments = [tensor, np.zeros((2, block), np.uint32)]
    result = np.stack(expected(tensor.array)).reshape(2, block)
    return make(file, entry, (2,), (block,), arguments, {1: result}, cluster=(2,), **launch)


def multicast_case(make):
    return shared_case(
        make, "tensor_cluster", "multicast", (8, 32), 256, lambda array: [array[3:11]] * 2
    )


def pair_case(make):
    return shared_case(
        make, "tensor_pair", "pair", (4, 32), 128, lambda array: [array[:4], array[4:8]], target="sm_100a"
    )


def tensor_cases(make):
    """`make` is the class Case of cases.py."""
    for shape, box, strides, origins in RANKS:
        for i, coordinates in enumerate(origins):
            tensor = TensorMap(numbers(shape, np.uint16), "u2", box, strides=strides)
            yield load_case(make, f"{i}", tensor, coordinates)
            if min(coordinates) >= 0:  # A store has no others.
                yield store_case(make, f"{i}", tensor, coordinates)
    for swizzle, width in (("32", 16), ("64", 32), ("128", 64)):
        tensor = TensorMap(numbers((40, 128), np.uint16), "f2", (20, width), swizzle)
        for offset in (0, 384):
            label = f"swizzle{swizzle}-{offset}"
            yield load_case(make, label, tensor, (24, 3), offset)
            yield store_case(make, label, tensor, (120, 30), offset)
        half = tensor._replace(box=(7, width // 2))
        yield load_case(make, f"swizzle{swizzle}-half", half, (104, 36), 128)
        yield store_case(make, f"swizzle{swizzle}-half", half, (104, 36), 128)
    for dtype, kind in (("f2", "u2"), ("bf16", "u2"), ("f4", "u4"), ("f8", "u8")):
        tensor = TensorMap(numbers((6, 16), kind), dtype, (4, 16), fill="nan")
        yield load_case(make, f"nan-{dtype}", tensor, (-8, 4))
    for dtype in ("u1", "u4", "i4", "u8", "i8", "f4", "f8"):
        tensor = TensorMap(numbers((6, 32), dtype), dtype, (4, 16), strides=(2, 1))
        yield load_case(make, f"type-{dtype}", tensor, (16, 1))
        yield store_case(make, f"type-{dtype}", tensor, (16, 1))
    tensor = TensorMap(numbers((9, 32), np.uint32), "u4", (4, 16), "64")
    yield store_case(make, "u4", tensor, (20, 7), 128, "add_2d", np.add)
    small = np.random.default_rng(2).integers(-9, 9, WORDS).astype(np.float32)
    tensor = TensorMap(numbers((9, 32), np.uint8).astype(np.float32), "f4", (4, 16))
    yield store_case(
        make, "f4", tensor, (20, 7), 0, "add_2d", np.add, small.view(np.uint32)
    )
    tensor = TensorMap(numbers((20, 64), np.uint16), "f2", (8, 32), "64")
    yield load_case(make, "", tensor, (8, 6), 0, "copied_map")
