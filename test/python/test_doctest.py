"""The examples in the package's documentation run."""

import doctest

import blockscale
import pytest
from blockscale import quantization


@pytest.mark.parametrize("module", [blockscale, quantization])
def test_example(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
