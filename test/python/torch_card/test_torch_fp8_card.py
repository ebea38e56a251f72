"""The formats fp8_block and fp8_row of blockscale.torch on a card."""

import os
from pathlib import Path

import pytest
from test_torch_card import MOST_DISTANCE, distance, make_linear, random_values

FORMATS = ("fp8_block", "fp8_row")
BUNDLE = Path(os.environ.get("BLOCKSCALE_TORCH_BUNDLE", "kernels.bundle")).with_name("fp8.bundle")
pytestmark = pytest.mark.skipif(not BUNDLE.is_file(), reason="needs fp8.bundle, target blockscale-torch-fp8-kernels")


@pytest.mark.parametrize("shape", [(37, 192), (300, 4096), (2, 130, 160), (5, 40000)])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("format", FORMATS)
def test_codes_are_those_of_the_reference(format, dtype, shape):
    """As weights, and as x."""
    import torch
    from blockscale.torch import QuantizedTensor, quantize

    x = random_values(*shape, dtype=getattr(torch, dtype), scale=3.0)
    here, there = (QuantizedTensor.from_float(each, format) for each in (x, x.cpu()))
    pairs = [(here.codes, there.codes), (here.scales, there.scales), *zip(quantize(x, format), quantize(x.cpu(), format))]
    for got, expected in pairs:
        assert torch.equal(got.cpu(), expected)
    assert torch.equal(here.dequantize(torch.float32).cpu(), there.dequantize(torch.float32))


def make_licensed(n, k, format, accumulate):
    _, layer = make_linear(n, k, format, "dynamic")
    layer.accumulate = accumulate
    return layer


@pytest.mark.parametrize("m", [1, 5, 16, 17, 64, 65, 128, 129, 300, 513, 1025])
@pytest.mark.parametrize("accumulate", [None, 128])
@pytest.mark.parametrize("format", FORMATS)
def test_linear_is_that_of_the_reference(format, accumulate, m):
    """Each number of rows that has another kernel."""
    layer = make_licensed(136, 320, format, accumulate)
    x = random_values(m, 320)
    expected = layer.cpu()(x.cpu())
    assert distance(layer.cuda()(x), expected) < MOST_DISTANCE


@pytest.mark.parametrize("accumulate", [None, 128])
@pytest.mark.parametrize("format", FORMATS)
def test_static_linear_is_that_of_the_reference(format, accumulate):
    """Codes are the same, of x that torch quantizes: beyond the largest, no numbers, and all of bf16."""
    import torch
    from blockscale.torch import Linear, card, cpu, formats

    scale = torch.tensor(0.0371)
    x = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16).view(torch.bfloat16).reshape(-1, 32)
    here, there = (backend.quantize_static(x.to(device), scale.to(device), formats.get(format))
                   for backend, device in ((card, "cuda"), (cpu, "cpu")))
    numbers = ~x.isnan()
    assert torch.equal(here[0].cpu()[numbers], there[0][numbers]) and torch.equal(here[1].cpu(), there[1])
    assert (here[0].cpu()[~numbers] & 0x7F == 0x7F).all()
    weight = make_licensed(136, 320, format, accumulate).quantized_weight
    layer = Linear(weight, None, "static", accumulate, input_scale=scale.to(weight.device))
    x = random_values(65, 320)
    expected = layer.cpu()(x.cpu())
    assert distance(layer.cuda()(x), expected) < MOST_DISTANCE


@pytest.mark.parametrize("format, accumulate, is_static", [
    *((format, accumulate, False) for format in FORMATS for accumulate in (None, 128)), ("fp8_row", 128, True),
])
def test_compiled_in_a_graph(format, accumulate, is_static):
    import torch
    from blockscale.torch import Linear

    layer = make_licensed(256, 512, format, accumulate)
    if is_static:
        layer = Linear(layer.quantized_weight, None, "static", accumulate, input_scale=torch.tensor(0.0371, device="cuda"))
    x = random_values(64, 512)
    expected = layer(x)
    assert torch.equal(torch.compile(layer, fullgraph=True)(x), expected)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = layer(x)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, expected)


def test_experts_of_transformers():
    """Codes and factors of a file; H ends inside of a block."""
    import torch
    from blockscale.torch import convert_moe_

    class FP8Experts(torch.nn.Module):
        def __init__(self, experts=5, hidden=160, inner=128):
            super().__init__()
            for name, n, k in (("gate_up_proj", 2 * inner, hidden), ("down_proj", hidden, inner)):
                factors = torch.rand(experts, -(-n // 128), -(-k // 128), device="cuda") / 16
                for part, values in ((name, random_values(experts, n, k).to(torch.float8_e4m3fn)), (f"{name}_scale_inv", factors)):
                    setattr(self, part, torch.nn.Parameter(values, requires_grad=False))
            self.block_size, self.activation_scheme, self.act_fn = (128, 128), "dynamic", torch.nn.SiLU()

        def forward(self, hidden_states, top_k_index, top_k_weights):
            raise AssertionError("not called")

    model = torch.nn.ModuleDict({"experts": FP8Experts()})
    assert convert_moe_(model, "fp8_block", "dynamic").converted == ["experts"]
    layer = model["experts"]
    assert layer.accumulate == 128 and layer.up_codes.is_cuda
    x = random_values(64, 160), torch.randint(0, 5, (64, 2), device="cuda"), torch.rand(64, 2, device="cuda")
    expected = layer.cpu()(*(each.cpu() for each in x))
    # Elements of the second product's x may differ by one code, as those of other dynamic experts.
    assert distance(layer.cuda()(*x), expected) < 0.02
