"""Reads weights of published checkpoints into QuantizedTensors. Values do not change, and contiguous tensors are not
copied.
"""

import torch

from .checks import check_tensors, fail
from .quantized import QuantizedTensor


def _bytes(name, tensor, *dtypes):
    """As uint8, of uint8 or a type of torch that has as many bits (which an old torch may not have)."""
    check_tensors(**{name: tensor})
    types = [each for each in (getattr(torch, dtype, None) for dtype in ("uint8", *dtypes)) if each is not None]
    if tensor.dtype not in types:
        fail(TypeError, name, " or ".join(map(str, types)), tensor.dtype)
    return tensor if tensor.dtype == torch.uint8 else tensor.view(torch.uint8)


def load_mxfp4_gpt_oss(blocks, scales):
    """A weight of gpt-oss, such as `mlp1_weight`, of its `.blocks` and `.scales` (`_blocks`, `_scales` elsewhere).

    blocks  uint8 of (..., rows, K / 32, 16): two fp4 elements per byte, the even one in the low bits
    scales  uint8 of (..., rows, K / 32): e8m0

    Returns a QuantizedTensor of mxfp4, of (..., rows, K). Index leading dimensions such as experts.
    Raises TypeError or ValueError.
    """
    blocks, scales = _bytes("blocks", blocks), _bytes("scales", scales, "float8_e8m0fnu")
    if blocks.dim() < 3 or blocks.shape[-1] != 16:
        fail(ValueError, "blocks", "shape (..., rows, K / 32, 16)", tuple(blocks.shape))
    if scales.shape != blocks.shape[:-1]:
        fail(ValueError, "scales", f"shape {tuple(blocks.shape[:-1])}, as blocks have", tuple(scales.shape))
    return QuantizedTensor(blocks.flatten(-2), scales, "mxfp4")


def load_nvfp4_modelopt(weight, weight_scale, weight_scale_2):
    """A weight of NVIDIA's ModelOpt in NVFP4, of its three tensors.

    weight          uint8 of (..., N, K / 2): two fp4 elements per byte, the even one in the low bits
    weight_scale    float8_e4m3fn of (..., N, K / 16), row-major
    weight_scale_2  f32, one value: the tensor scale

    A value is element * weight_scale * weight_scale_2. Returns a QuantizedTensor of nvfp4, of (..., N, K).
    Raises TypeError or ValueError.
    """
    weight = _bytes("weight", weight, "float4_e2m1fn_x2")
    weight_scale = _bytes("weight_scale", weight_scale, "float8_e4m3fn")
    check_tensors(weight_scale_2=weight_scale_2)
    if weight_scale_2.numel() != 1 or weight_scale_2.dtype != torch.float32:
        fail(ValueError, "weight_scale_2", "one number of float32",
             f"{weight_scale_2.dtype} of shape {tuple(weight_scale_2.shape)}")
    return QuantizedTensor(weight, weight_scale, "nvfp4", weight_scale_2.reshape(()))
