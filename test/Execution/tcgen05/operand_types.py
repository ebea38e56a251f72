"""Types of elements that tcgen05.mma multiplies: values of codes, and bytes of rows of codes.

A code is the bit pattern of one element in the low bits of an unsigned integer. Sources: PTX ISA,
tcgen05, "Data types" (containers), "Packing formats of sub-byte types" (padding in shared memory) and
"Instruction descriptor" (type fields).
"""

from typing import NamedTuple

import blockscale
import numpy as np


class ElementType(NamedTuple):
    """Width of a code in bits, MLIR's name of a small float ("" for others), and the type field of an
    instruction descriptor."""

    bits: int
    format: str
    field: int


ELEMENTS = {
    "f16": ElementType(16, "", 0),
    "bf16": ElementType(16, "", 1),
    "tf32": ElementType(32, "", 2),
    "u8": ElementType(8, "", 0),
    "s8": ElementType(8, "", 1),
    "e4m3": ElementType(8, "f8E4M3FN", 0),
    "e5m2": ElementType(8, "f8E5M2", 1),
    "e2m3": ElementType(6, "f6E2M3FN", 3),
    "e3m2": ElementType(6, "f6E3M2FN", 4),
    "e2m1": ElementType(4, "f4E2M1FN", 5),
}

PACKED_KINDS = ("mxf4", "mxf4nvf4")  # fp4 without padding, and with a type field of 1


def decode(codes, name):
    """The values, float64."""
    element = ELEMENTS[name]
    if element.format:
        return blockscale.decode(codes, element.format)
    if name == "bf16":
        return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    dtype = {"f16": np.float16, "tf32": np.float32, "u8": np.uint8, "s8": np.int8}[name]
    return codes.view(dtype).astype(np.float64)


def encode(values, name):
    """Codes of values that the type has: uint8, uint16 or uint32."""
    element = ELEMENTS[name]
    if element.format:
        codes = blockscale.encode(values, element.format)
    elif name in ("bf16", "tf32"):
        words = values.astype(np.float32).view(np.uint32)
        codes = (words >> 16).astype(np.uint16) if name == "bf16" else words
    else:
        dtype = {"f16": np.float16, "u8": np.uint8, "s8": np.int8}[name]
        codes = values.astype(dtype).view(f"u{element.bits // 8}")
    assert (decode(codes, name) == values).all(), f"not all values are in {name}"
    return codes


def unit_elements(kind, name):
    """Elements in a unit of 16 bytes: all containers of kinds with 8-bit containers are a byte wide."""
    if kind in PACKED_KINDS:
        return 32
    return 16 * 8 // max(ELEMENTS[name].bits, 8)


def _bit_stream(codes, bits):
    """Packs codes along the last axis to a little-endian bit stream."""
    stream = np.unpackbits(codes[..., None], axis=-1, bitorder="little")[..., :bits]
    return np.packbits(stream.reshape(*codes.shape[:-1], -1), axis=-1, bitorder="little")


def shared_units(codes, kind, name, padding=0x00):
    """Rows of codes (rows, n) as they lie in shared memory: uint8 (rows, units, 16).

    fp4 and fp6 of kinds with mixed types: 16 elements are packed into 8 or 12 bytes, and `padding`
    fills the unit.
    """
    rows, bits = len(codes), ELEMENTS[name].bits
    units = codes.reshape(rows, -1, unit_elements(kind, name))
    if bits >= 8:
        data = np.ascontiguousarray(units).view(np.uint8)
    else:
        data = _bit_stream(units, bits)
    full = np.full((rows, units.shape[1], 16), padding, np.uint8)
    full[..., : data.shape[-1]] = data
    return full


def tensor_words(codes, kind, name):
    """Rows of codes (rows, n) as A lies in tensor memory: uint32 (rows, words).

    Kinds with mixed types have a byte for each element: fp4 in bits 5 to 2, fp6 in bits 6 to 1.
    """
    if kind in PACKED_KINDS:
        data = _bit_stream(codes, 4)
    else:
        shift = {4: 2, 6: 1}.get(ELEMENTS[name].bits, 0)
        data = (codes << shift).astype(codes.dtype)
    return np.ascontiguousarray(data).view(np.uint32)


def negated(codes, name):
    """Codes of the values with the other sign, as the negate bits of a descriptor give."""
    return (codes ^ (1 << ELEMENTS[name].bits - 1)).astype(codes.dtype)
