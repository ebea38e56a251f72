"""Bytes of shared memory that hold an operand of tcgen05.mma in a canonical layout.

In K-major layouts a swizzle row is a row of A (or of B, a column of D) and units of 16 bytes follow along K; in
MN-major ones it is an index of K. Eight swizzle rows form an atom. Without swizzle, a unit stands alone:

    K-major   offset(row r, unit c) = (r % 8) * 16 + (r / 8) * SBO + c * LBO
    MN-major  offset(row k, unit c) = (k % 8) * 16 + (k / 8) * LBO + c * SBO

With a swizzle pattern of W bytes a row of an atom has W / 16 units; in K-major layouts, patterns of
further K are panels of their own:

    K-major   offset = (r % 8) * W + (r / 8) * SBO + (c % w) * 16, panel c / w,  w = W / 16
    MN-major  offset = (k % 8) * W + (k / 8) * SBO + (c % w) * 16 + (c / w) * LBO

and then bits 4.. of the address are exchanged: address ^= (address >> 7 & (w - 1)) << 4.

The pattern for MN-major tf32, PAIRS, has W = 128 and atoms of 4 rows, and moves pairs of units:
address ^= (address >> 7 & 3) << 5.

Source: PTX ISA, tcgen05, "Canonical layouts" and "Swizzling modes".
"""

from typing import NamedTuple

import numpy as np

ROWS = 8  # of an atom
UNIT = 16  # bytes
ALIGNMENT = 1024  # of an image: the longest repetition of a swizzle pattern
PAIRS = "128x32"


def swizzled(addresses, swizzle):
    """Addresses of bytes after the exchange of bits that a pattern of `swizzle` bytes makes."""
    if swizzle == PAIRS:
        return addresses ^ (addresses >> 7 & 3) << 5
    mask = swizzle // UNIT - 1 if swizzle else 0
    return addresses ^ (addresses >> 7 & mask) << 4


def round_up(number, unit):
    return -(-number // unit) * unit


class Image(NamedTuple):
    """Where units are, and what descriptors say about it.

    offsets  int (rows, units): byte offsets from an aligned start
    leading, stride  the byte offsets of the descriptor
    steps    byte offset of the descriptor's start for each instruction along K
    size     bytes, a multiple of ALIGNMENT
    nexts    byte offset of the panel in which each instruction's rows continue; None if they don't
    """

    offsets: np.ndarray
    leading: int
    stride: int
    steps: list
    size: int
    nexts: list

    def arrange(self, units):
        """The bytes of the image; `units` uint8 (rows, units, 16). Bytes between units are 0xFF."""
        image = np.full(self.size, 0xFF, np.uint8)
        image[self.offsets[..., None] + np.arange(UNIT)] = units
        return image


def _image(raw, swizzle, leading, stride, steps, nexts=None):
    offsets = swizzled(raw, swizzle)
    assert len(np.unique(offsets)) == offsets.size, "units overlap"
    size = round_up(int(offsets.max()) + UNIT, ALIGNMENT)
    return Image(offsets, leading, stride, steps, size, nexts or [None] * len(steps))


def k_major(storage, rows, step_units, steps):
    """The image of `rows` x (steps * step_units) units. A step runs across panels only if `across` is set."""
    r = np.arange(rows)[:, None]
    groups = round_up(rows, ROWS) // ROWS
    if not storage.swizzle:
        c = np.arange(steps * step_units)
        atom = ROWS * UNIT
        if storage.inner == "MN":
            stride = atom + storage.gap
            leading = stride * groups
        else:
            leading = atom + storage.gap
            stride = leading * len(c)
        raw = r % ROWS * UNIT + r // ROWS * stride + c * leading
        return _image(raw, 0, leading, stride, [s * step_units * leading for s in range(steps)])
    width = storage.swizzle
    stride = ROWS * width + storage.gap
    panel = round_up(stride * groups, ALIGNMENT)
    offsets = r % ROWS * width + r // ROWS * stride
    if storage.across:
        per_row = width // UNIT  # units
        c = np.arange(steps * step_units)
        columns = c // per_row * panel + c % per_row * UNIT
        panels = -(-len(c) // per_row)
        starts = columns[::step_units].tolist()
        nexts = [(start // panel + 1) % panels * panel for start in starts]
        return _image(offsets + columns, width, 0, stride, starts, nexts)
    per_panel = width // UNIT // step_units  # steps
    starts = [s // per_panel * panel + s % per_panel * step_units * UNIT for s in range(steps)]
    columns = np.add.outer(starts, np.arange(step_units) * UNIT).reshape(-1)
    return _image(offsets + columns, width, 0, stride, starts)


def mn_major(storage, units, step_k, steps):
    """The image of (steps * step_k) rows of `units` units."""
    k = np.arange(steps * step_k)[:, None]
    c = np.arange(units)
    width, rows = (128, 4) if storage.swizzle == PAIRS else (storage.swizzle or UNIT, ROWS)
    k_groups = len(k) // rows
    per_row = width // UNIT
    atom = rows * width
    if storage.inner == "MN":
        along_mn = atom + storage.gap
        along_k = along_mn * -(-units // per_row)
    else:
        along_k = atom + storage.gap
        along_mn = along_k * k_groups
    raw = k % rows * width + k // rows * along_k + c % per_row * UNIT + c // per_row * along_mn
    leading, stride = (along_mn, along_k) if storage.swizzle else (along_k, along_mn)
    starts = [s * step_k // rows * along_k for s in range(steps)]
    return _image(raw, storage.swizzle, leading, stride, starts)
