"""Experts, routes, and what a mixture of them should give."""

import math

import numpy as np
from test_torch_host import quantized, random_values, scale_of

GATES = {"silu": (1.0, math.inf, 0.0), "gpt_oss": (1.702, 7.0, 1.0)}
LAYOUTS = ("halves", "interleaved", "blocks")
VALUE_DTYPES = ("bfloat16", "float16", "float32")
# G, H and I.
EXPERTS, HIDDEN, INNER = 5, 64, 32
ACTIVATIONS = (None, "dynamic")
BUFFERS = [f"{name}_{part}" for name in ("up", "down") for part in ("codes", "scales", "tensor_scale", "bias")]


def make_experts(torch, bias=True, dtype="bfloat16"):
    """The arguments of MoE.from_float, by name."""
    parts = dict(up=random_values(torch, EXPERTS, 2 * INNER, HIDDEN, dtype=dtype, seed=1),
                 down=random_values(torch, EXPERTS, HIDDEN, INNER, dtype=dtype, seed=2))
    if bias:
        parts.update(up_bias=random_values(torch, EXPERTS, 2 * INNER, dtype=dtype, seed=3),
                     down_bias=random_values(torch, EXPERTS, HIDDEN, dtype=dtype, seed=4))
    return parts


def make_moe(torch, format, bias=True, **options):
    from blockscale.torch import MoE

    return MoE.from_float(**make_experts(torch, bias), format=format, **options)


def make_routes(torch, count=6, top_k=3, ids_dtype="int64", dtype="float32", all_weights=False, device="cpu"):
    """Ids, some of nobody, and weights."""
    rng = np.random.default_rng(count + top_k)
    ids = rng.integers(0, EXPERTS, (count, top_k))
    nobody = rng.random(ids.shape) < 0.2
    ids[nobody] = rng.choice([-1, EXPERTS, -(2**31), 2**31 - 1], nobody.sum())
    weights = random_values(torch, count, EXPERTS if all_weights else top_k, dtype=dtype, device=device, seed=5)
    return torch.from_numpy(ids).to(getattr(torch, ids_dtype)).to(device), weights


def experts_of(array, format):
    """The values of quantized weights, each expert with a tensor scale of its own."""
    return np.stack([quantized(each, format, scale_of(each, format)) for each in array]).astype(np.float64)


def split(array, layout):
    """Of rows of `up`, those of gates and those that belong to them."""
    if layout == "halves":
        return np.split(array, 2, axis=1)
    if layout == "interleaved":
        return array[:, 0::2], array[:, 1::2]
    blocks = array.reshape(len(array), -1, 2, 8, *array.shape[2:])
    return (blocks[:, :, i].reshape(len(array), -1, *array.shape[2:]) for i in range(2))


def round_bf16(torch, values):
    return torch.from_numpy(values.astype(np.float32)).to(torch.bfloat16).values().astype(np.float64)


def rows_of(values, format, activations):
    """What a product reads of rows that are exact in bf16."""
    if activations is None:
        return values
    return quantized(values.astype(np.float32), format, scale_of(values.astype(np.float32), format)).astype(np.float64)


def multiply_experts(torch, x, ids, weights, up, down, biases, gate, layout, read):
    """Token by token and slot by slot, in f64: of weights as they are, and of rows as `read` makes them."""
    alpha, limit, shift = GATES[gate]
    experts, hidden, inner = down.shape
    gates, others = split(up, layout)
    gate_bias, other_bias = split(biases.get("up_bias", np.zeros((experts, 2 * inner))), layout)
    down_bias = biases.get("down_bias", np.zeros((experts, hidden)))
    x = read(x.values().reshape(-1, hidden))
    ids, weights = ids.numpy(), weights.values().astype(np.float64)
    slots = [(token, slot) for token, slot in np.ndindex(*ids.shape) if 0 <= ids[token, slot] < experts]
    h = np.zeros((len(slots), inner))
    with np.errstate(over="ignore"):
        for i, (token, slot) in enumerate(slots):
            expert = ids[token, slot]
            g = np.minimum(gates[expert] @ x[token] + gate_bias[expert], limit)
            u = np.clip(others[expert] @ x[token] + other_bias[expert], -limit, limit)
            h[i] = round_bf16(torch, g / (1 + np.exp(-alpha * g)) * (u + shift))
    result = np.zeros(x.shape)
    for (token, slot), row in zip(slots, read(h)):
        expert = ids[token, slot]
        weight = weights[token, slot if weights.shape == ids.shape else expert]
        result[token] += weight * round_bf16(torch, down[expert] @ row + down_bias[expert])
    return result


def expected_moe(torch, x, ids, weights, parts, format, gate="silu", layout="halves", activations=None):
    parts = {name: each.float().numpy() for name, each in parts.items()}
    up, down = (experts_of(parts[name], format) for name in ("up", "down"))
    return multiply_experts(torch, x, ids, weights, up, down, parts, gate, layout,
                            lambda rows: rows_of(rows, format, activations))
