"""Checks of the tensors of an op, which raise TypeError or ValueError with what was expected and got."""

import numpy as np
import torch

from ..packing import unpack
from ..sparse_metadata import CUTLASS_EMPTY_FIELD, EMPTY_FIELD, GRANULARITIES, pack_fields
from ..sparsity import read_fields

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


def check_quantized(name, codes, scales, format, arguments=("codes", "scales"), metadata=None):
    """Checks that quantized elements and scales, the arguments of these names, and the metadata of a sparse format
    belong together. Returns K.
    """
    parts = [(codes, "codes", arguments[0]), (scales, "scales", arguments[1])]
    if format.is_sparse:
        parts.append((metadata, "metadata", "metadata"))
    for each, what, argument in parts:
        check_tensors(**{argument: each})
        if each.dtype != torch.uint8:
            fail(TypeError, argument, torch.uint8, each.dtype)
        if each.dim() < 2:
            fail(ValueError, f"{what} of {name}", "at least 2 dimensions", f"shape {tuple(each.shape)}")
    k = codes.shape[-1] * format.columns_per_byte
    if k < format.block or k % format.block:
        fail(ValueError, f"codes of {name}", f"rows of whole blocks of {format.block} elements", f"{k}")
    expected = (*codes.shape[:-1], k // format.block)
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


def check_tensor_scale(name, tensor_scale, format):
    """Checks that the tensor scale is None if the format has none; otherwise None means 1."""
    if tensor_scale is None:
        return
    check_tensors(**{name: tensor_scale})
    if not format.is_scaled:
        fail(ValueError, name, f"none with {format.name}", "a tensor")
    if tensor_scale.dtype != torch.float32 or tensor_scale.dim():
        fail(ValueError, name, "a tensor of float32 without dimensions",
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


def check_activations(activations):
    if activations not in (None, "dynamic"):
        fail(ValueError, "activations", "None or 'dynamic'", repr(activations))


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
    x, codes, scales, tensor_scale, bias, format, activations=None, metadata=None, legal_metadata=False
):
    check_activations(activations)
    check_flag("legal_metadata", legal_metadata)
    check_matrix("the weight", codes)
    k = check_quantized("the weight", codes, scales, format, metadata=metadata)
    check_tensor_scale("tensor_scale", tensor_scale, format)
    check_bias(bias, codes.shape[0])
    check_x(x, k, codes=codes, scales=scales, metadata=metadata, tensor_scale=tensor_scale, bias=bias)


def check_mma_scaled(x, x_scales, y, y_scales, x_tensor_scale, y_tensor_scale, bias, format):
    check_matrix("y", y, "y")
    kx = check_quantized("x", x, x_scales, format, ("x", "x_scales"))
    ky = check_quantized("y", y, y_scales, format, ("y", "y_scales"))
    if kx != ky:
        fail(ValueError, "codes of x", f"{ky} elements in a row, as y has", f"{kx}")
    check_tensor_scale("x_tensor_scale", x_tensor_scale, format)
    check_tensor_scale("y_tensor_scale", y_tensor_scale, format)
    check_bias(bias, y.shape[0])
    check_devices(x=x, x_scales=x_scales, y=y, y_scales=y_scales, x_tensor_scale=x_tensor_scale,
                  y_tensor_scale=y_tensor_scale, bias=bias)


def check_quantize(x, tensor_scale, format):
    check_values("x", x, VALUE_DTYPES, format.block)
    check_tensor_scale("tensor_scale", tensor_scale, format)
    check_devices(x=x, tensor_scale=tensor_scale)
