"""Weights that upstream ops decode: after raising, one kernel reads quantized elements, with the same results."""

import json
import subprocess

import blockscale
import harness
import numpy as np
import pytest
from imported_weights import Imported, covering, operands, run, sample, write
from test_weight_only import EDGES
from weight_only_cases import FORMATS

CHIPS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
CASES = [
    case for case in covering(sample(600, seed=1))
    # Rows of products that have sizes of two arguments.
    if not (case.is_dynamic and case.product == "shared")
]


def get_kernels(said):
    """The matrix instructions of each kernel, from what was said."""
    statistics = json.JSONDecoder().raw_decode(said[said.index('{\n  "version"'):])[0]
    return {kernel["name"]: kernel["instructions"]["matrix"] for kernel in statistics["kernels"]}


def check(case, arrays, device, folder):
    """Raised, on the CPU and on `device`, the program gives what it gives as it is."""
    text = write(case)
    plain, _ = run(folder, text, arrays, "cpu", is_raised=False)
    for where in ("cpu", device):
        raised, said = run(folder, text, arrays, where)
        np.testing.assert_array_equal(raised, plain, err_msg=f"{where}\n{text}")
        if where == "cpu":
            assert not said, said
    return get_kernels(said)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda i: str(CASES[i]))
def test_forms(number, tmp_path):
    """Each choice of what an importer writes."""
    case, device = CASES[number], CHIPS[number % len(CHIPS)]
    if case.is_dynamic and device == "sm_90a":
        device = "sm_80"  # There y is dequantized first where sizes are dynamic.
    kernels = check(case, operands(case), device, tmp_path)
    # Beside it there are copies of results that are transposed or expanded.
    assert sum(matrix > 0 for matrix in kernels.values()) == 1
    assert len(kernels) == 1 or case.is_left or case.product == "shared"


def test_report(tmp_path):
    """The program of a report: one kernel of matrix instructions on each chip."""
    case = Imported(m=64, n=128, k=256)
    for device in CHIPS:
        assert list(check(case, operands(case), device, tmp_path)) == ["main"]


def test_weights_first(tmp_path):
    """Of more rows on sm_90a weights that are stored K x N go through memory, with the scale that a tensor holds."""
    case = Imported("mxfp8", "kn", tensor_scale="tensor<f32>", m=100, n=17, k=128)
    text, arrays = write(case), operands(case)
    plain, _ = run(tmp_path, text, arrays, "cpu", is_raised=False)
    raised, said = run(tmp_path, text, arrays, "sm_90a")
    assert "y is dequantized first" in said
    np.testing.assert_array_equal(raised, plain)


# Ways that differ in what they round; formats but for the block size.
@pytest.mark.parametrize("dtype", ["truncf", "bf16", "f32", "to f16", "f16"])
@pytest.mark.parametrize("format", [name for name in FORMATS if name != "mxfp4-16"])
def test_all_codes_and_scales(format, dtype, tmp_path):
    """Ends of all ranges: one number in each row of the weights, rounded as the program does."""
    element, scale, block = FORMATS[format]
    codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
    scales = np.array(EDGES if scale == "f8E8M0FNU" else range(256), np.uint8)
    for g in (None, 0.3) if dtype == "truncf" else (None,):
        case = Imported(format, "nk", dtype, tensor_scale=g and "f32", n=len(codes) * len(scales), m=3, k=64)
        if not case.is_legal():
            continue
        x = np.zeros((3, 64), np.float32)
        x[:, 0] = [1, -2, 0.25]
        y = np.zeros((case.n, 64), np.uint8)
        y_scales = np.full((case.n, 64 // block), 0x38 if scale == "f8E4M3FN" else 127, np.uint8)
        y[:, 0], y_scales[:, 0] = np.tile(codes, len(scales)), np.repeat(scales, len(codes))
        x = x.astype(np.float16) if case.x_element == "f16" else (x.view(np.uint32) >> 16).astype(np.uint16)
        arrays = [x, y, y_scales, *([np.float32(g)] if g else [])]
        assert list(check(case, arrays, "sm_80", tmp_path)) == ["main"]


def test_scales_of_unknown_sign(tmp_path):
    """f8E4M3FN scales: the option says that they are not negative."""
    case = Imported("nvfp4")
    text = write(case).replace("math.absf %e1", "arith.addf %e1, %zero").replace(
        ") -> tensor<5x24xf32> {", ") -> tensor<5x24xf32> {\n  %zero = arith.constant 0.0 : f32", 1)
    text = text.replace("%p = arith.addf %e1, %zero : f32\n", "").replace("%p, %e0", "%e1, %e0")
    arrays = operands(case)
    arrays[2] &= 0x7F
    expected, _ = run(tmp_path, write(case), arrays, "cpu")
    (tmp_path / "p.mlir").write_text(text)
    for flag, count in (("--blockscale-raise", 0), ("--blockscale-raise=assume-positive-scales", 1)):
        done = subprocess.run([harness.RUN.with_name("blockscale-opt"), "p.mlir", flag], cwd=tmp_path,
                              capture_output=True, text=True, check=True)
        assert done.stdout.count("blockscale.dequantize") == count
        assert ("the sign of f8E4M3FN" in done.stderr) == (count == 0)
    np.testing.assert_array_equal(run(tmp_path, done.stdout, arrays, "cpu", is_raised=False)[0], expected)
