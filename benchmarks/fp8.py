#!/usr/bin/python3
"""Products of fp8 elements with coarse scales on a CUDA card, beside torch.mm of bf16 and torch's own recipes.

usage: fp8.py build DIR [--target=sm_90a] [--sizes=8192x8192x8192,...] [--recipes=block,row,mxfp8,w4a8] [--dynamic]
                    [--accumulate=128] [--schedules=TEXT;...] [--build=BUILD]
       fp8.py run DIR

`build` makes PTX and launch infos and needs a build of this project; `run` needs a card and torch, but no LLVM: copy
the folder and this repository's benchmarks/ and python/. Recipes are

    block   e4m3, with scales of f32 for 1x128 elements of x and 128x128 of the weights
    row     e4m3, with one scale of f32 for each row of both
    mxfp8   e4m3, with scales of e8m0 for 32 elements of a row of both, and the licence to rebase
    w4a8    e4m3 with one scale of f32 for each row of x, and weights of e2m1 with scales of e8m0 for 32 elements of a
            row, and the licence to rebase

`--accumulate=0` is without the licence for fp8 tensor cores: then elements are multiplied as bf16. Values are normal and
quantized by the largest magnitude of a block; results are bf16. With `--dynamic` the number of rows is known at the
launch only. Schedules are texts for --schedule, the empty one for the default. A time is the median of samples of a CUDA
graph of 20 calls; ours, torch and the peer take turns, the latter two with the first schedule of a size. The first and
the last rows are checked against f64. `torch` is torch.mm of bf16, `peer` is torch.nn.functional.scaled_mm of the
recipe, where torch has it.
"""

import argparse
import json
import pathlib
import sys
from typing import NamedTuple, Optional

from gpu_graphs import alike, measure
from gpu_programs import Card, compile_program

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
CHECKED = 16
SIZES = "8192x8192x8192,4096x4096x4096,4096x7168x16384,1024x8192x8192"


class Operand(NamedTuple):
    """x, or the weights as N x K: types of elements and of scales, and the rows and elements of K of a scale."""

    element: str
    scale: str
    rows: int
    k: Optional[int]  # None for all

    def shape(self, rows, k):
        """Of the scales."""
        return -(-rows // self.rows), 1 if self.k is None else -(-k // self.k)

    @property
    def block(self):
        return f"#blockscale.scale_block<rows = {self.rows}, k = {self.k or 'all'}>"


class Recipe(NamedTuple):
    x: Operand
    w: Operand
    rebases: bool = False


E4M3, E2M1, E8M0 = "f8E4M3FN", "f4E2M1FN", "f8E8M0FNU"
LARGEST = {E4M3: 448.0, E2M1: 6.0}
RECIPES = {
    "block": Recipe(Operand(E4M3, "f32", 1, 128), Operand(E4M3, "f32", 128, 128)),
    "row": Recipe(Operand(E4M3, "f32", 1, None), Operand(E4M3, "f32", 1, None)),
    "mxfp8": Recipe(Operand(E4M3, E8M0, 1, 32), Operand(E4M3, E8M0, 1, 32), rebases=True),
    "w4a8": Recipe(Operand(E4M3, "f32", 1, None), Operand(E2M1, E8M0, 1, 32), rebases=True),
}


def is_row(shape):
    """Whether scales are one for each row: those of weights are then stored as a row, and nothing is transposed."""
    return shape[1] == 1


def program(m, n, k, recipe, is_dynamic, accumulate):
    recipe = RECIPES[recipe]
    x_shape, w_shape = recipe.x.shape(m, k), recipe.w.shape(n, k)
    m = "?" if is_dynamic else m
    x, xs = f"tensor<{m}x{k}x{recipe.x.element}>", f"tensor<{m}x{x_shape[1]}x{recipe.x.scale}>"
    w, ws = f"tensor<{n}x{k}x{recipe.w.element}>", f"tensor<{w_shape[0]}x{w_shape[1]}x{recipe.w.scale}>"
    y, ys = f"tensor<{k}x{n}x{recipe.w.element}>", f"tensor<{w_shape[1]}x{w_shape[0]}x{recipe.w.scale}>"
    scales = f"""  %es = tensor.empty() : {ys}
  %ys = linalg.transpose ins(%ws : {ws}) outs(%es : {ys}) permutation = [1, 0]
"""
    if is_row(w_shape):
        ws, scales = ys, ""
    name = "%ys" if scales else "%ws"
    d, r = f"tensor<{m}x{n}xf32>", f"tensor<{m}x{n}xbf16>"
    licence = f"chunk = {accumulate}{', rebase' if recipe.rebases else ''}"
    licence = f", accumulate = #blockscale.accumulate<{licence}>" if accumulate else ""
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
       {{x_scale_block = {recipe.x.block},
        y_scale_block = {recipe.w.block}{licence}}}
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


def encode(torch, values, element):
    """`values`, which are not beyond the largest element, to nearest even: e4m3, or two e2m1 in a byte."""
    if element == E4M3:
        return values.to(torch.float8_e4m3fn)
    magnitudes, codes = values.abs(), torch.zeros_like(values, dtype=torch.uint8)
    for code, between in enumerate((0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)):
        # Halfway between two codes, the even one.
        codes += magnitudes > between if code % 2 == 0 else magnitudes >= between
    codes |= (values < 0).to(torch.uint8) << 3
    return codes[:, ::2] | codes[:, 1::2] << 4


def decode(torch, codes, element):
    if element == E4M3:
        return codes.double()
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64, device=codes.device)
    nibbles = torch.stack((codes & 15, codes >> 4), dim=-1).reshape(codes.shape[0], -1)
    return values[(nibbles & 7).long()] * torch.where(nibbles < 8, 1.0, -1.0)


def quantize(torch, values, operand):
    """Elements and scales of `operand` as a kernel takes them, and the values that they stand for in f64."""
    count, k = values.shape
    across = operand.k or k
    blocks = values.float().reshape(count // operand.rows, operand.rows, k // across, across)
    scales = blocks.abs().amax(dim=(1, 3)) / LARGEST[operand.element]
    if operand.scale == E8M0:
        # The power of two that is not less, exactly: the bits of an f32.
        fraction, exponent = torch.frexp(scales)
        exponent = exponent.to(torch.int32) + 127 - (fraction == 0.5).to(torch.int32)
        scales = (exponent << 23).view(torch.float32)
    codes = encode(torch, (blocks / scales[:, None, :, None]).reshape(count, k), operand.element)
    exact = decode(torch, codes, operand.element).reshape(blocks.shape) * scales.double()[:, None, :, None]
    if operand.scale == E8M0:
        scales = exponent.to(torch.uint8)
    return codes, scales, exact.reshape(count, k)


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
    if recipe not in recipes:
        return None
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
        x, xs, x_exact = quantize(torch, a, RECIPES[recipe].x)
        w, ws, w_exact = quantize(torch, b, RECIPES[recipe].w)
        given = ws.t().contiguous() if is_row(ws.shape) else ws
        result = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        other = torch.empty_like(result)
        ours = card.load(options.folder / name, [(m, k), tuple(xs.shape), (n, k), tuple(given.shape)]).bind(
            [x, xs, w, given], [result])
        ours()
        torch.cuda.synchronize()
        good = all(
            is_right(torch, x_exact[rows], w_exact, result[rows])
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
    building.add_argument("--recipes", default="block,row,mxfp8,w4a8")
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
