"""Names of block formats such as "mxfp8": an element type, a scale type and a block size."""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple

from .arrays import expect_count, expect_name, require


class BlockFormat(NamedTuple):
    """The element type, the scale type and the block size B of a block format."""

    element: str
    scale: str
    block_size: int


# The concrete MX formats of OCP MX v1.0, section 5.1, by the names in use. There are two element types
# of 8 bits and two of 6; the short name means the one with more mantissa bits. nvfp4 is NVIDIA's.
BLOCK_FORMATS = {
    "mxfp8": BlockFormat("f8E4M3FN", "f8E8M0FNU", 32),
    "mxfp8_e5m2": BlockFormat("f8E5M2", "f8E8M0FNU", 32),
    "mxfp6": BlockFormat("f6E2M3FN", "f8E8M0FNU", 32),
    "mxfp6_e3m2": BlockFormat("f6E3M2FN", "f8E8M0FNU", 32),
    "mxfp4": BlockFormat("f4E2M1FN", "f8E8M0FNU", 32),
    "nvfp4": BlockFormat("f4E2M1FN", "f8E4M3FN", 16),
}


def _merge(name, given, format, own):
    """The value that the format called `format` has for an argument; `given`, if not None, must be equal."""
    require(given is None or given == own, name, f"{own!r}, which {format} has, or none", repr(given))
    return own


def resolve(element: str, scale: Optional[str], block_size: Optional[int]) -> Tuple[str, Optional[str], Optional[int]]:
    """(element, scale, block_size), where `element` may be the name of a block format.

    Raises TypeError for arguments of other types, ValueError if they contradict the format.
    """
    expect_name(element, "element")
    expect_name(scale, "scale")
    block_size = expect_count(block_size, "block_size")
    format = BLOCK_FORMATS.get(element)
    if format is None:
        return element, scale, block_size
    return BlockFormat(
        format.element,
        _merge("scale", scale, element, format.scale),
        _merge("block_size", block_size, element, format.block_size),
    )


def resolve_product(x_type: str, y_type: str, scale_type: Optional[str], block_size: Optional[int]):
    """(x_type, y_type, scale_type, block_size) of a product, where both types may be block formats.

    Raises TypeError for arguments of other types, ValueError if two of them disagree.
    """
    for name, value in (("x_type", x_type), ("y_type", y_type), ("scale_type", scale_type)):
        expect_name(value, name)
    block_size = expect_count(block_size, "block_size")
    # Merge the scale type and block size of each block format with those given.
    types = {}
    for name, value in (("x_type", x_type), ("y_type", y_type)):
        format = BLOCK_FORMATS.get(value)
        types[name] = format.element if format else value
        if format:
            agrees = scale_type in (None, format.scale) and block_size in (None, format.block_size)
            scales = " ".join(str(each) for each in (scale_type, block_size) if each is not None)
            require(agrees, name, f"a format with scales and blocks of {scales}", repr(value))
            scale_type, block_size = format.scale, format.block_size
    return types["x_type"], types["y_type"], scale_type, block_size
