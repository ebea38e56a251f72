"""Quantized weights for torch: quantized tensors, ops that torch.compile keeps in its graph, linear layers.

    from blockscale.torch import convert_linear_

    convert_linear_(model, "mxfp4")                          # weight-only: x stays bf16
    convert_linear_(model, "nvfp4", activations="dynamic")   # x is quantised, too
    convert_linear_(model, "mxfp8", sparse=True)             # 2:4 sparse weights
    convert_linear_(model, "fp8_row", activations="dynamic") # a scale for each token and for each channel
    convert_moe_(model, "mxfp4")                             # the experts of transformers' models

Kernels come from kernels.bundle and are launched by blockscale.runtime, so neither a compiler nor the CUDA toolkit is
needed. See docs/Torch.md. Needs torch 2.4 or later, which is imported here.
"""

from .checkpoints import (
    load_fp8_block_deepseek,
    load_fp8_block_deepseek_experts,
    load_fp8_compressed_tensors,
    load_fp8_modelopt,
    load_fp8_row_compressed_tensors,
    load_mxfp4_gpt_oss,
    load_nvfp4_modelopt,
    load_sparse_24_bitmask,
)
from .conversion import Conversion
from .experts import GPT_OSS, SILU, Gate, MoE, convert_moe_
from .linear import Linear, convert_linear_
from .ops import grouped_linear, linear, mma_scaled, moe, quantize, route
from .quantized import QuantizedTensor, sparsify

__all__ = [
    "Conversion",
    "GPT_OSS",
    "Gate",
    "Linear",
    "MoE",
    "QuantizedTensor",
    "SILU",
    "convert_linear_",
    "convert_moe_",
    "grouped_linear",
    "linear",
    "load_fp8_block_deepseek",
    "load_fp8_block_deepseek_experts",
    "load_fp8_compressed_tensors",
    "load_fp8_modelopt",
    "load_fp8_row_compressed_tensors",
    "load_mxfp4_gpt_oss",
    "load_nvfp4_modelopt",
    "load_sparse_24_bitmask",
    "mma_scaled",
    "moe",
    "quantize",
    "route",
    "sparsify",
]
