"""Products with weights that are decoded by upstream ops, as importers write them.

Every choice in `Imported` is one way in which they differ; the meaning is always bf16 or f16 values times
quantized elements with scales, summed in f32.
"""

import dataclasses
import subprocess

import blockscale
import harness
import numpy as np
from quantize_cases import tensor, to_bits
from weight_only_cases import FORMATS

# How quantized elements are stored: the order of rows and K (blocks b, elements i in one).
LAYOUTS = ("nbi", "nk", "bin", "kn")
# What computes the product of elements and scales, and the type that weights are rounded to.
DTYPES = {
    "truncf": ("f32", "bf16"),  # multiplied in f32, rounded once
    "bf16": ("bf16", "bf16"),
    "f32": ("f32", "f32"),  # beside x of bf16, extended
    "to f16": ("f32", "f16"),
    "f16": ("f16", "f16"),
    "scaling": ("bf16", "bf16"),  # arith.scaling_extf
    "scaling f32": ("f32", "f32"),
}
SPLITS = ("one", "three", "named", "elementwise")
SPREADS = ("map", "broadcast", "expand")
TENSOR_SCALES = (None, "f32", "tensor<f32>", "tensor<1xf32>", "constant")
PRODUCTS = ("matmul", "transposed", "generic", "contract", "blocks", "fused", "batch", "shared")


@dataclasses.dataclass(frozen=True)
class Imported:
    """One program, its operands, and the names of what it is made of."""

    format: str = "mxfp4"
    layout: str = "nbi"
    dtype: str = "truncf"
    split: str = "one"
    spread: str = "map"
    tensor_scale: str = None
    product: str = "matmul"
    is_left: bool = False
    has_acc: bool = False
    is_dynamic: bool = False
    m: int = 5
    n: int = 24
    k: int = 96

    def __str__(self):
        return "-".join(str(value) for value in dataclasses.astuple(self) if value not in (None, False))

    @property
    def x_element(self):
        """The type of x."""
        return "f16" if DTYPES[self.dtype][1] == "f16" else "bf16"

    def is_legal(self):
        _, scale, _ = FORMATS[self.format]
        multiplied, weights = DTYPES[self.dtype]
        is_scaling = self.dtype.startswith("scaling")
        return not (
            (is_scaling and (scale != "f8E8M0FNU" or self.tensor_scale))
            # f16 does not hold scales that are powers of two.
            or (multiplied == "f16" and scale == "f8E8M0FNU")
            # f32 values must be representable in bf16.
            or (weights == "f32" and (self.tensor_scale or self.format in ("mxfp8", "e5m2")))
            or (self.tensor_scale and multiplied != "f32")
            or (self.product in ("batch", "shared") and (self.layout not in ("nbi", "nk") or self.is_left))
            or (self.product == "fused" and (self.split != "one" or self.layout not in ("nbi", "nk")))
            or (self.product == "blocks" and self.layout not in ("nbi", "bin"))
            or (self.product == "transposed" and self.layout not in ("nbi", "nk"))
            # The scale of a tensor is multiplied where there is one op for it.
            or (self.tensor_scale and self.split in ("named", "elementwise"))
            or (self.layout in ("nk", "kn") and self.spread == "expand")
            or (self.is_dynamic and (self.product in ("blocks", "fused") or self.layout in ("nk", "kn")))
        )


class Writer:
    """Lines of a function, with values numbered."""

    def __init__(self):
        self.lines, self.count = [], 0

    def op(self, text):
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def empty(self, letters, element, sizes):
        """tensor.empty of letters, of which some sizes are values."""
        dynamic = ", ".join(sizes[d] for d in letters if isinstance(sizes[d], str))
        return self.op(f"tensor.empty({dynamic}) : {shape(letters, element, sizes)}")

    def generic(self, letters, operands, element, sizes, body, reduction="", init=None, results=None):
        """operands: (value, type, indices); body: lines that use %a0.. and yield."""
        results = results or letters
        types = [type for _, type, _ in operands]
        init = init or self.empty(results, element, sizes)
        result = shape(results, element, sizes)
        maps = ", ".join(
            f"affine_map<({', '.join(letters)}) -> ({', '.join(indices)})>"
            for indices in [*(indices for _, _, indices in operands), results]
        )
        kinds = ", ".join('"reduction"' if d in reduction else '"parallel"' for d in letters)
        arguments = ", ".join(
            f"%a{i}: {type.removesuffix('>').split('x')[-1].removeprefix('tensor<')}" for i, type in enumerate(types)
        )
        return self.op(
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"
            f" ins({', '.join(v for v, _, _ in operands)} : {', '.join(types)}) outs({init} : {result}) {{\n"
            f"  ^bb0({arguments}, %o: {element}):\n    " + "\n    ".join(body) + f"\n  }} -> {result}"
        )


def shape(letters, element, sizes):
    return tensor(["?" if isinstance(sizes[d], str) else sizes[d] for d in letters], element)


def write(case):
    """The text of `case`."""
    code, scale, block = FORMATS[case.format]
    multiplied, weights = DTYPES[case.dtype]
    w = Writer()
    batch = "z" if case.product == "batch" else ""
    x_batch = "z" if case.product in ("batch", "shared") else ""
    sizes = dict(m=case.m, n=case.n, k=case.k, b=case.k // block, i=block, z=3)
    arguments = dict(sizes)
    if case.is_dynamic:
        arguments.update(m="?", n="?", k="?", b="?")
        sizes.update(m="%m", n="%n", k="%k", b="%b")
    # Arguments
    layout = batch + case.layout
    scale_layout = layout.replace("i", "").replace("k", "b")
    result = x_batch + ("nm" if case.is_left else "mn")
    args = [f"%x: {shape(x_batch + 'mk', case.x_element, sizes)}", f"%c: {shape(layout, code, sizes)}",
            f"%s: {shape(scale_layout, scale, sizes)}"]
    if case.tensor_scale not in (None, "constant"):
        args.append(f"%g: {case.tensor_scale}")
    if case.has_acc:
        args.append(f"%acc: {shape(result, 'f32', sizes)}")
    if case.is_dynamic:
        for name, value, type, letters in (("m", "%x", shape(x_batch + "mk", case.x_element, sizes), x_batch + "mk"),
                                           ("k", "%x", shape(x_batch + "mk", case.x_element, sizes), x_batch + "mk"),
                                           ("n", "%c", shape(layout, code, sizes), layout),
                                           ("b", "%c", shape(layout, code, sizes), layout)):
            w.lines.append(f"  %c{name} = arith.constant {letters.index(name)} : index")
            w.lines.append(f"  %{name} = tensor.dim {value}, %c{name} : {type}")

    is_signed = scale == "f8E4M3FN"
    g_lines = []
    if case.tensor_scale == "constant":
        g_lines.append("%g = arith.constant 0.5 : f32")
    g_operand = []
    if case.tensor_scale in ("tensor<f32>", "tensor<1xf32>"):
        g_operand = [("%g", case.tensor_scale, [] if case.tensor_scale == "tensor<f32>" else ["0"])]
    # The index of a scale for each element.
    at_scale = [f"k floordiv {block}" if d == "k" else d for d in layout.replace("i", "")]

    def decode_lines(last, g):
        """From %a0, %a1 to the weights."""
        if case.dtype.startswith("scaling"):
            return [f"%w = arith.scaling_extf %a0, %a1 : {code}, {scale} to {weights}", last("%w")]
        lines = [f"%e0 = arith.extf %a0 : {code} to {multiplied}", f"%e1 = arith.extf %a1 : {scale} to {multiplied}"]
        factor = "%e1"
        if is_signed:
            lines.append(f"%p = math.absf %e1 : {multiplied}")
            factor = "%p"
        lines.append(f"%q = arith.mulf {factor}, %e0 : {multiplied}")
        value = "%q"
        if g:
            lines.append(f"%h = arith.mulf {value}, {g} : f32")
            value = "%h"
        if weights != multiplied:
            lines.append(f"%t = arith.truncf {value} : {multiplied} to {weights}")
            value = "%t"
        return [*lines, last(value)]

    g = None
    if case.tensor_scale:
        g = "%a2" if g_operand else "%g"
        w.lines += [f"  {line}" for line in g_lines]
    scales, scales_type, at = "%s", shape(scale_layout, scale, sizes), at_scale
    if case.spread == "broadcast" and "i" in layout:
        dim = layout.index("i")
        init = w.empty(layout, scale, sizes)
        scales = w.op(f"linalg.broadcast ins(%s : {scales_type}) outs({init} : {shape(layout, scale, sizes)})"
                      f" dimensions = [{dim}]")
        scales_type, at = shape(layout, scale, sizes), list(layout)
    elif case.spread == "expand":
        unit = layout.replace("i", "u")
        unit_sizes = dict(sizes, u=1)
        groups, at = [], []
        for d in unit:
            if d == "u":
                groups[-1].append(len(at))
                at.append("0")
            else:
                groups.append([len(at)])
                at.append(d)
        shown = ", ".join(str(unit_sizes[d]) for d in unit)
        scales = w.op(f"tensor.expand_shape %s {groups} output_shape [{shown}] : {scales_type}"
                      f" into {shape(unit, scale, unit_sizes)}")
        scales_type = shape(unit, scale, unit_sizes)
    if case.product == "fused":
        pass
    elif case.split == "one":
        operands = [("%c", shape(layout, code, sizes), list(layout)), (scales, scales_type, at), *g_operand]
        value = w.generic(layout, operands, weights, sizes, decode_lines(lambda v: f"linalg.yield {v} : {weights}", g))
    else:
        value = separate(w, case, layout, sizes, scales, scales_type, at, g, g_operand)
    return finish(w, case, args, layout, sizes, result, x_batch, batch,
                  None if case.product == "fused" else value, (scales, scales_type, at), decode_lines, g, g_operand)


def separate(w, case, layout, sizes, scales, scales_type, at, g, g_operand):
    """Extensions, the product and the rounding as ops of their own."""
    code, scale, _ = FORMATS[case.format]
    multiplied, weights = DTYPES[case.dtype]
    whole = list(layout)

    def extend(value, type, element, indices):
        lines, result = [f"%e = arith.extf %a0 : {element} to {multiplied}"], "%e"
        if element == "f8E4M3FN" and value == scales:
            lines, result = [*lines, f"%p = math.absf %e : {multiplied}"], "%p"
        return w.generic(layout, [(value, type, indices)], multiplied, sizes,
                         [*lines, f"linalg.yield {result} : {multiplied}"])

    type = shape(layout, multiplied, sizes)
    if case.dtype.startswith("scaling"):
        spread = w.generic(layout, [(scales, scales_type, at)], scale, sizes, [f"linalg.yield %a0 : {scale}"])
        return w.op(f"arith.scaling_extf %c, {spread} : {shape(layout, code, sizes)}, {shape(layout, scale, sizes)}"
                    f" to {shape(layout, weights, sizes)}")
    if case.split == "elementwise":
        spread = w.generic(layout, [(scales, scales_type, at)], scale, sizes, [f"linalg.yield %a0 : {scale}"])
        spread_type = shape(layout, scale, sizes)
        first = w.op(f"arith.extf %c : {shape(layout, code, sizes)} to {type}")
        second = w.op(f"arith.extf {spread} : {spread_type} to {type}")
        if scale == "f8E4M3FN":
            second = w.op(f"math.absf {second} : {type}")
        value = w.op(f"arith.mulf {first}, {second} : {type}")
        if weights != multiplied:
            value = w.op(f"arith.truncf {value} : {type} to {shape(layout, weights, sizes)}")
        return value
    first = extend("%c", shape(layout, code, sizes), code, whole)
    second = extend(scales, scales_type, scale, at)
    if case.split == "named":
        init = w.empty(layout, multiplied, sizes)
        value = w.op(f"linalg.mul ins({first}, {second} : {type}, {type}) outs({init} : {type}) -> {type}")
    else:
        value = w.generic(layout, [(first, type, whole), (second, type, whole)], multiplied, sizes,
                          [f"%q = arith.mulf %a0, %a1 : {multiplied}", f"linalg.yield %q : {multiplied}"])
    if g:
        name = "%a1" if g_operand else g
        value = w.generic(layout, [(value, type, whole), *g_operand], multiplied, sizes,
                          [f"%q = arith.mulf %a0, {name} : {multiplied}", f"linalg.yield %q : {multiplied}"])
    if weights != multiplied:
        value = w.generic(layout, [(value, type, whole)], weights, sizes,
                          [f"%q = arith.truncf %a0 : {multiplied} to {weights}", f"linalg.yield %q : {weights}"])
    return value


def finish(w, case, args, layout, sizes, result, x_batch, batch, value, scales, decode_lines, g, g_operand):
    """The product of x and the weights."""
    code, _, block = FORMATS[case.format]
    weights = DTYPES[case.dtype][1]
    x, x_letters, x_type = "%x", x_batch + "mk", shape(x_batch + "mk", case.x_element, sizes)
    y_letters = layout
    if case.product not in ("blocks", "fused") and "i" in layout:
        at = layout.index("b")
        groups = [[d] for d in range(at)] + [[at, at + 1]] + [[d] for d in range(at + 2, len(layout))]
        y_letters = layout.replace("bi", "k")
        value = w.op(f"tensor.collapse_shape {value} {groups} : {shape(layout, weights, sizes)}"
                     f" into {shape(y_letters, weights, sizes)}")
    acc, result_type = "%acc", shape(result, "f32", sizes)
    if not case.has_acc:
        init = w.empty(result, "f32", sizes)
        zero = w.op("arith.constant 0.0 : f32")
        acc = w.op(f"linalg.fill ins({zero} : f32) outs({init} : {result_type}) -> {result_type}")
    reduction = "k"
    if (case.product == "blocks" or case.product == "fused") and "i" in layout:
        reduction, x_letters = "bi", "mbi"
        x = w.op(f"tensor.expand_shape %x [[0], [1, 2]] output_shape [{sizes['m']}, {sizes['b']}, {block}] : {x_type}"
                 f" into {shape(x_letters, case.x_element, sizes)}")
        x_type = shape(x_letters, case.x_element, sizes)
    loops = x_batch + "mn" + reduction
    y_type = shape(y_letters, weights, sizes)
    if case.product == "fused":
        def add(v):
            lines = []
            if weights != "f32":
                lines, v = [f"%wf = arith.extf {v} : {weights} to f32"], "%wf"
            return "\n    ".join([*lines, f"%xf = arith.extf %a{2 + len(g_operand)} : {case.x_element} to f32",
                                  f"%xy = arith.mulf %xf, {v} : f32", "%sum = arith.addf %o, %xy : f32",
                                  "linalg.yield %sum : f32"])
        operands = [("%c", shape(layout, code, sizes), list(layout)), scales, *g_operand, (x, x_type, list(x_letters))]
        value = w.generic(loops, operands, "f32", sizes, decode_lines(add, g), reduction, acc, result)
    elif case.product in ("generic", "blocks", "shared") or (case.product == "matmul" and weights == "f32"):
        lines = [f"%x1 = arith.extf %a0 : {case.x_element} to f32"]
        name = "%a1"
        if weights != "f32":
            lines.append(f"%y1 = arith.extf %a1 : {weights} to f32")
            name = "%y1"
        lines += [f"%xy = arith.mulf {name}, %x1 : f32", "%sum = arith.addf %xy, %o : f32", "linalg.yield %sum : f32"]
        value = w.generic(loops, [(x, x_type, list(x_letters)), (value, y_type, list(y_letters))], "f32", sizes, lines,
                          reduction, acc, result)
    else:
        left, right = ((value, y_type, y_letters), (x, x_type, x_letters))
        if not case.is_left:
            left, right = right, left
        row, column = (("n", "m") if case.is_left else ("m", "n"))
        order = [*x_batch, row, column, "k"]
        maps = ", ".join(f"affine_map<({', '.join(order)}) -> ({', '.join(letters)})>"
                         for letters in (left[2], right[2], result))
        name = {"contract": "linalg.contract", "batch": "linalg.batch_matmul"}.get(case.product, "linalg.matmul")
        value = w.op(f"{name} indexing_maps = [{maps}] ins({left[0]}, {right[0]} : {left[1]}, {right[1]})"
                     f" outs({acc} : {result_type}) -> {result_type}")
    return "\n".join([f"func.func @main({', '.join(args)}) -> {result_type} {{", *w.lines,
                      f"  return {value} : {result_type}", "}", ""])


def operands(case, seed=1):
    """Arrays whose partial sums are all exact: results are equal to the bit on all devices."""
    code, scale, block = FORMATS[case.format]
    rng = np.random.default_rng(seed)
    codes = np.arange(1 << blockscale.FORMATS[code].bits, dtype=np.uint8)
    sizes = np.abs(blockscale.decode(codes, code))
    few_bits = codes[(sizes == 0) | ((sizes >= 2.0**-3) & (sizes <= 4))]
    lengths = dict(m=case.m, n=case.n, k=case.k, b=case.k // block, i=block, z=3)
    batch = "z" if case.product == "batch" else ""
    x_batch = "z" if case.product in ("batch", "shared") else ""
    layout = batch + case.layout

    def pick(values, letters):
        return rng.choice(values, [lengths[d] for d in letters])

    scales = [126, 127, 128] if scale == "f8E8M0FNU" else [0x30, 0x38, 0x40, 0xB8]
    arrays = [
        to_bits(pick(np.arange(-8, 9, dtype=np.float32) / 4, x_batch + "mk"), case.x_element),
        pick(few_bits, layout),
        pick(np.array(scales, np.uint8), layout.replace("i", "").replace("k", "b")),
    ]
    if case.tensor_scale not in (None, "constant"):
        arrays.append(np.full({"f32": (), "tensor<f32>": (), "tensor<1xf32>": (1,)}[case.tensor_scale], 2, np.float32))
    if case.has_acc:
        arrays.append(pick(np.arange(-9, 9, dtype=np.float32), x_batch + ("nm" if case.is_left else "mn")))
    return arrays


def run(folder, text, arrays, device, is_raised=True):
    """The result, and what was said."""
    folder.mkdir(exist_ok=True)
    (folder / "p.mlir").write_text(text)
    names = []
    for i, array in enumerate(arrays):
        names.append(f"{i}.npy")
        np.save(folder / names[-1], array)
    command = [harness.RUN, "p.mlir", *names, "-o", "d.npy"]
    if is_raised:
        command.append("--raise")
    if device != "cpu":
        command += ["--device=sim", f"--target={device}", "--stats", "--check=race,proxy,strict"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False
    )
    assert done.returncode == 0, f"{device}: {done.stderr}\n{text}"
    return np.load(folder / "d.npy"), done.stderr


def sample(count, seed):
    """Legal cases of the choices above."""
    rng = np.random.default_rng(seed)
    flags = (False, True)
    choices = (tuple(FORMATS), LAYOUTS, tuple(DTYPES), SPLITS, SPREADS, TENSOR_SCALES, PRODUCTS, flags, flags, flags)
    while count:
        case = Imported(*(choice[rng.integers(len(choice))] for choice in choices))
        if case.is_legal():
            count -= 1
            yield case


def covering(cases):
    """Few of `cases` that have each value of all choices, and the pairs of some that all of `cases` have."""

    def traits(case):
        values = dataclasses.asdict(case)
        pairs = (("format", "dtype"), ("product", "layout"), ("split", "spread"), ("tensor_scale", "product"))
        return {(a, values[a], b, values[b]) for a, b in pairs} | set(values.items())

    having = {case: traits(case) for case in cases}
    wanted, chosen = set().union(*having.values()), []
    while wanted:
        best = max(having, key=lambda case: len(having[case] & wanted))
        wanted -= having[best]
        chosen.append(best)
    return chosen
