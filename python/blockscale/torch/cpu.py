"""The ops on CPU tensors, by this package's reference in numpy: exact rules, f64 sums, slow."""

import numpy
import torch

from ..formats import decode, encode
from ..grouped import combine_rows as combine_array
from ..packing import pack, unpack
from ..quantization import quantize as quantize_array
from ..routing import route as route_array
from ..scale_blocks import ALL
from ..sparsity import compress as compress_array
from ..sparsity import decompress as decompress_array
from ..sparsity import sparsify as sparsify_array
from . import formats
from .moe_kernels import PAIR_COLUMNS

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


def values_of(codes, scales, format, is_x=False):
    """element * scale, exact in f64, an array of (..., K)."""
    codes = elements_of(codes, format)
    if format.is_coarse:
        return decode(codes, format.element).astype(numpy.float64) * _coarse_factors(
            to_numpy(scales).astype(numpy.float64), codes.shape, format.x_block if is_x else format.weight_block)
    scale = "ue4m3" if format.scale == "f8E4M3FN" else format.scale
    factors = decode(to_numpy(scales), scale).astype(numpy.float64)
    return decode(codes, format.element).astype(numpy.float64) * numpy.repeat(factors, format.block, axis=-1)


def _coarse_factors(scales, shape, block):
    """The scale of each element; dimensions of which all share one stay 1."""
    for axis, size in zip((-2, -1), block):
        if size != ALL:
            scales = numpy.take(scales, numpy.arange(shape[axis]) // size, axis)
    return scales


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


def mma_scaled(
    x, x_scales, y, y_scales, x_tensor_scale, y_tensor_scale, bias, format, accumulate=None, rebase=False, x_format=None
):
    # Sums are exact, which any licence permits.
    product = values_of(x, x_scales, x_format or format, is_x=True) @ values_of(y, y_scales, format).T
    return finish(product, bias, x.device, x_tensor_scale, y_tensor_scale)


def quantize_elements(x, tensor_scale, format):
    """(elements, one in a byte, scales), arrays."""
    if format.is_coarse:
        return _quantize_coarse(x, format, is_x=True)
    if not x.numel():
        return tuple(numpy.zeros((*x.shape[:-1], x.shape[-1] // per), numpy.uint8) for per in (1, format.block))
    scaled = {"tensor_scale": 1.0 if tensor_scale is None else float(tensor_scale)} if format.is_scaled else {}
    # f32 holds all values of f16 and bf16.
    return quantize_array(to_numpy(x.float()), format.element, format.scale, format.block, **scaled)


def _quantize_coarse(x, format, is_x):
    if not x.numel():
        shape = format.scales_shape(x.shape, is_x)
        return numpy.zeros(tuple(x.shape), numpy.uint8), numpy.zeros(shape, format.scale_dtype)
    block = format.x_block if is_x else format.weight_block
    return quantize_array(to_numpy(x.float()), format.element, format.scale, scale_block=block)


def quantize(x, tensor_scale, format):
    elements, scales = quantize_elements(x, tensor_scale, format)
    return codes_of(elements, format).to(x.device), torch.from_numpy(scales).to(x.device)


def quantize_static(x, input_scale, format):
    """The same by one scale for all of x: x / scale in f32, to the nearest element, what is larger to the largest."""
    scale = to_numpy(input_scale)
    with numpy.errstate(over="ignore", invalid="ignore", divide="ignore"):
        codes = encode(to_numpy(x.float()) / scale, format.element)
    scales = numpy.full(format.scales_shape(x.shape, is_x=True), scale)
    return torch.from_numpy(codes).to(x.device), torch.from_numpy(scales).to(x.device)


def quantize_weight(weight, format):
    """The same of a weight with coarse scales."""
    return tuple(torch.from_numpy(each).to(weight.device) for each in _quantize_coarse(weight, format, is_x=False))


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


# Mixtures of experts.


def _round(values):
    """f32, rounded to bf16, as f32."""
    return to_numpy(torch.from_numpy(numpy.ascontiguousarray(values)).to(torch.bfloat16).float())


def _values_of_x(x, format, activations):
    """What experts multiply of a bf16 x: (an array of f64, the tensor scale that its products get, or None)."""
    if activations is None:
        return to_numpy(x.double()), None
    g = tensor_scale_of(x) if format.is_scaled else None
    codes, scales = quantize(x, g, format)
    return values_of(codes, scales, format, is_x=True), None if g is None else numpy.float32(float(g))


def _product_of_experts(x, x_tensor_scale, group_of, codes, scales, tensor_scale, bias, format):
    """f32 of T x N. Each row of x has the expert `group_of`; others than there are have zeros."""
    result = numpy.zeros((x.shape[0], codes.shape[1]), numpy.float32)
    factors = None if tensor_scale is None else numpy.broadcast_to(to_numpy(tensor_scale), codes.shape[:1])
    if x_tensor_scale is not None:
        factors = numpy.full(codes.shape[0], x_tensor_scale) if factors is None else factors * x_tensor_scale
    for expert in range(codes.shape[0]):
        at = numpy.flatnonzero(group_of == expert)
        if not at.size:
            continue
        sums = (x[at] @ values_of(codes[expert], scales[expert], format).T).astype(numpy.float32)
        if factors is not None:
            sums = sums * factors[expert]
        result[at] = sums if bias is None else sums + to_numpy(bias)[expert]
    return result


def grouped_linear(x, codes, scales, tensor_scale, offsets, bias, format, activations, accumulate=None):
    # Ends are clamped, as kernels do it.
    ends = numpy.maximum.accumulate(numpy.clip(to_numpy(offsets), 0, x.shape[0]))
    group_of = numpy.searchsorted(ends, numpy.arange(x.shape[0]), side="right")
    values = _values_of_x(x, format, activations)
    product = _product_of_experts(*values, group_of, codes, scales, tensor_scale, bias, format)
    return torch.from_numpy(product).to(torch.bfloat16).to(x.device)


def moe(x, ids, weights, up, down, gate, format, activations, accumulate=None):
    alpha, limit, shift = (numpy.float32(each) for each in gate)
    ids, weights = to_numpy(ids), to_numpy(weights)
    values, g = _values_of_x(x, format, activations)
    rows, group_of = numpy.repeat(values, ids.shape[1], 0), ids.reshape(-1)
    product = _product_of_experts(rows, g, group_of, *up, format.of_pairs)
    count, columns = product.shape
    pairs = product.reshape(count, columns // (2 * PAIR_COLUMNS), 2, PAIR_COLUMNS)
    with numpy.errstate(over="ignore", invalid="ignore"):
        gates = numpy.minimum(pairs[:, :, 0], limit)
        others = numpy.maximum(numpy.minimum(pairs[:, :, 1], limit), -limit) + shift
        h = gates / (numpy.exp(-(gates * alpha)) + numpy.float32(1)) * others
    h = torch.from_numpy(h.reshape(count, columns // 2)).to(torch.bfloat16)
    product = _round(_product_of_experts(*_values_of_x(h, format, activations), group_of, *down, format))
    positions = numpy.where((ids >= 0) & (ids < up[0].shape[0]), numpy.arange(ids.size).reshape(ids.shape), -1)
    result = combine_array(product, positions.astype(numpy.int32), weights) if ids.size else to_numpy(x.float())
    return torch.from_numpy(result).to(torch.bfloat16).to(x.device)


def route(logits, top_k, scoring):
    ids, weights = route_array(to_numpy(logits.float()), top_k, scoring)
    return tuple(torch.from_numpy(each).to(logits.device) for each in (ids, weights))
