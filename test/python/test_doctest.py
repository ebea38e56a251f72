"""The examples in the package's documentation run."""

import doctest

import blockscale


def test_example():
    result = doctest.testmod(blockscale)
    assert result.attempted > 0
    assert result.failed == 0
