"""Names of whole formats: elements, their scales and the size of blocks together."""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple

from .arrays import expect_count, expect_name, require


class BlockFormat(NamedTuple):
    """What one name stands for: the element type, the scale type and B."""

    element: str
    scale: str
    block_size: int


# The concrete MX formats of OCP MX v1.0, section 5.1, by the names in use; where 8 and 6 bits have two
# element types, the plain name is that with more bits of significand. nvfp4 is NVIDIA's.
BLOCK_FORMATS = {
    "mxfp8": BlockFormat("f8E4M3FN", "f8E8M0FNU", 32),
    "mxfp8_e5m2": BlockFormat("f8E5M2", "f8E8M0FNU", 32),
    "mxfp6": BlockFormat("f6E2M3FN", "f8E8M0FNU", 32),
    "mxfp6_e3m2": BlockFormat("f6E3M2FN", "f8E8M0FNU", 32),
    "mxfp4": BlockFormat("f4E2M1FN", "f8E8M0FNU", 32),
    "nvfp4": BlockFormat("f4E2M1FN", "f8E4M3FN", 16),
}


def _merge(name, given, format, own):
    """What the format called `format` has for an argument, which may be given as well."""
    require(given is None or given == own, name, f"{own!r}, which {format} has, or none", repr(given))
    return own


def resolve(element: str, scale: Optional[str], block_size: Optional[int]) -> Tuple[str, Optional[str], Optional[int]]:
    """(element, scale, block_size), where `element` may be the name of a whole format.

    Raises TypeError for what is no name or number, ValueError for what the format does not have.
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
    """(x_type, y_type, scale_type, block_size) of a product, where both types may be whole formats.

    Raises TypeError for what is no name or number, ValueError where two of them do not agree.
    """
    for name, value in (("x_type", x_type), ("y_type", y_type), ("scale_type", scale_type)):
        expect_name(value, name)
    block_size = expect_count(block_size, "block_size")
    # A name with what it says goes into what the others say.
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
