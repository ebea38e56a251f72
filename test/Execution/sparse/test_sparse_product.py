"""sparse_mma_scaled on the CPU and in the simulator, against exact rationals.

M is not N, types differ where a row allows it, scales differ from block to block, and all six
fields are there, so that an exchanged operand or position shows in the result.
"""

import blockscale
import numpy as np
import pytest
from harness import assert_bit_equal
from sparse_cases import (
    CHIPS,
    attribute,
    is_native_row,
    product_data,
    product_program,
    run,
    start,
    tensor,
)
from sparse_oracle import (
    UNITS,
    batched_product,
    fields_of,
    logical_index,
    metadata_of,
    sparsify,
    tile,
)

E8M0 = "f8E8M0FNU"
# Types of x, y and scales, block size, granularity: instructions' own, and others.
CASES = [
    (("f8E4M3FN", "f8E5M2", E8M0), 64, "2:4"),
    (("f8E5M2", "f8E4M3FN", E8M0), 32, "2:4"),
    (("f6E3M2FN", "f6E2M3FN", E8M0), 64, "2:4"),
    (("f6E2M3FN", "f4E2M1FN", E8M0), 64, "pairs"),
    (("f4E2M1FN", "f8E4M3FN", E8M0), 64, "2:4"),
    (("f4E2M1FN", "f4E2M1FN", E8M0), 64, "pairs"),
    (("f4E2M1FN", "f4E2M1FN", E8M0), 32, "pairs"),
    (("f4E2M1FN", "f4E2M1FN", E8M0), 16, "2:4"),
    (("f4E2M1FN", "f4E2M1FN", "f8E4M3FN"), 32, "pairs"),
    (("f4E2M1FN", "f4E2M1FN", "f8E4M3FN"), 16, "2:4"),
]
NAMES = ["-".join([*types, str(block), granularity]) for types, block, granularity in CASES]


def check(folder, data, types, block, granularity, device="cpu", dynamic=False):
    text = product_program([a.shape for a in data], types, block, granularity, dynamic)
    [result], printed = run(folder, text, data, 1, device)
    assert_bit_equal(result, batched_product(*data, types, block, granularity))
    return printed


@pytest.mark.parametrize("types, block, granularity", CASES, ids=NAMES)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_cpu(types, block, granularity, dynamic, tmp_path):
    data = product_data(types, block, granularity, 5, 7, 192, 1)
    check(tmp_path, data, types, block, granularity, "cpu", dynamic)


@pytest.mark.parametrize(
    "x_batch, y_batch", [((3,), ()), ((), (3,)), ((3,), (3,)), ((1,), (3,)), ((3,), (1,))], ids=str
)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_batch(x_batch, y_batch, dynamic, tmp_path):
    types, block, granularity = CASES[0]
    data = product_data(types, block, granularity, 3, 5, 128, 2, x_batch, y_batch)
    check(tmp_path, data, types, block, granularity, "cpu", dynamic)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("types, block, granularity", CASES, ids=NAMES)
def test_device(types, block, granularity, chip, tmp_path):
    data = product_data(types, block, granularity, 17, 10, 128, 3)
    printed = check(tmp_path, data, types, block, granularity, chip)
    reason = f"no kernel with a sparse instruction for it on {chip}"
    is_native = chip in ("sm_100a", "sm_120a") and is_native_row(types, block, granularity)
    assert (reason in printed) != is_native
    # Chips without block-scaled instructions read the metadata, and others prefer these.
    is_kept = chip in ("sm_80", "sm_90a")
    assert ("; dequantized to bf16 for mma.sp.m16n8k32.f32.bf16.bf16.f32, which reads the metadata" in printed) == is_kept
    assert ("x is decompressed for a dense product" in printed) == (not is_native and not is_kept)


@pytest.mark.parametrize("chip", ["sm_90a", "sm_120a"])
def test_device_batch_dynamic(chip, tmp_path):
    types, block, granularity = CASES[0]
    data = product_data(types, block, granularity, 6, 8, 128, 4, (2,), ())
    check(tmp_path, data, types, block, granularity, chip, dynamic=True)


SPECIAL_TYPES = [
    ("f8E4M3FN", "f8E4M3FN", E8M0), ("f8E5M2", "f8E5M2", E8M0), ("f4E2M1FN", "f8E5M2", E8M0)
]


@pytest.mark.parametrize("device", ["cpu", *CHIPS])
def test_layouts(device, tmp_path):
    """y that is stored as N x K, swizzled scales, and tiled metadata."""
    types, block, granularity = ("f8E4M3FN", "f6E2M3FN", E8M0), 64, "2:4"
    m, n, k = 130, 10, 256
    data = product_data(types, block, granularity, m, n, k, 9)
    x, metadata, x_scale, y, y_scale, acc = data
    stored = [
        x, tile(metadata), blockscale.swizzle_scales(x_scale), np.ascontiguousarray(y.T),
        blockscale.swizzle_scales(np.ascontiguousarray(y_scale.T)), acc,
    ]
    elements = (types[0], "i8", E8M0, types[1], E8M0, "f32")
    kinds = [tensor(array.shape, element) for array, element in zip(stored, elements)]
    used = [tensor(array.shape, element) for array, element in zip(data, elements)]
    arguments = ", ".join(f"%arg{i}: {kind}" for i, kind in enumerate(kinds))
    ys_nk = tensor(y_scale.T.shape, E8M0)
    text = "\n".join([
        f"func.func @main({arguments}) -> {used[5]} {{",
        f"  %m = blockscale.untile_metadata %arg1 : {kinds[1]} to {used[1]}",
        f"  %xs = blockscale.unswizzle_scales %arg2 : {kinds[2]} to {used[2]}",
        f"  %ys_nk = blockscale.unswizzle_scales %arg4 : {kinds[4]} to {ys_nk}",
        f"  %y0 = tensor.empty() : {used[3]}",
        f"  %y = linalg.transpose ins(%arg3 : {kinds[3]}) outs(%y0 : {used[3]}) permutation = [1, 0]",
        f"  %ys0 = tensor.empty() : {used[4]}",
        f"  %ys = linalg.transpose ins(%ys_nk : {ys_nk}) outs(%ys0 : {used[4]}) permutation = [1, 0]",
        "  %d = blockscale.sparse_mma_scaled %arg0, %m, %xs, %y, %ys, %arg5",
        f"      {{{attribute(granularity)}}} : {', '.join(used)}",
        f"  return %d : {used[5]}",
        "}",
    ]) + "\n"
    [result], _ = run(tmp_path, text, stored, 1, device)
    assert_bit_equal(result, batched_product(*data, types, block, granularity))


@pytest.mark.parametrize("device", ["cpu", "sm_90a", "sm_120a"])
def test_smallest(device, tmp_path):
    """One row, one byte of metadata in a row, one block."""
    types, block, granularity = CASES[-2]
    data = product_data(types, block, granularity, 1, 2, 32, 10)
    check(tmp_path, data, types, block, granularity, device)
    types, block, granularity = CASES[-1]
    folder = tmp_path / "other"
    folder.mkdir()
    data = product_data(types, block, granularity, 1, 2, 16, 11)
    check(folder, data, types, block, granularity, device)


def read(name, kind):
    """A line that reads the tensor %NAME into the vector %NAMEv; the type of the vector."""
    vector = kind.replace("tensor", "vector")
    *sizes, element = kind[len("tensor<") : -1].split("x")
    zeros, bounds = (", ".join([word] * len(sizes)) for word in ("%c0", "true"))
    return [
        f"  %{name}p = arith.constant {0 if element == 'i8' else '1.0'} : {element}",
        f"  %{name}v = vector.transfer_read %{name}[{zeros}], %{name}p {{in_bounds = [{bounds}]}}"
        f" : {kind}, {vector}",
    ], vector


def test_vectors(tmp_path):
    types, block, granularity = CASES[0]
    data = product_data(types, block, granularity, 4, 8, 64, 7)
    elements = (types[0], "i8", types[2], types[1], types[2], "f32")
    kinds = [tensor(array.shape, element) for array, element in zip(data, elements)]
    names = ["x", "m", "xs", "y", "ys", "acc"]
    lines, vectors = ["  %c0 = arith.constant 0 : index"], []
    for name, kind in zip(names, kinds):
        more, vector = read(name, kind)
        lines += more
        vectors.append(vector)
    g = attribute(granularity)
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in zip(names, kinds))
    dense = vectors[0].replace("x32x", "x64x")
    # Compressed once more, which moves no element that is not zero.
    text = "\n".join([
        f"func.func @main({arguments}) -> {kinds[5]} {{", *lines,
        f"  %d = blockscale.decompress %xv, %mv {{{g}}} : {vectors[0]}, {vectors[1]} to {dense}",
        f"  %x2, %m2 = blockscale.compress %d {{{g}}} : {dense} to {vectors[0]}, {vectors[1]}",
        "  %t = blockscale.tile_metadata %m2 : vector<4x8xi8> to vector<1x1x128x16xi8>",
        "  %u = blockscale.untile_metadata %t : vector<1x1x128x16xi8> to vector<4x8xi8>",
        f"  %s = blockscale.sparsify %accv {{{g}}} : {vectors[5]}",
        f"  %r = blockscale.sparse_mma_scaled %x2, %u, %xsv, %yv, %ysv, %s {{{g}}}",
        f"      : {', '.join(vectors)}",
        f"  %e = tensor.empty() : {kinds[5]}",
        "  %w = vector.transfer_write %r, %e[%c0, %c0] {in_bounds = [true, true]}",
        f"      : {vectors[5]}, {kinds[5]}",
        f"  return %w : {kinds[5]}",
        "}",
    ]) + "\n"
    [result], _ = run(tmp_path, text, data, 1)
    data[5] = sparsify(data[5], granularity)
    assert_bit_equal(result, batched_product(*data, types, block, granularity))


def with_specials(types, granularity, seed):
    """NaN and infinity of y where it is kept, and where it is not; zeros, NaN and infinity of x."""
    data = product_data(types, 64, granularity, 6, 8, 128, seed)
    x, metadata, y = data[0], data[1], data[3]
    rng = np.random.default_rng(seed)
    codes = {"f8E4M3FN": [0x7F, 0xFF], "f8E5M2": [0x7C, 0xFC, 0x7D, 0xFF]}
    # One special value in each column but the last, which stays finite.
    for n in range(y.shape[1] - 1):
        y[rng.integers(y.shape[0]), n] = rng.choice(codes[types[1]])
    unit = UNITS[granularity]
    fields = fields_of(metadata)
    specials = np.argwhere(np.isin(y, codes[types[1]]))
    # Kept zeros, negative ones and special ones of x meet some of them.
    for m in range(3):
        for i in range(x.shape[1]):
            k = logical_index(i, int(fields[m, i // (2 * unit)]), unit)
            if k in specials[:, 0]:
                x[m, i] = (0, blockscale.FORMATS[types[0]].sign_bit, codes.get(types[0], [1])[0])[m]
    return data


@pytest.mark.parametrize("device", ["cpu", *CHIPS])
@pytest.mark.parametrize("types", SPECIAL_TYPES, ids=str)
@pytest.mark.parametrize("granularity", UNITS)
def test_nan_and_infinity_of_y(types, granularity, device, tmp_path):
    seen = set()
    for seed in range(2):
        data = with_specials(types, granularity, seed)
        expected = batched_product(*data, types, 64, granularity)
        for value in expected[:, :-1].flat:
            seen.add("nan" if np.isnan(value) else "inf" if np.isinf(value) else "finite")
        folder = tmp_path / str(seed)
        folder.mkdir()
        check(folder, data, types, 64, granularity, device)
    # What is not kept leaves results finite.
    assert {"nan", "finite"} <= seen
    assert types[1] != "f8E5M2" or "inf" in seen


@pytest.mark.parametrize("device", ["cpu", "sm_120a"])
def test_nan_scale(device, tmp_path):
    """Something of each block is kept, so NaN of a scale reaches all its results."""
    types, block, granularity = CASES[0]
    data = product_data(types, block, granularity, 4, 6, 128, 5)
    data[2][1, 0] = 0xFF
    data[4][1, 2] = 0xFF
    expected = batched_product(*data, types, block, granularity)
    assert np.isnan(expected).sum() == 4 + 6 - 1
    check(tmp_path, data, types, block, granularity, device)


# A field, the code of both kept elements, and whether that is accepted.
FIELD_CASES = [
    (0b0000, 0, True), (0b0000, 0x80, True), (0b0000, 0x38, False), (0b0110, 0, False),
    (0b0101, 0x38, False), (0b1111, 0, False),
]


@pytest.mark.parametrize("device", ["cpu", "sm_120a"])
@pytest.mark.parametrize("field, code, accepted", FIELD_CASES, ids=str)
def test_fields(field, code, accepted, device, tmp_path):
    types, block, granularity = ("f8E4M3FN", "f6E2M3FN", E8M0), 64, "2:4"
    data = product_data(types, block, granularity, 3, 4, 64, 6)
    fields = fields_of(data[1])
    fields[2, 5] = field
    data[1] = metadata_of(fields)
    data[0][2, 10:12] = code
    if accepted:
        check(tmp_path, data, types, block, granularity, device)
        return
    text = product_program([a.shape for a in data], types, block, granularity)
    done, _ = start(tmp_path, text, data, 1, device)
    assert done.returncode == 1, done.stderr
    assert "expected fields of metadata whose two positions ascend" in done.stderr
    assert 'program.mlir":2' in done.stderr


@pytest.mark.parametrize("device", ["cpu", "sm_80"])
def test_dynamic_sizes_that_do_not_fit(device, tmp_path):
    types, block, granularity = CASES[2]
    data = product_data(types, block, granularity, 4, 8, 128, 8)
    text = product_program([a.shape for a in data], types, block, granularity, dynamic=True)
    data[1] = data[1][:, :-1]
    done, _ = start(tmp_path, text, data, 1, device)
    assert done.returncode == 1
    assert "expected metadata to have the K of x" in done.stderr
