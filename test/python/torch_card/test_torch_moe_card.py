"""Mixtures of experts of blockscale.torch on a card: results, graphs, torch.compile, models of transformers."""

import copy
import math

import pytest
from test_torch_card import FORMATS, MOST_DISTANCE, distance, random_values

# alpha, limit and shift; the order of rows, and whether there are biases.
GATES = {"silu": ((1.0, math.inf, 0.0), "halves", False), "gpt_oss": ((1.702, 7.0, 1.0), "interleaved", True)}
# h and the results of experts are rounded, too, and h may round the other way. With dynamic activations, another code of
# an element of h may be the nearest one then.
MOST_DISTANCE_OF_MOE = {None: 0.006, "dynamic": 0.02}
EXPERTS, HIDDEN, INNER = 6, 320, 192


def make_moe(format, gate="gpt_oss", experts=EXPERTS, hidden=HIDDEN, inner=INNER, activations=None):
    import torch
    from blockscale.torch import MoE

    torch.manual_seed(experts + hidden)
    numbers, layout, bias = GATES[gate]
    up = random_values(experts, 2 * inner, hidden, scale=4 / math.sqrt(hidden))
    down = random_values(experts, hidden, inner, scale=1 / math.sqrt(inner))
    biases = (random_values(experts, 2 * inner), random_values(experts, hidden)) if bias else (None, None)
    return MoE.from_float(up, down, format, *biases, numbers, layout, activations=activations)


def make_routes(count, top_k=2, experts=EXPERTS):
    """Ids, some of nobody, and weights."""
    import torch

    return torch.randint(-1, experts + 1, (count, top_k), device="cuda"), torch.rand(count, top_k, device="cuda")


@pytest.mark.parametrize("count", [1, 3, 40, 300, 2000])
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("activations", MOST_DISTANCE_OF_MOE)
@pytest.mark.parametrize("format", FORMATS)
def test_moe_is_that_of_the_reference(format, activations, gate, count):
    import torch

    layer = make_moe(format, gate, activations=activations)
    x, (ids, weights) = random_values(count, HIDDEN), make_routes(count)
    ids[0, 0] = 2
    out = layer(x, ids, weights)
    assert torch.equal(out, layer(x, ids, weights))
    assert torch.equal(out, layer(x, ids.int(), weights))
    nobody = ((ids < 0) | (ids >= EXPERTS)).all(dim=1)
    assert not out[nobody].any()
    expected = layer.cpu()(x.cpu(), ids.cpu(), weights.cpu())
    assert distance(out, expected) < MOST_DISTANCE_OF_MOE[activations]


@pytest.mark.parametrize("format", FORMATS)
def test_codes_are_those_of_the_reference(format):
    """Of each expert, and so are their tensor scales."""
    import torch
    from blockscale.torch import MoE

    up, down = random_values(EXPERTS, 2 * INNER, HIDDEN), random_values(EXPERTS, HIDDEN, INNER)
    here = MoE.from_float(up, down, format).state_dict()
    there = MoE.from_float(up.cpu(), down.cpu(), format).state_dict()
    assert here.keys() == there.keys()
    for name, tensor in there.items():
        assert torch.equal(here[name].cpu(), tensor), name


def test_shapes():
    import torch

    layer = make_moe("mxfp4")
    x, (ids, weights) = random_values(2, 5, HIDDEN), make_routes(10)
    out = layer(x, ids, weights)
    assert (out.shape, out.dtype, out.device) == (x.shape, torch.bfloat16, x.device)
    assert torch.equal(layer(x.view(10, HIDDEN), ids, weights), out.view(10, HIDDEN))
    assert layer(x[:, :0], ids[:0], weights[:0]).shape == (2, 0, HIDDEN)
    # Weights of all experts.
    of_all = torch.rand(10, EXPERTS, device="cuda").bfloat16()
    chosen = of_all.gather(1, ids.clamp(0, EXPERTS - 1)).float()
    assert torch.equal(layer(x, ids, of_all), layer(x, ids, chosen))
    # Other strides and addresses are copied first.
    turned = random_values(HIDDEN, 10).T
    assert torch.equal(layer(turned, ids, weights), layer(turned.contiguous(), ids, weights))
    assert torch.equal(layer(x, ids.T.contiguous().T, weights), out)


@pytest.mark.parametrize("count", [1, 17, 70, 1100])
@pytest.mark.parametrize("activations", [None, "dynamic"])
@pytest.mark.parametrize("format", FORMATS)
def test_grouped_linear_is_that_of_the_reference(format, activations, count):
    import torch
    from blockscale.torch import grouped_linear

    layer, x = make_moe(format), random_values(count, HIDDEN)
    sizes = torch.randint(0, count + 1, (EXPERTS,)).sort().values
    offsets = torch.where(sizes == count, count - 1, sizes).int().cuda()
    tensors = layer.up_codes, layer.up_scales, layer.up_tensor_scale, offsets, layer.up_bias
    out = grouped_linear(x, *tensors, format, activations)
    here = [each if each is None else each.cpu() for each in tensors]
    expected = grouped_linear(x.cpu(), *here, format, activations)
    assert not out[offsets[-1]:].any()
    assert not expected.any() and not out.any() or distance(out, expected) < MOST_DISTANCE


@pytest.mark.parametrize("offsets", [
    [10**9] * 6, [-7] * 6, [-(2**31), 2**31 - 1, 5, 40, -3, 41], [40, 30, 20, 10, 5, 0],
])
@pytest.mark.parametrize("format", FORMATS)
def test_wrong_offsets_write_nothing_else(format, offsets):
    """The result has the place between two tensors, if torch gives it there."""
    import torch
    from blockscale.torch import grouped_linear

    layer, x = make_moe(format), random_values(40, HIDDEN)
    tensors = layer.up_codes, layer.up_scales, layer.up_tensor_scale
    ends = torch.tensor(offsets, dtype=torch.int32, device="cuda")
    grouped_linear(x, *tensors, ends.clamp(0, 0), layer.up_bias, format)
    rows = [torch.full((40, 2 * INNER), 3.0, dtype=torch.bfloat16, device="cuda") for _ in range(9)]
    given = [each for each in (*rows[:4], *rows[5:], x, *tensors, ends, layer.up_bias) if each is not None]
    before = [each.clone() for each in given]
    del rows[4]
    out = grouped_linear(x, *tensors, ends, layer.up_bias, format)
    torch.cuda.synchronize()
    assert out.shape == (40, 2 * INNER)
    assert all(torch.equal(one, other) for one, other in zip(given, before))


@pytest.mark.parametrize("scoring", ["softmax", "softmax_of_chosen"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("count, experts, top_k", [(5, 32, 4), (64, 128, 8), (33, 256, 6), (1, 8, 2), (300, 60, 1)])
def test_route_is_that_of_the_reference(count, experts, top_k, dtype, scoring):
    import torch
    from blockscale.torch import route

    logits = random_values(count, experts, dtype=getattr(torch, dtype))
    ids, weights = route(logits, top_k, scoring)
    expected = route(logits.cpu(), top_k, scoring)
    assert torch.equal(ids.cpu(), expected[0])
    torch.testing.assert_close(weights.cpu(), expected[1], rtol=1e-5, atol=0)


def test_nothing_waits():
    import torch
    from blockscale.torch import grouped_linear, route

    layer, x = make_moe("nvfp4"), random_values(40, HIDDEN)
    dynamic = make_moe("nvfp4", activations="dynamic")
    logits, offsets = random_values(40, EXPERTS), torch.full((EXPERTS,), 40, dtype=torch.int32, device="cuda")

    def call():
        ids, weights = route(logits, 2)
        layer(x, ids, weights)
        layer(x, ids, logits)
        dynamic(x, ids, weights)
        grouped_linear(x, layer.up_codes, layer.up_scales, None, offsets, None, "nvfp4")

    call()
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        call()
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("count", [1, 16, 300])
@pytest.mark.parametrize("activations", [None, "dynamic"])
@pytest.mark.parametrize("format", FORMATS)
def test_one_graph_for_ten_routings(format, activations, count):
    import torch

    layer = make_moe(format, activations=activations)
    x, (ids, weights) = random_values(count, HIDDEN), make_routes(count)
    layer(x, ids, weights)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = layer(x, ids, weights)
    seen = []
    for i in range(10):
        new, factors = make_routes(count)
        # All with one expert, or with nobody, too.
        ids.copy_(torch.full_like(ids, EXPERTS - i) if i < 2 else new)
        weights.copy_(factors)
        x.copy_(random_values(count, HIDDEN))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(out, layer(x, ids, weights)), i
        seen.append(out.clone())
    assert not seen[0].any() and seen[1].any() and not torch.equal(seen[1], seen[2])


def make_block(format, gate):
    """A router and its experts."""
    import torch
    from blockscale.torch import route

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.router = torch.nn.Linear(HIDDEN, EXPERTS).to("cuda", torch.bfloat16)
            self.experts = make_moe(format, gate)

        def forward(self, x):
            ids, weights = route(self.router(x.view(-1, HIDDEN)), 2)
            return x + self.experts(x, ids, weights)

    return Block()


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("format", FORMATS)
def test_compiled(format, gate):
    """One graph, also for the infinite limit of silu."""
    import torch

    block, x = make_block(format, gate), random_values(2, 9, HIDDEN)
    torch._dynamo.reset()
    explained = torch._dynamo.explain(block)(x)
    assert (explained.graph_count, explained.graph_break_count) == (1, 0), explained.break_reasons
    assert distance(torch.compile(block, fullgraph=True)(x), block(x)) < MOST_DISTANCE


def test_compiled_with_other_lengths():
    import torch

    block = make_block("mxfp4", "gpt_oss")
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(block, fullgraph=True, dynamic=True)
    for length in (5, 24, 100, 33):
        x = random_values(2, length, HIDDEN)
        assert distance(compiled(x), block(x)) < MOST_DISTANCE
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] <= 2


@pytest.mark.parametrize("op", ["moe", "grouped_linear", "route"])
def test_opcheck(op):
    import torch

    layer, x, (ids, weights) = make_moe("nvfp4"), random_values(9, HIDDEN), make_routes(9)
    up, down = layer._product("up"), layer._product("down")
    offsets = torch.tensor([1, 2, 3, 5, 8, 9], dtype=torch.int32, device="cuda")
    arguments = {
        "moe": (x, ids, weights, *up, *down, "nvfp4", 1.0, math.inf, 0.0, "dynamic"),
        "grouped_linear": (x, *up[:3], offsets, up[3], "nvfp4"),
        "route": (weights, 2, "softmax"),
    }[op]
    with torch.enable_grad():
        torch.library.opcheck(
            getattr(torch.ops.blockscale, op).default, arguments,
            test_utils=("test_schema", "test_autograd_registration", "test_faketensor"),
        )


def test_gradients_are_refused():
    import torch

    layer, x, (ids, weights) = make_moe("mxfp8"), random_values(5, HIDDEN), make_routes(5)
    with torch.enable_grad():
        for wanting in (x, weights):
            wanting.requires_grad_()
            with pytest.raises(RuntimeError, match="no gradient"):
                layer(x, ids, weights).sum().backward()
            wanting.requires_grad_(False)


def test_state_dict(tmp_path):
    import torch

    one, other = make_moe("nvfp4"), make_moe("nvfp4")
    for buffer in other.buffers():
        buffer.zero_()
    x, routes = random_values(9, HIDDEN), make_routes(9)
    expected = one(x, *routes)
    torch.save(one.state_dict(), tmp_path / "experts.pt")
    other.load_state_dict(torch.load(tmp_path / "experts.pt", weights_only=True))
    assert torch.equal(other(x, *routes), expected)
    # Types stay.
    other.half().bfloat16()
    assert torch.equal(other(x, *routes), expected)


# Models of transformers.


def make_model(kind):
    """A small model with random weights, and experts that matter."""
    transformers = pytest.importorskip("transformers")
    import torch

    sizes = dict(hidden_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=32,
                 vocab_size=256, pad_token_id=0, num_experts_per_tok=2)
    name, others = {
        "gpt_oss": ("GptOss", dict(num_local_experts=6, intermediate_size=96)),
        "qwen3_moe": ("Qwen3Moe", dict(num_experts=6, moe_intermediate_size=96)),
    }[kind]
    if not hasattr(transformers, f"{name}ForCausalLM"):
        pytest.skip(f"needs transformers with {name}ForCausalLM")
    config = getattr(transformers, f"{name}Config")(**sizes, **others)
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}ForCausalLM")(config).to("cuda", torch.bfloat16).eval()
    for experts in experts_of(model):
        for parameter in experts.parameters():
            parameter.copy_(random_values(*parameter.shape, scale=2 / math.sqrt(128) if parameter.dim() == 3 else 0.5))
    return model


def experts_of(model):
    return [module for module in model.modules() if hasattr(module, "gate_up_proj") and hasattr(module, "down_proj")]


def use_dequantized(experts, format, is_transposed):
    """Gives experts the values of their quantized weights."""
    from blockscale.torch import QuantizedTensor

    for weight in (experts.gate_up_proj, experts.down_proj):
        for i in range(len(weight)):
            rows = weight[i].T if is_transposed else weight[i]
            values = QuantizedTensor.from_float(rows, format).dequantize()
            weight[i].copy_(values.T if is_transposed else values)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["gpt_oss", "qwen3_moe"])
def test_model_of_transformers(kind, format):
    import torch
    from blockscale.torch import MoE, convert_moe_

    plain = make_model(kind)
    model, without = copy.deepcopy(plain), copy.deepcopy(plain)
    report = convert_moe_(model, format)
    assert len(report.converted) == 2 and not report.kept
    assert sum(isinstance(module, MoE) for module in model.modules()) == 2 and not experts_of(model)
    for experts in experts_of(plain):
        use_dequantized(experts, format, kind == "gpt_oss")
    for experts in experts_of(without):
        experts.down_proj.zero_()
    words = torch.randint(0, 256, (2, 24), device="cuda")
    expected = plain(words).logits.double()

    def distances(other):
        """Of each token. By a rounding, some may go to other experts."""
        return ((other(words).logits - expected).norm(dim=-1) / expected.norm(dim=-1)).flatten()

    assert distances(model).quantile(0.8) < 0.05 < 0.2 < distances(without).quantile(0.2)
