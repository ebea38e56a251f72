"""blockscale.torch but for what torch does: values on the CPU, launches, checks, modules, checkpoints."""

import weakref

import blockscale
import numpy as np
import pytest

COMBINATIONS = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32), "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16),
}
FORMATS = list(COMBINATIONS)
ACTIVATIONS = (None, "dynamic")


def random_values(torch, *shape, dtype="bfloat16", device="cpu", seed=0):
    array = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return torch.from_numpy(array).to(getattr(torch, dtype)).to(device)


def close(result, expected):
    """bf16 of f64."""
    error = np.linalg.norm(result.values().astype(np.float64) - expected) / np.linalg.norm(expected)
    return error < 2.0**-8


def quantized(array, format, g=None):
    """The dequantized values of quantised ones."""
    scaled = {} if g is None else {"tensor_scale": g}
    codes, scales = blockscale.quantize(array, *COMBINATIONS[format], **scaled)
    return blockscale.dequantize(codes, scales, *COMBINATIONS[format], **scaled)


def scale_of(array, format):
    return np.abs(array).max() / np.float32(2688) if format == "nvfp4" else None


# Values.


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("format", FORMATS)
def test_quantized_tensor(torch, format, dtype):
    from blockscale.torch import QuantizedTensor

    weight = random_values(torch, 2, 6, 64, dtype=dtype)
    made = QuantizedTensor.from_float(weight, format)
    array = weight.float().numpy()
    assert made.shape == (2, 6, 64)
    assert made.codes.shape == (2, 6, 64 if format == "mxfp8" else 32)
    expected = quantized(array, format, scale_of(array, format))
    np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), expected)
    same = QuantizedTensor(**made[1].state_dict())
    np.testing.assert_array_equal(same.dequantize(torch.float32).numpy(), expected[1])
    assert repr(same) == f"QuantizedTensor(shape=(6, 64), format='{format}', device='cpu')"


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_tensor_scale_of_no_number(torch, special):
    from blockscale.torch import QuantizedTensor

    array = np.ones((2, 32), np.float32)
    array[1, 3] = special
    made = QuantizedTensor.from_float(torch.from_numpy(array), "nvfp4")
    assert float(made.tensor_scale) == 1
    assert np.isnan(made.dequantize(torch.float32).numpy()).sum() == 16
    assert float(QuantizedTensor.from_float(torch.zeros((2, 32)), "nvfp4").tensor_scale) == 2.0**-126


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_linear_on_the_cpu(torch, format, activations, bias):
    from blockscale.torch import Linear

    weight, x = random_values(torch, 24, 96), random_values(torch, 2, 3, 96, seed=1)
    added = random_values(torch, 24, dtype="float32", seed=2) if bias else None
    layer = Linear.from_linear(torch.nn.Linear(96, 24, weight, added), format, activations)
    out = layer(x)
    assert out.shape == (2, 3, 24) and out.dtype is torch.bfloat16
    left, right = x.float().numpy(), weight.float().numpy()
    if activations:
        left = quantized(left, format, scale_of(left, format))
    expected = left.astype(np.float64) @ quantized(right, format, scale_of(right, format)).T.astype(np.float64)
    assert close(out, expected + (added.to(torch.bfloat16).float().numpy() if bias else 0))


@pytest.mark.parametrize("activations", ACTIVATIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_no_rows_on_the_cpu(torch, format, activations):
    from blockscale.torch import Linear, QuantizedTensor, quantize

    layer = Linear(QuantizedTensor.from_float(random_values(torch, 24, 64), format), None, activations)
    for lead in ((0,), (2, 0)):
        x = random_values(torch, *lead, 64)
        assert layer(x).shape == (*lead, 24)
        block = COMBINATIONS[format][2]
        assert [each.shape for each in quantize(x, format)] == [
            (*lead, 64 // (1 if format == "mxfp8" else 2)), (*lead, 64 // block)
        ]


# Launches.


def on_card(torch, format, activations=None, n=24, k=96):
    from blockscale.torch import Linear, QuantizedTensor

    # On the CPU, since the fake driver computes nothing.
    weight = QuantizedTensor.from_float(random_values(torch, n, k), format).to("cuda")
    return Linear(weight, None, activations)


@pytest.mark.parametrize("format", FORMATS)
def test_rows_choose_kernels(card_torch, card, format):
    """By the launch info of one function."""
    layer = on_card(card_torch, format, k=128)
    names = {}
    for m in (1, 8, 9, 16, 17, 64, 65, 4096, 4097):
        layer(random_values(card_torch, m, 128, device="cuda"))
        names[m] = card.kernels()
    assert all(name.startswith(f"linear_{format}") for each in names.values() for name in each)
    assert names[1] == names[8] != names[9] == names[16] != names[17] != names[64] != names[65] != names[4096]
    assert names[4096] != names[4097]
    assert card_torch.ops.called == []


def test_constants_are_made_once(card_torch, card):
    layer = on_card(card_torch, "nvfp4")
    from blockscale.torch.constants import one, zero_bias

    x = random_values(card_torch, 3, 96, device="cuda")
    layer(x)
    zeros = zero_bias(24, x)
    assert zeros is zero_bias(24, x) and zeros.shape == (24,) and zeros.is_cuda and not zeros.array.any()
    assert zeros is not zero_bias(25, x)
    assert one(x) is one(x) and one(x).shape == () and one(x).array == 0x3F800000


def test_constants_in_a_capture_are_of_torch(card_torch, card, monkeypatch):
    from blockscale.torch.constants import zero_bias

    x = random_values(card_torch, 3, 96, device="cuda")
    monkeypatch.setattr(card_torch.cuda, "is_current_stream_capturing", lambda: True)
    assert zero_bias(24, x) is not zero_bias(24, x)
    assert zero_bias(24, x).shape == (24,) and zero_bias(24, x).dtype is card_torch.bfloat16


def test_workspaces(card_torch, card, monkeypatch):
    """The runtime keeps small ones; large ones, and those in a capture, are torch's."""
    import blockscale.torch.card as module

    layer, x = on_card(card_torch, "mxfp8", k=128), random_values(card_torch, 3, 128, device="cuda")
    made, empty = [], card_torch.empty
    monkeypatch.setattr(card_torch, "empty", lambda shape, **others: made.append(shape) or empty(shape, **others))
    layer(x)
    layer(x)
    assert made == [(3, 24)] * 2
    for change in ((module, "MAX_KEPT_WORKSPACE", 100), (card_torch.cuda, "is_current_stream_capturing", lambda: True)):
        made.clear()
        with monkeypatch.context() as changed:
            changed.setattr(*change)
            layer(x)
        [result, size] = made
        assert result == (3, 24) and size > 100


@pytest.mark.parametrize("format", FORMATS)
def test_kernels_of_dynamic_activations(card_torch, card, format):
    out = on_card(card_torch, format, "dynamic")(random_values(card_torch, 2, 50, 96, device="cuda"))
    assert out.shape == (2, 50, 24)
    names = card.kernels()
    starts = ["tensor_scale_bf16"] * (3 if format == "nvfp4" else 0)
    starts += [f"quantize_{format}_bf16"] + [f"mma_scaled_{format}"] * (len(names) - len(starts) - 1)
    assert len(names) == len(starts)
    assert all(name.startswith(start) for name, start in zip(names, starts))


@pytest.mark.parametrize("dtype,name", [("bfloat16", "bf16"), ("float16", "f16"), ("float32", "f32")])
@pytest.mark.parametrize("format", FORMATS)
def test_quantize_on_the_card(card_torch, card, format, dtype, name):
    from blockscale.torch import QuantizedTensor

    made = QuantizedTensor.from_float(random_values(card_torch, 3, 5, 64, dtype=dtype, device="cuda"), format)
    assert made.device == "cuda" and made.codes.shape[:2] == (3, 5)
    assert card.kernels()[-1] == f"quantize_{format}_{name}"


def test_what_is_no_matrix_in_rows(card_torch, card):
    """Other strides and addresses are copied, empty ones are not launched."""
    layer = on_card(card_torch, "mxfp4")
    x = random_values(card_torch, 96, 7, device="cuda")
    assert layer(x._view(x.array.T)).shape == (7, 24)
    flat = random_values(card_torch, 7 * 96 + 1, device="cuda")
    assert layer(flat[1:].reshape(7, 96)).shape == (7, 24)
    assert card.kernels()
    assert layer(random_values(card_torch, 2, 0, 96, device="cuda")).shape == (2, 0, 24)
    assert card.kernels() == []


def test_the_dispatcher_is_asked_while_something_is_traced(torch):
    from blockscale.torch import Linear, QuantizedTensor

    layer = Linear(QuantizedTensor.from_float(random_values(torch, 24, 96), "mxfp4"))
    x = random_values(torch, 4, 96)
    layer(x)
    assert torch.ops.called == []
    torch.compiler.is_compiling = lambda: True
    layer(x)
    torch.compiler.is_compiling = lambda: False
    torch.is_grad_enabled = lambda: True
    layer(x)
    x.requires_grad = True
    layer(x)
    assert torch.ops.called == ["linear"] * 2
    with pytest.raises(RuntimeError, match="no gradient"):
        torch.ops.blockscale.linear.backward(None, None)


# Checks.


@pytest.mark.parametrize("change,kind,message", [
    (lambda t, a: a.update(x=a["x"].float()), TypeError, "x: expected torch.bfloat16, got torch.float32"),
    (lambda t, a: a.update(x=a["x"][:, :64]), ValueError,
     "x: expected a last dimension of 96, which the weight has, got shape (4, 64)"),
    (lambda t, a: a.update(codes=a["codes"].float()), TypeError,
     "codes: expected torch.uint8, got torch.float32"),
    (lambda t, a: a.update(codes=a["codes"][:, :40]), ValueError,
     "codes of the weight: expected rows of whole blocks of 32 elements, got 80"),
    (lambda t, a: a.update(scales=a["scales"][:, :2]), ValueError,
     "scales of the weight: expected shape (24, 3), for codes of shape (24, 48), got (24, 2)"),
    (lambda t, a: a.update(codes=a["codes"].reshape(2, 12, 48), scales=a["scales"].reshape(2, 12, 3)), ValueError,
     "codes of the weight: expected 2 dimensions, got shape (2, 12, 48)"),
    (lambda t, a: a.update(tensor_scale=t.ones(())), ValueError,
     "tensor_scale: expected none with mxfp4, got a tensor"),
    (lambda t, a: a.update(bias=t.ones((23,), t.bfloat16)), ValueError,
     "bias: expected torch.bfloat16 of shape (24,), got torch.bfloat16 of shape (23,)"),
    (lambda t, a: a.update(format="mxfp6"), ValueError,
     "format: expected one of mxfp8, mxfp4, nvfp4, fp8_block, fp8_row, got 'mxfp6'"),
    (lambda t, a: a.update(activations="static"), ValueError,
     "activations: expected None, 'dynamic', 'mxfp8' or 'fp8_row', got 'static'"),
    (lambda t, a: setattr(a["scales"], "device", "cuda:1"), ValueError,
     "scales: expected a tensor on cpu, as x is, got one on cuda:1"),
])
def test_wrong_arguments(torch, change, kind, message):
    from blockscale.torch import QuantizedTensor, linear

    weight = QuantizedTensor.from_float(random_values(torch, 24, 96), "mxfp4")
    arguments = dict(x=random_values(torch, 4, 96), codes=weight.codes, scales=weight.scales, tensor_scale=None, bias=None,
                     format="mxfp4", activations=None)
    linear(**arguments)
    change(torch, arguments)
    with pytest.raises(kind) as error:
        linear(**arguments)
    assert str(error.value) == message
    # The fake says the same.
    from blockscale.torch import ops

    with pytest.raises(kind):
        ops.linear_op.fake(*arguments.values())


def test_k_of_both_operands(torch):
    from blockscale.torch import QuantizedTensor, mma_scaled

    x, y = (QuantizedTensor.from_float(random_values(torch, 4, k), "mxfp8") for k in (64, 96))
    with pytest.raises(ValueError, match="codes of x: expected 96 elements in a row, as y has, got 64"):
        mma_scaled(x.codes, x.scales, y.codes, y.scales, "mxfp8")


# Modules.


class Model:
    """Two blocks, of which the second shares a layer of the first."""

    def __new__(cls, torch, width=64):
        model, blocks = torch.nn.Module(), torch.nn.Module()
        model.blocks = blocks
        for name in "01":
            block = torch.nn.Module()
            setattr(blocks, name, block)
            block.up = torch.nn.Linear(width, 8, random_values(torch, 8, width))
        blocks.get_submodule("1").shared = blocks.get_submodule("0").up
        return model


def test_convert(torch):
    from blockscale.torch import Linear, convert_linear_

    model = Model(torch)
    model.get_submodule("blocks.0.up").train(False)
    report = convert_linear_(model, "nvfp4", "dynamic", filter=lambda name, module: name != "blocks.1.up")
    assert report.converted == ["blocks.0.up", "blocks.1.shared"] and report.kept == {"blocks.1.up": "filter"}
    made = model.get_submodule("blocks.0.up")
    assert type(made) is Linear and made is model.get_submodule("blocks.1.shared")
    assert (made.format, made.activations, made.training) == ("nvfp4", "dynamic", False)
    assert type(model.get_submodule("blocks.1.up")) is torch.nn.Linear


def test_layers_are_released_one_by_one(torch, monkeypatch):
    """So that a model and all its narrow weights need not fit at the same time."""
    from blockscale.torch import Linear, convert_linear_

    model = torch.nn.Module()
    for name in "abc":
        setattr(model, name, torch.nn.Linear(64, 8, random_values(torch, 8, 64)))
    layers = [weakref.ref(model.get_submodule(name)) for name in "abc"]
    there, make = [], Linear.from_linear

    def from_linear(*arguments):
        there.append(sum(layer() is not None for layer in layers))
        return make(*arguments)

    monkeypatch.setattr(Linear, "from_linear", from_linear)
    convert_linear_(model, "mxfp8")
    # The one before is still in hand while the next one is made ready.
    assert there == [3, 2, 1]


def test_what_cannot_be_converted(torch):
    from blockscale.torch import Linear, convert_linear_

    class Own(torch.nn.Linear):
        pass

    model = Model(torch)
    model.odd = torch.nn.Linear(33, 8, random_values(torch, 8, 33))
    model.own = Own(64, 8, random_values(torch, 8, 64))
    reasons = {
        "odd": "in_features 33, which is no multiple of 32",
        "own": "a Own, which is no torch.nn.Linear itself",
    }
    with pytest.raises(ValueError, match="got odd: in_features 33, .*; own: a Own"):
        convert_linear_(model, "mxfp8")
    assert type(model.get_submodule("blocks.0.up")) is torch.nn.Linear
    with pytest.warns(UserWarning, match="not converted to mxfp8: odd: "):
        report = convert_linear_(model, "mxfp8", unsupported="keep")
    assert report.kept == reasons and len(report.converted) == 3
    assert type(model.get_submodule("blocks.1.up")) is Linear
    with pytest.raises(ValueError, match="model: expected a module that has linear layers, got one itself"):
        convert_linear_(torch.nn.Linear(64, 8), "mxfp8")


def test_buffers(torch):
    from blockscale.torch import Linear

    layer = Linear.from_linear(torch.nn.Linear(64, 8, random_values(torch, 8, 64), random_values(torch, 8)), "nvfp4")
    assert list(layer.state_dict()) == ["codes", "scales", "tensor_scale", "bias"]
    assert list(on_cpu_without_bias(torch).state_dict()) == ["codes", "scales"]
    before = dict(layer.state_dict())
    layer.to(torch.float16)
    for name, tensor in layer.state_dict().items():
        assert tensor.dtype is before[name].dtype
        np.testing.assert_array_equal(tensor.array, before[name].array)
    assert "format='nvfp4', activations=None" in layer.extra_repr()


def on_cpu_without_bias(torch):
    from blockscale.torch import Linear

    return Linear.from_linear(torch.nn.Linear(64, 8, random_values(torch, 8, 64)), "mxfp4")


# What is no tensor, and what is only a part of one.


def distributed(torch, tensor):
    """A DTensor, which is known by its name."""

    class DTensor(torch.Tensor):
        pass

    DTensor.__module__ = "torch.distributed.tensor"
    tensor.__class__ = DTensor
    return tensor


def calls(torch):
    """Each function with tensors that are right: how it is called, and the names of tensors."""
    import blockscale.torch as package
    from blockscale.torch import ops

    x = random_values(torch, 4, 64)
    codes, scales = ops.quantize(x, "nvfp4")
    g, bias = torch.ones((), torch.float32), random_values(torch, 4)
    layer = package.Linear.from_linear(torch.nn.Linear(64, 8, random_values(torch, 8, 64)), "mxfp8")
    return [
        (ops.quantize, dict(x=x, tensor_scale=g), dict(format="nvfp4")),
        (ops.mma_scaled, dict(x=codes, x_scales=scales, y=codes.clone(), y_scales=scales.clone(), x_tensor_scale=g,
                              y_tensor_scale=g.clone(), bias=bias), dict(format="nvfp4")),
        (ops.linear, dict(x=x, codes=codes, scales=scales, tensor_scale=g, bias=bias), dict(format="nvfp4")),
        (package.QuantizedTensor, dict(codes=codes, scales=scales, tensor_scale=g), dict(format="nvfp4")),
        (package.QuantizedTensor.from_float, dict(weight=x, tensor_scale=g), dict(format="nvfp4")),
        (package.load_nvfp4_modelopt, dict(weight=codes, weight_scale=scales, weight_scale_2=g), {}),
        (package.load_mxfp4_gpt_oss, dict(blocks=torch.zeros((4, 2, 16), torch.uint8),
                                          scales=torch.zeros((4, 2), torch.uint8)), {}),
        (lambda x: layer(x), dict(x=x), {}),
    ]


def test_every_tensor_is_one(torch):
    from blockscale.torch import Linear, QuantizedTensor, convert_linear_, ops

    for call, tensors, others in calls(torch):
        call(**tensors, **others)
        for name, tensor in tensors.items():
            for wrong, got in (([1.0], "list"), (np.ones((4, 64)), "ndarray"), (distributed(torch, tensor), "a DTensor")):
                with pytest.raises(TypeError) as caught:
                    call(**{**tensors, name: wrong}, **others)
                message = str(caught.value)
                assert message.startswith(f"{name}: expected "), message
                assert message.endswith(f"got {got}"), message
            tensor.__class__ = torch.Tensor
    for wrong in (3, ["mxfp8"], None):
        with pytest.raises(TypeError, match="^format: expected a str, got"):
            ops.quantize(random_values(torch, 4, 64), wrong)
        with pytest.raises(TypeError, match="^weight: expected a QuantizedTensor, got"):
            Linear(wrong)
        with pytest.raises(TypeError, match="^model: expected a torch.nn.Module, got"):
            convert_linear_(wrong, "mxfp8")
        with pytest.raises(TypeError, match="^linear: expected a torch.nn.Linear, got"):
            Linear.from_linear(wrong, "mxfp8")
    assert QuantizedTensor.from_float(random_values(torch, 4, 64), "mxfp8").shape == (4, 64)


def test_a_distributed_model_stays_as_it_is(torch):
    from blockscale.torch import convert_linear_

    model = torch.nn.Module()
    for name in "ab":
        setattr(model, name, torch.nn.Linear(64, 8, random_values(torch, 8, 64)))
    distributed(torch, model.b.weight)
    with pytest.raises(TypeError, match="^b.weight: expected a tensor that is whole, .*, got a DTensor"):
        convert_linear_(model, "mxfp8")
    assert type(model.a) is torch.nn.Linear


# Checkpoints, made by hand.


def test_gpt_oss(torch):
    """Weights as gpt-oss has them: a table by low and high bits of each byte, in turn, times 2^(scale - 127)."""
    from blockscale.torch import load_mxfp4_gpt_oss

    rng = np.random.default_rng(5)
    blocks = rng.integers(0, 256, (3, 4, 2, 16), dtype=np.uint8)
    scales = rng.integers(110, 140, (3, 4, 2), dtype=np.uint8)
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
    table = np.concatenate([table, -table])
    values = np.empty((3, 4, 2, 32), np.float32)
    values[..., 0::2], values[..., 1::2] = table[blocks & 15], table[blocks >> 4]
    values = np.ldexp(values, scales[..., None].astype(np.int32) - 127).reshape(3, 4, 64)
    made = load_mxfp4_gpt_oss(torch.from_numpy(blocks), torch.from_numpy(scales))
    assert (made.format, made.shape) == ("mxfp4", (3, 4, 64))
    np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), values)
    np.testing.assert_array_equal(made[2].dequantize(torch.float32).numpy(), values[2])


def test_modelopt(torch):
    """Even elements in the low bits; code * weight_scale * weight_scale_2."""
    from blockscale.torch import load_nvfp4_modelopt

    rng = np.random.default_rng(6)
    weight = rng.integers(0, 256, (4, 32), dtype=np.uint8)
    scales = rng.integers(0x20, 0x60, (4, 4), dtype=np.uint8)
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
    table = np.concatenate([table, -table])
    values = np.stack([table[weight & 15], table[weight >> 4]], -1).reshape(4, 4, 16)
    e4m3 = np.ldexp(1 + (scales & 7) / 8, (scales >> 3).astype(np.int32) - 7).astype(np.float32)
    expected = ((values * e4m3[..., None]) * np.float32(0.0125)).reshape(4, 64)
    given = torch.from_numpy(np.array([0.0125], np.float32))
    made = load_nvfp4_modelopt(
        torch.from_numpy(weight), torch.from_numpy(scales).view(torch.float8_e4m3fn), given
    )
    assert (made.format, made.shape, made.tensor_scale.shape) == ("nvfp4", (4, 64), ())
    np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), expected)


@pytest.mark.parametrize("blocks,scales,message", [
    ((4, 2, 8), (4, 2), r"blocks: expected shape \(\.\.\., rows, K / 32, 16\), got \(4, 2, 8\)"),
    ((4, 2, 16), (4, 3), r"scales: expected shape \(4, 2\), as blocks have, got \(4, 3\)"),
])
def test_wrong_gpt_oss(torch, blocks, scales, message):
    from blockscale.torch import load_mxfp4_gpt_oss

    with pytest.raises(ValueError, match=message):
        load_mxfp4_gpt_oss(torch.zeros(blocks, torch.uint8), torch.zeros(scales, torch.uint8))


def test_wrong_modelopt(torch):
    from blockscale.torch import load_nvfp4_modelopt

    weight, scales = torch.zeros((4, 32), torch.uint8), torch.zeros((4, 4), torch.uint8)
    with pytest.raises(TypeError, match="weight: expected torch.uint8 or torch.float4_e2m1fn_x2, got torch.float32"):
        load_nvfp4_modelopt(weight.float(), scales, torch.ones(()))
    with pytest.raises(ValueError, match="weight_scale_2: expected one number of float32"):
        load_nvfp4_modelopt(weight, scales, torch.ones((2,)))


# The bundle.


def test_no_bundle(torch, monkeypatch, tmp_path):
    from blockscale.torch import bundle

    monkeypatch.setenv("BLOCKSCALE_TORCH_BUNDLE", str(tmp_path / "none.bundle"))
    with pytest.raises(FileNotFoundError, match=f"expected its kernels at {tmp_path}/none.bundle, found none"):
        bundle.find()
    monkeypatch.delenv("BLOCKSCALE_TORCH_BUNDLE")
    beside, built = bundle.candidates()
    assert beside.name == "kernels.bundle" and beside.parent == bundle.HERE
    assert built.parts[-5:] == ("build", "python", "blockscale", "torch", "kernels.bundle")
