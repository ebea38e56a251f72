"""blockscale.torch on a card: results, streams, graphs, torch.compile, models, errors."""

import pytest

FORMATS = ("mxfp8", "mxfp4", "nvfp4")
ACTIVATIONS = (None, "dynamic")
# bf16 rounds to 2^-9 of each number.
MOST_DISTANCE = 0.004


def distance(result, expected):
    return float((result.double().cpu() - expected.double().cpu()).norm() / expected.double().cpu().norm())


def random_values(*shape, dtype=None, scale=1.0):
    import torch

    return (torch.randn(*shape, device="cuda") * scale).to(dtype or torch.bfloat16)


def make_linear(n, k, format, activations=None, bias=True):
    import torch
    from blockscale.torch import Linear

    torch.manual_seed(n + k)
    plain = torch.nn.Linear(k, n, bias=bias).to("cuda", torch.bfloat16)
    return plain, Linear.from_linear(plain, format, activations)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("format", FORMATS)
def test_codes_are_those_of_the_reference(format, dtype):
    import torch
    from blockscale.torch import QuantizedTensor

    x = random_values(37, 192, dtype=getattr(torch, dtype))
    here, there = QuantizedTensor.from_float(x, format), QuantizedTensor.from_float(x.cpu(), format)
    assert torch.equal(here.codes.cpu(), there.codes) and torch.equal(here.scales.cpu(), there.scales)
    if format == "nvfp4":
        assert torch.equal(here.tensor_scale.cpu(), there.tensor_scale)
    assert torch.equal(here.dequantize(torch.float32).cpu(), there.dequantize(torch.float32))


@pytest.mark.parametrize("m", [1, 5, 16, 17, 64, 65, 300, 1025])
@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_linear_is_that_of_the_reference(format, activations, m):
    _, layer = make_linear(136, 320, format, activations)
    x = random_values(m, 320)
    expected = layer.cpu()(x.cpu())
    assert distance(layer.cuda()(x), expected) < MOST_DISTANCE


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("bias", [False, True])
def test_shapes(format, activations, bias):
    import torch

    _, layer = make_linear(72, 64, format, activations, bias)
    x = random_values(2, 3, 5, 64)
    out = layer(x)
    assert (out.shape, out.dtype, out.device) == ((2, 3, 5, 72), torch.bfloat16, x.device)
    # Other kernels for other numbers of rows; with nvfp4, a scale of all rows.
    assert distance(layer(x[0, 0]), out[0, 0]) < (0.2 if activations else MOST_DISTANCE)
    assert layer(x[:0]).shape == (0, 3, 5, 72)
    assert layer(x[0, 0, 0]).shape == (72,)
    # Other strides and addresses are copied first.
    turned = random_values(64, 9).T
    assert torch.equal(layer(turned), layer(turned.contiguous()))
    shifted = random_values(9 * 64 + 1)[1:].view(9, 64)
    assert torch.equal(layer(shifted), layer(shifted.clone()))


@pytest.mark.parametrize("format", FORMATS)
def test_mma_scaled(format):
    import torch
    from blockscale.torch import QuantizedTensor, mma_scaled

    x, y = (QuantizedTensor.from_float(random_values(rows, 256), format) for rows in (70, 40))
    out = mma_scaled(x.codes, x.scales, y.codes, y.scales, format, x.tensor_scale, y.tensor_scale)
    expected = x.dequantize(torch.float32).double() @ y.dequantize(torch.float32).double().T
    assert distance(out, expected) < MOST_DISTANCE


def test_memory_is_not_copied():
    """Beside the result and the workspace nothing is allocated."""
    import torch

    _, layer = make_linear(512, 512, "mxfp8")
    x = random_values(256, 512)
    layer(x)
    torch.cuda.synchronize()
    before = torch.cuda.memory_stats()["allocation.all.allocated"]
    out = layer(x)
    assert torch.cuda.memory_stats()["allocation.all.allocated"] - before == 1
    assert out.data_ptr() != x.data_ptr()


@pytest.mark.parametrize("activations", ACTIVATIONS)
def test_side_stream(activations):
    """Behind slow work on its own stream, and not behind what is on others."""
    import torch

    _, layer = make_linear(256, 256, "mxfp4", activations)
    x = random_values(8, 256)
    expected = layer(2 * x)
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(100_000_000)
        y = 2 * x
        out = layer(y)
        done = side.record_event()
    assert not done.query()
    side.synchronize()
    assert torch.equal(out, expected)


@pytest.mark.parametrize("m", [1, 300, 2000])
@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_cuda_graph(format, activations, m):
    import torch

    _, layer = make_linear(256, 512, format, activations)
    x = random_values(m, 512)
    layer(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = layer(x)
    for _ in range(3):
        x.copy_(random_values(m, 512))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(out, layer(x))


# Models.


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_compiled_transformer(format, activations):
    """One graph, our kernels, and no product of torch's."""
    import torch
    import transformer
    from blockscale.torch import convert_linear_

    plain, model = transformer.make(), transformer.make()
    report = convert_linear_(model, format, activations)
    assert len(report.converted) == 9 and not report.kept
    words = torch.randint(0, 512, (2, 24), device="cuda")
    torch._dynamo.reset()
    explained = torch._dynamo.explain(model)(words)
    assert (explained.graph_count, explained.graph_break_count) == (1, 0), explained.break_reasons
    compiled = torch.compile(model, fullgraph=True)
    out = compiled(words)
    # Fusion rounds in another way, and what is rounded in another way may get another code.
    assert distance(out, model(words)) < (0.2 if activations else 0.03)
    # What quantising costs; all are far from a wrong result.
    assert distance(out, plain(words)) < {"mxfp8": 0.15, "mxfp4": 0.5, "nvfp4": 0.4}[format]

    torch.cuda.synchronize()
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile:
        compiled(words)
        torch.cuda.synchronize()
    names = {event.key for event in profile.key_averages()}
    products = {"aten::mm", "aten::addmm", "aten::matmul", "aten::linear", "aten::bmm"}
    assert not names & products, names & products
    ours = "mma_scaled_" if activations else "linear_"
    assert any(name.startswith(f"{ours}{format}") for name in names), sorted(names)


def test_compiled_with_other_lengths():
    """Dynamic sizes: no second graph for each length."""
    import torch
    import transformer
    from blockscale.torch import convert_linear_

    model = transformer.make()
    convert_linear_(model, "mxfp4")
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    compiled = torch.compile(model, fullgraph=True, dynamic=True)
    for length in (5, 24, 100, 33):
        words = torch.randint(0, 512, (2, length), device="cuda")
        assert distance(compiled(words), model(words)) < 0.03
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] <= 2


def test_compiled_for_graphs():
    """torch.compile that captures graphs itself."""
    import torch
    import transformer
    from blockscale.torch import convert_linear_

    model = transformer.make()
    convert_linear_(model, "nvfp4", "dynamic")
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True, mode="reduce-overhead")
    for _ in range(5):
        words = torch.randint(0, 512, (2, 24), device="cuda")
        torch.compiler.cudagraph_mark_step_begin()
        assert distance(compiled(words).clone(), model(words)) < 0.2


@pytest.mark.parametrize("format", FORMATS)
def test_state_dict(format, tmp_path):
    import torch
    import transformer
    from blockscale.torch import convert_linear_

    one, other = transformer.make(0), transformer.make(1)
    for model in (one, other):
        convert_linear_(model, format)
    words = torch.randint(0, 512, (1, 7), device="cuda")
    expected = one(words)
    torch.save(one.state_dict(), tmp_path / "model.pt")
    other.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    assert torch.equal(other(words), expected)
    # Types stay.
    other.float().bfloat16()
    assert torch.equal(other(words), expected)


@pytest.mark.parametrize("op", ["linear", "quantize", "mma_scaled"])
def test_opcheck(op):
    """What torch asks of a custom op."""
    import torch
    from blockscale.torch import QuantizedTensor

    y = QuantizedTensor.from_float(random_values(64, 128), "nvfp4")
    x = QuantizedTensor.from_float(random_values(5, 128), "nvfp4")
    arguments = {
        "linear": (random_values(5, 128), y.codes, y.scales, y.tensor_scale, None, "nvfp4", "dynamic"),
        "quantize": (random_values(5, 128), "nvfp4", x.tensor_scale),
        "mma_scaled": (x.codes, x.scales, y.codes, y.scales, "nvfp4", x.tensor_scale, y.tensor_scale, None),
    }[op]
    with torch.enable_grad():
        torch.library.opcheck(
            getattr(torch.ops.blockscale, op).default, arguments,
            test_utils=("test_schema", "test_autograd_registration", "test_faketensor"),
        )


# Errors. Nothing is launched, so that the card can be used on.


@pytest.mark.parametrize("make,kind,message", [
    (lambda x: x.float(), TypeError, "x: expected torch.bfloat16, got torch.float32"),
    (lambda x: x.half(), TypeError, "x: expected torch.bfloat16, got torch.float16"),
    (lambda x: x[:, :96], ValueError, "x: expected a last dimension of 128, which the weight has, got shape"),
    (lambda x: x[0, 0], ValueError, "x: expected at least 1 dimension, got none"),
    (lambda x: x.cpu(), ValueError, "codes: expected a tensor on cpu, as x is, got one on cuda:0"),
])
def test_wrong_arguments(make, kind, message):
    import torch

    _, layer = make_linear(64, 128, "mxfp4")
    x = random_values(5, 128)
    for call in (layer, torch.compile(layer)):
        with pytest.raises(Exception) as error:
            call(make(x))
        if call is layer:
            assert type(error.value) is kind and message in str(error.value)
    assert layer(x).shape == (5, 64)


def test_gradients_are_refused():
    import torch

    _, layer = make_linear(64, 128, "mxfp8")
    with torch.enable_grad():
        x = random_values(5, 128).requires_grad_()
        with pytest.raises(RuntimeError, match="no gradient"):
            layer(x).sum().backward()


# Sparse weights.


@pytest.mark.parametrize("m", [1, 17, 300])
@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_sparse_linear_is_that_of_the_reference(format, activations, m):
    import torch
    from blockscale.torch import Linear, convert_linear_

    torch.manual_seed(m)
    model = torch.nn.Sequential(torch.nn.Linear(320, 136)).to("cuda", torch.bfloat16)
    convert_linear_(model, format, activations, sparse=True)
    [layer] = model
    assert type(layer) is Linear and layer.is_sparse
    x = random_values(m, 320)
    out = layer(x)
    torch._dynamo.reset()  # It compiles one function a few times only.
    compiled = torch.compile(model, fullgraph=True)(x)
    assert torch.equal(compiled, out)
    assert distance(out, layer.cpu()(x.cpu())) < MOST_DISTANCE
