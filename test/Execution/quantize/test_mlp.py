"""Two layers as one function: quantise, multiply, bias, GELU, quantise, multiply."""

import json
import math
import subprocess

import blockscale
import harness
import numpy as np
import pytest
from quantize_cases import CHIPS, quantize_op, run, tensor

M, K, H, N = 128, 256, 256, 64
FORMATS = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32),
    "mxfp6": ("f6E2M3FN", "f8E8M0FNU", 32),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16),
}
# Of the result against f64 without any rounding, as a share: what the formats themselves cost.
ERROR = {"mxfp8": 0.06, "mxfp6": 0.08, "mxfp4": 0.3, "nvfp4": 0.25}


def program(element, scale, block, atoms=False):
    """Scales of weights are rows, or `atoms` of the 32x4x4 layout."""

    def scales(name, n, k):
        stored = tensor((n, k // block), scale)
        if not atoms:
            return f"%{name}_s: {stored}", []
        swizzled = tensor((-(-n // 128), -(-k // (4 * block)), 32, 16), scale)
        return f"%{name}_t: {swizzled}", [
            f"  %{name}_s = blockscale.unswizzle_scales %{name}_t : {swizzled} to {stored}"
        ]

    (a_scales, a_lines), (b_scales, b_lines) = scales("a", H, K), scales("b", N, H)

    def transposed(name, shape, kind):
        stored, seen = tensor(shape, kind), tensor(shape[::-1], kind)
        return (
            f"  %{name}_e = tensor.empty() : {seen}\n"
            f"  %{name}_t = linalg.transpose ins(%{name} : {stored}) outs(%{name}_e : {seen})"
            " permutation = [1, 0]"
        )

    def layer(name, x, m, k, n):
        """%NAME = x, quantised, times the transpose of %NAME_w."""
        line, types = quantize_op(f"{name}_x", x, element, scale, block, "f32", (m, k))
        types = (
            *types, tensor((k, n), element), tensor((k // block, n), scale), tensor((m, n), "f32")
        )
        return "\n".join([
            line,
            transposed(f"{name}_w", (n, k), element),
            transposed(f"{name}_s", (n, k // block), scale),
            f"  %{name}_0 = arith.constant dense<0.0> : {types[-1]}",
            f"  %{name} = blockscale.mma_scaled %{name}_x_c, %{name}_x_s, %{name}_w_t, %{name}_s_t,"
            f" %{name}_0 : {', '.join(types)}",
        ])

    hidden, bias = tensor((M, H), "f32"), tensor((H,), "f32")
    arguments = ", ".join([
        f"%x: {tensor((M, K), 'f32')}", f"%bias: {bias}",
        f"%a_w: {tensor((H, K), element)}", a_scales, f"%b_w: {tensor((N, H), element)}", b_scales,
    ])
    return f"""#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
func.func @main({arguments}) -> {tensor((M, N), 'f32')} {{
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.70710678 : f32
{chr(10).join([*a_lines, *b_lines])}
{layer("a", "%x", M, K, H)}
  %e = tensor.empty() : {hidden}
  %h = linalg.generic {{indexing_maps = [#rows, #columns, #rows],
                       iterator_types = ["parallel", "parallel"]}}
      ins(%a, %bias : {hidden}, {bias}) outs(%e : {hidden}) {{
  ^bb0(%sum: f32, %shift: f32, %old: f32):
    %v = arith.addf %sum, %shift : f32
    %scaled = arith.mulf %v, %root : f32
    %erf = math.erf %scaled : f32
    %share = arith.addf %erf, %one : f32
    %halved = arith.mulf %v, %half : f32
    %gelu = arith.mulf %halved, %share : f32
    linalg.yield %gelu : f32
  }} -> {hidden}
{layer("b", "%h", M, H, N)}
  return %b : {tensor((M, N), 'f32')}
}}
"""


def relative(result, expected):
    return np.linalg.norm(result - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("format", FORMATS)
def test_mlp(format, tmp_path):
    element, scale, block = FORMATS[format]
    rng = np.random.default_rng(5)
    x, bias = (rng.standard_normal(n).astype(np.float32) for n in ((M, K), H))
    weights = [rng.standard_normal(n).astype(np.float32) / 4 for n in ((H, K), (N, H))]
    codes = [blockscale.quantize(w, element, scale, block)[:2] for w in weights]
    text = program(element, scale, block)
    arrays = [x, bias, *codes[0], *codes[1]]
    [reference] = run(tmp_path, text, arrays, 1, "cpu")
    hidden = x.astype(np.float64) @ weights[0].T + bias
    hidden *= (1 + np.vectorize(math.erf)(hidden / math.sqrt(2))) / 2
    assert relative(reference, hidden @ weights[1].T) < ERROR[format]
    for chip in CHIPS:
        [result] = run(tmp_path, text, arrays, 1, chip)
        # A sum that is rounded otherwise may cross a border of the second quantize.
        assert relative(result, reference) < 1e-3, chip


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("format", FORMATS)
def test_kernels(format, chip, tmp_path):
    """One that quantises x, and a product each: the first one quantises its result, and swizzles its scales."""
    program_file, info = tmp_path / "mlp.mlir", tmp_path / "info.json"
    program_file.write_text(program(*FORMATS[format], atoms=True))
    subprocess.run(
        [harness.RUN.with_name("blockscale-compile"), program_file, f"--target={chip}",
         f"--launch-info={info}", "-o", tmp_path / "mlp.ptx"],
        check=True,
    )
    kernels = json.loads(info.read_text())
    names = [kernel["name"] for kernel in kernels["kernels"]]
    assert len(names) == 3 and ["quantize" in name for name in names] == [True, False, False]
    # No matrix of f32 between the layers.
    assert kernels["workspace"] < M * H * 4
