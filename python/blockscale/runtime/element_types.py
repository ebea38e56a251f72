"""Names of element types, in MLIR and in arrays.

Elements of at most 8 bits may always be passed as uint8, whatever their format; an array with a narrow type that
differs from the function's is refused.
"""

# By MLIR's type: the name of the same type in torch and ml_dtypes, then other accepted types with as many bits.
NAMES = {
    "f32": ("float32",),
    "f64": ("float64",),
    "f16": ("float16",),
    "bf16": ("bfloat16", "uint16"),
    "f8E4M3FN": ("float8_e4m3fn", "uint8"),
    "f8E5M2": ("float8_e5m2", "uint8"),
    "f8E8M0FNU": ("float8_e8m0fnu", "uint8"),
    "f6E2M3FN": ("float6_e2m3fn", "uint8"),
    "f6E3M2FN": ("float6_e3m2fn", "uint8"),
    "f4E2M1FN": ("float4_e2m1fn_x2", "uint8"),
    "i1": ("bool", "uint8"),
    "i8": ("int8", "uint8"),
    "i16": ("int16", "uint16"),
    "i32": ("int32", "uint32"),
    "i64": ("int64", "uint64"),
    "index": ("int64", "uint64"),
}
# numpy's type codes.
CODES = {
    "u1": "uint8", "i1": "int8", "b1": "bool", "u2": "uint16", "i2": "int16", "f2": "float16", "u4": "uint32",
    "i4": "int32", "f4": "float32", "u8": "uint64", "i8": "int64", "f8": "float64",
}
# DLPack's (code, bits, lanes).
DLPACK = {
    (0, 8, 1): "int8", (0, 16, 1): "int16", (0, 32, 1): "int32", (0, 64, 1): "int64", (1, 8, 1): "uint8",
    (1, 16, 1): "uint16", (1, 32, 1): "uint32", (1, 64, 1): "uint64", (2, 16, 1): "float16", (2, 32, 1): "float32",
    (2, 64, 1): "float64", (4, 16, 1): "bfloat16", (6, 8, 1): "bool", (10, 8, 1): "float8_e4m3fn",
    (12, 8, 1): "float8_e5m2", (14, 8, 1): "float8_e8m0fnu", (15, 6, 1): "float6_e2m3fn",
    (16, 6, 1): "float6_e3m2fn", (17, 4, 2): "float4_e2m1fn_x2",
}
# Types of arrays whose rows are packed already.
PACKED = ("float4_e2m1fn_x2", "uint8")


def accepted_names(operand):
    """The element types that an array of an operand may have; new arrays have the first one."""
    names = NAMES.get(operand.type, (CODES[operand.dtype],))
    return tuple(name for name in names if name in PACKED) if operand.is_packed else names


def describe(operand):
    """For messages: "f4E2M1FN, 2 in 1 bytes"."""
    packed = f", {operand.elements} in {operand.bytes} {'byte' if operand.bytes == 1 else 'bytes'}"
    return operand.type + (packed if operand.is_packed else "")
