"""Weight-only quantization: bf16 x and quantized y, which is rounded to bf16 once on every path."""

import json
import subprocess

import blockscale
import harness
import numpy as np
import pytest
import tiers
from weight_only_cases import BATCH, FORMATS, MAPS, TRANSPOSE, WIDE_BLOCKS, Product

OTHERS = ("sm_80", "sm_100a", "sm_120a")
# Exact in bf16; rounded to f32 and to bf16; to f16; both.
WAYS = {"bf16": {}, "tensor scale": dict(g=0.3), "f16": dict(dtype="f16")}
ALL_WAYS = {**WAYS, "f16 with tensor scale": dict(dtype="f16", g=0.3)}


def schedule(rows, columns, k, stages=2, split_k=1):
    """A mixed-input schedule with so many rows of y in a tile, and columns of x."""
    text = f"tile={rows}x{columns}x{k},stages={stages},accumulators=1,persistent=0,swap_ab=1"
    text += f",split_k={split_k}" if split_k != 1 else ""
    return text + (",kernel=gemv" if columns == 1 else ",kernel=mixed_input")


def is_anew(kernels):
    """Whether the result was computed anew: what does nothing reads a flag of each block."""
    assert sum("__permute" in name for name in kernels) == 1 and not any("loops" in name for name in kernels)
    [exact] = [kernel for name, kernel in kernels.items() if "__exact_recomputation" in name]
    return exact["instructions"]["matrix"] > 0


def run_mixed_input(product, folder, tile, is_exact=False):
    result, kernels, said = product.run(folder, "sm_90a", schedule(*tile))
    assert "dequantized first" not in said
    product.check(result, is_exact)
    return is_anew(kernels)


# Sizes of the product, and the tile, of mixed-input wgmma.
SIZES = {
    "one row": (1, 64, 1024, (64, 8, 512)),
    "16 rows": (16, 200, 1024, (64, 16, 512)),
    "part of a step": (13, 72, 640, (64, 16, 512)),
    "tiles of rows": (100, 70, 512, (64, 48, 512)),
    "wide": (100, 64, 512, (64, 104, 256)),
    "tiles of both": (300, 136, 512, (128, 256, 128)),
    "split-K": (16, 64, 2048, (64, 16, 512, 2, 2)),
}


@pytest.mark.parametrize("size, way", tiers.product(SIZES, ALL_WAYS))
def test_sizes(size, way, tmp_path):
    m, n, k, tile = SIZES[size]
    assert not run_mixed_input(Product(m, n, k, "mxfp4", **ALL_WAYS[way]), tmp_path, tile)


@pytest.mark.parametrize("form", [MAPS, TRANSPOSE], ids=["maps", "transpose"])
@pytest.mark.parametrize("format", FORMATS)
def test_formats(format, form, tmp_path):
    """All partial sums are exact: equal bits on all devices."""
    product = Product(16, 64, 1024, format, form=form)
    step = {"f8": 256, "f6": 256, "f4": 512}[product.format[0][:2]]
    codes = np.arange(1 << blockscale.FORMATS[product.format[0]].bits, dtype=np.uint8)
    sizes = np.abs(blockscale.decode(codes, product.format[0]))
    few_bits = codes[(sizes == 0) | ((sizes >= 2.0**-3) & (sizes <= 4))]
    product.y = np.random.default_rng(1).choice(few_bits, product.y.shape)
    product.ys[...] = np.random.default_rng(2).choice(
        [126, 127, 128] if product.format[1] == "f8E8M0FNU" else [0x30, 0x38, 0x40], product.ys.shape
    )
    assert not run_mixed_input(product, tmp_path, (64, 16, step), is_exact=True)
    product.check(product.run(tmp_path, "cpu")[0], is_exact=True)


def test_default(tmp_path):
    """Without a schedule, y is dequantized in registers if it has enough rows."""
    for m, format, way in ((1, "nvfp4", "bf16"), (16, "mxfp4", "bf16"), (70, "nvfp4", "tensor scale")):
        product = Product(m, 1024, 512, format, **WAYS[way])
        result, kernels, said = product.run(tmp_path, "sm_90a")
        assert not is_anew(kernels) and "remark" not in said
        product.check(result)


# M, N and K of products of dynamic sizes. Each number of rows has a kernel; long K has split-K ranges, short ones are
# parts of a stage, or of a chunk. A thread of the reduction has columns that are 128 apart.
DYNAMIC = [
    (1, 40, 64), (200, 72, 8256), (200, 72, 2112), (8, 136, 1152), (9, 64, 512), (16, 200, 128), (17, 72, 1024), (33, 64, 448), (64, 64, 2880), (65, 40, 576),
    (100, 64, 256), (129, 64, 192), (200, 130, 256), (257, 64, 128), (300, 136, 512), (5, 652, 8192), (20, 64, 8256),
    (70, 64, 12288), (3, 64, 20608), (7, 72, 32832), (1, 72, 1024),
]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compiles a product of dynamic sizes for sm_90a once, whatever the sizes."""
    done = {}

    def compile(product):
        if product.text not in done:
            done[product.text] = product.compile(tmp_path_factory.mktemp("compiled"), "sm_90a")
        return done[product.text]

    return compile


# By the number of the size.
OF_DYNAMIC = (
    ("mxfp4", ALL_WAYS["bf16"]), ("nvfp4", ALL_WAYS["tensor scale"]), ("mxfp8", ALL_WAYS["f16"]),
    ("nvfp4", ALL_WAYS["f16 with tensor scale"]),
)


@pytest.mark.parametrize("size", DYNAMIC, ids=lambda size: "x".join(map(str, size)))
def test_dynamic(size, compiled, tmp_path):
    """One function for all sizes: of its kernels, those for the size run, and no other."""
    m, n, k = size
    format, way = OF_DYNAMIC[DYNAMIC.index(size) % len(OF_DYNAMIC)]
    product = Product(m, n, k, format, has_acc=True, is_dynamic=True, multiple=16, **way)
    result, kernels, said = product.launch(tmp_path, compiled(product))
    product.check(result)
    assert "remark" not in said and not is_anew(kernels)
    [_] = [name for name in kernels if name.startswith("main__matmul") or name == "main"]
    assert not any("dequantize" in name for name in kernels)
    assert any("split_k_reduction" in name for name in kernels) == (k >= 8192)


# Compiling a function of dynamic sizes takes long: those of test_dynamic, and of formats that it does not have.
DYNAMIC_FORMATS = [
    *OF_DYNAMIC, *((format, ALL_WAYS["bf16"]) for format in FORMATS if format not in dict(OF_DYNAMIC)),
]
DYNAMIC_FORMATS = [tiers.exhaustive(case) if case[0] in ("e5m2", "mxfp6") else case for case in DYNAMIC_FORMATS]


@pytest.mark.parametrize("case", DYNAMIC_FORMATS, ids=lambda case: f"{case[0]} {case[1]}")
def test_dynamic_formats(case, compiled, tmp_path):
    """Aligned scales and others, and a result that is computed anew."""
    format, way = case
    for k, anew in ((512, False), (448, False), (192, True)):
        product = Product(18, 72, k, format, has_acc=True, is_dynamic=True, multiple=16, **way)
        if anew:
            product.ys[3, 1] = 0x7F if product.format[1] == "f8E4M3FN" else 3
        result, kernels, _ = product.launch(tmp_path, compiled(product))
        product.check(result)
        assert is_anew(kernels) == anew


def test_dynamic_others(compiled, tmp_path):
    """What no mixed-input kernel takes: rows of quantized elements of no 16 bytes; and no rows of x, or of y."""
    product = Product(12, 40, 48, "nvfp4", has_acc=True, is_dynamic=True, multiple=16)
    result, kernels, _ = product.launch(tmp_path, compiled(product))
    product.check(result)
    assert not any("permute" in name for name in kernels)
    for m, n in ((0, 40), (12, 0)):
        product = Product(m, n, 64, "nvfp4", has_acc=True, is_dynamic=True, multiple=16)
        assert product.launch(tmp_path, compiled(product))[0].shape == (m, n)


# Types of results behind an elementwise op, and what makes them of integers in f32.
RESULTS = {
    "i1": "%r = arith.cmpf ogt, %d, %acc : {f32}", "i8": "%r = arith.fptosi %d : {f32} to {type}",
    "i16": "%r = arith.fptosi %d : {f32} to {type}", "f64": "%r = arith.extf %d : {f32} to {type}",
    "index": "%i = arith.fptosi %d : {f32} to {i32}\n  %r = arith.index_cast %i : {i32} to {type}",
}


@pytest.mark.parametrize("n", [72, 68])
@pytest.mark.parametrize("element", RESULTS)
def test_result_types(element, n, tmp_path):
    """Whole rows of lanes for some types and N, elements by themselves for others."""
    product = Product(33, n, 512, "mxfp4")
    product.x, product.ys = np.sign(product.x), np.full_like(product.ys, 128)
    types = {name: f"tensor<33x{n}x{name}>" for name in ("f32", "i32", element)}
    body = RESULTS[element].format(type=types[element], **{name: types[name] for name in ("f32", "i32")})
    product.text = product.text.replace(f"-> {types['f32']} {{", f"-> {types[element]} {{").replace(
        f"  return %d : {types['f32']}", f"  {body}\n  return %r : {types[element]}")
    expected = product.x @ product.weights().T
    if element == "i8":
        product.x[np.abs(expected).max(axis=1) > 127] = 0
        expected = product.x @ product.weights().T
    result, kernels, said = product.run(tmp_path, "sm_90a", schedule(64, 40, 512))
    np.testing.assert_array_equal(result, expected > 0 if element == "i1" else expected)
    assert any("__permute" in name for name in kernels) and "remark: y" not in said


@pytest.mark.parametrize("k", [96, 160, 2880])
def test_parts_of_chunks(k, tmp_path):
    """K of half a chunk, with static sizes."""
    for format, tile in (("mxfp4", 512), ("nvfp4", 1024), ("mxfp8", 256)):
        product = Product(16, 72, k, format, has_acc=True)
        assert not run_mixed_input(product, tmp_path, (64, 16, tile))


def test_surroundings(tmp_path):
    """An accumulator that is an argument, a batch, and what is done to the result; computed anew, too."""
    for anew, way in ((False, {}), (True, {}), (False, WAYS["tensor scale"]), (True, WAYS["tensor scale"])):
        for product in (
            Product(16, 64, 1024, "mxfp8", has_acc=True, **way),
            Product(5, 72, 512, "mxfp4", batch=2, form=BATCH, **way),
            Product(16, 64, 512, "nvfp4", is_doubled=True, has_acc=True, **way),
            Product(16, 64, 1024, "mxfp4", has_acc=True, is_doubled=True, **way),
        ):
            if anew:
                # The scale does not fold, and neither does it show much.
                product.ys[..., 3, 0] = 0x7F if product.format[1] == "f8E4M3FN" else 3
            rows = 16 if product.x.shape[-2] == 16 else 8
            assert run_mixed_input(product, tmp_path, (64, rows, 512)) == anew


def test_transposed_x(tmp_path):
    """x that is read along M, element by element."""
    product = Product(16, 64, 512, "mxfp4", form=TRANSPOSE)
    product.text = product.text.replace("%x: tensor<16x512xbf16>", "%xt: tensor<512x16xbf16>").replace(
        "  %w =", "  %xe = tensor.empty() : tensor<16x512xbf16>\n  %x = linalg.transpose ins(%xt : tensor<512x16xbf16>)"
        " outs(%xe : tensor<16x512xbf16>) permutation = [1, 0]\n  %w =", 1)
    whole, product.x = product.x, np.ascontiguousarray(product.x.T)
    result, kernels, _ = product.run(tmp_path, "sm_90a", schedule(64, 16, 512))
    product.x = whole
    product.check(result)
    assert not is_anew(kernels)


# What no number of bf16 with a folded scale holds: code of a scale, or number of x.
SPECIALS = {
    "nan scale": ("mxfp8", 0xFF, None), "lowest scale": ("mxfp8", 0x00, None), "highest scale": ("mxfp8", 0xFE, None),
    "lowest of fp4": ("mxfp4", 0x00, None), "highest of fp4": ("mxfp4", 0xFE, None),
    "nan of nvfp4": ("nvfp4", 0x7F, None), "infinite x": ("mxfp4", None, np.inf), "nan x": ("nvfp4", None, np.nan),
    "large x": ("mxfp4", None, 2.0**120),
}


@pytest.mark.parametrize("special", SPECIALS)
def test_specials(special, tmp_path):
    """The result is recomputed, with y rounded to bf16, including subnormal values and infinity."""
    format, scale, number = SPECIALS[special]
    product = Product(16, 64, 512, format)
    if scale is not None:
        product.ys[5, 1] = scale
        # Else nothing of what is small would show.
        product.x[3] *= np.float32(2.0**100 if scale == 0 else 1)
        if scale == 0:
            product.ys[5], product.acc = scale, None
    else:
        product.x[3, 40] = number
    # Infinity and NaN of x stay what they are.
    assert run_mixed_input(product, tmp_path, (64, 16, 512)) == (number is None or np.isfinite(number))
    product.check(product.run(tmp_path, "cpu")[0])


# Ends of what is normal in bf16 times a code, and of what is folded; all of NVFP4.
EDGES = [0, 1, 2, 4, 5, 9, 10, 16, 17, 34, 35, 127, 159, 160, 239, 240, 246, 247, 250, 251, 252, 253, 254, 255]
FOLDED = [50, 100, 126, 127, 128, 150]


def run_codes_and_scales(folder, format, scales, anew, dtype, other_scale):
    """Values times powers of two, one in each row of y: all codes with all of `scales` (e8m0), or all ue4m3 scales. The
    result is compared with rounding each weight once; `anew` says whether it has to be recomputed.
    """
    element, scale, _ = FORMATS[format]
    codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
    if not anew:
        codes = codes[np.isfinite(blockscale.decode(codes, element))]
    if scale == "f8E4M3FN":
        scales, other_scale = np.arange(256 if anew else 127), 0x38
    k = 512 if element == "f4E2M1FN" else 256
    product = Product(3, len(codes) * len(scales), k, format, dtype=dtype)
    product.y[...], product.ys[...] = 0, other_scale
    product.y[:, 0], product.ys[:, 0] = np.tile(codes, len(scales)), np.repeat(scales, len(codes))
    product.x[...] = 0
    product.x[:, 0] = [1, -2, 0.25]
    product.result, kernels, _ = product.run(folder, "sm_90a", schedule(64, 8, k))
    assert is_anew(kernels) == anew
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(product.result, product.x[:, :1] * product.weights()[:, 0].astype(np.float32))
    return product


@pytest.mark.parametrize("anew", [True, False], ids=["edges", "folded"])
@pytest.mark.parametrize("format", ["mxfp8", "e5m2", "e3m2", "mxfp6", "mxfp4", "nvfp4"])
def test_all_codes_and_scales(format, anew, tmp_path):
    """Equal to rounding to bf16 to the bit, and to the CPU."""
    scales = np.array(EDGES if anew else FOLDED)
    product = run_codes_and_scales(tmp_path, format, scales, anew, "bf16", 127)
    np.testing.assert_array_equal(product.result, product.run(tmp_path, "cpu")[0])


# Tensor scales, and whether the result is computed anew: subnormal ones, powers of two, those of which a multiple is
# beyond f32, and no positive numbers; for fp4, those with each way of splitting them into two bf16 values.
TENSOR_SCALES = {
    1e-42: False, 2.0**-60: False, 0.0078125: False, -1.7e-3: False, 448.0: False, 1.0027235: False, 1.4270833: False,
    0.0: False, 2.0**127: True, np.inf: True, np.nan: True,
}
LEAST_OF_FP4 = 2.0**-64


@pytest.mark.parametrize(
    "format, dtype, g", tiers.product(["mxfp8", "mxfp6", "mxfp4", "nvfp4"], ["bf16", "f16"], TENSOR_SCALES)
)
def test_tensor_scales(format, dtype, g, tmp_path):
    """All codes with some scales, one in each row of y: equal to `dequantize` to the bit."""
    element, scale, _ = FORMATS[format]
    codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
    codes = codes[np.isfinite(blockscale.decode(codes, element))]
    scales = np.arange(0x7F) if scale == "f8E4M3FN" else np.array([100, 126, 140])
    k = 512 if element == "f4E2M1FN" else 256
    anew = TENSOR_SCALES[g] or element == "f4E2M1FN" and dtype == "bf16" and 0 < abs(g) < LEAST_OF_FP4
    product = Product(3, len(codes) * len(scales), k, format, dtype=dtype, g=g)
    product.y[...], product.ys[...] = 0, 0x38 if scale == "f8E4M3FN" else 127
    product.y[:, 0], product.ys[:, 0] = np.tile(codes, len(scales)), np.repeat(scales, len(codes))
    product.x[...] = 0
    product.x[:, 0] = [1, -2, 0.25]
    result, kernels, _ = product.run(tmp_path, "sm_90a", schedule(64, 8, k))
    assert is_anew(kernels) == anew, g
    # NaN times other columns is NaN, too.
    with np.errstate(all="ignore"):
        columns = product.x[:, :1] * product.weights()[:, 0].astype(np.float32)
    if np.isfinite(g):
        np.testing.assert_array_equal(result, columns)
    else:
        assert np.isnan(result).all()


# What y lacks in registers, and the first and last scale there.
IN_REGISTERS = {"mxfp8": (25, 35, 159), "mxfp4": (31, 33, 159), "nvfp4": (7, 0x01, 0x7E)}
# The exponent of the largest power of two that x takes over from y.
MOST_OF_X = 32
# What x takes over with others, by how much a step of theirs moves scales that are exact, and the first and last one.
OUTSIDE = {"mxfp8": (0, 0, (35, 159)), "mxfp4": (31, 1, (36, 158)), "nvfp4": (31, 0, (0x01, 0x7E))}


@pytest.mark.parametrize("format, exponent", [
    (format, exponent) for format, (shift, _, _) in IN_REGISTERS.items()
    for exponent in (-shift - 1, -shift, 0, MOST_OF_X, MOST_OF_X + 1)
])
def test_powers_of_two(format, exponent, tmp_path):
    """x is multiplied by a power of two in place of y: no bit changes, and what overflows is recomputed."""
    element, scale, _ = FORMATS[format]
    shift, first, last = IN_REGISTERS[format]
    codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
    codes = codes[np.isfinite(blockscale.decode(codes, element))]
    power = shift + exponent
    if not -shift <= exponent <= MOST_OF_X:
        power, step, (first, last) = OUTSIDE[format]
        first, last = first - step * exponent, last - step * exponent
    scales = np.array([first, (first + last) // 2, last])
    k = 512 if element == "f4E2M1FN" else 256
    product = Product(4, len(codes) * len(scales), k, format, g=2.0**exponent)
    product.y[...], product.ys[...] = 0, scales[1]
    product.y[:, 0], product.ys[:, 0] = np.tile(codes, len(scales)), np.repeat(scales, len(codes))
    product.x[...] = 0
    weights = product.weights()[:, 0].astype(np.float32)
    for largest, anew in ((127 - power, False), (128 - power, True)):
        # 2^128 is infinity, which is no overflow.
        with np.errstate(all="ignore"):
            product.x[:, 0] = [1, -2, 2.0**-20, np.float32(np.ldexp(1.0, largest))]
            result, kernels, _ = product.run(tmp_path, "sm_90a", schedule(64, 8, k))
            expected = product.x[:, :1] * weights
        assert is_anew(kernels) == (anew and power != 0 or format == "nvfp4" and exponent > MOST_OF_X)
        np.testing.assert_array_equal(result, expected)


def test_power_of_two_is_free(tmp_path):
    """x is multiplied by it, once: the kernel of the product is that without a tensor scale."""
    counts = []
    for g in (None, 2.0**-10, 2.0**33, 0.3):
        _, kernels, _ = Product(16, 64, 512, "mxfp4", g=g).run(tmp_path, "sm_90a", schedule(64, 16, 512))
        counts.append(kernels["main"]["instructions"])
    assert counts[0] == counts[1] and counts[0] not in counts[2:]


def run_dequantized(product, folder, device, schedule=None, is_exact=False, split_k=1):
    """y is dequantized in registers for mma.sync, by one kernel; another one is the split-K reduction."""
    result, kernels, said = product.run(folder, device, schedule)
    assert "remark" not in said
    assert [name.rstrip("_0123456789") for name in kernels] == ["main", "main__split_k_reduction"][: 1 + (split_k != 1)]
    assert kernels["main"]["instructions"]["matrix"] > 0
    product.check(result, is_exact)
    return result


@pytest.mark.parametrize("format, device, way", tiers.product(FORMATS, [*OTHERS, "sm_90a"], WAYS))
def test_dequant_mma(format, device, way, tmp_path):
    for m in (1, 19):
        run_dequantized(Product(m, 72, 160, format, **WAYS[way]), tmp_path, device)


@pytest.mark.parametrize("device", ["cpu", *OTHERS, "sm_90a"])
@pytest.mark.parametrize("format", WIDE_BLOCKS)
def test_wide_blocks(format, device, tmp_path):
    """In any way; with a K that is no multiple of a kernel's stages, and dynamic sizes."""
    for m, k, is_dynamic in ((1, 192, False), (19, 448, False), (19, 512, True)):
        product = Product(m, 72, k, format, has_acc=True, is_dynamic=is_dynamic)
        result, _, _ = product.run(tmp_path, device)
        product.check(result)


# Sizes of the product, the schedule, and split-K.
CONVERTED = {
    "whole tiles": (128, 128, 256, "tile=64x64x128,warps=2x2,stages=3", 1),
    "tiles of both": (130, 140, 288, "tile=64x64x128,warps=2x2,stages=2", 1),
    "one stage": (32, 40, 160, "tile=32x32x128,warps=1x1,stages=1", 1),
    "long K": (48, 32, 512, "tile=16x32x256,warps=1x2,stages=2", 1),
    "split-K": (17, 64, 704, "tile=32x64x128,warps=1x2,stages=2,split_k=3", 3),
    "few columns": (140, 5, 512, "tile=128x16x128,warps=4x1,stages=2,split_k=2", 2),
}


@pytest.mark.parametrize("size, way, format", tiers.product(CONVERTED, WAYS, ("mxfp8", "nvfp4")))
def test_dequant_mma_sizes(size, way, format, tmp_path):
    m, n, k, schedule, split_k = CONVERTED[size]
    run_dequantized(Product(m, n, k, format, **WAYS[way]), tmp_path, "sm_80", schedule, split_k=split_k)


@pytest.mark.parametrize("format, way", tiers.product(["mxfp6", "mxfp4", "nvfp4"], WAYS))
def test_dequant_mma_dynamic(format, way, tmp_path):
    for m, n, k in ((1, 40, 96), (70, 72, 256)):
        product = Product(m, n, k, format, has_acc=True, is_dynamic=True, **WAYS[way])
        run_dequantized(product, tmp_path, "sm_120a")


@pytest.mark.parametrize("sizes, format, way", tiers.product(
    ((16, 64, 256), (5, 64, 256), (5, 40, 160), (21, 64, 384), (5, 64, 160)), ("mxfp8", "mxfp6", "nvfp4"), WAYS,
), ids=tiers.names)
def test_dequant_mma_dynamic_paths(sizes, format, way, tmp_path):
    """Of few rows: whole tiles, N and K of whole tiles, and neither."""
    product = Product(*sizes, format, has_acc=True, is_dynamic=True, **WAYS[way])
    schedule = "tile=16x32x128,warps=1x2,stages=2,split_k=2"
    run_dequantized(product, tmp_path, "sm_80", schedule, split_k=2)


def test_multiples(tmp_path):
    """With a known divisor of K, dequantized y goes to wgmma without another copy. A wrong one stops the kernel."""
    product = Product(4100, 40, 96, "nvfp4", has_acc=True, is_dynamic=True, g=0.3)
    for name, type in (("x", "bf16"), ("c", "f4E2M1FN")):
        product.text = product.text.replace(
            f"%{name}: tensor<?x?x{type}>", f"%{name}: tensor<?x?x{type}> {{blockscale.multiples = array<i64: 1, 32>}}"
        )
    result, kernels, said = product.run(tmp_path, "sm_90a")
    product.check(result)
    assert [name.rstrip("_0123456789") for name in kernels] == ["main__dequantize", "main__matmul"]
    assert "copied first" not in said
    product.x, product.y = (np.ascontiguousarray(a[:, :80]) for a in (product.x, product.y))
    product.ys = np.ascontiguousarray(product.ys[:, :5])
    with pytest.raises(AssertionError, match="argument #0 of 'main': expected a multiple of 32 as size of dimension 1"):
        product.run(tmp_path, "sm_90a")


@pytest.mark.parametrize("is_dynamic, k", [(False, 40), (True, 40), (True, 44)])
def test_part_of_block(is_dynamic, k, tmp_path):
    """A short last block of a row: y is dequantized in front; in registers, the size is refused."""
    product = Product(70, 24, 64, "mxfp8", has_acc=True, is_dynamic=is_dynamic)
    product.text = product.text.replace("x64x", f"x{k}x")
    product.x, product.y = (np.ascontiguousarray(a[:, :k]) for a in (product.x, product.y))
    block = np.repeat(product.ys, 32, axis=1)[:, :k]
    weights = blockscale.decode(product.y, "f8E4M3FN") * blockscale.decode(block, "f8E8M0FNU")
    for device in ("sm_90a", "sm_80"):
        if is_dynamic and device == "sm_80":
            with pytest.raises(AssertionError, match="expected K to be a multiple of 32 for a y that is dequantized in registers"):
                product.run(tmp_path, device)
            continue
        result, kernels, said = product.run(tmp_path, device)
        np.testing.assert_allclose(result, product.acc + product.x @ weights.T, rtol=0, atol=2e-3)
        assert "main__dequantize_0" in kernels and "y is dequantized first" in said


def test_dequant_mma_surroundings(tmp_path):
    """An accumulator that is an argument, a batch, and what is done to the result."""
    for way in WAYS.values():
        for product in (
            Product(16, 64, 256, "mxfp8", has_acc=True, form=TRANSPOSE, **way),
            Product(5, 72, 128, "mxfp4", batch=2, form=BATCH, **way),
            Product(16, 64, 128, "nvfp4", is_doubled=True, has_acc=True, **way),
        ):
            run_dequantized(product, tmp_path, "sm_100a")


def test_dequant_mma_quantized(tmp_path):
    """A `quantize` of the result is fused: one kernel, or those of `wgmma`."""
    for way, m in (("bf16", 64), ("tensor scale", 64), ("bf16", 128)):
        product = Product(m, 256, 256, "nvfp4", **WAYS[way])
        number, quantized = f"tensor<{m}x256xf32>", f"tensor<{m}x256xf8E5M2>, tensor<{m}x8xf8E8M0FNU>"
        product.text = product.text.replace(f"-> {number} {{", f"-> ({quantized}) {{").replace(
            f"  return %d : {number}", f"  %q, %qs = blockscale.quantize %d {{block_size = 32 : i64}} : {number}"
            f" to {quantized}\n  return %q, %qs : {quantized}")
        (tmp_path / "q.mlir").write_text(product.text)
        for device in ("sm_120a", "sm_90a"):
            flags = [f"--schedule={schedule(64, m, 256)}"] if m == 128 and device == "sm_90a" else []
            done = subprocess.run(
                [harness.RUN, tmp_path / "q.mlir", "--device=sim", f"--target={device}", "--seed=1", "--compare",
                 "--stats", *flags], capture_output=True, text=True, check=False,
            )
            assert done.returncode == 0, done.stderr
            statistics, _ = json.JSONDecoder().raw_decode(done.stderr[done.stderr.index("{\n"):])
            names = [kernel["name"] for kernel in statistics["kernels"]]
            assert names == (["main__permute_0", "main", "main__exact_recomputation_2"] if flags else ["main"])


@pytest.mark.parametrize("format, way", tiers.product(["mxfp8", "mxfp6", "mxfp4", "nvfp4"], WAYS))
def test_dequant_mma_transposed(format, way, tmp_path):
    """x that is read along M, and a quantized y that is contiguous along N."""
    for name, shape in (("x", (40, 256)), ("c", (64, 256))):
        product = Product(40, 64, 256, format, form=TRANSPOSE, **WAYS[way])
        element = product.dtype if name == "x" else product.format[0]
        old, new = (f"tensor<{a}x{b}x{element}>" for a, b in (shape, shape[::-1]))
        product.text = product.text.replace(f"%{name}: {old}", f"%{name}t: {new}").replace(
            "  %w =", f"  %{name}e = tensor.empty() : {old}\n  %{name} = linalg.transpose ins(%{name}t : {new})"
            f" outs(%{name}e : {old}) permutation = [1, 0]\n  %w =", 1)
        whole = product.x, product.y
        if name == "x":
            product.x = np.ascontiguousarray(product.x.T)
        else:
            product.y = np.ascontiguousarray(product.y.T)
        result, kernels, said = product.run(tmp_path, "sm_80")
        product.x, product.y = whole
        product.check(result)
        assert list(kernels) == ["main"] and "remark" not in said


# And NaN codes.
SPECIAL_CODES = {"nan": ("mxfp8", 0x7F), "infinity": ("e5m2", 0x7C), "minus infinity": ("e5m2", 0xFC),
                 "nan of e5m2": ("e5m2", 0x7E)}


@pytest.mark.parametrize("special, way", tiers.product([*SPECIALS, *SPECIAL_CODES], WAYS))
def test_dequant_mma_specials(special, way, tmp_path):
    """Values that are inexact in bf16 are rounded, including subnormal ones and infinity."""
    format, scale, number = SPECIALS.get(special, (SPECIAL_CODES.get(special, ("",))[0], None, None))
    product = Product(20, 64, 256, format, **WAYS[way])
    if special in SPECIAL_CODES:
        product.y[7, 33] = SPECIAL_CODES[special][1]
        product.x[4, 33] = 0
    elif scale is not None:
        product.ys[5, 1] = scale
        product.x[3] *= np.float32(2.0 ** (8 if product.dtype == "f16" else 100) if scale == 0 else 1)
    else:
        product.x[3, 40] = min(number, 6e4) if product.dtype == "f16" and np.isfinite(number) else number
    run_dequantized(product, tmp_path, "sm_80")
    product.check(product.run(tmp_path, "cpu")[0])


@pytest.mark.parametrize("format, way", tiers.product(["mxfp8", "e5m2", "e3m2", "mxfp6", "mxfp4", "nvfp4"], WAYS))
def test_all_dequant_mma(format, way, tmp_path):
    """Values times powers of two, one in each row of y: equal to `dequantize` to the bit, and to the CPU."""
    element, scale, _ = FORMATS[format]
    codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
    scales = np.arange(256) if scale == "f8E4M3FN" else np.array(sorted({*EDGES, *range(98, 148, 3)}))
    product = Product(3, len(codes) * len(scales), 128, format, **WAYS[way])
    product.y[...], product.ys[...] = 0, 0x38 if scale == "f8E4M3FN" else 127
    product.y[:, 0], product.ys[:, 0] = np.tile(codes, len(scales)), np.repeat(scales, len(codes))
    product.x[...] = 0
    product.x[:, 0] = [1, -2, 0.25]
    result, _, _ = product.run(tmp_path, "sm_80")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(result, product.x[:, :1] * product.weights()[:, 0].astype(np.float32))
    np.testing.assert_array_equal(result, product.run(tmp_path, "cpu")[0])


# Scales with which all codes are exact in f16, and others.
EXACT_IN_F16 = {"mxfp8": (112, 134), "e5m2": (119, 127), "e3m2": (107, 136), "mxfp6": (106, 135), "mxfp4": (104, 133)}


@pytest.mark.parametrize("anew", [True, False], ids=["edges", "exact"])
@pytest.mark.parametrize("format", [*EXACT_IN_F16, "nvfp4"])
def test_f16_codes_and_scales(format, anew, tmp_path):
    """x of f16: equal to `dequantize` to the bit."""
    scales = None
    if format in EXACT_IN_F16:
        first, last = EXACT_IN_F16[format]
        scales = np.array([first, first + 1, (first + last) // 2, last - 1, last])
        if anew:
            scales = np.array(sorted({0, first - 1, *scales, last + 1, 150, 255}))
    run_codes_and_scales(tmp_path, format, scales, anew, "f16", 120)


@pytest.mark.parametrize("number", [np.inf, np.nan, 6e4], ids=str)
def test_f16_specials(number, tmp_path):
    """Infinity and NaN of x, and the largest numbers, start no recomputation."""
    product = Product(70, 1024, 256, "nvfp4", dtype="f16")
    product.x[3, 40] = number
    result, kernels, said = product.run(tmp_path, "sm_90a")
    product.check(result)
    assert not is_anew(kernels) and "remark" not in said


def test_left_alone(tmp_path):
    """A y that lanes cannot read along K is dequantized in front, with a remark, and no schedule is mixed-input."""
    product = Product(70, 1024, 256, "nvfp4")
    product.text = product.text.replace("%c: tensor<1024x256xf4E2M1FN>", "%ct: tensor<256x1024xf4E2M1FN>").replace(
        "  %w =", "  %ce = tensor.empty() : tensor<1024x256xf4E2M1FN>\n  %c = linalg.transpose"
        " ins(%ct : tensor<256x1024xf4E2M1FN>) outs(%ce : tensor<1024x256xf4E2M1FN>) permutation = [1, 0]\n  %w =", 1)
    whole, product.y = product.y, np.ascontiguousarray(product.y.T)
    result, kernels, said = product.run(tmp_path, "sm_90a")
    product.y = whole
    product.check(result)
    assert "main" in kernels and "expected a y that is an argument, and contiguous along K" in said
    done = subprocess.run(
        [harness.RUN, tmp_path / "p.mlir", "--device=sim", "--target=sm_90a", "--seed=1",
         f"--schedule={schedule(64, 72, 256)}"], capture_output=True, text=True, check=False,
    )
    assert done.returncode == 1 and "for the kernel mixed_input, got" in done.stderr
