"""One name for elements, scales and the size of blocks."""

import runpy
from pathlib import Path

import blockscale
import numpy as np
import pytest
from blockscale import BLOCK_FORMATS

NAMES = list(BLOCK_FORMATS)
X = np.random.default_rng(0).standard_normal((6, 64)).astype(np.float32)


def test_the_table():
    """Every element type has one, and each is a legal row."""
    assert {row.element for row in BLOCK_FORMATS.values()} == set(blockscale.ELEMENT_TYPES)
    assert all(tuple(row) in blockscale.QUANTIZE_TYPE_COMBINATIONS for row in BLOCK_FORMATS.values())
    assert len(set(BLOCK_FORMATS.values())) == len(BLOCK_FORMATS)


@pytest.mark.parametrize("name", NAMES)
def test_quantize_and_back(name):
    row = BLOCK_FORMATS[name]
    codes, scales = blockscale.quantize(X, name)
    for one, other in zip((codes, scales), blockscale.quantize(X, *row)):
        np.testing.assert_array_equal(one, other)
    values = blockscale.dequantize(codes, scales, name)
    np.testing.assert_array_equal(values, blockscale.dequantize(codes, scales, *row))
    # What is said once more must be the same.
    blockscale.quantize(X, name, row.scale, row.block_size)
    blockscale.dequantize(codes, scales, name, block_size=row.block_size)


def operands(x_name, y_name):
    x, x_scale = blockscale.quantize(X, x_name)
    y, y_scale = blockscale.quantize(X[:5], y_name)
    return x, x_scale, y.T, y_scale.T, np.zeros((6, 5), np.float32)


@pytest.mark.parametrize("x_name", NAMES)
@pytest.mark.parametrize("y_name", NAMES)
def test_products(x_name, y_name):
    x, y = BLOCK_FORMATS[x_name], BLOCK_FORMATS[y_name]
    arrays = operands(x_name, y_name)
    if x[1:] != y[1:]:
        with pytest.raises(ValueError, match=f"^y_type: expected a format with scales and blocks of .*, got '{y_name}'"):
            blockscale.mma_scaled(*arrays, x_type=x_name, y_type=y_name)
        return
    expected = blockscale.mma_scaled(*arrays, x_type=x.element, y_type=y.element, scale_type=x.scale)
    for types in (
        dict(x_type=x_name, y_type=y_name), dict(x_type=x_name, y_type=y.element),
        dict(x_type=x.element, y_type=y_name, scale_type=x.scale, block_size=x.block_size),
    ):
        np.testing.assert_array_equal(blockscale.mma_scaled(*arrays, **types), expected)
        assert blockscale.compare(expected, *arrays, **types) == 0
        bound, _ = blockscale.error_bound(*arrays, **types)
        assert bound.shape == (6, 5)


WRONG = [
    (("mxfp5",), "element, scale and block_size: expected one of .*, got \\('mxfp5', None, None\\)"),
    (("f8E4M3FN",), "element, scale and block_size: expected one of .* mxfp8, .*, got \\('f8E4M3FN', None, None\\)"),
    (("mxfp8", "f8E4M3FN"), "scale: expected 'f8E8M0FNU', which mxfp8 has, or none, got 'f8E4M3FN'"),
    (("mxfp4", None, 16), "block_size: expected 32, which mxfp4 has, or none, got 16"),
]


@pytest.mark.parametrize("row, message", WRONG)
def test_what_a_name_does_not_have(row, message):
    codes, scales = blockscale.quantize(X, "mxfp8")
    for call in (lambda: blockscale.quantize(X, *row), lambda: blockscale.dequantize(codes, scales, *row)):
        with pytest.raises(ValueError, match="^" + message):
            call()


def test_what_products_do_not_have():
    arrays = operands("mxfp8", "mxfp4")
    with pytest.raises(ValueError, match="^x_type: expected a format with scales and blocks of f8E4M3FN, got 'mxfp8'"):
        blockscale.mma_scaled(*arrays, x_type="mxfp8", y_type="mxfp4", scale_type="f8E4M3FN")
    with pytest.raises(ValueError, match="^scale_type: expected one of .*, got None"):
        blockscale.mma_scaled(*arrays, x_type="f8E4M3FN", y_type="f4E2M1FN")
    with pytest.raises(ValueError, match="^x_type: expected one of .*, got 'mxfp5'"):
        blockscale.mma_scaled(*arrays, x_type="mxfp5", y_type="mxfp4")


def test_torch_has_the_same():
    # Its package needs torch; the script that makes its kernels does not.
    kernels = runpy.run_path(str(Path(blockscale.__file__).parent / "torch" / "kernels.py"))
    for name, (element, scale, block_size, _) in kernels["FORMATS"].items():
        assert BLOCK_FORMATS[name] == (element, scale, block_size)


# Elements that are packed, where each has a byte.


def test_packed_codes():
    codes, scales = blockscale.quantize(X, "mxfp4")
    packed = blockscale.pack(codes, "f4E2M1FN")
    with pytest.raises(ValueError, match=r"is codes packed\?.*unpack\(codes, 'f4E2M1FN'\)"):
        blockscale.dequantize(packed, scales, "mxfp4")
    arrays = list(operands("mxfp4", "mxfp4"))
    for index, name in ((0, "x"), (2, "y")):
        wrong = list(arrays)
        wrong[4] = np.zeros((6, 6), np.float32)
        wrong[2] = np.zeros((64, 6), np.uint8)
        wrong[3] = np.zeros((2, 6), np.uint8)
        wrong[index] = blockscale.pack(wrong[index], "f4E2M1FN")
        if index == 2:
            wrong[3] = wrong[3][:, :3]  # as if N were the half
        with pytest.raises(ValueError, match=rf"is {name} packed\?.*unpack\({name}, 'f4E2M1FN'\)"):
            blockscale.mma_scaled(*wrong, x_type="mxfp4", y_type="mxfp4")
    with pytest.raises(ValueError) as caught:  # no packing is so
        blockscale.dequantize(codes[:, :60], scales[:, :1], "mxfp4")
    assert "unpack" not in str(caught.value)
