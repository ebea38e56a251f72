"""A launch plan: all numbers of a launch, computed for one list of signatures on one card.

This is the hot path on the host: `Plan.launch` writes the addresses that have changed, and calls the driver once
for each kernel. The driver reads the values of parameters through pointers, which stay the same.
"""

import ctypes
import struct

from . import driver as cuda
from .driver import LaunchAttribute, LaunchConfig
from .element_types import describe
from .errors import ArgumentError, DriverError, ImageError
from .expressions import MAX_NUMBER, Shapes
from .launch_info import DTYPES
from .tensor_maps import ALIGNMENT as MAP_ALIGNMENT
from .tensor_maps import BYTES as MAP_BYTES

# The alignment that kernels rely on.
ALIGNMENT = 16
# How many encoded tensor maps a plan keeps, one for each address of the tensor.
MAX_KEPT_MAPS = 64


def name_of(index, num_arguments):
    return f"argument #{index}" if index < num_arguments else f"result #{index - num_arguments}"


def aligned_bytes(size, alignment):
    """An array of bytes at a multiple of `alignment`."""
    memory = (ctypes.c_char * (size + alignment))()
    return (ctypes.c_char * size).from_buffer(memory, -ctypes.addressof(memory) % alignment)


def round_bfloat16(value):
    """The bits of bf16, rounded to nearest even."""
    [bits] = struct.unpack("<I", struct.pack("<f", value))
    if value != value:
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


INTEGERS = {"i1": "u1", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "index": "i8"}
FORMS = {"f2": "<e", "f4": "<f", "f8": "<d"}


def encode_number(value, operand):
    """The bytes of a scalar argument."""
    if operand.dtype in FORMS:
        return struct.pack(FORMS[operand.dtype], value)
    if operand.type == "bf16":
        return round_bfloat16(value).to_bytes(2, "little")
    size = DTYPES[operand.dtype]
    if not isinstance(value, int):
        raise ArgumentError(f"expected an integer for {operand.type}, got {value!r}")
    least, end = (0, 2) if operand.type == "i1" else (-(1 << 8 * size - 1), 1 << 8 * size)
    if not least <= value < end:
        raise ArgumentError(f"expected a number from {least} to {end - 1} for {operand.type}, got {value}")
    return (value % (1 << 8 * size)).to_bytes(size, "little")


class MapSlot:
    """A tensor map inside of a parameter's value, for memory at `offset` from an address that changes."""

    def __init__(self, driver, tensor_map, sizes, strides, offset, slot):
        self.offset, self.slot = offset, slot
        self._driver, self._kept = driver, {}
        self._encoded = aligned_bytes(MAP_BYTES, MAP_ALIGNMENT)
        rank = tensor_map.rank
        self._arguments = (
            (ctypes.c_uint64 * rank)(*sizes), (ctypes.c_uint64 * max(rank - 1, 1))(*strides),
            (ctypes.c_uint32 * rank)(*tensor_map.box), (ctypes.c_uint32 * rank)(*tensor_map.element_strides), 0,
            tensor_map.swizzle, tensor_map.promotion, tensor_map.fill,
        )
        self._type, self._rank = tensor_map.type, rank

    def point_to(self, address):
        address += self.offset
        encoded = self._kept.get(address)
        if encoded is None:
            if not self._driver["cuTensorMapEncodeTiled"]:
                raise DriverError(
                    f"cannot make a tensor map: expected a driver of CUDA 12.0 or later, got CUDA {self._driver.cuda}"
                )
            self._driver.call(
                "cuTensorMapEncodeTiled", self._encoded, self._type, self._rank, address, *self._arguments,
                what="cannot make a tensor map",
            )
            if len(self._kept) == MAX_KEPT_MAPS:
                self._kept.clear()
            encoded = self._kept[address] = self._encoded.raw
        ctypes.memmove(self.slot, encoded, MAP_BYTES)


class PointerSlot:
    """A pointer inside of a parameter's value, at `offset` from an address that changes."""

    def __init__(self, slot, offset):
        self.offset = offset
        self._value = ctypes.c_uint64.from_address(slot)

    def point_to(self, address):
        self._value.value = address + self.offset


class NumberSlot:
    """A scalar argument inside of a parameter's value."""

    def __init__(self, slot, operand):
        self.slot, self.operand = slot, operand

    def put(self, value):
        data = encode_number(value, self.operand)
        ctypes.memmove(self.slot, data, len(data))


def _packed(shape, operand):
    """The shape of an array with one element per byte, once it is packed."""
    if not shape or shape[-1] % operand.elements:
        return shape
    return (*shape[:-1], shape[-1] // operand.elements * operand.bytes)


class Plan:
    """The launches of `info` for arguments of these shapes, in elements of their arrays; None means a number.

    `values` has the numbers that the launch depends on, by argument. `functions` are the kernels on the card. Raises
    ArgumentError for shapes and numbers that do not fit.
    """

    def __init__(self, device, info, functions, shapes, values=None):
        self.device, self.info = device, info
        shapes = Shapes(shapes, values)
        self._shapes, self._functions = shapes, functions
        self._evaluate = lambda expression: expression(shapes, device.multiprocessors)
        self._run_checks()
        self.buffer_shapes = [self._buffer_shape(i, operand, shapes) for i, operand in enumerate(info.operands)]
        for i, shape in enumerate(shapes):
            self.check_shape(i, shape)
        self.sizes = [self._count_bytes(*each) for each in zip(info.operands, self.buffer_shapes)]
        self.workspace = self._evaluate(info.workspace)
        if not 0 <= self.workspace <= 2**63:
            raise ArgumentError(f"expected a workspace of at least 0 bytes, got {self.workspace}")
        self._numbers = [i for i, shape in enumerate(shapes) if shape is None]
        self._pointers = [i for i in range(len(info.operands)) if i not in self._numbers]
        self._alignments = [ALIGNMENT] * len(info.operands)
        # The objects to update when an address changes, by operand and for the workspace; and numbers, by argument.
        self._slots = [[] for _ in info.operands]
        self._workspace_slots, self._number_slots = [], [[] for _ in info.operands]
        # Keeps objects alive whose addresses the driver has.
        self._memory = []
        # Kernels with empty grids are left out, since the driver refuses these; and those whose condition does not
        # hold, whose sizes need not fit.
        launches = [self._plan_kernel(*each) for each in zip(info.kernels, functions) if self._is_chosen(each[0])]
        self._launches = [launch for launch in launches if launch]
        # Nothing is evaluated from here on.
        shapes.results.clear()
        # The addresses of the last launch.
        self._addresses = self._workspace_address = None
        self._stream = 0

    # Numbers.

    def _buffer_shape(self, index, operand, shapes):
        """The shape of an operand's array if the arguments have `shapes`."""
        shape = [size(shapes, self.device.multiprocessors) for size in operand.shape]
        where = name_of(index, self.info.num_arguments)
        if any(size < 0 for size in shape):
            raise ArgumentError(f"{where}: expected sizes of at least 0, got {shape}")
        if operand.is_packed:
            if shape[-1] % operand.elements:
                raise ArgumentError(
                    f"{where}: expected rows that end on a byte when packed, got {shape[-1]} elements, of which "
                    f"{operand.elements} are in {operand.bytes} bytes"
                )
            shape[-1] = shape[-1] // operand.elements * operand.bytes
        return tuple(shape)

    def check_shape(self, index, shape):
        """Checks the shape of an operand, in elements of its array; None for a number."""
        operand, expected = self.info.operands[index], self.buffer_shapes[index]
        if (shape is None and not operand.shape) or shape == expected:
            return
        array = f"{name_of(index, self.info.num_arguments)}: expected"
        if shape is None:
            raise ArgumentError(f"{array} an array of shape {expected} of {describe(operand)}, got a number")

        def fits(shapes, packed):
            got = _packed(shape, operand) if index in packed else shape
            return self._buffer_shape(index, operand, shapes) == got

        hint = self._explain_packing(fits, index)
        raise ArgumentError(f"{array} shape {expected} of {describe(operand)}, got {shape}{hint}")

    def _explain_packing(self, fits, result=None):
        """A hint for messages: which arrays have one element per byte but should be packed; else empty.

        It names a single operand (an argument, or `result`), or else all of them, if packing the operands `packed` in
        `shapes` makes `fits(shapes, packed)` true.
        """
        operands = self.info.operands
        every = [
            i for i, operand in enumerate(operands)
            if operand.is_packed and (i < self.info.num_arguments or i == result)
        ]
        for packed in [*([i] for i in every), every]:
            shapes = [_packed(each, operands[i]) if i in packed else each for i, each in enumerate(self._shapes)]
            try:
                if packed and fits(Shapes(shapes, self._shapes.values), packed):
                    return self._describe_unpacked(packed)
            except ArgumentError:
                continue
        return ""

    def _describe_unpacked(self, packed):
        """"; arguments #0 and #2 have one element per byte, expected 2 in 1 ..."."""
        count = self.info.num_arguments
        names = []
        for name, numbers in (
            ("argument", [i for i in packed if i < count]), ("result", [i - count for i in packed if i >= count]),
        ):
            if numbers:
                names.append(name + "s" * (len(numbers) > 1) + " " + " and ".join(f"#{i}" for i in numbers))
        # They usually have one type.
        sizes = dict.fromkeys(f"{self.info.operands[i].elements} in {self.info.operands[i].bytes}" for i in packed)
        return (
            f"; {' and '.join(names)} {'has' if len(packed) == 1 else 'have'} one element per byte, expected "
            f"{' and '.join(sizes)} along the last dimension, as blockscale.pack makes them"
        )

    @staticmethod
    def _count_bytes(operand, shape):
        size = DTYPES[operand.dtype]
        for extent in shape:
            size *= extent
        return size

    def _run_checks(self):
        def holds(check, shapes):
            return check.condition(shapes, self.device.multiprocessors)

        for check in self.info.checks:
            if not holds(check, self._shapes):
                hint = self._explain_packing(lambda shapes, _: all(holds(each, shapes) for each in self.info.checks))
                raise ArgumentError(f"check failed at run time:\n{check.message}{hint}")

    def _extent(self, expression, dimension):
        extent = self._evaluate(expression)
        if 0 <= extent <= MAX_NUMBER:
            return extent
        raise ArgumentError(
            f"expected 0 to {MAX_NUMBER} blocks in dimension {dimension} of the grid, got {extent}"
        )

    # Kernels.

    def _is_chosen(self, kernel):
        try:
            return self._evaluate(kernel.condition) != 0
        except ArgumentError as error:
            raise ArgumentError(f"condition of kernel '{kernel.name}': {error}") from None

    def _plan_kernel(self, kernel, function):
        grid = [self._extent(extent, i) for i, extent in enumerate(kernel.grid)]
        if 0 in grid:
            return None
        values, sizes = [], self.device.param_sizes(function)
        for i, param in enumerate(kernel.params):
            try:
                values.append(self._make_value(param))
            except ArgumentError as error:
                raise ArgumentError(f"parameter #{i} of kernel '{kernel.name}': {error}") from None
        expected = [size for _, size in values]
        if sizes is not None and sizes != expected:
            raise ImageError(
                f"kernel '{kernel.name}': expected parameters of {expected} bytes, as the launch info and the "
                f"arguments say, got code that has {sizes}"
            )
        attributes = []
        if kernel.cluster != (1, 1, 1):
            attributes.append(LaunchAttribute(cuda.CLUSTER_DIMENSION, 0, (ctypes.c_uint * 16)(*kernel.cluster)))
        if kernel.is_programmatic:
            attributes.append(LaunchAttribute(cuda.PROGRAMMATIC_STREAM_SERIALIZATION, 0, (ctypes.c_uint * 16)(1)))
        params = (ctypes.c_void_p * max(len(values), 1))(*(slot for slot, _ in values))
        array = (LaunchAttribute * max(len(attributes), 1))(*attributes)
        config = LaunchConfig(
            (ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*kernel.block), kernel.shared, None, array, len(attributes)
        )
        if kernel.cluster != (1, 1, 1) and not self.device.driver["cuLaunchKernelEx"]:
            raise DriverError(
                f"cannot launch kernel '{kernel.name}' with a cluster: expected a driver of CUDA 11.8 or later, got "
                f"CUDA {self.device.driver.cuda}"
            )
        return config, ctypes.byref(config), function, params, kernel

    def _make_value(self, param):
        """The address and the bytes of the value of a parameter."""
        # Tensor maps have the largest alignment.
        memory = aligned_bytes(param.bytes, MAP_ALIGNMENT)
        self._memory.append(memory)
        slot = ctypes.addressof(memory)
        return slot, self._fill(param, slot, param.bytes)

    def _fill(self, param, slot, capacity):
        """Writes the known part of a parameter to memory, notes where addresses go, and returns the size in bytes."""
        if param.kind == "struct":
            ctypes.memmove(slot, param.data, len(param.data))
            end = 0
            for at, field in sorted(param.fields, key=lambda each: each[0]):
                if at < end:
                    raise ArgumentError(f"expected fields of a struct that do not overlap, got one at {at}")
                end = at + self._fill(field, slot + at, len(param.data) - at)
            return len(param.data)
        if param.kind == "f32":
            ctypes.memmove(slot, param.data, 4)
            return 4
        if param.number is not None:
            number = self._evaluate(param.number)
            size = param.bytes
            if not -(1 << 8 * size - 1) <= number < 1 << 8 * size:
                raise ArgumentError(f"expected an integer of {8 * size} bits, got {number}")
            ctypes.memmove(slot, (number % (1 << 8 * size)).to_bytes(size, "little"), size)
            return size
        return self._fill_slot(param, slot, capacity)

    def _fill_slot(self, param, slot, capacity):
        offset = self._evaluate(param.offset)
        if param.kind == "workspace":
            # A buffer without elements comes after the others.
            slots, memory, last = self._workspace_slots, self.workspace, self.workspace
            what = "the workspace"
        else:
            index = param.index + (self.info.num_arguments if param.kind == "result" else 0)
            operand, what = self.info.operands[index], name_of(index, self.info.num_arguments)
            if index in self._numbers:
                if param.tensor_map or param.offset.known != 0:
                    raise ArgumentError(f"{what}: expected a buffer for an offset or a tensor map, got a number")
                size = DTYPES[operand.dtype]
                if size > capacity:
                    raise ArgumentError(f"{what}: expected a number of at most {capacity} bytes in a struct, got {size}")
                self._number_slots[index].append(NumberSlot(slot, operand))
                return size
            slots, memory, last = self._slots[index], self.sizes[index], self.sizes[index]
            if param.tensor_map:
                self._alignments[index] = max(self._alignments[index], param.tensor_map.alignment)
        if not 0 <= offset <= last:
            raise ArgumentError(f"expected an offset from 0 to {last} into {what}, got {offset}")
        if not param.tensor_map:
            slots.append(PointerSlot(slot, offset))
            return 8
        sizes, strides = param.tensor_map.evaluate(self._shapes, self.device.multiprocessors, memory, offset)
        slots.append(MapSlot(self.device.driver, param.tensor_map, sizes, strides, offset, slot))
        return MAP_BYTES

    # Launching. The card's lock is held, and its context is current.

    def _bind(self, addresses):
        self._addresses = None
        count = self.info.num_arguments
        for i in self._pointers:
            address = addresses[i]
            if address % self._alignments[i]:
                raise ArgumentError(
                    f"{name_of(i, count)}: expected an address that is a multiple of {self._alignments[i]}, got "
                    f"{address:#x}"
                )
        for i in range(count, len(addresses)):
            start, end = addresses[i], addresses[i] + self.sizes[i]
            for j in self._pointers:
                if j < i and start < addresses[j] + self.sizes[j] and addresses[j] < end:
                    raise ArgumentError(
                        f"{name_of(i, count)}: expected memory of its own, got what it shares with {name_of(j, count)}"
                    )
        for i in self._pointers:
            for slot in self._slots[i]:
                slot.point_to(addresses[i])
        self._addresses = addresses

    def _put_numbers(self, values):
        for i in self._numbers:
            for slot in self._number_slots[i]:
                try:
                    slot.put(values[i])
                except (OverflowError, struct.error):
                    raise ArgumentError(
                        f"argument #{i}: expected a number that {self.info.operands[i].type} can hold, got {values[i]}"
                    ) from None
                except ArgumentError as error:
                    raise ArgumentError(f"argument #{i}: {error}") from None

    def launch(self, addresses, stream, workspace=None):
        """Launches on a stream (an integer). `addresses` is a tuple with the address of each array and the value of
        each number. `workspace` is an address; by default the device allocates one for the stream.
        """
        if addresses != self._addresses:
            self._bind(addresses)
        if self._numbers:
            self._put_numbers(addresses)
        if self.workspace:
            address = workspace or self.device.workspaces.get(self.workspace, stream)
            if address != self._workspace_address:
                self._workspace_address = None
                for slot in self._workspace_slots:
                    slot.point_to(address)
                self._workspace_address = address
        launch = self.device.driver["cuLaunchKernelEx"]
        if launch is None:
            self._launch_plainly(stream)
            return
        for config, reference, function, params, kernel in self._launches:
            config.stream = stream
            status = launch(reference, function, params, None)
            if status:
                self._raise(config, kernel, status)

    def _launch_plainly(self, stream):
        """Launches without attributes: a kernel then starts after the previous one ends, which is as correct."""
        launch = self.device.driver["cuLaunchKernel"]
        for config, _, function, params, kernel in self._launches:
            status = launch(function, *config.grid, *config.block, config.shared, stream, params, None)
            if status:
                self._raise(config, kernel, status)

    def _raise(self, config, kernel, status):
        raise self.device.driver.error(
            status, f"cannot launch kernel '{kernel.name}' with grid {tuple(config.grid)}, block {kernel.block}, "
            f"cluster {kernel.cluster}"
        )
