"""Layers of experts with quantized rows in both products: each step's bits on all devices, against numpy."""

import devices
import numpy as np
import pytest
import tiers
from layer import FORMATS, Layer, Program, operands_of, reference


def check(folder, layer, device, dynamic=""):
    """The result, and what the second product reads."""
    operands = operands_of(layer)
    text = Program(layer, dynamic, shows=True).text()
    result, codes, scales = devices.run(folder, text, operands.values(), device, 3)
    expected, (expected_codes, expected_scales) = reference(layer, operands)
    np.testing.assert_array_equal(codes, expected_codes)
    np.testing.assert_array_equal(scales, expected_scales)
    np.testing.assert_array_equal(result.view(np.uint32), expected.view(np.uint32))


# S, G, H, I: one token, and some; groups of more rows than a tile has; whole tiles along N and K, and others.
SIZES = [(1, 3, 128, 64), (20, 5, 256, 128), (150, 4, 64, 96), (40, 35, 128, 32)]


@pytest.mark.parametrize("format, sizes, dynamic, element, device", tiers.product(
    FORMATS, range(len(SIZES)), ["", "ST", "STGHI"], ["bf16", "f32", "f16"], devices.DEVICES))
def test_layer(format, sizes, dynamic, element, device, tmp_path):
    check(tmp_path, Layer(format, *SIZES[sizes], element), device, dynamic)
