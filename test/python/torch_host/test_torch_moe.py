"""Mixtures of experts of blockscale.torch, but for what torch does: values on the CPU, launches, checks, conversion."""

import math
import weakref

import numpy as np
import pytest
from test_torch_host import COMBINATIONS, FORMATS, close, distributed, quantized, random_values, scale_of

GATES = {"silu": (1.0, math.inf, 0.0), "gpt_oss": (1.702, 7.0, 1.0)}
LAYOUTS = ("halves", "interleaved", "blocks")
VALUE_DTYPES = ("bfloat16", "float16", "float32")
# G, H and I.
EXPERTS, HIDDEN, INNER = 5, 64, 32
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


def expected_moe(torch, x, ids, weights, parts, format, gate="silu", layout="halves"):
    """Token by token and slot by slot, in f64."""
    alpha, limit, shift = GATES[gate]
    parts = {name: each.float().numpy() for name, each in parts.items()}
    gates, others = split(experts_of(parts["up"], format), layout)
    down = experts_of(parts["down"], format)
    up_bias = parts.get("up_bias", np.zeros((EXPERTS, 2 * INNER)))
    gate_bias, other_bias = split(up_bias, layout)
    down_bias = parts.get("down_bias", np.zeros((EXPERTS, HIDDEN)))
    x, ids, weights = x.values().reshape(-1, HIDDEN), ids.numpy(), weights.values().astype(np.float64)
    result = np.zeros(x.shape)
    for token, slot in np.ndindex(*ids.shape):
        expert = ids[token, slot]
        if not 0 <= expert < EXPERTS:
            continue
        g = np.minimum(gates[expert] @ x[token] + gate_bias[expert], limit)
        u = np.clip(others[expert] @ x[token] + other_bias[expert], -limit, limit)
        h = round_bf16(torch, g / (1 + np.exp(-alpha * g)) * (u + shift))
        weight = weights[token, slot if weights.shape == ids.shape else expert]
        result[token] += weight * round_bf16(torch, down[expert] @ h + down_bias[expert])
    return result


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


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("format", FORMATS)
def test_moe_on_the_cpu(torch, format, gate, layout, bias):
    layer = make_moe(torch, format, bias, gate=GATES[gate], layout=layout)
    x = random_values(torch, 2, 3, HIDDEN)
    ids, weights = make_routes(torch)
    out = layer(x, ids, weights)
    assert out.shape == (2, 3, HIDDEN) and out.dtype is torch.bfloat16
    expected = expected_moe(torch, x, ids, weights, make_experts(torch, bias), format, gate, layout)
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


def test_what_is_no_number_stays_in_its_row(torch):
    layer, x = make_moe(torch, "nvfp4"), random_values(torch, 6, HIDDEN, dtype="float32")
    ids, weights = make_routes(torch)
    ids.array[:, 0] = np.arange(6) % EXPERTS
    before = layer(x.to(torch.bfloat16), ids, weights).array
    x.array[2, 5] = np.nan
    after = layer(x.to(torch.bfloat16), ids, weights)
    assert np.isnan(after.values()[2]).all()
    np.testing.assert_array_equal(np.delete(after.array, 2, 0), np.delete(before, 2, 0))


def test_nobody(torch):
    """Zeros, not the biases."""
    layer = make_moe(torch, "mxfp8")
    ids = torch.from_numpy(np.array([[-1, EXPERTS]] * 3))
    out = layer(random_values(torch, 3, HIDDEN), ids, torch.ones((3, 2)))
    assert out.shape == (3, HIDDEN) and not out.array.any()


@pytest.mark.parametrize("lead", [(0,), (2, 0)])
def test_no_tokens(torch, lead):
    layer = make_moe(torch, "mxfp8")
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


@pytest.mark.parametrize("offsets", [[2, 2, 7, 7, 9], [0, 0, 0, 0, 0], [9, 9, 9, 9, 9], [1, 3, 4, 6, 8]])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_grouped_linear_on_the_cpu(torch, format, bias, offsets):
    """Rows behind the last end are nobody's."""
    from blockscale.torch import QuantizedTensor, grouped_linear

    weight, x = random_values(torch, EXPERTS, 24, HIDDEN), random_values(torch, 9, HIDDEN, seed=1)
    made = QuantizedTensor.stack(QuantizedTensor.from_float(weight[i], format) for i in range(EXPERTS))
    added = random_values(torch, EXPERTS, 24, dtype="float32", seed=2) if bias else None
    out = grouped_linear(
        x, made.codes, made.scales, made.tensor_scale, torch.from_numpy(np.int32(offsets)), added, format
    )
    assert out.shape == (9, 24) and out.dtype is torch.bfloat16
    values, expected, start = experts_of(weight.float().numpy(), format), np.zeros((9, 24)), 0
    for expert, end in enumerate(offsets):
        expected[start:end] = x.values()[start:end] @ values[expert].T + (added.array[expert] if bias else 0)
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


@pytest.mark.parametrize("all_weights", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_launches_of_moe(card_torch, card, calls, format, bias, all_weights):
    """One call, whose kernels sort routes first."""
    layer = make_moe(card_torch, format, bias, gate=GATES["gpt_oss"]).to("cuda")
    x = random_values(card_torch, 2, 3, HIDDEN, device="cuda")
    routes = make_routes(card_torch, ids_dtype="int32", dtype="bfloat16", all_weights=all_weights, device="cuda")
    out = layer(x, *routes)
    assert out.shape == (2, 3, HIDDEN) and out.is_cuda
    names = card.kernels()
    assert names[0].startswith(f"moe_{format}__sort_routes") and names[-1] == f"moe_{format}"
    assert len([name for name in names if name.startswith(f"moe_{format}__grouped_matmul")]) == 2
    assert all(name.startswith(f"moe_{format}") for name in names)

    [(name, of, arguments, result)] = calls
    assert (name, of, result.shape) == (f"moe_{format}", "moe.bundle", (6, HIDDEN))
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


@pytest.mark.parametrize("format", FORMATS)
def test_launches_of_grouped_linear(card_torch, card, calls, format):
    from blockscale.torch import QuantizedTensor, grouped_linear

    made = QuantizedTensor.from_float(random_values(card_torch, 3, 24, 64), format).to("cuda")
    x, offsets = random_values(card_torch, 7, 64, device="cuda"), card_torch.zeros((3,), card_torch.int32, "cuda")
    bias = random_values(card_torch, 3, 24, dtype="float32", device="cuda")
    scaled = format == "nvfp4"
    for g in (None, made.tensor_scale, card_torch.ones((3,), device="cuda")) if scaled else (None,):
        for added in (None, bias):
            out = grouped_linear(x, made.codes, made.scales, g, offsets, added, format)
            assert out.shape == (7, 24) and out.is_cuda
            names = card.kernels()
            assert names[-1].startswith(f"grouped_linear_{format}")
            assert all(name.startswith(f"grouped_linear_{format}") for name in names)
            name, of, arguments, result = calls.pop()
            assert (name, of) == (f"grouped_linear_{format}", "moe.bundle") and result is out and not calls
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


def test_no_bundle(torch, monkeypatch, tmp_path):
    from blockscale.torch import bundle

    monkeypatch.setenv("BLOCKSCALE_TORCH_BUNDLE", str(tmp_path / "other.bundle"))
    with pytest.raises(FileNotFoundError) as error:
        bundle.function("moe_mxfp8", bundle.MOE_NAME)
    assert str(error.value) == (
        f"blockscale.torch: expected its kernels for mixtures of experts at {tmp_path}/moe.bundle, found none: build "
        "the target blockscale-torch-moe-kernels, or name kernels.bundle in the same folder by BLOCKSCALE_TORCH_BUNDLE"
    )


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
    assert torch.ops.called == ["moe"] and torch.ops.arguments[-4:] == ("nvfp4", *GATES["gpt_oss"])
    assert all(one is layer._buffers[name] for name, one in zip(BUFFERS, torch.ops.arguments[3:]))
    # The function goes there, too.
    expected = layer(x, ids, weights).array
    np.testing.assert_array_equal(ops.moe(*torch.ops.arguments).array, expected)
    assert torch.ops.called == ["moe"] * 3


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


# Checks.


def check_error(call, fake, arguments, change, kind, message):
    """That the function and its fake say so once the arguments, by name, have been changed."""
    call(**arguments)
    change(arguments)
    for each in (call, fake):
        with pytest.raises(kind) as error:
            each(*arguments.values())
        assert str(error.value) == message


@pytest.mark.parametrize("change, kind, message", [
    (lambda a: a.update(x=a["x"].float()), TypeError, "x: expected torch.bfloat16, got torch.float32"),
    (lambda a: a.update(x=a["x"][:, :32]), ValueError,
     "x: expected a last dimension of 64, which the weight has, got shape (9, 32)"),
    (lambda a: a.update(x=a["x"].reshape(3, 3, 64)), ValueError, "x: expected 2 dimensions, got shape (3, 3, 64)"),
    (lambda a: a.update(codes=a["codes"][0]), ValueError,
     "codes of the weights: expected 3 dimensions, the first of at least 1, got shape (24, 32)"),
    (lambda a: a.update(codes=a["codes"][:0], scales=a["scales"][:0]), ValueError,
     "codes of the weights: expected 3 dimensions, the first of at least 1, got shape (0, 24, 32)"),
    (lambda a: a.update(codes=a["codes"].float()), TypeError, "codes: expected torch.uint8, got torch.float32"),
    (lambda a: a.update(codes=a["codes"][:, :, :20]), ValueError,
     "codes of the weights: expected rows of whole blocks of 16 elements, got 40"),
    (lambda a: a.update(scales=a["scales"][:2]), ValueError,
     "scales of the weights: expected shape (5, 24, 4), for codes of shape (5, 24, 32), got (2, 24, 4)"),
    (lambda a: a.update(tensor_scale=a["tensor_scale"][:4]), ValueError, "tensor_scale: expected a tensor of float32 "
     "without dimensions, or of shape (5,), got torch.float32 of shape (4,)"),
    (lambda a: a.update(tensor_scale=a["tensor_scale"].double()), ValueError, "tensor_scale: expected a tensor of "
     "float32 without dimensions, or of shape (5,), got torch.float64 of shape (5,)"),
    (lambda a: a.update(offsets=a["offsets"].long()), ValueError,
     "offsets: expected torch.int32 of shape (5,), got torch.int64 of shape (5,)"),
    (lambda a: a.update(offsets=a["offsets"][:4]), ValueError,
     "offsets: expected torch.int32 of shape (5,), got torch.int32 of shape (4,)"),
    (lambda a: a.update(bias=a["bias"][:, :8]), ValueError,
     "bias: expected torch.float32 of shape (5, 24), got torch.float32 of shape (5, 8)"),
    (lambda a: a.update(bias=a["bias"].double()), ValueError,
     "bias: expected torch.float32 of shape (5, 24), got torch.float64 of shape (5, 24)"),
    (lambda a: a.update(format="mxfp6"), ValueError, "format: expected one of mxfp8, mxfp4, nvfp4, got 'mxfp6'"),
    (lambda a: setattr(a["offsets"], "device", "cuda:1"), ValueError,
     "offsets: expected a tensor on cpu, as x is, got one on cuda:1"),
])
def test_wrong_arguments_of_grouped_linear(torch, change, kind, message):
    from blockscale.torch import QuantizedTensor, ops

    made = QuantizedTensor.from_float(random_values(torch, EXPERTS, 24, 64), "nvfp4")
    arguments = dict(
        x=random_values(torch, 9, 64), codes=made.codes, scales=made.scales, tensor_scale=torch.ones((EXPERTS,)),
        offsets=torch.zeros((EXPERTS,), torch.int32), bias=torch.zeros((EXPERTS, 24)), format="nvfp4",
    )
    check_error(ops.grouped_linear, ops.grouped_linear_op.fake, arguments, change, kind, message)


def moe_arguments(torch, format="nvfp4"):
    layer, (ids, weights) = make_moe(torch, format), make_routes(torch)
    names = [name.replace("_codes", "") for name in BUFFERS]
    return dict(x=random_values(torch, 6, HIDDEN), ids=ids, weights=weights,
                **{name: layer._buffers[buffer] for name, buffer in zip(names, BUFFERS)}, format=format,
                alpha=1.0, limit=7.0, shift=0.0)


def narrow(*names, size, at=0):
    """Makes tensors smaller in one dimension."""
    key = (slice(None),) * at + (slice(size),)
    return lambda a: a.update({name: a[name][key].clone() for name in names})


def many_experts(a):
    for name in ("up", "down"):
        for part in (name, f"{name}_scales"):
            a[part] = a[part]._new(np.broadcast_to(a[part].array[:1], (2049, *a[part].shape[1:])))
        a[f"{name}_bias"] = a[f"{name}_tensor_scale"] = None


@pytest.mark.parametrize("change, kind, message", [
    (lambda a: a.update(x=a["x"].float()), TypeError, "x: expected torch.bfloat16, got torch.float32"),
    (narrow("x", size=32, at=1), ValueError,
     "x: expected a last dimension of 64, which the weight has, got shape (6, 32)"),
    (narrow("x", size=5), ValueError, "ids: expected a row for each of 5 tokens, got 6"),
    (lambda a: a.update(ids=a["ids"].float()), TypeError,
     "ids: expected torch.int64 or torch.int32, got torch.float32"),
    (lambda a: a.update(ids=a["ids"].reshape(-1)), ValueError,
     "ids: expected 2 dimensions, the second of at least 1, got shape (18,)"),
    (narrow("ids", "weights", size=0, at=1), ValueError,
     "ids: expected 2 dimensions, the second of at least 1, got shape (6, 0)"),
    (lambda a: a.update(weights=a["ids"]), TypeError,
     "weights: expected torch.bfloat16 or torch.float16 or torch.float32, got torch.int64"),
    (narrow("weights", size=2, at=1), ValueError, "weights: expected shape (6, 3) or (6, 5), got (6, 2)"),
    (lambda a: a.update(up=a["up"][0]), ValueError,
     "codes of up: expected 3 dimensions, the first of at least 1, got shape (64, 32)"),
    (lambda a: a.update(up=a["up"].float()), TypeError, "up: expected torch.uint8, got torch.float32"),
    (narrow("down_scales", size=1, at=2), ValueError,
     "scales of down: expected shape (5, 64, 2), for codes of shape (5, 64, 16), got (5, 64, 1)"),
    (narrow("up_tensor_scale", size=2), ValueError, "up_tensor_scale: expected a tensor of float32 without dimensions, "
     "or of shape (5,), got torch.float32 of shape (2,)"),
    (lambda a: a.update(down_bias=a["down_bias"].to(a["x"].dtype)), ValueError,
     "down_bias: expected torch.float32 of shape (5, 64), got torch.bfloat16 of shape (5, 64)"),
    (narrow("down", "down_scales", "down_bias", "down_tensor_scale", size=4), ValueError,
     "codes of down: expected 5 experts, as up has, got 4"),
    (narrow("up", "up_scales", "up_bias", size=48, at=1), ValueError,
     "codes of up: expected 64 rows, two for each column of down, got 48"),
    (narrow("down", "down_scales", "down_bias", size=48, at=1), ValueError,
     "codes of down: expected 64 rows, as many as up has columns, got 48"),
    (many_experts, ValueError, "codes of up: expected at most 2048 experts, got 2049"),
    (lambda a: a.update(format="mxfp6"), ValueError, "format: expected one of mxfp8, mxfp4, nvfp4, got 'mxfp6'"),
    (lambda a: a.update(format="mxfp4", up_scales=a["up_scales"][:, :, :2], down_scales=a["down_scales"][:, :, :1]),
     ValueError, "up_tensor_scale: expected none with mxfp4, got a tensor"),
    *((lambda a, name=name: setattr(a[name], "device", "cuda:1"), ValueError,
       f"{name}: expected a tensor on cpu, as x is, got one on cuda:1")
      for name in ("ids", "weights", "up", "up_scales", "up_tensor_scale", "up_bias", "down", "down_bias")),
])
def test_wrong_arguments_of_moe(torch, change, kind, message):
    from blockscale.torch import ops

    check_error(ops.moe, ops.moe_op.fake, moe_arguments(torch), change, kind, message)


@pytest.mark.parametrize("change, kind, message", [
    (lambda a: a.update(logits=a["logits"].double()), TypeError, "logits: expected torch.bfloat16 or torch.float16 or "
     "torch.float32 of 2 dimensions, got torch.float64 of shape (6, 7)"),
    (lambda a: a.update(logits=a["logits"][0]), ValueError, "logits: expected torch.bfloat16 or torch.float16 or "
     "torch.float32 of 2 dimensions, got torch.bfloat16 of shape (7,)"),
    (lambda a: a.update(top_k=True), TypeError, "top_k: expected an int, got bool"),
    (lambda a: a.update(top_k=2.0), TypeError, "top_k: expected an int, got float"),
    (lambda a: a.update(top_k=3), ValueError, "top_k: expected one of 1, 2, 4, 6, 8, and at most 7, got 3"),
    (lambda a: a.update(top_k=8), ValueError, "top_k: expected one of 1, 2, 4, 6, 8, and at most 7, got 8"),
    (lambda a: a.update(scoring="logits"), ValueError,
     "scoring: expected 'softmax' or 'softmax_of_chosen', got 'logits'"),
])
def test_wrong_arguments_of_route(torch, change, kind, message):
    from blockscale.torch import ops

    arguments = dict(logits=random_values(torch, 6, 7), top_k=2, scoring="softmax")
    check_error(ops.route, ops.route_op.fake, arguments, change, kind, message)


def test_every_tensor_is_one(torch):
    from blockscale.torch import MoE, QuantizedTensor, ops

    layer, moe = make_moe(torch, "nvfp4"), moe_arguments(torch)
    names = ("x", "ids", "weights")
    offsets = torch.zeros((EXPERTS,), torch.int32)
    grouped = dict(x=moe["x"], codes=moe["up"], scales=moe["up_scales"], tensor_scale=moe["up_tensor_scale"],
                   offsets=offsets, bias=moe["up_bias"])
    parts, stacked = make_experts(torch), [QuantizedTensor.from_float(moe["x"], "nvfp4")]
    calls = [
        (ops.moe, {name: each for name, each in moe.items() if hasattr(each, "dtype")}, dict(format="nvfp4")),
        (ops.grouped_linear, grouped, dict(format="nvfp4")),
        (ops.route, dict(logits=moe["x"]), dict(top_k=2)),
        (lambda x, ids, weights: layer(x, ids, weights), {name: moe[name] for name in names}, {}),
        (MoE.from_float, parts, dict(format="mxfp8")),
        (lambda tensors: QuantizedTensor.stack([*stacked, tensors]), dict(tensors=stacked[0]), {}),
    ]
    for call, tensors, others in calls:
        call(**tensors, **others)
        for name, tensor in tensors.items():
            wrong = [[1.0], np.ones((4, 64))]
            if isinstance(tensor, torch.Tensor):
                wrong.append(distributed(torch, tensor))
            if name in names or name in ("codes", "up", "down", "logits") or name.endswith("scales"):
                wrong.append(None)
            for each in wrong:
                with pytest.raises(TypeError) as caught:
                    call(**{**tensors, name: each}, **others)
                message, got = str(caught.value), "a DTensor" if each is tensor else type(each).__name__
                assert message.startswith(f"{name}: expected ") and message.endswith(f"{got}"), message
            if isinstance(tensor, torch.Tensor):
                tensor.__class__ = torch.Tensor


def test_the_module_checks(torch):
    """What most calls have is found to be right at once; everything else is looked at."""
    layer = make_moe(torch, "mxfp8")
    right = {name: each for name, each in moe_arguments(torch).items() if name in ("x", "ids", "weights")}
    cases = [
        (dict(x=right["x"].float()), TypeError, "x: expected torch.bfloat16, got torch.float32"),
        (dict(x=right["x"][:, :32]), ValueError,
         "x: expected a last dimension of 64, which the weight has, got shape (6, 32)"),
        (dict(x=right["x"][:5]), ValueError, "ids: expected a row for each of 5 tokens, got 6"),
        (dict(ids=right["weights"]), TypeError, "ids: expected torch.int64 or torch.int32, got torch.float32"),
        (dict(ids=right["ids"].reshape(-1), weights=right["weights"].reshape(-1)), ValueError,
         "ids: expected 2 dimensions, the second of at least 1, got shape (18,)"),
        (dict(ids=right["ids"][:, :0], weights=right["weights"][:, :0]), ValueError,
         "ids: expected 2 dimensions, the second of at least 1, got shape (6, 0)"),
        (dict(weights=right["weights"][:, :2]), ValueError, "weights: expected shape (6, 3) or (6, 5), got (6, 2)"),
        (dict(weights=right["ids"]), TypeError,
         "weights: expected torch.bfloat16 or torch.float16 or torch.float32, got torch.int64"),
        *(({name: right[name].to("cuda")}, ValueError, f"{wrong}: expected a tensor on {of}, as x is, got one on {got}")
          for name, wrong, of, got in (("x", "ids", "cuda", "cpu"), ("ids", "ids", "cpu", "cuda"),
                                       ("weights", "weights", "cpu", "cuda"))),
        ({name: each.to("cuda") for name, each in right.items()}, ValueError,
         "up: expected a tensor on cuda, as x is, got one on cpu"),
    ]
    for change, kind, message in cases:
        with pytest.raises(kind) as error:
            layer(*{**right, **change}.values())
        assert str(error.value) == message


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
                                  "gate=Gate(alpha=1.0, limit=inf, shift=0.0)")
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


def test_wrong_modules(torch):
    from blockscale.torch import MoE, QuantizedTensor

    def make(*shape, format="mxfp8", **options):
        return QuantizedTensor.from_float(random_values(torch, *shape), format, **options)

    right = dict(up=make(5, 64, 64), down=make(5, 64, 32), up_bias=torch.zeros((5, 64)), down_bias=torch.zeros((5, 64)))
    MoE(**right)
    sparse = "QuantizedTensor(shape=(5, 64, 64), format='mxfp8', device='cpu', sparse=True)"
    for change, kind, message in (
        (dict(up=torch.zeros((5, 64, 64))), TypeError, "up: expected a QuantizedTensor, got Tensor"),
        (dict(down=None), TypeError, "down: expected a QuantizedTensor, got NoneType"),
        (dict(down=make(64, 32)), ValueError, "down: expected 3 dimensions, and no sparse weight, got "
         "QuantizedTensor(shape=(64, 32), format='mxfp8', device='cpu')"),
        (dict(up=make(5, 64, 64, sparse=True)), ValueError,
         f"up: expected 3 dimensions, and no sparse weight, got {sparse}"),
        (dict(down=make(5, 64, 32, format="mxfp4")), ValueError,
         "down: expected the format of up, 'mxfp8', got 'mxfp4'"),
        (dict(layout="pairs"), ValueError, "layout: expected 'halves' or 'interleaved' or 'blocks', got 'pairs'"),
        (dict(up=make(5, 72, 64)), ValueError, "rows of up: expected a multiple of 16, got 72"),
        (dict(up=make(5, 80, 64), up_bias=None), ValueError,
         "codes of up: expected 64 rows, two for each column of down, got 80"),
        (dict(down=make(4, 64, 32), down_bias=None), ValueError,
         "codes of down: expected 5 experts, as up has, got 4"),
        (dict(down=make(5, 32, 32), down_bias=None), ValueError,
         "codes of down: expected 64 rows, as many as up has columns, got 32"),
        # Rows of a bias are put in another order, so it is looked at before.
        (dict(up_bias=torch.zeros((5, 32))), ValueError,
         "up_bias: expected torch.float32 of shape (5, 64), got torch.float32 of shape (5, 32)"),
        (dict(up_bias=torch.zeros((64,))), ValueError,
         "up_bias: expected torch.float32 of shape (5, 64), got torch.float32 of shape (64,)"),
        (dict(down_bias=torch.zeros((5, 32))), ValueError,
         "down_bias: expected torch.float32 of shape (5, 64), got torch.float32 of shape (5, 32)"),
        (dict(up_bias=3.0), TypeError, "up_bias: expected a torch.Tensor, got float"),
        (dict(down_bias=torch.zeros((5, 64)).to("cuda")), ValueError,
         "down_bias: expected a tensor on cpu, as x is, got one on cuda"),
    ):
        with pytest.raises(kind) as error:
            MoE(**{**right, **change})
        assert str(error.value) == message
    for change, kind, message in (
        (dict(up=torch.zeros((64, 64))), ValueError,
         "up: expected 3 dimensions, the first of at least 1, got shape (64, 64)"),
        (dict(down=torch.zeros((0, 64, 32))), ValueError,
         "down: expected 3 dimensions, the first of at least 1, got shape (0, 64, 32)"),
        (dict(up=torch.zeros((5, 64, 64), torch.uint8)), TypeError,
         "weight: expected torch.bfloat16 or torch.float16 or torch.float32, got torch.uint8"),
        (dict(down=torch.zeros((5, 64, 24))), ValueError,
         "weight: expected a last dimension of whole blocks of 32, got shape (64, 24)"),
        (dict(format="mxfp6"), ValueError, "format: expected one of mxfp8, mxfp4, nvfp4, got 'mxfp6'"),
    ):
        with pytest.raises(kind) as error:
            MoE.from_float(**{**make_experts(torch), "format": "mxfp8", **change})
        assert str(error.value) == message


# Models of transformers, whose classes are known by what they have, and gpt-oss's by its name.


def forward_of_routes(self, hidden_states, top_k_index, top_k_weights):
    raise AssertionError("not called")


def make_module(torch, kind, forward=forward_of_routes, **members):
    module = type(kind, (torch.nn.Module,), {"forward": forward})()
    for name, value in members.items():
        setattr(module, name, value)
    return module


def gpt_oss_experts(torch, **changes):
    """Transposed, with biases, gates and others in turn, and constants of its own."""
    parts = make_experts(torch)
    return make_module(torch, "GptOssExperts", **{
        "gate_up_proj": parts["up"].transpose(1, 2), "gate_up_proj_bias": parts["up_bias"],
        "down_proj": parts["down"].transpose(1, 2), "down_proj_bias": parts["down_bias"], "alpha": 1.5, "limit": 5.0,
        **changes,
    })


def qwen3_experts(torch, **changes):
    """Halves, without biases; transformers adds the function that splits them."""
    parts = make_experts(torch, bias=False)
    module = make_module(torch, "Qwen3MoeExperts", **{
        "gate_up_proj": parts["up"], "down_proj": parts["down"], "act_fn": torch.nn.SiLU(), **changes,
    })

    def apply_gate(self, gate_up_out):
        raise AssertionError("not called")

    apply_gate.__module__ = "transformers.integrations.moe"
    type(module)._apply_gate = apply_gate
    return module


def make_model(torch, **experts):
    """Experts under names, each beside a router."""
    model = torch.nn.Module()
    for name, module in experts.items():
        block = torch.nn.Module()
        block.experts, block.router = module, torch.nn.Linear(HIDDEN, EXPERTS, random_values(torch, EXPERTS, HIDDEN))
        setattr(model, name, block)
    return model


@pytest.mark.parametrize("format", FORMATS)
def test_convert_gpt_oss(torch, format, monkeypatch):
    from blockscale.torch import MoE, convert_moe_

    model = make_model(torch, block=gpt_oss_experts(torch).train(False))
    report = convert_moe_(model, format)
    assert report.converted == ["block.experts"] and report.kept == {}
    made = model.get_submodule("block.experts")
    assert type(made) is MoE and made.gate == (1.5, 5.0, 1.0) and made.format == format and not made.training
    assert type(model.get_submodule("block.router")) is torch.nn.Linear
    x, (ids, weights) = random_values(torch, 6, HIDDEN), make_routes(torch)
    monkeypatch.setitem(GATES, "gpt_oss", (1.5, 5.0, 1.0))
    expected = expected_moe(torch, x, ids, weights, make_experts(torch), format, "gpt_oss", "interleaved")
    assert close(made(x, router_indices=ids, routing_weights=weights), expected)


@pytest.mark.parametrize("activation", ["module", "SiLUActivation", "function"])
def test_convert_qwen3(torch, activation):
    from blockscale.torch import SILU, convert_moe_

    act_fn = {"module": torch.nn.SiLU(), "SiLUActivation": make_module(torch, "SiLUActivation"),
              "function": torch.nn.functional.silu}[activation]
    model = make_model(torch, block=qwen3_experts(torch, act_fn=act_fn))
    assert convert_moe_(model, "nvfp4").converted == ["block.experts"]
    made = model.get_submodule("block.experts")
    assert made.gate == SILU and made.up_bias is made.down_bias is None and made.training
    x, (ids, weights) = random_values(torch, 6, HIDDEN), make_routes(torch)
    expected = expected_moe(torch, x, ids, weights, make_experts(torch, False), "nvfp4")
    assert close(made(x, ids, weights), expected)


def test_a_class_without_a_gate_of_its_own(torch):
    """As experts were before transformers had a function for it; and weights of silu may be transposed, too."""
    from blockscale.torch import convert_moe_

    parts = make_experts(torch, False)
    x, (ids, weights) = random_values(torch, 6, HIDDEN), make_routes(torch)
    expected = expected_moe(torch, x, ids, weights, parts, "mxfp8")
    for turned in (False, True):
        up, down = (each.transpose(1, 2) if turned else each for each in parts.values())
        model = torch.nn.Module()
        model.experts = make_module(torch, "Experts", gate_up_proj=up, down_proj=down, act_fn=torch.nn.SiLU())
        convert_moe_(model, "mxfp8")
        assert close(model.experts(x, ids, weights), expected)


def test_filter_and_shared_experts(torch):
    from blockscale.torch import MoE, convert_moe_

    shared = qwen3_experts(torch)
    model = make_model(torch, a=shared, b=gpt_oss_experts(torch), c=shared)
    asked = []

    def choose(name, module):
        asked.append((name, module))
        return name != "b.experts"

    there = model.b.experts
    report = convert_moe_(model, "mxfp4", filter=choose)
    assert asked == [("a.experts", shared), ("b.experts", there), ("c.experts", shared)]
    assert report.converted == ["a.experts", "c.experts"] and report.kept == {"b.experts": "filter"}
    assert type(model.a.experts) is MoE and model.a.experts is model.c.experts and model.b.experts is there
    # What is converted already stays.
    made = model.a.experts
    assert convert_moe_(model, "mxfp4").converted == ["b.experts"]
    assert model.a.experts is made and convert_moe_(model, "mxfp4") == ([], {})


def test_experts_are_released_one_by_one(torch):
    from blockscale.torch import MoE, convert_moe_

    model = make_model(torch, **{name: qwen3_experts(torch) for name in "abc"})
    experts = [weakref.ref(model.get_submodule(f"{name}.experts")) for name in "abc"]
    there, make = [], MoE.from_float

    def from_float(*arguments):
        there.append(sum(each() is not None for each in experts))
        return make(*arguments)

    MoE.from_float = from_float
    convert_moe_(model, "mxfp8")
    assert there == [3, 2, 1]


def own_gate(torch):
    """A class whose gate is its own."""
    module = qwen3_experts(torch)
    type(module)._apply_gate = lambda self, gate_up_out: gate_up_out
    return module


REASONS = {
    "gelu": (lambda t: qwen3_experts(t, act_fn=t.nn.Module()), "the activation of Qwen3MoeExperts, which is neither "
             "silu(gate) * up nor that of gpt-oss"),
    "own": (own_gate, "the activation of Qwen3MoeExperts, which is neither silu(gate) * up nor that of gpt-oss"),
    "hidden": (lambda t: qwen3_experts(t, gate_up_proj=t.zeros((5, 64, 48)), down_proj=t.zeros((5, 48, 32))),
               "48 columns of weights, no multiple of 32"),
    "inner": (lambda t: qwen3_experts(t, gate_up_proj=t.zeros((5, 96, 64)), down_proj=t.zeros((5, 64, 48))),
              "48 columns of weights, no multiple of 32"),
    "turned": (lambda t: gpt_oss_experts(t, gate_up_proj=t.zeros((5, 64, 96)), down_proj=t.zeros((5, 48, 64))),
               "48 columns of weights, no multiple of 32"),
    "shapes": (lambda t: qwen3_experts(t, down_proj=t.zeros((5, 32, 32))),
               "weights of (5, 64, 64) and (5, 32, 32), which are not those of experts"),
    "experts": (lambda t: qwen3_experts(t, down_proj=t.zeros((4, 64, 32))),
                "weights of (5, 64, 64) and (4, 64, 32), which are not those of experts"),
    "types": (lambda t: qwen3_experts(t, down_proj=t.zeros((5, 64, 32), t.uint8)),
              "5 experts of torch.bfloat16 and torch.uint8, of which there are no quantized ones"),
    "bias": (lambda t: gpt_oss_experts(t, down_proj_bias=t.zeros((5, 32))),
             "a down_proj_bias of (5, 32) on cpu, for weights of (5, 32, 64)"),
    # As those of Llama 4, which get the rows of each expert.
    "no ids": (lambda t: qwen3_experts(t, forward=lambda self, hidden_states: hidden_states),
               "the forward of Qwen3MoeExperts, which takes no top_k_index or router_indices"),
    "stored": (lambda t: make_module(t, "Mxfp4GptOssExperts"),
               "a Mxfp4GptOssExperts, which is quantized already (load_mxfp4_gpt_oss reads its weights)"),
    "hooks": (lambda t: qwen3_experts(t, _forward_hooks={0: print}), "hooks, which the new module would not have"),
    "many": (lambda t: qwen3_experts(t, gate_up_proj=t.zeros((2049, 64, 64)), down_proj=t.zeros((2049, 64, 32))),
             "2049 experts of torch.float32 and torch.float32, of which there are no quantized ones"),
    "none": (lambda t: qwen3_experts(t, gate_up_proj=t.zeros((0, 64, 64)), down_proj=t.zeros((0, 64, 32))),
             "0 experts of torch.float32 and torch.float32, of which there are no quantized ones"),
}


@pytest.mark.parametrize("name", REASONS)
def test_what_cannot_be_converted(torch, name):
    from blockscale.torch import MoE, convert_moe_

    make, reason = REASONS[name]
    model = make_model(torch, good=qwen3_experts(torch), bad=make(torch))
    good, bad = model.good.experts, model.bad.experts
    with pytest.raises(ValueError) as error:
        convert_moe_(model, "mxfp8")
    assert str(error.value) == (
        f"expected experts that mxfp8 can have, or unsupported='keep', got bad.experts: {reason}"
    )
    assert model.good.experts is good and model.bad.experts is bad
    with pytest.warns(UserWarning) as warned:
        report = convert_moe_(model, "mxfp8", unsupported="keep")
    assert [str(each.message) for each in warned] == [f"not converted to mxfp8: bad.experts: {reason}"]
    assert warned[0].filename == __file__
    assert report.converted == ["good.experts"] and report.kept == {"bad.experts": reason}
    assert type(model.good.experts) is MoE and model.bad.experts is bad


def test_what_are_no_experts(torch):
    """Weights of two dimensions, or one weight alone."""
    from blockscale.torch import convert_moe_

    model = torch.nn.Module()
    model.mlp = make_module(torch, "Mlp", gate_up_proj=torch.zeros((64, 64)), down_proj=torch.zeros((64, 32)))
    model.half = make_module(torch, "Half", gate_up_proj=torch.zeros((5, 64, 64)))
    model.other = make_module(torch, "Other", gate_up_proj=torch.nn.Module(), down_proj=torch.nn.Module())
    assert convert_moe_(model, "mxfp8") == ([], {})


def test_a_distributed_model_stays_as_it_is(torch):
    from blockscale.torch import convert_moe_

    for name in ("gate_up_proj", "down_proj_bias"):
        model = make_model(torch, a=gpt_oss_experts(torch), b=gpt_oss_experts(torch))
        there = model.a.experts
        distributed(torch, getattr(model.b.experts, name))
        with pytest.raises(TypeError, match=f"^b.experts.{name}: expected a tensor that is whole, .*, got a DTensor"):
            convert_moe_(model, "mxfp8")
        assert model.a.experts is there


@pytest.mark.parametrize("arguments, kind, message", [
    (dict(format="mxfp6"), ValueError, "format: expected one of mxfp8, mxfp4, nvfp4, got 'mxfp6'"),
    (dict(format=None), TypeError, "format: expected a str, got NoneType"),
    (dict(activations="static"), ValueError, "activations: expected None or 'dynamic', got 'static'"),
    (dict(activations="dynamic"), ValueError,
     "activations: expected None: experts with quantized x are not there yet, got 'dynamic'"),
    (dict(unsupported="skip"), ValueError, "unsupported: expected 'raise' or 'keep', got 'skip'"),
    (dict(model=3), TypeError, "model: expected a torch.nn.Module, got int"),
])
def test_wrong_arguments_of_convert(torch, arguments, kind, message):
    from blockscale.torch import convert_moe_

    model = make_model(torch, block=qwen3_experts(torch))
    there = model.block.experts
    with pytest.raises(kind) as error:
        convert_moe_(**{"model": model, "format": "mxfp8", **arguments})
    assert str(error.value) == message
    assert model.block.experts is there
    with pytest.raises(ValueError) as error:
        convert_moe_(there, "mxfp8")
    assert str(error.value) == (
        "model: expected a module that has experts, got experts themselves: use MoE.from_float"
    )
