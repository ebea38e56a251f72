"""What mixtures of experts refuse, and how they say it."""

import numpy as np
import pytest
from moe_cases import BUFFERS, EXPERTS, HIDDEN, make_experts, make_moe, make_routes
from test_torch_host import distributed, random_values


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
    (lambda a: a.update(format="mxfp6"), ValueError, "format: expected one of mxfp8, mxfp4, nvfp4, fp8_block, fp8_row, got 'mxfp6'"),
    (lambda a: a.update(activations="static"), ValueError, "activations: expected None or 'dynamic', got 'static'"),
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
    (lambda a: a.update(format="mxfp6"), ValueError, "format: expected one of mxfp8, mxfp4, nvfp4, fp8_block, fp8_row, got 'mxfp6'"),
    (lambda a: a.update(activations="static"), ValueError, "activations: expected None or 'dynamic', got 'static'"),
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
        (dict(format="mxfp6"), ValueError, "format: expected one of mxfp8, mxfp4, nvfp4, fp8_block, fp8_row, got 'mxfp6'"),
    ):
        with pytest.raises(kind) as error:
            MoE.from_float(**{**make_experts(torch), "format": "mxfp8", **change})
        assert str(error.value) == message
