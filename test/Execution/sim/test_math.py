"""Functions of math on the CPU and in the simulator, against Python's functions of float64.

The CPU calls the C library. GPUs have approximations: benchmarks/math_errors.py measures these for
all arguments, and here they have to be within the errors of docs/Numerics.md for some, the ends among
them, on each chip. GELU and SiLU stand alone and behind an mma_scaled.
"""

import math
import re
import subprocess

import numpy as np
import pytest
from harness import REPO, RUN

CHIPS = ["sm_80", "sm_90a", "sm_100a", "sm_120a"]
DEVICES = {"cpu": ["--device=cpu"], **{c: ["--device=sim", f"--target={c}"] for c in CHIPS}}
HEADER = (REPO / "include/blockscale/Support/MathErrors.h").read_text()
PROMISED = {name: float(ulp) for name, ulp in re.findall(r'\{"math\.(\w+)", ([\d.]+)\}', HEADER)}
PAGE = (REPO / "docs/Numerics.md").read_text()
# Those that are approximated, in ulps; the others are exact, rounded once.
ERRORS = {name: float(ulp) for name, ulp in re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", PAGE, re.M)}


def run(folder, device, text, *arrays, results=1, check=True):
    program = folder / "program.mlir"
    program.write_text(text)
    command = [RUN, program, *DEVICES[device]]
    for i in range(results):
        command += ["-o", folder / f"out{i}.npy"]
    for i, array in enumerate(arrays):
        np.save(folder / f"in{i}.npy", array)
        command.append(folder / f"in{i}.npy")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if not check:
        return done
    assert done.returncode == 0, done.stderr
    return [np.load(folder / f"out{i}.npy") for i in range(results)]


def bf16(x):
    """f32 values truncated to bf16."""
    return (x.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)


# The functions

UNARY = {
    "absf": np.abs, "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "roundeven": np.rint,
    "round": lambda x: np.copysign(np.trunc(np.abs(x) + 0.5), x), "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log,
    "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "erf": np.vectorize(math.erf, otypes=[float]),
}


def arguments():
    rng = np.random.default_rng(1)
    ends = [0, 1, 2.0**-149, 2.0**-127, 2.0**-126, 0.5, 1.5, 2.5, 3, 88.7, 89, 103.9, 104, 128, 149, 1e10, 3e38,
            np.inf, np.nan, np.pi, 16777215.0]
    bits = rng.integers(0, 1 << 32, 120, np.uint64).astype(np.uint32).view(np.float32)
    near = np.concatenate([rng.normal(size=60), rng.uniform(-100, 100, 60), 1 + rng.normal(size=40) * 1e-3])
    x = np.concatenate([ends, np.negative(ends), bits, near]).astype(np.float32)
    return np.resize(x, 320)


def assert_near(result, exact, ulp, what):
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        _, exponent = np.frexp(np.where(np.isfinite(exact), exact, 1))
        unit = np.ldexp(1.0, np.maximum(exponent - 1, -126) - 23)
        error = np.abs(result.astype(np.float64) - exact) / unit
    isSame = (result == rounded) | (np.isnan(result) & np.isnan(rounded))
    wrong = np.flatnonzero(~(isSame | (np.isfinite(error) & (error <= ulp))))
    assert not wrong.size, [f"{what}: {result[i]!r}, not {rounded[i]!r} (#{i})" for i in wrong[:5]]
    zeros = (rounded == 0) & (exact == 0)
    assert (np.signbit(result) == np.signbit(rounded))[zeros].all(), what


@pytest.mark.parametrize("device", DEVICES)
def test_functions(device, tmp_path):
    x = arguments()
    kind = f"tensor<{len(x)}xf32>"
    lines = [f"%{name} = math.{name} %x : {kind}" for name in UNARY]
    names = ", ".join(f"%{name}" for name in UNARY)
    kinds = ", ".join([kind] * len(UNARY))
    text = f"func.func @main(%x: {kind}) -> ({kinds}) {{\n" + "\n".join(lines)
    text += f"\nreturn {names} : {kinds}\n}}\n"
    results = run(tmp_path, device, text, x, results=len(UNARY))
    for (name, function), result in zip(UNARY.items(), results):
        with np.errstate(all="ignore"):
            exact = function(x.astype(np.float64))
        ulp = ERRORS.get(name, 0.5)
        if device == "cpu":
            # The C library is that of the machine.
            ulp = max(ulp, 4)
        assert_near(result, exact, ulp, name)


@pytest.mark.parametrize("device", DEVICES)
def test_functions_of_two_and_three(device, tmp_path):
    ends = np.array([0.0, -0.0, 1, -1, 2, 0.5, -2, 3, -3, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-40, 127.9], np.float32)
    x, y = (part.ravel() for part in np.meshgrid(ends, ends))
    kind = f"tensor<{len(x)}xf32>"
    text = f"""func.func @main(%x: {kind}, %y: {kind}) -> ({kind}, {kind}, {kind}) {{
      %p = math.powf %x, %y : {kind}
      %c = math.copysign %x, %y : {kind}
      %f = math.fma %x, %y, %x : {kind}
      return %p, %c, %f : {kind}, {kind}, {kind}
    }}"""
    power, sign, product = run(tmp_path, device, text, x, y, results=3)
    a, b = x.astype(np.float64), y.astype(np.float64)
    with np.errstate(all="ignore"):
        assert_near(power, np.power(a, b), ERRORS["powf"] if device != "cpu" else 1, "powf")
        assert_near(sign, np.copysign(a, b), 0, "copysign")
        assert_near(product, a * b + a, 0.5, "fma")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_short_floats(element, device, tmp_path):
    x = np.linspace(-9, 9, 64).astype(np.float32)
    x = bf16(x) if element == "bf16" else x.astype(np.float16)
    kind = f"tensor<64x{element}>"
    text = f"""func.func @main(%x: {kind}) -> ({kind}, {kind}) {{
      %e = math.exp %x : {kind}
      %t = math.tanh %x : {kind}
      return %e, %t : {kind}, {kind}
    }}"""
    data = (x.view(np.uint32) >> 16).astype(np.uint16) if element == "bf16" else x
    for result, function in zip(run(tmp_path, device, text, data, results=2), (np.exp, np.tanh)):
        exact = function(x.astype(np.float64))
        if element == "bf16":
            result = (result.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        # Half an ulp of the type, and the error of an f32 where that is between two.
        bits = {"f16": 11, "bf16": 8}[element]
        unit = np.ldexp(1.0, np.maximum(np.frexp(exact)[1], -13) - bits)
        assert (np.abs(result.astype(np.float64) - exact) <= unit * (0.5 + 2.0 ** (bits - 22))).all()


@pytest.mark.parametrize("op", ["exp %x : tensor<4xf64>", "acosh %x : tensor<4xf32>", "cbrt %x : tensor<4xf32>"])
def test_refused_by_name(op, tmp_path):
    kind = op.split(" : ")[1]
    text = f"func.func @main(%x: {kind}) -> {kind} {{\n  %0 = math.{op}\n  return %0 : {kind}\n}}\n"
    x = np.ones(4, np.float64 if "f64" in kind else np.float32)
    done = run(tmp_path, "sm_120a", text, x, check=False)
    assert done.returncode == 1
    name = op.split()[0]
    assert re.search(rf"program.mlir:2:8: error: not supported in this version: 'math\.{name}' on 'f\d\d'", done.stderr)


# Layers

ROWS, COLUMNS, K = 8, 16, 64
KIND = f"tensor<{ROWS}x{COLUMNS}xf32>"


def constant(name, value):
    return f"%{name} = arith.constant dense<{value!r}> : {KIND}"


def op(name, text):
    return f"%{name} = {text} : {KIND}"


GELU_ERF = [constant("h", 0.5), constant("r", 0.7071067811865476), constant("one", 1.0),
            op("0", "arith.mulf %x, %r"), op("1", "math.erf %0"), op("2", "arith.addf %1, %one"),
            op("3", "arith.mulf %x, %h"), op("y", "arith.mulf %3, %2")]
GELU_TANH = [constant("h", 0.5), constant("c", 0.044715), constant("s", 0.7978845608028654), constant("one", 1.0),
             op("0", "arith.mulf %x, %x"), op("1", "arith.mulf %0, %x"), op("2", "arith.mulf %1, %c"),
             op("3", "arith.addf %x, %2"), op("4", "arith.mulf %3, %s"), op("5", "math.tanh %4"),
             op("6", "arith.addf %5, %one"), op("7", "arith.mulf %x, %h"), op("y", "arith.mulf %7, %6")]
SILU = [constant("one", 1.0), op("0", "arith.negf %x"), op("1", "math.exp %0"), op("2", "arith.addf %1, %one"),
        op("y", "arith.divf %x, %2")]


def gelu_erf(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x * 0.7071067811865476))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


LAYERS = {"gelu_erf": (GELU_ERF, gelu_erf), "gelu_tanh": (GELU_TANH, gelu_tanh),
          "silu": (SILU, lambda x: x / (1 + np.exp(-x)))}
MMA = f"""%x = blockscale.mma_scaled %a, %as, %b, %bs, %in
  : tensor<{ROWS}x{K}xf8E4M3FN>, tensor<{ROWS}x2xf8E8M0FNU>, tensor<{K}x{COLUMNS}xf8E4M3FN>,
    tensor<2x{COLUMNS}xf8E8M0FNU>, {KIND}"""
MMA_ARGS = f"""%a: tensor<{ROWS}x{K}xf8E4M3FN>, %as: tensor<{ROWS}x2xf8E8M0FNU>,
  %b: tensor<{K}x{COLUMNS}xf8E4M3FN>, %bs: tensor<2x{COLUMNS}xf8E8M0FNU>"""


def function(name, body, behind_mma):
    args = f"{MMA_ARGS}, %in: {KIND}" if behind_mma else f"%x: {KIND}"
    lines = [MMA, *body] if behind_mma else body
    return f"func.func @{name}({args}) -> {KIND} {{\n" + "\n".join(lines) + f"\nreturn %y : {KIND}\n}}\n"


@pytest.mark.parametrize("behind_mma", [False, True], ids=["alone", "epilogue"])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("layer", LAYERS)
def test_layers(layer, device, behind_mma, tmp_path):
    body, reference = LAYERS[layer]
    rng = np.random.default_rng(5)
    x = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32) * 3
    arrays = [x]
    if behind_mma:  # The product is 0, or NaN in the last row.
        a, b = np.zeros((ROWS, K), np.uint8), np.full((K, COLUMNS), 0x38, np.uint8)
        arrays = [a, np.full((ROWS, 2), 127, np.uint8), b, np.full((2, COLUMNS), 127, np.uint8), x]
        a[-1] = 0x7F
    (result,) = run(tmp_path, device, function(layer, body, behind_mma), *arrays)
    exact = reference(x.astype(np.float64))
    rows = ROWS - 1 if behind_mma else ROWS
    np.testing.assert_allclose(result[:rows], exact[:rows], rtol=4e-6, atol=1e-6)
    assert np.isnan(result[rows:]).all()


def test_promised_errors():
    """MathErrors.h promises no less than docs/Numerics.md states, for each function."""
    assert len(ERRORS) == 16
    for name, ulp in ERRORS.items():
        assert PROMISED[name] >= ulp, name
