"""The functions of a bundle, as callable objects."""

from . import arrays, code_digest, streams
from .arrays import HOST, READERS, find_reader, make_signature
from .chips import choose
from .device import current_ordinal, get_device
from .element_types import accepted_names, describe
from .errors import ArgumentError, CaptureError, ImageError
from .hosted import HostedLaunch
from .plan import Plan, name_of

# How many plans a function keeps, one for each list of shapes and types.
MAX_PLANS = 256
# The alignment that kernels rely on; allocations of CUDA and torch have it.
WORKSPACE_ALIGNMENT = 256


class OnDevice:
    """The code of a function on one card."""

    def __init__(self, device, entries):
        self.device = device
        self.entry, image = choose(entries, device.capability)
        self.info = self.entry.info
        code = image.read()
        code_digest.check(self.info, code, image.kind)
        with device.made_current():
            module = device.load(code, image.kind, self.info.target)
            self.functions = [device.get_function(module, kernel) for kernel in self.info.kernels]

    def plan(self, shapes, values):
        return Plan(self.device, self.info, self.functions, shapes, values)


class ReadyPlan:
    """A plan, and the signatures of results that fit it."""

    def __init__(self, plan, is_hosted):
        self.plan, self.device, self.is_hosted = plan, plan.device, is_hosted
        # Signatures of results that have been checked.
        self.results = set()


class Kernel:
    """A function of a bundle: `kernel(*arguments, out=None, stream=None, workspace=None)`.

    An argument is a number, or an array in row-major order: a torch tensor, anything with
    `__cuda_array_interface__` or `__dlpack__` on a card (used in place), or a numpy array (copied to the card and
    back). Its shape is that of the function's tensor, in elements; if the function takes packed elements, the last
    dimension is in bytes (fp4: M x K/2). Narrow types may be passed as uint8 or as themselves. Arrays on a card must
    start at multiples of 16 bytes, and be on one card.

    `out` is an array for the result, or a sequence of arrays. Without it, new arrays are made: torch tensors if an
    argument is one, numpy arrays if all arrays are. Returns the array of the result, or a tuple if there are
    several.

    `stream` is an integer or a stream of torch or CuPy; the default is torch's current stream if an argument is a
    torch tensor, else the default stream.

    `workspace` is a function that takes a number of bytes and returns an array on the card, which must live until the
    kernels have run; it is called if the function needs a workspace. By default, or if it returns None, the runtime
    allocates one.

    Calls return before the kernels have run, except with numpy arrays.

    Raises ArgumentError, ImageError, DriverError or CaptureError.
    """

    def __init__(self, name, entries):
        self.name = name
        self._entries = entries
        self._devices = {}
        self._plans = {}
        # Arguments whose values a launch depends on.
        self._valued = entries[0].info.valued

    def __repr__(self):
        return f"<blockscale function '{self.name}' for {', '.join(self.targets)}>"

    @property
    def targets(self):
        """The chips that the bundle has code for, such as "sm_90a"."""
        return [entry.info.target for entry in self._entries]

    def most_rows(self, ordinal):
        """Up to how many rows of the result this function is the fastest on a card, if the bundle has several for one
        product; None for any number. All of them are correct for any number. Loads nothing."""
        return choose(self._entries, get_device(ordinal).capability)[0].most_rows

    def launch_info(self, target):
        """The launch info for a chip, as a JSON value (docs/Programs.md). Parts of it are shared: do not change it."""
        for entry in self._entries:
            if entry.info.target == target:
                return entry.launch_info
        raise ImageError(f"function '{self.name}': expected one of {' '.join(self.targets)}, got {target!r}")

    def on(self, ordinal):
        """The code on a card; loads it if necessary."""
        there = self._devices.get(ordinal)
        if there is None:
            device = get_device(ordinal)
            with device.lock:
                there = self._devices.get(ordinal)
                if there is None:
                    there = self._devices[ordinal] = OnDevice(device, self._entries)
        return there

    def prepare(self, *shapes, device=None, graphs=1):
        """Prepares launches with arguments of these shapes for the capture of a graph: loads and allocates.

        `shapes` has the shape of each argument in elements of its array, or an object with a `shape`; for a number its
        value, or None if no size depends on it. `device` is the ordinal of a card; the default is that of the current
        context, or 0. If the function needs a workspace, `graphs` of them are allocated: each graph that is captured
        later takes one for each stream in it.

        Raises ArgumentError for shapes that do not fit.
        """
        there = self.on(current_ordinal() if device is None else device)
        self._check_count(len(shapes), there.info)
        values = {i: shape for i, shape in enumerate(shapes) if isinstance(shape, (int, float))}
        plan = there.plan(
            [None if shape is None or i in values else tuple(getattr(shape, "shape", shape))
             for i, shape in enumerate(shapes)], values,
        )
        with there.device.made_current():
            there.device.workspaces.prepare(plan.workspace, graphs if plan.workspace else 0)

    def __call__(self, *values, out=None, stream=None, workspace=None):
        handle = streams.default_handle(values) if stream is None else streams.handle_of(stream)
        addresses, key = self._read(values, handle, 0)
        numbers = tuple(addresses[i] for i in self._valued if i < len(addresses)) if self._valued else ()
        ready = self._plans.get((key, numbers))
        if ready is None:
            ready = self._make_plan(key, numbers, handle)
        if out is None:
            results = self._make_results(ready, values)
        else:
            results = out if isinstance(out, (tuple, list)) else (out,)
        result_addresses, result_key = self._read(results, handle, len(values))
        if result_key not in ready.results:
            self._check_results(ready, result_key)
        addresses += result_addresses
        device, memory, start = ready.device, None, None
        if workspace is not None and ready.plan.workspace:
            memory = workspace(ready.plan.workspace)
            start = None if memory is None else self._read_workspace(ready, memory, handle)
        with device.lock:
            if ready.is_hosted or not device.is_current():
                self._launch_slowly(ready, addresses, result_key, key, handle, start)
            else:
                ready.plan.launch(addresses, handle, start)
        if out is not None:
            return out
        return results[0] if len(results) == 1 else tuple(results)

    # Reading.

    def _read(self, values, handle, first):
        """Addresses and signatures, two tuples."""
        addresses, signatures = [], []
        for value in values:
            reader = READERS.get(type(value)) or find_reader(value)
            if reader is None:
                raise ArgumentError(
                    f"{self._name(first + len(addresses))}: expected a number, a tensor of torch, or an object with "
                    f"__cuda_array_interface__, __dlpack__ or __array_interface__, got {type(value).__name__}"
                )
            try:
                address, signature = reader(value, handle)
            except ArgumentError as error:
                raise ArgumentError(f"{self._name(first + len(addresses))}: {error}") from None
            addresses.append(address)
            signatures.append(signature)
        return tuple(addresses), tuple(signatures)

    def _read_workspace(self, ready, memory, handle):
        """The address of the array that `workspace` returned."""
        reader = READERS.get(type(memory)) or find_reader(memory)
        if reader in (None, arrays.read_number):
            raise ArgumentError(f"workspace: expected an array on the card, got {type(memory).__name__}")
        address, (_, _, device, *_) = reader(memory, handle)
        if address % WORKSPACE_ALIGNMENT or device != ready.device.ordinal:
            raise ArgumentError(
                f"workspace: expected memory of CUDA device {ready.device.ordinal} at a multiple of "
                f"{WORKSPACE_ALIGNMENT}, got {address:#x} on {device}"
            )
        return address

    def _name(self, index):
        return name_of(index, self._entries[0].info.num_arguments)

    # Checking.

    def _check_count(self, count, info):
        if count != info.num_arguments:
            raise ArgumentError(f"function '{self.name}': expected {info.num_arguments} arguments, got {count}")

    def _check_array(self, index, info, signature):
        """Checks that need no plan."""
        operand, where = info.operands[index], self._name(index)
        if signature.shape is None:
            if index >= info.num_arguments:
                raise ArgumentError(f"{where}: expected an array, got a number")
            return
        if len(signature.shape) != len(operand.shape):
            raise ArgumentError(
                f"{where}: expected {len(operand.shape)} dimensions of {describe(operand)}, got shape {signature.shape}"
            )
        names = accepted_names(operand)
        if signature.dtype not in names:
            raise ArgumentError(
                f"{where}: expected elements of {' or '.join(names)} for {describe(operand)}, got {signature.dtype}"
            )
        if not signature.is_contiguous:
            raise ArgumentError(f"{where}: expected an array in row-major order without gaps, got other strides")
        if signature.is_torch and signature.device == HOST:
            raise ArgumentError(f"{where}: expected a tensor on a CUDA device, got one on the CPU")
        if signature.is_read_only and index >= info.num_arguments:
            raise ArgumentError(f"{where}: expected an array that can be written, got a read-only one")

    def _ordinal(self, signatures):
        """The card that all arrays are on."""
        devices = {}
        for i, signature in enumerate(signatures):
            if signature.shape is not None and signature.device != HOST:
                devices.setdefault(signature.device, i)
        if len(devices) > 1:
            (one, i), (other, j) = list(devices.items())[:2]
            raise ArgumentError(
                f"{self._name(j)}: expected an array on CUDA device {one}, as {self._name(i)} is, got one on {other}"
            )
        return next(iter(devices)) if devices else None

    # Plans.

    def _make_plan(self, key, numbers, handle):
        signatures = [make_signature(signature) for signature in key]
        # Check everything that is the same for all chips before looking for a card.
        info = self._entries[0].info
        self._check_count(len(key), info)
        for i, signature in enumerate(signatures):
            self._check_array(i, info, signature)
        ordinal = self._ordinal(signatures)
        there = self._devices.get(current_ordinal() if ordinal is None else ordinal)
        if there is None:
            there = self._load(ordinal, handle)
        plan = there.plan([signature.shape for signature in signatures], dict(zip(self._valued, numbers)))
        is_hosted = any(signature.shape is not None and signature.device == HOST for signature in signatures)
        ready = ReadyPlan(plan, is_hosted)
        # Without an array on a card, the current card may be another one the next time.
        if ordinal is not None:
            if len(self._plans) == MAX_PLANS:
                self._plans.clear()
            self._plans[key, numbers] = ready
        return ready

    def _load(self, ordinal, handle):
        ordinal = current_ordinal() if ordinal is None else ordinal
        device = get_device(ordinal)
        with device.made_current():
            if device.capture_id(handle):
                raise CaptureError(
                    f"function '{self.name}': expected code that was loaded before the graph is captured, got none: "
                    "call prepare() of the function, or the function, in front of it"
                )
        return self.on(ordinal)

    # Results.

    def _make_results(self, ready, values):
        plan = ready.plan
        count = plan.info.num_arguments
        operands, shapes = plan.info.operands[count:], plan.buffer_shapes[count:]
        torch = arrays.loaded_torch()
        tensor = torch and next((value for value in values if isinstance(value, torch.Tensor)), None)
        if tensor is not None:
            return [
                torch.empty(shape, dtype=torch_type(torch, operand), device=tensor.device)
                for operand, shape in zip(operands, shapes)
            ]
        if not ready.is_hosted:
            raise ArgumentError(f"function '{self.name}': expected out=, as no argument is of torch or numpy, got none")
        import numpy

        return [numpy.empty(shape, operand.dtype) for operand, shape in zip(operands, shapes)]

    def _check_results(self, ready, key):
        plan = ready.plan
        info, count = plan.info, plan.info.num_arguments
        if len(key) != info.num_results:
            raise ArgumentError(f"function '{self.name}': expected {info.num_results} results in out, got {len(key)}")
        for i, signature in enumerate(map(make_signature, key)):
            self._check_array(count + i, info, signature)
            plan.check_shape(count + i, signature.shape)
            if signature.device not in (HOST, plan.device.ordinal):
                raise ArgumentError(
                    f"result #{i}: expected an array on CUDA device {plan.device.ordinal}, got one on "
                    f"{signature.device}"
                )
            if signature.device == HOST and not ready.is_hosted:
                raise ArgumentError(f"result #{i}: expected an array on CUDA device {plan.device.ordinal}, as "
                                    "arguments are, got one in the memory of the host")
        ready.results.add(key)

    # Launching.

    def _launch_slowly(self, ready, addresses, result_key, key, handle, workspace):
        device = ready.device
        with device.made_current():
            if not ready.is_hosted:
                ready.plan.launch(addresses, handle, workspace)
                return
            if device.capture_id(handle):
                raise CaptureError(
                    f"function '{self.name}': expected arrays on a card while a graph is captured, got one of numpy, "
                    "which would have to be copied"
                )
            hosts = [signature.shape is not None and signature.device == HOST
                     for signature in map(make_signature, key + result_key)]
            HostedLaunch(ready.plan, addresses, hosts, handle).run()


def torch_type(torch, operand):
    """The torch type of a result: that of its elements if this torch has it, else that of their bits."""
    return next(getattr(torch, name) for name in accepted_names(operand) if hasattr(torch, name))
