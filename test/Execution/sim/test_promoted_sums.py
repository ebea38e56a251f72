"""Coarse scales that are factors of sums of blocks, in the simulator: of elements in bf16, and of fp8 with a licence.

Expectations are numpy's, within the bound of products; where all factors are powers of two and elements are 1, they are
exact, and show which scales a result took.
"""

import subprocess

import blockscale
import numpy as np
import pytest
import test_coarse_simulated as coarse
from blockscale import bfloat16
from test_coarse_simulated import ALL, E8M0, F32, TARGETS, count, elements, scales

UE4M3 = "f8E4M3FN"
SCHEDULES = {
    "wgmma": "tile=128x160x{k},stages=3,accumulators=1,persistent=1",
    "turns": "tile=128x64x{k},stages=2,accumulators=1,persistent=1",
    "three": "tile=192x128x{k},stages=2,accumulators=1,persistent=1",
    "cluster": "tile=64x64x{k},stages=2,accumulators=1,persistent=1,cluster=2x1",
    "split": "tile=64x64x{k},stages=2,accumulators=1,persistent=1,split_k=2",
}


def program(types, scale_types, blocks, sizes, *, licence=False, is_dynamic=False, order="kn", wide="f32"):
    """A product with coarse scales; with order "nk", y and its scales are stored as N x K."""
    (m, n, k), (x_block, y_block) = sizes, blocks
    rows, columns, along = ("?", "?", "?") if is_dynamic else (m, n, k)
    dim = lambda size, block, shown: 1 if block == ALL else "?" if shown == "?" else count(size, block)
    x = f"tensor<{rows}x{along}x{types[0]}>"
    xs = f"tensor<{dim(m, x_block[0], rows)}x{dim(k, x_block[1], along)}x{scale_types[0]}>"
    yk, yn = dim(k, y_block[1], along), dim(n, y_block[0], columns)
    y, ys = f"tensor<{along}x{columns}x{types[1]}>", f"tensor<{yk}x{yn}x{scale_types[1]}>"
    acc = f"tensor<{rows}x{columns}xf32>"
    body, given, given_scales = "", f"%y: {y}", f"%ys: {ys}"
    if order == "nk":
        w, ws = f"tensor<{n}x{k}x{types[1]}>", f"tensor<{yn}x{yk}x{scale_types[1]}>"
        given, given_scales = f"%w: {w}", f"%ws: {ws}"
        for name, of, source, kind in (("y", "w", w, y), ("ys", "ws", ws, ys)):
            body += f"  %e{name} = tensor.empty() : {kind}\n"
            body += (f"  %{name} = linalg.transpose ins(%{of} : {source}) outs(%e{name} : {kind}) "
                     "permutation = [1, 0]\n")
    attributes = [coarse.attribute("x", x_block), coarse.attribute("y", y_block)]
    if licence:
        attributes.append("accumulate = #blockscale.accumulate<chunk = 128>")
    result = acc.replace("f32", wide)
    end = f"  %r = arith.truncf %d : {acc} to {result}\n" if wide != "f32" else ""
    return (
        f"func.func @main(%x: {x}, %xs: {xs}, {given}, {given_scales}, %acc: {acc}) -> {result} {{\n{body}"
        f"  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc {{{', '.join(attributes)}}} : {x}, {xs}, {y}, {ys}, {acc}\n"
        f"{end}  return {'%r' if end else '%d'} : {result}\n}}\n"
    )


def operands(types, scale_types, blocks, sizes, seed=1):
    rng = np.random.default_rng(seed)
    (m, n, k), (x_block, y_block) = sizes, blocks

    def make(kind, shape):
        if kind == UE4M3:
            return rng.integers(1, 0x7F, shape).astype(np.uint8)
        return scales(kind, shape, rng)

    return [
        elements(types[0], (m, k), rng), make(scale_types[0], (count(m, x_block[0]), count(k, x_block[1]))),
        elements(types[1], (k, n), rng), make(scale_types[1], (count(k, y_block[1]), count(n, y_block[0]))),
        rng.standard_normal((m, n)).astype(np.float32),
    ]


def stored(data, order):
    if order == "kn":
        return data
    return [data[0], data[1], np.ascontiguousarray(data[2].T), np.ascontiguousarray(data[3].T), data[4]]


def options(types, scale_types, blocks):
    codes = [kind for kind in scale_types if kind != F32]
    return dict(x_type=types[0], y_type=types[1], x_scale_block=blocks[0], y_scale_block=blocks[1],
                scale_type=codes[0] if codes else None)


def check(case, sizes, target, folder, *flags, **given):
    data = operands(*case, sizes)
    got, messages = coarse.result(program(*case, sizes, **given), stored(data, given.get("order", "kn")), target, folder, *flags)
    licence = dict(chunk=128) if given.get("licence") else {}
    blockscale.compare(got, *data, **options(*case), **licence)
    return messages


# Types of elements, types of scales, blocks.
CASES = [
    (("f8E4M3FN", "f8E4M3FN"), (F32, F32), ((1, 128), (128, 128))),
    (("f8E4M3FN", "f8E5M2"), (F32, F32), ((1, 128), (1, 128))),
    (("f8E4M3FN", "f4E2M1FN"), (F32, E8M0), ((1, 128), (1, 32))),
    (("f8E5M2", "f6E2M3FN"), (F32, E8M0), ((1, ALL), (1, 32))),
    (("f4E2M1FN", "f4E2M1FN"), (F32, F32), ((128, 16), (ALL, 64))),
    (("f6E3M2FN", "f4E2M1FN"), (F32, UE4M3), ((ALL, ALL), (1, 16))),
    (("f8E4M3FN", "f8E4M3FN"), (E8M0, F32), ((128, 32), (128, ALL))),
    (("f4E2M1FN", "f8E4M3FN"), (F32, F32), ((1, 64), (1, 64))),
]
SIZES = [(130, 136, 192), (70, 200, 200), (3, 260, 320), (33, 10, 72)]
WHOLE = [(130, 136, 192), (70, 200, 224), (3, 260, 320), (33, 10, 96)]  # for blocks of instructions
NAMES = [f"{case[0][0]}-{case[0][1]}-{case[2][0]}-{case[2][1]}".replace("'", "") for case in CASES]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("number", range(len(CASES)), ids=NAMES)
def test_exact(number, target, tmp_path):
    """Each form with another size, K that ends inside of a block among them, and both orders of y."""
    turn = number + TARGETS.index(target)
    order = "kn" if "f4" in CASES[number][0][1] or turn % 2 else "nk"
    sizes = (SIZES if all(kind == F32 for kind in CASES[number][1]) else WHOLE)[turn % len(SIZES)]
    messages = check(CASES[number], sizes, target, tmp_path, "--compare", order=order)
    assert "coarse scales are factors of the sums of" in messages and "products of bf16 elements" in messages


@pytest.mark.parametrize("target", ("sm_90a", "sm_120a"))
def test_dynamic_sizes(target, tmp_path):
    check(CASES[0], (70, 200, 200), target, tmp_path, is_dynamic=True)


# What is wrong with the operands, and how it is said.
WRONG_SIZES = [
    (lambda data: [data[0], data[1][:-1], *data[2:]], "expected x_scale to have one along M for 1 of x"),
    (lambda data: [data[0], data[1][:, :-1], *data[2:]], "expected x_scale to have one along K for 128 of x"),
    (lambda data: [*data[:3], np.pad(data[3], ((0, 0), (0, 1))), data[4]], "expected y_scale to have one along N for 128 of y"),
    (lambda data: [*data[:2], data[2][:-8], *data[3:]], "expected"),
    (lambda data: [*data[:4], data[4][:-1]], "expected"),
    (lambda data: [data[0][:, :0], data[1][:, :0], data[2][:0], data[3][:0], data[4]], "expected K to be at least 1"),
]


@pytest.mark.parametrize("target, licence", [("sm_90a", True), ("sm_90a", False), ("sm_80", False)])
@pytest.mark.parametrize("change, message", WRONG_SIZES, ids=["rows", "k", "n", "k-of-y", "acc", "no-k"])
def test_sizes_at_run_time(change, message, target, licence, tmp_path):
    """Scales that do not fit are errors before anything is read."""
    sizes = (70, 200, 200)
    data = change(operands(*CASES[0], sizes))
    done = coarse.simulate(program(*CASES[0], sizes, is_dynamic=True, licence=licence), data, target, tmp_path)
    assert done.returncode == 1 and "check failed at run time" in done.stderr and message in done.stderr, done.stderr


@pytest.mark.parametrize("is_dynamic", (False, True), ids=("static", "dynamic"))
@pytest.mark.parametrize("target, licence", [("sm_90a", True), ("sm_90a", False), ("sm_80", False)])
def test_infinite_scales_of_all_of_k(target, licence, is_dynamic, tmp_path):
    """They multiply the whole sum: the sums of the first 128 elements, which are 0, make no NaN."""
    case, sizes = ((UE4M3, UE4M3), (F32, F32), ((1, ALL), (1, ALL))), (4, 8, 200)
    data = operands(*case, sizes)
    data[0][:, :128], data[0][:, 128:], data[2][:], data[1][:], data[3][:] = 0, 0x38, 0x38, np.inf, 1
    got, _ = coarse.result(program(*case, sizes, is_dynamic=is_dynamic, licence=licence), data, target, tmp_path)
    np.testing.assert_array_equal(got, np.inf)


def test_a_licence_refuses_nothing(tmp_path):
    """Where the tensor cores are not those of the target, or without a workspace, programs compile as before."""
    (tmp_path / "main.mlir").write_text(program(*CASES[0], (64, 128, 256), licence=True, order="nk"))
    for flags in (["--emulate-on=sm_80"], ["--no-workspace"]):
        subprocess.run([coarse.RUN.with_name("blockscale-compile"), tmp_path / "main.mlir", "--target=sm_90a", *flags,
                        "-o", tmp_path / "main.ptx"], check=True, timeout=60)


@pytest.mark.parametrize("licence", (False, True), ids=("bf16", "fp8"))
@pytest.mark.parametrize("ranks", [(3, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("target", ("sm_90a", "sm_80"))
def test_batches(target, ranks, licence, tmp_path):
    """A batch of x, of y, or of both, of which one is 1; scales have the batch of their operand."""
    case, (m, n, k) = CASES[1], (70, 72, 192)
    batches = [3 if rank == 3 else None for rank in ranks]
    if ranks == (3, 3):
        batches[1] = 1
    data = operands(*case, (m, n, k))
    for operand, batch in zip((0, 2), batches):
        for i in (operand, operand + 1):
            if batch:
                data[i] = np.stack([np.roll(data[i], 5 * j, 0) for j in range(batch)])
    data[4] = np.stack([data[4] + j for j in range(3)])
    kinds = (case[0][0], case[1][0], case[0][1], case[1][1], "f32")
    types = [f"tensor<{'x'.join(map(str, array.shape))}x{kind}>" for array, kind in zip(data, kinds)]
    names = ["%x", "%xs", "%y", "%ys", "%acc"]
    attributes = [coarse.attribute("x", case[2][0]), coarse.attribute("y", case[2][1])]
    if licence:
        attributes.append("accumulate = #blockscale.accumulate<chunk = 128>")
    text = (
        f"func.func @main({', '.join(map(': '.join, zip(names, types)))}) -> {types[4]} {{\n"
        f"  %d = blockscale.mma_scaled {', '.join(names)} {{{', '.join(attributes)}}} : {', '.join(types)}\n"
        f"  return %d : {types[4]}\n}}\n"
    )
    got, _ = coarse.result(text, data, target, tmp_path)
    blockscale.compare(got, *data, **options(*case))


def powers(sizes, blocks):
    """Elements of 1 and scales that are distinct powers of two as far as they fit; and the exact product."""
    (m, n, k), (x_block, y_block) = sizes, blocks
    data = operands((UE4M3, UE4M3), (F32, F32), blocks, sizes)
    data[0][:], data[2][:], data[4][:] = 0x38, 0x38, 0
    factors = []
    for i, shape, step in ((1, data[1].shape, 1), (3, data[3].shape, 3)):
        data[i] = np.exp2(np.arange(data[i].size).reshape(shape) * step % 17 - 8).astype(np.float32)
        factors.append(data[i].astype(np.float64))
    spread = lambda of, block, size, axis: np.repeat(of, size if block == ALL else block, axis).take(range(size), axis)
    x = spread(spread(factors[0], x_block[0], m, 0), x_block[1], k, 1)
    y = spread(spread(factors[1], y_block[0], n, 1), y_block[1], k, 0)
    return data, (x @ y).astype(np.float32)


BLOCK = ((1, 128), (128, 128))


@pytest.mark.parametrize("licence", (False, True), ids=("bf16", "fp8"))
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_which_scale(schedule, licence, tmp_path):
    """Tiles whose columns cross a border of 128, several tiles for a block, split-K, clusters, the end of K and N."""
    sizes = (200, 330, 576)
    data, wanted = powers(sizes, BLOCK)
    flag = f"--schedule={SCHEDULES[schedule].format(k=128 if licence else 64)}"
    if schedule == "split" and not licence:
        flag = "--schedule=tile=64x64x128,warps=2x2,stages=2,split_k=2"
    case = ((UE4M3, UE4M3), (F32, F32), BLOCK)
    text = program(*case, sizes, licence=licence, order="nk")
    got, messages = coarse.result(text, stored(data, "nk"), "sm_90a", tmp_path, flag)
    assert f"products of {'fp8' if licence else 'bf16'} elements" in messages
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("target", TARGETS)
def test_square_scales(target, tmp_path):
    """As many blocks along N as along K, so that transposed scales would pass checks of sizes."""
    data, wanted = powers((5, 384, 384), BLOCK)
    got, _ = coarse.result(program((UE4M3,) * 2, (F32, F32), BLOCK, (5, 384, 384)), data, target, tmp_path)
    np.testing.assert_array_equal(got, wanted)


LICENSED = [
    ((UE4M3, UE4M3), (F32, F32), BLOCK),
    ((UE4M3, "f8E5M2"), (F32, F32), ((1, 128), (1, 128))),
    (("f8E5M2", UE4M3), (F32, F32), ((1, ALL), (1, ALL))),
    ((UE4M3, UE4M3), (F32, F32), ((ALL, ALL), (1, ALL))),
    ((UE4M3, UE4M3), (E8M0, E8M0), BLOCK),
    ((UE4M3, UE4M3), (F32, E8M0), ((1, ALL), (128, 128))),
]


@pytest.mark.parametrize("numerics", ("exact", "hardware"))
@pytest.mark.parametrize("number", range(len(LICENSED)))
def test_licensed(number, numerics, tmp_path):
    """fp8 tensor cores of sm_90a; sums as exact ones and as the card forms them are within the licence."""
    sizes, order = SIZES[number % len(SIZES)], "nk" if number % 2 else "kn"
    messages = check(LICENSED[number], sizes, "sm_90a", tmp_path, f"--numerics={numerics}", licence=True, order=order)
    assert "products of fp8 elements" in messages


def test_licence_is_ignored_elsewhere(tmp_path):
    """Where no fp8 tensor core is used, results are as exact as without it."""
    data = operands(*LICENSED[0], SIZES[0])
    for target in ("sm_80", "sm_120a"):
        got, messages = coarse.result(program(*LICENSED[0], SIZES[0], licence=True), data, target, tmp_path)
        assert "products of bf16 elements" in messages
        blockscale.compare(got, *data, **options(*LICENSED[0]))


@pytest.mark.parametrize("licence", (False, True), ids=("bf16", "fp8"))
@pytest.mark.parametrize("target", ("sm_90a", "sm_80"))
def test_special_factors(target, licence, tmp_path):
    """Products of factors outside of f32's range, and special factors: what the definition says."""
    case, sizes = ((UE4M3, UE4M3), (F32, F32), BLOCK), (33, 136, 320)
    data = operands(*case, sizes, 3)
    data[1][:] = np.resize(np.float32([2.0**120, 2.0**-120, 1, -3, 2.0**-90, 0, np.nan, np.inf, 1e-45]), data[1].shape)
    data[3][:] = np.resize(np.float32([2.0**-120, 1, 2.0**120, 2.0**-50, 2.0**-149, 2.0**100]), data[3].shape)
    got, _ = coarse.result(program(*case, sizes, licence=licence), data, target, tmp_path)
    wanted = blockscale.mma_scaled(*data, **options(*case))
    blockscale.compare(got, *data, **options(*case))
    special = ~np.isfinite(wanted)
    np.testing.assert_array_equal(np.isnan(got[special]), np.isnan(wanted[special]))


@pytest.mark.parametrize("target, licence", [("sm_90a", True), ("sm_90a", False), ("sm_80", False)])
@pytest.mark.parametrize("code, factors", [(0x01, (1.5 * 2.0**70, 1.25 * 2.0**65)), (0x7E, (1.37 * 2.0**-80, 1.91 * 2.0**-60))],
                         ids=["large", "small"])
def test_factors_whose_product_leaves_f32(code, factors, target, licence, tmp_path):
    """Above, the product is infinite in f32, and below it loses bits, while the result has neither."""
    case, sizes = ((UE4M3, UE4M3), (F32, F32), BLOCK), (33, 136, 128)
    data = operands(*case, sizes)
    data[0][:], data[2][:], data[1][:], data[3][:], data[4][:] = code, code, *np.float32(factors), 0
    got, _ = coarse.result(program(*case, sizes, licence=licence), data, target, tmp_path)
    wanted = blockscale.mma_scaled(*data, **options(*case))
    assert np.isfinite(wanted).all() and (np.abs(got.astype(np.float64) - wanted) <= np.abs(wanted) * 2.0**-22).all()


def test_races(tmp_path):
    """Turns of warpgroups, factors and stages: no race, with and without several steps of an interval."""
    for licence, k in ((False, 64), (True, 128)):
        flag = f"--schedule={SCHEDULES['turns'].format(k=k)}"
        check(CASES[0], (200, 200, 576), "sm_90a", tmp_path, "--check=race", flag, licence=licence, order="nk")


def test_fused(tmp_path):
    """Rounded to bf16 in the epilogue, which applies the scales of whole rows, too: there is one kernel."""
    sizes = (64, 128, 256)
    for blocks in (BLOCK, ((1, ALL), (1, ALL))):
        data, wanted = powers(sizes, blocks)
        text = program((UE4M3, UE4M3), (F32, F32), blocks, sizes, licence=True, order="nk" if blocks == BLOCK else "kn", wide="bf16")
        got, _ = coarse.result(text, stored(data, "nk" if blocks == BLOCK else "kn"), "sm_90a", tmp_path,
                               f"--stats={tmp_path / 'stats.json'}")
        got = bfloat16.widen(got)
        assert (np.abs(got.astype(np.float64) - wanted) <= np.abs(wanted) * 2.0**-8).all()


def test_native_only(tmp_path):
    case, sizes = CASES[0], SIZES[0]
    for target in TARGETS:
        done = coarse.simulate(program(*case, sizes), operands(*case, sizes), target, tmp_path, "--native-only")
        assert done.returncode == 1 and "no block-scaled instruction has these scales" in done.stderr


def test_schedules_that_do_not_fit(tmp_path):
    """Registers for two accumulators, and steps of whole intervals."""
    case, sizes = CASES[0], (200, 330, 576)
    data = stored(operands(*case, sizes), "nk")
    for licence, schedule, message in (
        (True, "tile=128x256x128,stages=2,accumulators=1,persistent=1", "at most 80 values of promoted sums"),
        (True, "tile=256x128x128,stages=2,accumulators=1,persistent=1", "64 rows for each warpgroup"),
        (False, "tile=64x64x64,stages=2,accumulators=1,persistent=1,split_k=2", "no split-K with several steps"),
        (False, "tile=128x128x64,warps=2x4,stages=2", "stages of whole intervals of promoted sums, 128"),
        (False, "tile=128x128x128,warps=2x2,stages=2", "at most 64 values in each lane"),
    ):
        done = coarse.simulate(program(*case, sizes, licence=licence, order="nk"), data, "sm_90a", tmp_path,
                               f"--schedule={schedule}")
        assert done.returncode == 1 and message in done.stderr, done.stderr


@pytest.mark.parametrize("blocks", [((1, 128), (128, 128)), ((1, ALL), (1, ALL))], ids=["inside", "whole"])
@pytest.mark.parametrize("cluster", ["2x1", "1x2"])
def test_tiles_behind_the_result(cluster, blocks, tmp_path):
    """Three tiles along each dimension: the last cluster has one that lies behind the result as a whole."""
    case = (("f8E4M3FN", "f8E4M3FN"), (F32, F32), blocks)
    schedule = f"tile=64x64x128,stages=2,accumulators=1,persistent=1,cluster={cluster}"
    check(case, (192, 192, 256), "sm_90a", tmp_path, f"--schedule={schedule}", licence=True)


@pytest.mark.parametrize("target, schedule", [
    ("sm_80", "tile=16x64x128,warps=1x2,stages=2,split_k=2"),
    ("sm_90a", "tile=64x64x128,stages=2,accumulators=1,persistent=1,split_k=2"),
])
def test_no_split_of_whole_sums(target, schedule, tmp_path):
    """An infinite scale would make NaN of ranges with sums of both signs."""
    case, sizes = (("f8E4M3FN", "f8E4M3FN"), (F32, F32), ((1, ALL), (1, ALL))), (5, 16, 200)
    done = coarse.simulate(program(*case, sizes, licence=target == "sm_90a"), operands(*case, sizes), target, tmp_path,
                           f"--schedule={schedule}")
    assert done.returncode == 1 and "no split-K with factors of whole sums" in done.stderr, done.stderr
