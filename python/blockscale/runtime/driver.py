"""The CUDA driver, loaded at run time by ctypes: names and values are those of cuda.h.

Of CUDA, only `libcuda.so.1` is needed; it is opened at the first use.
"""

import ctypes
import functools

from .errors import DriverError

LIBRARY = "libcuda.so.1"
MULTIPROCESSOR_COUNT, CAPABILITY_MAJOR, CAPABILITY_MINOR = 16, 75, 76
MAX_DYNAMIC_SHARED_SIZE, NON_PORTABLE_CLUSTER_SIZE = 8, 14
# The largest cluster that every card supports.
MAX_PORTABLE_CLUSTER = 8
CLUSTER_DIMENSION, PROGRAMMATIC_STREAM_SERIALIZATION = 4, 6
JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE = 5, 6
POINTER_DEVICE_ORDINAL = 9
EVENT_DISABLE_TIMING = 2
CAPTURE_ACTIVE = 1
NOT_FOUND, UNSUPPORTED_PTX = 500, 222
# Errors that mean an image is not for the card.
NOT_FOR_CARD = (200, 209)
# Handles of per-thread streams.
PER_THREAD_STREAM = 2

_size, _pointer, _address = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_uint64
_int, _unsigned, _text = ctypes.c_int, ctypes.c_uint, ctypes.c_char_p

# The parameters of each function. Revised functions have a suffix in the library, which cuda.h adds.
SIGNATURES = {
    "cuInit": (_unsigned,),
    "cuDriverGetVersion": (_pointer,),
    "cuGetErrorName": (_int, _pointer),
    "cuGetErrorString": (_int, _pointer),
    "cuDeviceGet": (_pointer, _int),
    "cuDeviceGetCount": (_pointer,),
    "cuDeviceGetAttribute": (_pointer, _int, _int),
    "cuDevicePrimaryCtxRetain": (_pointer, _int),
    "cuCtxGetCurrent": (_pointer,),
    "cuCtxSetCurrent": (_pointer,),
    "cuCtxGetDevice": (_pointer,),
    "cuCtxPushCurrent_v2": (_pointer,),
    "cuCtxPopCurrent_v2": (_pointer,),
    "cuModuleLoadDataEx": (_pointer, _text, _unsigned, _pointer, _pointer),
    "cuModuleGetFunction": (_pointer, _pointer, _text),
    "cuFuncSetAttribute": (_pointer, _int, _int),
    "cuMemAlloc_v2": (_pointer, _size),
    "cuMemFree_v2": (_address,),
    "cuMemcpyHtoDAsync_v2": (_address, _pointer, _size, _pointer),
    "cuMemcpyDtoHAsync_v2": (_pointer, _address, _size, _pointer),
    "cuStreamSynchronize": (_pointer,),
    "cuStreamWaitEvent": (_pointer, _pointer, _unsigned),
    "cuStreamGetCaptureInfo_v2": (_pointer, _pointer, _pointer, _pointer, _pointer, _pointer),
    "cuEventCreate": (_pointer, _unsigned),
    "cuEventRecord": (_pointer, _pointer),
    "cuPointerGetAttribute": (_pointer, _int, _address),
    "cuLaunchKernel": (_pointer, *(_unsigned,) * 7, _pointer, _pointer, _pointer),
}
# Functions that older drivers do not have.
OPTIONAL = {
    "cuTensorMapEncodeTiled": (
        _pointer, _int, _unsigned, _address, _pointer, _pointer, _pointer, _pointer, _int, _int, _int, _int,
    ),
    "cuLaunchKernelEx": (_pointer, _pointer, _pointer, _pointer),
    "cuFuncGetParamInfo": (_pointer, _size, _pointer, _pointer),
    "cuFuncLoad": (_pointer,),
}


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", _unsigned), ("padding", _unsigned), ("value", _unsigned * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [
        ("grid", _unsigned * 3), ("block", _unsigned * 3), ("shared", _unsigned), ("stream", _pointer),
        ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", _unsigned),
    ]


class Driver:
    """The driver's functions: `call` takes a name and raises DriverError if the call fails."""

    def __init__(self):
        try:
            library = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise DriverError(f"cannot open the CUDA driver {LIBRARY}: {error}") from None
        self.functions = {}
        for table, is_needed in ((SIGNATURES, True), (OPTIONAL, False)):
            for name, types in table.items():
                function = getattr(library, name, None)
                if function is None and is_needed:
                    raise DriverError(f"expected a CUDA driver of CUDA 11.4 or later, got one without {name}")
                if function is not None:
                    function.argtypes, function.restype = types, _int
                self.functions[name] = function
        self.call("cuInit", 0, what="cannot start the CUDA driver")
        version = _int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.version = version.value

    def __getitem__(self, name):
        """A function as ctypes has it, None if this driver does not have it."""
        return self.functions[name]

    def call(self, name, *arguments, what=None):
        status = self.functions[name](*arguments)
        if status:
            raise self.error(status, what or name)

    def error(self, status, what):
        """The error of a call that failed, "WHAT: the driver's text (NAME, STATUS)"."""
        name, text = _text(), _text()
        if self.functions["cuGetErrorName"](status, ctypes.byref(name)) or not name.value:
            name.value = b"unknown error"
        if self.functions["cuGetErrorString"](status, ctypes.byref(text)) or not text.value:
            text.value = b"no description"
        return DriverError(f"{what}: {text.value.decode()} ({name.value.decode()}, {status})")

    @property
    def cuda(self):
        """The version of CUDA, such as "12.4"."""
        return f"{self.version // 1000}.{self.version % 1000 // 10}"


@functools.lru_cache(maxsize=None)
def get_driver():
    """The driver; after a failure, the next call tries again."""
    return Driver()
