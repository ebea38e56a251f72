"""grouped_mma_scaled and grouped_matmul on the CPU, against numpy and sums of fractions."""

import subprocess
import zlib
from fractions import Fraction
from typing import NamedTuple

import blockscale
import harness
import numpy as np
import pytest

K = 64
# Zeros first, in the middle and last; all rows in one group; one row each; rows of nobody at the end; no rows.
SIZES = {
    "empty groups": ([0, 5, 0, 0, 3, 0], 0), "all in one": ([0, 0, 9, 0], 0), "one each": ([1] * 5, 0),
    "around a tile": ([1, 127, 129], 2), "rest": ([2, 0, 4], 6), "nobody": ([0, 0, 0], 4), "one group": ([7], 0),
    "no rows": ([0, 0], 0),
}


class Case(NamedTuple):
    """Arrays by the names of operands; those that are None are left out."""

    types: tuple
    operands: dict
    options: dict


def make_rng(*parts):
    return np.random.default_rng(zlib.crc32(" ".join(map(str, parts)).encode()))


def ends(sizes):
    return np.cumsum(sizes).astype(np.int32)


def draw_codes(rng, element, shape):
    codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
    return rng.choice(codes[np.isfinite(blockscale.decode(codes, element))], shape)


def make(types, sizes, rest, n=9, k=K, options=(), limit=None):
    """Random operands; with "rows" in `options`, x has `limit` rows, or as many as the result, in another order."""
    x_type, y_type, scale_type, block = types
    rng = make_rng(types, sizes, rest, n, k, options)
    groups, count = len(sizes), sum(sizes) + rest
    limit = count if "rows" not in options or limit is None else limit
    low, high = (124, 130) if scale_type == "f8E8M0FNU" else (0x30, 0x48)
    operands = dict(
        x=draw_codes(rng, x_type, (limit, k)), x_scale=rng.integers(low, high, (limit, k // block), np.uint8),
        y=draw_codes(rng, y_type, (groups, k, n)),
        y_scale=rng.integers(low, high, (groups, k // block, n), np.uint8), offsets=ends(sizes),
        acc=rng.integers(-8, 8, (count, n)).astype(np.float32),
    )
    chosen = {}
    if "rows" in options:
        chosen["rows"] = rng.integers(-1, limit, count, np.int32)
    if "group_scale" in options:
        chosen["group_scale"] = rng.choice(np.float32([0.5, 3, -1, 0.1]), groups)
    if "bias" in options:
        chosen["bias"] = rng.standard_normal((groups, n)).astype(np.float32)
    return Case(types, operands, chosen)


def reference(case):
    x_type, y_type, scale_type, block = case.types
    return blockscale.grouped_mma_scaled(
        **case.operands, **case.options, x_type=x_type, y_type=y_type, scale_type=scale_type, block_size=block
    )


ELEMENTS = {"offsets": "i32", "rows": "i32", "acc": "f32", "group_scale": "f32", "bias": "f32"}


def program(case, dynamic=()):
    """The op of a case; `dynamic` names sizes that are `?`: letters of R, T, G, K, N."""
    x_type, y_type, scale_type, block = case.types
    elements = {**ELEMENTS, "x": x_type, "y": y_type, "x_scale": scale_type, "y_scale": scale_type}
    letters = dict(x="RK", x_scale="Rk", y="GKN", y_scale="GkN", offsets="G", acc="TN", rows="T", group_scale="G",
                   bias="GN")
    if "rows" not in case.options:
        # R is T.
        letters.update(x="TK", x_scale="Tk")
    types = {
        name: "tensor<" + "".join(
            f"{'?' if letter.upper() in dynamic else size}x" for letter, size in zip(letters[name], array.shape)
        ) + f"{elements[name]}>" for name, array in {**case.operands, **case.options}.items()
    }
    arguments = ", ".join(f"%{name}: {type}" for name, type in types.items())
    operands = ", ".join(f"%{name}" for name in case.operands)
    options = " ".join(f"{name}(%{name} : {types[name]})" for name in ("rows", "group_scale", "bias")
                       if name in case.options)
    result = types["acc"]
    return f"""func.func @main({arguments}) -> {result} {{
  %d = blockscale.grouped_mma_scaled {operands} {options} {{block_size = {block}}}
      : {", ".join(types[name] for name in case.operands)}
  return %d : {result}
}}
"""


def run(folder, case, dynamic=""):
    arrays = [*case.operands.values(), *case.options.values()]
    [result] = harness.execute(folder, program(case, dynamic), arrays, 1, "main")
    return result


def same(result, expected):
    np.testing.assert_array_equal(result.view(np.uint32), expected.view(np.uint32))


MXFP8 = ("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32)
NVFP4 = ("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)
OPTIONS = [(), ("rows",), ("group_scale",), ("bias",), ("rows", "group_scale", "bias")]


@pytest.mark.parametrize("types", blockscale.LEGAL_TYPE_COMBINATIONS, ids=lambda types: "-".join(map(str, types)))
def test_every_combination(types, tmp_path):
    case = make(types, [3, 0, 2], 1, options=("rows", "bias"))
    same(run(tmp_path, case), reference(case))


@pytest.mark.parametrize("dynamic", ["", "TR", "RTGKN"])
@pytest.mark.parametrize("name", SIZES)
def test_sizes(name, dynamic, tmp_path):
    """Each kind of group sizes, with each option."""
    for number, options in enumerate(OPTIONS):
        case = make((MXFP8, NVFP4)[number % 2], *SIZES[name], options=options)
        same(run(tmp_path, case, dynamic), reference(case))


def test_many_groups(tmp_path):
    for groups in (32, 36, 60):
        rng = make_rng(groups)
        case = make(NVFP4, list(rng.multinomial(70, rng.dirichlet(np.ones(groups)))), 3, n=5, options=("bias",))
        same(run(tmp_path, case, "TR"), reference(case))


def test_other_rows_of_x(tmp_path):
    """Fewer, more and no rows of x than of the result."""
    for limit in (1, 40):
        case = make(MXFP8, [3, 4], 2, options=("rows",), limit=limit)
        same(run(tmp_path, case, "RT"), reference(case))
    case = make(MXFP8, [3, 4], 2)
    none = np.full(9, -1, np.int32)
    operands = {**case.operands, "x": np.zeros((0, K), np.uint8), "x_scale": np.zeros((0, K // 32), np.uint8)}
    case = Case(MXFP8, operands, {"rows": none})
    same(run(tmp_path, case, "RT"), case.operands["acc"])


def test_fractions(tmp_path):
    """Sums that are exact, apart from numpy: row by row, with the group as the count of offsets."""
    case = make(MXFP8, [2, 0, 3], 2, n=3, options=("rows",))
    x, y = ((blockscale.decode(case.operands[name], "f8E4M3FN"), case.operands[f"{name}_scale"]) for name in "xy")
    result = run(tmp_path, case)
    for i, row in enumerate(case.options["rows"]):
        g = sum(int(end) <= i for end in case.operands["offsets"])
        for j in range(3):
            total = Fraction(float(case.operands["acc"][i, j]))
            for k in range(K if g < 3 and row >= 0 else 0):
                scales = Fraction(2) ** (int(x[1][row, k // 32]) + int(y[1][g, k // 32, j]) - 254)
                total += Fraction(float(x[0][row, k])) * Fraction(float(y[0][g, k, j])) * scales
            assert Fraction(float(result[i, j])) == Fraction(float(np.float32(float(total))))


def test_foreign_nan(tmp_path):
    """NaN in the rows and the matrix of one group, in rows of nobody and in rows of x that nobody reads."""
    plain = make(MXFP8, [3, 2, 4], 3)
    expected = run(tmp_path, plain)
    for name in ("x", "x_scale"):
        plain.operands[name][3:5] = 0xFF
        plain.operands[name][9:] = 0xFF
    plain.operands["y"][1], plain.operands["y_scale"][1] = 0x7F, 0xFF
    result = run(tmp_path, plain)
    assert np.isnan(result[3:5]).all()
    same(np.delete(result, [3, 4], 0), np.delete(expected, [3, 4], 0))


@pytest.mark.parametrize("offsets,rows,message", [
    ([3, 2, 5], None, "offsets to ascend from 0 to at most T"), ([-1, 2, 5], None, "offsets to ascend"),
    ([3, 4, 6], None, "offsets to ascend"), ([3, 4, 5], [0, 1, 5, 2, 0], "rows from -1 to R - 1"),
    ([3, 4, 5], [0, 1, -2, 2, 0], "rows from -1 to R - 1"),
])
def test_wrong_offsets_and_rows(offsets, rows, message, tmp_path):
    case = make(MXFP8, [2, 2, 1], 0, options=("rows",) if rows else ())
    case.operands["offsets"][:] = offsets
    if rows:
        case.options["rows"][:] = rows
    with pytest.raises(AssertionError, match=f"expected {message}"):
        run(tmp_path, case)
    with pytest.raises(ValueError, match="^offsets: expected|^rows: expected"):
        reference(case)


TILE = """
module attributes {{transform.with_named_sequence}} {{
{function}
  transform.named_sequence @__transform_main(%module: !transform.any_op {{transform.readonly}}) {{
    %op = transform.structured.match ops{{["blockscale.grouped_mma_scaled"]}} in %module
        : (!transform.any_op) -> !transform.any_op
    %tile, %loops:{loops} = transform.structured.tile_using_for %op tile_sizes {sizes}
        : (!transform.any_op) -> ({types})
    transform.yield
  }}
}}
"""


@pytest.mark.parametrize("sizes", [(4, 5, 0), (1, 0, 0), (3, 0, 32)], ids=str)
@pytest.mark.parametrize("options", [(), ("rows",), ("rows", "group_scale", "bias")], ids="-".join)
def test_tiles(sizes, options, tmp_path):
    """Groups begin and end anywhere in tiles of rows. A factor or a bias allows no tiles along K."""
    if sizes[2] and "bias" in options:
        sizes = (3, 4, 0)
    case = make(MXFP8, [2, 0, 5, 1], 3, options=options)
    loops = sum(size != 0 for size in sizes)
    source = tmp_path / "tile.mlir"
    source.write_text(TILE.format(
        function=program(case, "TR"), loops=loops, sizes=list(sizes),
        types=", ".join(["!transform.any_op"] * (loops + 1)),
    ))
    done = subprocess.run(
        [harness.RUN.with_name("blockscale-opt"), source, "--transform-interpreter", "--canonicalize"],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("scf.for") == loops
    text = done.stdout[: done.stdout.index("  transform.named_sequence")] + "}\n"
    arrays = [*case.operands.values(), *case.options.values()]
    [result] = harness.execute(tmp_path, text, arrays, 1, "main")
    expected = reference(case)
    if sizes[2]:
        # Each tile along K is rounded.
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-3)
    else:
        same(result, expected)


# grouped_matmul


def matmul(case, element, dynamic=""):
    operands = {name: array for name, array in case.operands.items() if "scale" not in name}
    letters = dict(x="TK" if "rows" not in case.options else "RK", y="GKN", offsets="G", acc="TN", rows="T",
                   group_scale="G", bias="GN")
    elements = {**ELEMENTS, "x": element, "y": element}
    types = {
        name: "tensor<" + "".join(
            f"{'?' if letter in dynamic else size}x" for letter, size in zip(letters[name], array.shape)
        ) + f"{elements[name]}>" for name, array in {**operands, **case.options}.items()
    }
    options = " ".join(f"{name}(%{name} : {types[name]})" for name in case.options)
    return operands, f"""func.func @main({", ".join(f"%{name}: {type}" for name, type in types.items())}) -> {types["acc"]} {{
  %d = blockscale.grouped_matmul {", ".join(f"%{name}" for name in operands)} {options}
      : {", ".join(types[name] for name in operands)}
  return %d : {types["acc"]}
}}
"""


@pytest.mark.parametrize("element", ["bf16", "f16"])
@pytest.mark.parametrize("options", OPTIONS, ids="-".join)
def test_matmul(element, options, tmp_path):
    """Integers, whose sums are exact in f32."""
    for name, dynamic in (("empty groups", ""), ("rest", "TR"), ("around a tile", "RTGKN"), ("no rows", "")):
        sizes, rest = SIZES[name]
        case = make(MXFP8, sizes, rest, options=options)
        rng = make_rng(name, element)
        x, y = (rng.integers(-4, 5, case.operands[each].shape).astype(np.float32) for each in "xy")
        if "bias" in case.options:
            case.options["bias"][:] = rng.integers(-9, 9, case.options["bias"].shape)
        if "group_scale" in case.options:
            case.options["group_scale"][:] = rng.choice([0.5, 3, -1], len(sizes))
        count = sum(sizes) + rest
        rows = case.options.get("rows", np.arange(count))
        expected = case.operands["acc"].copy()
        for i in range(count):
            g = int((case.operands["offsets"] <= i).sum())
            if g < len(sizes) and rows[i] >= 0:
                expected[i] += x[rows[i]] @ y[g] * case.options.get("group_scale", np.ones(len(sizes)))[g]
                expected[i] += case.options.get("bias", np.zeros_like(expected[:1].repeat(len(sizes), 0)))[g]
        store = blockscale.to_bf16 if element == "bf16" else np.float16
        case = Case(case.types, {**case.operands, "x": store(x), "y": store(y)}, case.options)
        operands, text = matmul(case, element, dynamic)
        [result] = harness.execute(tmp_path, text, [*operands.values(), *case.options.values()], 1, "main")
        np.testing.assert_array_equal(result, expected)
