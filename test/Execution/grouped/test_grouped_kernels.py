"""Grouped products as kernels, in the simulator: the cases of test_grouped.py and more, against numpy."""

import json

import blockscale
import devices
import numpy as np
import pytest
import tiers
from blockscale import bfloat16
from test_grouped import MXFP8, NVFP4, OPTIONS, SIZES, make, program, reference

TARGETS = devices.CHIPS


def run(folder, case, target, dynamic="", text=None, fails=False, flags=()):
    """The result in the simulator, or what it says."""
    arrays = [*case.operands.values(), *case.options.values()]
    said = devices.run(folder, text or program(case, dynamic), arrays, target, fails=fails, flags=flags)
    return said if fails else said[0]


def make_exact(types, *args, **options):
    """A case whose partial sums are all exact in f32, so that any order gives the same bits."""
    case = make(types, *args, **options)
    rng = np.random.default_rng(len(case.operands["offsets"]))
    for name, element in zip("xy", types):
        codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
        size = np.abs(blockscale.decode(codes, element))
        few = codes[(size == 0) | ((size >= 2.0**-2) & (size <= 4))]
        case.operands[name][...] = rng.choice(few, case.operands[name].shape)
        scales = [126, 127, 128] if types[2] == "f8E8M0FNU" else [0x30, 0x38, 0x40]
        case.operands[f"{name}_scale"][...] = rng.choice(scales, case.operands[f"{name}_scale"].shape)
    return case


def same(result, expected):
    np.testing.assert_array_equal(result.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("name, dynamic, number, target", tiers.product(
    SIZES, ["", "TR", "RTGKN"], range(len(OPTIONS)), TARGETS))
def test_sizes(name, dynamic, number, target, tmp_path):
    """Each kind of group sizes, with each option."""
    case = make_exact((MXFP8, NVFP4)[number % 2], *SIZES[name], n=10, options=OPTIONS[number])
    # GPU targets have no tensors that are known to be empty.
    dynamic = dynamic or ("TR" if name == "no rows" else "")
    same(run(tmp_path, case, target, dynamic), reference(case))


@pytest.mark.parametrize("types, target", tiers.product(blockscale.LEGAL_TYPE_COMBINATIONS, TARGETS))
def test_every_combination(types, target, tmp_path):
    case = make_exact(types, [3, 0, 40], 1, n=72, k=192, options=("rows", "bias"))
    same(run(tmp_path, case, target), reference(case))


@pytest.mark.parametrize("groups", [1, 5, 31, 32, 33, 36, 60, 65])
def test_many_groups(groups, tmp_path):
    """More groups than a warp has lanes, and no multiples of that."""
    rng = np.random.default_rng(groups)
    for target, dynamic in (("sm_80", ""), ("sm_120a", "TRG")):
        case = make_exact(NVFP4, list(rng.multinomial(200, rng.dirichlet(np.ones(groups)))), 3, n=6, options=("bias",))
        same(run(tmp_path, case, target, dynamic), reference(case))


@pytest.mark.parametrize("sizes, target", tiers.product([(3, 0, 9), (40, 1, 21), (130, 2)], ["sm_80", "sm_120a"]))
def test_tiles_of_few_rows(sizes, target, tmp_path):
    """Tiles of 16, 32 and 64 rows, which the average of groups chooses: at compile time, and at the launch."""
    for types, dynamic in ((MXFP8, ""), (NVFP4, "TR")):
        case = make_exact(types, list(sizes), 2, n=136, k=160, options=("rows", "bias"))
        same(run(tmp_path, case, target, dynamic), reference(case))


def test_scales_behind_a_tile_of_16_rows(tmp_path):
    """Scales are loaded for 32 rows, whose numbers are in shared memory."""
    case = make_exact(MXFP8, [3, 0, 20], 2, n=72, k=160, options=("rows",))
    for target in ("sm_80", "sm_120a"):
        same(run(tmp_path, case, target, flags=["--schedule=tile=16x64x128,warps=1x1,stages=2"]), reference(case))


def test_foreign_nan(tmp_path):
    """NaN in the rows and the matrix of one group, in rows of nobody and in rows of x that nobody reads."""
    for target in TARGETS:
        plain = make_exact(MXFP8, [3, 2, 4], 3, n=10)
        expected = run(tmp_path, plain, target)
        for name in ("x", "x_scale"):
            plain.operands[name][3:5] = 0xFF
            plain.operands[name][9:] = 0xFF
        plain.operands["y"][1], plain.operands["y_scale"][1] = 0x7F, 0xFF
        result = run(tmp_path, plain, target)
        assert np.isnan(result[3:5]).all()
        same(np.delete(result, [3, 4], 0), np.delete(expected, [3, 4], 0))


def test_other_rows_of_x(tmp_path):
    """Fewer and more rows of x than of the result, and none."""
    for limit in (1, 40):
        case = make_exact(MXFP8, [3, 4], 2, n=10, options=("rows",), limit=limit)
        same(run(tmp_path, case, "sm_90a", "RT"), reference(case))
    case = make_exact(MXFP8, [3, 4], 2, n=10, options=("rows",))
    for name in ("x", "x_scale"):
        case.operands[name] = case.operands[name][:0]
    case.options["rows"][:] = -1
    same(run(tmp_path, case, "sm_90a", "RT"), case.operands["acc"])


@pytest.mark.parametrize("offsets,rows,message", [
    ([3, 2, 5], None, "offsets to ascend from 0 to at most T"), ([-1, 2, 5], None, "offsets to ascend"),
    ([3, 4, 6], None, "offsets to ascend"), ([3, 4, 5], [0, 1, 5, 2, 0], "rows from -1 to R - 1"),
    ([3, 4, 5], [0, 1, -2, 2, 0], "rows from -1 to R - 1"),
])
@pytest.mark.parametrize("dynamic", ["", "TR"])
def test_wrong_offsets_and_rows(offsets, rows, message, dynamic, tmp_path):
    """An error, of a kernel in front of the product."""
    case = make_exact(MXFP8, [2, 2, 1], 0, options=("rows",) if rows else ())
    case.operands["offsets"][:] = offsets
    if rows:
        case.options["rows"][:] = rows
    assert f"expected {message}" in run(tmp_path, case, "sm_90a", dynamic, fails=True)


# grouped_matmul, with y as it is, transposed, or dequantized


WEIGHTS = {
    "plain": None, "transposed": None, "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32), "mxfp6": ("f6E2M3FN", "f8E8M0FNU", 32),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32), "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16),
}


def draw(rng, element, shape):
    codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
    size = np.abs(blockscale.decode(codes, element))
    return rng.choice(codes[(size == 0) | ((size >= 2.0**-2) & (size <= 4))], shape)


class Matmul:
    """x of bf16 or f16 and y from weights of G x N x K; all partial sums are exact."""

    def __init__(self, weights, sizes, rest, n, k, dtype="bf16", options=(), tensor_scale=None):
        rng = np.random.default_rng(n * k)
        groups, count = len(sizes), sum(sizes) + rest
        self.dtype, self.weights, self.g = dtype, weights, tensor_scale
        x = rng.integers(-4, 5, (count, k)).astype(np.float32)
        self.acc = rng.integers(-8, 8, (count, n)).astype(np.float32)
        self.offsets = np.cumsum(sizes).astype(np.int32)
        self.chosen = {}
        if "rows" in options:
            self.chosen["rows"] = rng.integers(-1, count, count, np.int32)
        if "group_scale" in options:
            self.chosen["group_scale"] = rng.choice(np.float32([0.5, 3, -1, 0.1]), groups)
        if "bias" in options:
            self.chosen["bias"] = rng.standard_normal((groups, n)).astype(np.float32)
        self.x = x
        format = WEIGHTS[weights]
        if format:
            element, scale, block = format
            self.codes = draw(rng, element, (groups, n, k))
            self.scales = rng.choice(
                np.uint8([126, 127, 128] if scale == "f8E8M0FNU" else [0x30, 0x38, 0x40]), (groups, n, k // block))
            self.dequantize()
        else:
            self.y = rng.integers(-4, 5, (groups, n, k)).astype(np.float32)

    def dequantize(self):
        """y of codes and scales."""
        groups, n, k = self.codes.shape
        flat = blockscale.dequantize(self.codes.reshape(-1, k), self.scales.reshape(groups * n, -1), *WEIGHTS[self.weights])
        values = flat.reshape(groups, n, k) * np.float32(self.g or 1)
        rounded = bfloat16.widen(bfloat16.round_f32(values)) if self.dtype == "bf16" else values.astype(np.float16)
        self.y = np.asarray(rounded, np.float32)

    def reference(self):
        result = self.acc.copy()
        rows = self.chosen.get("rows", np.arange(len(self.acc)))
        starts = [0, *self.offsets[:-1]]
        for g, (start, end) in enumerate(zip(starts, self.offsets)):
            for i in range(start, end):
                if rows[i] < 0:
                    continue
                total = self.y[g].astype(np.float64) @ self.x[rows[i]].astype(np.float64)
                if "group_scale" in self.chosen:
                    value = self.acc[i] + np.float32(total) * self.chosen["group_scale"][g]
                else:
                    value = (self.acc[i] + total).astype(np.float32)
                result[i] = value + self.chosen["bias"][g] if "bias" in self.chosen else value
        return result

    def to_type(self, array):
        return bfloat16.round_f32(array).view(np.uint16) if self.dtype == "bf16" else array.astype(np.float16)

    def text(self, dynamic):
        t, (groups, n, k) = "?" if dynamic else len(self.acc), self.y.shape
        dtype, format = self.dtype, WEIGHTS[self.weights]
        nk, kn = f"tensor<{groups}x{n}x{k}x{dtype}>", f"tensor<{groups}x{k}x{n}x{dtype}>"
        types = {"x": f"tensor<{t}x{k}x{dtype}>"}
        body = []
        if format:
            element, scale, block = format
            types["c"], types["s"] = (f"tensor<{groups}x{n}x{k}x{element}>", f"tensor<{groups}x{n}x{k // block}x{scale}>")
            factor = (" tensor_scale(%g)", ", f32") if self.g else ("", "")
            body += [f"%g = arith.constant {self.g} : f32"] if self.g else []
            body.append(f"%w = blockscale.dequantize %c, %s{factor[0]} : {types['c']}, {types['s']}{factor[1]} to {nk}")
        elif self.weights == "transposed":
            types["w"] = nk
        else:
            types["y"] = kn
        if "y" not in types:
            body += [f"%e = tensor.empty() : {kn}",
                     f"%y = linalg.transpose ins(%w : {nk}) outs(%e : {kn}) permutation = [0, 2, 1]"]
        types.update(o=f"tensor<{groups}xi32>", acc=f"tensor<{t}x{n}xf32>")
        optional = {"rows": f"tensor<{t}xi32>", "group_scale": f"tensor<{groups}xf32>",
                    "bias": f"tensor<{groups}x{n}xf32>"}
        types.update({name: type for name, type in optional.items() if name in self.chosen})
        clauses = " ".join(f"{name}(%{name} : {optional[name]})" for name in optional if name in self.chosen)
        body += [f"%d = blockscale.grouped_matmul %x, %y, %o, %acc {clauses} : {types['x']}, {kn}, {types['o']},"
                 f" {types['acc']}", f"return %d : {types['acc']}"]
        arguments = ", ".join(f"%{name}: {type}" for name, type in types.items())
        return f"func.func @main({arguments}) -> {types['acc']} {{\n  " + "\n  ".join(body) + "\n}\n"

    def arrays(self):
        """The arguments of `text`."""
        ys = [self.codes, self.scales] if WEIGHTS[self.weights] else [
            self.to_type(self.y if self.weights == "transposed" else np.ascontiguousarray(self.y.swapaxes(1, 2)))]
        return [self.to_type(self.x), *ys, self.offsets, self.acc, *self.chosen.values()]

    def run(self, folder, target, dynamic=False, flags=()):
        [result] = devices.run(folder, self.text(dynamic), self.arrays(), target, flags=flags)
        return result


@pytest.mark.parametrize("weights, dtype, number, target, dynamic", tiers.product(
    WEIGHTS, ["bf16", "f16"], range(len(OPTIONS)), TARGETS, [False, True]))
def test_matmul(weights, dtype, number, target, dynamic, tmp_path):
    product = Matmul(weights, [3, 0, 70, 1], 2, 72, 192, dtype, OPTIONS[number])
    same(product.run(tmp_path, target, dynamic), product.reference())


@pytest.mark.parametrize("weights, dtype", [("mxfp4", "bf16"), ("nvfp4", "bf16"), ("mxfp8", "f16")])
def test_tensor_scale(weights, dtype, tmp_path):
    """Of all groups: elements are rounded once."""
    product = Matmul(weights, [3, 0, 20], 0, 40, 128, dtype, tensor_scale=0.75)
    same(product.run(tmp_path, "sm_90a", True), product.reference())


@pytest.mark.parametrize("weights", ["mxfp4", "nvfp4", "mxfp8"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_recomputed(weights, dynamic, tmp_path):
    """Weights that bf16 does not hold with a folded scale, in one group: all is computed anew."""
    product = Matmul(weights, [3, 0, 20, 2], 2, 72, 128, "bf16", ("rows", "bias"))
    format = WEIGHTS[weights]
    product.scales[2, 5, 1] = 0x7F if format[1] == "f8E4M3FN" else 0xFF
    result = product.run(tmp_path, "sm_90a", dynamic)
    expected = product.reference()
    expected[3:23, 5] = np.nan
    rows = product.chosen["rows"][3:23] < 0
    expected[3:23][rows] = product.acc[3:23][rows]
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dynamic", [False, True])
def test_same_bits(dynamic, tmp_path):
    """Rows of a group have the same bits whatever the other groups have, also if some are computed anew."""
    whole = Matmul("mxfp4", [5, 9, 40], 3, 72, 256)
    rng = np.random.default_rng(1)
    whole.x[...] = rng.standard_normal(whole.x.shape).astype(np.float32)
    first = whole.run(tmp_path, "sm_90a", dynamic)
    same(whole.run(tmp_path, "sm_90a", dynamic), first)
    for others in (np.nan, np.inf, 1e9):
        whole.x[:5], whole.x[14:] = others, 0
        same(whole.run(tmp_path, "sm_90a", dynamic)[5:14], first[5:14])
    whole.scales[0, 3, 2] = whole.scales[2] = 0xFF
    result = whole.run(tmp_path, "sm_90a", dynamic)
    same(result[5:14], first[5:14])
    assert np.isnan(result[:5, 3]).all() and np.isnan(result[14:54]).all()


def test_tile_of_the_launch(tmp_path):
    """With dynamic sizes, one kernel multiplies, that for the average number of rows of a group."""
    kernels = []
    for sizes in ([1, 3], [4, 4], [5, 4], [20, 0], [21, 11], [21, 12], [80, 0], [81, 0]):
        product = Matmul("mxfp4", sizes, 0, 72, 256)
        same(product.run(tmp_path, "sm_90a", True, [f"--stats={tmp_path / 'stats.json'}"]), product.reference())
        statistics = json.loads((tmp_path / "stats.json").read_text())["kernels"]
        [name] = [kernel["name"] for kernel in statistics if "grouped_matmul" in kernel["name"]]
        kernels.append(name)
    # At most 4, 10, 16, 40 rows, and more.
    assert kernels[0] == kernels[1] and kernels[2] == kernels[3] and kernels[5] == kernels[6]
    assert len(set(kernels)) == 5


def test_promised(tmp_path):
    """With `legal_groups`, wrong offsets and rows are no error, and write and read no other memory."""
    for target in TARGETS:
        case = make_exact(MXFP8, [2, 2, 1], 0, n=10, options=("rows",))
        case.operands["offsets"][:] = [3, -5, 900]
        case.options["rows"][:] = [0, 900, -7, 2, -1]
        text = program(case).replace("{block_size", "{legal_groups, block_size")
        assert run(tmp_path, case, target, text=text).shape == (5, 10)


def test_quantized_result(tmp_path):
    """An elementwise op and a `quantize` behind the product."""
    product = Matmul("mxfp4", [3, 0, 40, 2], 0, 64, 128, "bf16", ("bias",))
    text = product.text(True).replace("-> tensor<?x64xf32> {", "-> (tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>) {")
    text = text.replace("  return %d : tensor<?x64xf32>", """  %two = arith.constant 2.0 : f32
  %all = tensor.splat %two[%size] : tensor<?x64xf32>
  %r = arith.mulf %d, %all : tensor<?x64xf32>
  %q, %s2 = blockscale.quantize %r {block_size = 32 : i64} : tensor<?x64xf32> to tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
  return %q, %s2 : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>""").replace(
        "  %e = tensor", "  %c0 = arith.constant 0 : index\n  %size = tensor.dim %x, %c0 : tensor<?x128xbf16>\n  %e = tensor", 1)
    codes, scales = blockscale.quantize(product.reference() * np.float32(2), "f8E4M3FN", "f8E8M0FNU", 32)
    for target in TARGETS:
        got = devices.run(tmp_path, text, product.arrays(), target, 2)
        np.testing.assert_array_equal(got[0], codes)
        np.testing.assert_array_equal(got[1], scales)
