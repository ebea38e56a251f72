"""The functions of the package `blockscale` beside the ops, bit by bit."""

import subprocess
from itertools import product

import blockscale
import harness
import numpy as np
import pytest
from sparse_cases import attribute, product_data, product_program, run, tensor
from sparse_oracle import UNITS

DEVICES = ("cpu", "sm_80")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("granularity", UNITS)
def test_sparsify(granularity, device, tmp_path):
    """Many ties, pairs whose sums are rounded or overflow, and what is no number."""
    rng = np.random.default_rng(1)
    largest = np.finfo(np.float32).max
    values = rng.choice(
        np.float32([0, -0.0, 1, -1, 1 + 2.0**-20, 2.0**-24, 2.0**-140, largest, -largest, np.inf, -np.inf, np.nan]),
        (40, 64),
    )
    kind = tensor(values.shape, "f32")
    text = f"""func.func @main(%v: {kind}) -> {kind} {{
  %s = blockscale.sparsify %v {{{attribute(granularity)}}} : {kind}
  return %s : {kind}
}}
"""
    [got], _ = run(tmp_path, text, [values], 1, device)
    expected = blockscale.sparsify(values, granularity)
    np.testing.assert_array_equal(got.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("granularity,element", [("2:4", "f8E4M3FN"), ("2:4", "f4E2M1FN"), ("pairs", "f4E2M1FN")])
def test_compress(granularity, element, device, tmp_path):
    """Chunks of no, one and two units, with zeros of both signs; compressed, tiled, and back again."""
    rng = np.random.default_rng(2)
    shape, width = (150, 320), UNITS[granularity]
    codes = rng.integers(0, 1 << blockscale.FORMATS[element].bits, shape, dtype=np.uint8)
    kept = np.zeros((*shape[:1], shape[1] // (4 * width), 4), bool)
    for i in range(2):
        np.put_along_axis(kept, rng.integers(0, 4, (*kept.shape[:2], 1)), True, axis=-1)
    minus_zero = 1 << blockscale.FORMATS[element].bits - 1
    codes = np.where(np.repeat(kept.reshape(shape[0], -1), width, axis=1), codes,
                     rng.choice([0, minus_zero], shape)).astype(np.uint8)
    x, metadata = blockscale.compress(codes, element, granularity)
    m, e = metadata.shape
    dense, half, bytes_ = tensor(shape, element), tensor(x.shape, element), tensor(metadata.shape, "i8")
    atoms = tensor((-(-e // 16), -(-m // 128), 128, 16), "i8")
    text = f"""func.func @main(%d: {dense}) -> ({half}, {bytes_}, {atoms}, {bytes_}, {dense}) {{
  %x, %m = blockscale.compress %d {{{attribute(granularity)}}} : {dense} to {half}, {bytes_}
  %t = blockscale.tile_metadata %m : {bytes_} to {atoms}
  %u = blockscale.untile_metadata %t : {atoms} to {bytes_}
  %r = blockscale.decompress %x, %u {{{attribute(granularity)}}} : {half}, {bytes_} to {dense}
  return %x, %m, %t, %u, %r : {half}, {bytes_}, {atoms}, {bytes_}, {dense}
}}
"""
    got, _ = run(tmp_path, text, [codes], 5, device)
    tiles = blockscale.tile_metadata(metadata)
    expected = [x, metadata, tiles, blockscale.untile_metadata(tiles, metadata.shape),
                blockscale.decompress(x, metadata, element, granularity)]
    for one, other in zip(got, expected):
        np.testing.assert_array_equal(one.view(np.uint8), other)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("types,block,granularity", [
    (("f8E4M3FN", "f8E5M2", "f8E8M0FNU"), 64, "2:4"), (("f4E2M1FN", "f4E2M1FN", "f8E4M3FN"), 32, "pairs"),
    (("f6E2M3FN", "f8E4M3FN", "f8E8M0FNU"), 32, "2:4"),
])
def test_product(types, block, granularity, device, tmp_path):
    operands = product_data(types, block, granularity, 24, 40, 256, seed=3)
    text = product_program([each.shape for each in operands], types, block, granularity)
    [got], _ = run(tmp_path, text, operands, 1, device)
    x_type, y_type, scale_type = types
    expected = blockscale.sparse_mma_scaled(
        *operands, x_type=x_type, y_type=y_type, scale_type=scale_type, block_size=block, granularity=granularity
    )
    np.testing.assert_array_equal(got, expected)


def test_legal_combinations(tmp_path):
    """Of all types, granularities and blocks, the op takes those that the function takes."""
    rows = list(product(blockscale.ELEMENT_TYPES, blockscale.ELEMENT_TYPES, ("f8E8M0FNU", "f8E4M3FN"), UNITS,
                        (8, 16, 32, 64, 128)))
    k = 128
    texts = {}
    for row in rows:
        x, y, scale, granularity, block = row
        shapes = [(4, k // 2), (4, k // (8 * UNITS[granularity])), (4, k // block), (k, 8), (k // block, 8), (4, 8)]
        texts[row] = product_program(shapes, (x, y, scale), block, granularity)
    path = tmp_path / "rows.mlir"
    path.write_text("// -----\n".join(texts.values()))
    done = subprocess.run(
        [harness.RUN.with_name("blockscale-opt"), path, "--split-input-file"], capture_output=True, text=True, check=False
    )
    # Places that are refused, as numbers of parts.
    starts = np.cumsum([0, *(text.count("\n") + 1 for text in texts.values())])
    lines = [int(line.split(":")[1]) for line in done.stderr.splitlines() if line.startswith(f"{path}:") and "error" in line]
    refused = {rows[int(np.searchsorted(starts, line, side="right")) - 1] for line in lines}
    assert set(rows) - refused == set(blockscale.SPARSE_TYPE_COMBINATIONS)
