"""An attention head as one function: scores, softmax, quantise, and the sum of the values."""

import re
import subprocess

import blockscale
import harness
import numpy as np
import pytest
from quantize_cases import CHIPS, quantize_op, run, tensor

# Queries, keys, the depth of both, and the depth of values.
Q, N, D, V = 64, 128, 64, 96
FORMATS = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32),
    "mxfp6": ("f6E2M3FN", "f8E8M0FNU", 32),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16),
}
# Of elements: mantissa bits, smallest and largest number.
ELEMENTS = {"f8E4M3FN": (3, 2.0**-9, 448), "f6E2M3FN": (3, 0.125, 7.5), "f4E2M1FN": (1, 0.5, 6)}
# With ue4m3 scales a share of 1 has the largest scale.
TENSOR_SCALE = np.float32(1 / (448 * 6))


def program(element, scale, block):
    """%q and %k times its transpose, shares of that, and these times %v, whose rows are stored as columns."""
    hasG = scale == "f8E4M3FN"

    def operand(name, shape):
        blocks = (shape[0], shape[1] // block)
        return f"%{name}: {tensor(shape, element)}, %{name}_s: {tensor(blocks, scale)}"

    def transposed(name, shape, kind):
        stored, turned = tensor(shape, kind), tensor(shape[::-1], kind)
        return (
            f"  %{name}_e = tensor.empty() : {turned}\n"
            f"  %{name}_t = linalg.transpose ins(%{name} : {stored}) outs(%{name}_e : {turned})"
            " permutation = [1, 0]"
        )

    def multiply(name, x, y, m, k, n):
        types = (
            tensor((m, k), element), tensor((m, k // block), scale), tensor((k, n), element),
            tensor((k // block, n), scale), tensor((m, n), "f32"),
        )
        return "\n".join([
            transposed(y, (n, k), element), transposed(f"{y}_s", (n, k // block), scale),
            f"  %{name}_0 = arith.constant dense<0.0> : {types[-1]}",
            f"  %{name} = blockscale.mma_scaled %{x}, %{x}_s, %{y}_t, %{y}_s_t, %{name}_0 : {', '.join(types)}",
        ])

    scores, result = tensor((Q, N), "f32"), tensor((Q, V), "f32")
    line, _ = quantize_op("p", "%shares", element, scale, block, "f32", (Q, N), g="%g" if hasG else None)
    line = line.replace("%p_c, %p_s =", "%p, %p_s =")
    lines = [
        f"func.func @main({operand('q', (Q, D))}, {operand('k', (N, D))}, {operand('v', (V, N))}) -> {result} {{",
        f"  %g = arith.constant {float(TENSOR_SCALE)!r} : f32" if hasG else "",
        multiply("qk", "q", "k", Q, D, N),
        f"  %root = arith.constant dense<{D**-0.5}> : {scores}",
        f"  %scores = arith.mulf %qk, %root : {scores}",
        f"  %shares_e = tensor.empty() : {scores}",
        f"  %shares = linalg.softmax dimension(1) ins(%scores : {scores}) outs(%shares_e : {scores}) -> {scores}",
        line,
        multiply("pv", "p", "v", Q, N, V),
    ]
    if hasG:
        lines += [f"  %gs = arith.constant dense<{float(TENSOR_SCALE)!r}> : {result}",
                  f"  %r = arith.mulf %pv, %gs : {result}"]
    return "\n".join([*lines, f"  return %{'r' if hasG else 'pv'} : {result}", "}"]) + "\n"


def make(format):
    """Arguments, and their values in f64."""
    element, scale, block = FORMATS[format]
    rng = np.random.default_rng(7)
    arrays, operands = [], []
    for shape, size in (((Q, D), 1.5), ((N, D), 1.5), ((V, N), 1)):
        x = (size * rng.standard_normal(shape)).astype(np.float32)
        codes, scales = blockscale.quantize(x, element, scale, block)[:2]
        arrays += [codes, scales]
        operands.append(blockscale.dequantize(codes, scales, element, scale, block).astype(np.float64))
    return arrays, operands


def expect(operands, element, scale, block):
    """The result without any rounding, and how far the codes of the shares may take one from it."""
    q, k, v = operands
    scores = q @ k.T / np.sqrt(D)
    shares = np.exp(scores - scores.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    mantissa, smallest, largest = ELEMENTS[element]
    amax = shares.reshape(Q, -1, block).max(2).repeat(block, 1)
    # A power of two is up to twice what it has to be; ue4m3 is rounded, and no smaller than its least.
    s = amax / largest * 2 if scale == "f8E8M0FNU" else amax / largest * (1 + 2.0**-4) + TENSOR_SCALE * 2.0**-10
    # Half a step; that of a scale which was rounded down, and cuts the largest off, is no more.
    error = np.maximum(shares * 2.0 ** -(mantissa + 1), s * smallest / 2)
    slack = 1e-5 * shares
    return shares @ v.T, (error + slack) @ np.abs(v).T


@pytest.mark.parametrize("format", FORMATS)
def test_attention(format, tmp_path):
    arrays, operands = make(format)
    expected, bound = expect(operands, *FORMATS[format])
    text = program(*FORMATS[format])
    results = {device: run(tmp_path, text, arrays, 1, device)[0] for device in ("cpu", "sm_80", *CHIPS)}
    for device, result in results.items():
        assert (np.abs(result - expected) <= bound).all(), (device, (np.abs(result - expected) / bound).max())
        # A share that is rounded otherwise may cross a border of the quantize.
        difference = np.linalg.norm(result - results["cpu"]) / np.linalg.norm(expected)
        assert difference < 2e-3, (device, difference)


@pytest.mark.parametrize("format", ("mxfp8", "nvfp4"))
def test_bounds(format, tmp_path):
    """--compare knows bounds through all of it."""
    program_file = tmp_path / "attention.mlir"
    program_file.write_text(program(*FORMATS[format]))
    inputs = [tmp_path / f"in{i}.npy" for i in range(6)]
    for path, array in zip(inputs, make(format)[0]):
        np.save(path, array)
    done = subprocess.run(
        [harness.RUN, program_file, "--device=sim", "--target=sm_120a", "--compare", "-o", tmp_path / "o.npy", *inputs],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^result #0: largest error", done.stderr, re.M), done.stderr
