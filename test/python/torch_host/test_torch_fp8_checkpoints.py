"""FP8 layers of checkpoints in blockscale.torch: one scale for a weight, one for x that is there before x, and what files of
compressed-tensors and ModelOpt, and layers of transformers, say about them.
"""

import blockscale
import numpy as np
import pytest
from test_torch_fp8 import BLOCKS, FORMATS, checkpoint, make_fp8_linear, values
from test_torch_host import close, random_values

N, K = 136, 160
# No power of two, so that a product with its reciprocal would be another number.
SCALE = 0.0371


def scalar(torch, value, shape=(), dtype="float32"):
    return torch.from_numpy(np.full(shape, value, np.float32)).to(getattr(torch, dtype))


def of_x(x, scale):
    """What x is in the product: quotients in f32, rounded to elements, times the scale."""
    codes = blockscale.encode(x.float().numpy() / np.float32(scale), "f8E4M3FN")
    return blockscale.decode(codes, "f8E4M3FN").astype(np.float64) * np.float32(scale)


def rows(torch, *shape, seed=1):
    """Some are beyond what the scale can have."""
    x = random_values(torch, *shape, seed=seed).float().numpy()
    x.reshape(-1)[:4] = 100, -100, 448 * SCALE, 1e-6
    return torch.from_numpy(x).to(torch.bfloat16)


# One scale for x.


def hard_quotients(torch, scale):
    """Elements whose quotients are between two codes, of which the even one is taken (products with the reciprocal are
    beside them); beyond the largest; no numbers; and many of bf16.
    """
    codes = np.arange(0x7F, dtype=np.uint8)
    grid = blockscale.decode(codes, "f8E4M3FN").astype(np.float32)
    bits = np.arange(0, 1 << 16, 37, dtype=np.uint32) << 16
    between = (grid[1:] + grid[:-1]) / np.float32(2) * np.float32(scale)
    array = np.concatenate([grid, between, -between, [464, 465, 1e30, np.inf, -np.inf, np.nan], bits.view(np.float32)])
    return torch.from_numpy(np.resize(array.astype(np.float32), (len(array) // 32 + 1) * 32).reshape(-1, 32))


@pytest.mark.parametrize("scale", [1.0, SCALE])
def test_static_quantization(fp8_torch, scale):
    """With numpy and by torch, as on a card."""
    from blockscale.torch import card, cpu, formats

    torch, format = fp8_torch, formats.get("fp8_row")
    x = hard_quotients(torch, scale)
    codes, scales = cpu.quantize_static(x, scalar(torch, scale), format)
    with np.errstate(all="ignore"):
        quotients = (x.numpy() / np.float32(scale)).clip(-448, 448)
        there = card.quantize_static(x, scalar(torch, scale), format)
    # The nearest value of all, and of two that are as near the even code.
    grid = blockscale.decode(np.arange(0x7F, dtype=np.uint8), "f8E4M3FN").astype(np.float64)
    distances = np.abs(np.abs(quotients.astype(np.float64))[..., None] - grid)
    nearest = distances == np.nanmin(distances, -1, keepdims=True, initial=np.inf)
    even = nearest & (np.arange(0x7F) % 2 == 0)
    expected = np.where(even.any(-1), even.argmax(-1), nearest.argmax(-1)) | np.signbit(quotients) << 7
    is_nan = np.isnan(quotients)
    np.testing.assert_array_equal(codes.numpy()[~is_nan], expected[~is_nan])
    for got in (codes, there[0]):
        assert (got.numpy()[is_nan] & 0x7F == 0x7F).all() and is_nan.any()
        np.testing.assert_array_equal(got.numpy()[~is_nan], codes.numpy()[~is_nan])
    for got in (scales, there[1]):
        assert got.dtype is torch.float32 and got.shape == (len(x), 1) and (got.array == np.float32(scale)).all()


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("format", FORMATS)
def test_static_linear(torch, format, bias):
    from blockscale.torch import Linear, QuantizedTensor, linear, ops

    weight, added = random_values(torch, N, K), random_values(torch, N, seed=2) if bias else None
    made, x = QuantizedTensor.from_float(weight, format), rows(torch, 2, 3, K)
    layer = Linear(made, added, "static", 128, input_scale=scalar(torch, SCALE, (1,)))
    expected = of_x(x, SCALE) @ values(weight.float().numpy(), BLOCKS[format][0]).T.astype(np.float64)
    assert close(layer(x), expected + (added.float().numpy() if bias else 0))
    assert "activations='static', accumulate=128" in layer.extra_repr()
    arguments = (x, made.codes, made.scales, None, added, format, "static", None, False, 128, False, layer.input_scale)
    np.testing.assert_array_equal(linear(*arguments).array, layer(x).array)
    assert ops.linear_op.fake(*arguments).shape == (2, 3, N)
    torch.compiler.is_compiling = lambda: True
    np.testing.assert_array_equal(layer(x).array, linear(*arguments).array)
    assert torch.ops.called == ["linear", "linear"]
    assert layer(random_values(torch, 0, K)).shape == (0, N)
    # The scale is a part of the state, and keeps its type.
    other = Linear(made, None, "static", input_scale=scalar(torch, 1.0))
    other.load_state_dict(layer.to(torch.float16).state_dict())
    assert other.input_scale.dtype is torch.float32 and float(other.input_scale) == np.float32(SCALE)


@pytest.mark.parametrize("format, accumulate", [("fp8_row", 128), ("fp8_block", None)])
def test_static_linear_on_the_card(fp8_torch, card, format, accumulate):
    """No kernel of a bundle quantizes x."""
    from blockscale.torch import Linear, QuantizedTensor

    torch = fp8_torch
    weight = QuantizedTensor.from_float(random_values(torch, N, K), format).to("cuda")
    layer = Linear(weight, None, "static", accumulate, input_scale=scalar(torch, SCALE).to("cuda"))
    assert layer(random_values(torch, 2, 3, K, device="cuda")).shape == (2, 3, N)
    names = card.kernels()
    wanted = f"mma_scaled_{format}" + (f"_accumulate{accumulate}" if accumulate else "")
    assert names and all(name.startswith(wanted) for name in names)
    assert layer(random_values(torch, 0, K, device="cuda")).shape == (0, N)


@pytest.mark.parametrize("change, kind, message", [
    (dict(input_scale=None), TypeError, "input_scale: expected a torch.Tensor, got NoneType"),
    (dict(activations="dynamic"), ValueError, "input_scale: expected None with activations='dynamic', got a tensor"),
    (dict(activations="fixed"), ValueError, "activations: expected None, 'dynamic' or 'static', got 'fixed'"),
    (dict(input_scale=(1,)), ValueError, "input_scale: expected torch.float32 without dimensions, got torch.float32 of shape (1,)"),
    (dict(input_scale="bfloat16"), ValueError,
     "input_scale: expected torch.float32 without dimensions, got torch.bfloat16 of shape ()"),
])
def test_wrong_static_arguments(torch, change, kind, message):
    from blockscale.torch import QuantizedTensor, linear, ops

    made = QuantizedTensor.from_float(random_values(torch, N, K), "fp8_row")
    arguments = dict(x=rows(torch, 2, K), codes=made.codes, scales=made.scales, tensor_scale=None, bias=None, format="fp8_row",
                     activations="static", metadata=None, legal_metadata=False, accumulate=None, rebase=False,
                     input_scale=scalar(torch, SCALE))
    linear(**arguments)
    for name, value in change.items():
        if name == "input_scale" and value is not None:
            value = scalar(torch, SCALE, value) if isinstance(value, tuple) else scalar(torch, SCALE, dtype=value)
        arguments[name] = value
    for function in (lambda: linear(**arguments), lambda: ops.linear_op.fake(*arguments.values())):
        with pytest.raises(kind) as error:
            function()
        assert str(error.value) == message


def test_what_static_activations_are_not_for(torch):
    from blockscale.torch import Linear, MoE, QuantizedTensor, convert_linear_

    weight = random_values(torch, 2, 64, 64)
    made = QuantizedTensor.from_float(weight[0], "fp8_row")
    stacked = QuantizedTensor.from_float(weight, "fp8_row")
    for call, kind, message in (
        (lambda: Linear(made, None, "static"), TypeError, "input_scale: expected a torch.Tensor, got NoneType"),
        (lambda: Linear(made, None, "static", input_scale=scalar(torch, 1.0, (2,))), ValueError,
         "input_scale: expected one value, got shape (2,)"),
        *((lambda bad=bad: Linear(made, None, "static", input_scale=scalar(torch, bad)), ValueError,
           f"input_scale: expected a finite number above 0, got {bad}") for bad in (0.0, -1.0, np.inf, np.nan)),
        (lambda: Linear(made, None, "static", input_scale=scalar(torch, 1.0).to("cuda")), ValueError,
         "input_scale: expected a tensor on cpu, as weight is, got one on cuda"),
        (lambda: Linear(made, None, "dynamic", input_scale=scalar(torch, 1.0)), ValueError,
         "input_scale: expected None with activations='dynamic', got a tensor"),
        (lambda: Linear(QuantizedTensor.from_float(weight[0], "mxfp8"), None, "static", input_scale=scalar(torch, 1.0)), ValueError,
         "activations: expected None or 'dynamic', got 'static'"),
        (lambda: MoE(stacked, stacked, activations="static"), ValueError, "activations: expected None or 'dynamic', got 'static'"),
        (lambda: convert_linear_(torch.nn.Module(), "nvfp4", "static"), ValueError,
         "activations: expected None or 'dynamic', got 'static'"),
    ):
        with pytest.raises(kind) as error:
            call()
        assert str(error.value) == message


# Files.


def scheme(strategy, dynamic=False, **others):
    """As config_groups of compressed-tensors have it."""
    return {"num_bits": 8, "type": "float", "symmetric": True, "strategy": strategy, "dynamic": dynamic, "group_size": None,
            "block_structure": None, "actorder": None, "observer": None, "observer_kwargs": {}, **others}


TOKEN, STATIC = scheme("token", True), scheme("tensor")
GROUP, BLOCK = scheme("group", True, group_size=128), scheme("block", block_structure=[128, 128])
# Weights, x, the shape and type of weight_scale, and the type of input_scale.
SCHEMES = [
    (scheme("tensor"), STATIC, (1,), "bfloat16", "bfloat16"),
    (scheme("tensor"), TOKEN, (), "float32", None),
    (scheme("channel"), TOKEN, (N, 1), "bfloat16", None),
    (scheme("channel"), STATIC, (N, 1), "float32", "float32"),
    (BLOCK, GROUP, (2, 2), "bfloat16", None),
    (scheme("block", block_structure="128x128"), STATIC, (2, 2), "float32", "float32"),
    (scheme(None), TOKEN, (1,), "float16", None),
    (scheme(None, group_size=-1), TOKEN, (N, 1), "float32", None),
]


def expected_weight(codes, scale):
    factors = scale.float().numpy()
    if factors.shape == (2, 2):
        factors = factors.repeat(128, 0)[:N].repeat(128, 1)[:, :K]
    return (blockscale.decode(codes.array, "f8E4M3FN").astype(np.float64) * factors).astype(np.float32)


def check_layer(torch, made, codes, scale, input_scale):
    """The Linear of loaded parts, with its own licence and bias."""
    from blockscale.torch import Linear

    layer, bias, x = Linear(**made, bias=random_values(torch, N, seed=5), accumulate=128), random_values(torch, N, seed=5), rows(torch, 3, K)
    weight = expected_weight(codes, scale)
    np.testing.assert_array_equal(layer.quantized_weight.dequantize(torch.float32).numpy(), weight)
    assert np.shares_memory(layer.codes.array, codes.array)
    if input_scale is None:
        left = values(x.float().numpy(), BLOCKS[layer.format][1]).astype(np.float64)
    else:
        left = of_x(x, float(input_scale))
    assert close(layer(x), left @ weight.astype(np.float64).T + bias.float().numpy())


@pytest.mark.parametrize("number", range(len(SCHEMES)))
def test_load_compressed_tensors(torch, number):
    from blockscale.torch import load_fp8_compressed_tensors

    weights, inputs, shape, dtype, input_dtype = SCHEMES[number]
    codes = checkpoint(torch, N, K)[0]
    scale = random_values(torch, *(shape or (1,)), dtype=dtype, seed=3).reshape(shape)
    input_scale = input_dtype and scalar(torch, SCALE, (1,), input_dtype)
    made = load_fp8_compressed_tensors(codes, scale, weights, inputs, input_scale)
    assert made["weight"].format == ("fp8_block" if shape == (2, 2) else "fp8_row")
    assert made["activations"] == ("static" if input_dtype else "dynamic")
    check_layer(torch, made, codes, scale, input_scale)


@pytest.mark.parametrize("change, kind, message", [
    (dict(weights=scheme("group", group_size=128)), ValueError,
     "weights['strategy']: expected 'tensor' or 'channel' or 'block', got 'group'"),
    (dict(weights=scheme(None, group_size=64)), ValueError,
     "weights['strategy']: expected 'tensor' or 'channel' or 'block', got 'group'"),
    (dict(weights=scheme("tensor_group", group_size=16)), ValueError,
     "weights['strategy']: expected 'tensor' or 'channel' or 'block', got 'tensor_group'"),
    (dict(weights=scheme("channel", type="int")), ValueError, "weights['type']: expected 'float', got 'int'"),
    (dict(weights={"strategy": "channel"}), ValueError, "weights['type']: expected 'float', got 'int'"),
    (dict(weights=scheme("channel", num_bits=4)), ValueError, "weights['num_bits']: expected 8, got 4"),
    (dict(weights=scheme("channel", symmetric=False)), ValueError, "weights['symmetric']: expected True, got False"),
    (dict(weights=scheme("channel", True)), ValueError, "weights['dynamic']: expected False, got True"),
    (dict(weights=None), TypeError, "weights: expected a mapping, as config_groups have, got NoneType"),
    (dict(weights=scheme("block", block_structure=[64, 128])), ValueError,
     "weights['block_structure']: expected [128, 128], got [64, 128]"),
    (dict(input_activations=None), TypeError, "input_activations: expected a mapping, as config_groups have, got NoneType"),
    (dict(input_activations=scheme("token", True, type="int")), ValueError, "input_activations['type']: expected 'float', got 'int'"),
    (dict(input_activations=scheme("tensor", True)), ValueError,
     "input_activations['strategy']: expected 'token' with dynamic=True or 'tensor' with dynamic=False, beside weights of "
     "'channel', got 'tensor' with dynamic=True"),
    (dict(input_activations=scheme("tensor_group", "local", group_size=16)), ValueError,
     "input_activations['strategy']: expected 'token' with dynamic=True or 'tensor' with dynamic=False, beside weights of "
     "'channel', got 'tensor_group' with dynamic=local"),
    (dict(weights=BLOCK), ValueError,
     "input_activations['strategy']: expected 'group' with dynamic=True or 'tensor' with dynamic=False, beside weights of "
     "'block', got 'token' with dynamic=True"),
    (dict(weights=BLOCK, input_activations=scheme("group", True, group_size=64)), ValueError,
     "input_activations['group_size']: expected 128, got 64"),
    (dict(input_activations=STATIC), TypeError, "input_scale: expected a torch.Tensor, got NoneType"),
    (dict(input_scale=1.0), ValueError, "input_scale: expected None with activations='dynamic', got a tensor"),
    (dict(input_activations=STATIC, input_scale=0.0), ValueError, "input_scale: expected a finite number above 0, got 0.0"),
    (dict(weights=scheme("tensor")), ValueError, f"weight_scale: expected one value, got shape ({N}, 1)"),
    (dict(weights=BLOCK, input_activations=GROUP), ValueError,
     f"scales of the tensor: expected shape (2, 2), for codes of shape ({N}, {K}), got ({N}, 1)"),
])
def test_schemes_that_do_not_fit(torch, change, kind, message):
    from blockscale.torch import load_fp8_compressed_tensors

    arguments = dict(weight=checkpoint(torch, N, K)[0], weight_scale=random_values(torch, N, 1), weights=scheme("channel"),
                     input_activations=TOKEN, input_scale=None)
    load_fp8_compressed_tensors(**arguments)
    change = {name: scalar(torch, value, (1,)) if name == "input_scale" else value for name, value in change.items()}
    with pytest.raises(kind) as error:
        load_fp8_compressed_tensors(**{**arguments, **change})
    assert str(error.value) == message


@pytest.mark.parametrize("algorithm, shape", [
    ("FP8", ()), ("FP8_PER_CHANNEL_PER_TOKEN", (N,)), ("FP8_PER_CHANNEL_PER_TOKEN", (N, 1)),
])
def test_load_modelopt(torch, algorithm, shape):
    from blockscale.torch import load_fp8_modelopt

    codes, scale = checkpoint(torch, N, K)[0], random_values(torch, *(shape or (1,)), dtype="float32", seed=3).reshape(shape)
    input_scale = scalar(torch, SCALE) if algorithm == "FP8" else None
    made = load_fp8_modelopt(codes, scale, input_scale, algorithm)
    check_layer(torch, made, codes, scale.reshape(N, 1) if shape else scale, input_scale)


def test_modelopt_that_does_not_fit(torch):
    from blockscale.torch import load_fp8_modelopt

    codes, scale = checkpoint(torch, N, K)[0], scalar(torch, 0.5)
    for arguments, kind, message in (
        ((codes, scale), TypeError, "input_scale: expected a torch.Tensor, got NoneType"),
        ((codes, scale, scale, "FP8_PB_WO"), ValueError, "quant_algo: expected 'FP8' or 'FP8_PER_CHANNEL_PER_TOKEN', got 'FP8_PB_WO'"),
        ((codes, scale, scale, None), ValueError, "quant_algo: expected 'FP8' or 'FP8_PER_CHANNEL_PER_TOKEN', got None"),
        ((codes, scale, None, "FP8_PER_CHANNEL_PER_TOKEN"), ValueError,
         "scales of the tensor: expected at least 2 dimensions, got shape ()"),
        ((codes, random_values(torch, N), scale), ValueError, f"weight_scale: expected one value, got shape ({N},)"),
        ((codes.reshape(1, N, K), scale, scale), ValueError, f"weight: expected 2 dimensions, got shape (1, {N}, {K})"),
        ((codes.view(torch.uint8).float(), scale, scale), TypeError, "weight: expected torch.uint8 or torch.float8_e4m3fn, got torch.float32"),
        ((codes, scale.to("cuda"), scale), ValueError, "weight_scale: expected a tensor on cpu, as weight is, got one on cuda"),
    ):
        with pytest.raises(kind) as error:
            load_fp8_modelopt(*arguments)
        assert str(error.value) == message


# Layers of transformers.


@pytest.mark.parametrize("is_static, has_blocks, format", [
    (True, False, "fp8_row"), (False, False, "fp8_row"), (True, True, "fp8_block"),
])
def test_convert_other_fp8_linear(torch, is_static, has_blocks, format):
    from blockscale.torch import Linear, convert_linear_

    changes, activations = {}, "static" if is_static else "dynamic"
    if is_static:
        changes.update(activation_scheme="static", activation_scale=scalar(torch, SCALE))
    if not has_blocks:
        changes.update(block_size=None, weight_scale_inv=scalar(torch, 0.013))
    model, (layer, expected) = torch.nn.Module(), make_fp8_linear(torch, **changes)
    model.one = layer
    assert convert_linear_(model, format, activations).converted == ["one"]
    made, x = model.get_submodule("one"), rows(torch, 3, 160)
    assert type(made) is Linear and (made.format, made.activations, made.accumulate) == (format, activations, 128)
    np.testing.assert_array_equal(made.quantized_weight.dequantize(torch.float32).numpy(), expected)
    left = of_x(x, SCALE) if is_static else values(x.float().numpy(), BLOCKS[format][1]).astype(np.float64)
    assert close(made(x), left @ expected.astype(np.float64).T + layer.bias.float().numpy())


@pytest.mark.parametrize("changes, activations, reason", [
    ({}, "static", "a FP8Linear with activation_scheme 'dynamic', which is not 'static'"),
    (dict(activation_scheme="static"), "static", "a FP8Linear with activation_scale: expected a torch.Tensor, got NoneType"),
    (dict(activation_scheme="static", activation_scale=0), "static",
     "a FP8Linear with activation_scale: expected a finite number above 0, got 0.0"),
    (dict(activation_scheme="static", activation_scale=1), "dynamic",
     "a FP8Linear with activation_scheme 'static', which is not 'dynamic'"),
    (None, "static", "a Linear, which has no scale for activations='static'"),
])
def test_static_layers_that_cannot_be_converted(torch, changes, activations, reason):
    from blockscale.torch import convert_linear_

    if changes is None:
        layer = torch.nn.Linear(K, N, random_values(torch, N, K))
    else:
        if "activation_scale" in changes:
            changes = {**changes, "activation_scale": scalar(torch, changes["activation_scale"])}
        layer = make_fp8_linear(torch, **changes)[0]
    model = torch.nn.Module()
    model.one = layer
    with pytest.raises(ValueError) as error:
        convert_linear_(model, "fp8_block", activations)
    assert str(error.value) == f"expected linear layers that fp8_block can have, or unsupported='keep', got one: {reason}"
    assert model.get_submodule("one") is layer
