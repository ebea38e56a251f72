"""Mixtures of experts with quantized weights, and the conversion of models to them."""

import inspect
import math
from typing import NamedTuple

import torch
from torch import nn

from ..routing import MOST_GROUPS
from . import formats, ops
from .checks import (
    VALUE_DTYPES,
    check_accumulate,
    check_activations,
    check_moe,
    check_tensors,
    fail,
    is_usual_moe,
)
from .checkpoints import BLOCK_SIZE, load_fp8_block_deepseek
from .conversion import OWN, KeptTypes, convert_modules
from .fp8_kernels import CHUNK
from .moe_kernels import PAIR_COLUMNS
from .quantized import QuantizedTensor, dequantize, repeat_rows


class Gate(NamedTuple):
    """The activation of experts: g * sigmoid(alpha * g) * (u + shift), with g = min(gate, limit) and
    u = clamp(up, -limit, limit).
    """

    alpha: float = 1.0
    limit: float = math.inf
    shift: float = 0.0


SILU = Gate()
GPT_OSS = Gate(1.702, 7.0, 1.0)
# How rows of gates and of what belongs to them stand in the first weight: all gates first; in turn; or in blocks of 8,
# as kernels read them.
LAYOUTS = ("halves", "interleaved", "blocks")
# What a module keeps of a weight.
PARTS = ("codes", "scales", "tensor_scale", "bias")


def _order_of_pairs(rows, layout, device):
    """Where the rows in blocks of 8 come from."""
    if layout not in LAYOUTS:
        fail(ValueError, "layout", " or ".join(map(repr, LAYOUTS)), repr(layout))
    if rows % (2 * PAIR_COLUMNS):
        fail(ValueError, "rows of up", f"a multiple of {2 * PAIR_COLUMNS}", rows)
    order = torch.arange(rows, device=device)
    if layout == "halves":
        return order.reshape(2, -1, PAIR_COLUMNS).transpose(0, 1).reshape(-1)
    if layout == "interleaved":
        return order.reshape(-1, PAIR_COLUMNS, 2).transpose(1, 2).reshape(-1)
    return order


def _scales_of_rows(scales, rows, format):
    """The scales of a weight of so many rows, one for each row."""
    return repeat_rows(scales, rows, format.weight_block[0]) if format.is_coarse else scales


def _parts_of(name, weight, bias):
    """The tensors of a weight and its bias, as kernels take them."""
    check_tensors((f"{name}_bias",), **{f"{name}_bias": bias})
    g = weight.tensor_scale
    if formats.get(weight.format).is_scaled:
        g = torch.ones((), dtype=torch.float32, device=weight.device) if g is None else g
        g = g.reshape(-1).expand(weight.shape[0])
    return weight.codes, weight.scales, g, None if bias is None else bias.detach().to(torch.float32)


class MoE(KeptTypes):
    """Experts with quantized weights, for inference: adds up, for each token, the results of its experts.

    up, down            QuantizedTensors of G x 2I x H and G x H x I, of one format
    up_bias, down_bias  of G x 2I and G x H, kept in f32, or None
    gate                a Gate: silu(gate) * up by default
    layout              of the rows of `up`, and of up_bias: "halves" (all gates first), "interleaved" (gate, up, gate,
                        ...) or "blocks" (8 gates, 8 others, ...), in which they are kept
    activations         None: weight-only quantization, x stays bf16. "dynamic": x of both products is quantized to the
                        weights' format; fp8_block and fp8_row have only this
    accumulate          for fp8_block and fp8_row, None or 128: the licence that `linear` has

    It is called as the experts of transformers are: with bf16 of (..., H), the int32 or int64 ids of S x J experts, and
    their weights, of S x J, or S x G with the weights of all. Ids outside of 0 to G - 1 add nothing. It returns bf16 of
    (..., H), as the op `moe` does. Nothing waits for the card. Gradients raise RuntimeError.

    Buffers are `up_codes`, `up_scales`, `up_tensor_scale`, `up_bias`, and the same of `down`. `up_scales` of fp8_block
    are f32 of G x 2I x ceil(H / 128): 128 rows that share a scale do not stand together any more.
    """

    def __init__(
        self, up, down, up_bias=None, down_bias=None, gate=SILU, layout="halves", activations=None, accumulate=None
    ):
        super().__init__()
        for name, weight in (("up", up), ("down", down)):
            if not isinstance(weight, QuantizedTensor):
                fail(TypeError, name, "a QuantizedTensor", type(weight).__name__)
            if len(weight.shape) != 3 or weight.is_sparse:
                fail(ValueError, name, "3 dimensions, and no sparse weight", repr(weight))
        if up.format != down.format:
            fail(ValueError, "down", f"the format of up, {up.format!r}", repr(down.format))
        format = formats.get(up.format)
        self.gate, self.format, self.activations = Gate(*map(float, gate)), up.format, activations
        self.accumulate = accumulate
        self.num_experts, self.hidden_size, self.intermediate_size = down.shape
        order = _order_of_pairs(up.shape[1], layout, up.device)
        codes, scales, *rest = _parts_of("up", up, up_bias)
        products = (codes, _scales_of_rows(scales, up.shape[1], format), *rest), _parts_of("down", down, down_bias)
        x = torch.empty((0, self.hidden_size), dtype=torch.bfloat16, device=up.device)
        ids = torch.empty((0, 1), dtype=torch.int64, device=up.device)
        check_moe(x, ids, ids.to(torch.float32), *products, format, activations, accumulate)
        for name, product in zip(("up", "down"), products):
            for part, tensor in zip(PARTS, product):
                if name == "up" and layout != "blocks" and part != "tensor_scale" and tensor is not None:
                    tensor = tensor.index_select(1, order)
                self.register_buffer(f"{name}_{part}", None if tensor is None else tensor.contiguous())

    def _product(self, name):
        return tuple(self._buffers[f"{name}_{part}"] for part in PARTS)

    @classmethod
    def from_float(
        cls, up, down, format, up_bias=None, down_bias=None, gate=SILU, layout="halves", activations=None,
        accumulate=None,
    ):
        """The same from weights of bf16, f16 or f32, which are quantized on their device, one expert after the other.

        Each expert has a tensor scale of its own. Raises TypeError or ValueError.
        """
        check_activations(activations, formats.get(format))
        check_accumulate(accumulate, format=formats.get(format))
        check_tensors(up=up, down=down)
        for name, weight in (("up", up), ("down", down)):
            if weight.dim() != 3 or not weight.shape[0]:
                fail(ValueError, name, "3 dimensions, the first of at least 1", f"shape {tuple(weight.shape)}")
        quantized = (
            QuantizedTensor.stack(
                QuantizedTensor.from_float(weight[expert], format) for expert in range(weight.shape[0])
            ) for weight in (up, down)
        )
        return cls(*quantized, up_bias, down_bias, gate, layout, activations, accumulate)

    def dequantize(self, dtype=torch.bfloat16, layout="halves"):
        """The weights (up, down), of G x 2I x H and G x H x I, with the rows of `up` in a `layout`."""
        format = formats.get(self.format)
        up, down = (
            dequantize(*self._product(name)[:3], of, dtype) for name, of in (("up", format.of_pairs), ("down", format))
        )
        back = torch.argsort(_order_of_pairs(up.shape[1], layout, up.device))
        return up.index_select(1, back), down

    def forward(self, hidden_states, top_k_index=None, top_k_weights=None, router_indices=None, routing_weights=None):
        # Some models of transformers have other names for them.
        ids = router_indices if top_k_index is None else top_k_index
        weights = routing_weights if top_k_weights is None else top_k_weights
        up, down = self._product("up"), self._product("down")
        if not ops.is_plain(hidden_states, weights):
            ops.check_untraced(self.format, x=hidden_states, ids=ids, weights=weights)
            return torch.ops.blockscale.moe(
                hidden_states, ids, weights, *up, *down, self.format, *self.gate, self.activations, self.accumulate
            )
        format = formats.FORMATS[self.format]
        if not is_usual_moe(hidden_states, ids, weights, self.hidden_size) or up[0].device != hidden_states.device:
            check_moe(hidden_states, ids, weights, up, down, format, self.activations, self.accumulate)
        return ops.run_checked_moe(
            hidden_states, ids, weights, up, down, format, self.gate, self.activations, self.accumulate
        )

    def extra_repr(self):
        return (
            f"num_experts={self.num_experts}, hidden_size={self.hidden_size}, "
            f"intermediate_size={self.intermediate_size}, format={self.format!r}, gate={self.gate}, "
            f"activations={self.activations!r}" + (f", accumulate={self.accumulate}" if self.accumulate else "")
        )


# Models of transformers.

WEIGHTS = ("gate_up_proj", "down_proj")
BIASES = ("gate_up_proj_bias", "down_proj_bias")
# The ids of experts among the parameters of `forward`.
IDS = ("top_k_index", "router_indices")
# The class for weights that are quantized already.
STORED = "Mxfp4GptOssExperts"
# That for weights of FP8 checkpoints, whose kernels add up 128 products at a time, and the factors of its weights.
FP8_EXPERTS = "FP8Experts"
FACTORS = tuple(f"{name}_scale_inv" for name in WEIGHTS)
# What such a module says of the order of its rows, of x and of its results, if it is one that `MoE` is for.
OPTIONS_OF_FP8 = {
    "has_gate": True, "activation_scheme": "dynamic", "activation_format": None, "is_transposed": False,
    "is_concatenated": True, "holds_interleaved_gate_up": False, "has_post_expert_norm": False,
}


def _has_experts(module):
    """Whether a module holds the weights of experts as transformers does, in two parameters; those of three dimensions
    can be converted.
    """
    if type(module).__name__ in (STORED, FP8_EXPERTS):
        return True
    return not isinstance(module, MoE) and all(
        isinstance(getattr(module, name, None), torch.Tensor) and getattr(module, name).dim() >= 3
        for name in WEIGHTS
    )


def _is_fp8_experts(module):
    """Whether it is FP8Experts of transformers, which need not be installed, or has codes and factors as they have."""
    return type(module).__name__ == FP8_EXPERTS or any(
        isinstance(getattr(module, name, None), torch.Tensor) for name in FACTORS
    )


def _weights_of_fp8(module):
    """(up, down), QuantizedTensors of fp8_block that share the codes of a module of `_is_fp8_experts`. Raises TypeError
    or ValueError.
    """
    made = []
    for name, factors in zip(WEIGHTS, FACTORS):
        parts = {each: getattr(module, each, None) for each in (name, factors)}
        check_tensors(**parts)
        if parts[name].dim() != 3:
            fail(ValueError, name, "3 dimensions", f"shape {tuple(parts[name].shape)}")
        try:
            made.append(load_fp8_block_deepseek(*(each.detach() for each in parts.values()), module.block_size))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from error
    up, down = made
    rows, columns = up.shape[1:]
    if _is_transposed(up, down) is not False or up.shape[0] != down.shape[0]:
        fail(ValueError, "down_proj", f"shape {(up.shape[0], columns, rows // 2)}, for gate_up_proj of {tuple(up.shape)}",
             tuple(down.shape))
    if rows % (2 * BLOCK_SIZE[0]):
        # A block of factors would be one for gates and for others, or for gates alone: files mean the latter, kernels
        # of transformers the former.
        fail(ValueError, "gate_up_proj", f"a multiple of {2 * BLOCK_SIZE[0]} rows, so that gates and others share no block",
             rows)
    return up, down


def _reason_to_keep_fp8(module, format):
    """The same as `_reason_to_keep` for a module of `_is_fp8_experts`."""
    what = f"a {type(module).__name__}"
    if format != "fp8_block":
        return f"{what}, whose weights are quantized already, for fp8_block"
    if type(module).__name__ != FP8_EXPERTS:
        # FineGrainedExperts have weights of the same shape with gates and others in turn.
        return f"{what}, whose weights are quantized already, and which is no {FP8_EXPERTS}, of which the order of rows is known"
    for option, expected in OPTIONS_OF_FP8.items():
        if getattr(module, option, expected) != expected:
            return f"{what} with {option} {getattr(module, option)!r}, which is not {expected!r}"
    if getattr(module, "block_size", None) is None:
        return f"{what} without block_size"
    try:
        _weights_of_fp8(module)
    except (TypeError, ValueError) as error:
        return f"{what} with {error}"
    return None


def _is_transposed(up, down):
    """Whether weights are G x H x 2I and G x I x H; None if they do not belong together."""
    _, rows, columns = up.shape
    if (rows, columns) == (2 * down.shape[2], down.shape[1]):
        return False
    return True if (columns, rows) == (2 * down.shape[1], down.shape[2]) else None


def _is_silu(function):
    return isinstance(function, nn.SiLU) or type(function).__name__ == "SiLUActivation" or function is nn.functional.silu


def _gate_of(module):
    """(gate, layout) of a module's activation; None if it is another one."""
    kind = type(module)
    if kind.__name__ == "GptOssExperts":
        return Gate(float(module.alpha), float(module.limit), 1.0), "interleaved"
    # A class that has its own says so; otherwise it is that of the module that chooses an implementation.
    own = getattr(kind, "_apply_gate", None)
    if own is not None and not getattr(own, "__module__", "").startswith("transformers.integrations"):
        return None
    if _is_fp8_experts(module):
        gate = _gate_of_fp8(module)
        return None if gate is None else (gate, "halves")
    return (SILU, "halves") if _is_silu(getattr(module, "act_fn", None)) else None


def _gate_of_fp8(module):
    """The Gate of FP8Experts: that of gpt-oss with `swiglu_alpha`, else silu, of what is at most `limit` if there is one.
    None if it is another one.
    """
    alpha, limit = getattr(module, "swiglu_alpha", None), getattr(module, "swiglu_limit", None)
    if alpha is not None:
        return None if limit is None else Gate(float(alpha), float(limit), 1.0)
    if not _is_silu(getattr(module, "act_fn", None)):
        return None
    # The first versions have another name for it.
    limit = getattr(module, "limit", None) if limit is None else limit
    return SILU if limit is None else Gate(1.0, float(limit), 0.0)


def _reason_to_keep(module, format):
    """Why experts cannot be converted; None if they can."""
    if type(module).__name__ == STORED:
        return f"a {STORED}, which is quantized already (load_mxfp4_gpt_oss reads its weights)"
    if _is_fp8_experts(module):
        reason = _reason_to_keep_fp8(module, format)
        if reason:
            return reason
    up, down = module.gate_up_proj, module.down_proj
    has_matrices = up.dim() == 3 and down.dim() == 3 and up.shape[0] == down.shape[0]
    is_transposed = _is_transposed(up, down) if has_matrices else None
    if is_transposed is None:
        return f"weights of {tuple(up.shape)} and {tuple(down.shape)}, which are not those of experts"
    types = up.dtype, down.dtype
    has_types = _is_fp8_experts(module) or set(types) <= set(VALUE_DTYPES)
    if not has_types or not 0 < up.shape[0] <= MOST_GROUPS:
        return f"{up.shape[0]} experts of {types[0]} and {types[1]}, of which there are no quantized ones"
    if not any(name in inspect.signature(type(module).forward).parameters for name in IDS):
        return f"the forward of {type(module).__name__}, which takes no {' or '.join(IDS)}"
    if _gate_of(module) is None:
        return f"the activation of {type(module).__name__}, which is neither silu(gate) * up nor that of gpt-oss"
    block = formats.get(format).block
    for columns in (up.shape[1 if is_transposed else 2], down.shape[1 if is_transposed else 2]):
        if columns == 0 or columns % block:
            return f"{columns} columns of weights, no multiple of {block}"
    rows = (2 * down.shape[1 if is_transposed else 2], down.shape[2 if is_transposed else 1])
    for name, weight, count in zip(BIASES, (up, down), rows):
        bias = getattr(module, name, None)
        if bias is not None and (tuple(bias.shape) != (up.shape[0], count) or bias.device != weight.device):
            return f"a {name} of {tuple(bias.shape)} on {bias.device}, for weights of {tuple(weight.shape)}"
    if up.device != down.device:
        return f"weights on {up.device} and {down.device}"
    return None


def _convert(module, format, activations, accumulate):
    if _is_fp8_experts(module):
        gate, layout = _gate_of(module)
        biases = (getattr(module, name, None) for name in BIASES)
        own = CHUNK if accumulate == OWN else accumulate
        return MoE(*_weights_of_fp8(module), *biases, gate, layout, activations, own)
    accumulate = None if accumulate == OWN else accumulate
    weights = (module.gate_up_proj.detach(), module.down_proj.detach())
    if _is_transposed(*weights):
        weights = (each.transpose(1, 2) for each in weights)
    gate, layout = _gate_of(module)
    biases = (getattr(module, name, None) for name in BIASES)
    return MoE.from_float(*weights, format, *biases, gate, layout, activations, accumulate)


def convert_moe_(model, format, activations=None, filter=None, unsupported="raise", accumulate=OWN):
    """Replaces the experts of a model of transformers by `MoE`s of `format`, in place. Routers stay as they are.

    Experts are modules with `gate_up_proj` and `down_proj` of three dimensions, G x 2I x H and G x H x I, or both
    transposed, whose activation is silu(gate) * up of halves, or that of gpt-oss.

    format       "mxfp8", "mxfp4", "nvfp4", "fp8_block" or "fp8_row"
    activations  None or "dynamic", as for MoE
    filter       called with the name and the module of experts, which are kept if it returns false. The default converts
                 all
    unsupported  what to do with experts that cannot be converted: "raise", the default, raises ValueError before
                 anything is changed; "keep" keeps them, with a warning
    accumulate   None or 128, as for MoE. "own", the default, is 128 for FP8Experts, whose kernels add up 128 products at
                 a time in fp8 tensor cores, and None for others

    FP8Experts of transformers are quantized already. They become those of "fp8_block" if they have blocks of 128 x 128,
    and quantize x in each call: codes and factors stay what they are. I must be a multiple of 128. Others that have
    `gate_up_proj_scale_inv` and `down_proj_scale_inv`, such as FineGrainedExperts, cannot be converted.

    Returns a Conversion, with the names of the converted modules, and the reason for each kept one.
    """
    check_activations(activations, formats.get(format))
    check_accumulate(None if accumulate == OWN else accumulate, format=formats.get(format))
    if _has_experts(model):
        fail(ValueError, "model", "a module that has experts", "experts themselves: use MoE.from_float")

    def find_reason(name, module):
        reason = _reason_to_keep(module, format)
        if not reason:
            tensors = {f"{name}.{each}": getattr(module, each, None) for each in (*WEIGHTS, *BIASES)}
            check_tensors(tuple(tensors), **tensors)
        return reason

    return convert_modules(
        model, format, "experts", _has_experts, find_reason,
        lambda module: _convert(module, format, activations, accumulate), filter, unsupported,
    )
