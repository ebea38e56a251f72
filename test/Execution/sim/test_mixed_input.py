"""Mixed-input wgmma on sm_90a: y is dequantized in registers."""

import json
import subprocess

import blockscale
import mixed_input_cases
import numpy as np
import pytest
import tiers
from harness import RUN
from simulated import ROW, check

CHECKS = ["--check=race,proxy,strict"]
# y as N x K, or as B x N x K; its scales in rows along K or along N, or in the 32x4x4 layout.
PRODUCT = """
func.func @main(%x: {xt}, %xs: {xst}, %y: {yt}, %ys: {yst_in}{acc_in}) -> {d} {{
  {acc}
  %ye = tensor.empty() : {ykt}
  %yk = linalg.transpose ins(%y : {yt}) outs(%ye : {ykt}) permutation = {order}
  {scales}
  %d = blockscale.mma_scaled %x, %xs, %yk, %sk, %acc : {xt}, {xst}, {ykt}, {skt}, {d}
  {after}
}}
"""
ALONG_K = """%se = tensor.empty() : {skt}
  %sk = linalg.transpose ins(%ys : {yst}) outs(%se : {skt}) permutation = {order}"""
ALONG_N = """%zero = arith.constant 0 : index
  %sk = tensor.cast %ys : {skt} to {skt}"""
ATOMS = """%rows = blockscale.unswizzle_scales %ys : {yst_in} to {yst}
  %se = tensor.empty() : {skt}
  %sk = linalg.transpose ins(%rows : {yst}) outs(%se : {skt}) permutation = {order}"""
RELU = """%zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {d}
  %relu = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                          iterator_types = ["parallel", "parallel"]}} ins(%d : {d}) outs(%e : {d}) {{
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  }} -> {d}
  return %relu : {d}"""
E8M0, UE4M3 = ("f8E8M0FNU", 32), ("f8E4M3FN", 16)


def finite_codes(element, rng, shape):
    codes = np.arange(1 << {"f8": 8, "f6": 6, "f4": 4}[element[:2]], dtype=np.uint8)
    return rng.choice(codes[np.isfinite(blockscale.decode(codes, element))], shape)


def tensor(element, *sizes):
    return f"tensor<{'x'.join(map(str, sizes))}x{element}>"


class Product:
    """x of M x K times y, stored as N x K; with `batch`, so many of them."""

    def __init__(self, m, n, k, x_type, y_type, scales=E8M0, near=3, batch=None, layout=ALONG_K, has_acc=False):
        scale, block = scales
        lead, blocks = (batch,) if batch else (), k // block
        rng = np.random.default_rng(m * n + k)
        self.types = dict(x_type=x_type, y_type=y_type, scale_type=scale)
        self.layout = layout
        self.x, self.y = finite_codes(x_type, rng, (*lead, m, k)), finite_codes(y_type, rng, (*lead, n, k))
        low, high = (127 - near, 127 + near) if scale == "f8E8M0FNU" else (0x30, 0x48)
        self.xs = rng.integers(low, high, (*lead, m, blocks), dtype=np.uint8, endpoint=True)
        self.ys = rng.integers(low, high, (*lead, n, blocks), dtype=np.uint8, endpoint=True)
        self.acc = rng.standard_normal((*lead, m, n)).astype(np.float32) if has_acc else None
        d = tensor("f32", *lead, m, n)
        atoms = (-(-n // 128), -(-blocks // 4), 32, 16)
        types = dict(
            xt=tensor(x_type, *lead, m, k), xst=tensor(scale, *lead, m, blocks), yt=tensor(y_type, *lead, n, k),
            yst=tensor(scale, *lead, n, blocks), ykt=tensor(y_type, *lead, k, n), skt=tensor(scale, *lead, blocks, n),
            d=d, order="[0, 2, 1]" if batch else "[1, 0]",
        )
        types["yst_in"] = {ALONG_K: types["yst"], ALONG_N: types["skt"], ATOMS: tensor(scale, *atoms)}[layout]
        types["acc_in"] = f", %acc: {d}" if has_acc else ""
        types["acc"] = "" if has_acc else f"%acc = arith.constant dense<0.0> : {d}"
        types["after"] = RELU.format(**types) if has_acc else f"return %d : {d}"
        self.text = PRODUCT.format(scales=layout.format(**types), **types)

    def simulate(self, folder, schedule=None, flags=()):
        """The result is right; the statistics of all kernels, by name."""
        (folder / "p.mlir").write_text(self.text)
        swap = self.ys.swapaxes(-1, -2)
        scales = {ALONG_K: lambda: self.ys, ALONG_N: lambda: np.ascontiguousarray(swap),
                  ATOMS: lambda: blockscale.swizzle_scales(self.ys)}[self.layout]()
        inputs = [self.x, self.xs, self.y, scales, *([] if self.acc is None else [self.acc])]
        for i, array in enumerate(inputs):
            np.save(folder / f"{i}.npy", array)
        done = subprocess.run(
            [RUN, "p.mlir", "--device=sim", "--target=sm_90a", "--stats", *CHECKS,
             *([f"--schedule={schedule}"] if schedule else []), *flags,
             *(f"{i}.npy" for i in range(len(inputs))), "-o", "d.npy"],
            cwd=folder, capture_output=True, text=True, check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr, done.stderr
        statistics = json.loads(done.stderr[done.stderr.index("{\n"):])
        self.check(np.load(folder / "d.npy"))
        return {kernel["name"]: kernel for kernel in statistics["kernels"]}

    def run(self, folder, schedule=None, flags=()):
        """Whether the exact recomputation, a kernel of its own, ran because bf16 is inexact."""
        kernels = self.simulate(folder, schedule, flags)
        assert sum("__dequantize_operand" in name for name in kernels) == 1
        [exact] = [kernel for name, kernel in kernels.items() if "__exact_recomputation" in name]
        return exact["multiply_adds"] != 0

    def run_row(self, folder, schedule=None, flags=(), kernels=1):
        """The same for one row of x, where blocks do that themselves: they read y and x once more then."""
        found = self.simulate(folder, schedule, flags)
        assert len(found) == kernels and not any("__dequantize_operand" in name or "__exact_recomputation" in name for name in found)
        first = next(iter(found.values()))
        assert list(first["matrix"]) == ["wgmma.m64n8k32.f32.e4m3.e5m2"]
        loaded = first["global_memory"]["bytes"] - first["bytes"]["tensor_map_loads"]
        return loaded > 0.65 * self.y.size

    def check(self, result):
        for number in np.ndindex(self.x.shape[:-2]):
            acc = np.zeros(result[number].shape, np.float32) if self.acc is None else self.acc[number]
            operands = self.x[number], self.xs[number], self.y[number].T, self.ys[number].T, acc
            if self.acc is None:
                blockscale.compare(result[number], *operands, **self.types)
                continue
            # What is cut off says nothing of how far it was below 0.
            whole = blockscale.mma_scaled(*operands, **self.types)
            assert ((result[number] == 0) == (whole <= 0)).mean() > 0.99
            blockscale.compare(np.where(result[number] == 0, whole, result[number]), *operands, **self.types)


def schedule_text(m, n, k, stages=2, split_k=1):
    text = f"tile={m}x{n}x{k},stages={stages},accumulators=1,persistent=0,swap_ab=1"
    text += f",split_k={split_k}" if split_k != 1 else ""
    return text + (",kernel=gemv" if n == 1 else ",kernel=mixed_input")


# x, y, scales; sizes of the product; the tile.
FORMATS = [
    ("f8E4M3FN", "f8E4M3FN", E8M0), ("f4E2M1FN", "f4E2M1FN", E8M0), ("f4E2M1FN", "f4E2M1FN", UE4M3),
    ("f8E4M3FN", "f4E2M1FN", E8M0), ("f6E3M2FN", "f8E5M2", E8M0), ("f8E5M2", "f6E2M3FN", E8M0),
    ("f4E2M1FN", "f6E3M2FN", E8M0),
]


@pytest.mark.parametrize("types", FORMATS, ids=lambda types: f"{types[0]}-{types[1]}-{types[2][0]}")
def test_formats(types, tmp_path):
    box = 128 if types[1].startswith("f4") else 64
    product = Product(16, 128, 16 * box, *types)
    assert not product.run(tmp_path, schedule_text(64, 16, 8 * box))


def parts(case):
    """x, y, the way to scale, the width of the tile and parts of K."""
    row, more = ROW.fullmatch(case.name.split("-mixed-")[0]), case.name.split("-mixed-")[1]
    return list(enumerate((*row.groups(), *more.split("-"))))


def width(case):
    return parts(case)[3:4]


# Those of fp4 are the only ones with each width of the tile.
CASES = sorted(mixed_input_cases.all_mixed_input(), key=lambda case: "f4E2M1FN-f4E2M1FN-f8E4M3" not in case.name)


@pytest.mark.parametrize("case", tiers.pairs(CASES, parts, width), ids=lambda case: case.name)
def test_cases(case, tmp_path):
    """Those that run on a card, too."""
    check(case, tmp_path, ["--target=sm_90a"])


SIZES = {
    # M, N, K, the tile, stages, split_k.
    "one row": (1, 64, 1024, (64, 8, 512), 2, 1),
    "rows of tiles": (13, 200, 1024, (64, 16, 512), 2, 1),
    "tiles of rows": (100, 70, 512, (64, 48, 512), 1, 1),
    "part of the last step": (16, 64, 640, (64, 16, 512), 2, 1),
    "fewer steps than stages": (16, 64, 512, (64, 16, 512), 4, 1),
    "two groups of rows": (16, 128, 512, (128, 16, 256), 2, 1),
    "four groups of rows": (16, 256, 256, (256, 16, 128), 2, 1),
    "wide": (200, 64, 512, (64, 200, 128), 2, 1),
    "wide, one part": (256, 128, 256, (128, 256, 64), 3, 1),
    "tiles of both": (300, 200, 256, (128, 256, 128), 2, 1),
    "tiles of both, split-K": (300, 136, 512, (64, 128, 256), 2, 1),
    "split_k": (16, 64, 2048, (64, 16, 256), 2, 3),
    "box of one": (16, 64, 512, (64, 16, 256), 2, 1),
}


@pytest.mark.parametrize("size", SIZES)
def test_sizes(size, tmp_path):
    m, n, k, tile, stages, split_k = SIZES[size]
    product = Product(m, n, k, "f8E4M3FN", "f8E4M3FN")
    assert not product.run(tmp_path, schedule_text(*tile, stages, split_k))


@pytest.mark.parametrize("scales", [E8M0, UE4M3], ids=["e8m0", "ue4m3"])
@pytest.mark.parametrize("layout", [ALONG_N, ATOMS], ids=["along-n", "atoms"])
def test_scale_layouts(layout, scales, tmp_path):
    product = Product(16, 128, 1024, "f4E2M1FN", "f4E2M1FN", scales, layout=layout)
    assert not product.run(tmp_path, schedule_text(64, 16, 1024))
    product = Product(16, 72, 512, "f4E2M1FN", "f4E2M1FN", scales, layout=layout)
    assert not product.run(tmp_path, schedule_text(64, 16, 512))


def test_batch(tmp_path):
    product = Product(8, 72, 512, "f8E4M3FN", "f4E2M1FN", batch=3)
    assert not product.run(tmp_path, schedule_text(64, 8, 512))


@pytest.mark.parametrize("split_k", [1, 2])
def test_surroundings(split_k, tmp_path):
    """What it starts from is added, and what is made of the result is stored."""
    product = Product(16, 64, 1024, "f8E4M3FN", "f8E4M3FN", has_acc=True)
    assert not product.run(tmp_path, schedule_text(64, 16, 512, 1, split_k))


def test_chosen(tmp_path):
    product = Product(5, 1024, 512, "f4E2M1FN", "f4E2M1FN")
    assert not product.run(tmp_path)


# Scale codes of y and of x with which values are exact in bf16: the lowest and the highest.
WINDOWS = {
    "f8E4M3FN": ((35, 159), (0, 221)), "f8E5M2": ((34, 159), (0, 222)), "f6E3M2FN": ((34, 159), (0, 221)),
    "f6E2M3FN": ((35, 159), (0, 221)), "f4E2M1FN": ((33, 159), (0, 221)),
}


@pytest.mark.parametrize("element", WINDOWS)
def test_window(element, tmp_path):
    """Scales up to both ends are dequantized; beyond that the product is recomputed exactly."""
    (lowest, highest), (x_lowest, x_highest) = WINDOWS[element]
    box = 128 if element.startswith("f4") else 64

    def is_anew(code, is_of_x=False, zeros=()):
        product = Product(8, 64, 4 * box, element, element, near=0)
        scales, others = (product.xs, product.ys) if is_of_x else (product.ys, product.xs)
        # Products are such as f32 holds.
        others[...] = np.clip(254 - code, 40, 159)
        scales[5, 3] = code
        product.y[5, 96:128][list(zeros)] = 0
        return product.run(tmp_path, schedule_text(64, 8, 4 * box))

    assert not is_anew(lowest) and not is_anew(highest)
    assert is_anew(lowest - 1) and is_anew(highest + 1) and is_anew(255)
    # A block of zeros is none of those that are too small.
    assert not is_anew(0, zeros=range(32)) and is_anew(0, zeros=range(31)) and is_anew(0, zeros=range(1, 32))
    assert is_anew(255, zeros=range(32))
    assert not is_anew(x_lowest, is_of_x=True) and not is_anew(x_highest, is_of_x=True)
    assert is_anew(x_highest + 1, is_of_x=True)


def test_special_codes(tmp_path):
    for element, codes in (("f8E4M3FN", (0x7F, 0xFF)), ("f8E5M2", (0x7C, 0xFD))):
        for code in codes:
            product = Product(8, 64, 256, "f4E2M1FN", element)
            product.y[61, 255] = code
            assert product.run(tmp_path, schedule_text(64, 8, 256))


def test_special_scales(tmp_path):
    """All scales of ue4m3 but NaN are dequantized, without their sign; so are those of x."""
    product = Product(8, 64, 512, "f4E2M1FN", "f4E2M1FN", UE4M3)
    finite = np.arange(127, dtype=np.uint8)
    product.ys[...] = np.resize(finite, product.ys.shape)
    product.xs[...] = np.resize(finite[::-1], product.xs.shape)
    product.ys[2, 1] |= 0x80
    assert not product.run(tmp_path, schedule_text(64, 8, 512))
    product.ys[63, 31] = 0x7F
    assert product.run(tmp_path, schedule_text(64, 8, 512))
    product.ys[63, 31], product.xs[7, 30] = 0xFE, 0xFF
    assert product.run(tmp_path, schedule_text(64, 8, 512))


ROW_SCALES = [E8M0, UE4M3]
ROW_SIZES = {
    # N, K, the tile, stages, split_k.
    "two tiles": (128, 1024, (64, 512), 2, 1),
    "a group of two boxes": (64, 2048, (64, 1024), 2, 1),
    "two groups": (64, 4096, (64, 2048), 1, 1),
    "part of the last step": (64, 1280, (64, 512), 2, 1),
    "part of the last step, two boxes": (64, 1280, (64, 1024), 1, 1),
    "tiles of rows": (100, 1024, (64, 512), 2, 1),
    "two groups of rows": (200, 1024, (128, 512), 2, 1),
    "four groups of rows": (200, 512, (256, 256), 2, 1),
    "split_k": (70, 3584, (64, 512), 2, 3),
    "many words": (64, 16384, (64, 2048), 1, 1),
}


@pytest.mark.parametrize("scales", ROW_SCALES, ids=["e8m0", "ue4m3"])
@pytest.mark.parametrize("size", ROW_SIZES)
def test_row_sizes(size, scales, tmp_path):
    n, k, (rows, tile_k), stages, split_k = ROW_SIZES[size]
    product = Product(1, n, k, "f4E2M1FN", "f4E2M1FN", scales)
    assert not product.run_row(tmp_path, schedule_text(rows, 1, tile_k, stages, split_k), kernels=2 - (split_k == 1))


@pytest.mark.parametrize("scales", ROW_SCALES, ids=["e8m0", "ue4m3"])
@pytest.mark.parametrize("layout", [ALONG_N, ATOMS], ids=["along-n", "atoms"])
def test_row_scale_layouts(layout, scales, tmp_path):
    product = Product(1, 72, 1024, "f4E2M1FN", "f4E2M1FN", scales, layout=layout)
    assert not product.run_row(tmp_path, schedule_text(64, 1, 1024, 1))


def test_row_batch(tmp_path):
    product = Product(1, 72, 1024, "f4E2M1FN", "f4E2M1FN", UE4M3, batch=3)
    assert not product.run_row(tmp_path, schedule_text(64, 1, 512))


def test_row_surroundings(tmp_path):
    product = Product(1, 72, 1024, "f4E2M1FN", "f4E2M1FN", has_acc=True)
    assert not product.run_row(tmp_path, schedule_text(64, 1, 512))


def test_row_chosen(tmp_path):
    product = Product(1, 1024, 8192, "f4E2M1FN", "f4E2M1FN", UE4M3)
    assert not product.run_row(tmp_path, kernels=2)  # K is divided, as there are few tiles.


@pytest.mark.parametrize("scales", ROW_SCALES, ids=["e8m0", "ue4m3"])
def test_row_of_quantized(scales, tmp_path):
    """Each code of x with each one of y, alone in its block: sums of one product."""
    product = Product(1, 64, 4096, "f4E2M1FN", "f4E2M1FN", scales, near=0)
    block = scales[1]
    product.x[...], product.y[...] = 0, 0
    for i in range(4096 // block):
        product.x[0, i * block + i % block] = i % 16
    for row in range(64):
        # Of all blocks but those of one code of x, zeros.
        for i in range(row % 16, 4096 // block, 16):
            product.y[row, i * block + i % block] = row // 16 * 4 + i // 16 % 4
    assert not product.run_row(tmp_path, schedule_text(64, 1, 1024))


# The sums of both scale codes for which f32 can hold the factors.
ROW_WINDOW = (129, 382)


def test_row_window(tmp_path):
    def is_anew(code, other, is_zero=False, row=5):
        product = Product(1, 64, 1024, "f4E2M1FN", "f4E2M1FN", near=0)
        # One product, of a half and a half.
        product.x[...], product.y[...] = 0, 0
        product.x[0, 100], product.y[row, 100] = 1, 0 if is_zero else 9
        product.xs[0, 3], product.ys[row, 3] = other, code
        return product.run_row(tmp_path, schedule_text(64, 1, 1024, 1))

    lowest, highest = ROW_WINDOW
    for other in (60, 127):
        assert not is_anew(lowest - other, other) and is_anew(lowest - other - 1, other)
    for other in (128, 254):
        assert not is_anew(highest - other, other) and is_anew(highest - other + 1, other)
    # A block of zeros is out of no range; a NaN counts there too, in scales of either.
    assert not is_anew(0, 0, is_zero=True) and not is_anew(254, 254, is_zero=True)
    assert is_anew(255, 127, is_zero=True) and is_anew(127, 255, is_zero=True)
    # Sums out of the range of f32 become infinity or zero.
    assert is_anew(254, 254) and is_anew(0, 1, row=63)


def test_row_anew(tmp_path):
    """Parts of K, uneven, of which some are computed anew; rows beyond the last one; a batch."""
    product = Product(1, 70, 3584, "f4E2M1FN", "f4E2M1FN", near=9)
    product.xs[0, 40:50], product.ys[3:67, 40:50] = 250, 4
    product.xs[0, 51:60], product.ys[3:67, 51:60] = 3, 60
    assert product.run_row(tmp_path, schedule_text(64, 1, 512, 2, 3), kernels=2)
    product = Product(1, 200, 1280, "f4E2M1FN", "f4E2M1FN", UE4M3, batch=2)
    product.ys[1, [3, 130], 79] = 0x7F
    for rows in (128, 256):
        assert product.run_row(tmp_path, schedule_text(rows, 1, 65536 // rows))


def test_row_special_scales(tmp_path):
    """All scales of ue4m3, without their sign."""
    product = Product(1, 64, 2048, "f4E2M1FN", "f4E2M1FN", UE4M3)
    finite = np.arange(127, dtype=np.uint8)
    product.ys[...] = np.resize(finite, product.ys.shape)
    product.xs[...] = np.resize(finite[::-1], product.xs.shape) | 0x80
    assert not product.run_row(tmp_path, schedule_text(64, 1, 1024))
    for scales, index in ((product.ys, (63, 127)), (product.xs, (0, 126))):
        before = scales[index]
        scales[index] = 0xFF
        assert product.run_row(tmp_path, schedule_text(64, 1, 1024))
        scales[index] = before
