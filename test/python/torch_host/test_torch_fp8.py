"""The formats fp8_block and fp8_row of blockscale.torch: values on the CPU, launches, checkpoints, conversion."""

import blockscale
import numpy as np
import pytest
from test_torch_host import close, random_values

# The blocks of weights, and of x.
BLOCKS = {"fp8_block": ((128, 128), (1, 128)), "fp8_row": ((1, "all"), (1, "all"))}
FORMATS = list(BLOCKS)


def quantized(array, block):
    return blockscale.quantize(array, "f8E4M3FN", "f32", scale_block=block)


def values(array, block):
    """Those of what is quantized."""
    return blockscale.dequantize(*quantized(array, block), "f8E4M3FN", scale_block=block)


# Values.


@pytest.mark.parametrize("shape", [(130, 160), (2, 129, 288), (3, 32)])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("format", FORMATS)
def test_quantized_tensor(torch, format, dtype, shape):
    from blockscale.torch import QuantizedTensor

    weight = random_values(torch, *shape, dtype=dtype)
    made, (codes, scales) = QuantizedTensor.from_float(weight, format), quantized(weight.float().numpy(), BLOCKS[format][0])
    assert made.shape == shape and made.scales.dtype is torch.float32
    np.testing.assert_array_equal(made.codes.numpy(), codes)
    np.testing.assert_array_equal(made.scales.numpy(), scales)
    expected = values(weight.float().numpy(), BLOCKS[format][0])
    np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), expected)
    same = QuantizedTensor(**made.state_dict())
    np.testing.assert_array_equal(same.dequantize(torch.float32).numpy(), expected)
    if len(shape) == 3:
        np.testing.assert_array_equal(made[1].dequantize(torch.float32).numpy(), expected[1])


@pytest.mark.parametrize("lead", [(), (5,), (2, 3), (0,), (2, 0)])
@pytest.mark.parametrize("format", FORMATS)
def test_quantize(torch, format, lead):
    """Each row for itself."""
    from blockscale.torch import ops, quantize

    x = random_values(torch, *lead, 160)
    codes, scales = quantize(x, format)
    wanted = (*lead, 2 if format == "fp8_block" else 1)
    assert codes.shape == x.shape and scales.shape == wanted and scales.dtype is torch.float32
    assert [each.shape for each in ops.quantize_op.fake(x, format)] == [x.shape, wanted]
    if x.numel():
        expected = quantized(x.float().numpy().reshape(-1, 160), BLOCKS[format][1])
        np.testing.assert_array_equal(codes.numpy().reshape(-1, 160), expected[0])
        np.testing.assert_array_equal(scales.numpy().reshape(expected[1].shape), expected[1])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n, k", [(24, 96), (200, 288), (128, 128)])
@pytest.mark.parametrize("format", FORMATS)
def test_linear(torch, format, n, k, bias):
    from blockscale.torch import Linear

    # Magnitudes differ by rows and by columns, so that each scale shows.
    rng = np.random.default_rng(n)
    steps = np.exp2(rng.integers(-6, 7, (n, 1)) + np.repeat(rng.integers(-6, 7, (1, k // 32)), 32, 1)).astype(np.float32)
    weight = torch.from_numpy(random_values(torch, n, k).float().numpy() * steps)
    x, added = random_values(torch, 2, 3, k, seed=1), random_values(torch, n, seed=2) if bias else None
    layer = Linear.from_linear(torch.nn.Linear(k, n, weight, added), format, "dynamic")
    out = layer(x)
    assert out.shape == (2, 3, n) and out.dtype is torch.bfloat16
    left = values(x.float().numpy().reshape(6, k), BLOCKS[format][1]).astype(np.float64)
    expected = left @ values(weight.numpy(), BLOCKS[format][0]).T.astype(np.float64)
    assert close(out, (expected + (added.float().numpy() if bias else 0)).reshape(2, 3, n))
    assert layer(random_values(torch, 0, k)).shape == (0, n)
    assert f"format='{format}', activations='dynamic'" in layer.extra_repr()


def test_a_scale_of_zeros_and_of_nan(torch):
    from blockscale.torch import quantize

    array = np.zeros((3, 256), np.float32)
    array[1, 7], array[2, 200] = np.nan, 448
    codes, scales = quantize(torch.from_numpy(array), "fp8_block")
    np.testing.assert_array_equal(scales.numpy(), np.float32([[1, 1], [np.nan, 1], [1, 1]]))
    assert not codes.numpy()[:2].any() and codes.numpy()[2, 200] == 0x7E


# Launches.


@pytest.mark.parametrize("format, shape, name", [
    ("fp8_block", (200, 288), "quantize_weight_fp8_block_bf16"), ("fp8_row", (200, 288), "quantize_fp8_row_bf16"),
    ("fp8_block", (3, 200, 288), "quantize_weight_fp8_block_bf16"),
])
def test_weights_on_the_card(fp8_torch, card, format, shape, name):
    from blockscale.torch import QuantizedTensor

    made = QuantizedTensor.from_float(random_values(fp8_torch, *shape, device="cuda"), format)
    assert made.device == "cuda" and made.codes.shape == shape
    assert made.scales.shape == blockscale.quantize(np.ones(shape, np.float32), "f8E4M3FN", "f32", scale_block=BLOCKS[format][0])[1].shape
    assert card.kernels() == [name] * (shape[0] if len(shape) == 3 else 1)


def test_linear_on_the_card(fp8_torch, card):
    from blockscale.torch import Linear, QuantizedTensor

    layer = Linear(QuantizedTensor.from_float(random_values(fp8_torch, 24, 96), "fp8_row").to("cuda"), None, "dynamic")
    assert layer(random_values(fp8_torch, 2, 50, 96, device="cuda")).shape == (2, 50, 24)
    first, *others = card.kernels()
    assert first == "quantize_fp8_row_bf16" and others and all(name.startswith("mma_scaled_fp8_row") for name in others)


@pytest.mark.parametrize("format", FORMATS)
def test_licence_on_the_card(fp8_torch, card, format, monkeypatch):
    """Cards of sm_90 have a function of their own for it; without it, they say once what it would give."""
    import warnings

    from blockscale.torch import Linear, QuantizedTensor
    from blockscale.torch import card as on_card

    weight = QuantizedTensor.from_float(random_values(fp8_torch, 24, 96), format).to("cuda")
    x = random_values(fp8_torch, 5, 96, device="cuda")
    exact, licensed = (Linear(weight, None, "dynamic", accumulate) for accumulate in (None, 128))
    with pytest.warns(UserWarning, match="with accumulate=128 this card's fp8 tensor cores"):
        exact(x)
    assert card.kernels()[-1] == f"mma_scaled_{format}" or format == "fp8_row"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact(x)
        card.kernels()
        licensed(x)
    assert any(name.startswith(f"mma_scaled_{format}_accumulate128") for name in card.kernels())
    monkeypatch.setattr(fp8_torch.cuda, "get_device_capability", lambda device: (8, 0))
    on_card._has_fp8_sums.cache_clear()
    licensed(x)
    assert not any("accumulate" in name for name in card.kernels())


REBASED = ("mxfp8", "mxfp4")


@pytest.mark.parametrize("format", REBASED)
def test_licence_to_rebase(torch, format):
    """On the CPU, results are those without it."""
    from blockscale.torch import Linear, convert_linear_

    x, weight = random_values(torch, 2, 3, 96), random_values(torch, 24, 96, seed=1)
    given = torch.nn.Linear(96, 24, weight, None)
    licence = dict(accumulate=128, rebase=True)
    layer = Linear.from_linear(given, format, "dynamic", **licence)
    assert "accumulate=128, rebase=True" in layer.extra_repr()
    np.testing.assert_array_equal(
        layer(x).float().numpy(), Linear.from_linear(given, format, "dynamic")(x).float().numpy())
    model = torch.nn.Module()
    model.one = given
    convert_linear_(model, format, "dynamic", **licence)
    assert (model.one.accumulate, model.one.rebase) == (128, True)


@pytest.mark.parametrize("format", REBASED)
def test_licence_to_rebase_on_the_card(fp8_torch, card, format, monkeypatch):
    """Cards of sm_90 have a function of their own for it; others compute what they do without it."""
    from blockscale.torch import Linear, QuantizedTensor
    from blockscale.torch import card as on_card

    weight = QuantizedTensor.from_float(random_values(fp8_torch, 24, 96), format).to("cuda")
    x = random_values(fp8_torch, 5, 96, device="cuda")
    layer = Linear(weight, None, "dynamic", accumulate=128, rebase=True)
    assert layer(x).shape == (5, 24)
    names = card.kernels()
    name = f"mma_scaled_{format}_accumulate128_rebase"
    assert all(each.startswith(name) for each in names[1:]) and names[0] == f"quantize_{format}_bf16"
    assert sum(each.startswith(f"{name}__rebase_") for each in names) == 2
    monkeypatch.setattr(fp8_torch.cuda, "get_device_capability", lambda device: (8, 0))
    on_card._has_fp8_sums.cache_clear()
    layer(x)
    assert not any("accumulate" in each for each in card.kernels())


MIXED = ("mxfp8", "fp8_row")
LICENCE = dict(accumulate=128, rebase=True)


@pytest.mark.parametrize("activations", MIXED)
def test_mixed_activations(torch, activations):
    """A weight of mxfp4, and x of 8 bits."""
    from blockscale.torch import Linear, convert_linear_

    weight, x = random_values(torch, 24, 96), random_values(torch, 2, 3, 96, seed=1)
    given = torch.nn.Linear(96, 24, weight, None)
    layer = Linear.from_linear(given, "mxfp4", activations, **LICENCE)
    assert f"format='mxfp4', activations={activations!r}, accumulate=128, rebase=True" in layer.extra_repr()
    array = x.float().numpy().reshape(6, 96)
    if activations == "fp8_row":
        left = values(array, (1, "all"))
    else:
        left = blockscale.dequantize(*blockscale.quantize(array, "mxfp8"), "mxfp8")
    right = blockscale.dequantize(*blockscale.quantize(weight.float().numpy(), "mxfp4"), "mxfp4")
    assert close(layer(x), (left.astype(np.float64) @ right.T.astype(np.float64)).reshape(2, 3, 24))
    model = torch.nn.Module()
    model.one = given
    convert_linear_(model, "mxfp4", activations, **LICENCE)
    np.testing.assert_array_equal(model.one(x).float().numpy(), layer(x).float().numpy())


@pytest.mark.parametrize("activations", MIXED)
def test_mixed_activations_on_the_card(fp8_torch, card, activations):
    from blockscale.torch import Linear, QuantizedTensor

    weight = QuantizedTensor.from_float(random_values(fp8_torch, 24, 96), "mxfp4").to("cuda")
    x = random_values(fp8_torch, 5, 96, device="cuda")
    layer = Linear(weight, None, activations, **LICENCE)
    name = f"mma_scaled_{activations}_mxfp4_accumulate128_rebase"
    assert layer(x).shape == (5, 24)
    first, *names = card.kernels()
    assert first == f"quantize_{activations}_bf16" and all(each.startswith(name) for each in names)
    assert sum(each.startswith(f"{name}__rebase_") for each in names) == (2 if activations == "mxfp8" else 1)


# Checks.


@pytest.mark.parametrize("change, kind, message", [
    (dict(activations=None), ValueError, "activations: expected 'dynamic' with fp8_block, which quantizes x, got None"),
    (dict(format="fp8_row"), ValueError, "scales of the weight: expected shape (130, 1), for codes of shape (130, 160), got (2, 2)"),
    (dict(format="mxfp8"), TypeError, "scales: expected torch.uint8, got torch.float32"),
    (dict(metadata="codes"), ValueError, "format: expected one of mxfp8, mxfp4, nvfp4, got 'fp8_block'"),
    (dict(tensor_scale="scales"), ValueError, "tensor_scale: expected none with fp8_block, got a tensor"),
    (dict(accumulate=64), ValueError, "accumulate: expected None or 128, got 64"),
    (dict(accumulate=True), ValueError, "accumulate: expected None or 128, got True"),
    (dict(rebase=1), TypeError, "rebase: expected a bool, got int"),
    (dict(rebase=True), ValueError, "rebase: expected False without accumulate=128, got True"),
    (dict(rebase=True, accumulate=128), ValueError, "rebase: expected False with fp8_block, got True"),
])
def test_wrong_arguments(torch, change, kind, message):
    from blockscale.torch import QuantizedTensor, linear, ops

    weight = QuantizedTensor.from_float(random_values(torch, 130, 160), "fp8_block")
    arguments = dict(x=random_values(torch, 4, 160), codes=weight.codes, scales=weight.scales, tensor_scale=None, bias=None,
                     format="fp8_block", activations="dynamic", metadata=None, legal_metadata=False, accumulate=None,
                     rebase=False)
    linear(**arguments)
    arguments.update({name: getattr(weight, value) if value in ("codes", "scales") else value for name, value in change.items()})
    for function in (lambda: linear(**arguments), lambda: ops.linear_op.fake(*arguments.values())):
        with pytest.raises(kind) as error:
            function()
        assert str(error.value) == message


def test_what_other_things_have_not(torch):
    from blockscale.torch import Linear, QuantizedTensor

    message = "format: expected one of mxfp8, mxfp4, nvfp4, got 'fp8_row'"
    weight = random_values(torch, 2, 64, 64)
    with pytest.raises(ValueError) as error:
        QuantizedTensor.from_float(weight, "fp8_row", sparse=True)
    assert str(error.value) == message
    with pytest.raises(ValueError, match="activations: expected 'dynamic' with fp8_row"):
        Linear(QuantizedTensor.from_float(weight[0], "fp8_row"))
    for format, licence, message in (
        ("nvfp4", {}, "accumulate: expected None with nvfp4, whose kernels have no use for it, got 128"),
        ("mxfp8", {}, "accumulate: expected None, or rebase=True, with mxfp8, whose kernels have no use for it, got 128"),
        ("nvfp4", dict(rebase=True), "rebase: expected False with nvfp4, got True"),
        ("mxfp4", dict(rebase=True, activations=None),
         "activations: expected 'dynamic' with accumulate, whose products are of quantized x, got None"),
    ):
        with pytest.raises(ValueError, match=message):
            Linear(QuantizedTensor.from_float(weight[0], format), accumulate=128, **{"activations": "dynamic", **licence})
    weight_of_4 = QuantizedTensor.from_float(weight[0], "mxfp4")
    with pytest.raises(ValueError, match="accumulate: expected 128, and rebase=True, with activations='mxfp8', got None"):
        Linear(weight_of_4, None, "mxfp8")
    with pytest.raises(ValueError, match="activations: expected None, 'dynamic', 'mxfp8' or 'fp8_row', got 'nvfp4'"):
        Linear(weight_of_4, None, "nvfp4")
    with pytest.raises(ValueError, match="activations: expected None or 'dynamic', got 'fp8_row'"):
        Linear(QuantizedTensor.from_float(weight[0], "mxfp8"), None, "fp8_row", **LICENCE)
    with pytest.raises(ValueError, match="rebase: expected False with mxfp8 of sparse weights, got True"):
        Linear(QuantizedTensor.from_float(weight[0], "mxfp8", sparse=True), None, "dynamic", 128, True)
    with pytest.raises(ValueError, match="weight: expected a last dimension of whole blocks of 32, got shape"):
        QuantizedTensor.from_float(random_values(torch, 4, 48), "fp8_row")
    with pytest.raises(ValueError, match="weight: expected at least 2 dimensions"):
        QuantizedTensor.from_float(random_values(torch, 64), "fp8_block")


# Checkpoints.


def checkpoint(torch, n, k, block=128, dtype="float32", seed=0):
    """A weight, its factors, and the values that they mean."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 0x7F, (n, k)).astype(np.uint8) | (rng.integers(0, 2, (n, k)).astype(np.uint8) << 7)
    shape = -(-n // block), -(-k // block)
    factors = rng.integers(100, 140, shape).astype(np.uint8)
    if dtype == "float8_e8m0fnu":
        stored, factors = torch.from_numpy(factors).view(torch.float8_e8m0fnu), blockscale.decode(factors, "f8E8M0FNU")
    else:
        stored = torch.from_numpy(rng.standard_normal(shape).astype(np.float32)).to(getattr(torch, dtype))
        factors = stored.float().numpy()
    expected = blockscale.decode(codes, "f8E4M3FN") * factors.astype(np.float64).repeat(block, 0)[:n].repeat(block, 1)[:, :k]
    return torch.from_numpy(codes).view(torch.float8_e4m3fn), stored, expected.astype(np.float32)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "float8_e8m0fnu"])
@pytest.mark.parametrize("n, k", [(576, 320), (128, 128), (5, 32)])
def test_load_fp8_block(torch, n, k, dtype):
    from blockscale.torch import load_fp8_block_deepseek

    weight, scales, expected = checkpoint(torch, n, k, dtype=dtype)
    made = load_fp8_block_deepseek(weight, scales, [128, 128])
    assert made.format == "fp8_block" and made.scales.dtype is torch.float32
    np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), expected)
    assert np.shares_memory(made.codes.array, weight.array)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_load_fp8_row(torch, dtype):
    from blockscale.torch import load_fp8_row_compressed_tensors

    weight, _, _ = checkpoint(torch, 200, 96)
    scales = random_values(torch, 200, 1, dtype=dtype, seed=3)
    made = load_fp8_row_compressed_tensors(weight, scales)
    expected = blockscale.decode(weight.array, "f8E4M3FN") * scales.float().numpy()
    np.testing.assert_array_equal(made.dequantize(torch.float32).numpy(), expected.astype(np.float32))


def test_checkpoints_that_do_not_fit(torch):
    from blockscale.torch import load_fp8_block_deepseek, load_fp8_row_compressed_tensors

    weight, scales, _ = checkpoint(torch, 576, 320)
    for call, kind, message in (
        (lambda: load_fp8_block_deepseek(weight, scales, [32, 32]), ValueError,
         "weight_block_size: expected [128, 128], got [32, 32]"),
        (lambda: load_fp8_block_deepseek(weight, checkpoint(torch, 576, 320, 32)[1]), ValueError,
         "scales of the tensor: expected shape (5, 3), for codes of shape (576, 320), got (18, 10)"),
        (lambda: load_fp8_block_deepseek(weight.view(torch.uint8).float(), scales), TypeError,
         "weight: expected torch.uint8 or torch.float8_e4m3fn, got torch.float32"),
        (lambda: load_fp8_block_deepseek(weight, torch.zeros((5, 3), torch.int32)), TypeError,
         "weight_scale_inv: expected torch.bfloat16 or torch.float16 or torch.float32 or torch.float8_e8m0fnu, got torch.int32"),
        (lambda: load_fp8_block_deepseek(weight, None), TypeError, "weight_scale_inv: expected a torch.Tensor, got NoneType"),
        (lambda: load_fp8_row_compressed_tensors(weight, torch.zeros((1,))), ValueError,
         "scales of the tensor: expected at least 2 dimensions, got shape (1,)"),
        (lambda: load_fp8_row_compressed_tensors(weight, checkpoint(torch, 576, 320, dtype="float8_e8m0fnu")[1]), TypeError,
         "weight_scale: expected torch.bfloat16 or torch.float16 or torch.float32, got torch.float8_e8m0fnu"),
    ):
        with pytest.raises(kind) as error:
            call()
        assert str(error.value) == message


# Conversion.


def make_fp8_linear(torch, **changes):
    """As transformers has it; without block_size, of one scale."""
    weight, scales, expected = checkpoint(torch, 200, 160)
    if "block_size" in changes and changes["block_size"] is None and "weight_scale_inv" in changes:
        expected = blockscale.decode(weight.array, "f8E4M3FN").astype(np.float32) * changes["weight_scale_inv"].numpy()

    class FP8Linear(torch.nn.Linear):
        def __init__(self):
            super().__init__(160, 200, weight, random_values(torch, 200, seed=4))
            self.weight_scale_inv, self.block_size, self.activation_scheme = scales, (128, 128), "dynamic"
            for name, value in changes.items():
                setattr(self, name, value)

    return FP8Linear(), expected


@pytest.mark.parametrize("licence, wanted", [
    ({}, [128, None]), (dict(accumulate=None), [None, None]), (dict(accumulate=128), [128, 128]),
])
def test_convert_fp8_linear(torch, licence, wanted):
    """Layers whose own kernels add up in fp8 tensor cores keep that, unless another licence is asked for."""
    from blockscale.torch import Linear, convert_linear_

    model, (layer, expected) = torch.nn.Module(), make_fp8_linear(torch)
    model.one, model.two = layer, torch.nn.Linear(64, 8, random_values(torch, 8, 64))
    report = convert_linear_(model, "fp8_block", "dynamic", **licence)
    assert report.converted == ["one", "two"]
    made = model.get_submodule("one")
    assert [model.get_submodule(name).accumulate for name in ("one", "two")] == wanted
    assert ("accumulate=128" in made.extra_repr()) == (wanted[0] == 128)
    assert type(made) is Linear and made.format == model.get_submodule("two").format == "fp8_block"
    np.testing.assert_array_equal(made.quantized_weight.dequantize(torch.float32).numpy(), expected)
    x = random_values(torch, 3, 160, seed=5)
    product = values(x.float().numpy(), (1, 128)).astype(np.float64) @ expected.astype(np.float64).T
    assert close(made(x), product + layer.bias.float().numpy())


@pytest.mark.parametrize("changes, format, reason", [
    (dict(block_size=[32, 32]), "fp8_block", "a FP8Linear with weight_block_size: expected [128, 128], got [32, 32]"),
    (dict(block_size=None), "fp8_block", "a FP8Linear, whose weight is quantized already, for fp8_row"),
    (dict(block_size=None), "fp8_row", "a FP8Linear with weight_scale_inv: expected one value, got shape (2, 2)"),
    (dict(activation_scheme="static"), "fp8_block",
     "a FP8Linear with activation_scheme 'static', which is not 'dynamic'"),
    (dict(weight_scale_inv=None), "fp8_block", "a FP8Linear with weight_scale_inv: expected a torch.Tensor, got NoneType"),
    ({}, "fp8_row", "a FP8Linear, whose weight is quantized already, for fp8_block"),
    ({}, "mxfp8", "a FP8Linear, whose weight is quantized already, for fp8_block"),
])
def test_fp8_linear_that_cannot_be_converted(torch, changes, format, reason):
    from blockscale.torch import convert_linear_

    model, (layer, _) = torch.nn.Module(), make_fp8_linear(torch, **changes)
    model.one = layer
    with pytest.raises(ValueError) as error:
        convert_linear_(model, format, "dynamic")
    assert f"one: {reason}" in str(error.value)
    with pytest.warns(UserWarning, match="not converted"):
        assert convert_linear_(model, format, "dynamic", unsupported="keep").kept == {"one": reason}
    assert model.get_submodule("one") is layer


def test_buffers_keep_their_types(torch):
    from blockscale.torch import Linear

    layer = Linear.from_linear(torch.nn.Linear(64, 8, random_values(torch, 8, 64)), "fp8_row", "dynamic")
    before = layer.scales.numpy().copy()
    layer.to(torch.float16)
    assert layer.scales.dtype is torch.float32
    np.testing.assert_array_equal(layer.scales.numpy(), before)
