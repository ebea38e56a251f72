"""Mixtures of experts of fp8_block and fp8_row in blockscale.torch: values on the CPU, launches, checkpoints."""

import blockscale
import numpy as np
import pytest
from moe_cases import GATES, LAYOUTS, make_routes, multiply_experts, round_bf16
from test_torch_convert_moe import make_model, make_module, qwen3_experts
from test_torch_fp8 import BLOCKS, FORMATS, checkpoint, values
from test_torch_host import close, random_values

# G, H and I: rows of gates and of others that share scales, and rows that end inside of a block.
EXPERTS, HIDDEN, INNER = 5, 160, 160
ACCUMULATE = (None, 128)


def make_experts(torch, bias=True):
    """The arguments of MoE.from_float. Magnitudes differ by rows and by columns, so that each scale shows."""
    parts = {}
    for seed, (name, shape) in enumerate((("up", (EXPERTS, 2 * INNER, HIDDEN)), ("down", (EXPERTS, HIDDEN, INNER)))):
        rng = np.random.default_rng(seed)
        steps = np.exp2(rng.integers(-3, 4, (*shape[:2], 1)) + np.repeat(rng.integers(-3, 4, (1, 1, shape[2] // 32)), 32, 2))
        weight = random_values(torch, *shape, seed=seed).float().numpy() * steps.astype(np.float32)
        parts[name] = torch.from_numpy(weight.astype(np.float32))
    if bias:
        parts.update(up_bias=random_values(torch, EXPERTS, 2 * INNER, seed=3), down_bias=random_values(torch, EXPERTS, HIDDEN, seed=4))
    return parts


def of_experts(array, format):
    return np.stack([values(each, BLOCKS[format][0]) for each in array]).astype(np.float64)


def of_rows(array, format):
    return values(array.astype(np.float32), BLOCKS[format][1]).astype(np.float64)


def expected_moe(torch, x, ids, weights, parts, format, gate, layout):
    parts = {name: each.float().numpy() for name, each in parts.items()}
    up, down = (of_experts(parts[name], format) for name in ("up", "down"))
    return multiply_experts(torch, x, ids, weights, up, down, parts, gate, layout, lambda rows: of_rows(rows, format))


# Values.


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("gate, bias, accumulate", [("silu", False, None), ("gpt_oss", True, 128)])
@pytest.mark.parametrize("format", FORMATS)
def test_moe_on_the_cpu(torch, format, gate, bias, accumulate, layout):
    from blockscale.torch import MoE

    parts = make_experts(torch, bias)
    layer = MoE.from_float(**parts, format=format, gate=GATES[gate], layout=layout, activations="dynamic", accumulate=accumulate)
    x, (ids, weights) = random_values(torch, 2, 3, HIDDEN), make_routes(torch)
    out = layer(x, ids, weights)
    expected = expected_moe(torch, x, ids, weights, parts, format, gate, layout).reshape(2, 3, HIDDEN)
    assert out.shape == (2, 3, HIDDEN) and close(out, expected)
    assert (out.values() == round_bf16(torch, expected)).mean() > 0.95
    assert (", accumulate=128" in layer.extra_repr()) == (accumulate == 128)
    assert layer.up_scales.shape == (EXPERTS, 2 * INNER, 2 if format == "fp8_block" else 1)
    up, down = layer.dequantize(torch.float32, layout)
    np.testing.assert_array_equal(up.numpy(), of_experts(parts["up"].numpy(), format).astype(np.float32))
    np.testing.assert_array_equal(down.numpy(), of_experts(parts["down"].numpy(), format).astype(np.float32))


@pytest.mark.parametrize("format", FORMATS)
def test_calls_that_are_checked(torch, format):
    """Weights of all experts are legal, and what is wrong is said."""
    from blockscale.torch import MoE, moe

    layer = MoE.from_float(**make_experts(torch), format=format, activations="dynamic")
    x, (ids, weights) = random_values(torch, 6, HIDDEN), make_routes(torch, all_weights=True)
    expected = moe(x, ids, weights, layer.up_codes, layer.up_scales, None, layer.up_bias, layer.down_codes, layer.down_scales,
                   None, layer.down_bias, format, *layer.gate, "dynamic")
    np.testing.assert_array_equal(layer(x, ids, weights).array, expected.array)
    with pytest.raises(ValueError, match="x: expected"):
        layer(random_values(torch, 6, HIDDEN + 32), ids, weights)


@pytest.mark.parametrize("format", FORMATS)
def test_the_op_is_the_module(torch, format):
    from blockscale.torch import MoE, moe, ops

    layer = MoE.from_float(**make_experts(torch), format=format, activations="dynamic", accumulate=128)
    x, (ids, weights) = random_values(torch, 6, HIDDEN), make_routes(torch)
    arguments = (x, ids, weights, layer.up_codes, layer.up_scales, None, layer.up_bias, layer.down_codes, layer.down_scales,
                 None, layer.down_bias, format, *layer.gate, "dynamic", 128)
    np.testing.assert_array_equal(moe(*arguments).array, layer(x, ids, weights).array)
    assert ops.moe_op.fake(*arguments).shape == x.shape


@pytest.mark.parametrize("accumulate", ACCUMULATE)
@pytest.mark.parametrize("offsets", [[2, 2, 7, 7, 9], [0, 0, 0, 0, 0], [1, 3, 4, 6, 8]])
@pytest.mark.parametrize("format", FORMATS)
def test_grouped_linear_on_the_cpu(torch, format, offsets, accumulate):
    """Rows behind the last end are nobody's."""
    from blockscale.torch import QuantizedTensor, grouped_linear, ops

    weight, x = make_experts(torch)["up"], random_values(torch, 9, HIDDEN, seed=1)
    made = QuantizedTensor.stack(QuantizedTensor.from_float(weight[i], format) for i in range(EXPERTS))
    values_of = of_experts(weight.numpy(), format)
    np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), values_of.astype(np.float32))
    arguments = x, made.codes, made.scales, None, torch.from_numpy(np.int32(offsets)), None, format, "dynamic", accumulate
    out, expected, start = grouped_linear(*arguments), np.zeros((9, 2 * INNER)), 0
    rows = of_rows(x.values(), format)
    for expert, end in enumerate(offsets):
        expected[start:end] = rows[start:end] @ values_of[expert].T
        start = end
    assert out.shape == (9, 2 * INNER) == ops.grouped_linear_op.fake(*arguments).shape
    assert not out.array[start:].any() and (start == 0 or close(out, expected))


# Launches.


@pytest.mark.parametrize("capability, accumulate, end", [
    ((9, 0), None, ""), ((9, 0), 128, "_accumulate128"), ((8, 0), 128, ""), ((10, 0), 128, ""),
])
@pytest.mark.parametrize("format", FORMATS)
def test_functions_on_the_card(fp8_torch, card, format, capability, accumulate, end, monkeypatch):
    """Cards of sm_90 have functions of their own for the licence."""
    from blockscale.torch import MoE, bundle, grouped_linear
    from blockscale.torch import card as backend

    torch, names, found = fp8_torch, [], bundle.function

    def function(name, of=bundle.NAME):
        names.append((name, of))
        return found(name, of)

    monkeypatch.setattr(bundle, "function", function)
    monkeypatch.setattr(backend, "_has_fp8_sums", lambda device: capability == (9, 0))
    monkeypatch.setattr(backend, "_warn_of_licence", lambda: None)
    layer = MoE.from_float(**make_experts(torch), format=format, activations="dynamic", accumulate=accumulate).to("cuda")
    x, routes = random_values(torch, 6, HIDDEN, device="cuda"), make_routes(torch, device="cuda")
    names.clear()
    assert layer(x, *routes).shape == x.shape
    assert names == [(f"dynamic_moe_{format}{end}", "fp8.bundle")]
    offsets = torch.from_numpy(np.int32([1, 2, 3, 4, 6])).to("cuda")
    down = layer.down_codes, layer.down_scales
    x = random_values(torch, 6, INNER, device="cuda")
    names.clear()
    assert grouped_linear(x, *down, None, offsets, None, format, "dynamic", accumulate).shape == (6, HIDDEN)
    assert names == [(f"dynamic_grouped_linear_{format}{end}", "fp8.bundle")]


# What is wrong.


def test_wrong_arguments(torch):
    from blockscale.torch import MoE, QuantizedTensor, convert_moe_, grouped_linear, moe

    parts = make_experts(torch)
    made = QuantizedTensor.stack(QuantizedTensor.from_float(parts["up"][i], "fp8_block") for i in range(EXPERTS))
    down = QuantizedTensor.stack(QuantizedTensor.from_float(parts["down"][i], "fp8_block") for i in range(EXPERTS))
    x, offsets = random_values(torch, 6, HIDDEN), torch.from_numpy(np.int32([1, 2, 3, 4, 6]))
    ids, weights = make_routes(torch)
    for call, message in (
        (lambda: MoE.from_float(**parts, format="fp8_row"), "activations: expected 'dynamic' with fp8_row, which quantizes x, got None"),
        (lambda: MoE(made, down), "activations: expected 'dynamic' with fp8_block, which quantizes x, got None"),
        (lambda: MoE(made, down, activations="dynamic", accumulate=64), "accumulate: expected None or 128, got 64"),
        (lambda: MoE.from_float(**parts, format="nvfp4", accumulate=128),
         "accumulate: expected None with nvfp4, whose kernels have no use for it, got 128"),
        (lambda: convert_moe_(torch.nn.Module(), "fp8_block"), "activations: expected 'dynamic' with fp8_block, which quantizes x, got None"),
        (lambda: grouped_linear(x, made.codes, made.scales, None, offsets, None, "fp8_block"),
         "activations: expected 'dynamic' with fp8_block, which quantizes x, got None"),
        (lambda: grouped_linear(x, made.codes, made.scales[:, :2], None, offsets, None, "fp8_block", "dynamic"),
         f"scales of the weights: expected shape (5, 3, 2), for codes of shape (5, {2 * INNER}, {HIDDEN}), got (5, 2, 2)"),
        (lambda: moe(x, ids, weights, made.codes, made.scales, None, None, down.codes, down.scales, None, None, "fp8_block", activations="dynamic"),
         f"scales of up: expected shape (5, {2 * INNER}, 2), for codes of shape (5, {2 * INNER}, {HIDDEN}), got (5, 3, 2)"),
    ):
        with pytest.raises(ValueError) as error:
            call()
        assert str(error.value) == message


# Checkpoints.


def deepseek(torch, inner, hidden):
    """Tensors of a layer by name, and the values of gates, of what belongs to them, and of the second weights."""
    tensors, expected = {}, []
    for expert in range(3):
        for number, (name, shape) in enumerate((("gate_proj", (inner, hidden)), ("up_proj", (inner, hidden)), ("down_proj", (hidden, inner)))):
            weight, scales, value = checkpoint(torch, *shape, seed=3 * expert + number)
            tensors[f"mlp.experts.{expert}.{name}.weight"] = weight
            tensors[f"mlp.experts.{expert}.{name}.weight_scale_inv"] = scales
            expected.append(value)
    return tensors, [np.stack(expected[i::3]) for i in range(3)]


def test_load_experts(torch):
    from blockscale.torch import MoE, load_fp8_block_deepseek_experts

    tensors, (gate, other, second) = deepseek(torch, 256, 160)
    up, down = load_fp8_block_deepseek_experts(tensors, "mlp.experts.", 3)
    np.testing.assert_array_equal(up.dequantize(torch.float32).numpy(), np.concatenate([gate, other], 1))
    np.testing.assert_array_equal(down.dequantize(torch.float32).numpy(), second)
    made = MoE(up, down, activations="dynamic").dequantize(torch.float32)
    np.testing.assert_array_equal(made[0].numpy(), np.concatenate([gate, other], 1))


def test_experts_that_do_not_fit(torch):
    from blockscale.torch import load_fp8_block_deepseek_experts

    tensors, _ = deepseek(torch, 256, 160)
    for experts in (0, True, 1.0):
        with pytest.raises(ValueError, match="^experts: expected an int of at least 1, got "):
            load_fp8_block_deepseek_experts(tensors, "mlp.experts.", experts)
    with pytest.raises(KeyError, match="tensors: expected 'mlp.experts.3.gate_proj.weight'"):
        load_fp8_block_deepseek_experts(tensors, "mlp.experts.", 4)
    with pytest.raises(ValueError, match=r"weight_block_size: expected \[128, 128\], got \[64, 64\]"):
        load_fp8_block_deepseek_experts(tensors, "mlp.experts.", 3, [64, 64])
    with pytest.raises(ValueError, match="gate_proj and up_proj: expected one shape, with a multiple of 128 rows"):
        load_fp8_block_deepseek_experts(deepseek(torch, 96, 160)[0], "mlp.experts.", 3)


# Conversion.


def fp8_experts(torch, inner=128, dtype="float32", kind="FP8Experts", block=128, **changes):
    """As transformers has it, and the values of its weights. H ends inside of a block."""
    made, parts = {}, {}
    for seed, (name, n, k) in enumerate((("gate_up_proj", 2 * inner, HIDDEN), ("down_proj", HIDDEN, inner))):
        experts = [checkpoint(torch, n, k, block, dtype, seed=EXPERTS * seed + i) for i in range(EXPERTS)]
        codes, factors, values = zip(*experts)
        made[name], made[f"{name}_scale_inv"] = torch.stack(codes, 0), torch.stack(factors, 0)
        parts[name] = np.stack(values)
    module = make_module(torch, kind, **{
        **made, "act_fn": torch.nn.SiLU(), "block_size": [block, block], "activation_scheme": "dynamic", "has_gate": True,
        "limit": None, "swiglu_alpha": None, "swiglu_limit": None, **changes,
    })
    return module, parts


@pytest.mark.parametrize("dtype, changes, gate, licence", [
    ("float32", {}, (1.0, np.inf, 0.0), {}),
    ("float8_e8m0fnu", dict(limit=7), (1.0, 7.0, 0.0), dict(accumulate=None)),
    ("bfloat16", dict(swiglu_alpha=1.702, swiglu_limit=7.0, limit=7.0, act_fn=None), (1.702, 7.0, 1.0), dict(accumulate=128)),
    ("float32", dict(swiglu_limit=5.0), (1.0, 5.0, 0.0), {}),
])
def test_convert_fp8_experts(torch, dtype, changes, gate, licence, monkeypatch):
    """Codes and factors are used as they are; and each constant of the gate."""
    from blockscale.torch import MoE, convert_moe_

    module, parts = fp8_experts(torch, dtype=dtype, **changes)
    down = module.down_proj
    model = make_model(torch, one=module, two=qwen3_experts(torch))
    assert convert_moe_(model, "fp8_block", "dynamic", **licence).converted == ["one.experts", "two.experts"]
    made, other = model.get_submodule("one.experts"), model.get_submodule("two.experts")
    wanted = licence.get("accumulate", 128)
    assert type(made) is MoE and made.format == "fp8_block" and made.gate == gate and made.accumulate == wanted
    assert other.accumulate == licence.get("accumulate") and (", accumulate=128" in made.extra_repr()) == (wanted == 128)
    assert np.shares_memory(made.down_codes.array, down.array)
    for got, expected in zip(made.dequantize(torch.float32), parts.values()):
        np.testing.assert_array_equal(got.numpy(), expected)
    x, (ids, weights) = random_values(torch, 6, HIDDEN), make_routes(torch)
    monkeypatch.setitem(GATES, "own", gate)
    expected = multiply_experts(torch, x, ids, weights, *(each.astype(np.float64) for each in parts.values()), {}, "own", "halves",
                                lambda rows: of_rows(rows, "fp8_block"))
    assert close(made(x, ids, weights), expected)


def swapped(torch, *names):
    """Changes that give weights their last dimensions in the other order."""
    module, _ = fp8_experts(torch)
    return {name: getattr(module, name).transpose(1, 2) for name in names}


FP8_REASONS = {
    "format": (lambda t: {}, "fp8_row", "whose weights are quantized already, for fp8_block", ","),
    "static": (lambda t: dict(activation_scheme="static"), "fp8_block", "activation_scheme 'static', which is not 'dynamic'", " with"),
    # Weights of the same shape, whose rows are in another order.
    "other class": (lambda t: dict(kind="FineGrainedExperts", holds_interleaved_gate_up=True), "fp8_block",
                    "whose weights are quantized already, and which is no FP8Experts, of which the order of rows is known", ","),
    "in turn": (lambda t: dict(is_concatenated=False), "fp8_block", "is_concatenated False, which is not True", " with"),
    "norm": (lambda t: dict(has_post_expert_norm=True), "fp8_block", "has_post_expert_norm True, which is not False", " with"),
    "x of bf16": (lambda t: dict(activation_format="bf16"), "fp8_block", "activation_format 'bf16', which is not None", " with"),
    "tensor": (lambda t: dict(block_size=None), "fp8_block", "block_size", " without"),
    "block": (lambda t: dict(block=32), "fp8_block", "gate_up_proj: weight_block_size: expected [128, 128], got [32, 32]", " with"),
    "up alone": (lambda t: dict(has_gate=False, gate_up_proj=None), "fp8_block", "has_gate False, which is not True", " with"),
    "no factors": (lambda t: dict(down_proj_scale_inv=None), "fp8_block",
                   "down_proj_scale_inv: expected a torch.Tensor, got NoneType", " with"),
    "fp4": (lambda t: dict(gate_up_proj=t.zeros((EXPERTS, 256, HIDDEN), t.int32)), "fp8_block",
            "gate_up_proj: weight: expected torch.uint8 or torch.float8_e4m3fn, got torch.int32", " with"),
    "bf16": (lambda t: dict(down_proj=t.zeros((EXPERTS, HIDDEN, 128), t.bfloat16)), "fp8_block",
             "down_proj: weight: expected torch.uint8 or torch.float8_e4m3fn, got torch.bfloat16", " with"),
    "two blocks of few rows": (lambda t: dict(inner=64, gate_up_proj_scale_inv=t.ones((EXPERTS, 2, 2))), "fp8_block",
                               "gate_up_proj: scales of the tensor: expected shape (5, 1, 2), for codes of shape (5, 128, 160), "
                               "got (5, 2, 2)", " with"),
    "shared block": (lambda t: dict(inner=96), "fp8_block",
                     "gate_up_proj: expected a multiple of 256 rows, so that gates and others share no block, got 192", " with"),
    "turned factors": (lambda t: swapped(t, "down_proj_scale_inv"), "fp8_block",
                       "down_proj: scales of the tensor: expected shape (5, 2, 1), for codes of shape (5, 160, 128), got (5, 1, 2)", " with"),
    "turned": (lambda t: swapped(t, "gate_up_proj", "gate_up_proj_scale_inv", "down_proj", "down_proj_scale_inv"), "fp8_block",
               "down_proj: expected shape (5, 256, 80), for gate_up_proj of (5, 160, 256), got (5, 128, 160)", " with"),
    "experts": (lambda t: dict(down_proj=t.zeros((4, HIDDEN, 128), t.uint8), down_proj_scale_inv=t.ones((4, 2, 1))), "fp8_block",
                "down_proj: expected shape (5, 160, 128), for gate_up_proj of (5, 256, 160), got (4, 160, 128)", " with"),
    "gelu": (lambda t: dict(act_fn=t.nn.Module()), "fp8_block", "neither silu(gate) * up nor that of gpt-oss", None),
    "alpha alone": (lambda t: dict(swiglu_alpha=1.7), "fp8_block", "neither silu(gate) * up nor that of gpt-oss", None),
}


@pytest.mark.parametrize("name", FP8_REASONS)
def test_fp8_experts_that_cannot_be_converted(torch, name):
    from blockscale.torch import convert_moe_

    changes, format, end, link = FP8_REASONS[name]
    reason = "the activation of FP8Experts, which is " + end if link is None else f"a FP8Experts{link} {end}"
    model = make_model(torch, one=fp8_experts(torch, **changes(torch))[0])
    there = model.one.experts
    reason = reason.replace("a FP8Experts", f"a {type(there).__name__}", 1)
    with pytest.raises(ValueError) as error:
        convert_moe_(model, format, "dynamic")
    assert str(error.value) == f"expected experts that {format} can have, or unsupported='keep', got one.experts: {reason}"
    with pytest.warns(UserWarning, match="not converted"):
        assert convert_moe_(model, format, "dynamic", unsupported="keep").kept == {"one.experts": reason}
    assert model.one.experts is there
