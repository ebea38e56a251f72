"""sparsify, compress, decompress, tile_metadata and untile_metadata, against the oracle."""

import blockscale
import numpy as np
import pytest
from sparse_cases import attribute, random_metadata, run, start, tensor
from sparse_oracle import FIELDS, UNITS, compress, decompress, sparsify, tile

DEVICES = ["cpu", "sm_80", "sm_120a"]
ELEMENTS = ["f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN"]


def round_trip(shape, element, granularity, dynamic):
    k = shape[-1]
    dense = tensor(shape, element, dynamic)
    kept = tensor([*shape[:-1], k // 2], element, dynamic)
    metadata = tensor([*shape[:-1], k // (8 * UNITS[granularity])], "i8", dynamic)
    g = attribute(granularity)
    return "\n".join([
        f"func.func @main(%d: {dense}) -> ({kept}, {metadata}, {dense}) {{",
        f"  %x, %m = blockscale.compress %d {{{g}}} : {dense} to {kept}, {metadata}",
        f"  %r = blockscale.decompress %x, %m {{{g}}} : {kept}, {metadata} to {dense}",
        f"  return %x, %m, %r : {kept}, {metadata}, {dense}",
        "}",
    ]) + "\n"


def sparse_codes(element, granularity, rows, chunks, seed):
    """Chunks of every set of at most two units, with zeros of both signs, NaN and infinity."""
    rng = np.random.default_rng(seed)
    unit = UNITS[granularity]
    row = blockscale.FORMATS[element]
    codes = np.arange(1 << row.bits, dtype=np.uint8)
    is_zero = blockscale.decode(codes, element) == 0
    zeros, others = codes[is_zero], codes[~is_zero]
    sets = [s for s in np.ndindex(2, 2, 2, 2) if sum(s) <= 2]
    dense = rng.choice(zeros, (rows * chunks, 4, unit))
    for i, chunk in enumerate(dense):
        for u in np.flatnonzero(sets[i % len(sets)]):
            chunk[u] = rng.choice(others, unit)
            if unit == 2 and rng.integers(2):  # One element of a pair may be zero.
                chunk[u, rng.integers(2)] = rng.choice(zeros)
    return dense.reshape(rows, -1)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("granularity", UNITS)
@pytest.mark.parametrize("element", ELEMENTS)
def test_compress(element, granularity, device, tmp_path):
    dense = sparse_codes(element, granularity, 3, 22, 1)
    kept, metadata = compress(dense, element, granularity)
    text = round_trip(dense.shape, element, granularity, dynamic=False)
    results, _ = run(tmp_path, text, [dense], 3, device)
    for got, expected in zip(results, (kept, metadata, decompress(kept, metadata, granularity))):
        np.testing.assert_array_equal(got.view(np.uint8), expected)
    # Values stay; only zeros lose their sign.
    np.testing.assert_array_equal(
        blockscale.decode(results[2], element), blockscale.decode(dense, element)
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("granularity", UNITS)
def test_compress_dynamic(granularity, device, tmp_path):
    dense = sparse_codes("f8E5M2", granularity, 5, 12, 2).reshape(5, 1, -1)
    kept, metadata = compress(dense, "f8E5M2", granularity)
    text = round_trip(dense.shape, "f8E5M2", granularity, dynamic=True)
    results, _ = run(tmp_path, text, [dense], 3, device)
    for got, expected in zip(results, (kept, metadata, decompress(kept, metadata, granularity))):
        np.testing.assert_array_equal(got.view(np.uint8), expected)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("granularity", UNITS)
def test_compress_too_many(granularity, device, tmp_path):
    unit = UNITS[granularity]
    dense = np.zeros((2, 16 * unit), np.uint8)
    dense[1, [4 * unit, 5 * unit, 7 * unit]] = 0x38
    text = round_trip(dense.shape, "f8E4M3FN", granularity, dynamic=False)
    done, _ = start(tmp_path, text, [dense], 3, device)
    assert done.returncode == 1
    name = {"2:4": "elements", "pairs": "pairs"}[granularity]
    assert f"expected at most two {name} of each four that are not zero" in done.stderr
    assert 'program.mlir":2' in done.stderr


@pytest.mark.parametrize("device", DEVICES)
def test_compress_dynamic_ragged(device, tmp_path):
    text = round_trip((2, 12), "f8E4M3FN", "2:4", dynamic=True)
    done, _ = start(tmp_path, text, [np.zeros((2, 12), np.uint8)], 3, device)
    assert done.returncode == 1
    assert "expected K to be a multiple of the elements of a byte of metadata, 8" in done.stderr


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "field, code, accepted",
    [(0, 0, True), (0, 0x80, True), (0, 1, False), (0b0110, 0, False), (0b0101, 1, False)],
    ids=str,
)
def test_decompress_fields(field, code, accepted, device, tmp_path):
    kept = np.full((1, 8), 0x38, np.uint8)
    kept[0, 2:4] = code
    metadata = np.array([[0x44 & 0x0F | field << 4, 0xE8]], np.uint8)
    text = "\n".join([
        "func.func @main(%x: tensor<1x8xf8E4M3FN>, %m: tensor<1x2xi8>) -> tensor<1x16xf8E4M3FN> {",
        f"  %d = blockscale.decompress %x, %m {{{attribute('2:4')}}}",
        "      : tensor<1x8xf8E4M3FN>, tensor<1x2xi8> to tensor<1x16xf8E4M3FN>",
        "  return %d : tensor<1x16xf8E4M3FN>",
        "}",
    ]) + "\n"
    done, outputs = start(tmp_path, text, [kept, metadata], 1, device)
    assert done.returncode == (0 if accepted else 1), done.stderr
    if accepted:
        got = np.load(outputs[0])
        expected = decompress(kept, metadata, "2:4")
        np.testing.assert_array_equal(
            *(blockscale.decode(codes, "f8E4M3FN") for codes in (got, expected))
        )
    else:
        assert "expected fields of metadata whose two positions ascend, or 0000" in done.stderr


def values(granularity, seed):
    """Ties, zeros of both signs, NaN, infinity, and sums that round to equal ones."""
    rng = np.random.default_rng(seed)
    v = rng.choice(np.float32([0, -0.0, 1, -1, 2, -2, 0.5, 3, np.nan, np.inf, -np.inf]), (40, 24))
    v[:8] = rng.standard_normal((8, 24))
    if granularity == "pairs":
        v[8, :8] = [1, 0, 1, 2.0**-24, 1, 2.0**-23, 1, 0]  # The second rounds to 1.
        v[9, :8] = [3e38, 3e38, 2e38, 2e38, np.inf, 0, 1, 1]  # Sums that are infinite.
    return v


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("granularity", UNITS)
def test_sparsify(granularity, dtype, device, tmp_path):
    v = values(granularity, 1)
    if dtype == "f16":
        with np.errstate(over="ignore"):
            v = v.astype(np.float16).astype(np.float32)
    elif dtype == "bf16":
        v = (v.view(np.uint32) & 0xFFFF0000).view(np.float32)
    expected = sparsify(v, granularity)

    def stored(array):
        if dtype == "bf16":
            return (array.view(np.uint32) >> 16).astype(np.uint16)
        return array.astype({"f32": np.float32, "f16": np.float16}[dtype])

    kind = tensor(v.shape, dtype)
    text = "\n".join([
        f"func.func @main(%v: {kind}) -> {kind} {{",
        f"  %s = blockscale.sparsify %v {{{attribute(granularity)}}} : {kind}",
        f"  return %s : {kind}",
        "}",
    ]) + "\n"
    [got], _ = run(tmp_path, text, [stored(v)], 1, device)
    bits = {"f32": np.uint32, "f16": np.uint16, "bf16": np.uint16}[dtype]
    np.testing.assert_array_equal(got.view(bits), stored(expected).view(bits))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_tile(dynamic, device, tmp_path):
    rng = np.random.default_rng(3)
    metadata = rng.integers(0, 256, (300, 20), np.uint8)
    expected = tile(metadata)
    rows = tensor(metadata.shape, "i8", dynamic)
    atoms = "tensor<?x?x128x16xi8>" if dynamic else tensor(expected.shape, "i8")
    sizes = " sizes(%r, %e)" if dynamic else ""
    text = "\n".join([
        f"func.func @main(%m: {rows}, %junk: {atoms}) -> ({atoms}, {rows}) {{",
        "  %c0 = arith.constant 0 : index",
        "  %c1 = arith.constant 1 : index",
        f"  %r = tensor.dim %m, %c0 : {rows}",
        f"  %e = tensor.dim %m, %c1 : {rows}",
        f"  %t = blockscale.tile_metadata %m : {rows} to {atoms}",
        f"  %u = blockscale.untile_metadata %junk{sizes} : {atoms} to {rows}",
        f"  return %t, %u : {atoms}, {rows}",
        "}",
    ]) + "\n"
    # The padding of what is read may hold any byte.
    other = rng.integers(0, 256, metadata.shape, np.uint8)
    (tiled, untiled), _ = run(tmp_path, text, [metadata, tile(other, padding=0xFF)], 2, device)
    np.testing.assert_array_equal(tiled.view(np.uint8), expected)
    np.testing.assert_array_equal(untiled.view(np.uint8), other)


@pytest.mark.parametrize("device", ["cpu", "sm_120a"])
def test_pipeline(device, tmp_path):
    """Weights that are sparsified, quantized, compressed and multiplied, with tiled metadata."""
    m, n, k = 130, 8, 128
    rng = np.random.default_rng(4)
    w = np.float32(rng.integers(-8, 9, (m, k)))
    y = rng.choice(np.array([0x38, 0xB8, 0x40, 0x00], np.uint8), (k, n))
    g = attribute("2:4")
    q, q_scale = tensor((m, k), "f8E4M3FN"), tensor((m, k // 32), "f8E8M0FNU")
    x, metadata = tensor((m, k // 2), "f8E4M3FN"), tensor((m, k // 8), "i8")
    y_type, y_scale = tensor((k, n), "f8E4M3FN"), tensor((k // 32, n), "f8E8M0FNU")
    weights, result, atoms = tensor((m, k), "f32"), tensor((m, n), "f32"), "tensor<1x2x128x16xi8>"
    text = "\n".join([
        f"func.func @main(%w: {weights}, %y: {y_type}) -> ({result}, {result}) {{",
        f"  %s = blockscale.sparsify %w {{{g}}} : {weights}",
        "  %q, %qs = blockscale.quantize %s {block_size = 32 : i64}",
        f"      : {weights} to {q}, {q_scale}",
        f"  %x, %e = blockscale.compress %q {{{g}}} : {q} to {x}, {metadata}",
        f"  %t = blockscale.tile_metadata %e : {metadata} to {atoms}",
        f"  %u = blockscale.untile_metadata %t : {atoms} to {metadata}",
        f"  %ys = arith.constant dense<1.0> : {y_scale}",
        f"  %zero = arith.constant dense<0.0> : {result}",
        f"  %d = blockscale.sparse_mma_scaled %x, %u, %qs, %y, %ys, %zero {{{g}}}",
        f"      : {x}, {metadata}, {q_scale}, {y_type}, {y_scale}, {result}",
        "  %f = blockscale.mma_scaled %q, %qs, %y, %ys, %zero",
        f"      : {q}, {q_scale}, {y_type}, {y_scale}, {result}",
        f"  return %d, %f : {result}, {result}",
        "}",
    ]) + "\n"
    (sparse, dense), _ = run(tmp_path, text, [w, y], 2, device)
    expected = sparsify(w, "2:4").astype(np.float64) @ blockscale.decode(y, "f8E4M3FN")
    np.testing.assert_array_equal(sparse, np.float32(expected))
    np.testing.assert_array_equal(dense, sparse)


def test_fields_are_all_there():
    metadata = random_metadata(np.random.default_rng(0), (4,), 128, "2:4")
    assert {int(f) for byte in metadata.flat for f in (byte & 15, byte >> 4)} == set(FIELDS)
