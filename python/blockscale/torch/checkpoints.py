"""Reads weights of published checkpoints into QuantizedTensors. Values do not change, and contiguous tensors are not
copied, but where a function says that it quantizes.
"""

import math
from collections.abc import Mapping

import numpy
import torch

from ..formats import decode
from ..sparse_metadata import compress_bitmask
from . import cpu, formats
from .checks import STATIC, VALUE_DTYPES, check_devices, check_input_scale, check_tensors, fail
from .quantized import QuantizedTensor, table

# The e8m0 scale 1.
ONE = 127
# The weight_block_size of fp8_block.
BLOCK_SIZE = (128, 128)
# compressed-tensors: the format of weights of a strategy, and how x is quantized, by the strategy of its scales and whether
# they are dynamic.
WEIGHT_STRATEGIES = {"tensor": "fp8_row", "channel": "fp8_row", "block": "fp8_block"}
INPUT_STRATEGIES = {
    "fp8_row": {("token", True): "dynamic", ("tensor", False): "static"},
    "fp8_block": {("group", True): "dynamic", ("tensor", False): "static"},
}
# ModelOpt: the strategy of weights, and how x is quantized.
MODELOPT_ALGORITHMS = {"FP8": ("tensor", "static"), "FP8_PER_CHANNEL_PER_TOKEN": ("channel", "dynamic")}


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


def load_fp8_block_deepseek(weight, weight_scale_inv, weight_block_size=(128, 128)):
    """A weight of an FP8 checkpoint with `weight_block_size` [128, 128], as DeepSeek-V3's, of its two tensors.

    weight             float8_e4m3fn of (..., N, K), K a multiple of 32
    weight_scale_inv   f32, bf16, f16, or float8_e8m0fnu, of (..., ceil(N / 128), ceil(K / 128)): factors of elements, in
                       spite of their name
    weight_block_size  that of the checkpoint's quantization_config

    Returns a QuantizedTensor of fp8_block, of (..., N, K), whose scales are f32. Raises TypeError or ValueError.
    """
    if tuple(weight_block_size) != BLOCK_SIZE:
        fail(ValueError, "weight_block_size", list(BLOCK_SIZE), list(weight_block_size))
    weight = _bytes("weight", weight, "float8_e4m3fn")
    return QuantizedTensor(weight, _factors("weight_scale_inv", weight_scale_inv, has_powers=True), "fp8_block")


def load_fp8_block_deepseek_experts(tensors, prefix, experts, weight_block_size=(128, 128)):
    """The experts of a layer of such a checkpoint, as DeepSeek-V3, Qwen3-MoE-FP8, GLM and Kimi have them.

    tensors            a mapping of names to tensors: for each expert i, `PREFIXi.gate_proj.weight`, `.up_proj.weight` and
                       `.down_proj.weight`, and `weight_scale_inv` of each, as `load_fp8_block_deepseek` takes them. I x H,
                       I x H and H x I, I a multiple of 128
    prefix             what names begin with, such as "model.layers.3.mlp.experts."
    experts            how many there are
    weight_block_size  that of the checkpoint's quantization_config

    Returns (up, down), QuantizedTensors of fp8_block of G x 2I x H, with all gates first, and G x H x I: what MoE takes
    with layout="halves". Raises KeyError for a tensor that is not there, and TypeError or ValueError.
    """
    if not isinstance(experts, int) or isinstance(experts, bool) or experts < 1:
        fail(ValueError, "experts", "an int of at least 1", repr(experts))

    def load(expert, name):
        parts = [f"{prefix}{expert}.{name}.{part}" for part in ("weight", "weight_scale_inv")]
        missing = [part for part in parts if part not in tensors]
        if missing:
            raise KeyError(f"tensors: expected {missing[0]!r}")
        return load_fp8_block_deepseek(*(tensors[part] for part in parts), weight_block_size)

    def join(gate, up):
        if gate.shape != up.shape or gate.shape[0] % BLOCK_SIZE[0]:
            fail(ValueError, "gate_proj and up_proj", f"one shape, with a multiple of {BLOCK_SIZE[0]} rows",
                 f"{tuple(gate.shape)} and {tuple(up.shape)}")
        codes, scales = (
            torch.stack(parts, 0).reshape(-1, parts[0].shape[-1])
            for parts in ((gate.codes, up.codes), (gate.scales, up.scales))
        )
        return QuantizedTensor(codes, scales, "fp8_block")

    both = [join(load(expert, "gate_proj"), load(expert, "up_proj")) for expert in range(experts)]
    return QuantizedTensor.stack(both), QuantizedTensor.stack(load(expert, "down_proj") for expert in range(experts))


def load_fp8_row_compressed_tensors(weight, weight_scale):
    """A weight of compressed-tensors in FP8 with a scale for each channel, of its two tensors.

    weight        float8_e4m3fn of (..., N, K), K a multiple of 32
    weight_scale  f32, bf16 or f16 of (..., N, 1): factors

    Returns a QuantizedTensor of fp8_row, of (..., N, K), whose scales are f32. Raises TypeError or ValueError.
    """
    weight = _bytes("weight", weight, "float8_e4m3fn")
    return QuantizedTensor(weight, _factors("weight_scale", weight_scale), "fp8_row")


def load_fp8_compressed_tensors(weight, weight_scale, weights, input_activations, input_scale=None):
    """A layer of compressed-tensors in FP8, as `float-quantized` files have it, of its tensors and its scheme.

    weight             float8_e4m3fn of N x K, K a multiple of 32
    weight_scale       f32, bf16 or f16, factors: one value for the strategy "tensor", N x 1 for "channel", and
                       ceil(N / 128) x ceil(K / 128) for "block"
    weights            the mapping of this name in a group of the file's `config_groups`. "block" needs the
                       block_structure [128, 128]
    input_activations  that of this name: dynamic of the strategy "token", beside "block" of "group" with the group_size
                       128; or static of the strategy "tensor"
    input_scale        f32, bf16 or f16, one value, for static ones: x / input_scale is what is rounded

    Returns the arguments of a Linear, a dict of `weight`, a QuantizedTensor of fp8_row or fp8_block, `activations` and
    `input_scale`. Raises TypeError or ValueError, also for other strategies, such as groups of weights, and integers.
    """
    strategy = _strategy("weights", weights, False)
    format = WEIGHT_STRATEGIES.get(strategy)
    if format is None:
        fail(ValueError, "weights['strategy']", " or ".join(map(repr, WEIGHT_STRATEGIES)), repr(strategy))
    if strategy == "block" and weights.get("block_structure") not in ([*BLOCK_SIZE], BLOCK_SIZE, "128x128"):
        fail(ValueError, "weights['block_structure']", [*BLOCK_SIZE], repr(weights.get("block_structure")))
    dynamic = input_activations.get("dynamic", False) if isinstance(input_activations, Mapping) else None
    inputs, kinds = _strategy("input_activations", input_activations, dynamic), INPUT_STRATEGIES[format]
    if (inputs, dynamic) not in kinds:
        expected = " or ".join(f"{name!r} with dynamic={is_dynamic}" for name, is_dynamic in kinds)
        fail(ValueError, "input_activations['strategy']", f"{expected}, beside weights of {strategy!r}",
             f"{inputs!r} with dynamic={dynamic}")
    if inputs == "group" and input_activations.get("group_size") != BLOCK_SIZE[1]:
        fail(ValueError, "input_activations['group_size']", BLOCK_SIZE[1], repr(input_activations.get("group_size")))
    return _layer(weight, weight_scale, strategy, kinds[inputs, dynamic], input_scale)


def load_fp8_modelopt(weight, weight_scale, input_scale=None, quant_algo="FP8"):
    """A layer of NVIDIA's ModelOpt in FP8, of its tensors.

    weight        float8_e4m3fn of N x K, K a multiple of 32
    weight_scale  f32, bf16 or f16, factors: one value for the `quant_algo` "FP8", N, or N x 1, for
                  "FP8_PER_CHANNEL_PER_TOKEN"
    input_scale   f32, bf16 or f16, one value, for "FP8": x / input_scale is what is rounded
    quant_algo    that of the file's configuration

    Returns the arguments of a Linear, a dict of `weight`, a QuantizedTensor of fp8_row, `activations` and `input_scale`.
    Raises TypeError or ValueError, also for another `quant_algo`.
    """
    if quant_algo not in MODELOPT_ALGORITHMS:
        fail(ValueError, "quant_algo", " or ".join(map(repr, MODELOPT_ALGORITHMS)), repr(quant_algo))
    strategy, activations = MODELOPT_ALGORITHMS[quant_algo]
    check_tensors(weight_scale=weight_scale)
    if strategy == "channel" and weight_scale.dim() == 1:
        weight_scale = weight_scale[..., None]
    return _layer(weight, weight_scale, strategy, activations, input_scale)


def _strategy(name, scheme, dynamic):
    """The strategy of a scheme of compressed-tensors, which must be one of symmetric FP8 and as dynamic as that."""
    if not isinstance(scheme, Mapping):
        fail(TypeError, name, "a mapping, as config_groups have", type(scheme).__name__)
    # The defaults of QuantizationArgs.
    for key, default, expected in (("type", "int", "float"), ("num_bits", 8, 8), ("symmetric", True, True),
                                   ("dynamic", False, dynamic)):
        if scheme.get(key, default) != expected:
            fail(ValueError, f"{name}[{key!r}]", repr(expected), repr(scheme.get(key, default)))
    strategy, size = scheme.get("strategy"), scheme.get("group_size")
    if strategy is not None:
        return strategy
    return "tensor" if size is None else "channel" if size == -1 else "group"


def _layer(weight, weight_scale, strategy, activations, input_scale):
    """The arguments of a Linear."""
    check_tensors(("input_scale",), weight=weight, weight_scale=weight_scale, input_scale=input_scale)
    if weight.dim() != 2:
        fail(ValueError, "weight", "2 dimensions", f"shape {tuple(weight.shape)}")
    if activations == STATIC:
        input_scale = factor_of_x("input_scale", input_scale)
    check_input_scale(input_scale, activations)
    check_devices(weight=weight, weight_scale=weight_scale, input_scale=input_scale)
    if strategy == "tensor":
        made = weight_of_one_factor("weight_scale", weight, weight_scale)
    else:
        format = WEIGHT_STRATEGIES[strategy]
        made = QuantizedTensor(_bytes("weight", weight, "float8_e4m3fn"), _factors("weight_scale", weight_scale), format)
    return {"weight": made, "activations": activations, "input_scale": input_scale}


def weight_of_one_factor(name, weight, scale):
    """A QuantizedTensor of fp8_row of an FP8 weight with one scale, which each row gets: the same values."""
    codes = _bytes("weight", weight, "float8_e4m3fn")
    return QuantizedTensor(codes, _one_factor(name, scale).expand(*codes.shape[:-1], 1), "fp8_row")


def _one_factor(name, scale):
    """A scale of one value as f32 without dimensions."""
    scale = _factors(name, scale)
    if scale.numel() != 1:
        fail(ValueError, name, "one value", f"shape {tuple(scale.shape)}")
    return scale.reshape(())


def factor_of_x(name, scale):
    """The same for the scale of x, which is divided by it. Waits for the card."""
    scale = _one_factor(name, scale)
    if not 0 < float(scale) < math.inf:
        fail(ValueError, name, "a finite number above 0", float(scale))
    return scale


def _factors(name, scales, has_powers=False):
    """Scales as f32, which holds all values of these types; with `has_powers`, they may be e8m0."""
    check_tensors(**{name: scales})
    powers = getattr(torch, "float8_e8m0fnu", None)
    if has_powers and powers is not None and scales.dtype == powers:
        return table("f8E8M0FNU", scales.device)[scales.view(torch.uint8).int()]
    if scales.dtype not in VALUE_DTYPES:
        types = [*VALUE_DTYPES, *[powers] * (has_powers and powers is not None)]
        fail(TypeError, name, " or ".join(map(str, types)), scales.dtype)
    return scales.to(torch.float32)


def load_sparse_24_bitmask(compressed, bitmask, weight_scale=None):
    """A weight of compressed-tensors in the format `sparse-24-bitmask`, of its `.compressed` and `.bitmask`.

    compressed    float8_e4m3fn, bf16, f16 or f32 of (..., N, K / 2): two of each four elements along K
    bitmask       uint8 of (..., N, K / 8): bit i % 8 of byte i / 8 is set if the element at k = i is stored
    weight_scale  factors of a quantized checkpoint, bf16, f16 or f32: one value, or one for each row, (..., N, 1)

    Returns a sparse QuantizedTensor of mxfp8, of (..., N, K), that keeps the elements of the mask. Elements of
    float8_e4m3fn without `weight_scale` stay as they are, with scales of 1; all else is quantized, factors included, to
    blocks of 64. K is a multiple of 64. Raises TypeError or ValueError.
    """
    format = formats.get("mxfp8", is_sparse=True)
    check_tensors(("weight_scale",), compressed=compressed, bitmask=bitmask, weight_scale=weight_scale)
    is_fp8 = compressed.dtype == getattr(torch, "float8_e4m3fn", None)
    if not is_fp8 and compressed.dtype not in VALUE_DTYPES:
        fail(TypeError, "compressed", f"torch.float8_e4m3fn or {' or '.join(map(str, VALUE_DTYPES))}", compressed.dtype)
    if bitmask.dtype != torch.uint8:
        fail(TypeError, "bitmask", torch.uint8, bitmask.dtype)
    if compressed.dim() < 2:
        fail(ValueError, "compressed", "at least 2 dimensions", f"shape {tuple(compressed.shape)}")
    *rows, half = compressed.shape
    if half == 0 or 2 * half % format.block:
        fail(ValueError, "compressed", f"rows of whole blocks of {format.block // 2} stored elements", f"{half}")
    if tuple(bitmask.shape) != (*rows, half // 4):
        fail(ValueError, "bitmask", f"shape {(*rows, half // 4)}, for compressed of shape {tuple(compressed.shape)}",
             tuple(bitmask.shape))
    check_devices(compressed=compressed, bitmask=bitmask, weight_scale=weight_scale)
    _, metadata = compress_bitmask(cpu.to_numpy(compressed.view(torch.uint8) if is_fp8 else compressed.float()),
                                   cpu.to_numpy(bitmask))
    if is_fp8 and weight_scale is None:
        codes = compressed.view(torch.uint8)
        scales = torch.from_numpy(numpy.full((*rows, 2 * half // format.block), ONE, numpy.uint8))
    else:
        codes, scales = cpu.quantize(_scaled(compressed, weight_scale, rows, is_fp8), None, formats.get("mxfp8"))
    codes, scales, metadata = (each.to(compressed.device) for each in (codes, scales, torch.from_numpy(metadata)))
    return QuantizedTensor(codes, scales, format.name, None, metadata)


def _scaled(compressed, weight_scale, rows, is_fp8):
    """Stored elements times their factors, in f32, on the CPU."""
    if is_fp8:
        values = decode(cpu.to_numpy(compressed.view(torch.uint8)), "f8E4M3FN").astype(numpy.float32)
        values = torch.from_numpy(values)
    else:
        values = compressed.float().cpu()
    if weight_scale is None:
        return values
    if weight_scale.dtype not in VALUE_DTYPES:
        fail(TypeError, "weight_scale", " or ".join(map(str, VALUE_DTYPES)), weight_scale.dtype)
    if weight_scale.numel() != 1 and tuple(weight_scale.shape) != (*rows, 1):
        fail(ValueError, "weight_scale", f"one value or shape {(*rows, 1)}", f"shape {tuple(weight_scale.shape)}")
    factors = weight_scale.float().cpu()
    return values * (factors.reshape(()) if weight_scale.numel() == 1 else factors)
