"""Grouped products of tcgen05, with the schedules that they can have: scales of x in atoms of their own."""

import json

import blockscale
import devices
import numpy as np
import pytest
import tiers
from test_gated import LIMIT, check, gate
from test_grouped import MXFP8, NVFP4, program, reference
from test_grouped_kernels import Matmul, make_exact, same

MXFP4 = ("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32)
MIXED = ("f8E5M2", "f6E2M3FN", "f8E8M0FNU", 32)
# K of a stage, by types.
STAGE = {MXFP8: 128, MIXED: 128, MXFP4: 256, NVFP4: 256}
PAIR = ",cluster=2x1,two_cta=1"
# M and N of the tile, and the rest: tiles of 128 rows, alone and in pairs; of 64 and more rows, which are N then; of
# pairs with two rounds of 64 rows; one stage's scales at a time, beside two accumulators that share columns.
SCHEDULES = {
    "rows": (128, 64, ""), "wide": (128, 256, ""), "pair": (128, 64, PAIR), "rounds": (64, 256, PAIR),
    "swap": (128, 64, ",swap_ab=1"), "swap-192": (128, 192, ",swap_ab=1"), "swap-pair": (128, 128, ",swap_ab=1" + PAIR),
    "one": (128, 64, None),
}
# Rows that end inside of tiles of all kinds, groups without rows, and rows of nobody.
SIZES = [([0, 5, 0, 200, 3, 0], 2), ([1, 127, 129], 0), ([70, 300, 0, 64], 130), ([0, 0], 7)]
OPTIONS = [(), ("rows",), ("group_scale",), ("bias",), ("rows", "group_scale", "bias")]
# Options, and what is dynamic.
VARIANTS = [(("rows",), "TR"), (("group_scale", "bias"), ""), (("rows", "group_scale", "bias"), "RTGKN")]


def flags(name, k):
    m, n, rest = SCHEDULES[name]
    most = "accumulators=1,persistent=0" if rest is None else "accumulators=2,persistent=1" + rest
    return [f"--schedule=tile={m}x{n}x{k},stages=2,{most}"]


def run(folder, case, schedule, target, dynamic="", text=None, more=()):
    """The result; the kernel has to be one of tcgen05."""
    statistics = folder / "stats.json"
    arrays = [*case.operands.values(), *case.options.values(), *more]
    [result] = devices.run(folder, text or program(case, dynamic), arrays, target,
                           flags=[*flags(schedule, STAGE[case.types]), f"--stats={statistics}"])
    matrix = [name for kernel in json.loads(statistics.read_text())["kernels"] for name in kernel["matrix"]]
    # Nothing is multiplied for nobody.
    assert any(name.startswith("tcgen05.mma") for name in matrix) == (case.operands["offsets"][-1] > 0)
    return result


@pytest.mark.parametrize("schedule, types, sizes, variant", tiers.product(
    SCHEDULES, [MXFP8, MIXED, MXFP4, NVFP4], range(len(SIZES)), range(len(VARIANTS))))
def test_schedules(schedule, types, sizes, variant, tmp_path):
    """Ragged K, which ends inside of a stage, and ragged N."""
    options, dynamic = VARIANTS[variant]
    case = make_exact(types, *SIZES[sizes], n=264, k=3 * STAGE[types] // 2 + 32, options=options)
    same(run(tmp_path, case, schedule, "sm_100a", dynamic), reference(case))


@pytest.mark.parametrize("schedule", ["rows", "swap", "pair"])
def test_zeros_of_nobody(schedule, tmp_path):
    """Without an accumulator in memory, rows of nobody are zeros, not what tensor memory held."""
    case = make_exact(MXFP8, [130, 0], 200, n=264, k=128)
    case.operands["acc"][...] = 0
    expected = reference(case)
    acc = f"tensor<{len(expected)}x264xf32>"
    text = program(case).replace(f", %acc: {acc}) -> {acc} {{", f""") -> {acc} {{
  %acc = arith.constant dense<0.0> : {acc}""")
    del case.operands["acc"]
    same(run(tmp_path, case, schedule, "sm_100a", text=text), expected)


@pytest.mark.parametrize("schedule, groups", tiers.product(["rows", "swap", "pair"], [31, 32, 33, 60]))
def test_many_groups(schedule, groups, tmp_path):
    rng = np.random.default_rng(groups)
    sizes = list(rng.multinomial(900, rng.dirichlet(np.ones(groups))))
    case = make_exact(NVFP4, sizes, 3, n=48, k=256, options=("rows", "bias"))
    same(run(tmp_path, case, schedule, "sm_100a", "TRG"), reference(case))


def test_wide_instructions(tmp_path):
    """K of 96, on sm_103a."""
    case = make_exact(NVFP4, [130, 0, 5], 0, n=128, k=768)
    same(run(tmp_path, case, "rows", "sm_103a", text=program(case)), reference(case))


@pytest.mark.parametrize("schedule", ["rows", "swap", "pair"])
def test_foreign_nan(schedule, tmp_path):
    """NaN in rows and scales of other groups, of nobody and of rows of x that nobody reads."""
    sizes, rest = [30, 90, 40], 20
    case = make_exact(MXFP8, sizes, rest, n=72, k=128)
    expected = run(tmp_path, case, schedule, "sm_100a")
    for first, last in ((30, 120), (160, 180)):
        case.operands["x"][first:last] = case.operands["x_scale"][first:last] = 0xFF
    case.operands["y"][1], case.operands["y_scale"][1] = 0x7F, 0xFF
    result = run(tmp_path, case, schedule, "sm_100a")
    assert np.isnan(result[30:120]).all()
    same(np.delete(result, slice(30, 120), 0), np.delete(expected, slice(30, 120), 0))


@pytest.mark.parametrize("schedule, types, options, element", tiers.product(
    ["rows", "wide", "pair", "swap", "swap-pair"], [MXFP8, NVFP4], range(len(OPTIONS)), ["f32", "bf16"]))
def test_gated(schedule, types, options, element, tmp_path):
    """Pairs of columns, in one lane or in two."""
    case = make_exact(types, [0, 5, 0, 200, 3], 2, n=272, k=STAGE[types], options=OPTIONS[options])
    text = gate(program(case, "TR"), "difference", element)
    check(run(tmp_path, case, schedule, "sm_100a", text=text, more=[LIMIT]), reference(case), "difference", element)


@pytest.mark.parametrize("schedule, dtype, dynamic", tiers.product(
    ["rows", "pair", "swap", "swap-pair"], ["bf16", "f16"], [False, True]))
def test_matmul(schedule, dtype, dynamic, tmp_path):
    product = Matmul("transposed", [3, 0, 170, 1], 2, 72, 200, dtype, ("rows", "bias"))
    same(product.run(tmp_path, "sm_100a", dynamic, flags(schedule, 64)), product.reference())


def test_same_bits(tmp_path):
    """Rows of a group have the same bits whatever the others have, and in each run."""
    case = make_exact(MXFP8, [5, 90, 40], 3, n=72, k=384)
    rng = np.random.default_rng(1)
    for name in "xy":
        case.operands[name][...] = rng.integers(0, 0x7E, case.operands[name].shape)
    first = run(tmp_path, case, "swap", "sm_100a")
    same(run(tmp_path, case, "swap", "sm_100a"), first)
    case.operands["x"][:5] = 0x7E
    case.operands["x"][95:] = 0
    same(run(tmp_path, case, "swap", "sm_100a")[5:95], first[5:95])


# swizzle_group_scales


@pytest.mark.parametrize("device", devices.DEVICES)
@pytest.mark.parametrize("offsets", [[0, 5, 5, 205, 208, 208], [300] * 35, [7, 3, 900, -1], [1, 128, 257]])
@pytest.mark.parametrize("has_rows, dynamic, blocks", [(False, True, 9), (True, False, 8), (True, True, 4)])
def test_swizzle_group_scales(device, offsets, has_rows, dynamic, blocks, tmp_path):
    """All bytes, on all devices; offsets that descend or are too large, and rows that x does not have, are clamped."""
    rng = np.random.default_rng(blocks)
    t, groups = 300, len(offsets)
    scales = rng.integers(1, 255, (40 if has_rows else t, blocks), np.uint8)
    rows = rng.integers(-2, 43, t, np.int32) if has_rows else None
    ends = np.int32(offsets)
    sizes = ("?", "?", "?", "?") if dynamic else (len(scales), t, groups, (t + 127 * groups) // 128)
    source, of_rows = f"tensor<{sizes[0]}x{blocks}xf8E8M0FNU>", f"tensor<{sizes[1]}xi32>"
    result = f"tensor<{sizes[3]}x{-(-blocks // 4)}x32x16xf8E8M0FNU>"
    argument, clause = (f", %r: {of_rows}", f" rows(%r : {of_rows})") if has_rows else ("", "")
    text = f"""func.func @main(%s: {source}, %o: tensor<{sizes[2]}xi32>{argument}) -> {result} {{
  %a = blockscale.swizzle_group_scales %s, %o{clause} : {source}, tensor<{sizes[2]}xi32> to {result}
  return %a : {result}
}}
"""
    arrays = [scales, ends, *([rows] if has_rows else [])]
    [got] = devices.run(tmp_path, text, arrays, device)
    np.testing.assert_array_equal(got, blockscale.swizzle_group_scales(scales, ends, rows))
