"""As much of torch as a launch asks for, without torch."""

import types


class dtype:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"


class Size(tuple):
    pass


def row_major(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int64": 8}


def make_torch(fake, stream=11):
    """A module whose tensors are in the memory of the fake driver."""
    torch = types.ModuleType("torch")

    class Tensor:
        def __init__(self, shape, dtype, device=0, strides=None):
            self.shape, self.dtype, self._device = Size(shape), dtype, device
            self._strides = strides or row_major(shape)
            self.size_in_bytes = BYTES.get(dtype.name, 1)
            for extent in shape:
                self.size_in_bytes *= extent
            self._address = fake.allocate(max(self.size_in_bytes, 1))

        def data_ptr(self):
            return self._address

        def get_device(self):
            return self._device

        def is_contiguous(self):
            return self._strides == row_major(self.shape)

        @property
        def device(self):
            return ("cuda", self._device)

        # torch has this, too.
        def __dlpack__(self, *, stream=None):
            raise AssertionError("not asked for of a tensor")

        @property
        def __cuda_array_interface__(self):
            raise AssertionError("not asked for of a tensor")

    class Parameter(Tensor):
        pass

    torch.Tensor, torch.Parameter = Tensor, Parameter
    for name in ("float32", "float16", "bfloat16", "uint8", "int64", "float8_e4m3fn", "float8_e5m2",
                 "float8_e8m0fnu", "float4_e2m1fn_x2"):
        setattr(torch, name, dtype(name))
    torch.empty = lambda shape, dtype, device: Tensor(shape, dtype, device[1])
    torch.streams = {0: stream}
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda ordinal: torch.streams[ordinal])
    torch.cuda = types.SimpleNamespace(
        current_stream=lambda ordinal: types.SimpleNamespace(cuda_stream=torch.streams[ordinal] + 1)
    )
    return torch
