"""Layers of experts with quantized rows in both products: each step's bits on all devices, against numpy."""

import json
import re

import blockscale
import devices
import numpy as np
import pytest
import tiers
from layer import FORMATS, Layer, Program, operands_of, reference
from test_gated import LIMIT, gate
from test_grouped import MXFP8, NVFP4, program
from test_grouped import reference as case_reference
from test_grouped_kernels import Matmul, make_exact


def check(folder, layer, device, dynamic=""):
    """The result, and what the second product reads."""
    operands = operands_of(layer)
    text = Program(layer, dynamic, shows=True).text()
    result, codes, scales = devices.run(folder, text, operands.values(), device, 3)
    expected, (expected_codes, expected_scales) = reference(layer, operands)
    np.testing.assert_array_equal(codes, expected_codes)
    np.testing.assert_array_equal(scales, expected_scales)
    np.testing.assert_array_equal(result.view(np.uint32), expected.view(np.uint32))


# S, G, H, I: one token, and some; groups of more rows than a tile has; whole tiles along N and K, and others.
SIZES = [(1, 3, 128, 64), (20, 5, 256, 128), (150, 4, 64, 96), (40, 35, 128, 32)]


@pytest.mark.parametrize("format, sizes, dynamic, element, device", tiers.product(
    FORMATS, range(len(SIZES)), ["", "ST", "STGHI"], ["bf16", "f32", "f16"], devices.DEVICES))
def test_layer(format, sizes, dynamic, element, device, tmp_path):
    check(tmp_path, Layer(format, *SIZES[sizes], element), device, dynamic)


def run_kernels(folder, layer, device, schedule, dynamic, fuses):
    """The result, what the second product reads, and the purposes of the kernels."""
    operands = operands_of(layer)
    statistics = folder / "stats.json"
    text = Program(layer, dynamic, shows=True, fuses=fuses).text()
    flags = [f"--stats={statistics}", *([f"--schedule={schedule}"] if schedule else [])]
    got = devices.run(folder, text, operands.values(), device, 3 + (not fuses), flags=flags)
    names = [kernel["name"] for kernel in json.loads(statistics.read_text())["kernels"]]
    return got[:3], [re.sub(r"main_*|_\d+$", "", name) for name in names]


WARPS = "warps=2x2,stages=2"
WGMMA = "stages=4,accumulators=1,persistent=0,swap_ab=1,kernel=mixed_input"
TCGEN05 = "stages=2,accumulators=1,persistent=0"
PAIR = "cluster=2x1,two_cta=1"
# Where a warp has 64 columns, or 32 for blocks of 16, it has a block of what pairs of them become.
FUSED = {
    "warps": ("sm_120a", f"tile=64x128x128,{WARPS}", ("mxfp8", "mxfp6", "mxfp4", "nvfp4")),
    "few": ("sm_120a", f"tile=32x64x128,{WARPS}", ("nvfp4",)),
    "dequantized": ("sm_80", f"tile=64x128x128,{WARPS}", ("mxfp8", "mxfp6", "mxfp4", "halves", "nvfp4")),
    "one warp": ("sm_80", "tile=32x64x128,warps=1x1,stages=2", ("mxfp8", "mxfp4", "nvfp4")),
    # The kernel that computes anew has 32 columns in a warp.
    "wgmma": ("sm_90a", f"tile=128x128x128,{WGMMA}", ("halves", "nvfp4")),
    "rows": ("sm_100a", f"tile=128x64x128,{TCGEN05}", ("mxfp8",)),
    # Two accumulators share columns of tensor memory.
    "shared": ("sm_100a", "tile=128x256x128,stages=2,accumulators=2,persistent=1", ("mxfp8",)),
    "fp4": ("sm_100a", f"tile=128x64x256,{TCGEN05}", ("mxfp4", "nvfp4")),
    "pair": ("sm_100a", f"tile=128x128x256,{TCGEN05},{PAIR}", ("mxfp4", "nvfp4")),
}
CASES = [(name, format) for name, (_, _, formats) in FUSED.items() for format in formats]


@pytest.mark.parametrize("case", tiers.cover(CASES, list), ids="-".join)
@pytest.mark.parametrize("activation", ["difference", tiers.full("silu")])
def test_fused(case, activation, tmp_path):
    """The same bits as a kernel behind it gives, which is not there."""
    name, format = case
    device, schedule, _ = FUSED[name]
    for number, (sizes, dynamic, element) in enumerate([
        ((20, 5, 128, 128), "ST" if device != "sm_90a" else "", "bf16"), ((90, 3, 256, 96), "", "f32"),
    ]):
        layer = Layer(format, *sizes, element, activation, seed=number)
        got, kernels = run_kernels(tmp_path, layer, device, schedule, dynamic, fuses=True)
        unfused, more = run_kernels(tmp_path, layer, device, schedule, dynamic, fuses=False)
        assert kernels.count("quantize") == 1 and more.count("quantize") == 2, (kernels, more)
        for one, other in zip(got, unfused):
            np.testing.assert_array_equal(one.view(np.uint8), other.view(np.uint8))
        if activation == "difference":
            expected, quantized = reference(layer, operands_of(layer))
            for one, other in zip(got, (expected, *quantized)):
                np.testing.assert_array_equal(one, other)


# Where a warp does not hold a block: few columns, lanes that have columns, kernels of which the launch chooses one.
UNFUSED = {
    "few": ("sm_120a", f"tile=32x64x128,{WARPS}", "mxfp8"),
    "swapped": ("sm_100a", f"tile=128x64x128,{TCGEN05},swap_ab=1", "mxfp8"),
    "parts": ("sm_100a", f"tile=64x256x256,{TCGEN05},{PAIR}", "nvfp4"),
    "chosen": ("sm_90a", None, "nvfp4"),
}


@pytest.mark.parametrize("name", UNFUSED)
def test_not_fused(name, tmp_path):
    device, schedule, format = UNFUSED[name]
    layer = Layer(format, 20, 5, 128, 128)
    got, kernels = run_kernels(tmp_path, layer, device, schedule, "ST", fuses=True)
    assert kernels.count("quantize") == 2
    expected, quantized = reference(layer, operands_of(layer))
    for one, other in zip(got, (expected, *quantized)):
        np.testing.assert_array_equal(one, other)


def quantized(text, sums, format):
    """A program with a quantize of its result, and the expected results."""
    element, scale, block = FORMATS[format]
    head, name, result = re.fullmatch(r"(.*)  return (%\w+) : (\S+)\n}\n", text, re.DOTALL).groups()
    sizes = re.fullmatch(r"tensor<(.*)x\w+>", result).group(1)
    rows, columns = sizes.split("x")
    blocks = columns if columns == "?" else int(columns) // block
    results = f"tensor<{sizes}x{element}>, tensor<{rows}x{blocks}x{scale}>"
    head = re.sub(r"\) -> \(?[^()]*\)? \{\n", f") -> ({results}) {{\n", head, count=1)
    return head + f"""\
  %codes, %scales = blockscale.quantize {name} {{block_size = {block} : i64}} : {result} to {results}
  return %codes, %scales : {results}
}}
""", blockscale.quantize(sums.astype(np.float32), element, scale, block)


@pytest.mark.parametrize("weights, format, dynamic, device", tiers.product(
    ["plain", "transposed", "mxfp4", "nvfp4"], ["mxfp8", "nvfp4"], [False, True], devices.CHIPS))
def test_products_of_bf16(weights, format, dynamic, device, tmp_path):
    """Pairs of columns of other products, with an accumulator and rows of nobody."""
    product = Matmul(weights, [1, 127, 0, 129], 3, 256, 128, "bf16", ("rows", "bias"))
    sums = product.reference()
    blocks = sums.reshape(len(sums), -1, 2, 8)
    first, second = (blocks[:, :, half].reshape(len(sums), -1) for half in (0, 1))
    values = np.minimum(first, LIMIT) - (second + second)
    text, expected = quantized(gate(product.text(dynamic), "difference"), values, format)
    got = devices.run(tmp_path, text, [*product.arrays(), LIMIT], device, 2)
    for one, other in zip(got, expected):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("types, format, schedule, device", tiers.product(
    [MXFP8, NVFP4], ["mxfp8", "mxfp4", "nvfp4"], [f"tile=64x128x128,{WARPS}", "tile=32x64x128,warps=1x1,stages=2"],
    ["sm_80", "sm_120a"]))
def test_y_along_columns(types, format, schedule, device, tmp_path):
    """Lanes have other columns if y is contiguous along them."""
    case = make_exact(types, [0, 5, 70, 3], 2, n=256, k=128)
    sums = case_reference(case).reshape(80, -1, 2, 8)
    first, second = (sums[:, :, half].reshape(80, -1) for half in (0, 1))
    values = np.minimum(first, LIMIT) - (second + second)
    text, expected = quantized(gate(program(case), "difference"), values, format)
    arrays, statistics = [*case.operands.values(), LIMIT], tmp_path / "stats.json"
    got = devices.run(tmp_path, text, arrays, device, 2, flags=[f"--schedule={schedule}", f"--stats={statistics}"])
    for one, other in zip(got, expected):
        np.testing.assert_array_equal(one, other)
    assert not any("quantize" in kernel["name"] for kernel in json.loads(statistics.read_text())["kernels"])


@pytest.mark.parametrize("types, format, dynamic, device", tiers.product(
    [MXFP8, NVFP4], ["mxfp8", "mxfp4", "nvfp4"], ["", "TR"], devices.CHIPS))
def test_without_gate(types, format, dynamic, device, tmp_path):
    """The result itself, which kernels quantize as that of other products."""
    case = make_exact(types, [0, 5, 70, 3], 2, n=128, k=128, options=("rows", "group_scale", "bias"))
    text, expected = quantized(program(case, dynamic), case_reference(case), format)
    arrays = [*case.operands.values(), *case.options.values()]
    got = devices.run(tmp_path, text, arrays, device, 2)
    for one, other in zip(got, expected):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("device", devices.CHIPS)
def test_atoms_of_scales(device, tmp_path):
    """Scales in the 32x4x4 layout, whose padding is not that of each tile: tiles start at any row."""
    case = make_exact(MXFP8, [0, 5, 70, 3], 2, n=128, k=128)
    text, (codes, scales) = quantized(program(case), case_reference(case), "mxfp8")
    atoms = "tensor<1x1x32x16xf8E8M0FNU>"
    head, tail = text.split("  return ")
    row_major = re.search(r"tensor<\w+xf8E8M0FNU>$", tail.split("\n")[0]).group(0)
    text = head.replace(f"{row_major}) {{", f"{atoms}) {{", 1) + f"""\
  %atoms = blockscale.swizzle_scales %scales : {row_major} to {atoms}
  return {tail.replace('%scales', '%atoms').replace(row_major, atoms)}"""
    got = devices.run(tmp_path, text, case.operands.values(), device, 2)
    np.testing.assert_array_equal(got[0], codes)
    np.testing.assert_array_equal(got[1], blockscale.swizzle_scales(scales))
