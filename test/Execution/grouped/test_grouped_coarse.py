"""grouped_mma_scaled with coarse scales, on the CPU and as kernels in the simulator, against numpy.

Where all elements are 1 and each scale is another power of two, a result shows which scales it took. Where elements
are few and scales near 1, every partial sum is exact, with fp8 tensor cores, too, so that each order gives the same bits.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import blockscale
import devices
import harness
import numpy as np
import pytest
import tiers
from test_grouped import SIZES, ends, make_rng

sys.path.append(str(Path(__file__).resolve().parents[2] / "python"))

import fp8_adder  # noqa: E402

ALL, F32, E8M0, E4M3, E5M2, E2M1 = "all", "f32", "f8E8M0FNU", "f8E4M3FN", "f8E5M2", "f4E2M1FN"
BLOCK128, ROWS, TENSOR = ((1, 128), (128, 128)), ((1, ALL), (1, ALL)), ((ALL, ALL), (ALL, ALL))
FP8 = ((E4M3, E4M3), (F32, F32))
# Types of elements and of scales, blocks of x and y.
FORMS = {
    "block128": (*FP8, BLOCK128), "row": (*FP8, ROWS), "tensor": (*FP8, TENSOR),
    "1x128": ((E4M3, E5M2), (F32, F32), ((1, 128), (1, 128))),
    "mxfp4": ((E5M2, E2M1), (F32, E8M0), ((1, 128), (1, 32))),
    "powers": ((E4M3, E4M3), (E8M0, E8M0), BLOCK128),
    "mixed": ((E4M3, E4M3), (E8M0, F32), ((ALL, 64), (128, ALL))),
}


class Case(NamedTuple):
    """Arrays by the names of operands; those that are None are left out."""

    form: tuple
    operands: dict
    options: dict


def count(size, block):
    return 1 if block == ALL else -(-size // block)


def shapes_of(form, groups, rows, n, k):
    """Those of x_scale and y_scale."""
    x_block, y_block = form[2]
    return (count(rows, x_block[0]), count(k, x_block[1])), (groups, count(k, y_block[1]), count(n, y_block[0]))


def encode_powers(exponents, kind):
    return np.uint8(exponents + 127) if kind == E8M0 else np.exp2(np.float32(exponents))


def make_case(form, sizes, rest=0, n=136, k=192, options=(), limit=None, draw=None):
    """All partial sums are exact. `draw(rng, element, shape)` gives other elements."""
    types, kinds, _ = form
    rng = make_rng(types, kinds, sizes, rest, n, k, options)
    total = sum(sizes) + rest
    rows = total if "rows" not in options or limit is None else limit

    def few(element, shape):
        codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
        return rng.choice(codes[np.isin(np.abs(blockscale.decode(codes, element)), [0, 0.5, 1, 2])], shape)

    elements = (lambda element, shape: draw(rng, element, shape)) if draw else few
    scales = [
        encode_powers(rng.integers(-2, 3, shape), kind)
        for kind, shape in zip(kinds, shapes_of(form, len(sizes), rows, n, k))
    ]
    operands = dict(
        x=elements(types[0], (rows, k)), x_scale=scales[0], y=elements(types[1], (len(sizes), k, n)), y_scale=scales[1],
        offsets=ends(sizes), acc=rng.integers(-8, 8, (total, n)).astype(np.float32),
    )
    chosen = {}
    if "rows" in options:
        chosen["rows"] = rng.integers(-1, rows, total, np.int32)
    if "group_scale" in options:
        chosen["group_scale"] = rng.choice(np.float32([0.5, 3, -1, 0.1]), len(sizes))
    if "bias" in options:
        chosen["bias"] = rng.standard_normal((len(sizes), n)).astype(np.float32)
    return Case(form, operands, chosen)


def make_powers(form, sizes, n, k, options=(), limit=None):
    """Elements are 1, the accumulator is 0, and each scale of an operand is another power of two; those of one result
    are neighbors, so that sums are exact."""
    case = make_case(form, sizes, n=n, k=k, options=options, limit=limit)
    for name, element in zip("xy", form[0]):
        case.operands[name][...] = blockscale.encode(np.ones(1), element)[0]
    case.operands["acc"][...] = 0
    for name, kind in zip(("x_scale", "y_scale"), form[1]):
        scales = case.operands[name]
        # Blocks along K are neighbors.
        number = np.arange(scales.size).reshape(scales.shape if name == "x_scale" else [scales.shape[i] for i in (0, 2, 1)])
        number = number if name == "x_scale" else number.transpose(0, 2, 1)
        assert scales.size <= 168
        case.operands[name] = np.ascontiguousarray(encode_powers(number - scales.size // 2, kind))
    return case


def names_of(case):
    types, kinds, blocks = case.form
    codes = [kind for kind in kinds if kind != F32]
    return dict(x_type=types[0], y_type=types[1], scale_type=codes[0] if codes else None, x_scale_block=blocks[0],
                y_scale_block=blocks[1])


def reference(case):
    return blockscale.grouped_mma_scaled(**case.operands, **case.options, **names_of(case))


def tensor(element, *sizes):
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def types_of(case, dynamic):
    """The types of operands and options; `dynamic` has letters of R, T, G, K, N."""
    types, kinds, (x_block, y_block) = case.form
    elements = dict(x=types[0], x_scale=kinds[0], y=types[1], y_scale=kinds[1], offsets="i32", acc="f32", rows="i32",
                    group_scale="f32", bias="f32")
    r, k = "" if x_block[0] == ALL else "R", lambda block: "" if block == ALL else "K"
    letters = dict(x="RK", x_scale=(r, k(x_block[1])), y="GKN", offsets="G", acc="TN", rows="T", group_scale="G", bias="GN",
                   y_scale=("G", k(y_block[1]), "" if y_block[0] == ALL else "N"))
    # Without rows, there is only T.
    known = set(dynamic) - ({"R"} if "rows" in case.options else set())
    known |= {"R"} & set(dynamic if "rows" in case.options else ("R" if "T" in dynamic else ""))
    return {
        name: tensor(elements[name], *("?" if letter and letter in known else size
                                       for letter, size in zip(letters[name], array.shape)))
        for name, array in {**case.operands, **case.options}.items()
    }


def program(case, *, dynamic="", licence=False, order="kn", gate=None):
    """The op; with order "nk", y and its scales are stored as G x N x K. `gate` is the type of what behind it joins pairs
    of columns."""
    shapes = types_of(case, dynamic)
    given, body = dict(shapes), ""
    if order == "nk":
        for name in ("y", "y_scale"):
            array = case.operands[name]
            element = shapes[name][7:-1].split("x")[-1]
            given[name] = tensor(element, *(array.shape[i] for i in (0, 2, 1)))
            body += f"  %{name}_e = tensor.empty() : {shapes[name]}\n"
            body += (f"  %{name}_t = linalg.transpose ins(%{name} : {given[name]}) outs(%{name}_e : {shapes[name]}) "
                     "permutation = [0, 2, 1]\n")
    value = lambda name: f"%{name}_t" if order == "nk" and name in ("y", "y_scale") else f"%{name}"
    options = " ".join(f"{name}(%{name} : {shapes[name]})" for name in case.options)
    attributes = [f"{name}_scale_block = #blockscale.scale_block<rows = {block[0]}, k = {block[1]}>"
                  for name, block in zip("xy", case.form[2])]
    if licence:
        attributes.append("accumulate = #blockscale.accumulate<chunk = 128>")
    result, shown = shapes["acc"], "%d"
    end = ""
    if gate:
        t, n = shapes["acc"][7:-1].split("x")[:2]
        pairs, halves = tensor("f32", t, int(n) // 16, 2, 8), tensor(gate, t, int(n) // 16, 8)
        result, shown = tensor(gate, t, int(n) // 2), "%joined"
        size = "%t" if t == "?" else t
        end = f"""\
  %c0 = arith.constant 0 : index
  %t = tensor.dim %acc, %c0 : {shapes["acc"]}
  %pairs = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [{size}, {int(n) // 16}, 2, 8] : {shapes["acc"]} into {pairs}
  %halves_e = tensor.empty({"%t" if t == "?" else ""}) : {halves}
  %halves = linalg.generic {{
      indexing_maps = [affine_map<(t, b, c) -> (t, b, 0, c)>, affine_map<(t, b, c) -> (t, b, 1, c)>,
                       affine_map<(t, b, c) -> (t, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%pairs, %pairs : {pairs}, {pairs}) outs(%halves_e : {halves}) {{
  ^bb0(%gate: f32, %second: f32, %old: {gate}):
    %twice = arith.addf %second, %second : f32
    %value = arith.subf %gate, %twice : f32
    %rounded = arith.truncf %value : f32 to {gate}
    linalg.yield %rounded : {gate}
  }} -> {halves}
  %joined = tensor.collapse_shape %halves [[0], [1, 2]] : {halves} into {result}
"""
    arguments = ", ".join(f"%{name}: {type}" for name, type in given.items())
    operands = ", ".join(value(name) for name in case.operands)
    return (
        f"func.func @main({arguments}) -> {result} {{\n{body}  %d = blockscale.grouped_mma_scaled {operands} {options}"
        f" {{{', '.join(attributes)}}} : {', '.join(shapes[name] for name in case.operands)}\n{end}"
        f"  return {shown} : {result}\n}}\n"
    )


def run(folder, case, device, fails=False, flags=(), **given):
    operands = dict(case.operands)
    if given.get("order") == "nk":
        operands.update({name: np.ascontiguousarray(operands[name].transpose(0, 2, 1)) for name in ("y", "y_scale")})
    said = devices.run(folder, program(case, **given), [*operands.values(), *case.options.values()], device, fails=fails,
                       flags=flags)
    return said if fails else said[0]


def same(result, expected):
    np.testing.assert_array_equal(result.view(np.uint32), expected.view(np.uint32))


# Which scales a result takes.


POWERS = {
    "all in one": ([0, 0, 9, 0], ()), "empty groups": ([0, 5, 0, 3], ()), "one each": ([1, 1, 1], ()),
    "one group": ([11], ()), "gathered": ([2, 0, 5, 1], ("rows",)),
}
# K that ends inside of a block, and a tile that has the border of two blocks of columns.
NK = [(576, 320), (200, 192), (136, 576)]


@pytest.mark.parametrize("name", POWERS)
@pytest.mark.parametrize("form", ["block128", "row", "1x128", "mixed"])
def test_scales_of_results_on_the_cpu(name, form, tmp_path):
    sizes, options = POWERS[name]
    n, k = (8, 320) if form in ("row", "1x128") else (300, 320)
    case = make_powers(FORMS[form], sizes, n, k, options, limit=9)
    same(run(tmp_path, case, "cpu"), reference(case))


def kernels(names):
    """(form, target, licence): fp8 tensor cores where there is a licence for them."""
    cases = [(form, target, False) for form in names for target in devices.CHIPS]
    return cases + [(form, "sm_90a", True) for form in names if form not in ("mxfp4", "mixed")]


@pytest.mark.parametrize("case", tiers.pairs(
    [(name, *kernel, size) for i, name in enumerate(POWERS) for j, kernel in enumerate(kernels(["block128", "row", "1x128"]))
     for size in [NK[(i + j) % len(NK)]]], lambda case: {("name", case[0]), ("kernel", *case[1:4]), ("size", case[4])}), ids=str)
def test_scales_of_results(case, tmp_path):
    name, form, target, licence, size = case
    sizes, options = POWERS[name]
    n, k = size if form == "block128" else (16 if form == "row" else 8, size[1])
    case = make_powers(FORMS[form], sizes, n, k, options, limit=9)
    same(run(tmp_path, case, target, licence=licence, order="nk" if licence else "kn"), reference(case))


# Sizes of groups, options, forms.


OPTIONS = [(), ("rows",), ("group_scale",), ("bias", "rows"), ("group_scale", "bias", "rows")]


@pytest.mark.parametrize("name", SIZES)
def test_sizes_on_the_cpu(name, tmp_path):
    number = list(SIZES).index(name)
    case = make_case(list(FORMS.values())[number % len(FORMS)], *SIZES[name], n=10, k=160, options=OPTIONS[number % len(OPTIONS)])
    same(run(tmp_path, case, "cpu", dynamic=("", "TR", "RTGKN")[number % 3]), reference(case))


def grouped_cases():
    for name in SIZES:
        for number, options in enumerate(OPTIONS):
            for form, target, licence in kernels(FORMS):
                dynamic = ("", "TR", "RTGKN")[(number + len(name)) % 3]
                yield name, number, form, target, licence, dynamic or ("TR" if name == "no rows" else "")


def features(case):
    name, number, form, target, licence, dynamic = case
    return {("sizes", name), ("options", number), ("form", form), ("target", target, licence), ("dynamic", dynamic)}


@pytest.mark.parametrize("case", tiers.pairs(grouped_cases(), features), ids=str)
def test_sizes(case, tmp_path):
    """Each kind of group sizes, with each option, and each form; the order of y is that of weights at times."""
    name, number, form, target, licence, dynamic = case
    order = "nk" if licence and "K" not in dynamic else "kn"
    # Dynamic powers of two are factors, too; blocks of instructions are whole.
    case = make_case(FORMS[form], *SIZES[name], n=24, k=160, options=OPTIONS[number])
    same(run(tmp_path, case, target, dynamic=dynamic, licence=licence, order=order), reference(case))


@pytest.mark.parametrize("groups", [1, 33, 65])
def test_many_groups(groups, tmp_path):
    """More groups than a warp has lanes, and more tiles than groups."""
    rng = np.random.default_rng(groups)
    sizes = list(rng.multinomial(200, rng.dirichlet(np.ones(groups))))
    for target, licence in (("sm_90a", True), ("sm_120a", False)):
        case = make_case(FORMS["block128"], sizes, 3, n=16, k=160)
        same(run(tmp_path, case, target, dynamic="TR", licence=licence), reference(case))


@pytest.mark.parametrize("target, licence", [("sm_90a", True), ("sm_90a", False), ("sm_80", False)])
def test_gated(target, licence, tmp_path):
    """Pairs of columns are joined in the epilogue, behind the factors of groups."""
    for dynamic in ("", "TR"):
        case = make_case(FORMS["block128"], [3, 0, 9], 2, n=160, k=192, options=("group_scale", "bias", "rows"))
        pairs = reference(case).reshape(14, -1, 2, 8)
        gate, second = (pairs[:, :, half].reshape(14, -1) for half in (0, 1))
        got = run(tmp_path, case, target, dynamic=dynamic, licence=licence, gate="bf16", order="nk")
        np.testing.assert_array_equal(got.view(np.uint16), blockscale.to_bf16(gate - (second + second)).view(np.uint16))


SCHEDULES = {
    "turns": "tile=128x64x128,stages=2,accumulators=1,persistent=1",
    "one": "tile=64x64x128,stages=3,accumulators=1,persistent=1",
    "wide": "tile=128x160x128,stages=2,accumulators=1,persistent=1",
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name, tmp_path):
    case = make_case(FORMS["block128"], [70, 0, 131, 1], 2, n=200, k=320)
    same(run(tmp_path, case, "sm_90a", licence=True, order="nk", flags=[f"--schedule={SCHEDULES[name]}"]), reference(case))


def test_schedules_that_do_not_fit(tmp_path):
    """A cluster, and accumulators for which there are no registers beside those of the search for groups."""
    for form, tile, message in (
        ("block128", "64x64x128", "expected no cluster for groups of rows"),
        ("block128", "192x128x128", "at most 32 values of promoted sums"),
        ("1x128", "128x128x128", "at most 40 values of promoted sums"),
    ):
        case = make_case(FORMS[form], [3], n=16, k=160)
        said = run(tmp_path, case, "sm_90a", licence=True, order="nk", fails=True,
                   flags=[f"--schedule=tile={tile},stages=2,accumulators=1,persistent=1{',cluster=2x1' * (tile == '64x64x128')}"])
        assert message in said


PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"


@pytest.mark.skipif(not Path(PTXAS).is_file(), reason="needs ptxas")
@pytest.mark.parametrize("form", ["block128", "row", "1x128"])
def test_ptxas(form, tmp_path):
    """With the schedules that are chosen, also at the launch, no register is spilled and no wgmma waits (C75xx)."""
    for number, (licence, dynamic, options) in enumerate([
        (True, "TR", ()), (True, "TR", ("rows", "bias", "group_scale")), (False, "TR", ("rows", "bias", "group_scale")),
        (True, "", ()), (False, "", ("bias",)),
    ]):
        case = make_case(FORMS[form], [600, 500], n=1024, k=512, options=options)
        source, ptx = tmp_path / f"{number}.mlir", tmp_path / f"{number}.ptx"
        source.write_text(program(case, dynamic=dynamic, licence=licence, order="nk", gate=None if options else "bf16"))
        command = [harness.RUN.with_name("blockscale-compile"), source, "--target=sm_90a", "-o", ptx]
        subprocess.run(command, check=True, capture_output=True)
        said = subprocess.run([PTXAS, "-v", "-arch=sm_90a", ptx, "-o", "/dev/null"], check=True, capture_output=True, text=True)
        spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said.stderr)
        assert spills and set(spills) == {("0", "0")} and not re.search(r"C75\d\d", said.stderr), said.stderr


# Numbers.


def normal(rng, element, shape):
    return blockscale.encode(rng.standard_normal(shape), element)


def with_scales(case, seed=5):
    """Scales of f32 with all their bits."""
    rng = np.random.default_rng(seed)
    for name in ("x_scale", "y_scale"):
        shape = case.operands[name].shape
        case.operands[name] = (rng.standard_normal(shape) * np.exp2(rng.integers(-9, 9, shape))).astype(np.float32)
    return case


def parts(case):
    """What each group multiplies: its rows of the result, and the operands of mma_scaled."""
    starts = [0, *case.operands["offsets"][:-1]]
    rows = case.options.get("rows", np.arange(len(case.operands["acc"])))
    x_scale, all_share = case.operands["x_scale"], case.form[2][0][0] == ALL
    for g, (start, end) in enumerate(zip(starts, case.operands["offsets"])):
        at = np.flatnonzero(rows[start:end] >= 0) + start
        if at.size:
            yield at, (case.operands["x"][rows[at]], x_scale if all_share else x_scale[rows[at]], case.operands["y"][g],
                       case.operands["y_scale"][g], case.operands["acc"][at])


@pytest.mark.parametrize("form", ["block128", "row", "1x128"])
@pytest.mark.parametrize("target, licence", [(target, False) for target in devices.CHIPS] + [("sm_90a", True)])
def test_bounds(target, licence, form, tmp_path):
    """Random operands are within the bound of products."""
    case = with_scales(make_case(FORMS[form], [9, 0, 4], 1, n=40, k=320, options=("rows",), draw=normal))
    got = run(tmp_path, case, target, licence=licence, order="nk")
    for at, operands in parts(case):
        blockscale.compare(got[at], *operands, **names_of(case), **({"chunk": 128} if licence else {}))


@pytest.mark.parametrize("form, n, k", [("block128", 136, 576), ("row", 24, 320)])
def test_sums_are_those_of_fp8_tensor_cores(form, n, k, tmp_path):
    """Bit for bit, by the adder in numpy: 13 fraction bits, promoted every 128."""
    case = with_scales(make_case(FORMS[form], [9, 0, 4], n=n, k=k, draw=normal))
    case.operands["acc"][...] = 0
    got = run(tmp_path, case, "sm_90a", licence=True, order="nk", flags=["--numerics=hardware"])
    exact = reference(case)
    for at, (x, x_scale, y, y_scale, _) in parts(case):
        pieces = -(-k // 128)
        factor = np.float32(1)
        if form == "row":  # multiplies the whole sum
            factor, x_scale, y_scale = x_scale * y_scale, np.ones((1, 1), np.float32), np.ones((1, 1), np.float32)
        x_scale = np.broadcast_to(x_scale, (len(x), pieces))
        y_scale = np.broadcast_to(np.repeat(y_scale, 128, 1)[:, :n] if form == "block128" else y_scale, (pieces, n))
        padded = [np.pad(values, [(0, (-k % 128) * i) for i in pad]) for values, pad in (
            (blockscale.decode(x, E4M3), (0, 1)), (blockscale.decode(y, E4M3), (1, 0)))]
        same(got[at], factor * fp8_adder.multiply(padded[0], x_scale, padded[1], y_scale, (E4M3, E4M3), 128, 32))
    assert (got != exact).mean() > 0.5


@pytest.mark.parametrize("target, licence", [("sm_90a", True), ("sm_90a", False), ("sm_80", False)])
@pytest.mark.parametrize("form", ["block128", "row"])
def test_factors_that_cancel(form, target, licence, tmp_path):
    """2^120 times 2^-120 is 1, and neither leaves f32 before that."""
    case = make_case(FORMS[form], [3, 0, 2], n=16, k=320, options=("rows",))
    case.operands["x_scale"] *= np.float32(2.0**120)
    case.operands["y_scale"] *= np.float32(2.0**-120)
    same(run(tmp_path, case, target, licence=licence), reference(case))
    case.operands["x"][:], case.operands["y"][:] = 0x01, 0x01
    case.operands["x_scale"][:], case.operands["y_scale"][:] = 1.5 * 2.0**70, 1.25 * 2.0**65
    got, wanted = run(tmp_path, case, target, licence=licence), reference(case)
    assert np.isfinite(wanted).all() and (np.abs(got.astype(np.float64) - wanted) <= np.abs(wanted) * 2.0**-22).all()


@pytest.mark.parametrize("target, licence", [("sm_80", False), ("sm_90a", True), ("sm_90a", False)])
@pytest.mark.parametrize("form", ["block128", "row"])
def test_no_rows_of_x(form, target, licence, tmp_path):
    """All rows are nobody's, and get the accumulator: there is neither an element nor a factor to read."""
    case = make_case(FORMS[form], [3, 0, 1], n=16, k=160, options=("rows",), limit=0)
    same(run(tmp_path, case, target, licence=licence), case.operands["acc"])


@pytest.mark.parametrize("target, licence", [("sm_90a", True), ("sm_90a", False), ("sm_120a", False)])
def test_bits_do_not_depend_on_other_groups(target, licence, tmp_path):
    """Neither on their NaN nor on scales for which a warp would multiply in f64: tiles read rows of the next group."""
    case = with_scales(make_case(FORMS["block128"], [3, 2, 4], 3, n=24, k=320, draw=normal))
    expected = run(tmp_path, case, target, licence=licence)
    for value in (np.nan, np.float32(2.0**100)):
        case.operands["x_scale"][3:5] = value
        case.operands["x_scale"][9:] = value
        case.operands["y_scale"][1] = value
        result = run(tmp_path, case, target, licence=licence)
        assert not np.array_equal(result[3:5], expected[3:5])
        same(np.delete(result, [3, 4], 0), np.delete(expected, [3, 4], 0))


# What is wrong, and how it is said.


@pytest.mark.parametrize("target, licence", [("cpu", False), ("sm_90a", True), ("sm_90a", False), ("sm_80", False)])
def test_no_rows_of_x(target, licence, tmp_path):
    """All rows are -1, and x has none."""
    case = make_case(FORMS["block128"], [3, 4], 2, n=16, k=160, options=("rows",))
    for name in ("x", "x_scale"):
        case.operands[name] = case.operands[name][:0]
    case.options["rows"][:] = -1
    same(run(tmp_path, case, target, dynamic="RT", licence=licence), case.operands["acc"])


WRONG = [
    ("offsets", [3, 2, 5], "expected offsets to ascend from 0 to at most T"),
    ("offsets", [3, 4, 9], "expected offsets to ascend from 0 to at most T"),
    ("rows", [0, 1, 5, 2, 0], "expected rows from -1 to R - 1"),
    ("x_scale", lambda scales: scales[:-1], "expected x_scale to have one along R for 1 of x"),
    ("x_scale", lambda scales: scales[:, :-1], "expected x_scale to have one along K for 128 of x"),
    ("y_scale", lambda scales: scales[:, :-1], "expected y_scale to have one along K for 128 of y"),
]


@pytest.mark.parametrize("device, licence", [("cpu", False), ("sm_90a", True), ("sm_80", False)])
@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_at_run_time(number, device, licence, tmp_path):
    """An error before anything is read."""
    name, value, message = WRONG[number]
    case = make_case(FORMS["block128"], [2, 2, 1], 0, n=16, k=160, options=("rows",))
    group = case.options if name in case.options else case.operands
    group[name] = value(group[name]) if callable(value) else np.int32(value)
    assert message in run(tmp_path, case, device, dynamic="RTKN", licence=licence, fails=True)


def test_native_only(tmp_path):
    """Factors of sums are no block-scaled instruction; repeated powers of two are."""
    case = make_case(FORMS["block128"], [2, 1], n=16, k=160)
    said = run(tmp_path, case, "sm_100a", fails=True, flags=["--native-only"])
    assert "no block-scaled instruction has these scales" in said
    case = make_case(FORMS["powers"], [2, 1], n=16, k=160)
    for target in ("sm_100a", "sm_120a"):
        same(run(tmp_path, case, target, flags=["--native-only"]), reference(case))
