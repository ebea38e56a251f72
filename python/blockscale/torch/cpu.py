"""The ops on CPU tensors, by this package's reference in numpy: exact rules, f64 sums, slow."""

import numpy
import torch

from ..formats import decode
from ..packing import pack, unpack
from ..quantization import quantize as quantize_array
from ..sparsity import compress as compress_array
from ..sparsity import decompress as decompress_array
from ..sparsity import sparsify as sparsify_array
from . import formats

LARGEST = 448.0 * 6.0
LEAST = 2.0**-126


def to_numpy(tensor):
    return tensor.detach().cpu().numpy()


def elements_of(codes, format):
    """An array with one element in a byte."""
    codes = to_numpy(codes)
    return unpack(codes, format.element) if format.per_byte == 2 else codes


def codes_of(elements, format):
    """The reverse, a tensor."""
    return torch.from_numpy(pack(elements, format.element) if format.per_byte == 2 else elements)


def values_of(codes, scales, format):
    """element * scale, exact in f64, an array of (..., K)."""
    codes = elements_of(codes, format)
    scale = "ue4m3" if format.scale == "f8E4M3FN" else format.scale
    factors = decode(to_numpy(scales), scale).astype(numpy.float64)
    return decode(codes, format.element).astype(numpy.float64) * numpy.repeat(factors, format.block, axis=-1)


def finish(sums, bias, device, *tensor_scales):
    """The epilogue: f64 sums times each g, plus bias, as bf16."""
    sums = torch.from_numpy(sums)
    for g in tensor_scales:
        if g is not None:
            sums = sums * g.double().cpu()
    if bias is not None:
        sums = sums + bias.double().cpu()
    return sums.float().to(torch.bfloat16).to(device)


def linear(x, codes, scales, tensor_scale, bias, format):
    product = to_numpy(x.double()) @ values_of(codes, scales, format).T
    return finish(product, bias, x.device, tensor_scale)


def mma_scaled(x, x_scales, y, y_scales, x_tensor_scale, y_tensor_scale, bias, format):
    product = values_of(x, x_scales, format) @ values_of(y, y_scales, format).T
    return finish(product, bias, x.device, x_tensor_scale, y_tensor_scale)


def quantize_elements(x, tensor_scale, format):
    """(elements, one in a byte, scales), arrays."""
    scaled = {"tensor_scale": 1.0 if tensor_scale is None else float(tensor_scale)} if format.is_scaled else {}
    # f32 holds all values of f16 and bf16.
    return quantize_array(to_numpy(x.float()), format.element, format.scale, format.block, **scaled)


def quantize(x, tensor_scale, format):
    elements, scales = quantize_elements(x, tensor_scale, format)
    return codes_of(elements, format).to(x.device), torch.from_numpy(scales).to(x.device)


def tensor_scale_of(x):
    amax = x.detach().abs().max().float() if x.numel() else torch.zeros(())
    g = torch.clamp(amax / LARGEST, min=LEAST)
    return torch.where(torch.isfinite(g), g, torch.ones_like(g))


# Sparse weights.


def sparsify(x, granularity):
    # f32 holds all values of f16 and bf16, and what stays is what it was.
    return torch.from_numpy(sparsify_array(to_numpy(x.float()), granularity)).to(x.dtype).to(x.device)


def compress(x, tensor_scale, format):
    """(codes, metadata, scales) of values of which at most two of four units are not zero, quantized."""
    elements, scales = quantize_elements(x, tensor_scale, format)
    kept, metadata = compress_array(elements, format.element, format.granularity)
    return tuple(each.to(x.device) for each in (
        codes_of(kept, format), torch.from_numpy(metadata), torch.from_numpy(scales)
    ))


def decompress(codes, metadata, scales, format):
    """(codes, scales) of the dense format: each scale is there twice, for half of the block each."""
    dense = decompress_array(elements_of(codes, format), to_numpy(metadata), format.element, format.granularity)
    scales = numpy.repeat(to_numpy(scales), 2, axis=-1)
    return codes_of(dense, format).to(codes.device), torch.from_numpy(scales).to(codes.device)


def legal_metadata(codes, metadata, format):
    """The metadata itself: `sparse_mma_scaled` checks its fields."""
    return metadata


def sparse_mma_scaled(codes, metadata, scales, x, x_tensor_scale, tensor_scale, bias, format):
    """The product of x, quantized to the format, and a weight. Quantized x is finite but for scales, which reach all
    of a block, and something of each block is kept: so this is the dense product.
    """
    dense, repeated = decompress(codes, metadata, scales, format)
    weight = values_of(dense, repeated, formats.FORMATS[format.name])
    x_codes, x_scales = quantize(x, x_tensor_scale, format)
    return finish(values_of(x_codes, x_scales, format) @ weight.T, bias, x.device, x_tensor_scale, tensor_scale)
