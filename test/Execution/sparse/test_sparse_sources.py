"""sparse_mma_scaled of operands from every source: arguments, constants, parts, transposes, and what other ops make."""

import numpy as np
import pytest
import tiers
from harness import assert_bit_equal
from sparse_cases import CHIPS, attribute, product_data, run, start, tensor
from sparse_oracle import UNITS, batched_product, exact_product

E8M0, E4M3 = "f8E8M0FNU", "f8E4M3FN"
# Types of x, y and scales, block size, granularity.
ROWS = [
    (("f8E4M3FN", "f8E5M2", E8M0), 64, "2:4"),
    (("f6E3M2FN", "f6E2M3FN", E8M0), 64, "2:4"),
    (("f4E2M1FN", "f8E4M3FN", E8M0), 64, "2:4"),
    (("f8E4M3FN", "f4E2M1FN", E8M0), 32, "2:4"),
    (("f4E2M1FN", "f4E2M1FN", E4M3), 32, "pairs"),
    (("f4E2M1FN", "f4E2M1FN", E8M0), 32, "pairs"),
]
M, N, K = 34, 18, 256
CHECKS = "race,proxy,strict"


def name(row):
    types, block, granularity = row
    return "-".join([*types, str(block), granularity])


# Each gives lines that make the value `name` of `array`, and the arguments that they take: names, elements, arrays.


def argument(name, array, element):
    return [], [(name, element, array)]


def constant(name, array, element):
    text = array.tobytes().hex() if array.dtype == np.float32 else array.astype(np.uint8).tobytes().hex()
    return [f'  {name} = arith.constant dense<"0x{text.upper()}"> : {tensor(array.shape, element)}'], []


def cut(name, array, element):
    """A part of a larger tensor."""
    rows, columns = array.shape
    whole = np.ones((rows + 3, 3 * columns), array.dtype)
    whole[2 : 2 + rows, columns : 2 * columns] = array
    return [
        f"  {name} = tensor.extract_slice {name}_whole[2, {columns}] [{rows}, {columns}] [1, 1]"
        f" : {tensor(whole.shape, element)} to {tensor(array.shape, element)}"
    ], [(f"{name}_whole", element, whole)]


def transpose(name, array, element):
    kind, stored = tensor(array.shape, element), np.ascontiguousarray(array.T)
    return [
        f"  {name}_empty = tensor.empty() : {kind}",
        f"  {name} = linalg.transpose ins({name}_stored : {tensor(stored.shape, element)}) outs({name}_empty : {kind})"
        " permutation = [1, 0]",
    ], [(f"{name}_stored", element, stored)]


def reshape(name, array, element):
    """Rows in two dimensions."""
    rows, columns = array.shape
    stored = array.reshape(rows // 2, 2, columns)
    return [
        f"  {name} = tensor.collapse_shape {name}_stored [[0, 1], [2]]"
        f" : {tensor(stored.shape, element)} into {tensor(array.shape, element)}"
    ], [(f"{name}_stored", element, stored)]


def join(name, array, element):
    """Rows of two arguments."""
    parts = [np.ascontiguousarray(part) for part in (array[: len(array) // 2], array[len(array) // 2 :])]
    names = [f"{name}_{i}" for i in range(2)]
    kinds = [tensor(part.shape, element) for part in parts]
    return [
        f"  {name} = tensor.concat dim(0) {', '.join(names)} : ({', '.join(kinds)}) -> {tensor(array.shape, element)}"
    ], [(of, element, part) for of, part in zip(names, parts)]


SOURCES = (argument, constant, cut, transpose, reshape, join)
CASES = [(row, chip, shift) for row in ROWS for chip in ("cpu", *CHIPS) for shift in range(len(SOURCES))]


def features(case):
    row, chip, shift = case
    return [(row, shift), (chip, shift)]


@pytest.mark.parametrize("case", tiers.pairs(CASES, features), ids=lambda case: f"{name(case[0])}-{case[1]}-{case[2]}")
def test_sources(case, tmp_path):
    """Operand i is from source i + shift."""
    row, chip, shift = case
    types, block, granularity = row
    data = product_data(*row, M, N, K, seed=21)
    elements = (types[0], "i8", types[2], types[1], types[2], "f32")
    lines, arguments = [], []
    for i, (array, element) in enumerate(zip(data, elements)):
        made, taken = SOURCES[(i + shift) % len(SOURCES)](f"%v{i}", array, element)
        lines += made
        arguments += taken
    kinds = [tensor(array.shape, element) for array, element in zip(data, elements)]
    text = "\n".join([
        f"func.func @main({', '.join(f'{of}: {tensor(array.shape, element)}' for of, element, array in arguments)})"
        f" -> {kinds[5]} {{", *lines,
        f"  %d = blockscale.sparse_mma_scaled {', '.join(f'%v{i}' for i in range(6))}"
        f" {{{attribute(granularity)}, block_size = {block} : i64}} : {', '.join(kinds)}",
        f"  return %d : {kinds[5]}", "}",
    ]) + "\n"
    [result], _ = run(tmp_path, text, [array for _, _, array in arguments], 1, chip, checks=CHECKS)
    assert_bit_equal(result, batched_product(*data, *row, product=exact_product))


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_made(row, tmp_path):
    """Weights and values that the function itself makes sparse, quantizes and compresses, as on the CPU."""
    (x, y, scale), block, granularity = row
    rng = np.random.default_rng(22)
    w, v = (np.float32(rng.integers(-6, 7, (rows, K))) for rows in (M, N))
    wide, narrow, d = tensor((M, K), "f32"), tensor((N, K), "f32"), tensor((M, N), "f32")
    q, xs = tensor((M, K), x), tensor((M, K // block), scale)
    kept, metadata = tensor((M, K // 2), x), tensor((M, K // (8 * UNITS[granularity])), "i8")
    ynk, ysnk = tensor((N, K), y), tensor((N, K // block), scale)
    ykn, yskn = tensor((K, N), y), tensor((K // block, N), scale)
    g = attribute(granularity)
    text = "\n".join([
        f"func.func @main(%w: {wide}, %v: {narrow}) -> {d} {{",
        f"  %s = blockscale.sparsify %w {{{g}}} : {wide}",
        f"  %q, %xs = blockscale.quantize %s {{block_size = {block} : i64}} : {wide} to {q}, {xs}",
        f"  %x, %m = blockscale.compress %q {{{g}}} : {q} to {kept}, {metadata}",
        f"  %ynk, %ysnk = blockscale.quantize %v {{block_size = {block} : i64}} : {narrow} to {ynk}, {ysnk}",
        f"  %e = tensor.empty() : {ykn}",
        f"  %y = linalg.transpose ins(%ynk : {ynk}) outs(%e : {ykn}) permutation = [1, 0]",
        f"  %es = tensor.empty() : {yskn}",
        f"  %ys = linalg.transpose ins(%ysnk : {ysnk}) outs(%es : {yskn}) permutation = [1, 0]",
        f"  %zero = arith.constant dense<0.0> : {d}",
        f"  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %y, %ys, %zero {{{g}, block_size = {block} : i64}}"
        f" : {kept}, {metadata}, {xs}, {ykn}, {yskn}, {d}",
        f"  return %d : {d}", "}",
    ]) + "\n"
    [expected], _ = run(tmp_path, text, [w, v], 1)
    assert np.count_nonzero(expected) > expected.size // 2
    for chip in CHIPS:
        [result], _ = run(tmp_path, text, [w, v], 1, chip, checks=CHECKS)
        assert_bit_equal(result, expected)


@pytest.mark.parametrize("device", ["cpu", *CHIPS])
@pytest.mark.parametrize("byte, fails", [(0x11, True), (0x00, True), (0x94, False)])
@pytest.mark.parametrize("size", [(M, 512), (16, 128)], ids=str)
def test_splat_metadata(size, byte, fails, device, tmp_path):
    """A constant with one byte everywhere: an illegal field is the same error on each target."""
    types, block, granularity = row = ROWS[1]
    data = product_data(*row, size[0], N, size[1], seed=23)
    data[0][...] = np.where(data[0] == 0, 1, data[0])
    data[1][...] = byte
    elements = (types[0], "i8", types[2], types[1], types[2], "f32")
    kinds = [tensor(array.shape, element) for array, element in zip(data, elements)]
    taken = [i for i in range(6) if i != 1]
    text = "\n".join([
        f"func.func @main({', '.join(f'%v{i}: {kinds[i]}' for i in taken)}) -> {kinds[5]} {{",
        f"  %v1 = arith.constant dense<{byte - (byte >> 7 << 8)}> : {kinds[1]}",
        f"  %d = blockscale.sparse_mma_scaled {', '.join(f'%v{i}' for i in range(6))}"
        f" {{{attribute(granularity)}, block_size = {block} : i64}} : {', '.join(kinds)}",
        f"  return %d : {kinds[5]}", "}",
    ]) + "\n"
    arrays = [data[i] for i in taken]
    if not fails:
        [result], _ = run(tmp_path, text, arrays, 1, device)
        assert_bit_equal(result, batched_product(*data, *row, product=exact_product))
        return
    done, _ = start(tmp_path, text, arrays, 1, device)
    assert done.returncode == 1
    assert "expected fields of metadata whose two positions ascend" in done.stderr
    assert 'program.mlir":3' in done.stderr
    assert "not supported" not in done.stderr
