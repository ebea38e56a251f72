"""The arrays that functions take: numpy's own types, or those of ml_dtypes with the same bit patterns.

An ml_dtypes array is recognized by the name of its type, so that ml_dtypes is imported only to make one.
"""

from __future__ import annotations

import importlib

import numpy as np

# By format (and bf16): its type in ml_dtypes, where fp6 and fp4 have a byte for each code as well.
ML_DTYPES = {
    "f8E4M3FN": "float8_e4m3fn",
    "f8E5M2": "float8_e5m2",
    "f6E3M2FN": "float6_e3m2fn",
    "f6E2M3FN": "float6_e2m3fn",
    "f4E2M1FN": "float4_e2m1fn",
    "f8E8M0FNU": "float8_e8m0fnu",
    "ue4m3": "float8_e4m3fn",
    "bf16": "bfloat16",
}
SCALE_TYPES = ("float8_e8m0fnu", "float8_e4m3fn")


def require(condition, what, expected, got):
    """Raises ValueError with the three texts if the condition does not hold."""
    if not condition:
        raise ValueError(f"{what}: expected {expected}, got {got}")


def ml_name(array):
    """The name of an array's type if it is one of ml_dtypes, else None."""
    scalar = array.dtype.type
    return scalar.__name__ if scalar.__module__.split(".")[0] == "ml_dtypes" else None


def type_name(value):
    """How messages name the type of a value: the element type of an array, else its own type."""
    if not isinstance(value, np.ndarray):
        return type(value).__name__ + " scalar" * isinstance(value, np.generic)
    return ml_name(value) or str(value.dtype)


def expect_name(value, name):
    """`value`, a str or None. Raises TypeError, which names the argument, for everything else."""
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{name}: expected a str, got {type_name(value)}")


def expect_count(value, name):
    """`value`, an integer or None, as an int. Raises TypeError, which names the argument, for everything else."""
    if value is None or (isinstance(value, (int, np.integer)) and not isinstance(value, bool)):
        return None if value is None else int(value)
    raise TypeError(f"{name}: expected an integer, got {type_name(value)}")


def expect_flag(value, name):
    """`value`, True or False. Raises TypeError, which names the argument, for everything else."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name}: expected True or False, got {type_name(value)}")


def expect_shape(value, name):
    """`value`, a sequence of integers, as a tuple. Raises TypeError, which names the argument, for everything else."""
    if not isinstance(value, (tuple, list, np.ndarray)) or any(size is None for size in value):
        raise TypeError(f"{name}: expected a sequence of integers, got {type_name(value)}")
    return tuple(expect_count(size, name) for size in value)


def as_numpy(value, name):
    """`value` as an array. Raises TypeError, which names the argument, for ragged rows and the like."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected an array, got {type_name(value)}: {error}") from None


def expect_reals(value, name):
    """`value` as an array of real numbers. Raises TypeError, which names the argument, for everything else."""
    values = as_numpy(value, name)
    if values.dtype.kind in "fiu" and values.dtype.itemsize <= 8 or ml_name(values) in ML_DTYPES.values():
        return values
    raise TypeError(f"{name}: expected real numbers, got {type_name(values)}")


def expect_array(value, name, dtype, *ml_types):
    """`value` as an array of `dtype`: itself, or a view if its type is one of `ml_types`.

    Raises TypeError, which names the argument, for everything else.
    """
    dtype = np.dtype(dtype)
    if isinstance(value, np.ndarray):
        if value.dtype == dtype:
            return value
        if ml_name(value) in ml_types:
            return value.view(dtype)
    *names, last = str(dtype), *ml_types
    expected = f"{', '.join(names)} or {last}" if names else last
    raise TypeError(f"{name}: expected an array of {expected}, got {type_name(value)}")


def expect_codes(value, name, format):
    """`value`, quantized elements of a format, as an array of uint8."""
    return expect_array(value, name, np.uint8, ML_DTYPES[format])


def as_ml_dtypes(codes: np.ndarray, format: str) -> np.ndarray:
    """A view of `codes` with the ml_dtypes type of the format; no copy.

    codes   uint8 array of any shape, one element per byte; uint16 for "bf16"
    format  a name in FORMATS, or "bf16"; "ue4m3" becomes float8_e4m3fn, which has a sign

    Functions of this package take such arrays as quantized operands, and bfloat16 arrays as bf16 values.

    >>> as_ml_dtypes(np.array([2, 7], np.uint8), "f4E2M1FN").astype(np.float32)
    array([1., 6.], dtype=float32)

    Raises ImportError if ml_dtypes is not installed, or older than the type (0.5 has them all),
    TypeError for arrays of another type, ValueError for another format.
    """
    require(expect_name(format, "format") in ML_DTYPES, "format", f"one of {', '.join(ML_DTYPES)}", repr(format))
    name = ML_DTYPES[format]
    bits = expect_array(codes, "codes", np.uint16 if format == "bf16" else np.uint8, name)
    try:
        package = importlib.import_module("ml_dtypes")
    except ImportError as error:
        raise ImportError(f"ml_dtypes: expected a package with {name}, got none") from error
    if not hasattr(package, name):
        got = getattr(package, "__version__", "an unknown version")
        raise ImportError(f"ml_dtypes: expected a package with {name}, got {got}")
    return bits.view(getattr(package, name))
