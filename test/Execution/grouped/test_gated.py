"""Gated activations behind products of groups, which kernels compute from pairs of columns of their sums."""

import json
import re

import numpy as np
import pytest
import tiers
from devices import DEVICES, READ, STORE, run
from test_grouped import MXFP8, NVFP4, program, reference
from test_grouped_kernels import WEIGHTS, Matmul, make_exact

LIMIT = np.float32(7)
ALPHA = np.float32(1.702)
# Only the last step of the first one is rounded, so that its results are known to the bit.
BODIES = {
    "difference": """    %twice = arith.addf %second, %second : f32
    %value = arith.subf %low, %twice : f32
""",
    "swiglu": f"""    %one = arith.constant 1.0 : f32
    %alpha = arith.constant {ALPHA} : f32
    %scaled = arith.mulf %low, %alpha : f32
    %minus = arith.negf %scaled : f32
    %power = math.exp %minus : f32
    %sum = arith.addf %power, %one : f32
    %sigmoid = arith.divf %low, %sum : f32
    %up = arith.addf %second, %one : f32
    %value = arith.mulf %sigmoid, %up : f32
""",
}


def gate(text, activation, element="f32", keeps_sums=False):
    """The program `text` with an activation behind its product, %d; if sums are a result, too, no kernel fuses it."""
    head, sums = re.fullmatch(r"(.*)  return %d : (\S+)\n}\n", text, re.DOTALL).groups()
    t, n = re.fullmatch(r"tensor<(.+)x(.+)xf32>", sums).groups()
    blocks, half = ("?", "?") if n == "?" else (int(n) // 16, int(n) // 2)
    pairs, halves, result = (
        f"tensor<{t}x{shape}>" for shape in (f"{blocks}x2x8xf32", f"{blocks}x8x{element}", f"{half}x{element}"))
    sizes = ("%t" if t == "?" else t), ("%blocks" if n == "?" else blocks)
    results = ", ".join([result, sums][:1 + keeps_sums])
    value, rounded = ("%value", "") if element == "f32" else (
        "%rounded", f"    %rounded = arith.truncf %value : f32 to {element}\n")
    return head.replace(f") -> {sums} {{", f", %limit: f32) -> ({results}) {{") + f"""\
  %row_dim = arith.constant 0 : index
  %column_dim = arith.constant 1 : index
  %block_size = arith.constant 16 : index
  %t = tensor.dim %acc, %row_dim : {sums}
  %n = tensor.dim %acc, %column_dim : {sums}
  %blocks = arith.divui %n, %block_size : index
  %pairs = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [{sizes[0]}, {sizes[1]}, 2, 8] : {sums} into {pairs}
  %empty = tensor.empty({", ".join(size for size in sizes if size in ("%t", "%blocks"))}) : {halves}
  %halves = linalg.generic {{
      indexing_maps = [affine_map<(t, b, c) -> (t, b, 0, c)>, affine_map<(t, b, c) -> (t, b, 1, c)>,
                       affine_map<(t, b, c) -> ()>, affine_map<(t, b, c) -> (t, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%pairs, %pairs, %limit : {pairs}, {pairs}, f32) outs(%empty : {halves}) {{
  ^bb0(%first: f32, %second: f32, %most: f32, %old: {element}):
    %low = arith.minimumf %first, %most : f32
{BODIES[activation]}{rounded}    linalg.yield {value} : {element}
  }} -> {halves}
  %result = tensor.collapse_shape %halves [[0], [1, 2]] : {halves} into {result}
  return {", ".join(["%result", "%d"][:1 + keeps_sums])} : {results}
}}
"""


def check(got, sums, activation, element="f32"):
    """The result against that of `sums`, which are exact."""
    blocks = sums.reshape(len(sums), sums.shape[1] // 16, 2, 8)
    first, second = (blocks[:, :, half].reshape(len(sums), -1) for half in (0, 1))
    low = np.minimum(first, LIMIT)
    assert got.shape == low.shape
    if activation == "difference":
        expected = np.asarray(STORE[element](low - (second + second)))
        return np.testing.assert_array_equal(READ[element](got), READ[element](expected))
    low, up = low.astype(np.float64), second.astype(np.float64) + 1
    with np.errstate(over="ignore"):
        expected = low / (1 + np.exp(-low * ALPHA)) * up
    # The exponent is rounded before, so that the larger it is, the less exp is exact.
    tolerance, smallest = {"f32": (0, 1e-30), "bf16": (2.0**-8, 1e-30), "f16": (2.0**-11, 2.0**-24)}[element]
    np.testing.assert_allclose(READ[element](got).astype(np.float64), expected, rtol=2e-5 + tolerance, atol=smallest)


# Zeros first, in the middle and last; all rows in one group; rows of nobody; fewer and more rows than tiles have.
SIZES = {
    "empty groups": ([0, 5, 0, 0, 3, 0], 0), "all in one": ([0, 9, 0], 2), "around a tile": ([1, 127, 0, 129], 3),
    "one each": ([1] * 5, 1), "nobody": ([0, 0], 4),
}
# N, twice that of the result: one block of 16 columns, no multiples of 128, and one.
VARIANTS = [
    (16, "swiglu", "f16", ()), (80, "difference", "bf16", ("rows",)), (144, "swiglu", "f32", ("group_scale",)),
    (128, "difference", "f16", ("bias",)), (80, "difference", "f32", ("rows", "group_scale", "bias")),
    (144, "swiglu", "bf16", ("rows", "bias")),
]


@pytest.mark.parametrize("weights, name, variant, dynamic, device", tiers.product(
    WEIGHTS, SIZES, range(len(VARIANTS)), [False, True], DEVICES))
def test_weights(weights, name, variant, dynamic, device, tmp_path):
    """x of bf16, and y of bf16 or quantized."""
    n, activation, element, options = VARIANTS[variant]
    product = Matmul(weights, *SIZES[name], n, 128, "bf16", options)
    [got] = run(tmp_path, gate(product.text(dynamic), activation, element), [*product.arrays(), LIMIT], device)
    check(got, product.reference(), activation, element)


@pytest.mark.parametrize("types, name, variant, dynamic, device", tiers.product(
    [MXFP8, NVFP4], SIZES, range(len(VARIANTS)), ["", "TR", "RTGKN"], DEVICES))
def test_scaled(types, name, variant, dynamic, device, tmp_path):
    n, activation, element, options = VARIANTS[variant]
    case = make_exact(types, *SIZES[name], n=n, k=128, options=options)
    arrays = [*case.operands.values(), *case.options.values(), LIMIT]
    [got] = run(tmp_path, gate(program(case, dynamic), activation, element), arrays, device)
    check(got, reference(case), activation, element)


def all_dynamic(product):
    """The program of `product` with no size known, as a library has it."""
    element, scale, block = WEIGHTS[product.weights]
    y, ys = f"tensor<?x?x?x{element}>", f"tensor<?x?x?x{scale}>"
    chosen = {"rows": "tensor<?xi32>", "group_scale": "tensor<?xf32>", "bias": "tensor<?x?xf32>"}
    arguments = "".join(f", %{name}: {chosen[name]}" for name in product.chosen)
    options = " ".join(f"{name}(%{name} : {chosen[name]})" for name in product.chosen)
    return f"""func.func @main(%x: tensor<?x?xbf16> {{blockscale.multiples = array<i64: 1, {block}>}},
    %c: {y} {{blockscale.multiples = array<i64: 1, 1, {block}>}}, %s: {ys}, %o: tensor<?xi32>,
    %acc: tensor<?x?xf32>{arguments}) -> tensor<?x?xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %groups = tensor.dim %c, %c0 : {y}
  %rows_of_y = tensor.dim %c, %c1 : {y}
  %k = tensor.dim %c, %c2 : {y}
  %w = blockscale.dequantize %c, %s {{block_size = {block} : i64}} : {y}, {ys} to tensor<?x?x?xbf16>
  %e = tensor.empty(%groups, %k, %rows_of_y) : tensor<?x?x?xbf16>
  %y = linalg.transpose ins(%w : tensor<?x?x?xbf16>) outs(%e : tensor<?x?x?xbf16>) permutation = [0, 2, 1]
  %d = blockscale.grouped_matmul %x, %y, %o, %acc {options} {{legal_groups}}
      : tensor<?x?xbf16>, tensor<?x?x?xbf16>, tensor<?xi32>, tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}}
"""


def run_kernels(folder, text, product, device, results=1):
    """The results, and how many kernels there were."""
    statistics = folder / "stats.json"
    flags = [f"--stats={statistics}"] if device != "cpu" else []
    got = run(folder, text, [*product.arrays(), LIMIT], device, results, flags=flags)
    return got, len(json.loads(statistics.read_text())["kernels"]) if flags else 0


QUANTIZED = ("mxfp4", "nvfp4", "mxfp8")


@pytest.mark.parametrize("weights, device", tiers.product(QUANTIZED, DEVICES))
def test_all_dynamic(weights, device, tmp_path):
    """The kernels of a product without activation do all of it: on sm_90a, one is in front, and one computes anew."""
    options = ("rows", *["group_scale"] * (weights == "nvfp4"), "bias")
    product = Matmul(weights, [3, 0, 20, 2], 2, 144, 192, "bf16", options)
    [got], kernels = run_kernels(tmp_path, gate(all_dynamic(product), "swiglu", "bf16"), product, device)
    check(got, product.reference(), "swiglu", "bf16")
    assert kernels == {"cpu": 0, "sm_90a": 3}.get(device, 1)


@pytest.mark.parametrize("weights, device", [
    ("mxfp4", "sm_90a"), ("mxfp8", "sm_80"), ("plain", "sm_90a"),
    *(pytest.param(*case, marks=pytest.mark.full) for case in [("mxfp4", "cpu"), ("nvfp4", "sm_100a"),
                                                               ("mxfp4", "sm_120a")]),
])
def test_many_rows(weights, device, tmp_path):
    product = Matmul(weights, [200, 0, 290], 10, 80, 256, "bf16", ("rows", "bias"))
    [got] = run(tmp_path, gate(product.text(True), "difference"), [*product.arrays(), LIMIT], device)
    check(got, product.reference(), "difference")


@pytest.mark.parametrize("weights", QUANTIZED)
@pytest.mark.parametrize("device, dynamic", [
    ("sm_90a", False),
    *(pytest.param(*case, marks=pytest.mark.full) for case in [("sm_90a", True), ("cpu", False), ("sm_80", False)]),
])
def test_recomputed(weights, device, dynamic, tmp_path):
    """Scales that bf16 does not hold in a factor: NaN, and the smallest and largest ones, in one group and in part of
    another. Nothing is added, so that small sums are seen.
    """
    for scale in (0x7F, 1, 0xFE) if weights == "nvfp4" else (0xFF, 1, 0xFE):
        product = Matmul(weights, [3, 0, 20, 2], 2, 80, 128, "bf16", ("rows",))
        product.acc[:] = 0
        product.scales[2], product.scales[3, 5, 1] = scale, scale
        product.dequantize()
        [got] = run(tmp_path, gate(product.text(dynamic), "difference"), [*product.arrays(), LIMIT], device)
        with np.errstate(invalid="ignore"):
            check(got, product.reference(), "difference")


@pytest.mark.parametrize("device", DEVICES)
def test_not_fused(device, tmp_path):
    """The same numbers where the sums are a result, too."""
    product = Matmul("mxfp4", [3, 0, 20, 2], 2, 80, 128, "bf16", ("rows", "bias"))
    text = gate(product.text(False), "swiglu", keeps_sums=True)
    (got, sums), kernels = run_kernels(tmp_path, text, product, device, 2)
    np.testing.assert_array_equal(sums, product.reference())
    check(got, sums, "swiglu")
    [fused], fewer = run_kernels(tmp_path, gate(product.text(False), "swiglu"), product, device)
    np.testing.assert_array_equal(fused.view(np.uint32), got.view(np.uint32))
    assert kernels == fewer + (device != "cpu")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("keeps_sums", [False, tiers.full(True)])
def test_wrong_columns(keeps_sums, device, tmp_path):
    """No whole blocks of 16: an error, whether the activation is fused or not."""
    case = make_exact(MXFP8, [3, 2], 1, n=24)
    text = gate(program(case, "RTGKN"), "difference", keeps_sums=keeps_sums)
    said = run(tmp_path, text, [*case.operands.values(), LIMIT], device, 1 + keeps_sums, fails=True)
    assert "expected sizes that multiply to that of dimension 1 of the source" in said


@pytest.mark.parametrize("device", DEVICES)
def test_wrong_rows(device, tmp_path):
    """A result of fewer rows than the product has, which is known only at run time."""
    case = make_exact(MXFP8, [3, 2], 1, n=32)
    text = gate(program(case, "RTGKN"), "difference")
    for dynamic, static in (("tensor<?x?x8xf32>", "tensor<4x2x8xf32>"), ("tensor.empty(%t, %blocks)", "tensor.empty()"),
                            ("-> (tensor<?x?xf32>)", "-> (tensor<4x16xf32>)")):
        assert dynamic in text
        text = text.replace(dynamic, static)
    head, tail = text.split("  %result = ")
    text = f"{head}  %result = {tail.replace('tensor<?x?xf32>', 'tensor<4x16xf32>')}"
    said = run(tmp_path, text, [*case.operands.values(), LIMIT], device, fails=True)
    assert device == "cpu" or "expected sizes of operand #3 that fit those of the result" in said, said
