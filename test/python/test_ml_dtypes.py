"""Arrays of ml_dtypes: taken for codes of their format, and refused for others.

A stand-in has types of the same names and sizes, so that most of this is tested without ml_dtypes.
They have no arithmetic, and the package uses none.
"""

import importlib.util
import subprocess
import sys
import types
from pathlib import Path

import blockscale
import numpy as np
import pytest
from blockscale import arrays

WIDTHS = {
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float6_e3m2fn": 1, "float6_e2m3fn": 1,
    "float4_e2m1fn": 1, "float8_e8m0fnu": 1, "bfloat16": 2,
}


def stand_in():
    package = types.ModuleType("ml_dtypes")
    for name, width in WIDTHS.items():
        scalar = type(name, (np.void,), {"__module__": "ml_dtypes"})
        setattr(package, name, np.dtype((scalar, width)))
    return package


PACKAGES = ["stand-in"] + ["installed"] * bool(importlib.util.find_spec("ml_dtypes"))


@pytest.fixture(autouse=True, params=PACKAGES)
def package(request, monkeypatch):
    if request.param == "stand-in":
        monkeypatch.setitem(sys.modules, "ml_dtypes", stand_in())


def codes_of(name, *shape):
    bits = blockscale.FORMATS[name].bits
    return np.random.default_rng(0).integers(0, 2**bits, shape, np.uint8)


@pytest.mark.parametrize("name", blockscale.FORMATS)
def test_view_and_back(name):
    codes = codes_of(name, 4, 32)
    seen = blockscale.as_ml_dtypes(codes, name)
    assert arrays.ml_name(seen) == arrays.ML_DTYPES[name] and seen.shape == codes.shape
    assert np.shares_memory(seen, codes)
    np.testing.assert_array_equal(blockscale.decode(seen, name), blockscale.decode(codes, name))
    np.testing.assert_array_equal(blockscale.pack(seen, name), blockscale.pack(codes, name))
    assert blockscale.as_ml_dtypes(seen, name).dtype == seen.dtype


@pytest.mark.skipif("installed" not in PACKAGES, reason="needs ml_dtypes")
def test_values_agree():
    """Two readings of the formats; the stand-in has no values."""
    for name in set(blockscale.FORMATS) - {"ue4m3"}:
        codes = np.arange(2 ** blockscale.FORMATS[name].bits, dtype=np.uint8)
        package = importlib.import_module("ml_dtypes")
        values = codes.view(getattr(package, arrays.ML_DTYPES[name]))
        if hasattr(package, "__version__"):
            np.testing.assert_array_equal(
                values.astype(np.float64), blockscale.decode(codes, name)
            )
            np.testing.assert_array_equal(blockscale.encode(values[:4], name), codes[:4])


@pytest.mark.parametrize("row", blockscale.LEGAL_TYPE_COMBINATIONS, ids=lambda row: "-".join(map(str, row)))
def test_product(row):
    x_type, y_type, scale_type, block = row
    formats = (x_type, scale_type, y_type, scale_type)
    shapes = ((3, 2 * block), (3, 2), (2 * block, 5), (2, 5))
    operands = [codes_of(name, *shape) for name, shape in zip(formats, shapes)]
    seen = [blockscale.as_ml_dtypes(*pair) for pair in zip(operands, formats)]
    acc = np.zeros((3, 5), np.float32)
    names = dict(x_type=x_type, y_type=y_type, scale_type=scale_type)
    np.testing.assert_array_equal(
        blockscale.mma_scaled(*seen, acc, **names), blockscale.mma_scaled(*operands, acc, **names)
    )
    seen[0] = blockscale.as_ml_dtypes(codes_of("f8E8M0FNU", 3, 2 * block), "f8E8M0FNU")
    message = f"^x: expected .* or {arrays.ML_DTYPES[x_type]}, got float8_e8m0fnu$"
    with pytest.raises(TypeError, match=message):
        blockscale.mma_scaled(*seen, acc, **names)


@pytest.mark.parametrize("row", blockscale.QUANTIZE_TYPE_COMBINATIONS, ids=lambda row: "-".join(map(str, row)))
def test_quantize(row):
    bits = np.random.default_rng(0).integers(0x3000, 0x5000, (3, 64)).astype(np.uint16)
    expected = blockscale.quantize(bits, *row)
    got = blockscale.quantize(blockscale.as_ml_dtypes(bits, "bf16"), *row)
    for one, other in zip(got, expected):
        np.testing.assert_array_equal(one, other)
    seen = [blockscale.as_ml_dtypes(*pair) for pair in zip(got, row)]
    np.testing.assert_array_equal(
        blockscale.dequantize(*seen, *row), blockscale.dequantize(*expected, *row)
    )


@pytest.mark.parametrize("granularity", blockscale.GRANULARITIES)
def test_sparse(granularity):
    bits = np.random.default_rng(0).integers(0x3000, 0x5000, (3, 64)).astype(np.uint16)
    expected = blockscale.sparsify(bits, granularity)
    seen = blockscale.sparsify(blockscale.as_ml_dtypes(bits, "bf16"), granularity)
    assert arrays.ml_name(seen) == "bfloat16"
    np.testing.assert_array_equal(seen.view(np.uint16), expected)
    codes, scales = blockscale.quantize(expected, "mxfp8")
    kept, metadata = blockscale.compress(codes, "f8E4M3FN", granularity)
    seen = blockscale.as_ml_dtypes(codes, "f8E4M3FN")
    for one, other in zip(blockscale.compress(seen, "f8E4M3FN", granularity), (kept, metadata)):
        np.testing.assert_array_equal(one, other)
    seen = blockscale.as_ml_dtypes(kept, "f8E4M3FN")
    np.testing.assert_array_equal(blockscale.decompress(seen, metadata, "f8E4M3FN", granularity), codes)
    others = scales, codes.T, scales.T, np.zeros((3, 3), np.float32)
    names = dict(x_type="mxfp8", y_type="mxfp8", granularity=granularity)
    np.testing.assert_array_equal(
        blockscale.sparse_mma_scaled(seen, metadata, *others, **names),
        blockscale.sparse_mma_scaled(kept, metadata, *others, **names),
    )


def test_bitmask_keeps_the_type():
    seen = blockscale.as_ml_dtypes(codes_of("f8E4M3FN", 3, 8), "f8E4M3FN")
    kept, _ = blockscale.compress_bitmask(seen, np.full((3, 2), 0x33, np.uint8))
    assert kept.dtype == seen.dtype
    np.testing.assert_array_equal(kept.view(np.uint8), seen.view(np.uint8))


@pytest.mark.parametrize("name", ["f8E8M0FNU", "f8E4M3FN"])
def test_swizzle_keeps_the_type(name):
    codes = codes_of(name, 300, 9)
    seen = blockscale.as_ml_dtypes(codes, name)
    tiles = blockscale.swizzle_scales(seen)
    assert tiles.dtype == seen.dtype
    np.testing.assert_array_equal(tiles.view(np.uint8), blockscale.swizzle_scales(codes))
    back = blockscale.unswizzle_scales(tiles, (300, 9))
    assert back.dtype == seen.dtype
    np.testing.assert_array_equal(back.view(np.uint8), codes)


def test_other_types_are_refused():
    wrong = blockscale.as_ml_dtypes(codes_of("f8E5M2", 2, 32), "f8E5M2")
    with pytest.raises(TypeError, match="^codes: .* or float8_e4m3fn, got float8_e5m2$"):
        blockscale.decode(wrong, "f8E4M3FN")
    with pytest.raises(TypeError, match="^codes: .* or float8_e4m3fn, got float8_e5m2$"):
        blockscale.as_ml_dtypes(wrong, "f8E4M3FN")
    with pytest.raises(TypeError, match="^x: expected .*, got float8_e5m2$"):
        blockscale.quantize(wrong, *blockscale.QUANTIZE_TYPE_COMBINATIONS[0])
    with pytest.raises(TypeError, match="^s: expected .*, got float8_e5m2$"):
        blockscale.swizzle_scales(wrong)
    with pytest.raises(ValueError, match="^format: expected one of f8E4M3FN, .*, bf16, got 'f32'$"):
        blockscale.as_ml_dtypes(np.zeros(2, np.uint8), "f32")
    with pytest.raises(TypeError, match="^codes: expected an array of uint16 or bfloat16, got uint8"):
        blockscale.as_ml_dtypes(np.zeros(2, np.uint8), "bf16")


def test_absent_or_too_old(monkeypatch):
    codes = np.zeros((1, 2), np.uint8)
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(ImportError, match="^ml_dtypes: expected a package with float4_e2m1fn, got none"):
        blockscale.as_ml_dtypes(codes, "f4E2M1FN")
    old = types.ModuleType("ml_dtypes")
    old.__version__ = "0.4.1"
    monkeypatch.setitem(sys.modules, "ml_dtypes", old)
    with pytest.raises(ImportError, match="^ml_dtypes: .* float4_e2m1fn, got 0.4.1$"):
        blockscale.as_ml_dtypes(codes, "f4E2M1FN")


def test_is_not_imported():
    code = "import sys, blockscale as b; b.decode([1], 'f4E2M1FN'); sys.exit('ml_dtypes' in sys.modules)"
    folder = Path(blockscale.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(folder)}, check=False)
    assert done.returncode == 0
