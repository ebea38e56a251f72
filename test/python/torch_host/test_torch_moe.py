"""Mixtures of experts of blockscale.torch, but for what torch does: values on the CPU, launches, ops, modules."""

import numpy as np
import pytest
import tiers
from moe_cases import (
    ACTIVATIONS, BUFFERS, EXPERTS, GATES, HIDDEN, INNER, LAYOUTS, VALUE_DTYPES, expected_moe, experts_of, make_experts,
    make_moe, make_routes, round_bf16, rows_of, split,
)
from test_torch_host import COMBINATIONS, FORMATS, close, random_values


# Quantized tensors with a tensor scale for each expert.


def test_stack(torch):
    from blockscale.torch import QuantizedTensor

    for format in FORMATS:
        weight = random_values(torch, 3, 6, 64)
        weight.array[1] = random_values(torch, 6, 64, seed=1).array
        tensors = [QuantizedTensor.from_float(weight[i], format) for i in range(3)]
        made = QuantizedTensor.stack(each for each in tensors)
        expected = experts_of(weight.float().numpy(), format)
        assert made.shape == (3, 6, 64) and made.format == format
        assert made.tensor_scale is None if format != "nvfp4" else made.tensor_scale.shape == (3,)
        np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), expected)
        for same in (QuantizedTensor(**made.state_dict()), made.to("cuda").to("cpu")):
            np.testing.assert_array_equal(same.dequantize(torch.float32).numpy(), expected)
            assert same.state_dict().keys() == made.state_dict().keys()
        for i in (0, 1, -1):
            assert made[i].tensor_scale is None or made[i].tensor_scale.shape == ()
            np.testing.assert_array_equal(made[i].dequantize(torch.float32).numpy(), expected[i])


def test_one_tensor_scale_for_some(torch):
    """None is 1."""
    from blockscale.torch import QuantizedTensor

    parts = QuantizedTensor.from_float(random_values(torch, 4, 32), "nvfp4").state_dict()
    one, other = QuantizedTensor(**{**parts, "tensor_scale": None}), QuantizedTensor(**parts)
    np.testing.assert_array_equal(
        QuantizedTensor.stack([one, other]).tensor_scale.numpy(), [1, float(other.tensor_scale)]
    )
    assert QuantizedTensor.stack([one, one]).tensor_scale is None


def test_tensor_scales_of_sparse_experts(torch):
    from blockscale.torch import QuantizedTensor

    weight = random_values(torch, 3, 4, 64)
    state = QuantizedTensor.from_float(weight, "nvfp4", sparse=True).state_dict()
    g = torch.from_numpy(np.float32([1, 2, 4]))
    made = QuantizedTensor(**{**state, "tensor_scale": g})
    one = QuantizedTensor(**{**state, "tensor_scale": None}).dequantize(torch.float32).numpy()
    np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), one * g.numpy().reshape(3, 1, 1))
    np.testing.assert_array_equal(made[2].dequantize(torch.float32).numpy(), one[2] * 4)


def test_wrong_stacks(torch):
    from blockscale.torch import QuantizedTensor

    def make(*shape, format="mxfp8", **options):
        return QuantizedTensor.from_float(random_values(torch, *shape), format, **options)

    for tensors, kind, message in (
        ([], TypeError, "tensors: expected at least one QuantizedTensor, none of them sparse, got none"),
        ([make(4, 32), 3], TypeError,
         "tensors: expected at least one QuantizedTensor, none of them sparse, got QuantizedTensor, int"),
        ([make(4, 64, sparse=True)], TypeError,
         "tensors: expected at least one QuantizedTensor, none of them sparse, got QuantizedTensor"),
        ([make(4, 32), make(4, 32, format="nvfp4")], ValueError,
         "tensors: expected one format and one shape, got mxfp8, nvfp4 of (4, 32)"),
        ([make(4, 32), make(5, 32)], ValueError,
         "tensors: expected one format and one shape, got mxfp8 of (4, 32), (5, 32)"),
        ([make(2, 4, 32)] * 3, ValueError, "tensors: expected 2 dimensions, got shape (2, 4, 32)"),
    ):
        with pytest.raises(kind) as error:
            QuantizedTensor.stack(tensors)
        assert str(error.value) == message


@pytest.mark.parametrize("shape, message", [
    ((3,), "without dimensions, or of shape (2,), got torch.float32 of shape (3,)"),
    ((2, 1), "without dimensions, or of shape (2,), got torch.float32 of shape (2, 1)"),
])
def test_wrong_tensor_scales(torch, shape, message):
    from blockscale.torch import QuantizedTensor

    state = QuantizedTensor.from_float(random_values(torch, 2, 4, 32), "nvfp4").state_dict()
    with pytest.raises(ValueError) as error:
        QuantizedTensor(**{**state, "tensor_scale": torch.ones(shape)})
    assert str(error.value) == f"tensor_scale: expected a tensor of float32 {message}"
    # A matrix has one for all.
    with pytest.raises(ValueError, match="^tensor_scale: expected a tensor of float32 without dimensions, got"):
        QuantizedTensor(state["codes"][0], state["scales"][0], "nvfp4", torch.ones((4,)))


# Values.


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("format", FORMATS)
def test_moe_on_the_cpu(torch, format, gate, layout, bias, activations):
    layer = make_moe(torch, format, bias, gate=GATES[gate], layout=layout, activations=activations)
    x = random_values(torch, 2, 3, HIDDEN)
    ids, weights = make_routes(torch)
    out = layer(x, ids, weights)
    assert out.shape == (2, 3, HIDDEN) and out.dtype is torch.bfloat16
    expected = expected_moe(torch, x, ids, weights, make_experts(torch, bias), format, gate, layout, activations)
    expected = expected.reshape(2, 3, HIDDEN)
    assert close(out, expected)
    # What is rounded on the way shows in many of the last bits; f32 in place of f64 in few.
    assert (out.values() == round_bf16(torch, expected)).mean() > 0.95


@pytest.mark.parametrize("top_k", [1, 4])
@pytest.mark.parametrize("all_weights", [False, True])
@pytest.mark.parametrize("dtype", VALUE_DTYPES)
@pytest.mark.parametrize("ids_dtype", ["int32", "int64"])
def test_routes(torch, ids_dtype, dtype, all_weights, top_k):
    """Weights of each slot, or of all experts; those of nobody may be anything."""
    layer, x = make_moe(torch, "mxfp4"), random_values(torch, 7, HIDDEN)
    ids, weights = make_routes(torch, 7, top_k, ids_dtype, dtype, all_weights)
    expected = expected_moe(torch, x, ids, weights, make_experts(torch), "mxfp4")
    assert close(layer(x, ids, weights), expected)
    if not all_weights:
        ids_of = ids.numpy()
        weights = weights.float()
        weights.array[(ids_of < 0) | (ids_of >= EXPERTS)] = np.nan
        assert close(layer(x, ids, weights), expected)


@pytest.mark.parametrize("format, activations", [("nvfp4", None), ("mxfp8", "dynamic"), ("mxfp4", "dynamic")])
def test_what_is_no_number_stays_in_its_row(torch, format, activations):
    """With dynamic activations of nvfp4, all rows have one tensor scale."""
    layer = make_moe(torch, format, activations=activations)
    x = random_values(torch, 6, HIDDEN, dtype="float32")
    ids, weights = make_routes(torch)
    ids.array[:, 0] = np.arange(6) % EXPERTS
    before = layer(x.to(torch.bfloat16), ids, weights).array
    x.array[2, 5] = np.nan
    after = layer(x.to(torch.bfloat16), ids, weights)
    assert np.isnan(after.values()[2]).all()
    np.testing.assert_array_equal(np.delete(after.array, 2, 0), np.delete(before, 2, 0))


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_nobody(torch, format, activations):
    """Zeros, not the biases."""
    layer = make_moe(torch, format, activations=activations)
    ids = torch.from_numpy(np.array([[-1, EXPERTS]] * 3))
    out = layer(random_values(torch, 3, HIDDEN), ids, torch.ones((3, 2)))
    assert out.shape == (3, HIDDEN) and not out.array.any()


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("lead", [(0,), (2, 0)])
def test_no_tokens(torch, lead, format, activations):
    layer = make_moe(torch, format, activations=activations)
    out = layer(random_values(torch, *lead, HIDDEN), torch.zeros((0, 2), torch.int64), torch.zeros((0, 2)))
    assert out.shape == (*lead, HIDDEN) and out.dtype is torch.bfloat16


def test_names_of_routes(torch):
    """Models have other names for them."""
    layer, x = make_moe(torch, "mxfp8"), random_values(torch, 6, HIDDEN)
    ids, weights = make_routes(torch)
    expected = layer(x, ids, weights).array
    for names in (("top_k_index", "top_k_weights"), ("router_indices", "routing_weights")):
        np.testing.assert_array_equal(layer(x, **dict(zip(names, (ids, weights)))).array, expected)
        np.testing.assert_array_equal(layer(hidden_states=x, **dict(zip(names, (ids, weights)))).array, expected)


def test_the_op_is_the_module(torch):
    """With rows in blocks, tensor scales of all experts or of each, or none, and silu by default."""
    from blockscale.torch import MoE, QuantizedTensor, moe

    x, (ids, weights) = random_values(torch, 6, HIDDEN), make_routes(torch)
    for g in (None, torch.from_numpy(np.float32(0.37).reshape(())), torch.from_numpy(np.float32([1, 2, 3, 0.5, 4]))):
        up, down = (
            QuantizedTensor(**{**QuantizedTensor.from_float(each, "nvfp4").state_dict(), "tensor_scale": g})
            for each in (random_values(torch, EXPERTS, 2 * INNER, HIDDEN), random_values(torch, EXPERTS, HIDDEN, INNER))
        )
        for gate in GATES.values():
            expected = MoE(up, down, gate=gate, layout="blocks")(x, ids, weights).array
            arguments = x, ids, weights, up.codes, up.scales, g, None, down.codes, down.scales, g, None, "nvfp4"
            np.testing.assert_array_equal(moe(*arguments, *gate).array, expected)
            assert (moe(*arguments).array == expected).all() == (gate == GATES["silu"])
            layer = MoE(up, down, gate=gate, layout="blocks", activations="dynamic")
            assert (layer(x, ids, weights).array != expected).any()
            np.testing.assert_array_equal(moe(*arguments, *gate, "dynamic").array, layer(x, ids, weights).array)


@pytest.mark.parametrize("offsets", [[2, 2, 7, 7, 9], [0, 0, 0, 0, 0], [9, 9, 9, 9, 9], [1, 3, 4, 6, 8]])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_grouped_linear_on_the_cpu(torch, format, activations, bias, offsets):
    """Rows behind the last end are nobody's."""
    from blockscale.torch import QuantizedTensor, grouped_linear

    weight, x = random_values(torch, EXPERTS, 24, HIDDEN), random_values(torch, 9, HIDDEN, seed=1)
    made = QuantizedTensor.stack(QuantizedTensor.from_float(weight[i], format) for i in range(EXPERTS))
    added = random_values(torch, EXPERTS, 24, dtype="float32", seed=2) if bias else None
    out = grouped_linear(
        x, made.codes, made.scales, made.tensor_scale, torch.from_numpy(np.int32(offsets)), added, format, activations
    )
    assert out.shape == (9, 24) and out.dtype is torch.bfloat16
    rows = rows_of(x.values(), format, activations)
    values, expected, start = experts_of(weight.float().numpy(), format), np.zeros((9, 24)), 0
    for expert, end in enumerate(offsets):
        expected[start:end] = rows[start:end] @ values[expert].T + (added.array[expert] if bias else 0)
        start = end
    assert not out.array[start:].any()
    assert start == 0 or close(out, expected)


def test_tensor_scales_of_groups(torch):
    from blockscale.torch import QuantizedTensor, grouped_linear

    made = QuantizedTensor.from_float(random_values(torch, 2, 8, 32), "nvfp4")
    x, offsets = random_values(torch, 4, 32), torch.from_numpy(np.int32([2, 4]))
    alone = grouped_linear(x, made.codes, made.scales, None, offsets, None, "nvfp4").values()
    for g, factors in ((np.float32(4).reshape(()), [4, 4, 4, 4]), (np.float32([2, 0.5]), [2, 2, 0.5, 0.5])):
        out = grouped_linear(x, made.codes, made.scales, torch.from_numpy(g), offsets, None, "nvfp4")
        np.testing.assert_array_equal(out.values(), alone * np.float32(factors)[:, None])


@pytest.mark.parametrize("scoring", ["softmax", "softmax_of_chosen"])
@pytest.mark.parametrize("top_k", [1, 2, 4, 6, 8])
@pytest.mark.parametrize("dtype", VALUE_DTYPES)
def test_route_on_the_cpu(torch, dtype, top_k, scoring):
    from blockscale.torch import route

    logits = random_values(torch, 9, 12, dtype=dtype)
    logits.array[3] = logits.array[3, 0]  # all equal
    ids, weights = route(logits, top_k, scoring)
    assert (ids.dtype, weights.dtype) == (torch.int32, torch.float32)
    values = logits.values().astype(np.float64)
    order = np.argsort(-values, axis=1, kind="stable")[:, :top_k]
    np.testing.assert_array_equal(ids.array, order)
    chosen = np.exp(np.take_along_axis(values, order, 1))
    total = (np.exp(values) if scoring == "softmax" else chosen).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weights.array, chosen / total, rtol=1e-6)
    if scoring == "softmax_of_chosen":
        np.testing.assert_array_equal(route(logits, top_k)[1].array, weights.array)
    assert [each.shape for each in route(logits[:0], top_k, scoring)] == [(0, top_k)] * 2


# Launches.


@pytest.fixture
def calls(card_torch, monkeypatch):
    """(function, bundle, arguments, out) of each call on the card, as kernels get them."""
    from blockscale.torch import bundle

    made, find = [], bundle.function

    def function(name, of=bundle.NAME):
        def call(*arguments, out, workspace):
            made.append((name, of, arguments, out))
            return find(name, of)(*arguments, out=out, workspace=workspace)

        return call

    monkeypatch.setattr(bundle, "function", function)
    # What is in operands stays.
    monkeypatch.setenv("FAKE_CUDA_WRITE", "0")
    return made


def described(arguments):
    """Types and shapes of tensors, and numbers."""
    return [f"{each.dtype} {each.shape}" if hasattr(each, "dtype") else each for each in arguments]


def function_of(name, format, activations):
    return f"{name}_{format}" if activations is None else f"{activations}_{name}_{format}"


@pytest.mark.parametrize(
    "activations, all_weights, bias, format", tiers.product(ACTIVATIONS, [False, True], [False, True], FORMATS)
)
def test_launches_of_moe(card_torch, card, calls, format, bias, all_weights, activations):
    """One call."""
    layer = make_moe(card_torch, format, bias, gate=GATES["gpt_oss"], activations=activations).to("cuda")
    x = random_values(card_torch, 2, 3, HIDDEN, device="cuda")
    routes = make_routes(card_torch, ids_dtype="int32", dtype="bfloat16", all_weights=all_weights, device="cuda")
    out = layer(x, *routes)
    assert out.shape == (2, 3, HIDDEN) and out.is_cuda
    function, names = function_of("moe", format, activations), card.kernels()
    assert names[-1] == function and all(name.startswith(function) for name in names)
    assert len([name for name in names if name.startswith(f"{function}__sort_routes")]) == 1
    product = f"{function}__grouped_{'matmul' if activations is None else 'mma_scaled'}"
    assert len([name for name in names if name.startswith(product)]) == 2

    [(name, of, arguments, result)] = calls
    assert (name, of, result.shape) == (function, "moe.bundle", (6, HIDDEN))
    per_byte, block = 1 if format == "mxfp8" else 2, COMBINATIONS[format][2]
    g = [f"torch.float32 ({EXPERTS},)"] if format == "nvfp4" else []
    assert described(arguments) == [
        f"torch.bfloat16 (6, {HIDDEN})", "torch.int64 (6, 3)", "torch.float32 (6, 3)",
        f"torch.uint8 (5, {2 * INNER}, {HIDDEN // per_byte})", f"torch.uint8 (5, {2 * INNER}, {HIDDEN // block})", *g,
        f"torch.float32 (5, {2 * INNER})",
        f"torch.uint8 (5, {HIDDEN}, {INNER // per_byte})", f"torch.uint8 (5, {HIDDEN}, {INNER // block})", *g,
        f"torch.float32 (5, {HIDDEN})", 1.702, 7.0, 1.0,
    ]
    tensors = arguments[:-3]
    assert all(each.is_cuda and each.is_contiguous() and each.data_ptr() % 16 == 0 for each in tensors)
    there = [layer._buffers[name] for name in BUFFERS if layer._buffers[name] is not None]
    assert [each for each in tensors[3:] if any(each is buffer for buffer in there)] == there
    # What a call leaves out is made once.
    layer(x, *routes)
    last = calls[-1][2]
    places = [len(tensors) - 1, 5 + len(g)]
    for at in places:
        assert last[at] is arguments[at]
        assert bias == any(each is arguments[at] for each in there) and arguments[at].array.any() == bias
    ids, weights = (each.to("cpu") for each in routes)
    chosen = weights.float().numpy()
    if all_weights:
        chosen = np.take_along_axis(chosen, np.clip(ids.numpy(), 0, EXPERTS - 1), 1)
    np.testing.assert_array_equal(last[1].array, ids.array)
    np.testing.assert_array_equal(last[2].array, chosen)


def test_tokens_choose_kernels(card_torch, card):
    """By the average number of rows of an expert. None of them, nothing is launched."""
    layer, names = make_moe(card_torch, "mxfp4").to("cuda"), {}
    for count in (0, 1, 16, 64, 4096):
        routes = make_routes(card_torch, count, 2, device="cuda")
        assert layer(random_values(card_torch, count, HIDDEN, device="cuda"), *routes).shape == (count, HIDDEN)
        names[count] = card.kernels()
    assert names[0] == [] and names[1] != names[16] != names[64] != names[4096]
    assert card_torch.ops.called == []


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_launches_of_grouped_linear(card_torch, card, calls, format, activations):
    from blockscale.torch import QuantizedTensor, grouped_linear

    made = QuantizedTensor.from_float(random_values(card_torch, 3, 24, 64), format).to("cuda")
    x, offsets = random_values(card_torch, 7, 64, device="cuda"), card_torch.zeros((3,), card_torch.int32, "cuda")
    bias = random_values(card_torch, 3, 24, dtype="float32", device="cuda")
    scaled, function = format == "nvfp4", function_of("grouped_linear", format, activations)
    for g in (None, made.tensor_scale, card_torch.ones((3,), device="cuda")) if scaled else (None,):
        for added in (None, bias):
            out = grouped_linear(x, made.codes, made.scales, g, offsets, added, format, activations)
            assert out.shape == (7, 24) and out.is_cuda
            names = card.kernels()
            assert names and all(name.startswith(function) for name in names)
            name, of, arguments, result = calls.pop()
            assert (name, of) == (function, "moe.bundle") and result is out and not calls
            *factor, ends, addend = arguments[3:]
            assert arguments[0] is x and arguments[1] is made.codes and arguments[2] is made.scales and ends is offsets
            assert addend is bias if added else addend.shape == (3, 24) and not addend.array.any()
            assert described(factor) == ["torch.float32 (3,)"] * scaled
            if scaled:
                expected = np.float32(1 if g is None else g.array)
                np.testing.assert_array_equal(factor[0].array.view(np.float32), np.broadcast_to(expected, 3))
    # Nothing to do.
    assert grouped_linear(x[:0], made.codes, made.scales, None, offsets, None, format).shape == (0, 24)
    assert grouped_linear(x, made.codes[:, :0], made.scales[:, :0], None, offsets, None, format).shape == (7, 0)
    assert not card.kernels() and not calls


@pytest.mark.parametrize("scoring", ["softmax", "softmax_of_chosen"])
@pytest.mark.parametrize("dtype, name", zip(VALUE_DTYPES, ("bf16", "f16", "f32")))
def test_launches_of_route(card_torch, card, calls, dtype, name, scoring):
    from blockscale.torch import route

    logits = random_values(card_torch, 5, 12, dtype=dtype, device="cuda")
    for top_k in (1, 2, 4, 6, 8):
        out = route(logits, top_k, scoring)
        assert described(out) == [f"torch.int32 (5, {top_k})", f"torch.float32 (5, {top_k})"]
        assert card.kernels() == [f"route_{scoring}_{top_k}_{name}"]
        function, of, arguments, result = calls.pop()
        assert (function, of) == (f"route_{scoring}_{top_k}_{name}", "moe.bundle")
        assert arguments == (logits,) and result == out
    assert route(logits[:0], 2)[0].shape == (0, 2)
    assert not card.kernels() and not calls


# Custom ops.


def test_the_dispatcher_is_asked_while_something_is_traced(torch):
    from blockscale.torch import grouped_linear, ops, route

    layer, x = make_moe(torch, "nvfp4", gate=GATES["gpt_oss"]), random_values(torch, 6, HIDDEN)
    ids, weights = make_routes(torch)
    offsets = torch.from_numpy(np.int32([1, 2, 3, 4, 6]))
    up = layer.up_codes, layer.up_scales, layer.up_tensor_scale
    calls = {
        "moe": lambda: layer(x, ids, weights),
        "grouped_linear": lambda: grouped_linear(x, *up, offsets, layer.up_bias, "nvfp4"),
        "route": lambda: route(weights, 2)[1],
    }
    for name, call in calls.items():
        expected = call().array
        assert torch.ops.called == []
        torch.compiler.is_compiling = lambda: True
        np.testing.assert_array_equal(call().array, expected)
        torch.compiler.is_compiling = lambda: False
        torch.is_grad_enabled = lambda: True
        call()
        assert torch.ops.called == [name]
        wanting = weights if name == "route" else x
        wanting.requires_grad = True
        np.testing.assert_array_equal(call().array, expected)
        assert torch.ops.called == [name] * 2
        wanting.requires_grad = False
        with pytest.raises(RuntimeError, match="no gradient"):
            getattr(torch.ops.blockscale, name).backward(None, None)
        torch.is_grad_enabled = lambda: False
        torch.ops.called.clear()
    # Weights of routes may want a gradient, too.
    torch.is_grad_enabled = lambda: True
    weights.requires_grad = True
    layer(x, ids, weights)
    assert torch.ops.called == ["moe"] and torch.ops.arguments[-6:] == ("nvfp4", *GATES["gpt_oss"], None, None)
    assert all(one is layer._buffers[name] for name, one in zip(BUFFERS, torch.ops.arguments[3:]))
    # The function goes there, too.
    expected = layer(x, ids, weights).array
    np.testing.assert_array_equal(ops.moe(*torch.ops.arguments).array, expected)
    assert torch.ops.called == ["moe"] * 3
    make_moe(torch, "nvfp4", activations="dynamic")(x, ids, weights)
    assert torch.ops.called == ["moe"] * 4 and torch.ops.arguments[-2:] == ("dynamic", None)


def test_fakes(torch):
    from blockscale.torch import ops

    layer, (ids, weights) = make_moe(torch, "mxfp4"), make_routes(torch)
    for lead in ((6,), (2, 3)):
        x = random_values(torch, *lead, HIDDEN)
        out = ops.moe_op.fake(x, ids, weights, *(layer._buffers[name] for name in BUFFERS), "mxfp4", *GATES["silu"])
        assert described([out]) == [f"torch.bfloat16 {(*lead, HIDDEN)}"]
    offsets = torch.zeros((EXPERTS,), torch.int32)
    out = ops.grouped_linear_op.fake(
        random_values(torch, 9, HIDDEN), layer.up_codes, layer.up_scales, None, offsets, None, "mxfp4"
    )
    assert described([out]) == [f"torch.bfloat16 (9, {2 * INNER})"]
    out = ops.route_op.fake(random_values(torch, 9, 12), 4)
    assert described(out) == ["torch.int32 (9, 4)", "torch.float32 (9, 4)"]


# The module.


def test_buffers(torch):
    import blockscale.torch as package

    layer = make_moe(torch, "nvfp4")
    assert list(layer.state_dict()) == BUFFERS
    assert list(make_moe(torch, "mxfp8", bias=False).state_dict()) == ["up_codes", "up_scales", "down_codes",
                                                                       "down_scales"]
    assert (layer.num_experts, layer.hidden_size, layer.intermediate_size) == (EXPERTS, HIDDEN, INNER)
    assert layer.gate == package.SILU == package.Gate() == GATES["silu"] and package.GPT_OSS == GATES["gpt_oss"]
    assert layer.extra_repr() == ("num_experts=5, hidden_size=64, intermediate_size=32, format='nvfp4', "
                                  "gate=Gate(alpha=1.0, limit=inf, shift=0.0), activations=None")
    assert "activations='dynamic'" in make_moe(torch, "nvfp4", activations="dynamic").extra_repr()
    before = {name: (tensor.dtype, tensor.array.copy()) for name, tensor in layer.state_dict().items()}
    assert [before[name][0] for name in BUFFERS] == [torch.uint8, torch.uint8, torch.float32, torch.float32] * 2
    for dtype in (torch.float16, torch.bfloat16):
        layer.to(dtype)
    for name, tensor in layer.state_dict().items():
        assert tensor.dtype is before[name][0]
        np.testing.assert_array_equal(tensor.array, before[name][1])


@pytest.mark.parametrize("format", FORMATS)
def test_state_dict(torch, format):
    """Of any layout: rows are kept in blocks."""
    from blockscale.torch import MoE

    one = make_moe(torch, format, layout="interleaved")
    other = MoE.from_float(**{name: each._new(each.array * 0) for name, each in make_experts(torch).items()},
                           format=format)
    x, routes = random_values(torch, 6, HIDDEN), make_routes(torch)
    expected = one(x, *routes).array
    assert (other(x, *routes).array != expected).any()
    other.load_state_dict(one.state_dict())
    np.testing.assert_array_equal(other(x, *routes).array, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_module_of_quantized_tensors(torch, layout):
    """Without a tensor scale, with one for all experts, or for each: kept for each. What is given stays."""
    from blockscale.torch import MoE, QuantizedTensor

    x, routes = random_values(torch, 6, HIDDEN), make_routes(torch)
    state = [QuantizedTensor.from_float(each, "nvfp4").state_dict() for each in make_experts(torch, False).values()]
    before = [each["codes"].array.copy() for each in state]
    results = []
    for g in (None, torch.ones(()), torch.ones((EXPERTS,))):
        layer = MoE(*(QuantizedTensor(**{**each, "tensor_scale": g}) for each in state), layout=layout)
        assert layer.up_tensor_scale.shape == layer.down_tensor_scale.shape == (EXPERTS,)
        assert layer.up_tensor_scale.is_contiguous()
        results.append(layer(x, *routes).array)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
    for each, old in zip(state, before):
        np.testing.assert_array_equal(each["codes"].array, old)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("format", FORMATS)
def test_dequantize(torch, format, layout):
    """Rows come back in any order."""
    parts, layer = make_experts(torch), make_moe(torch, format, layout=layout)
    there, expected = (
        [experts_of(each.float().numpy(), format) for each in (parts["up"], parts["down"])] for _ in range(2)
    )
    for name, up in (("halves", np.concatenate), ("interleaved", lambda pair, axis: np.stack(pair, axis + 1))):
        expected[0] = up(tuple(split(there[0], layout)), axis=1).reshape(there[0].shape)
        for one, other in zip(layer.dequantize(torch.float32, name), expected):
            assert one.dtype is torch.float32
            np.testing.assert_array_equal(one.numpy(), other)
    for one, other in zip(layer.dequantize(layout=layout), there):
        assert one.dtype is torch.bfloat16
        np.testing.assert_array_equal(one.array, torch.from_numpy(np.float32(other)).to(torch.bfloat16).array)


@pytest.mark.parametrize("dtype", VALUE_DTYPES)
def test_types_of_weights(torch, dtype):
    """Biases are kept in f32, whatever they were."""
    from blockscale.torch import MoE

    parts = make_experts(torch, dtype=dtype)
    layer = MoE.from_float(**parts, format="mxfp8", layout="blocks")
    for name in ("up", "down"):
        np.testing.assert_array_equal(layer._buffers[f"{name}_bias"].array, parts[f"{name}_bias"].float().array)
    x, routes = random_values(torch, 6, HIDDEN), make_routes(torch)
    assert close(layer(x, *routes), expected_moe(torch, x, *routes, parts, "mxfp8", layout="blocks"))
