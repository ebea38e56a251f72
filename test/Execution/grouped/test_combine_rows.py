"""combine_rows on the CPU and in the simulator, against numpy."""

import blockscale
import numpy as np
import pytest
from devices import DEVICES, READ, STORE, run

# T, N, S, J
SIZES = [(7, 5, 4, 2), (1, 33, 9, 4), (40, 64, 3, 1), (12, 8, 0, 3)]


def program(sizes, source, result, static):
    t, n, s, j = sizes if static else "????"
    types = f"tensor<{t}x{n}x{source}>", f"tensor<{s}x{j}xi32>", f"tensor<{s}x{j}xf32>"
    return f"""func.func @main(%source: {types[0]}, %positions: {types[1]}, %weights: {types[2]}) -> tensor<{s}x{n}x{result}> {{
  %d = blockscale.combine_rows %source, %positions, %weights : {", ".join(types)} to tensor<{s}x{n}x{result}>
  return %d : tensor<{s}x{n}x{result}>
}}
"""


def make(sizes, source, seed=5):
    """Source, its values, positions and weights; some slots are empty."""
    t, n, s, j = sizes
    rng = np.random.default_rng(seed)
    stored = STORE[source](rng.standard_normal((t, n)).astype(np.float32))
    positions = rng.integers(-1, t, (s, j), np.int32)
    return stored, np.asarray(READ[source](stored), np.float32), positions, rng.standard_normal((s, j)).astype(np.float32)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("source,result", [("f32", "f32"), ("bf16", "bf16"), ("f16", "f32"), ("f32", "bf16"), ("bf16", "f16")])
def test_sizes(device, source, result, tmp_path):
    """To the bit: the order of the sum is part of the meaning. No two operations are contracted."""
    for number, sizes in enumerate(SIZES):
        stored, values, positions, weights = make(sizes, source)
        # Sizes in turns, so that each is seen static and dynamic.
        # An empty tensor of static size is refused for GPUs.
        static = sizes[2] != 0 and (number + DEVICES.index(device)) % 2 == 0
        text = program(sizes, source, result, static)
        [got] = run(tmp_path, text, [stored, positions, weights], device)
        expected = STORE[result](blockscale.combine_rows(values, positions, weights))
        np.testing.assert_array_equal(got.view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize("device", DEVICES)
def test_what_nobody_reads(device, tmp_path):
    """NaN in a row without a slot, and in the weight of an empty slot; no rows at all."""
    stored, _, positions, weights = make((7, 5, 4, 2), "f32")
    positions[positions == 3] = 2
    positions[1, 1], weights[1, 1] = -1, np.nan
    expected = blockscale.combine_rows(stored, positions, weights)
    stored[3] = np.nan
    text = program((7, 5, 4, 2), "f32", "f32", static=False)
    [got] = run(tmp_path, text, [stored, positions, weights], device)
    assert not np.isnan(got).any()
    np.testing.assert_array_equal(got, expected)
    if device == "cpu":
        positions[:] = -1
        [got] = run(tmp_path, text, [stored[:0], positions, weights], device)
        np.testing.assert_array_equal(got.view(np.uint32), np.zeros((4, 5), np.uint32))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("position", [-2, 7, 1 << 30, -(1 << 31)])
def test_wrong_positions(device, position, tmp_path):
    stored, _, positions, weights = make((7, 5, 4, 2), "f32")
    positions[3, 1] = position
    text = program((7, 5, 4, 2), "f32", "f32", static=True)
    said = run(tmp_path, text, [stored, positions, weights], device, fails=True)
    assert "expected positions from -1 to T - 1" in said
    with pytest.raises(ValueError, match=r"^positions: expected numbers from -1 to 6, got -?[0-9]+ at \(3, 1\)$"):
        blockscale.combine_rows(stored, positions, weights)
