"""One scale for each row: `blockscale.rebase` on all devices, and products that have a licence for it.

The op equals numpy's to the bit. Products are within the bound of their licence, and with the adder of the card they
equal sums of that adder in numpy.
"""

import os
import pathlib
import subprocess
import sys

import blockscale
import numpy as np
import pytest
import test_promoted_sums as promoted
from blockscale import decode, rebase
from harness import RUN
from test_coarse_simulated import ALL, E8M0, F32, attribute, count

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from fp8_adder import multiply  # noqa: E402

E4M3, E5M2, E3M2, E2M3, E2M1 = "f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN"
TYPES = (E4M3, E5M2, E3M2, E2M3, E2M1)
# The largest difference of codes of scales in a row that loses nothing (OCP formats; exhaustive below).
EXACT = {E4M3: 0, E5M2: 0, E3M2: 9, E2M3: 11, E2M1: 14}


def run(program, arrays, folder, *flags, results=2):
    (folder / "main.mlir").write_text(program)
    paths = [folder / f"in{i}.npy" for i in range(len(arrays))]
    for path, array in zip(paths, arrays):
        np.save(path, array)
    outs = [folder / f"out{i}.npy" for i in range(results)]
    command = [RUN, folder / "main.mlir", *(part for out in outs for part in ("-o", out)), *flags, *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr + program
    return [np.load(out) for out in outs], done.stderr


DEVICES = {
    "cpu": [], "sm_90a": ["--device=sim", "--target=sm_90a", "--check=race"],
    # Without conversions of fp8: loops.
    "sm_80": ["--device=sim", "--target=sm_80"], "sm_120a": ["--device=sim", "--target=sm_120a"],
}


def shape_text(shape, dynamic):
    """Dimensions counted from the end that are dynamic."""
    return "x".join("?" if len(shape) - i in dynamic else str(size) for i, size in enumerate(shape))


def op_program(element, shape, block, *, dynamic=(), is_packed=False, is_transposed=False):
    """The op; elements may be packed arguments, or transposed ones."""
    scales = (*shape[:-1], -(-shape[-1] // block))
    kind = lambda shape, type, dynamic=dynamic: f"tensor<{shape_text(shape, dynamic)}x{type}>"
    wide, rows = blockscale.REBASED_TYPES[element][0], (*shape[:-1], 1)
    row_kind = kind(rows, F32, [d for d in dynamic if d != 1])
    packed = " {blockscale.packed}" if is_packed else ""
    body, given = "", f"%x: {kind(shape, element)}{packed}"
    if is_transposed:
        turned = (*shape[:-2], shape[-1], shape[-2])
        order = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        given = f"%t: {kind(turned, element, ())}"
        body = (f"  %e = tensor.empty() : {kind(shape, element)}\n"
                f"  %x = linalg.transpose ins(%t : {kind(turned, element)}) outs(%e : {kind(shape, element)})"
                f" permutation = {order}\n")
    return (
        f"func.func @main({given}, %s: {kind(scales, E8M0)}) -> ({kind(shape, wide)}, {row_kind}) {{\n{body}"
        f"  %r, %f = blockscale.rebase %x, %s {{block_size = {block} : i64}} : {kind(shape, element)}, {kind(scales, E8M0)}"
        f" to {kind(shape, wide)}, {row_kind}\n  return %r, %f : {kind(shape, wide)}, {row_kind}\n}}\n"
    )


def every_code(element, block=32):
    """Each code with each difference to the largest scale of its row, up to where all elements are zeros."""
    codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
    row = np.resize(codes, max(len(codes), block) + block)
    differences = np.array([*range(42), 100, 254])
    x = np.tile(row, (len(differences), 1))
    scales = np.full((len(differences), -(-len(row) // block)), 254, np.int64) - differences[:, None]
    scales[:, -1] = 254
    return x, scales.astype(np.uint8)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("element", TYPES)
def test_all_codes(element, device, tmp_path):
    x, scales = every_code(element)
    got, _ = run(op_program(element, x.shape, 32), [x, scales], tmp_path, *DEVICES[device])
    wanted, rows = rebase(x, scales, element)
    np.testing.assert_array_equal(got[0], wanted)
    np.testing.assert_array_equal(got[1], rows)


@pytest.mark.parametrize("element", TYPES)
def test_spread_that_is_exact(element):
    """Of the reference, by its definition: nothing is lost up to that spread, and something is with one more."""
    wide = blockscale.REBASED_TYPES[element][0]
    for spread in (EXACT[element], EXACT[element] + 1):
        codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
        codes = codes[np.isfinite(decode(codes, element))]
        x, scales = np.resize(codes, (1, 2 * 256)), np.repeat(np.uint8([127, 127 - spread]), 8)[None]
        got, rows = rebase(x, scales, element)
        values = decode(x, element) * np.repeat(decode(scales, E8M0), 32, 1)
        assert (decode(got, wide) * rows == values).all() == (spread == EXACT[element])
        assert (np.signbit(decode(got, wide)) == np.signbit(values)).all()


# Element, shape, block, what is special.
SHAPES = [
    (E4M3, (3, 160), 32, {}), (E4M3, (5, 37), 32, {}), (E5M2, (2, 3, 96), 64, {}), (E2M1, (7, 8208), 16, {}),
    (E4M3, (1, 20000), 128, {}), (E3M2, (2, 5, 72), 32, {}), (E2M3, (9, 130), 64, {}), (E2M1, (6, 42), 32, {}),
    (E4M3, (70, 1056), 32, dict(dynamic=(1, 2))), (E4M3, (5, 41), 32, dict(dynamic=(1, 2))),
    (E2M1, (2, 5, 74), 32, dict(dynamic=(1, 2, 3))), (E2M1, (3, 4640), 16, dict(dynamic=(1, 2))),
    (E3M2, (4, 96), 32, dict(is_packed=True)), (E2M3, (3, 40), 32, dict(is_packed=True)),
    (E5M2, (48, 64), 32, dict(is_transposed=True)), (E2M1, (48, 64), 32, dict(is_transposed=True)),
    (E4M3, (2, 16, 96), 32, dict(is_transposed=True)),
]


@pytest.mark.parametrize("number, device", [
    *((number, "sm_90a") for number in range(len(SHAPES))), *((number, "sm_80") for number in range(0, len(SHAPES), 3)),
])
def test_shapes(number, device, tmp_path):
    """Rows that are no whole words, partial blocks, threads that share a row, dynamic sizes, batches, packed elements."""
    element, shape, block, special = SHAPES[number]
    rng = np.random.default_rng(number)
    x = promoted.elements(element, shape, rng)
    scales = rng.integers(107, 127, (*shape[:-1], -(-shape[-1] // block))).astype(np.uint8)
    scales[..., -1, :] = 0
    scales[..., 0, 0] = 255
    given = np.swapaxes(x, -1, -2).copy() if special.get("is_transposed") else x
    got, _ = run(op_program(element, shape, block, **special), [given, scales], tmp_path, *DEVICES[device])
    wanted, rows = rebase(x, scales, element, block)
    np.testing.assert_array_equal(got[0], wanted)
    np.testing.assert_array_equal(got[1], rows)
    least = 2.0 ** (-127 - blockscale.REBASED_TYPES[element][1])
    assert np.isnan(rows[..., 0, 0]).all() and (shape[-2] == 1 or (rows[..., -1, 0] == least).all())


def test_sizes_at_run_time(tmp_path):
    x, scales = np.zeros((4, 96), np.uint8), np.zeros((4, 4), np.uint8)
    (tmp_path / "main.mlir").write_text(op_program(E4M3, (4, 96), 32, dynamic=(1, 2)))
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "s.npy", scales)
    for flags in DEVICES["cpu"], DEVICES["sm_90a"]:
        done = subprocess.run([RUN, tmp_path / "main.mlir", *flags, tmp_path / "x.npy", tmp_path / "s.npy"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 1 and "expected scales of blocks of 32 of the elements" in done.stderr, done.stderr


# Products


def product(types, kinds, blocks, sizes, *, dynamic="", batches=(None, None), licence="chunk = 128, rebase", order="nk"):
    """A product; y is stored as N x K with the order "nk". Blocks of 16 or 32 of e8m0 on both sides are a block_size."""
    letters = dict(zip("mnk", sizes))
    x_block, y_block = blocks
    show = lambda letter: "?" if letter in dynamic else letters[letter]
    dim = lambda letter, block: 1 if block == ALL else "?" if letter in dynamic else count(letters[letter], block)
    batch = ["" if each is None else f"{each}x" for each in batches]
    x, xs = f"tensor<{batch[0]}{show('m')}x{show('k')}x{types[0]}>", \
        f"tensor<{batch[0]}{dim('m', x_block[0])}x{dim('k', x_block[1])}x{kinds[0]}>"
    yn, yk = dim("n", y_block[0]), dim("k", y_block[1])
    y, ys = f"tensor<{batch[1]}{show('k')}x{show('n')}x{types[1]}>", f"tensor<{batch[1]}{yk}x{yn}x{kinds[1]}>"
    w, ws = f"tensor<{batch[1]}{show('n')}x{show('k')}x{types[1]}>", f"tensor<{batch[1]}{yn}x{yk}x{kinds[1]}>"
    most = max((each for each in batches if each is not None), default=None)
    acc = f"tensor<{'' if most is None else f'{most}x'}{show('m')}x{show('n')}xf32>"
    body, given = "", f"%y: {y}, %ys: {ys}"
    if order == "nk":
        given, rank = f"%w: {w}, %ws: {ws}", 2 + (batches[1] is not None)
        order = [*range(rank - 2), rank - 1, rank - 2]
        body += "".join(f"  %c{i} = arith.constant {i} : index\n" for i in range(rank))
        for name, of, source, kind in (("y", "w", w, y), ("ys", "ws", ws, ys)):
            sizes_of = []
            for i, size in enumerate(kind[len("tensor<"):].split("x")[:rank]):
                if size == "?":
                    body += f"  %d{name}{i} = tensor.dim %{of}, %c{order[i]} : {source}\n"
                    sizes_of.append(f"%d{name}{i}")
            body += (f"  %e{name} = tensor.empty({', '.join(sizes_of)}) : {kind}\n  %{name} = linalg.transpose"
                     f" ins(%{of} : {source}) outs(%e{name} : {kind}) permutation = {order}\n")
    block = x_block[1] if isinstance(x_block[1], int) else 0
    is_scaled = kinds == (E8M0, E8M0) and blocks == ((1, block),) * 2 and block <= 32
    attributes = [f"block_size = {block} : i64"] if is_scaled else [attribute("x", x_block), attribute("y", y_block)]
    attributes += [f"accumulate = #blockscale.accumulate<{licence}>"] * bool(licence)
    return (
        f"func.func @main(%x: {x}, %xs: {xs}, {given}, %acc: {acc}) -> {acc} {{\n{body}"
        f"  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc {{{', '.join(attributes)}}} : {x}, {xs}, {y}, {ys}, {acc}\n"
        f"  return %d : {acc}\n}}\n"
    )


def draw(types, kinds, blocks, sizes, batches=(None, None), seed=1):
    """Normal elements, scales that differ by up to 6, an outlier block, blocks of zeros with the least and a large code."""
    rng = np.random.default_rng(seed)
    (m, n, k), (x_block, y_block) = sizes, blocks

    def one(element, kind, rows, block, batch):
        lead = () if batch is None else (batch,)
        values = rng.normal(size=(*lead, rows, k)) * {E4M3: 64, E5M2: 4096, E3M2: 8, E2M3: 2, E2M1: 2}[element]
        shape = (*lead, count(rows, block[0]), count(k, block[1]))
        if kind == F32:
            return blockscale.encode(values, element), rng.uniform(0.5, 2, shape).astype(np.float32)
        scales = rng.integers(121, 128, shape)
        codes = blockscale.encode(values, element)
        if block[0] == 1 and block[1] != ALL and rows > 4:
            scales[..., 1, 0] = 134
            codes[..., 2, : block[1]], scales[..., 2, 0] = 0, 0
            codes[..., 3, : block[1]], scales[..., 3, 0] = 0x80 & (1 << blockscale.FORMATS[element].bits) - 1, 128
        return codes, scales.astype(np.uint8)

    x, xs = one(types[0], kinds[0], m, x_block, batches[0])
    w, ws = one(types[1], kinds[1], n, y_block, batches[1])
    lead = max((each for each in batches if each is not None), default=None)
    acc = rng.standard_normal((m, n) if lead is None else (lead, m, n)).astype(np.float32)
    return [x, xs, w, ws, acc]


def reference(types, kinds, blocks, data):
    """Operands and options of the functions in numpy, where y is K x N."""
    x, xs, w, ws, acc = data
    options = dict(x_type=types[0], y_type=types[1], scale_type=E8M0 if E8M0 in kinds else None)
    block = blocks[0][1]
    if not (kinds == (E8M0, E8M0) and blocks == ((1, block),) * 2 and block in (16, 32)):
        options.update(x_scale_block=blocks[0], y_scale_block=blocks[1])
    return [x, xs, np.swapaxes(w, -1, -2), np.swapaxes(ws, -1, -2), acc], options


MX = ((1, 32), (1, 32))
W4A8, TOKEN = ((1, 128), (1, 32)), ((1, ALL), (1, 32))
# Types, kinds of scales, blocks, sizes, what is special.
PRODUCTS = [
    ((E4M3, E4M3), (E8M0, E8M0), MX, (70, 72, 384), {}),
    ((E4M3, E2M1), (F32, E8M0), W4A8, (33, 40, 320), {}),
    ((E4M3, E2M1), (F32, E8M0), TOKEN, (130, 136, 160), {}),
    ((E2M1, E2M1), (E8M0, E8M0), MX, (64, 80, 256), {}),
    ((E2M1, E2M1), (E8M0, E8M0), ((1, 16), (1, 16)), (20, 24, 96), {}),
    ((E5M2, E4M3), (E8M0, E8M0), MX, (16, 24, 160), {}),
    ((E5M2, E2M3), (E8M0, E8M0), MX, (40, 8, 128), {}),
    ((E4M3, E3M2), (F32, E8M0), ((ALL, ALL), (1, 64)), (9, 16, 200), {}),
    ((E2M3, E4M3), (E8M0, F32), ((1, 32), (128, 128)), (33, 140, 288), {}),
    ((E3M2, E2M1), (E8M0, E8M0), ((1, 128), (1, 32)), (17, 16, 256), {}),
    ((E4M3, E5M2), (E8M0, E8M0), ((128, 128), (1, 32)), (17, 24, 320), {}),
    ((E4M3, E4M3), (E8M0, E8M0), MX, (37, 40, 288), dict(dynamic="m")),
    ((E4M3, E2M1), (F32, E8M0), TOKEN, (5, 32, 160), dict(dynamic="mnk")),
    ((E4M3, E4M3), (E8M0, E8M0), MX, (20, 24, 160), dict(batches=(3, None))),
    ((E4M3, E2M1), (F32, E8M0), W4A8, (20, 24, 256), dict(batches=(2, 2))),
    ((E4M3, E2M1), (F32, E8M0), ((1, ALL), (1, 64)), (1, 37, 100), {}),
    ((E4M3, E2M3), (E8M0, E8M0), ((1, 64), (1, 64)), (6, 13, 66), dict(batches=(None, 3))),
]
NAMES = ["-".join([*case[0], *map(str, case[3]), *case[4]]) for case in PRODUCTS]


@pytest.mark.parametrize("number", range(len(PRODUCTS)), ids=NAMES)
def test_products(number, tmp_path):
    """Sums of the card's adder, to the bit, and within the bound of the licence."""
    types, kinds, blocks, sizes, special = PRODUCTS[number]
    data = draw(types, kinds, blocks, sizes, special.get("batches", (None, None)))
    flags = ["--device=sim", "--target=sm_90a", "--numerics=hardware", "--compare"]
    (got,), messages = run(product(types, kinds, blocks, sizes, **special), data, tmp_path, *flags, results=1)
    assert "by the licence to rebase" in messages and "products of fp8 elements" in messages
    operands, options = reference(types, kinds, blocks, data)
    blockscale.compare(got, *operands, **options, chunk=128, rebase=True)
    np.testing.assert_array_equal(got, expected(types, kinds, blocks, data))


def expected(types, kinds, blocks, data):
    """The product of rebased operands, by the adder of the card."""
    acc = data[4]
    if acc.ndim == 3:
        pick = lambda of, i: of if of.ndim == 2 else of[i % len(of)]
        return np.stack([expected(types, kinds, blocks, [pick(of, i) for of in data]) for i in range(len(acc))])
    k = data[0].shape[1]
    values, scales, formats = [], [], []
    for element, kind, block, codes, given in zip(types, kinds, blocks, data[::2], data[1::2]):
        format = blockscale.REBASED_TYPES[element][0]
        is_coarse = element == format and (block[1] == ALL or block[1] == 128)
        if kind == E8M0 and not is_coarse:
            codes, given = rebase(codes, given, element, block[1])
            block = (1, ALL)
        given = given.astype(np.float64) if given.dtype == np.float32 else decode(given, E8M0)
        rows = np.repeat(given, len(codes) if block[0] == ALL else block[0], 0)[: len(codes)]
        values.append(decode(codes, format))
        scales.append(rows)
        formats.append(format)
    pieces = -(-k // 128)
    if all(of.shape[1] == 1 for of in scales):
        # Factors of whole sums, whose products are powers of two times one of these: exact in f32.
        ones = np.ones((len(values[0]), pieces)), np.ones((pieces, len(values[1])))
        sums = multiply(values[0], ones[0], values[1].T, ones[1], formats, 128, 32).astype(np.float64)
        return acc + (sums * (scales[0] * scales[1].T)).astype(np.float32)
    x, y = (np.repeat(of, pieces // of.shape[1], 1) for of in scales)
    result = np.zeros_like(acc)
    for i in range(pieces):
        at = slice(128 * i, 128 * (i + 1))
        sums = multiply(values[0][:, at], np.ones((len(x), 1)), values[1][:, at].T, np.ones((1, len(y))), formats, 128, 32)
        factors = (x[:, i, None].astype(np.float32) * y[:, i].astype(np.float32)).astype(np.float64)
        result = (result + sums.astype(np.float64) * factors).astype(np.float32)
    return acc + result


def test_exact_sums(tmp_path):
    """Of fp4 beside fp4, with the widest spread that rebasing keeps: without the adder's cuts nothing is lost at all."""
    types, kinds, sizes = (E2M1, E2M1), (E8M0, E8M0), (40, 48, 256)
    rng = np.random.default_rng(5)
    x, w = (promoted.elements(E2M1, (rows, 256), rng) for rows in sizes[:2])
    xs, ws = (np.full((rows, 8), 127 - EXACT[E2M1], np.uint8) for rows in sizes[:2])
    # Sums of elements with one scale are exact; the block with the largest one has only zeros.
    xs[:, 0] = ws[:, 0] = 127
    x[:, :32] = w[:, :32] = 0
    data = [x, xs, w, ws, np.zeros(sizes[:2], np.float32)]
    (got,), _ = run(product(types, kinds, MX, sizes), data, tmp_path, "--device=sim", "--target=sm_90a", results=1)
    operands, options = reference(types, kinds, MX, data)
    np.testing.assert_array_equal(got, blockscale.mma_scaled(*operands, **options))


def test_specials(tmp_path):
    """NaN scales and elements, infinity, scales at the ends, and zeros with the sign of each."""
    types, kinds, sizes = (E5M2, E4M3), (E8M0, E8M0), (24, 32, 160)
    data = draw(types, kinds, MX, sizes)
    x, xs, w, ws, _ = data
    xs[5, 3], ws[6, 4] = 255, 255
    x[7, 100], x[8, 33], w[9, 3], x[10, :] = 0x7C, 0x7E, 0x7F, 0x80
    xs[11], ws[12], xs[13], xs[14] = 0, 0, 254, [0, 254, 127, 1, 253]
    # Zeros with the largest scale make all others of their row zeros; with the least, they change nothing.
    x[15, :32], xs[15, 0], xs[15, 1:], x[16, 32:64], xs[16, 1] = 0, 254, 127, 0, 0
    (got,), _ = run(product(types, kinds, MX, sizes), data, tmp_path, "--device=sim", "--target=sm_90a", results=1)
    operands, options = reference(types, kinds, MX, data)
    blockscale.compare(got, *operands, **options, chunk=128, rebase=True)
    wanted = blockscale.mma_scaled(*operands, **options)
    assert np.isnan(got[5]).all() and np.isnan(got[:, 6]).all() and np.isnan(got[8]).all() and np.isnan(got[:, 9]).all()
    np.testing.assert_array_equal(np.isinf(got[7]), np.isinf(wanted[7]))
    np.testing.assert_array_equal(got[10, 13:], data[4][10, 13:])
    finite = np.isfinite(wanted[15])
    np.testing.assert_array_equal(got[15, finite], data[4][15, finite])
    np.testing.assert_allclose(got[16, finite], wanted[16, finite], rtol=1e-3, atol=1e-3 * np.abs(wanted[16, finite]).max())


def test_ends_of_scales(tmp_path):
    """Scales of rows that are subnormal in f32, 2^-133, beside scales whose product with them is not."""
    types, kinds, sizes = (E2M1, E2M1), (E8M0, E8M0), (8, 16, 64)
    rng = np.random.default_rng(3)
    x, w = (promoted.elements(E2M1, (rows, 64), rng) for rows in sizes[:2])
    xs, ws = np.zeros((8, 2), np.uint8), np.full((16, 2), 254, np.uint8)
    xs[4:], ws[:8] = 254, 0
    data = [x, xs, w, ws, np.zeros(sizes[:2], np.float32)]
    (got,), _ = run(product(types, kinds, MX, sizes), data, tmp_path, "--device=sim", "--target=sm_90a", results=1)
    operands, options = reference(types, kinds, MX, data)
    wanted = blockscale.mma_scaled(*operands, **options)
    assert np.isinf(wanted[4:, 8:]).any() and np.isfinite(wanted[:4, 8:]).all() and (wanted[:4, :8] == 0).all()
    np.testing.assert_array_equal(got, wanted)


NOT_REBASED = [
    ("sm_90a", "chunk = 128", (E4M3, E4M3), (E8M0, E8M0), MX),
    ("sm_90a", "chunk = 64, rebase", (E4M3, E4M3), (E8M0, E8M0), MX),
    ("sm_90a", "chunk = 128, rebase", (E2M1, E2M1), (E4M3, E4M3), ((1, 16), (1, 16))),
    ("sm_90a", "chunk = 128, rebase", (E4M3, E2M1), (F32, E8M0), ((1, 64), (1, 32))),
    ("sm_90a", "chunk = 128, rebase", (E4M3, E4M3), (E8M0, F32), ((128, 32), (128, 128))),
    ("sm_80", "chunk = 128, rebase", (E4M3, E4M3), (E8M0, E8M0), MX),
    ("sm_120a", "chunk = 128, rebase", (E4M3, E4M3), (E8M0, E8M0), MX),
    ("sm_100a", "chunk = 128, rebase", (E4M3, E2M1), (F32, E8M0), TOKEN),
]


@pytest.mark.parametrize("target, licence, types, kinds, blocks", NOT_REBASED)
def test_what_is_not_rebased(target, licence, types, kinds, blocks, tmp_path):
    """It compiles to the same as without the licence to rebase."""
    made = []
    for given in (licence, licence.removesuffix(", rebase")):
        (tmp_path / "main.mlir").write_text(product(types, kinds, blocks, (64, 64, 256), licence=given))
        done = subprocess.run([RUN.with_name("blockscale-compile"), tmp_path / "main.mlir", f"--target={target}", "-o", "-"],
                              capture_output=True, text=True, check=True)
        assert "licence to rebase" not in done.stderr
        made.append(done.stdout)
    assert made[0] == made[1]


def test_flags_give_the_licence(tmp_path):
    types, kinds, sizes = (E4M3, E4M3), (E8M0, E8M0), (16, 24, 160)
    data = draw(types, kinds, MX, sizes)
    flags = ["--device=sim", "--target=sm_90a", "--numerics=hardware"]
    given, _ = run(product(types, kinds, MX, sizes), data, tmp_path, *flags, results=1)
    text = product(types, kinds, MX, sizes, licence="")
    by_flag, messages = run(text, data, tmp_path, *flags, "--accumulate=128", "--rebase", results=1)
    assert "the scales of x and y become one for each row of x and each column of y" in messages
    np.testing.assert_array_equal(given, by_flag)


@pytest.mark.parametrize("order", ("nk", "kn"))
def test_where_y_lies(order, tmp_path):
    """Weights of N x K are read in place: there are three kernels, and no other. Of K x N they are transposed."""
    types, kinds, sizes = (E4M3, E4M3), (E8M0, E8M0), (16, 32, 160)
    data = draw(types, kinds, MX, sizes)
    if order == "kn":
        data[2:4] = [np.ascontiguousarray(each.T) for each in data[2:4]]
    text = product(types, kinds, MX, sizes, order=order)
    (got,), _ = run(text, data, tmp_path, "--device=sim", "--target=sm_90a", results=1)
    if order == "kn":
        data[2:4] = [each.T for each in data[2:4]]
    operands, options = reference(types, kinds, MX, data)
    blockscale.compare(got, *operands, **options, chunk=128, rebase=True)
    info = tmp_path / "info.json"
    subprocess.run([RUN.with_name("blockscale-compile"), tmp_path / "main.mlir", "--target=sm_90a", "-o", os.devnull,
                    f"--launch-info={info}"], check=True, capture_output=True)
    names = [line for line in info.read_text().split('"') if line.startswith("main")]
    assert [("transpose" in name) for name in names].count(True) == (order == "kn"), names
    assert [("rebase" in name) for name in names].count(True) == 2 and len(names) == 3 + (order == "kn"), names
