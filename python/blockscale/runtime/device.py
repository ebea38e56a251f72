"""CUDA cards: primary contexts (shared with torch), loaded modules, and memory."""

import contextlib
import ctypes
import threading

from . import driver as cuda
from .driver import get_driver
from .errors import ArgumentError, DriverError, ImageError
from .workspaces import Workspaces


class Device:
    """A card, by the driver's ordinal (which respects CUDA_VISIBLE_DEVICES).

    Its primary context stays retained, and modules stay loaded, until the process ends, since a captured graph may
    refer to them. `lock` is held during launches and allocations.
    """

    def __init__(self, ordinal):
        self.driver = driver = get_driver()
        self.ordinal = ordinal
        self.lock = threading.RLock()
        what = f"cannot use CUDA device {ordinal}"
        handle, context = ctypes.c_int(), ctypes.c_void_p()
        driver.call("cuDeviceGet", ctypes.byref(handle), ordinal, what=what)
        self.handle = handle.value
        driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.handle, what=what)
        self.context = context.value
        major, minor, self.multiprocessors = map(
            self._attribute, (cuda.CAPABILITY_MAJOR, cuda.CAPABILITY_MINOR, cuda.MULTIPROCESSOR_COUNT)
        )
        self.capability = major * 10 + minor
        self.workspaces = Workspaces(self)
        self._current = ctypes.c_void_p()
        self._current_reference = ctypes.byref(self._current)
        self._get_current = driver["cuCtxGetCurrent"]
        self._event = None

    def _attribute(self, number):
        value = ctypes.c_int()
        self.driver.call("cuDeviceGetAttribute", ctypes.byref(value), number, self.handle)
        return value.value

    def is_current(self):
        """Whether the thread's current context is that of the card. The lock is held."""
        self._get_current(self._current_reference)
        return self._current.value == self.context

    @contextlib.contextmanager
    def made_current(self):
        """Makes the card's context current inside, and restores the previous one afterwards."""
        with self.lock:
            if self.is_current():
                yield
                return
            if self._current.value is None:
                # Make it current for good, as torch does.
                self.driver.call("cuCtxSetCurrent", self.context)
                yield
                return
            self.driver.call("cuCtxPushCurrent_v2", self.context)
            try:
                yield
            finally:
                self.driver.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def capture_id(self, stream):
        """The id of the capture that a stream is in, 0 for none."""
        status, number = ctypes.c_int(), ctypes.c_uint64()
        self.driver.call(
            "cuStreamGetCaptureInfo_v2", stream, ctypes.byref(status), ctypes.byref(number), None, None, None,
            what="cannot tell whether the stream is captured",
        )
        return number.value if status.value == cuda.CAPTURE_ACTIVE else 0

    # The functions below need the card's context to be current.

    def allocate(self, size):
        """The address of memory, aligned to 256 bytes."""
        address = ctypes.c_uint64()
        # The driver has no empty allocations, but a kernel may need an address.
        self.driver.call(
            "cuMemAlloc_v2", ctypes.byref(address), max(size, 1),
            what=f"cannot allocate {size} bytes on CUDA device {self.ordinal}",
        )
        return address.value

    def free(self, address):
        self.driver.call("cuMemFree_v2", address)

    def copy_in(self, address, host, size, stream):
        if size:
            self.driver.call("cuMemcpyHtoDAsync_v2", address, host, size, stream, what="cannot copy to the card")

    def copy_out(self, host, address, size, stream):
        if size:
            self.driver.call("cuMemcpyDtoHAsync_v2", host, address, size, stream, what="cannot copy from the card")

    def synchronize(self, stream):
        self.driver.call("cuStreamSynchronize", stream, what="execution failed")

    def order(self, before, stream):
        """Makes later work on `stream` wait for the work that is on the stream `before` now."""
        if self._event is None:
            event = ctypes.c_void_p()
            self.driver.call("cuEventCreate", ctypes.byref(event), cuda.EVENT_DISABLE_TIMING)
            self._event = event.value
        self.driver.call("cuEventRecord", self._event, before)
        self.driver.call("cuStreamWaitEvent", stream, self._event, 0)

    def load(self, image, kind, target):
        """A module of PTX or of a cubin, given as bytes."""
        log, module = ctypes.create_string_buffer(8192), ctypes.c_void_p()
        options = (ctypes.c_int * 2)(cuda.JIT_ERROR_LOG, cuda.JIT_ERROR_LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log) - 1)
        # The driver reads PTX up to a terminating zero.
        status = self.driver["cuModuleLoadDataEx"](ctypes.byref(module), image + b"\0", 2, options, values)
        if status == 0:
            return module
        if status == cuda.UNSUPPORTED_PTX:
            version = image.partition(b".version ")[2].split(None, 1)[0].decode(errors="replace")
            raise ImageError(
                f"expected a PTX version that the driver's CUDA {self.driver.cuda} knows, got .version {version}"
            )
        said = [line for line in log.value.decode(errors="replace").splitlines() if "error" in line or "fatal" in line]
        if said:
            raise ImageError(f"cannot compile the PTX: {'; '.join(said[:3])}")
        if status in cuda.NOT_FOR_CARD:
            raise ImageError(f"expected code that runs on the card's sm_{self.capability}, got {kind} for {target}")
        raise self.driver.error(status, "cannot load the code")

    def get_function(self, module, kernel):
        """A kernel of a module, with the attributes that its launch info needs."""
        driver, function = self.driver, ctypes.c_void_p()
        status = driver["cuModuleGetFunction"](ctypes.byref(function), module, kernel.name.encode())
        if status == cuda.NOT_FOUND:
            raise ImageError(f"expected a kernel '{kernel.name}' in the code, got none")
        if status:
            raise driver.error(status, f"cannot find kernel '{kernel.name}'")
        # By default, a block has 48 KiB of dynamic and static shared memory together.
        if kernel.shared:
            driver.call(
                "cuFuncSetAttribute", function, cuda.MAX_DYNAMIC_SHARED_SIZE, kernel.shared,
                what=f"cannot give kernel '{kernel.name}' {kernel.shared} bytes of dynamic shared memory",
            )
        x, y, z = kernel.cluster
        if x * y * z > cuda.MAX_PORTABLE_CLUSTER:
            driver.call("cuFuncSetAttribute", function, cuda.NON_PORTABLE_CLUSTER_SIZE, 1)
        # Otherwise the driver would load it at its first launch, which may be in a graph that is captured.
        if driver["cuFuncLoad"]:
            driver.call("cuFuncLoad", function)
        return function

    def param_sizes(self, function):
        """The bytes of each parameter of a kernel; None if the driver cannot tell (before CUDA 12.4)."""
        get = self.driver["cuFuncGetParamInfo"]
        if not get:
            return None
        sizes, offset, size = [], ctypes.c_size_t(), ctypes.c_size_t()
        while get(function, len(sizes), ctypes.byref(offset), ctypes.byref(size)) == 0:
            sizes.append(size.value)
        return sizes


_devices, _devices_lock = {}, threading.Lock()


def get_device(ordinal):
    """The card of an ordinal: one object for all threads, because of its lock."""
    with _devices_lock:
        if ordinal not in _devices:
            _devices[ordinal] = Device(ordinal)
        return _devices[ordinal]


def current_ordinal():
    """The ordinal of the card whose context is current, 0 if there is none."""
    driver, context, handle, count = get_driver(), ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
    driver.call("cuCtxGetCurrent", ctypes.byref(context))
    if context.value is None:
        return 0
    driver.call("cuCtxGetDevice", ctypes.byref(handle))
    driver.call("cuDeviceGetCount", ctypes.byref(count))
    each = ctypes.c_int()
    for ordinal in range(count.value):
        driver.call("cuDeviceGet", ctypes.byref(each), ordinal)
        if each.value == handle.value:
            return ordinal
    raise DriverError(f"expected the current context to be of one of {count.value} devices, got device {handle.value}")


def ordinal_of(address, where):
    """The ordinal of the card whose memory is at an address."""
    value = ctypes.c_int()
    if get_driver()["cuPointerGetAttribute"](ctypes.byref(value), cuda.POINTER_DEVICE_ORDINAL, address):
        raise ArgumentError(f"{where}: expected memory of a CUDA device, got address {address:#x}")
    return value.value
