"""The ops, as functions and as torch custom ops (`torch.ops.blockscale`), which torch.compile keeps in its graph.

A function takes any number of dimensions before K, checks its tensors, and launches a kernel on a card or computes
with numpy on the CPU. A custom op is such a function for torch's dispatcher, with a fake for shapes; if nothing is
traced, calling the function directly is faster.

Inference only: gradients raise RuntimeError.
"""

import math
from typing import Optional, Tuple

import torch
from torch import Tensor

from . import card, cpu, formats
from .checks import (
    STATIC,
    check_accumulate,
    check_grouped_linear,
    check_linear,
    check_mma_scaled,
    check_moe,
    check_quantize,
    check_route,
    check_tensors,
)


def _where(x):
    return card if x.is_cuda else cpu


def _rows(x):
    """The tensor as a matrix."""
    return x if x.dim() == 2 else x.reshape(-1, x.shape[-1])


def _like(result, x):
    """A matrix reshaped to the leading dimensions of x."""
    return result if x.dim() == 2 else result.reshape(*x.shape[:-1], result.shape[-1])


def _for_each_expert(tensor_scale, experts):
    """As many tensor scales, if there is one for all."""
    if tensor_scale is None or tensor_scale.dim():
        return tensor_scale
    return tensor_scale.reshape(1).expand(experts)


# Implementations of the ops.


def run_quantize(x, format, tensor_scale=None):
    """Quantizes x.

    x             bf16, f16 or f32 of (..., K), K a multiple of the format's block
    format        "mxfp8", "mxfp4", "nvfp4", "fp8_block" or "fp8_row"
    tensor_scale  g of nvfp4: f32 without dimensions, on the device of x; None is 1

    Returns (codes, scales): the quantized elements, uint8 of (..., K), or (..., K / 2) for fp4, and the scales, uint8
    of (..., K / block), by the rules of docs/Quantization.md (powers of two: rceil). Those of fp8_block and fp8_row are
    f32 of (..., ceil(K / 128)) and (..., 1), the largest magnitude / 448 (docs/CoarseScales.md): x is quantized as what
    is multiplied with weights, which QuantizedTensor.from_float quantizes. Raises TypeError or ValueError.
    """
    format = formats.get(format)
    check_quantize(x, tensor_scale, format)
    codes, scales = _where(x).quantize(_rows(x), tensor_scale, format)
    return _like(codes, x), _like(scales, x)


def run_mma_scaled(
    x, x_scales, y, y_scales, format, x_tensor_scale=None, y_tensor_scale=None, bias=None, accumulate=None, rebase=False
):
    """The product of quantized x, (..., K), and the transpose of quantized y, N x K.

    x, x_scales, y, y_scales        as `quantize` returns them
    x_tensor_scale, y_tensor_scale  their g, for nvfp4; None is 1
    bias                            bf16 of N, or None
    accumulate, rebase              licences for fp8 tensor cores, see `linear`

    Returns bf16 of (..., N): the f32 sum times both g, plus bias, rounded once. Raises TypeError or ValueError.
    """
    format = formats.get(format)
    check_mma_scaled(x, x_scales, y, y_scales, x_tensor_scale, y_tensor_scale, bias, format, accumulate, rebase)
    return _like(
        _where(x).mma_scaled(
            _rows(x), _rows(x_scales), y, y_scales, x_tensor_scale, y_tensor_scale, bias, format, accumulate, rebase
        ), x,
    )


def run_linear(
    x, codes, scales, tensor_scale, bias, format, activations=None, metadata=None, legal_metadata=False, accumulate=None,
    rebase=False, input_scale=None,
):
    """x times the transpose of a quantized weight, plus bias.

    x               bf16 of (..., K)
    codes           the quantized weight: uint8 of N x K, or N x K / 2 for fp4; half as many columns if it is sparse
    scales          uint8 of N x K / block
    tensor_scale    g of nvfp4: f32 without dimensions; None is 1
    bias            bf16 of N, or None
    format          "mxfp8", "mxfp4", "nvfp4", "fp8_block" or "fp8_row"; scales of the last two are f32 of
                    ceil(N / 128) x ceil(K / 128), and N x 1
    activations     None: weight-only, x stays bf16. "dynamic": x is quantised to the same format first; for nvfp4 with
                    the largest magnitude of x / (448 * 6) as g. fp8_block and fp8_row have this, and "static": all of x is
                    quantized by input_scale. "mxfp8" and "fp8_row", of mxfp4: x is quantized to that format; for this,
                    both licences are needed
    metadata        of a sparse weight: uint8 of N x K / 8, or N x K / 16 for fp4. On a card, an illegal field stops the
                    process
    legal_metadata  whether all fields of metadata are known to be legal, and none to be 0000, as those of a
                    QuantizedTensor. Then no kernel looks at them, and the result for others is undefined
    accumulate      for fp8_block and fp8_row. None: sums have f32's error. 128: those of 128 products may be formed as
                    fp8 tensor cores form them, with 13 fraction bits (docs/Numerics.md); cards of sm_90 do so, which
                    is up to 1.5 times as fast as bf16
    rebase          for "dynamic" mxfp8 and mxfp4, with accumulate=128: rows of x and of the weight may also get one scale
                    each, the largest one of their blocks, to multiples of 2^-9 of which elements are rounded
    input_scale     of "static" activations: f32 without dimensions. Elements of x are x / input_scale in f32, rounded to
                    the nearest element, of equal ones the even one; what is larger becomes the largest, NaN stays NaN

    Returns bf16 of (..., N): the f32 sum times g, plus bias, rounded once. Raises TypeError or ValueError.
    """
    format = formats.get(format, metadata is not None)
    check_linear(x, codes, scales, tensor_scale, bias, format, activations, metadata, legal_metadata, accumulate, rebase,
                 input_scale)
    if format.is_sparse and activations is not None and not legal_metadata:
        metadata = _where(x).legal_metadata(codes, metadata, format)
    return run_checked_linear(
        x, codes, scales, tensor_scale, bias, format, activations, metadata, accumulate, rebase, input_scale
    )


def run_checked_linear(
    x, codes, scales, tensor_scale, bias, format, activations, metadata, accumulate=None, rebase=False, input_scale=None
):
    """The same for a `format` of formats.FORMATS, or SPARSE_FORMATS with metadata, which is legal, without checks: some
    of them take as long as a launch.
    """
    backend, rows = _where(x), _rows(x)
    if activations is None:
        if format.is_sparse:
            codes, scales = backend.decompress(codes, metadata, scales, format)
            format = formats.FORMATS[format.name]
        return _like(backend.linear(rows, codes, scales, tensor_scale, bias, format), x)
    x_format = format.of_x(activations)
    g = backend.tensor_scale_of(rows) if x_format.is_scaled else None
    if format.is_sparse:
        return _like(backend.sparse_mma_scaled(codes, metadata, scales, rows, g, tensor_scale, bias, format), x)
    if activations == STATIC:
        x_codes, x_scales = backend.quantize_static(rows, input_scale, x_format)
    else:
        x_codes, x_scales = backend.quantize(rows, g, x_format)
    return _like(
        backend.mma_scaled(
            x_codes, x_scales, codes, scales, g, tensor_scale, bias, format, accumulate, rebase, x_format
        ), x,
    )


def run_grouped_linear(x, codes, scales, tensor_scale, offsets, bias, format, activations=None, accumulate=None):
    """Rows of x, sorted by expert, times the transpose of the quantized weight of their expert, plus its bias.

    x             bf16 of T x K
    codes         the quantized weights: uint8 of G x N x K, or G x N x K / 2 for fp4
    scales        uint8 of G x N x K / block; for fp8_block f32 of G x ceil(N / 128) x ceil(K / 128), for fp8_row of
                  G x N x 1
    tensor_scale  g of nvfp4: f32 of G, or without dimensions for all experts; None is 1
    offsets       int32 of G: where the rows of each expert end, ascending from 0 to at most T. They are not checked: for
                  others, the result is undefined
    bias          f32 of G x N, or None
    format        "mxfp8", "mxfp4", "nvfp4", "fp8_block" or "fp8_row"
    activations   None: x stays bf16. "dynamic": x is quantized to the same format first; for nvfp4 with the largest
                  magnitude of all rows / (448 * 6) as g. fp8_block and fp8_row have only this
    accumulate    for fp8_block and fp8_row, as for `linear`

    Returns bf16 of T x N: the f32 sum times g, or times the product of both, plus bias, rounded to bf16 at the end;
    zeros for rows behind the last end. Raises TypeError or ValueError.
    """
    format = formats.get(format)
    check_grouped_linear(x, codes, scales, tensor_scale, offsets, bias, format, activations, accumulate)
    tensor_scale = _for_each_expert(tensor_scale, codes.shape[0])
    return _where(x).grouped_linear(x, codes, scales, tensor_scale, offsets, bias, format, activations, accumulate)


def run_moe(
    x, ids, weights, up, up_scales, up_tensor_scale, up_bias, down, down_scales, down_tensor_scale, down_bias, format,
    alpha=1.0, limit=math.inf, shift=0.0, activations=None, accumulate=None,
):
    """A mixture of experts: each token goes to J of G experts, whose results are added up with its weights.

    x        bf16 of (..., H): S tokens
    ids      int64 or int32 of S x J: the experts of each token. Others than 0 to G - 1 add nothing
    weights  bf16, f16 or f32 of S x J, or S x G with the weights of all experts
    up       the first weights of experts: uint8 of G x 2I x H, half as many columns for fp4. Rows are in blocks of 8:
             those of gates, those that belong to them, and so on
    down     the second ones: uint8 of G x H x I
    ..._scales, ..._tensor_scale, ..._bias
             as those of `grouped_linear`, but for up_scales of fp8_block: f32 of G x 2I x ceil(H / 128), one for each
             row, since rows that shared one do not stand together any more
    alpha, limit, shift
             with g = min(gate, limit) and u = clamp(up, -limit, limit), the second product is that of
             g * sigmoid(alpha * g) * (u + shift), rounded to bf16; silu(gate) * up by default
    activations
             None: x of both products stays bf16. "dynamic": it is quantized to the same format first, that of the
             second one from bf16; for nvfp4 with the largest magnitude of all rows / (448 * 6) as g. fp8_block and
             fp8_row have only this
    accumulate
             for fp8_block and fp8_row, as for `linear`

    Returns bf16 of (..., H). Sums are of f32; the second product's are rounded to bf16, and weighted sums of them, in
    f32 and in the order of slots, too. So the result is the same in every call. Raises TypeError or ValueError.
    """
    format = formats.get(format)
    products = (up, up_scales, up_tensor_scale, up_bias), (down, down_scales, down_tensor_scale, down_bias)
    check_moe(x, ids, weights, *products, format, activations, accumulate)
    gate = (float(alpha), float(limit), float(shift))
    return run_checked_moe(x, ids, weights, *products, format, gate, activations, accumulate)


def run_checked_moe(x, ids, weights, up, down, format, gate, activations, accumulate=None):
    """The same for a `format` of formats.FORMATS, without checks. `up` and `down` are codes, scales, tensor scale and
    bias of a product.
    """
    if tuple(weights.shape) != tuple(ids.shape):
        # Experts that are nobody's have no weight, and need none.
        weights = weights.gather(1, ids.long().clamp(0, weights.shape[1] - 1))
    products = [
        (codes, scales, _for_each_expert(tensor_scale, codes.shape[0]), bias)
        for codes, scales, tensor_scale, bias in (up, down)
    ]
    routes = ids.to(torch.int64), weights.to(torch.float32)
    return _like(_where(x).moe(_rows(x), *routes, *products, gate, format, activations, accumulate), x)


def run_route(logits, top_k, scoring="softmax_of_chosen"):
    """The experts of each token, and their weights.

    logits   bf16, f16 or f32 of S x G
    top_k    1, 2, 4, 6 or 8, and at most G
    scoring  "softmax" of all logits, or "softmax_of_chosen"

    Returns (ids, weights): int32 and f32 of S x top_k, the largest logit first, of equal ones the first one. Raises
    TypeError or ValueError.
    """
    check_route(logits, top_k, scoring)
    return _where(logits).route(logits, top_k, scoring)


# Custom ops.


@torch.library.custom_op("blockscale::quantize", mutates_args=())
def quantize_op(x: Tensor, format: str, tensor_scale: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
    return run_quantize(x, format, tensor_scale)


@torch.library.custom_op("blockscale::mma_scaled", mutates_args=())
def mma_scaled_op(
    x: Tensor, x_scales: Tensor, y: Tensor, y_scales: Tensor, format: str, x_tensor_scale: Optional[Tensor] = None,
    y_tensor_scale: Optional[Tensor] = None, bias: Optional[Tensor] = None, accumulate: Optional[int] = None,
    rebase: bool = False,
) -> Tensor:
    return run_mma_scaled(x, x_scales, y, y_scales, format, x_tensor_scale, y_tensor_scale, bias, accumulate, rebase)


@torch.library.custom_op("blockscale::linear", mutates_args=())
def linear_op(
    x: Tensor, codes: Tensor, scales: Tensor, tensor_scale: Optional[Tensor], bias: Optional[Tensor], format: str,
    activations: Optional[str] = None, metadata: Optional[Tensor] = None, legal_metadata: bool = False,
    accumulate: Optional[int] = None, rebase: bool = False, input_scale: Optional[Tensor] = None,
) -> Tensor:
    return run_linear(
        x, codes, scales, tensor_scale, bias, format, activations, metadata, legal_metadata, accumulate, rebase, input_scale
    )


@torch.library.custom_op("blockscale::grouped_linear", mutates_args=())
def grouped_linear_op(
    x: Tensor, codes: Tensor, scales: Tensor, tensor_scale: Optional[Tensor], offsets: Tensor, bias: Optional[Tensor],
    format: str, activations: Optional[str] = None, accumulate: Optional[int] = None,
) -> Tensor:
    return run_grouped_linear(x, codes, scales, tensor_scale, offsets, bias, format, activations, accumulate)


# A schema has no infinity, which is the default of `limit`.
@torch.library.custom_op("blockscale::moe", mutates_args=())
def moe_op(
    x: Tensor, ids: Tensor, weights: Tensor, up: Tensor, up_scales: Tensor, up_tensor_scale: Optional[Tensor],
    up_bias: Optional[Tensor], down: Tensor, down_scales: Tensor, down_tensor_scale: Optional[Tensor],
    down_bias: Optional[Tensor], format: str, alpha: float, limit: float, shift: float,
    activations: Optional[str] = None, accumulate: Optional[int] = None,
) -> Tensor:
    return run_moe(x, ids, weights, up, up_scales, up_tensor_scale, up_bias, down, down_scales, down_tensor_scale,
                   down_bias, format, alpha, limit, shift, activations, accumulate)


@torch.library.custom_op("blockscale::route", mutates_args=())
def route_op(logits: Tensor, top_k: int, scoring: str = "softmax_of_chosen") -> Tuple[Tensor, Tensor]:
    return run_route(logits, top_k, scoring)


# Fakes, which have shapes and no data. The checks apply to them, too.


@quantize_op.register_fake
def _(x, format, tensor_scale=None):
    format = formats.get(format)
    check_quantize(x, tensor_scale, format)
    return (
        x.new_empty((*x.shape[:-1], x.shape[-1] // format.per_byte), dtype=torch.uint8),
        x.new_empty(format.scales_shape(x.shape, is_x=True), dtype=getattr(torch, format.scale_dtype)),
    )


@mma_scaled_op.register_fake
def _(x, x_scales, y, y_scales, format, x_tensor_scale=None, y_tensor_scale=None, bias=None, accumulate=None,
      rebase=False):
    check_mma_scaled(
        x, x_scales, y, y_scales, x_tensor_scale, y_tensor_scale, bias, formats.get(format), accumulate, rebase
    )
    return x.new_empty((*x.shape[:-1], y.shape[0]), dtype=torch.bfloat16)


@linear_op.register_fake
def _(x, codes, scales, tensor_scale, bias, format, activations=None, metadata=None, legal_metadata=False,
      accumulate=None, rebase=False, input_scale=None):
    format = formats.get(format, metadata is not None)
    check_linear(x, codes, scales, tensor_scale, bias, format, activations, metadata, legal_metadata, accumulate, rebase,
                 input_scale)
    return x.new_empty((*x.shape[:-1], codes.shape[0]))


@grouped_linear_op.register_fake
def _(x, codes, scales, tensor_scale, offsets, bias, format, activations=None, accumulate=None):
    format = formats.get(format)
    check_grouped_linear(x, codes, scales, tensor_scale, offsets, bias, format, activations, accumulate)
    return x.new_empty((x.shape[0], codes.shape[1]))


@moe_op.register_fake
def _(x, ids, weights, up, up_scales, up_tensor_scale, up_bias, down, down_scales, down_tensor_scale, down_bias, format,
      alpha, limit, shift, activations=None, accumulate=None):
    check_moe(x, ids, weights, (up, up_scales, up_tensor_scale, up_bias),
              (down, down_scales, down_tensor_scale, down_bias), formats.get(format), activations, accumulate)
    return x.new_empty(tuple(x.shape))


@route_op.register_fake
def _(logits, top_k, scoring="softmax_of_chosen"):
    check_route(logits, top_k, scoring)
    shape = logits.shape[0], top_k
    return logits.new_empty(shape, dtype=torch.int32), logits.new_empty(shape, dtype=torch.float32)


def _no_gradient(context, *gradients):
    raise RuntimeError(
        "blockscale.torch: its ops have no gradient, since quantized weights are for inference: call the model under "
        "torch.no_grad() or torch.inference_mode()"
    )


for _op in (quantize_op, mma_scaled_op, linear_op, grouped_linear_op, moe_op, route_op):
    _op.register_autograd(_no_gradient)


# What users call. If something is traced, or a gradient may be asked for, the call goes through the dispatcher. Values
# that are no tensors, and DTensors, are refused before that, since the dispatcher's messages name no argument.

OPTIONAL = ("tensor_scale", "x_tensor_scale", "y_tensor_scale", "bias", "metadata", "input_scale", "up_tensor_scale",
            "up_bias", "down_tensor_scale", "down_bias")


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


def mma_scaled(
    x, x_scales, y, y_scales, format, x_tensor_scale=None, y_tensor_scale=None, bias=None, accumulate=None, rebase=False
):
    check_accumulate(accumulate, rebase)
    arguments = (x, x_scales, y, y_scales, format, x_tensor_scale, y_tensor_scale, bias, accumulate, rebase)
    if is_plain(x, y, bias):
        return run_mma_scaled(*arguments)
    check_untraced(
        format, x=x, x_scales=x_scales, y=y, y_scales=y_scales, x_tensor_scale=x_tensor_scale,
        y_tensor_scale=y_tensor_scale, bias=bias,
    )
    return torch.ops.blockscale.mma_scaled(*arguments)


def linear(
    x, codes, scales, tensor_scale, bias, format, activations=None, metadata=None, legal_metadata=False, accumulate=None,
    rebase=False, input_scale=None,
):
    check_accumulate(accumulate, rebase)
    arguments = (x, codes, scales, tensor_scale, bias, format, activations, metadata, legal_metadata, accumulate, rebase,
                 input_scale)
    if is_plain(x, codes, bias):
        return run_linear(*arguments)
    check_untraced(
        format, x=x, codes=codes, scales=scales, tensor_scale=tensor_scale, bias=bias, metadata=metadata,
        input_scale=input_scale,
    )
    return torch.ops.blockscale.linear(*arguments)


def grouped_linear(x, codes, scales, tensor_scale, offsets, bias, format, activations=None, accumulate=None):
    arguments = (x, codes, scales, tensor_scale, offsets, bias, format, activations, accumulate)
    if is_plain(x, codes, bias):
        return run_grouped_linear(*arguments)
    check_untraced(format, x=x, codes=codes, scales=scales, tensor_scale=tensor_scale, offsets=offsets, bias=bias)
    return torch.ops.blockscale.grouped_linear(*arguments)


def moe(
    x, ids, weights, up, up_scales, up_tensor_scale, up_bias, down, down_scales, down_tensor_scale, down_bias, format,
    alpha=1.0, limit=math.inf, shift=0.0, activations=None, accumulate=None,
):
    arguments = (x, ids, weights, up, up_scales, up_tensor_scale, up_bias, down, down_scales, down_tensor_scale,
                 down_bias, format, alpha, limit, shift, activations, accumulate)
    if is_plain(x, weights, up, down, up_bias, down_bias):
        return run_moe(*arguments)
    check_untraced(
        format, x=x, ids=ids, weights=weights, up=up, up_scales=up_scales, up_tensor_scale=up_tensor_scale,
        up_bias=up_bias, down=down, down_scales=down_scales, down_tensor_scale=down_tensor_scale, down_bias=down_bias,
    )
    return torch.ops.blockscale.moe(*arguments)


def route(logits, top_k, scoring="softmax_of_chosen"):
    if is_plain(logits):
        return run_route(logits, top_k, scoring)
    if not torch.compiler.is_compiling():
        check_tensors(logits=logits)
    return torch.ops.blockscale.route(logits, top_k, scoring)


for _function, _run in ((grouped_linear, run_grouped_linear), (moe, run_moe), (route, run_route)):
    _function.__doc__ = _run.__doc__
quantize.__doc__ = run_quantize.__doc__
mma_scaled.__doc__ = run_mma_scaled.__doc__
linear.__doc__ = run_linear.__doc__
