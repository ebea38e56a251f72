"""The formats of weights: how torch tensors hold quantized elements and scales.

Quantized elements are uint8, for fp4 two per byte (the even one in the low bits). Scales are uint8, row-major, one for
each block along the last dimension. A tensor scale is an f32 tensor without dimensions.

Formats with coarse scales (docs/CoarseScales.md) have one of f32 for each block of several rows, or more elements, and
others for x than for weights.

A 2:4 sparse tensor has the format of the same name in SPARSE_FORMATS: half of the elements, metadata that says which,
and blocks of twice as many elements, so of as many kept ones.
"""

from typing import NamedTuple, Optional

from ..scale_blocks import count
from ..sparse_metadata import CHUNK_UNITS, FIELDS_PER_BYTE, GRANULARITIES
from .fp8_kernels import COARSE_FORMATS as _COARSE_KERNEL_FORMATS
from .fp8_kernels import MIXED_ACTIVATIONS, MULTIPLE, REBASED_FORMATS
from .kernels import FORMATS as _KERNEL_FORMATS
from .kernels import SPARSE_FORMATS as _SPARSE_KERNEL_FORMATS


class TensorFormat(NamedTuple):
    name: str
    element: str  # MLIR's names, as everywhere in this package
    scale: str
    block: int  # logical elements: those of a scale, unless scales are coarse, and a divisor of K
    is_scaled: bool  # whether there is a tensor scale
    per_byte: int  # elements in a byte
    granularity: Optional[str] = None  # what a sparse tensor keeps two of four of
    weight_block: Optional[tuple] = None  # rows and elements along K that share a coarse scale
    x_block: Optional[tuple] = None  # the same of what is quantized to be multiplied with weights

    @property
    def is_sparse(self):
        return self.granularity is not None

    @property
    def is_coarse(self):
        return self.weight_block is not None

    @property
    def may_rebase(self):
        """Whether rows of x and of weights may get one scale each, instead of one for each block."""
        return self.name in REBASED_FORMATS and not self.is_sparse

    @property
    def mixed_activations(self):
        """The names of other formats that x may be quantized to."""
        return () if self.is_sparse else MIXED_ACTIVATIONS.get(self.name, ())

    def of_x(self, activations):
        """The format that x is quantized to."""
        return FORMATS[activations] if activations in self.mixed_activations else self

    @property
    def of_pairs(self):
        """The same for a weight whose rows of gates and of what belongs to them alternate: each row has its scales."""
        return self._replace(weight_block=(1, self.weight_block[1])) if self.is_coarse else self

    @property
    def scale_dtype(self):
        """The name of torch's type of scales."""
        return "float32" if self.is_coarse else "uint8"

    def scales_shape(self, shape, is_x=False):
        """The shape of the scales of logical elements of this shape."""
        if not self.is_coarse:
            return (*shape[:-1], shape[-1] // self.block)
        rows, k = self.x_block if is_x else self.weight_block
        lead = shape[:-1] if rows == 1 else (*shape[:-2], count(shape[-2], rows))
        return (*lead, count(shape[-1], k))

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


def _make_coarse(name, element, weight_block, x_block):
    return _make(name, element, "f32", MULTIPLE, False)._replace(weight_block=weight_block, x_block=x_block)


FORMATS = {
    **{name: _make(name, *row) for name, row in _KERNEL_FORMATS.items()},
    **{name: _make_coarse(name, *row) for name, row in _COARSE_KERNEL_FORMATS.items()},
}
SPARSE_FORMATS = {name: _make(name, *row) for name, row in _SPARSE_KERNEL_FORMATS.items()}


def get(name, is_sparse=False):
    """The format of a name. Raises TypeError or ValueError."""
    return _get(name, SPARSE_FORMATS if is_sparse else FORMATS)


def _get(name, table):
    if not isinstance(name, str):
        raise TypeError(f"format: expected a str, got {type(name).__name__}")
    if name not in table:
        raise ValueError(f"format: expected one of {', '.join(table)}, got {name!r}")
    return table[name]
