"""Arrays on the card, as other libraries have them."""

import ctypes

CODES = {"u1": (1, 8), "u2": (1, 16), "f4": (2, 32), "i4": (0, 32), "f8": (2, 64)}


def count_bytes(typestr, shape):
    size = int(typestr[-1])
    for extent in shape:
        size *= extent
    return size


class CudaArray:
    """Has __cuda_array_interface__, version 3."""

    def __init__(self, fake, typestr, shape, **fields):
        self.address = fake.allocate(max(count_bytes(typestr, shape), 1) + 64)
        self.size = count_bytes(typestr, shape)
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "data": (self.address, False), "version": 3, "strides": None, **fields
        }

    def bytes(self):
        return list(ctypes.string_at(self.address, self.size))


class DLTensor(ctypes.Structure):
    # Written from dlpack.h, apart from what reads it.
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device_id", ctypes.c_int), ("ndim", ctypes.c_int),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]


class DLPackArray:
    """Has __dlpack__; notes the streams that it was asked for."""

    def __init__(self, fake, typestr, shape, code=None, strides=None, device_type=2, offset=0):
        self.address = fake.allocate(count_bytes(typestr[-2:], shape) + offset)
        self.streams = []
        self.device_type = device_type
        code, bits, lanes = code or (*CODES[typestr], 1)
        self._shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self._strides = strides and (ctypes.c_int64 * len(shape))(*strides)
        self._tensor = DLTensor(
            self.address, device_type, 0, len(shape), code, bits, lanes, self._shape, self._strides, offset
        )

    def __dlpack_device__(self):
        return self.device_type, 0

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.argtypes, new.restype = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p), ctypes.py_object
        return new(ctypes.addressof(self._tensor), b"dltensor", None)
