"""Readers of arguments: torch tensors, objects with `__cuda_array_interface__`, `__dlpack__` or, in host memory,
`__array_interface__` (numpy), and numbers.

A reader takes an object and the stream (an integer) on which it will be used, and returns its address, or its value
if it is a number, and a signature. Launches are planned once for each list of signatures, so a signature has
everything that a plan depends on, in the form that the object has it, which is cheapest; `Signature` gives it names
for messages and checks.
"""

import ctypes
import sys
from typing import NamedTuple

from .element_types import CODES, DLPACK
from .errors import ArgumentError

# Stands for the ordinal of a card.
HOST = -1
CUDA, CUDA_MANAGED = 2, 13  # DLDeviceType
LEGACY_STREAM = 1  # as __dlpack__ and __cuda_array_interface__ call the default stream


class Signature(NamedTuple):
    """`shape` in elements of the array, None for a number; `dtype` a name; `device` the ordinal of a card, or HOST."""

    shape: tuple
    dtype: str
    device: int
    is_contiguous: bool
    is_read_only: bool = False
    is_torch: bool = False


# Numbers.


def read_number(value, stream):
    return value, (None, type(value))


# torch.


def read_torch(tensor, stream):
    # Four calls; only the shape makes a Python object.
    return tensor.data_ptr(), (tensor.shape, tensor.dtype, tensor.get_device(), tensor.is_contiguous())


def loaded_torch():
    """The module, if it has been imported completely."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "Tensor") else None


def torch_stream(torch, ordinal):
    """The handle of the current stream of a card."""
    try:
        return torch._C._cuda_getCurrentRawStream(ordinal)
    except AttributeError:
        return torch.cuda.current_stream(ordinal).cuda_stream


# The two interfaces, https://numpy.org/doc/stable/reference/arrays.interface.html and
# https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html


def _is_contiguous(shape, strides, size):
    """Whether strides, in the unit of `size`, are those of row-major order; dimensions of one element have any."""
    if strides is None or 0 in shape:
        return True
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != size:
            return False
        size *= extent
    return True


def _read_interface(interface, name, device):
    shape, strides, typestr = tuple(interface["shape"]), interface.get("strides"), interface["typestr"]
    address, is_read_only = interface["data"]
    # Big-endian elements, and elements that are not numeric.
    dtype = CODES.get(typestr[1:], name) if typestr[0] in "<|=" else typestr
    is_contiguous = _is_contiguous(shape, strides, int(typestr[2:]))
    return address or 0, (shape, dtype, device, is_contiguous, bool(is_read_only))


def read_host(array, stream):
    # typestr has no code for the types of ml_dtypes.
    name = getattr(getattr(array, "dtype", None), "name", None)
    return _read_interface(array.__array_interface__, name or array.__array_interface__["typestr"], HOST)


def read_cuda_interface(array, stream):
    from .device import get_device, ordinal_of

    interface = array.__cuda_array_interface__
    name = str(getattr(array, "dtype", interface["typestr"])).rpartition(".")[2]
    # An array without elements may have no address.
    address = interface["data"][0]
    device = ordinal_of(address, "__cuda_array_interface__") if address else 0
    producer = interface.get("stream")
    if producer is not None and producer != (stream or LEGACY_STREAM):
        card = get_device(device)
        with card.made_current():
            card.order(producer, stream)
    return _read_interface(interface, name, device)


# DLPack, https://dmlc.github.io/dlpack/latest/c_api.html


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.argtypes, _get_pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p


def read_dlpack(array, stream):
    device_type, _ = array.__dlpack_device__()
    if device_type not in (CUDA, CUDA_MANAGED):
        raise ArgumentError(f"expected memory of a CUDA device (DLPack's type 2 or 13), got type {device_type}")
    # The capsule is not consumed: the caller keeps the array, and with it the memory, until the launch is made.
    capsule = array.__dlpack__(stream=stream or LEGACY_STREAM)
    tensor = ctypes.cast(_get_pointer(capsule, b"dltensor"), ctypes.POINTER(DLTensor)).contents
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tensor.strides[: tensor.ndim] if tensor.strides else None
    key = (tensor.code, tensor.bits, tensor.lanes)
    signature = (shape, DLPACK.get(key, f"DLPack's type {key}"), tensor.device_id, _is_contiguous(shape, strides, 1))
    return (tensor.data or 0) + tensor.byte_offset, signature


# All of them.

READERS = {int: read_number, float: read_number, bool: read_number}
# In this order: an object may have several.
PROTOCOLS = (
    ("__cuda_array_interface__", read_cuda_interface), ("__array_interface__", read_host), ("__dlpack__", read_dlpack),
)

def find_reader(value):
    """The reader of an object, cached by its type; None if it cannot be an argument."""
    torch, kind = loaded_torch(), type(value)
    if torch and isinstance(value, torch.Tensor):
        reader = read_torch
    else:
        reader = next((reader for name, reader in PROTOCOLS if hasattr(value, name)), None)
    if reader is read_host and not value.__array_interface__["shape"] and not hasattr(value, "__setitem__"):
        # A scalar of numpy.
        return lambda scalar, stream: read_number(scalar.item(), stream)
    if reader:
        READERS[kind] = reader
    return reader


def make_signature(signature):
    """The signature that a reader gave, with names."""
    shape, dtype, *rest = signature
    if shape is None:
        return Signature(None, dtype.__name__, HOST, True)
    if isinstance(dtype, str):
        return Signature(shape, dtype, *rest)
    return Signature(tuple(shape), str(dtype).rpartition(".")[2], *rest, is_torch=True)
