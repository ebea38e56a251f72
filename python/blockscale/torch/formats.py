"""The formats of weights: how torch tensors hold quantized elements and scales.

Quantized elements are uint8, for fp4 two per byte (the even one in the low bits). Scales are uint8, row-major, one for
each block along the last dimension. A tensor scale is an f32 tensor without dimensions.

A 2:4 sparse tensor has the format of the same name in SPARSE_FORMATS: half of the elements, metadata that says which,
and blocks of twice as many elements, so of as many kept ones.
"""

from typing import NamedTuple, Optional

from ..sparse_metadata import CHUNK_UNITS, FIELDS_PER_BYTE, GRANULARITIES
from .kernels import FORMATS as _KERNEL_FORMATS
from .kernels import SPARSE_FORMATS as _SPARSE_KERNEL_FORMATS


class TensorFormat(NamedTuple):
    name: str
    element: str  # MLIR's names, as everywhere in this package
    scale: str
    block: int  # logical elements
    is_scaled: bool  # whether there is a tensor scale
    per_byte: int  # elements in a byte
    granularity: Optional[str] = None  # what a sparse tensor keeps two of four of

    @property
    def is_sparse(self):
        return self.granularity is not None

    @property
    def columns_per_byte(self):
        """The logical elements of which a byte of codes has all that is kept."""
        return self.per_byte * (2 if self.is_sparse else 1)

    @property
    def columns_per_metadata(self):
        """The logical elements that a byte of metadata describes."""
        return FIELDS_PER_BYTE * CHUNK_UNITS * GRANULARITIES[self.granularity]


def _make(name, element, scale, block, is_scaled, granularity=None):
    return TensorFormat(name, element, scale, block, is_scaled, 2 if element == "f4E2M1FN" else 1, granularity)


FORMATS = {name: _make(name, *row) for name, row in _KERNEL_FORMATS.items()}
SPARSE_FORMATS = {name: _make(name, *row) for name, row in _SPARSE_KERNEL_FORMATS.items()}


def get(name, is_sparse=False):
    """The format of a name. Raises TypeError or ValueError."""
    if not isinstance(name, str):
        raise TypeError(f"format: expected a str, got {type(name).__name__}")
    table = SPARSE_FORMATS if is_sparse else FORMATS
    if name not in table:
        raise ValueError(f"format: expected one of {', '.join(table)}, got {name!r}")
    return table[name]
