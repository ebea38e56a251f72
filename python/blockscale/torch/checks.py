"""Checks of the tensors of an op, which raise TypeError or ValueError with what was expected and got."""

import numpy as np
import torch

from ..packing import unpack
from ..routing import MOST_GROUPS
from ..sparse_metadata import CUTLASS_EMPTY_FIELD, EMPTY_FIELD, GRANULARITIES, pack_fields
from ..sparsity import read_fields
from .fp8_kernels import CHUNK
from .moe_kernels import COUNTS, SCORINGS

# Activations by one scale that is known before x.
STATIC = "static"
VALUE_DTYPES = (torch.bfloat16, torch.float16, torch.float32)


def fail(kind, name, expected, got):
    raise kind(f"{name}: expected {expected}, got {got}")


def check_flag(name, value):
    if not isinstance(value, bool):
        fail(TypeError, name, "a bool", type(value).__name__)


def is_distributed(x):
    """Whether a tensor is a DTensor, of which this process may have only a part; by name, to avoid an import."""
    return any(
        kind.__name__ == "DTensor" and kind.__module__.startswith("torch.distributed") for kind in type(x).__mro__
    )


def check_tensors(_optional=(), **tensors):
    """Checks that each is a tensor, and no DTensor; those named in `_optional` may be None."""
    for name, x in tensors.items():
        if x is None and name in _optional:
            continue
        if not isinstance(x, torch.Tensor):
            fail(TypeError, name, "a torch.Tensor", type(x).__name__)
        if is_distributed(x):
            fail(TypeError, name, "a tensor that is whole, as to_local() and full_tensor() of a DTensor give it",
                 "a DTensor")


def check_values(name, x, dtypes, block=None):
    """Checks a bf16, f16 or f32 tensor with at least one dimension; with `block`, whole blocks along the last one."""
    check_tensors(**{name: x})
    if x.dtype not in dtypes:
        fail(TypeError, name, " or ".join(map(str, dtypes)), x.dtype)
    if x.dim() < 1:
        fail(ValueError, name, "at least 1 dimension", "none")
    if block and (x.shape[-1] < block or x.shape[-1] % block):
        fail(ValueError, name, f"a last dimension of whole blocks of {block}", f"shape {tuple(x.shape)}")


def check_quantized(name, codes, scales, format, arguments=("codes", "scales"), metadata=None, is_x=False):
    """Checks that quantized elements and scales, the arguments of these names, and the metadata of a sparse format
    belong together. Returns K.
    """
    scale_dtype = getattr(torch, format.scale_dtype)
    parts = [(codes, "codes", arguments[0]), (scales, "scales", arguments[1])]
    if format.is_sparse:
        parts.append((metadata, "metadata", "metadata"))
    for each, what, argument in parts:
        check_tensors(**{argument: each})
        dtype = scale_dtype if what == "scales" else torch.uint8
        if each.dtype != dtype:
            fail(TypeError, argument, dtype, each.dtype)
        if each.dim() < 2:
            fail(ValueError, f"{what} of {name}", "at least 2 dimensions", f"shape {tuple(each.shape)}")
    k = codes.shape[-1] * format.columns_per_byte
    if k < format.block or k % format.block:
        fail(ValueError, f"codes of {name}", f"rows of whole blocks of {format.block} elements", f"{k}")
    expected = format.scales_shape((*codes.shape[:-1], k), is_x)
    if tuple(scales.shape) != expected:
        fail(ValueError, f"scales of {name}", f"shape {expected}, for codes of shape {tuple(codes.shape)}",
             tuple(scales.shape))
    expected = (*codes.shape[:-1], k // format.columns_per_metadata) if format.is_sparse else None
    if expected and tuple(metadata.shape) != expected:
        fail(ValueError, f"metadata of {name}", f"shape {expected}, for codes of shape {tuple(codes.shape)}",
             tuple(metadata.shape))
    return k


def legal_metadata(codes, metadata, format):
    """Metadata, whose shape has been checked, with 0100 for 0000: no kernel has to look at its fields then.

    Checks the fields on the host, since a kernel would stop the process. Returns `metadata` itself if it has no 0000.
    """
    kept = codes.cpu().numpy()
    if format.per_byte == 2:
        kept = unpack(kept, format.element)
    fields = read_fields(kept, metadata.cpu().numpy(), format.element, GRANULARITIES[format.granularity])
    empty = fields == CUTLASS_EMPTY_FIELD
    if not empty.any():
        return metadata
    return torch.from_numpy(pack_fields(np.where(empty, EMPTY_FIELD, fields))).to(metadata.device)


def check_matrix(name, codes, argument="codes"):
    check_tensors(**{argument: codes})
    if codes.dim() != 2:
        fail(ValueError, f"codes of {name}", "2 dimensions", f"shape {tuple(codes.shape)}")


def check_tensor_scale(name, tensor_scale, format, experts=None):
    """Checks that the tensor scale is None if the format has none; otherwise None means 1. With `experts`, there may be
    one for each of as many.
    """
    if tensor_scale is None:
        return
    check_tensors(**{name: tensor_scale})
    if not format.is_scaled:
        fail(ValueError, name, f"none with {format.name}", "a tensor")
    shapes = [()] if experts is None else [(), (experts,)]
    if tensor_scale.dtype != torch.float32 or tuple(tensor_scale.shape) not in shapes:
        of = "without dimensions" if experts is None else f"without dimensions, or of shape {(experts,)}"
        fail(ValueError, name, f"a tensor of float32 {of}",
             f"{tensor_scale.dtype} of shape {tuple(tensor_scale.shape)}")


def check_bias(bias, n):
    if bias is None:
        return
    check_tensors(bias=bias)
    if bias.dtype != torch.bfloat16 or tuple(bias.shape) != (n,):
        fail(ValueError, "bias", f"torch.bfloat16 of shape {(n,)}", f"{bias.dtype} of shape {tuple(bias.shape)}")


def check_devices(**tensors):
    """Checks that all are on one device."""
    there = {name: tensor.device for name, tensor in tensors.items() if tensor is not None}
    first, device = next(iter(there.items()))
    for name, other in there.items():
        if other != device:
            fail(ValueError, name, f"a tensor on {device}, as {first} is", f"one on {other}")


def check_activations(activations, format=None, has_static=False):
    """Checks how x is multiplied with a weight of a format. With `has_static`, by a scale that is there before x."""
    names = ["None", "'dynamic'", *map(repr, () if format is None else format.mixed_activations)]
    if has_static and format is not None and format.is_coarse:
        names.append(repr(STATIC))
    if repr(activations) not in names:
        fail(ValueError, "activations", f"{', '.join(names[:-1])} or {names[-1]}", repr(activations))
    if activations is None and format is not None and format.is_coarse:
        fail(ValueError, "activations", f"'dynamic' with {format.name}, which quantizes x", None)


def check_input_scale(input_scale, activations):
    """Checks the scale of all x: f32 without dimensions for static activations, None for others."""
    if activations != STATIC:
        if input_scale is not None:
            fail(ValueError, "input_scale", f"None with activations={activations!r}", "a tensor")
        return
    check_tensors(input_scale=input_scale)
    if input_scale.dtype != torch.float32 or input_scale.dim():
        fail(ValueError, "input_scale", "torch.float32 without dimensions",
             f"{input_scale.dtype} of shape {tuple(input_scale.shape)}")


def check_accumulate(accumulate, rebase=False, format=None, activations="dynamic"):
    """Checks the licence of a product with a weight of a format."""
    check_flag("rebase", rebase)
    if format is not None and activations in format.mixed_activations and not (accumulate and rebase):
        fail(ValueError, "accumulate", f"{CHUNK}, and rebase=True, with activations={activations!r}", repr(accumulate))
    if accumulate is None:
        if rebase:
            fail(ValueError, "rebase", f"False without accumulate={CHUNK}", rebase)
        return
    if accumulate != CHUNK or isinstance(accumulate, bool):
        fail(ValueError, "accumulate", f"None or {CHUNK}", repr(accumulate))
    if format is None:
        return
    if rebase and not format.may_rebase:
        fail(ValueError, "rebase", f"False with {format.name}{' of sparse weights' if format.is_sparse else ''}", rebase)
    if not format.is_coarse and not rebase:
        needed = "None, or rebase=True," if format.may_rebase else "None"
        fail(ValueError, "accumulate", f"{needed} with {format.name}, whose kernels have no use for it", repr(accumulate))
    if activations is None:
        fail(ValueError, "activations", "'dynamic' with accumulate, whose products are of quantized x", None)


def check_x(x, k, **others):
    """Checks x of a product with a weight of K columns, which must be on the same device."""
    if (
        type(x) is torch.Tensor and x.dtype == torch.bfloat16 and x.dim() and x.shape[-1] == k
        and all(other is None or other.device == x.device for other in others.values())
    ):
        # Each layer checks it in each call, and finding what is wrong takes longer.
        return
    check_values("x", x, (torch.bfloat16,))
    if x.shape[-1] != k:
        fail(ValueError, "x", f"a last dimension of {k}, which the weight has", f"shape {tuple(x.shape)}")
    check_devices(x=x, **others)


def check_linear(
    x, codes, scales, tensor_scale, bias, format, activations=None, metadata=None, legal_metadata=False, accumulate=None,
    rebase=False, input_scale=None,
):
    check_activations(activations, format, has_static=True)
    check_input_scale(input_scale, activations)
    check_accumulate(accumulate, rebase, format, activations)
    check_flag("legal_metadata", legal_metadata)
    check_matrix("the weight", codes)
    k = check_quantized("the weight", codes, scales, format, metadata=metadata)
    check_tensor_scale("tensor_scale", tensor_scale, format)
    check_bias(bias, codes.shape[0])
    check_x(x, k, codes=codes, scales=scales, metadata=metadata, tensor_scale=tensor_scale, bias=bias,
            input_scale=input_scale)


def check_mma_scaled(
    x, x_scales, y, y_scales, x_tensor_scale, y_tensor_scale, bias, format, accumulate=None, rebase=False
):
    check_accumulate(accumulate, rebase, format)
    check_matrix("y", y, "y")
    kx = check_quantized("x", x, x_scales, format, ("x", "x_scales"), is_x=True)
    ky = check_quantized("y", y, y_scales, format, ("y", "y_scales"))
    if kx != ky:
        fail(ValueError, "codes of x", f"{ky} elements in a row, as y has", f"{kx}")
    check_tensor_scale("x_tensor_scale", x_tensor_scale, format)
    check_tensor_scale("y_tensor_scale", y_tensor_scale, format)
    check_bias(bias, y.shape[0])
    check_devices(x=x, x_scales=x_scales, y=y, y_scales=y_scales, x_tensor_scale=x_tensor_scale,
                  y_tensor_scale=y_tensor_scale, bias=bias)


# Mixtures of experts.


def check_experts(name, codes, scales, tensor_scale, bias, format,
                  arguments=("codes", "scales", "tensor_scale", "bias")):
    """Checks the quantized weights of G experts, each N x K, and their biases, which are the arguments of these names.
    Returns G, N and K.
    """
    check_tensors(**{arguments[0]: codes})
    if codes.dim() != 3 or not codes.shape[0]:
        fail(ValueError, f"codes of {name}", "3 dimensions, the first of at least 1", f"shape {tuple(codes.shape)}")
    k = check_quantized(name, codes, scales, format, arguments[:2])
    experts, n = codes.shape[:2]
    check_tensor_scale(arguments[2], tensor_scale, format, experts)
    if bias is not None:
        check_tensors(**{arguments[3]: bias})
        if bias.dtype != torch.float32 or tuple(bias.shape) != (experts, n):
            fail(ValueError, arguments[3], f"torch.float32 of shape {(experts, n)}",
                 f"{bias.dtype} of shape {tuple(bias.shape)}")
    return experts, n, k


def check_grouped_linear(x, codes, scales, tensor_scale, offsets, bias, format, activations=None, accumulate=None):
    check_activations(activations, format)
    check_accumulate(accumulate, format=format)
    experts, _, k = check_experts("the weights", codes, scales, tensor_scale, bias, format)
    check_tensors(x=x, offsets=offsets)
    if offsets.dtype != torch.int32 or tuple(offsets.shape) != (experts,):
        fail(ValueError, "offsets", f"torch.int32 of shape {(experts,)}",
             f"{offsets.dtype} of shape {tuple(offsets.shape)}")
    if x.dim() != 2:
        fail(ValueError, "x", "2 dimensions", f"shape {tuple(x.shape)}")
    check_x(x, k, codes=codes, scales=scales, tensor_scale=tensor_scale, offsets=offsets, bias=bias)


def check_routes(ids, weights, experts):
    """Checks the experts of each token, S x J, and their weights, which are S x J, too, or S x G."""
    for name, tensor, dtypes in (("ids", ids, (torch.int64, torch.int32)), ("weights", weights, VALUE_DTYPES)):
        check_tensors(**{name: tensor})
        if tensor.dtype not in dtypes:
            fail(TypeError, name, " or ".join(map(str, dtypes)), tensor.dtype)
    if ids.dim() != 2 or ids.shape[1] == 0:
        fail(ValueError, "ids", "2 dimensions, the second of at least 1", f"shape {tuple(ids.shape)}")
    shapes = [tuple(ids.shape), (ids.shape[0], experts)]
    if tuple(weights.shape) not in shapes:
        fail(ValueError, "weights", f"shape {shapes[0]} or {shapes[1]}", tuple(weights.shape))


def check_moe(x, ids, weights, up, down, format, activations=None, accumulate=None):
    """`up` and `down` are codes, scales, tensor scale and bias of a product."""
    check_activations(activations, format)
    check_accumulate(accumulate, format=format)
    up_names, down_names = (
        (name, f"{name}_scales", f"{name}_tensor_scale", f"{name}_bias") for name in ("up", "down")
    )
    experts, rows, hidden = check_experts("up", *up, format.of_pairs, up_names)
    others, n, k = check_experts("down", *down, format, down_names)
    if experts > MOST_GROUPS:
        fail(ValueError, "codes of up", f"at most {MOST_GROUPS} experts", experts)
    if others != experts:
        fail(ValueError, "codes of down", f"{experts} experts, as up has", others)
    if rows != 2 * k:
        fail(ValueError, "codes of up", f"{2 * k} rows, two for each column of down", rows)
    if n != hidden:
        fail(ValueError, "codes of down", f"{hidden} rows, as many as up has columns", n)
    check_routes(ids, weights, experts)
    check_x(x, hidden, ids=ids, weights=weights, up=up[0], down=down[0])
    if x.numel() != ids.shape[0] * hidden:
        fail(ValueError, "ids", f"a row for each of {x.numel() // hidden} tokens", ids.shape[0])
    check_devices(x=x, **dict(zip((*up_names, *down_names), (*up, *down))))


def is_usual_moe(x, ids, weights, hidden):
    """Whether these fit experts of `hidden` columns, in the way that most calls have. Each layer asks it in each call,
    and finding what is wrong takes longer.
    """
    return (
        type(x) is type(ids) is type(weights) is torch.Tensor
        and x.dtype == torch.bfloat16 and x.dim() and x.shape[-1] == hidden and ids.dim() == 2
        and ids.dtype in (torch.int64, torch.int32) and weights.dtype in VALUE_DTYPES and weights.shape == ids.shape
        and ids.shape[1] and x.numel() == ids.shape[0] * hidden and x.device == ids.device == weights.device
    )


def check_route(logits, top_k, scoring):
    check_tensors(logits=logits)
    if logits.dtype not in VALUE_DTYPES or logits.dim() != 2:
        fail(TypeError if logits.dtype not in VALUE_DTYPES else ValueError, "logits",
             f"{' or '.join(map(str, VALUE_DTYPES))} of 2 dimensions", f"{logits.dtype} of shape {tuple(logits.shape)}")
    if not isinstance(top_k, int) or isinstance(top_k, bool):
        fail(TypeError, "top_k", "an int", type(top_k).__name__)
    if top_k not in COUNTS or top_k > logits.shape[1]:
        fail(ValueError, "top_k", f"one of {', '.join(map(str, COUNTS))}, and at most {logits.shape[1]}", top_k)
    if scoring not in SCORINGS:
        fail(ValueError, "scoring", " or ".join(map(repr, SCORINGS)), repr(scoring))


def check_quantize(x, tensor_scale, format):
    check_values("x", x, VALUE_DTYPES, format.block)
    check_tensor_scale("tensor_scale", tensor_scale, format)
    check_devices(x=x, tensor_scale=tensor_scale)
