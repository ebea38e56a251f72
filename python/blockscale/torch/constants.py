"""Operands of one value on a card, for a bias or a tensor scale that a call leaves out.

They are made once: a fill in front of each call would be one more kernel, and the next one could not start early. Their
memory is the driver's and lives as long as the process. torch's could be that of a graph, where others use it between
replays.
"""

import numpy
import torch

from ..runtime.arrays import torch_stream
from ..runtime.device import get_device

_made = {}


class _Memory:
    """A copy of an array of numpy on a card, for torch.as_tensor."""

    def __init__(self, array, ordinal):
        device = get_device(ordinal)
        with device.made_current():
            address, stream = device.allocate(array.nbytes), torch_stream(torch, ordinal)
            device.copy_in(address, array.ctypes.data, array.nbytes, stream)
            device.synchronize(stream)
        self.__cuda_array_interface__ = {
            "version": 3, "shape": array.shape, "typestr": array.dtype.str, "data": (address, False),
        }


def _constant(bits, shape, dtype, make, like):
    ordinal = like.get_device()
    key = bits[0], shape, dtype, ordinal
    if key not in _made:
        # A capture allows no allocation by the driver, but one by torch.
        if torch.cuda.is_current_stream_capturing():
            return make(shape, dtype=dtype, device=like.device)
        _made[key] = torch.as_tensor(_Memory(numpy.full(shape or 1, *bits), ordinal), device=like.device)
        _made[key] = _made[key].view(dtype).reshape(shape)
    return _made[key]


def zero_bias(n, like):
    """N zeros of bf16 on the card of a tensor."""
    return _constant((0, numpy.int16), (n,), torch.bfloat16, torch.zeros, like)


def zeros(shape, like):
    """Zeros of f32 on the card of a tensor."""
    return _constant((0, numpy.int32), shape, torch.float32, torch.zeros, like)


def one(like):
    """1.0 of f32, without dimensions, on the card of a tensor."""
    return _constant((0x3F800000, numpy.int32), (), torch.float32, torch.ones, like)


def ones(count, like):
    """As many of them."""
    return _constant((0x3F800000, numpy.int32), (count,), torch.float32, torch.ones, like)
