"""Quantized tensors."""

import numpy
import torch

from ..formats import decode
from ..scale_blocks import ALL
from . import card, cpu, formats
from .checks import (
    VALUE_DTYPES,
    check_devices,
    check_flag,
    check_quantized,
    check_tensor_scale,
    check_values,
    fail,
    legal_metadata,
)
from .ops import run_quantize


class QuantizedTensor:
    """A quantized tensor of (..., N, K), with blocks along K: elements, scales and the format.

    codes         uint8 of (..., N, K), or (..., N, K / 2) with two fp4 elements per byte, the even one in the low bits
    scales        uint8 of (..., N, K / block), row-major: e8m0, or ue4m3 for nvfp4. For fp8_block f32 of
                  (..., ceil(N / 128), ceil(K / 128)), for fp8_row f32 of (..., N, 1): factors of elements
    format        "mxfp8", "mxfp4", "nvfp4", "fp8_block" or "fp8_row"
    tensor_scale  g of nvfp4, f32 without dimensions (None is 1): a value is element * scale * g. Three dimensions may
                  have one for each index of the first, such as an expert
    metadata      of a 2:4 sparse tensor, else None: uint8 of (..., N, K / 8), or (..., N, K / 16) for fp4, which is
                  sparse in pairs of elements. Then codes has the kept half of each row, and blocks are twice as long.
                  Fields 0000 of chunks of zeros become 0100
    shape         the shape of the dequantized tensor

    Raises TypeError or ValueError for tensors that do not belong together, and for metadata with fields that are not
    legal.
    """

    def __init__(self, codes, scales, format, tensor_scale=None, metadata=None):
        description = formats.get(format, metadata is not None)
        k = check_quantized("the tensor", codes, scales, description, metadata=metadata)
        experts = codes.shape[0] if codes.dim() == 3 else None
        check_tensor_scale("tensor_scale", tensor_scale, description, experts)
        check_devices(codes=codes, scales=scales, metadata=metadata, tensor_scale=tensor_scale)
        if metadata is not None:
            metadata = legal_metadata(codes, metadata, description)
        # Contiguous, as kernels need them, so that no call has to copy.
        self.codes, self.scales, self.metadata = (
            each if each is None else card.ready(each) if each.is_cuda else each.contiguous()
            for each in (codes, scales, metadata)
        )
        self.format, self.tensor_scale = format, tensor_scale
        self.shape = torch.Size((*codes.shape[:-1], k))

    @classmethod
    def from_float(cls, weight, format, tensor_scale=None, sparse=False):
        """Quantises bf16, f16 or f32 of (..., N, K) on its device: with a kernel on a card, with numpy on the CPU.

        `tensor_scale` is g of nvfp4; the default is the largest magnitude / (448 * 6).

        With `sparse`, two of four elements (mxfp8), or two of four pairs (fp4), become 0 first, those that are
        smallest, as by `sparsify`. Of a weight that is sparse already, nothing is lost. This is done with numpy, also
        for a weight on a card.
        """
        check_flag("sparse", sparse)
        description = formats.get(format, sparse)
        check_values("weight", weight, VALUE_DTYPES, description.block)
        weight = weight.detach()
        if sparse:
            weight = cpu.sparsify(weight, description.granularity)
        if description.is_scaled and tensor_scale is None:
            backend = card if weight.is_cuda else cpu
            tensor_scale = backend.tensor_scale_of(weight.reshape(-1, weight.shape[-1]))
        if sparse:
            check_tensor_scale("tensor_scale", tensor_scale, description)
            check_devices(weight=weight, tensor_scale=tensor_scale)
            codes, metadata, scales = cpu.compress(weight, tensor_scale, description)
            return cls(codes, scales, format, tensor_scale, metadata)
        if description.is_coarse:
            if weight.dim() < 2:
                fail(ValueError, "weight", "at least 2 dimensions", f"shape {tuple(weight.shape)}")
            check_tensor_scale("tensor_scale", tensor_scale, description)
            return cls(*(card if weight.is_cuda else cpu).quantize_weight(weight, description), format)
        codes, scales = run_quantize(weight, format, tensor_scale)
        return cls(codes, scales, format, tensor_scale)

    @classmethod
    def stack(cls, tensors):
        """Matrices, such as experts, as one tensor with one dimension more. Each keeps its own tensor scale.

        Raises TypeError or ValueError.
        """
        tensors = list(tensors)
        if not tensors or any(not isinstance(each, cls) or each.is_sparse for each in tensors):
            fail(TypeError, "tensors", "at least one QuantizedTensor, none of them sparse",
                 ", ".join(type(each).__name__ for each in tensors) or "none")
        formats_of, shapes = {each.format for each in tensors}, {tuple(each.shape) for each in tensors}
        if len(formats_of) > 1 or len(shapes) > 1:
            fail(ValueError, "tensors", "one format and one shape",
                 f"{', '.join(sorted(formats_of))} of {', '.join(map(str, sorted(shapes)))}")
        if len(tensors[0].shape) != 2:
            fail(ValueError, "tensors", "2 dimensions", f"shape {tuple(tensors[0].shape)}")
        check_devices(**{f"tensors[{i}]": each.codes for i, each in enumerate(tensors)})
        codes, scales = (torch.stack([getattr(each, name) for each in tensors], 0) for name in ("codes", "scales"))
        g = None
        if any(each.tensor_scale is not None for each in tensors):
            one = torch.ones((), dtype=torch.float32, device=codes.device)
            g = torch.stack([one if each.tensor_scale is None else each.tensor_scale for each in tensors], 0)
        return cls(codes, scales, tensors[0].format, g)

    @property
    def is_sparse(self):
        return self.metadata is not None

    def to_dense(self):
        """The same values, not sparse: half of them, or more, are 0. Each scale is there for both halves of its
        block. A sparse tensor on a card needs sparse.bundle for it.
        """
        if not self.is_sparse:
            return self
        backend = card if self.codes.is_cuda else cpu
        parts = (each.reshape(-1, each.shape[-1]) for each in (self.codes, self.metadata, self.scales))
        codes, scales = backend.decompress(*parts, formats.get(self.format, True))
        lead = self.shape[:-1]
        codes, scales = (each.reshape(*lead, each.shape[-1]) for each in (codes, scales))
        return QuantizedTensor(codes, scales, self.format, self.tensor_scale)

    def dequantize(self, dtype=torch.bfloat16):
        """The dequantized tensor, (..., N, K): fl(fl(element * scale) * g) in f32, rounded to `dtype`."""
        if self.is_sparse:
            return self.to_dense().dequantize(dtype)
        return dequantize(self.codes, self.scales, self.tensor_scale, formats.get(self.format), dtype)

    @property
    def device(self):
        return self.codes.device

    def to(self, device):
        """The same on another device."""
        return self._map(lambda each: each.to(device))

    def _map(self, function):
        """The same with a function of each tensor."""
        state = self.state_dict()
        return QuantizedTensor(**{
            name: value if name == "format" or value is None else function(value) for name, value in state.items()
        })

    def __getitem__(self, index):
        """One tensor of a batch, such as an expert: an integer index into the first dimension."""
        if self.codes.dim() < 3 or not isinstance(index, int):
            raise IndexError(
                f"expected an integer into the first of at least 3 dimensions, got {index!r} into {tuple(self.shape)}"
            )
        return self._map(lambda each: each if each is self.tensor_scale and not each.dim() else each[index])

    def state_dict(self):
        """Tensors and the name of the format, by name: `QuantizedTensor(**state)` makes the same."""
        state = {"codes": self.codes, "scales": self.scales, "format": self.format, "tensor_scale": self.tensor_scale}
        return {**state, "metadata": self.metadata} if self.is_sparse else state

    def __repr__(self):
        parts = f"shape={tuple(self.shape)}, format={self.format!r}, device={str(self.device)!r}"
        return f"QuantizedTensor({parts}{', sparse=True' * self.is_sparse})"


def dequantize(codes, scales, tensor_scale, format, dtype):
    """The values of (..., N, K): fl(fl(element * scale) * g) in f32, rounded to `dtype`, for a TensorFormat."""
    if format.per_byte == 2:
        codes = torch.stack([codes & 15, codes >> 4], -1).flatten(-2)
    values = table(format.element, codes.device)[codes.int()]
    if format.is_coarse:
        factors = repeat_rows(scales, codes.shape[-2], format.weight_block[0])
        return (values * _repeat(factors, -1, codes.shape[-1], format.weight_block[1])).to(dtype)
    scale = "ue4m3" if format.scale == "f8E4M3FN" else format.scale
    values = values.unflatten(-1, (-1, format.block))
    values = (values * table(scale, codes.device)[scales.int()][..., None]).flatten(-2)
    if tensor_scale is not None:
        values = values * (tensor_scale.reshape(-1, 1, 1) if tensor_scale.dim() else tensor_scale)
    return values.to(dtype)


def repeat_rows(scales, rows, block):
    """Scales of blocks of `block` rows, one for each of so many rows."""
    return _repeat(scales, -2, rows, block)


def _repeat(scales, dim, size, block):
    """The scale of each index along a dimension; one of which all share one stays 1."""
    if block in (ALL, 1):
        return scales
    return scales.index_select(dim, torch.from_numpy(numpy.arange(size) // block).to(scales.device))


def sparsify(weight, format):
    """bf16, f16 or f32 of (..., K) with all but the largest two of each four elements 0, or of each four pairs of
    elements for a `format` of fp4: what QuantizedTensor.from_float(weight, format, sparse=True) keeps.

    What stays is not changed, of equals the first ones stay, and NaN and infinity are largest. K is a multiple of the
    format's sparse block. This is done with numpy, on a card, too. Raises TypeError or ValueError.
    """
    description = formats.get(format, True)
    check_values("weight", weight, VALUE_DTYPES, description.block)
    return cpu.sparsify(weight.detach(), description.granularity)


def table(name, device):
    """All values of a format, by code, as f32."""
    count = 16 if name == "f4E2M1FN" else 256
    return torch.from_numpy(decode(numpy.arange(count, dtype=numpy.uint8), name).astype(numpy.float32)).to(device)
