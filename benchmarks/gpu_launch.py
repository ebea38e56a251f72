"""Kernels on a CUDA card through its driver, launched as a launch info says.

Nothing but ctypes and the driver, whose library is opened by `Driver()`; the caller has made a context
current. Addresses of buffers are integers. Errors are `CudaError`, with the driver's own words, and
ValueError for a launch info that is not as docs/Programs.md describes it.
"""

import ctypes
import math

MAX_DYNAMIC_SHARED_SIZE, NON_PORTABLE_CLUSTER_SIZE = 8, 14
JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE = 5, 6
CLUSTER_DIMENSION, PROGRAMMATIC_STREAM_SERIALIZATION = 4, 6
# The largest cluster that every card takes.
MAX_PORTABLE_CLUSTER = 8
# By the numbers of CUtensorMapDataType and the other enumerations of cuda.h.
TENSOR_TYPES = (
    "u1 u2 u4 i4 u8 i8 f2 f4 f8 bf16 f4ftz tf32 tf32ftz u4x16_align8 u4x16_align16 u6x16_align16".split()
)
SWIZZLES = ["none", "32", "64", "128", "128-atom32", "128-atom32-flip8", "128-atom64"]
FILLS, PROMOTIONS = ["zero", "nan"], ["none", "64", "128", "256"]
TENSOR_MAP_BYTES, TENSOR_MAP_ALIGNMENT = 128, 64


class CudaError(Exception):
    pass


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("padding", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint),
    ]


class Driver:
    """The driver's functions, each of which raises CudaError instead of returning a status."""

    def __init__(self, path="libcuda.so.1"):
        try:
            self.library = ctypes.CDLL(path)
        except OSError as error:
            raise CudaError(f"cannot open the CUDA driver: {error}") from None

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise CudaError(f"{name}: {self._describe(status)}")

    def _describe(self, status):
        text = ctypes.c_char_p()
        if self.library.cuGetErrorString(status, ctypes.byref(text)) or not text.value:
            return f"status {status}"
        return text.value.decode()

    def load(self, image):
        """A module of PTX text or a cubin, as bytes. It stays loaded until the process ends."""
        log, module = ctypes.create_string_buffer(4096), ctypes.c_void_p()
        options = (ctypes.c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        # PTX is read to its terminating zero.
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), image + b"\0", 2, options, values)
        except CudaError as error:
            said = " ".join(log.value.decode(errors="replace").split())
            raise CudaError(f"{error}: {said}" if said else str(error)) from None
        return module

    def get_kernel(self, module, name, shared=0, cluster=(1, 1, 1)):
        """A kernel that may be launched with so much dynamic shared memory and such clusters."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        # Without asking, a block has 48 KiB: of dynamic and static shared memory together.
        if shared:
            self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED_SIZE, shared)
        if math.prod(cluster) > MAX_PORTABLE_CLUSTER:
            self.call("cuFuncSetAttribute", function, NON_PORTABLE_CLUSTER_SIZE, 1)
        return function

    def encode_tensor_map(self, address, description, evaluate):
        """The 128 bytes, as a ctypes array, of a launch info's `tensor_map` on the buffer at `address`."""
        def number(field, names, default=None):
            name = description.get(field, default)
            if name not in names:
                raise ValueError(f"tensor_map: expected {field} to be one of {names}, got {name!r}")
            return names.index(name)

        def numbers(field, kind):
            # The driver has the innermost dimension first.
            values = [evaluate(value) for value in reversed(description[field])]
            return (kind * len(values))(*values)

        sizes, strides = numbers("sizes", ctypes.c_uint64), numbers("strides", ctypes.c_uint64)
        rank = len(sizes)
        # It takes no stride for the innermost one, where a launch info may say that of an element.
        outer = (ctypes.c_uint64 * (rank - 1))(*strides[len(strides) - rank + 1 :])
        memory = ctypes.create_string_buffer(TENSOR_MAP_BYTES + TENSOR_MAP_ALIGNMENT)
        encoded = (ctypes.c_byte * TENSOR_MAP_BYTES).from_buffer(
            memory, -ctypes.addressof(memory) % TENSOR_MAP_ALIGNMENT
        )
        self.call(
            "cuTensorMapEncodeTiled", encoded, number("dtype", TENSOR_TYPES), rank, ctypes.c_void_p(address),
            sizes, outer, numbers("box", ctypes.c_uint), numbers("element_strides", ctypes.c_uint), 0,
            number("swizzle", SWIZZLES, "none"), number("l2", PROMOTIONS, "none"), number("fill", FILLS, "zero"),
        )
        return encoded


class Launch:
    """One kernel with its extents and the values of its parameters (ctypes objects), to be run many times.

    A programmatic one may start before what is in front of it on the stream has ended, and waits itself.
    """

    def __init__(self, driver, function, grid, block, values, shared=0, cluster=(1, 1, 1), programmatic=False):
        self.driver, self.function, self.values = driver, function, values
        self.params = (ctypes.c_void_p * max(len(values), 1))(*map(ctypes.addressof, values))
        self.extents, self.shared = [ctypes.c_uint(n) for n in (*grid, *block)], ctypes.c_uint(shared)
        self.config = None
        attributes = []
        if math.prod(cluster) > 1:
            attributes.append(LaunchAttribute(CLUSTER_DIMENSION, 0, (ctypes.c_uint * 16)(*cluster)))
        if programmatic:
            attributes.append(LaunchAttribute(PROGRAMMATIC_STREAM_SERIALIZATION, 0, (ctypes.c_uint * 16)(1)))
        if attributes:
            self.attributes = (LaunchAttribute * len(attributes))(*attributes)
            self.config = LaunchConfig(
                (ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block), shared, None, self.attributes,
                len(attributes),
            )

    def run(self, stream):
        """On a stream, given as the integer of its handle; returns before the kernel has run."""
        if self.config is None:
            self.driver.call(
                "cuLaunchKernel", self.function, *self.extents, self.shared, ctypes.c_void_p(stream), self.params,
                None,
            )
            return
        self.config.stream = stream
        self.driver.call("cuLaunchKernelEx", ctypes.byref(self.config), self.function, self.params, None)


OPERATIONS = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "ceildiv": lambda a, b: -(-a // b),
    "floordiv": lambda a, b: a // b,
    "min": min,
    "max": max,
    "eq": lambda a, b: int(a == b),
    "lt": lambda a, b: int(a < b),
}


def evaluate(expression, sizes, multiprocessors):
    """The integer that an expression of a launch info means.

    `sizes` are the shapes of the arguments, in elements; `multiprocessors` is the card's number.
    """
    if isinstance(expression, int):
        return expression
    if not isinstance(expression, dict) or not expression:
        raise ValueError(f"expected a number or an expression, got {expression!r}")
    if "arg" in expression:
        return sizes[expression["arg"]][expression["dim"]]
    [(kind, value)] = expression.items()
    if kind == "size":
        return sizes[value["arg"]][value["dim"]]
    if kind == "multiprocessors":
        return (value if isinstance(value, int) else 1) * multiprocessors
    if kind == "select":
        condition, then, otherwise = value
        chosen = then if evaluate(condition, sizes, multiprocessors) else otherwise
        return evaluate(chosen, sizes, multiprocessors)
    if kind not in OPERATIONS:
        raise ValueError(f"expected one of {', '.join(OPERATIONS)}, got {kind!r}")
    return OPERATIONS[kind](*(evaluate(operand, sizes, multiprocessors) for operand in value))


class Function:
    """A compiled function on the card: its kernels, by a launch info (parsed JSON) and PTX or a cubin."""

    def __init__(self, driver, image, info, sizes, multiprocessors):
        if info["version"] not in (1, 2):
            raise ValueError(f"expected a launch info of version 1 or 2, got {info['version']}")
        self.driver = driver
        self.evaluate = lambda expression: evaluate(expression, sizes, multiprocessors)
        self.workspace = self.evaluate(info["workspace"])
        module = driver.load(image)
        self.kernels = [
            (driver.get_kernel(module, kernel["name"], kernel["shared"], kernel["cluster"]), kernel)
            for kernel in info["kernels"]
            if self.evaluate(kernel.get("condition", 1))
        ]

    def bind(self, arguments, results, workspace=0):
        """The launches, in order, on buffers at these addresses."""
        def address(param):
            [(kind, value)] = param.items()
            if kind == "workspace":
                return workspace + self.evaluate(value)
            return {"arg": arguments, "result": results}[kind][value]

        def value(param):
            if "size" in param:
                return ctypes.c_uint32(self.evaluate(param))
            if "tensor_map" in param:
                tensor_map = param["tensor_map"]
                return self.driver.encode_tensor_map(address(tensor_map["of"]), tensor_map, self.evaluate)
            return ctypes.c_uint64(address(param))

        return [
            Launch(
                self.driver, function, [self.evaluate(n) for n in kernel["grid"]], kernel["block"],
                [value(param) for param in kernel["params"]], kernel["shared"], kernel["cluster"],
                kernel.get("programmatic", False),
            )
            for function, kernel in self.kernels
        ]
