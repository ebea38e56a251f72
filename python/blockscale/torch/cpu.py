"""The ops on CPU tensors, by this package's reference in numpy: exact rules, f64 sums, slow."""

import numpy
import torch

from ..formats import decode
from ..packing import pack, unpack
from ..quantization import quantize as quantize_array

LARGEST = 448.0 * 6.0
LEAST = 2.0**-126


def to_numpy(tensor):
    return tensor.detach().cpu().numpy()


def values_of(codes, scales, format):
    """element * scale, exact in f64, an array of (..., K)."""
    codes = to_numpy(codes)
    if format.per_byte == 2:
        codes = unpack(codes, format.element)
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


def quantize(x, tensor_scale, format):
    scaled = {"tensor_scale": 1.0 if tensor_scale is None else float(tensor_scale)} if format.is_scaled else {}
    # f32 holds all values of f16 and bf16.
    codes, scales = quantize_array(to_numpy(x.float()), format.element, format.scale, format.block, **scaled)
    if format.per_byte == 2:
        codes = pack(codes, format.element)
    return torch.from_numpy(codes).to(x.device), torch.from_numpy(scales).to(x.device)


def tensor_scale_of(x):
    amax = x.detach().abs().max().float() if x.numel() else torch.zeros(())
    g = torch.clamp(amax / LARGEST, min=LEAST)
    return torch.where(torch.isfinite(g), g, torch.ones_like(g))
