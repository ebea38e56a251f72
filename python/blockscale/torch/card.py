"""The ops on a card, with the functions of kernels.bundle and the bundles beside it. Tensors have been checked, and
activations are matrices.

Results are torch's memory, and so are workspaces in graphs, and large ones. So calls may be captured in a graph, once
any call has loaded the function.
"""

import functools
import warnings

import torch

from . import bundle
from .constants import one, ones, zero_bias, zeros
from .fp8_kernels import experts_name, product_name

# The alignment that kernels rely on.
ALIGNMENT = 16
# A workspace of at most so many bytes is the runtime's, which keeps one for each stream: torch takes as long to allocate
# it as the driver to launch a kernel. (Kept memory of torch could be that of a graph.)
MAX_KEPT_WORKSPACE = 1 << 25

LARGEST_E4M3 = 448.0
VALUE_TYPES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32"}


def ready(tensor):
    """The same tensor, as kernels need it: in row-major order, at a multiple of 16 bytes."""
    tensor = tensor.contiguous()
    return tensor.clone() if tensor.data_ptr() % ALIGNMENT else tensor


def _launch(function, arguments, out, device, numbers=()):
    """Launches a function on tensors, and on numbers behind them."""
    def workspace(size):
        # In a captured graph, it is memory of the graph's pool.
        if size <= MAX_KEPT_WORKSPACE and not torch.cuda.is_current_stream_capturing():
            return None
        return torch.empty(size, dtype=torch.uint8, device=device)

    function(*map(ready, arguments), *numbers, out=out, workspace=workspace)


def linear(x, codes, scales, tensor_scale, bias, format):
    """bf16 of M x N."""
    m, n, device = x.shape[0], codes.shape[0], x.device
    out = torch.empty((m, n), dtype=torch.bfloat16, device=device)
    if m == 0 or n == 0:
        return out
    arguments = [x, codes, scales]
    if format.is_scaled:
        arguments.append(one(x) if tensor_scale is None else tensor_scale)
    arguments.append(zero_bias(n, x) if bias is None else bias)
    _launch(bundle.function(f"linear_{format.name}"), arguments, out, device)
    return out


@functools.lru_cache(maxsize=None)
def _has_fp8_sums(device):
    """Whether the card has fp8 tensor cores whose sums need a licence, and kernels that use them."""
    return torch.cuda.get_device_capability(device) == (9, 0)


@functools.lru_cache(maxsize=None)
def _warn_of_licence():
    warnings.warn(
        "blockscale.torch: products of fp8_block and fp8_row are computed in bf16; with accumulate=128 this card's fp8 "
        "tensor cores compute them, with less exact sums (docs/Torch.md, FP8 with coarse scales)", stacklevel=2,
    )


def _used_licence(accumulate, device):
    """The licence, where a kernel of the card uses it."""
    if not _has_fp8_sums(device):
        return None
    if accumulate is None:
        _warn_of_licence()
    return accumulate


def _product(format, accumulate, rebase, x_format, device):
    """The function of a product, for a card that has a use for its licence. Some have only one, for all cards."""
    if x_format.name in format.mixed_activations:
        return bundle.function(product_name(format.name, accumulate, rebase, x_format.name), bundle.FP8_NAME)
    if format.is_coarse:
        accumulate = _used_licence(accumulate, device)
    elif not _has_fp8_sums(device):
        accumulate = None
    if not format.is_coarse and accumulate is None:
        return bundle.function(product_name(format.name))
    name = product_name(format.name) if accumulate is None else product_name(format.name, accumulate, rebase)
    return bundle.function(name, bundle.FP8_NAME)


def mma_scaled(
    x, x_scales, y, y_scales, x_tensor_scale, y_tensor_scale, bias, format, accumulate=None, rebase=False, x_format=None
):
    m, n, device = x.shape[0], y.shape[0], x.device
    out = torch.empty((m, n), dtype=torch.bfloat16, device=device)
    if m == 0 or n == 0:
        return out
    arguments = [x, x_scales, y, y_scales]
    if format.is_scaled:
        arguments += [one(x) if g is None else g for g in (x_tensor_scale, y_tensor_scale)]
    arguments.append(zero_bias(n, x) if bias is None else bias)
    _launch(_product(format, accumulate, rebase, x_format or format, device), arguments, out, device)
    return out


def _function(name, format, type=""):
    return bundle.function(f"{name}_{format.name}{type}", bundle.FP8_NAME if format.is_coarse else bundle.NAME)


def decompress(codes, metadata, scales, format):
    """(codes, scales) of the dense format, of a weight: each scale is there twice, for half of the block each."""
    device = codes.device
    n, columns = codes.shape
    out = tuple(
        torch.empty((n, 2 * size), dtype=torch.uint8, device=device) for size in (columns, scales.shape[1])
    )
    if n:
        _launch(bundle.function(f"decompress_{format.name}", bundle.SPARSE_NAME), [codes, metadata, scales], out, device)
    return out


def legal_metadata(codes, metadata, format):
    """The metadata of a sparse weight with 0100 for 0000. A kernel stops the process at a field that is not legal."""
    out = torch.empty(tuple(metadata.shape), dtype=torch.uint8, device=metadata.device)
    if metadata.shape[0]:
        _launch(bundle.function(f"legal_metadata_{format.name}", bundle.SPARSE_NAME), [codes, metadata], out, out.device)
    return out


def sparse_mma_scaled(codes, metadata, scales, x, x_tensor_scale, tensor_scale, bias, format):
    """bf16 of M x N: x is quantized to the format, by the same function. Fields of metadata are legal, and not 0000."""
    m, n, device = x.shape[0], codes.shape[0], x.device
    out = torch.empty((m, n), dtype=torch.bfloat16, device=device)
    if m == 0 or n == 0:
        return out
    arguments = [codes, metadata, scales, x]
    if format.is_scaled:
        arguments += [one(x) if g is None else g for g in (x_tensor_scale, tensor_scale)]
    arguments.append(zero_bias(n, x) if bias is None else bias)
    _launch(bundle.function(f"sparse_mma_scaled_{format.name}", bundle.SPARSE_NAME), arguments, out, device)
    return out


def quantize(x, tensor_scale, format):
    """(codes, scales)"""
    m, k = x.shape
    device = x.device
    codes = torch.empty((m, k // format.per_byte), dtype=torch.uint8, device=device)
    scales = _empty_scales(x, format, is_x=True)
    if m == 0:
        return codes, scales
    arguments = [x]
    if format.is_scaled:
        arguments.append(one(x) if tensor_scale is None else tensor_scale)
    _launch(_function("quantize", format, f"_{VALUE_TYPES[x.dtype]}"), arguments, (codes, scales), device)
    return codes, scales


def quantize_static(x, input_scale, format):
    """The same by one scale for all of x, by torch: x / scale in f32, to the nearest element, what is larger to the
    largest.
    """
    # By a tensor of the card: by others, torch multiplies with the reciprocal. Its conversion does not saturate.
    quotients = (x.float() / input_scale).clamp(-LARGEST_E4M3, LARGEST_E4M3)
    scales = input_scale.expand(*format.scales_shape(x.shape, is_x=True))
    return quotients.to(torch.float8_e4m3fn).view(torch.uint8), scales


def _empty_scales(x, format, is_x):
    dtype = getattr(torch, format.scale_dtype)
    return torch.empty(format.scales_shape(x.shape, is_x), dtype=dtype, device=x.device)


def quantize_weight(weight, format):
    """The same of a weight with coarse scales, of (..., N, K)."""
    if weight.dim() != 2:
        matrices = [quantize_weight(each, format) for each in weight.reshape(-1, *weight.shape[-2:])]
        return tuple(torch.stack(each, 0).reshape(*weight.shape[:-2], *each[0].shape) for each in zip(*matrices))
    codes = torch.empty(tuple(weight.shape), dtype=torch.uint8, device=weight.device)
    scales = _empty_scales(weight, format, is_x=False)
    if weight.shape[0]:
        name = "quantize" if format.weight_block == format.x_block else "quantize_weight"
        function = _function(name, format, f"_{VALUE_TYPES[weight.dtype]}")
        _launch(function, [weight], (codes, scales), weight.device)
    return codes, scales


def tensor_scale_of(x):
    """A tensor of f32 without dimensions: the largest magnitude / (448 * 6), to quantise to NVFP4."""
    if x.shape[0] == 0:
        return one(x)
    out = torch.empty((), dtype=torch.float32, device=x.device)
    _launch(bundle.function(f"tensor_scale_{VALUE_TYPES[x.dtype]}"), [x], out, x.device)
    return out


# Mixtures of experts.


def _weights_of_experts(codes, scales, tensor_scale, bias, format):
    """The arguments of a product: without a bias, zeros, and without tensor scales, ones."""
    factors = []
    if format.is_scaled:
        factors.append(ones(codes.shape[0], codes) if tensor_scale is None else tensor_scale)
    return [codes, scales, *factors], zeros(tuple(codes.shape[:2]), codes) if bias is None else bias


def _function_of_experts(name, format, activations, accumulate, device):
    prefix = "" if activations is None else f"{activations}_"
    if format.is_coarse:
        end = experts_name(format.name, _used_licence(accumulate, device))
        return bundle.function(f"{prefix}{name}_{end}", bundle.FP8_NAME)
    return bundle.function(f"{prefix}{name}_{format.name}", bundle.MOE_NAME)


def grouped_linear(x, codes, scales, tensor_scale, offsets, bias, format, activations, accumulate=None):
    """bf16 of T x N."""
    out = torch.empty((x.shape[0], codes.shape[1]), dtype=torch.bfloat16, device=x.device)
    if x.shape[0] == 0 or codes.shape[1] == 0:
        return out
    weights, bias = _weights_of_experts(codes, scales, tensor_scale, bias, format)
    arguments = [x, *weights, offsets, bias]
    function = _function_of_experts("grouped_linear", format, activations, accumulate, x.device)
    _launch(function, arguments, out, x.device)
    return out


def moe(x, ids, weights, up, down, gate, format, activations, accumulate=None):
    """bf16 of S x H. `up` and `down` are codes, scales, tensor scales and bias of a product."""
    out = torch.empty(tuple(x.shape), dtype=torch.bfloat16, device=x.device)
    if x.shape[0] == 0:
        return out
    arguments = [x, ids, weights]
    for each in (up, down):
        product, bias = _weights_of_experts(*each, format)
        arguments += [*product, bias]
    _launch(_function_of_experts("moe", format, activations, accumulate, x.device), arguments, out, x.device, gate)
    return out


def route(logits, top_k, scoring):
    """(ids, weights)"""
    out = tuple(
        torch.empty((logits.shape[0], top_k), dtype=dtype, device=logits.device)
        for dtype in (torch.int32, torch.float32)
    )
    if logits.shape[0]:
        name = f"route_{scoring}_{top_k}_{VALUE_TYPES[logits.dtype]}"
        _launch(bundle.function(name, bundle.MOE_NAME), [logits], out, logits.device)
    return out
