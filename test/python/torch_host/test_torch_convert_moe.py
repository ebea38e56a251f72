"""The conversion of models of transformers to mixtures of experts with quantized weights."""

import weakref

import pytest
from moe_cases import ACTIVATIONS, EXPERTS, GATES, HIDDEN, expected_moe, make_experts, make_routes
from test_torch_host import FORMATS, close, distributed, random_values


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


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_convert_gpt_oss(torch, format, activations, monkeypatch):
    from blockscale.torch import MoE, convert_moe_

    model = make_model(torch, block=gpt_oss_experts(torch).train(False))
    report = convert_moe_(model, format, activations)
    assert report.converted == ["block.experts"] and report.kept == {}
    made = model.get_submodule("block.experts")
    assert type(made) is MoE and made.gate == (1.5, 5.0, 1.0) and not made.training
    assert (made.format, made.activations) == (format, activations)
    assert type(model.get_submodule("block.router")) is torch.nn.Linear
    x, (ids, weights) = random_values(torch, 6, HIDDEN), make_routes(torch)
    monkeypatch.setitem(GATES, "gpt_oss", (1.5, 5.0, 1.0))
    expected = expected_moe(torch, x, ids, weights, make_experts(torch), format, "gpt_oss", "interleaved",
                            activations)
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
    (dict(format="mxfp6"), ValueError, "format: expected one of mxfp8, mxfp4, nvfp4, fp8_block, fp8_row, got 'mxfp6'"),
    (dict(format=None), TypeError, "format: expected a str, got NoneType"),
    (dict(activations="static"), ValueError, "activations: expected None or 'dynamic', got 'static'"),
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
