"""As much of torch as blockscale.torch asks for, without torch: tensors of numpy, on a CPU and on the card of the fake
driver (memory of this process). It shows names, checks and numbers; what torch itself does of it, tests on a card.
"""

import ctypes
import itertools
import types

import numpy as np
from blockscale import encode


class Dtype:
    def __init__(self, name, storage, is_floating_point):
        self.name, self.storage, self.is_floating_point = name, np.dtype(storage), is_floating_point

    def __repr__(self):
        return f"torch.{self.name}"


DTYPES = {
    name: Dtype(name, storage, floating) for name, storage, floating in (
        ("uint8", "u1", False), ("int32", "i4", False), ("int64", "i8", False), ("bool", "b1", False),
        ("bfloat16", "u2", True), ("float16", "f2", True), ("float32", "f4", True), ("float64", "f8", True),
        ("float8_e4m3fn", "u1", True), ("float8_e8m0fnu", "u1", True), ("float4_e2m1fn_x2", "u1", True),
    )
}
BF16 = DTYPES["bfloat16"]
BY_STORAGE = {each.storage: each for each in DTYPES.values() if each.name[:6] not in ("bfloat", "float8", "float4")}


def round_bf16(values):
    values = np.asarray(values, np.float32)
    bits = values.reshape(-1).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16).reshape(values.shape)


def make_torch(fake):
    """The module. `fake` is the fake driver, or None where everything is on the CPU."""
    torch = types.ModuleType("torch")
    torch.__dict__.update(DTYPES)
    addresses = itertools.count(1 << 20, 1 << 20)

    def array_on(shape, storage, device):
        if device == "cpu":
            return np.zeros(shape, storage), None
        size = int(np.prod(shape)) * storage.itemsize
        address = fake.allocate(max(size, 1)) if fake else next(addresses)
        memory = (ctypes.c_char * max(size, 1)).from_address(address) if fake else bytearray(max(size, 1))
        return np.frombuffer(memory, storage, int(np.prod(shape))).reshape(shape), address

    class Size(tuple):
        pass

    class Tensor:
        requires_grad = False
        is_meta = False

        def __init__(self, array, dtype, device="cpu", address=None):
            self.array, self.dtype, self.device = array, dtype, device
            # That of an array that another one is a view of differs by as much as their data.
            self._base = None if address is None else address - array.ctypes.data

        # What it is.

        shape = property(lambda self: Size(self.array.shape))
        is_cuda = property(lambda self: self.device != "cpu")
        dim = lambda self: self.array.ndim  # noqa: E731
        numel = lambda self: self.array.size  # noqa: E731
        get_device = lambda self: 0 if self.is_cuda else -1  # noqa: E731
        is_contiguous = lambda self: self.array.flags.c_contiguous  # noqa: E731
        data_ptr = lambda self: self.array.ctypes.data + (self._base or 0)  # noqa: E731
        detach = lambda self: self  # noqa: E731
        train = lambda self, mode: self  # noqa: E731

        def __len__(self):
            return len(self.array)

        # Where and what it becomes.

        def _view(self, array, dtype=None):
            made = Tensor(array, dtype or self.dtype, self.device)
            made._base = self._base
            return made

        def _new(self, array, dtype=None):
            dtype = dtype or self.dtype
            memory, address = array_on(array.shape, dtype.storage, self.device)
            memory[...] = array
            return Tensor(memory, dtype, self.device, address)

        def values(self):
            if self.dtype is BF16:
                return (self.array.astype(np.uint32) << 16).view(np.float32)
            return self.array

        def to(self, where):
            if isinstance(where, Dtype):
                if where is self.dtype:
                    return self
                if where is BF16:
                    return self._new(round_bf16(self.values()), BF16)
                if where.name == "float8_e4m3fn":
                    # What is too large becomes NaN.
                    return self._new(encode(self.values(), "f8E4M3FN", saturate=False), where)
                return self._new(self.values().astype(where.storage), where)
            if where == self.device:
                return self
            made = Tensor(*((lambda m, a: (m, self.dtype, where, a))(*array_on(self.shape, self.dtype.storage, where))))
            made.array[...] = self.array
            return made

        cpu = lambda self: self.to("cpu")  # noqa: E731
        float = lambda self: self.to(DTYPES["float32"])  # noqa: E731
        double = lambda self: self.to(DTYPES["float64"])  # noqa: E731
        long = lambda self: self.to(DTYPES["int64"])  # noqa: E731
        int = lambda self: self.to(DTYPES["int32"])  # noqa: E731
        __float__ = lambda self: float(self.values())  # noqa: E731

        def numpy(self):
            assert not self.is_cuda and self.dtype is not BF16
            return self.array

        def contiguous(self):
            return self if self.is_contiguous() else self.clone()

        def copy_(self, other):
            self.array[...] = other.array

        def clone(self):
            return self._new(self.array)

        def new_empty(self, shape, dtype=None):
            return torch.empty(shape, dtype=dtype or self.dtype, device=self.device)

        # Shapes.

        def reshape(self, *shape):
            shape = shape[0] if isinstance(shape[0], tuple) else shape
            array = self.array.reshape(shape)
            # A copy of numpy's is not on the card.
            return (self._view if np.may_share_memory(array, self.array) else self._new)(array)

        def transpose(self, one, other):
            return self._view(self.array.swapaxes(one, other))

        def expand(self, *sizes):
            # numpy's own is read-only.
            return self if self.shape == sizes else self._view(np.broadcast_to(self.array, sizes))

        def index_select(self, at, index):
            assert index.dim() == 1 and index.device == self.device
            return self._new(np.take(self.array, index.array, at))

        def gather(self, at, index):
            assert index.dtype is DTYPES["int64"] and index.device == self.device
            return self._new(np.take_along_axis(self.array, index.array, at))

        def view(self, dtype):
            return self._view(self.array, dtype)

        def flatten(self, first):
            assert first == -2
            return self.reshape(*self.shape[:-2], self.shape[-2] * self.shape[-1])

        def unflatten(self, at, sizes):
            assert at == -1
            return self.reshape(*self.shape[:-1], *sizes)

        def __getitem__(self, key):
            return self._view(np.asarray(self.array[key.array if isinstance(key, Tensor) else key]))

        # Numbers.

        def _compute(self, function, *others):
            arrays = [each.values() if isinstance(each, Tensor) else each for each in others]
            result = np.asarray(function(self.values(), *arrays))
            # A number takes the tensor's type.
            dtype = self.dtype if result.dtype == np.float64 and self.dtype.name != "float64" else None
            return self._new(result, dtype or BY_STORAGE[result.dtype])

        __mul__ = lambda self, other: self._compute(np.multiply, other)  # noqa: E731
        __add__ = lambda self, other: self._compute(np.add, other)  # noqa: E731
        __and__ = lambda self, other: self._compute(np.bitwise_and, other)  # noqa: E731
        __rshift__ = lambda self, other: self._compute(np.right_shift, other)  # noqa: E731
        __truediv__ = lambda self, other: self._compute(  # noqa: E731
            np.divide, other if isinstance(other, Tensor) else np.float32(other))
        abs = lambda self: self._compute(np.abs)  # noqa: E731
        max = lambda self: self._compute(np.max)  # noqa: E731

        def clamp(self, least, most):
            assert self.dtype is not BF16
            return self._new(self.array.clip(least, most))

    def filled(value):
        def make(shape, dtype=DTYPES["float32"], device="cpu"):
            shape = (shape,) if isinstance(shape, int) else tuple(shape)
            array, address = array_on(shape, dtype.storage, device)
            array[...] = round_bf16(np.float32(value)) if dtype is BF16 else value
            return Tensor(array, dtype, device, address)

        return make

    torch.Tensor, torch.Size = Tensor, Size
    torch.empty, torch.zeros, torch.ones = filled(99), filled(0), filled(1)

    def as_tensor(memory, device):
        interface = memory.__cuda_array_interface__
        (address, _), storage = interface["data"], np.dtype(interface["typestr"])
        count = int(np.prod(interface["shape"]))
        array = np.frombuffer((ctypes.c_char * (count * storage.itemsize)).from_address(address), storage, count)
        return Tensor(array.reshape(interface["shape"]), BY_STORAGE.get(storage), device, address)

    torch.as_tensor = as_tensor

    def arange(count, device="cpu"):
        made = torch.empty((count,), DTYPES["int64"], device)
        made.array[...] = np.arange(count)
        return made

    torch.arange = arange
    torch.argsort = lambda tensor: tensor._new(np.argsort(tensor.array), DTYPES["int64"])
    torch.from_numpy = lambda array: Tensor(array, BY_STORAGE[array.dtype])
    torch.stack = lambda tensors, at: tensors[0]._new(np.stack([each.array for each in tensors], at))
    torch.clamp = lambda tensor, min: tensor._compute(lambda a: np.maximum(a, np.float32(min)))
    torch.isfinite = lambda tensor: tensor._compute(np.isfinite)
    torch.ones_like = lambda tensor: tensor._new(np.ones_like(tensor.array))
    torch.where = lambda which, a, b: a._new(np.where(which.array, a.array, b.array))
    torch.is_grad_enabled = lambda: False
    torch.compiler = types.SimpleNamespace(is_compiling=lambda: False)
    torch.cuda = types.SimpleNamespace(
        is_current_stream_capturing=lambda: False, get_device_capability=lambda device: (9, 0)
    )
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda ordinal: 11)
    add_ops(torch)
    torch.nn = make_nn(torch)
    return torch


def add_ops(torch):
    """Custom ops, which are functions here, counted by `torch.ops.called`, with the arguments of the last call."""
    torch.ops = types.SimpleNamespace(blockscale=types.SimpleNamespace(), called=[])

    def custom_op(name, mutates_args):
        assert mutates_args == ()
        _, name = name.split("::")

        def decorate(function):
            def call(*arguments):
                torch.ops.called.append(name)
                torch.ops.arguments = arguments
                return function(*arguments)

            setattr(torch.ops.blockscale, name, call)
            call.register_fake = lambda fake: setattr(call, "fake", fake)
            call.register_autograd = lambda backward: setattr(call, "backward", backward)
            return call

        return decorate

    torch.library = types.SimpleNamespace(custom_op=custom_op)


def make_nn(torch):
    nn = types.ModuleType("torch.nn")

    class Parameter(torch.Tensor):
        pass

    class Module:
        def __init__(self):
            self.__dict__.update(_buffers={}, _modules={}, _hidden=set(), training=True)

        def register_buffer(self, name, tensor, persistent=True):
            self._buffers[name] = tensor
            if not persistent:
                self._hidden.add(name)

        def __getattr__(self, name):
            for kind in ("_buffers", "_modules"):
                if name in self.__dict__.get(kind, {}):
                    return self.__dict__[kind][name]
            raise AttributeError(name)

        def __setattr__(self, name, value):
            if isinstance(value, Module):
                self._modules[name] = value
            elif name in self._buffers:
                self._buffers[name] = value
            else:
                self.__dict__[name] = value

        def named_modules(self, remove_duplicate, prefix=""):
            assert not remove_duplicate
            yield prefix, self
            for name, module in self._modules.items():
                yield from module.named_modules(remove_duplicate, f"{prefix}.{name}" if prefix else name)

        def get_submodule(self, path):
            module = self
            for name in filter(None, path.split(".")):
                module = module._modules[name]
            return module

        def _apply(self, fn, recurse=True):
            for module in self._modules.values():
                module._apply(fn)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
            return self

        def to(self, where):
            is_type = isinstance(where, Dtype)
            return self._apply(lambda each: each.to(where) if not is_type or each.dtype.is_floating_point else each)

        def train(self, mode):
            self.training = mode
            return self

        def state_dict(self):
            return {name: tensor for name, tensor in self._buffers.items()
                    if tensor is not None and name not in self._hidden}

        def _load_from_state_dict(self, state_dict, prefix, local, strict, missing, unexpected, errors):
            for name in self.state_dict():
                if prefix + name not in state_dict:
                    continue
                if local["assign"]:
                    self._buffers[name] = state_dict[prefix + name]
                elif not self._buffers[name].is_meta:
                    self._buffers[name].copy_(state_dict[prefix + name])

        def load_state_dict(self, state_dict, strict=True, assign=False):
            errors = []
            self._load_from_state_dict(state_dict, "", {"assign": assign}, strict, [], [], errors)
            if errors:
                raise RuntimeError("; ".join(errors))

        def __call__(self, *arguments, **named):
            return self.forward(*arguments, **named)

    class Linear(Module):
        def __init__(self, in_features, out_features, weight=None, bias=None):
            super().__init__()
            self.in_features, self.out_features, self.weight, self.bias = in_features, out_features, weight, bias

    class SiLU(Module):
        pass

    nn.Module, nn.Linear, nn.Parameter, nn.SiLU = Module, Linear, Parameter, SiLU
    nn.functional = types.SimpleNamespace(silu=lambda x: x)
    return nn
