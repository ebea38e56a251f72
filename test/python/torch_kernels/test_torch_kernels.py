"""Every function of kernels.bundle, on every chip, against the reference."""

import re

import numpy as np
import pytest
import tiers
from kernel_cases import FORMATS, PRODUCTS, check_product, check_quantize, load, to_bf16

from blockscale import runtime
from blockscale.runtime.bundle_file import read_bundle

CHIPS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
MOST_BYTES = 14_000_000
VALUE_TYPES = ("bf16", "f16", "f32")
PAIRS = [(kind, format) for kind in PRODUCTS for format in FORMATS]
# Of few rows, with K in several parts; M and N are whole tiles nowhere but in the wide cover.
SIZES = ((5, 136, 1056), (70, 136, 96))
# One for each kernel of which a launch on sm_90a chooses.
SIZES_OF_KERNELS = (
    (13, 72, 4128), (25, 136, 1056), (40, 72, 544), (61, 136, 96), (90, 72, 4128), (123, 136, 544), (150, 72, 1056),
    (185, 136, 96), (210, 72, 544), (250, 136, 1056), (300, 200, 96),
)
WIDE = ((1, 8, 32), (16, 128, 2048), (128, 256, 512), (129, 131, 160), (200, 24, 1312), (33, 300, 64))


def name(value):
    """That of sizes, or of a function."""
    if not isinstance(value, tuple):
        return value
    return ("x" if isinstance(value[0], int) else "_").join(map(str, value))


@pytest.mark.parametrize("function, sizes, chip", tiers.product(PAIRS, SIZES, CHIPS), ids=name)
def test_product(run, function, sizes, chip):
    check_product(run, *function, chip, *sizes)


@pytest.mark.parametrize("format, sizes", tiers.product(FORMATS, SIZES_OF_KERNELS), ids=name)
def test_kernels_of_rows(run, format, sizes):
    check_product(run, "linear", format, "sm_90a", *sizes)


@pytest.mark.full
@pytest.mark.parametrize("function, sizes, chip", tiers.product(PAIRS, WIDE, CHIPS), ids=name)
def test_product_of_other_sizes(run, function, sizes, chip):
    check_product(run, *function, chip, *sizes)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("number", VALUE_TYPES)
@pytest.mark.parametrize("format", FORMATS)
def test_quantize(run, format, number, chip):
    check_quantize(run, format, number, chip, 13, 160)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("largest,expected", [
    (2688.0, 1.0), (-3.5, np.float32(3.5) / np.float32(2688)), (0.0, 2.0**-126), (np.nan, 1.0), (np.inf, 1.0),
])
def test_tensor_scale(run, largest, expected, chip):
    x = np.zeros((9, 96), np.float32)
    x[7, 41] = largest
    for number, stored in (("bf16", to_bf16(x)), ("f16", x.astype(np.float16)), ("f32", x)):
        [got] = run(f"tensor_scale_{number}", chip, [stored], [("f4", ())])
        np.testing.assert_array_equal(got.ravel(), np.float32(expected))


def test_bundle(bundle_path):
    assert bundle_path.stat().st_size <= MOST_BYTES
    bundle = load(bundle_path)
    assert set(bundle) == {
        *(f"{kind}_{format}" for kind, format in PAIRS),
        *(f"quantize_{format}_{number}" for format in FORMATS for number in VALUE_TYPES),
        *(f"tensor_scale_{number}" for number in VALUE_TYPES),
    }
    for function in bundle.values():
        assert function.targets == list(CHIPS)
    assert {entry.most_rows for entry in read_bundle(bundle_path)} == {None}


PURPOSES = {"linear": {"matmul", "split_k_reduction"}, "mma_scaled": {"mma_scaled", "split_k_reduction"}}
# What kernels of some chips do beside that. Copies of x and of scales have names of their own.
OTHERS = {
    ("linear", "sm_90a"): {"permute", "dequantize", "exact_recomputation"},
    ("mma_scaled", "sm_90a"): {"dequantize_operand", "exact_recomputation"},
    ("mma_scaled", "sm_100a"): {"swizzle_scales"},
}


def purposes(bundle, function, chip, product):
    """What the kernels of a function do. A kernel with the name of the function is the product."""
    names = [each["name"].removeprefix(function) for each in bundle[function].launch_info(chip)["kernels"]]
    return {re.sub("^__|_[0-9]+$", "", name) or product for name in names}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("kind,format", PAIRS)
def test_what_ends_the_sums_is_no_kernel(bundle_path, kind, format, chip):
    """g, bias and rounding are done by the kernel of the product, or by that which adds ranges up."""
    [product] = PURPOSES[kind] - {"split_k_reduction"}
    there = purposes(load(bundle_path), f"{kind}_{format}", chip, product)
    assert there == PURPOSES[kind] | OTHERS.get((kind, chip), set())
