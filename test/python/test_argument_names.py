"""Whatever is wrong with an argument, the message begins with its name."""

import inspect

import blockscale
import numpy as np
import pytest

X, X_SCALE = blockscale.quantize(np.ones((2, 64), np.float32), "mxfp8")
Y, Y_SCALE = X.T.copy(), X_SCALE.T.copy()
TYPES = dict(x_type="f8E4M3FN", y_type="f8E4M3FN", scale_type="f8E8M0FNU")
PRODUCT = dict(x=X, x_scale=X_SCALE, y=Y, y_scale=Y_SCALE, acc=np.zeros((2, 2), np.float32), **TYPES)
KEPT, METADATA = blockscale.compress(np.zeros((2, 128), np.uint8), "f8E4M3FN", "2:4")
SPARSE = dict(x=KEPT, metadata=METADATA, x_scale=X_SCALE, y=np.zeros((128, 2), np.uint8), y_scale=Y_SCALE)
PROGRAM = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}"

# What works, by function.
RIGHT = {
    "as_ml_dtypes": dict(codes=X, format="f8E4M3FN"),
    "combine_rows": dict(
        source=np.ones((2, 4), np.float32), positions=np.zeros((3, 2), np.int32), weights=np.ones((3, 2), np.float32)
    ),
    "compare": dict(result=blockscale.mma_scaled(**PRODUCT), **PRODUCT),
    "compile": dict(program=PROGRAM, target="sm_90a"),
    "compile_bundle": dict(program=PROGRAM, path="/nowhere/x.bundle", targets=["sm_90a"]),
    "compress": dict(codes=np.zeros((2, 64), np.uint8), element_type="f8E4M3FN", granularity="2:4", cutlass=False),
    "compress_bitmask": dict(values=X[:, :4], bitmask=np.full((2, 1), 0x33, np.uint8)),
    "decode": dict(codes=X, format="f8E4M3FN"),
    "decompress": dict(codes=KEPT, metadata=METADATA, element_type="f8E4M3FN", granularity="2:4"),
    "dequantize": dict(codes=X, scales=X_SCALE, element="f8E4M3FN", scale="f8E8M0FNU", block_size=32),
    "encode": dict(values=[1.0], format="f8E4M3FN"),
    "error_bound": PRODUCT,
    "from_bf16": dict(bits=np.zeros(2, np.uint16)),
    "grouped_mma_scaled": dict(
        x=X, x_scale=X_SCALE, y=Y[None], y_scale=Y_SCALE[None], offsets=np.array([2], np.int32), acc=PRODUCT["acc"],
        **TYPES, rows=np.zeros(2, np.int32), group_scale=np.ones(1, np.float32), bias=np.ones((1, 2), np.float32),
    ),
    "mma_scaled": PRODUCT,
    "pack": dict(codes=X, format="f8E4M3FN"),
    "quantize": dict(x=np.ones((2, 64), np.float32), element="f8E4M3FN", scale="f8E8M0FNU", block_size=32),
    "rebase": dict(codes=X, scales=X_SCALE, element="f8E4M3FN", block_size=32),
    "route": dict(logits=np.zeros((2, 4), np.float32), top_k=2, scoring="softmax"),
    "sort_routes": dict(ids=np.zeros((2, 3), np.int32), groups=4),
    "sparse_mma_scaled": dict(**SPARSE, acc=PRODUCT["acc"], **TYPES, granularity="2:4"),
    "sparsify": dict(values=np.ones((2, 8), np.float32), granularity="2:4"),
    "swizzle_group_scales": dict(s=X_SCALE, offsets=np.array([2], np.int32), rows=np.zeros(2, np.int32)),
    "swizzle_scales": dict(s=X_SCALE),
    "tile_metadata": dict(metadata=METADATA, cutlass=False),
    "to_bf16": dict(values=[1.0]),
    "unpack": dict(packed=X, format="f8E4M3FN"),
    "unswizzle_scales": dict(t=blockscale.swizzle_scales(X_SCALE), shape=(2, 2)),
    "untile_metadata": dict(t=blockscale.tile_metadata(METADATA), shape=METADATA.shape),
}
# Of no argument's type; numpy takes the last one for an array of objects.
NOTHING = [[[1], [1, 2]], 1.5, 32.0, object(), {"a": 1}, [object()], {1, 2}, [["f8E4M3FN"], []], b"\xff"]
# What does take one of these; and the name that the message has for an argument, where it is not its own.
TAKEN = {
    ("encode", "values"): (1.5, 32.0), ("to_bf16", "values"): (1.5, 32.0), ("quantize", "tensor_scale"): (1.5, 32.0),
    ("dequantize", "tensor_scale"): (1.5, 32.0), ("compile", "program"): (b"\xff",), ("compile_bundle", "program"): (b"\xff",),
}
OTHER_NAMES = {("decode", "name"): "", ("quantize", "tensor_scale"): "tensor_scale", ("compare", "result"): "result"}


def cases():
    functions = [name for name in blockscale.__all__ if inspect.isfunction(getattr(blockscale, name))]
    for function in sorted(functions):
        for parameter in inspect.signature(getattr(blockscale, function)).parameters:
            yield function, parameter


@pytest.mark.parametrize("function, parameter", cases())
def test_wrong_types(function, parameter):
    """A TypeError (or ValueError, AssertionError of compare) that names it, and nothing from numpy's inside."""
    right = RIGHT[function]
    if (function, parameter) == ("decode", "name"):
        return  # what messages say, and no more
    for wrong in NOTHING:
        if any(wrong is each or wrong == each for each in TAKEN.get((function, parameter), ())):
            continue
        with pytest.raises((TypeError, ValueError, AssertionError)) as caught:
            getattr(blockscale, function)(**{**right, parameter: wrong})
        assert str(caught.value).startswith(f"{parameter}: expected "), (wrong, caught.value)
        assert caught.type is not ValueError or parameter in ("tensor_scale",), (wrong, caught.value)


def test_what_failed_before():
    """32.0 is a float, which numpy's pad refused in words of its own."""
    with pytest.raises(TypeError, match="^block_size: expected an integer, got float$"):
        blockscale.quantize(np.ones((2, 64), np.float32), "f8E4M3FN", "f8E8M0FNU", 32.0)
    blockscale.quantize(np.ones((2, 64), np.float32), "f8E4M3FN", "f8E8M0FNU", np.int64(32))


RUN = dict(device="sim", seed=1, compare=False, check=None, numerics=None, max_steps=None)


@pytest.mark.parametrize("parameter", RUN)
def test_run(parameter):
    kernel = blockscale.compile(PROGRAM, target="sm_90a")
    for wrong in (1.5, [1], object(), b"sim", *(["x"] if parameter not in ("check", "numerics") else [])):
        with pytest.raises((TypeError, ValueError)) as caught:
            kernel.run(**{**RUN, parameter: wrong})
        assert str(caught.value).startswith(f"{parameter}: expected "), (wrong, caught.value)
    with pytest.raises(ValueError, match=r"^seed: expected an integer from 0 to 2\^64 - 1, got -1"):
        kernel.run(seed=-1)


def test_levels_and_layouts():
    kernel = blockscale.compile(PROGRAM, target="sm_90a")
    for wrong in (1, None, ["tile"]):
        with pytest.raises(TypeError, match="^level: expected a str, got"):
            kernel.ir(wrong)
        with pytest.raises(TypeError, match="^name: expected a str, got"):
            kernel.show_layout(wrong)
