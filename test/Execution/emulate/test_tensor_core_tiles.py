"""Kernels of the instruction level, whose swizzle rows have all lengths, with the tensor core in software: threads
fill shared memory and load and store tensor memory, and one of them asks for products alone.
"""

import pytest
from harness import assert_bit_equal
from test_tcgen05_ops import TILES, simulate


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: tile.name)
def test_tile(tile, tmp_path):
    assert_bit_equal(*simulate(tile, tmp_path, flags=["--emulate-on=sm_90a"]))
