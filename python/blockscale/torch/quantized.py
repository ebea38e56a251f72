"""Quantized tensors."""

import torch

from ..formats import decode
from . import card, cpu, formats
from .checks import VALUE_DTYPES, check_quantized, check_devices, check_values, check_tensor_scale
from .ops import run_quantize


class QuantizedTensor:
    """A quantized tensor of (..., N, K), with blocks along K: elements, scales and the format.

    codes         uint8 of (..., N, K), or (..., N, K / 2) with two fp4 elements per byte, the even one in the low bits
    scales        uint8 of (..., N, K / block), row-major: e8m0, or ue4m3 for nvfp4
    format        "mxfp8", "mxfp4" or "nvfp4"
    tensor_scale  g of nvfp4, f32 without dimensions (None is 1): a value is element * scale * g
    shape         the shape of the dequantized tensor

    Raises TypeError or ValueError for tensors that do not belong together.
    """

    def __init__(self, codes, scales, format, tensor_scale=None):
        description = formats.get(format)
        k = check_quantized("the tensor", codes, scales, description)
        check_tensor_scale("tensor_scale", tensor_scale, description)
        check_devices(codes=codes, scales=scales, tensor_scale=tensor_scale)
        # Contiguous, as kernels need them, so that no call has to copy.
        self.codes, self.scales = (card.ready(each) if each.is_cuda else each.contiguous() for each in (codes, scales))
        self.format, self.tensor_scale = format, tensor_scale
        self.shape = torch.Size((*codes.shape[:-1], k))

    @classmethod
    def from_float(cls, weight, format, tensor_scale=None):
        """Quantises bf16, f16 or f32 of (..., N, K) on its device: with a kernel on a card, with numpy on the CPU.

        `tensor_scale` is g of nvfp4; the default is the largest magnitude / (448 * 6).
        """
        description = formats.get(format)
        check_values("weight", weight, VALUE_DTYPES, description.block)
        weight = weight.detach()
        if description.is_scaled and tensor_scale is None:
            backend = card if weight.is_cuda else cpu
            tensor_scale = backend.tensor_scale_of(weight.reshape(-1, weight.shape[-1]))
        codes, scales = run_quantize(weight, format, tensor_scale)
        return cls(codes, scales, format, tensor_scale)

    def dequantize(self, dtype=torch.bfloat16):
        """The dequantized tensor, (..., N, K): fl(fl(element * scale) * g) in f32, rounded to `dtype`."""
        description = formats.get(self.format)
        codes = self.codes
        if description.per_byte == 2:
            codes = torch.stack([codes & 15, codes >> 4], -1).flatten(-2)
        scale = "ue4m3" if description.scale == "f8E4M3FN" else description.scale
        values = _table(description.element, self.device)[codes.int()].unflatten(-1, (-1, description.block))
        values = (values * _table(scale, self.device)[self.scales.int()][..., None]).flatten(-2)
        if self.tensor_scale is not None:
            values = values * self.tensor_scale
        return values.to(dtype)

    @property
    def device(self):
        return self.codes.device

    def to(self, device):
        """The same on another device."""
        scale = self.tensor_scale
        return QuantizedTensor(
            self.codes.to(device), self.scales.to(device), self.format, None if scale is None else scale.to(device)
        )

    def __getitem__(self, index):
        """One tensor of a batch, such as an expert: an integer index into the first dimension."""
        if self.codes.dim() < 3 or not isinstance(index, int):
            raise IndexError(
                f"expected an integer into the first of at least 3 dimensions, got {index!r} into {tuple(self.shape)}"
            )
        return QuantizedTensor(self.codes[index], self.scales[index], self.format, self.tensor_scale)

    def state_dict(self):
        """Tensors and the name of the format, by name: `QuantizedTensor(**state)` makes the same."""
        return {"codes": self.codes, "scales": self.scales, "format": self.format, "tensor_scale": self.tensor_scale}

    def __repr__(self):
        return f"QuantizedTensor(shape={tuple(self.shape)}, format={self.format!r}, device={str(self.device)!r})"


def _table(name, device):
    """All values of a format, by code, as f32."""
    import numpy

    count = 16 if name == "f4E2M1FN" else 256
    return torch.from_numpy(decode(numpy.arange(count, dtype=numpy.uint8), name).astype(numpy.float32)).to(device)
