#!/usr/bin/python3
"""Products of e4m3 elements with f32 scales on a CUDA card, beside torch.mm of bf16 and torch's own recipes.

usage: fp8.py build DIR [--target=sm_90a] [--sizes=8192x8192x8192,...] [--recipes=block,row] [--dynamic]
                    [--accumulate=128] [--schedules=TEXT;...] [--build=BUILD]
       fp8.py run DIR

`build` makes PTX and launch infos and needs a build of this project; `run` needs a card and torch, but no LLVM: copy
the folder and this repository's benchmarks/ and python/. Recipes are `block`, scales for 1x128 elements of x and
128x128 of the weights, and `row`, one scale for each row of both. `--accumulate=0` is without the licence for fp8
tensor cores: then elements are multiplied as bf16. Values are normal and quantized by amax / 448; results are bf16.
With `--dynamic` the number of rows is known at the launch only. Schedules are texts for --schedule, the empty one for
the default. A time is the median of samples of a CUDA graph of 20 calls; ours, torch and the peer take turns, the
latter two with the first schedule of a size. The first and the last rows are checked against f64. `torch` is torch.mm of bf16, `peer` is torch.nn.functional.scaled_mm of the recipe.
"""

import argparse
import json
import pathlib
import sys

from gpu_graphs import alike, measure
from gpu_programs import Card, compile_program

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
CHECKED = 16
BLOCK = 128
SIZES = "8192x8192x8192,4096x4096x4096,4096x7168x16384,1024x8192x8192"


def shapes(recipe, m, n, k):
    """The shapes of the scales of x and of the weights, and their blocks."""
    blocks = -(-k // BLOCK)
    if recipe == "row":
        return (m, 1), (1, n), "<rows = 1, k = all>", "<rows = 1, k = all>"
    return (m, blocks), (-(-n // BLOCK), blocks), f"<rows = 1, k = {BLOCK}>", f"<rows = {BLOCK}, k = {BLOCK}>"


def program(m, n, k, recipe, is_dynamic, accumulate):
    x_shape, w_shape, x_block, y_block = shapes(recipe, m, n, k)
    m = "?" if is_dynamic else m
    x, xs = f"tensor<{m}x{k}xf8E4M3FN>", f"tensor<{m}x{x_shape[1]}xf32>"
    w, ws = f"tensor<{n}x{k}xf8E4M3FN>", f"tensor<{w_shape[0]}x{w_shape[1]}xf32>"
    y, ys = f"tensor<{k}x{n}xf8E4M3FN>", f"tensor<{w_shape[1]}x{w_shape[0]}xf32>"
    scales = f"""  %es = tensor.empty() : {ys}
  %ys = linalg.transpose ins(%ws : {ws}) outs(%es : {ys}) permutation = [1, 0]
"""
    if recipe == "row":
        ys, scales = ws, ""
    name = "%ys" if scales else "%ws"
    d, r = f"tensor<{m}x{n}xf32>", f"tensor<{m}x{n}xbf16>"
    licence = f", accumulate = #blockscale.accumulate<chunk = {accumulate}>" if accumulate else ""
    size = f"""  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : {x}
""" if is_dynamic else ""
    of = "(%m)" if is_dynamic else "()"
    return f"""func.func @main(%x: {x}, %xs: {xs}, %w: {w}, %ws: {ws}) -> {r} {{
{size}  %zero = arith.constant 0.0 : f32
  %e = tensor.empty{of} : {d}
  %acc = linalg.fill ins(%zero : f32) outs(%e : {d}) -> {d}
  %ey = tensor.empty() : {y}
  %y = linalg.transpose ins(%w : {w}) outs(%ey : {y}) permutation = [1, 0]
{scales}  %d = blockscale.mma_scaled %x, %xs, %y, {name}, %acc
       {{x_scale_block = #blockscale.scale_block{x_block},
        y_scale_block = #blockscale.scale_block{y_block}{licence}}}
       : {x}, {xs}, {y}, {ys}, {d}
  %r = arith.truncf %d : {d} to {r}
  return %r : {r}
}}
"""


def cases(options):
    made = {}
    for size in options.sizes.split(","):
        for recipe in options.recipes.split(","):
            for i, schedule in enumerate(options.schedules.split(";")):
                made[f"{size}-{recipe}-{i}"] = (*map(int, size.split("x")), recipe, options.dynamic, schedule)
    return made


def build(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    made = cases(options)
    (options.folder / "cases.json").write_text(json.dumps(made))
    for name, (m, n, k, recipe, is_dynamic, schedule) in made.items():
        flags = [f"--schedule={schedule}"] if schedule else []
        compile_program(options, name, program(m, n, k, recipe, is_dynamic, options.accumulate), *flags)
    print(f"{len(made)} cases for {options.target} in {options.folder}")


def quantize(torch, values, recipe, rows):
    """Codes, and scales of the recipe for blocks of `rows` rows; the values that they stand for in f64."""
    count, k = values.shape
    across = k if recipe == "row" else BLOCK
    blocks = values.float().reshape(count // rows, rows, k // across, across)
    scales = blocks.abs().amax(dim=(1, 3)) / 448
    codes = (blocks / scales[:, None, :, None]).reshape(count, k).to(torch.float8_e4m3fn)
    return codes, scales


def decode(torch, codes, scales):
    count, k = codes.shape
    blocks = codes.double().reshape(scales.shape[0], count // scales.shape[0], scales.shape[1], k // scales.shape[1])
    return (blocks * scales.double()[:, None, :, None]).reshape(count, k)


def is_right(torch, x, w, result):
    """Whether rows are within the bound of the licence for normal values, and a rounding to bf16."""
    expected, size = x @ w.T, x.abs() @ w.abs().T
    return bool(((result.double() - expected).abs() <= size * 2.0**-10 + expected.abs() * 2.0**-8).all())


def make_peer(torch, recipe, x, xs, w, ws):
    """torch's product of the recipe, or why there is none."""
    import torch.nn.functional as functional

    kind = functional.ScalingType
    none = functional.SwizzleType.NO_SWIZZLE
    recipes = {"row": (kind.RowWise, kind.RowWise), "block": (kind.BlockWise1x128, kind.BlockWise128x128)}
    left, right = recipes[recipe]
    if recipe == "row":
        a_scale, b_scale = xs, ws.t().contiguous()
    else:
        a_scale = xs.t().contiguous().t()
        padded = torch.zeros(ws.shape[0], -(-ws.shape[1] // 4) * 4, device="cuda")
        padded[:, : ws.shape[1]] = ws
        b_scale = padded.t()

    def call():
        return functional.scaled_mm(x, w.t(), a_scale, left, b_scale, right, none, none,
                                    output_dtype=torch.bfloat16)

    try:
        call()
    except Exception as error:  # The peer does not have the recipe.
        print("  no peer:", str(error).splitlines()[0])
        return None
    return call


def run(options):
    import torch

    card = Card(torch)
    print(card.name)
    print(f"{'case':30} {'us':>8} {'TFLOP/s':>8} {'torch us':>9} {'torch/ours':>10} {'peer us':>8} {'peer/ours':>9}")
    right, known = True, {}
    for name, (m, n, k, recipe, is_dynamic, schedule) in json.loads(
            (options.folder / "cases.json").read_text()).items():
        a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        b = torch.randn(n, k, device="cuda", dtype=torch.bfloat16)
        x, xs = quantize(torch, a, recipe, 1)
        w, ws = quantize(torch, b, recipe, 1 if recipe == "row" else BLOCK)
        given = ws.t().contiguous() if recipe == "row" else ws
        result = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        other = torch.empty_like(result)
        ours = card.load(options.folder / name, [(m, k), tuple(xs.shape), (n, k), tuple(given.shape)]).bind(
            [x, xs, w, given], [result])
        ours()
        torch.cuda.synchronize()
        good = all(
            is_right(torch, decode(torch, x, xs)[rows], decode(torch, w, ws), result[rows])
            for rows in (slice(0, CHECKED), slice(-CHECKED, None)))
        calls = {"ours": ours}
        if (m, n, k, recipe) not in known:
            calls["torch"] = lambda a=a, b=b, other=other: torch.mm(a, b.t(), out=other)
            peer = make_peer(torch, recipe, x, xs, w, ws)
            if peer:
                calls["peer"] = peer
        measured = measure(torch, alike(calls))
        known[m, n, k, recipe] = times = {**known.get((m, n, k, recipe), {}), **measured}
        ratio = f"{times['peer']:8.1f} {times['peer'] / times['ours']:9.2f}" if "peer" in times else f"{'':18}"
        print(f"{name:30} {times['ours']:8.1f} {2e-6 * m * n * k / times['ours']:8.0f} {times['torch']:9.1f} "
              f"{times['torch'] / times['ours']:10.2f} {ratio}  {schedule or 'default'}  "
              f"{'right' if good else 'WRONG'}", flush=True)
        right &= good
    return 0 if right else 1


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build")
    building.add_argument("folder", type=pathlib.Path)
    building.add_argument("--target", default="sm_90a")
    building.add_argument("--sizes", default=SIZES)
    building.add_argument("--recipes", default="block,row")
    building.add_argument("--dynamic", action="store_true")
    building.add_argument("--accumulate", type=int, default=128)
    building.add_argument("--schedules", default="")
    building.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    running = commands.add_parser("run")
    running.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    return build(options) if options.command == "build" else run(options)


if __name__ == "__main__":
    sys.exit(main())
