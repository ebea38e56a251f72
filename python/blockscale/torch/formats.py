"""The formats of weights: how torch tensors hold quantized elements and scales.

Quantized elements are uint8, for fp4 two per byte (the even one in the low bits). Scales are uint8, row-major, one for
each block along the last dimension. A tensor scale is an f32 tensor without dimensions.
"""

from typing import NamedTuple

from .kernels import FORMATS as _KERNEL_FORMATS


class TensorFormat(NamedTuple):
    name: str
    element: str  # MLIR's names, as everywhere in this package
    scale: str
    block: int
    is_scaled: bool  # whether there is a tensor scale
    per_byte: int  # elements in a byte


FORMATS = {
    name: TensorFormat(name, element, scale, block, is_scaled, 2 if element == "f4E2M1FN" else 1)
    for name, (element, scale, block, is_scaled) in _KERNEL_FORMATS.items()
}


def get(name):
    """The format of a name. Raises TypeError or ValueError."""
    if not isinstance(name, str):
        raise TypeError(f"format: expected a str, got {type(name).__name__}")
    if name not in FORMATS:
        raise ValueError(f"format: expected one of {', '.join(FORMATS)}, got {name!r}")
    return FORMATS[name]
