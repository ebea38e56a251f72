"""The ops, as functions and as torch custom ops (`torch.ops.blockscale`), which torch.compile keeps in its graph.

A function takes any number of dimensions before K, checks its tensors, and launches a kernel on a card or computes
with numpy on the CPU. A custom op is such a function for torch's dispatcher, with a fake for shapes; if nothing is
traced, calling the function directly is faster.

Inference only: gradients raise RuntimeError.
"""

from typing import Optional, Tuple

import torch
from torch import Tensor

from . import card, cpu, formats
from .checks import check_linear, check_mma_scaled, check_quantize, check_tensors


def _where(x):
    return card if x.is_cuda else cpu


def _rows(x):
    """The tensor as a matrix."""
    return x if x.dim() == 2 else x.reshape(-1, x.shape[-1])


def _like(result, x):
    """A matrix reshaped to the leading dimensions of x."""
    return result if x.dim() == 2 else result.reshape(*x.shape[:-1], result.shape[-1])


# Implementations of the ops.


def run_quantize(x, format, tensor_scale=None):
    """Quantizes x.

    x             bf16, f16 or f32 of (..., K), K a multiple of the format's block
    format        "mxfp8", "mxfp4" or "nvfp4"
    tensor_scale  g of nvfp4: f32 without dimensions, on the device of x; None is 1

    Returns (codes, scales): the quantized elements, uint8 of (..., K), or (..., K / 2) for fp4, and the scales, uint8
    of (..., K / block), by the rules of docs/Quantization.md (powers of two: rceil). Raises TypeError or ValueError.
    """
    format = formats.get(format)
    check_quantize(x, tensor_scale, format)
    codes, scales = _where(x).quantize(_rows(x), tensor_scale, format)
    return _like(codes, x), _like(scales, x)


def run_mma_scaled(
    x, x_scales, y, y_scales, format, x_tensor_scale=None, y_tensor_scale=None, bias=None
):
    """The product of quantized x, (..., K), and the transpose of quantized y, N x K.

    x, x_scales, y, y_scales        as `quantize` returns them
    x_tensor_scale, y_tensor_scale  their g, for nvfp4; None is 1
    bias                            bf16 of N, or None

    Returns bf16 of (..., N): the f32 sum times both g, plus bias, rounded once. Raises TypeError or ValueError.
    """
    format = formats.get(format)
    check_mma_scaled(x, x_scales, y, y_scales, x_tensor_scale, y_tensor_scale, bias, format)
    return _like(
        _where(x).mma_scaled(
            _rows(x), _rows(x_scales), y, y_scales, x_tensor_scale, y_tensor_scale, bias, format
        ), x,
    )


def run_linear(
    x, codes, scales, tensor_scale, bias, format, activations=None, metadata=None, legal_metadata=False
):
    """x times the transpose of a quantized weight, plus bias.

    x               bf16 of (..., K)
    codes           the quantized weight: uint8 of N x K, or N x K / 2 for fp4; half as many columns if it is sparse
    scales          uint8 of N x K / block
    tensor_scale    g of nvfp4: f32 without dimensions; None is 1
    bias            bf16 of N, or None
    format          "mxfp8", "mxfp4" or "nvfp4"
    activations     None: weight-only, x stays bf16. "dynamic": x is quantised to the same format first; for nvfp4 with
                    the largest magnitude of x / (448 * 6) as g
    metadata        of a sparse weight: uint8 of N x K / 8, or N x K / 16 for fp4. On a card, an illegal field stops the
                    process
    legal_metadata  whether all fields of metadata are known to be legal, and none to be 0000, as those of a
                    QuantizedTensor. Then no kernel looks at them, and the result for others is undefined

    Returns bf16 of (..., N): the f32 sum times g, plus bias, rounded once. Raises TypeError or ValueError.
    """
    format = formats.get(format, metadata is not None)
    check_linear(x, codes, scales, tensor_scale, bias, format, activations, metadata, legal_metadata)
    if format.is_sparse and activations is not None and not legal_metadata:
        metadata = _where(x).legal_metadata(codes, metadata, format)
    return run_checked_linear(x, codes, scales, tensor_scale, bias, format, activations, metadata)


def run_checked_linear(x, codes, scales, tensor_scale, bias, format, activations, metadata):
    """The same for a `format` of formats.FORMATS, or SPARSE_FORMATS with metadata, which is legal, without checks: some
    of them take as long as a launch.
    """
    backend, rows = _where(x), _rows(x)
    if activations is None:
        if format.is_sparse:
            codes, scales = backend.decompress(codes, metadata, scales, format)
            format = formats.FORMATS[format.name]
        return _like(backend.linear(rows, codes, scales, tensor_scale, bias, format), x)
    g = backend.tensor_scale_of(rows) if format.is_scaled else None
    if format.is_sparse:
        return _like(backend.sparse_mma_scaled(codes, metadata, scales, rows, g, tensor_scale, bias, format), x)
    x_codes, x_scales = backend.quantize(rows, g, format)
    return _like(backend.mma_scaled(x_codes, x_scales, codes, scales, g, tensor_scale, bias, format), x)


# Custom ops.


@torch.library.custom_op("blockscale::quantize", mutates_args=())
def quantize_op(x: Tensor, format: str, tensor_scale: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    return run_quantize(x, format, tensor_scale)


@torch.library.custom_op("blockscale::mma_scaled", mutates_args=())
def mma_scaled_op(
    x: Tensor, x_scales: Tensor, y: Tensor, y_scales: Tensor, format: str, x_tensor_scale: Optional[Tensor] = None,
    y_tensor_scale: Optional[Tensor] = None, bias: Optional[Tensor] = None,
) -> Tensor:
    return run_mma_scaled(x, x_scales, y, y_scales, format, x_tensor_scale, y_tensor_scale, bias)


@torch.library.custom_op("blockscale::linear", mutates_args=())
def linear_op(
    x: Tensor, codes: Tensor, scales: Tensor, tensor_scale: Optional[Tensor], bias: Optional[Tensor], format: str,
    activations: Optional[str] = None, metadata: Optional[Tensor] = None, legal_metadata: bool = False,
) -> Tensor:
    return run_linear(x, codes, scales, tensor_scale, bias, format, activations, metadata, legal_metadata)


# Fakes, which have shapes and no data. The checks apply to them, too.


@quantize_op.register_fake
def _(x, format, tensor_scale=None):
    format = formats.get(format)
    check_quantize(x, tensor_scale, format)
    lead, k = x.shape[:-1], x.shape[-1]
    return (
        x.new_empty((*lead, k // format.per_byte), dtype=torch.uint8),
        x.new_empty((*lead, k // format.block), dtype=torch.uint8),
    )


@mma_scaled_op.register_fake
def _(x, x_scales, y, y_scales, format, x_tensor_scale=None, y_tensor_scale=None, bias=None):
    check_mma_scaled(x, x_scales, y, y_scales, x_tensor_scale, y_tensor_scale, bias, formats.get(format))
    return x.new_empty((*x.shape[:-1], y.shape[0]), dtype=torch.bfloat16)


@linear_op.register_fake
def _(x, codes, scales, tensor_scale, bias, format, activations=None, metadata=None, legal_metadata=False):
    format = formats.get(format, metadata is not None)
    check_linear(x, codes, scales, tensor_scale, bias, format, activations, metadata, legal_metadata)
    return x.new_empty((*x.shape[:-1], codes.shape[0]))


def _no_gradient(context, *gradients):
    raise RuntimeError(
        "blockscale.torch: its ops have no gradient, since quantized weights are for inference: call the model under "
        "torch.no_grad() or torch.inference_mode()"
    )


for _op in (quantize_op, mma_scaled_op, linear_op):
    _op.register_autograd(_no_gradient)


# What users call. If something is traced, or a gradient may be asked for, the call goes through the dispatcher. Values
# that are no tensors, and DTensors, are refused before that, since the dispatcher's messages name no argument.

OPTIONAL = ("tensor_scale", "x_tensor_scale", "y_tensor_scale", "bias", "metadata")


def is_plain(*tensors):
    """Whether these tensors need not go through the dispatcher."""
    if torch.compiler.is_compiling():
        return False
    wants_gradient = torch.is_grad_enabled()
    for tensor in tensors:
        if tensor is not None and (
            type(tensor) not in (Tensor, torch.nn.Parameter) or wants_gradient and tensor.requires_grad
        ):
            return False
    return True


def check_untraced(format, **tensors):
    """Checks that the dispatcher would make with other messages. In a traced graph, only the fakes check."""
    if not torch.compiler.is_compiling():
        check_tensors(OPTIONAL, **tensors)
        formats.get(format)


def quantize(x, format, tensor_scale=None):
    if is_plain(x):
        return run_quantize(x, format, tensor_scale)
    check_untraced(format, x=x, tensor_scale=tensor_scale)
    return torch.ops.blockscale.quantize(x, format, tensor_scale)


def mma_scaled(x, x_scales, y, y_scales, format, x_tensor_scale=None, y_tensor_scale=None, bias=None):
    arguments = (x, x_scales, y, y_scales, format, x_tensor_scale, y_tensor_scale, bias)
    if is_plain(x, y, bias):
        return run_mma_scaled(*arguments)
    check_untraced(
        format, x=x, x_scales=x_scales, y=y, y_scales=y_scales, x_tensor_scale=x_tensor_scale,
        y_tensor_scale=y_tensor_scale, bias=bias,
    )
    return torch.ops.blockscale.mma_scaled(*arguments)


def linear(x, codes, scales, tensor_scale, bias, format, activations=None, metadata=None, legal_metadata=False):
    arguments = (x, codes, scales, tensor_scale, bias, format, activations, metadata, legal_metadata)
    if is_plain(x, codes, bias):
        return run_linear(*arguments)
    check_untraced(
        format, x=x, codes=codes, scales=scales, tensor_scale=tensor_scale, bias=bias, metadata=metadata
    )
    return torch.ops.blockscale.linear(*arguments)


quantize.__doc__ = run_quantize.__doc__
mma_scaled.__doc__ = run_mma_scaled.__doc__
linear.__doc__ = run_linear.__doc__
