"""Sequences of what an operation has."""

from __future__ import annotations

from typing import Callable, Sequence


class Listing(Sequence):
    """A sequence of what an operation has, which is asked for anew each time."""

    def __init__(self, count: Callable[[], int], get: Callable[[int], object]) -> None:
        self._count, self._get = count, get

    def __len__(self) -> int:
        return self._count()

    def __getitem__(self, index):
        size = len(self)
        if isinstance(index, slice):
            return [self._get(i) for i in range(*index.indices(size))]
        position = index + size if index < 0 else index
        if not 0 <= position < size:
            raise IndexError(f"expected an index below {size}, got {index}")
        return self._get(position)
