"""What ops around a product cost, as docs/Views.md says: the kernels that they add, on four chips.

Each case is a product of 256 x 1024 x 1024 with something instead of x, of its scales, of y, or behind
the result. All cases of a chip are compiled together, down to the level of kernels.
"""

import re
import subprocess

import examples
import pytest

CHIPS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
M, N, K, K_S = 256, 1024, 1024, 32


def t(*sizes_and_type):
    return "tensor<" + "x".join(map(str, sizes_and_type)) + ">"


FP8, FP4, SCALE = "f8E4M3FN", "f4E2M1FN", "f8E8M0FNU"
SX, SY, D = t(M, K_S, SCALE), t(K_S, N, SCALE), t(M, N, "f32")
ATOMS_X, ATOMS_Y = t(M // 128, K // 128, 32, 16, SCALE), t(N // 128, K // 128, 32, 16, SCALE)


def transpose(result, source, rows, columns, element):
    to = t(columns, rows, element)
    return f"""%{result}_e = tensor.empty() : {to}
      %{result} = linalg.transpose ins(%{source} : {t(rows, columns, element)}) outs(%{result}_e : {to})
          permutation = [1, 0]"""


UNSWIZZLED = f"%xs = blockscale.unswizzle_scales %sx : {ATOMS_X} to {SX}"


def function(name, arguments="", x="", sx=None, y=None, ys=None, acc=None, post="", result="%d", type=D, element=FP8):
    """A function; `x`, `sx`, ... are pairs (arguments, ops that make the operand of them)."""
    x = x or (f"%x: {t(M, K, element)}", "")
    sx = sx or (f"%sx: {ATOMS_X}", UNSWIZZLED)
    y = y or (f"%y_nk: {t(N, K, element)}", transpose("y", "y_nk", N, K, element))
    ys = ys or (
        f"%sy: {ATOMS_Y}",
        f"%ys_nk = blockscale.unswizzle_scales %sy : {ATOMS_Y} to {t(N, K_S, SCALE)}\n"
        + transpose("ys", "ys_nk", N, K_S, SCALE),
    )
    acc = f"%acc = arith.constant dense<0.0> : {D}" if acc is None else acc
    parts = (x, sx, y, ys)
    types = f"{t(M, K, element)}, {SX}, {t(K, N, element)}, {SY}, {D}"
    return f"""func.func @{name}({", ".join(filter(None, [*(part[0] for part in parts), arguments]))}) -> ({type}) {{
      {chr(10).join(part[1] for part in parts)}
      {acc}
      %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc : {types}
      {post}
      return {result} : {type}
    }}"""


def sliced(result, source, sizes, whole, offsets, strides=(1, 1), element=FP8):
    def brackets(values):
        return "[" + ", ".join(map(str, values)) + "]"

    arguments = f"%{source}: {t(*whole, element)}"
    ops = f"""%{result} = tensor.extract_slice %{source}{brackets(offsets)} {brackets(sizes)} {brackets(strides)}
        : {t(*whole, element)} to {t(*sizes, element)}"""
    return arguments, ops


def collapsed(result, source, sizes, element=FP8):
    rows, columns = sizes
    shape = t(2, rows // 2, columns, element)
    ops = f"%{result} = tensor.collapse_shape %{source} [[0, 1], [2]] : {shape} into {t(*sizes, element)}"
    return f"%{source}: {shape}", ops


def with_transpose(operand, source):
    return operand[0], operand[1] + "\n" + transpose("y", source, N, K, FP8)


DOUBLE, BF16, TRANSPOSED = t(2 * M, N, "f32"), t(M, N, "bf16"), t(N, M, "f32")
HALVES = t(2, M // 2, N, "f32")
ZERO = f"%z = arith.constant dense<0.0> : {D}"
BROADCAST = f"""%e = tensor.empty() : {D}
  %row = linalg.broadcast ins(%b : {t(N, "f32")}) outs(%e : {D}) dimensions = [0]"""
EXPAND = f"%r0 = tensor.expand_shape %d [[0, 1], [2]] output_shape [2, {M // 2}, {N}] : {D} into {HALVES}"

COPY = "loops"
# Name, kernels besides those of the bare product (the same on all chips, or for each), keywords of `function`.
CASES = [
    ("x_along_m", "", dict(x=(f"%xk: {t(K, M, FP8)}", transpose("x", "xk", K, M, FP8)))),
    ("x_collapsed", "", dict(x=collapsed("x", "x3", (M, K)))),
    ("x_expanded", "", dict(x=(f"%x1: {t(M * K, FP8)}",
        f"%x = tensor.expand_shape %x1 [[0, 1]] output_shape [{M}, {K}] : {t(M * K, FP8)} into {t(M, K, FP8)}"))),
    ("x_cast", "", dict(x=(f"%xd: {t('?', '?', FP8)}", f"%x = tensor.cast %xd : {t('?', '?', FP8)} to {t(M, K, FP8)}"))),
    ("x_fp4_collapsed", "", dict(element=FP4, x=collapsed("x", "x3", (M, K), FP4))),
    ("x_slice_of_rows", (COPY, f"{COPY} {COPY}", COPY, COPY), dict(x=sliced("x", "x1", (M, K), (2 * M, K), (M, 0)))),
    ("x_slice_of_columns", (COPY, f"{COPY} {COPY}", COPY, COPY),
        dict(x=sliced("x", "x1", (M, K), (M, 2 * K), (0, K)))),
    ("x_slice_with_stride", (COPY, f"{COPY} {COPY}", COPY, COPY),
        dict(x=sliced("x", "x1", (M, K), (2 * M, K), (0, 0), (2, 1)))),
    ("x_concat", f"{COPY} {COPY}", dict(x=(f"%x1: {t(M // 2, K, FP8)}, %x2: {t(M // 2, K, FP8)}",
        f"%x = tensor.concat dim(0) %x1, %x2 : ({t(M // 2, K, FP8)}, {t(M // 2, K, FP8)}) -> {t(M, K, FP8)}"))),
    ("x_pad", f"{COPY} {COPY}", dict(x=(f"%x1: {t(M - 16, K, FP8)}", f"""%p = arith.constant 0.0 : {FP8}
        %x = tensor.pad %x1 low[0, 0] high[16, 0] {{
        ^bb0(%i: index, %j: index):
          tensor.yield %p : {FP8}
        }} : {t(M - 16, K, FP8)} to {t(M, K, FP8)}"""))),
    ("x_reshaped", "", dict(x=(f"%x1: {t(M * K, FP8)}, %shape: {t(2, 'index')}",
        f"%x = tensor.reshape %x1(%shape) : ({t(M * K, FP8)}, {t(2, 'index')}) -> {t(M, K, FP8)}"))),
    ("x_broadcast", COPY, dict(x=(f"%x1: {t(K, FP8)}", f"""%xe = tensor.empty() : {t(M, K, FP8)}
        %x = linalg.broadcast ins(%x1 : {t(K, FP8)}) outs(%xe : {t(M, K, FP8)}) dimensions = [0]"""))),
    ("x_bitcast", COPY, dict(x=(f"%x1: {t(M, K, 'i8')}", f"%x = arith.bitcast %x1 : {t(M, K, 'i8')} to {t(M, K, FP8)}"))),
    ("x_truncated", COPY, dict(x=(f"%x1: {t(M, K, 'f32')}", f"%x = arith.truncf %x1 : {t(M, K, 'f32')} to {t(M, K, FP8)}"))),
    ("x_quantized", "quantize", dict(sx=("", ""), x=(f"%x1: {t(M, K, 'bf16')}",
        f"%x, %xs = blockscale.quantize %x1 {{block_size = 32}} : {t(M, K, 'bf16')} to {t(M, K, FP8)}, {SX}"))),
    ("y_collapsed", "", dict(y=with_transpose(collapsed("y_nk", "y3", (N, K)), "y_nk"))),
    ("scales_row_major", ("", "", "transpose swizzle_scales swizzle_scales", ""),
        dict(sx=(f"%xs: {SX}", ""), ys=(f"%ys: {SY}", ""))),
    ("scales_row_major_nk", ("", "", "swizzle_scales swizzle_scales", ""), dict(sx=(f"%xs: {SX}", ""),
        ys=(f"%ys_nk: {t(N, K_S, SCALE)}", transpose("ys", "ys_nk", N, K_S, SCALE)))),
    ("scales_collapsed", ("", "", "swizzle_scales", ""), dict(sx=collapsed("xs", "xs3", (M, K_S), SCALE))),
    ("scales_slice", (COPY, f"{COPY} {COPY}", f"{COPY} swizzle_scales", COPY),
        dict(sx=sliced("xs", "xs1", (M, K_S), (2 * M, K_S), (M, 0), element=SCALE))),
    ("scales_bitcast", COPY, dict(sx=(f"%s8: {ATOMS_X.replace(SCALE, 'i8')}",
        f"%sx = arith.bitcast %s8 : {ATOMS_X.replace(SCALE, 'i8')} to {ATOMS_X}\n{UNSWIZZLED}"))),
    ("scales_splat", ("", "", "loops loops swizzle_scales", ""),
        dict(sx=("", f"%xs = arith.constant dense<1.0> : {SX}"))),
    ("acc_argument", "", dict(arguments=f"%acc: {D}", acc="")),
    ("acc_broadcast", "", dict(arguments=f"%b: {t(N, 'f32')}", acc=BROADCAST.replace("%row", "%acc"))),
    ("bias", "", dict(arguments=f"%b: {t(N, 'f32')}", post=f"{BROADCAST}\n%r = arith.addf %d, %row : {D}", result="%r")),
    ("scalar", "", dict(arguments="%s: f32", result="%r",
        post=f"%ss = tensor.splat %s : {D}\n%r = arith.mulf %d, %ss : {D}")),
    ("exp", "", dict(post=f"%r = math.exp %d : {D}", result="%r")),
    ("selection", "", dict(arguments=f"%q: {D}", result="%r",
        post=f"%c = arith.cmpf ogt, %d, %q : {D}\n%r = arith.select %c, %d, %q : {t(M, N, 'i1')}, {D}")),
    ("to_bf16", "", dict(post=f"%r = arith.truncf %d : {D} to {BF16}", result="%r", type=BF16)),
    ("to_integers", "", dict(post=f"%r = arith.fptosi %d : {D} to {t(M, N, 'i8')}", result="%r", type=t(M, N, "i8"))),
    ("result_bitcast", "", dict(post=f"%r = arith.bitcast %d : {D} to {t(M, N, 'i32')}", result="%r", type=t(M, N, "i32"))),
    ("to_fp8", COPY, dict(post=f"%r = arith.truncf %d : {D} to {t(M, N, FP8)}", result="%r", type=t(M, N, FP8))),
    ("result_expanded", "", dict(post=EXPAND, result="%r0", type=HALVES)),
    ("result_expanded_relu", "", dict(result="%r", type=HALVES,
        post=f"{EXPAND}\n%z = arith.constant dense<0.0> : {HALVES}\n%r = arith.maximumf %r0, %z : {HALVES}")),
    ("result_quantized", "", dict(result="%r, %rs", type=f"{t(M, N, FP8)}, {t(M, N // 32, SCALE)}", post=
        f"%r, %rs = blockscale.quantize %d {{block_size = 32}} : {D} to {t(M, N, FP8)}, {t(M, N // 32, SCALE)}")),
    ("two_users", COPY, dict(post=f"{ZERO}\n%r = arith.maximumf %d, %z : {D}", result="%d, %r", type=f"{D}, {D}")),
    ("result_transposed", "transpose", dict(post=transpose("r", "d", M, N, "f32"), result="%r", type=TRANSPOSED)),
    ("result_transposed_exp", f"{COPY} {COPY}", dict(result="%r", type=TRANSPOSED,
        post=transpose("r0", "d", M, N, "f32") + f"\n%r = math.exp %r0 : {TRANSPOSED}")),
    ("residual_transposed", COPY, dict(arguments=f"%q: {TRANSPOSED}", result="%r",
        post=transpose("qt", "q", N, M, "f32") + f"\n%r = arith.addf %d, %qt : {D}")),
    ("result_slice", COPY, dict(result="%r", type=t(M // 2, N, "f32"),
        post=f"%r = tensor.extract_slice %d[0, 0] [{M // 2}, {N}] [1, 1] : {D} to {t(M // 2, N, 'f32')}")),
    ("result_inserted", f"{COPY} {COPY}", dict(arguments=f"%big: {DOUBLE}", result="%r", type=DOUBLE,
        post=f"%r = tensor.insert_slice %d into %big[0, 0] [{M}, {N}] [1, 1] : {D} into {DOUBLE}")),
    ("row_sums", "reduce", dict(result="%r", type=t(M, "f32"), post=f"""%z = arith.constant dense<0.0> : {t(M, "f32")}
        %r = linalg.reduce {{ arith.addf }} ins(%d : {D}) outs(%z : {t(M, "f32")}) dimensions = [1]""")),
    ("softmax", "softmax", dict(result="%r", post=f"""%e = tensor.empty() : {D}
        %r = linalg.softmax dimension(1) ins(%d : {D}) outs(%e : {D}) -> {D}""")),
]


def compile_all(chip, folder):
    """{function: [the purpose of each kernel, ...]}"""
    program = folder / "views.mlir"
    plain = [function("plain"), function("plain_fp4", element=FP4)]
    program.write_text("\n".join(plain + [function(name, **keywords) for name, _, keywords in CASES]))
    command = [examples.BUILD / "bin" / "blockscale-compile", program, f"--target={chip}", "--explain",
               "--emit=kernel", "-o", folder / "kernel.mlir"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kernels = {}
    for line in done.stderr.splitlines():
        if head := re.match(r"@(\w+): \d+ kernel", line):
            current = kernels.setdefault(head[1], [])
        elif kernel := re.match(r"  \w+ +(\w+) +\S+ x .* blocks of", line):
            current.append(kernel[1])
    return kernels


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    return {chip: compile_all(chip, tmp_path_factory.mktemp(chip)) for chip in CHIPS}


@pytest.mark.parametrize("chip", CHIPS)
def test_costs(kernels, chip):
    """The kernels that each case adds to those of the bare product."""
    got, expected = {}, {}
    for name, costs, keywords in CASES:
        plain = kernels[chip]["plain_fp4" if keywords.get("element") == FP4 else "plain"]
        added = list(kernels[chip][name])
        for purpose in plain:
            added.remove(purpose)
        got[name] = sorted(added)
        expected[name] = sorted((costs if isinstance(costs, str) else costs[CHIPS.index(chip)]).split())
    assert got == expected
