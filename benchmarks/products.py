#!/usr/bin/python3
"""Products of bf16 and f16 without scales on a CUDA card: ours beside torch.mm of the same values.

usage: products.py build DIR [--target=sm_80] [--sizes=4096x4096x4096,...] [--elements=bf16,f16]
                         [--schedules=TEXT;...] [--build=BUILD]
       products.py run DIR

`build` makes PTX and launch infos and needs a build of this project; `run` needs a card and torch, but no LLVM: copy
the folder and this repository's benchmarks/ and python/. PTX of sm_80 runs on every later card, which shows what
`mma.sync` does where `wgmma` is the default. Each size has y as N x K and as K x N, and results in f32 and in the
type of the operands; torch.mm has the latter. Schedules are texts for --schedule, the empty one for the default. A
time is the median of samples of a CUDA graph of 20 calls; ours and torch take turns. The first and the last rows are
checked against f64.
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

ORDERS = {"nk": "(n, k)", "kn": "(k, n)"}
RESULTS = ("f32", "same")
SIZES = "8192x8192x8192,4096x4096x4096,2048x2048x2048,16x8192x8192,4096x4097x4096"


def program(m, n, k, order, element, result):
    x, d = f"tensor<{m}x{k}x{element}>", f"tensor<{m}x{n}xf32>"
    y = f"tensor<{n}x{k}x{element}>" if order == "nk" else f"tensor<{k}x{n}x{element}>"
    kind = f"tensor<{m}x{n}x{element}>"
    end = f"  return %d : {d}\n"
    if result == "same":
        end = f"  %r = arith.truncf %d : {d} to {kind}\n  return %r : {kind}\n"
    return f"""func.func @main(%x: {x}, %y: {y}) -> {d if result == "f32" else kind} {{
  %acc = arith.constant dense<0.0> : {d}
  %d = linalg.matmul
       indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> {ORDERS[order]}>,
                        affine_map<(m, n, k) -> (m, n)>]
       ins(%x, %y : {x}, {y}) outs(%acc : {d}) -> {d}
{end}}}
"""


def cases(options):
    made = {}
    for size in options.sizes.split(","):
        m, n, k = map(int, size.split("x"))
        for element in options.elements.split(","):
            for order in ORDERS:
                for result in RESULTS:
                    for i, schedule in enumerate(options.schedules.split(";")):
                        made[f"{size}-{element}-{order}-{result}-{i}"] = (m, n, k, order, element, result, schedule)
    return made


def build(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    made = cases(options)
    (options.folder / "cases.json").write_text(json.dumps(made))
    for name, (*case, schedule) in made.items():
        flags = [f"--schedule={schedule}"] if schedule else []
        compile_program(options, name, program(*case), *flags)
    print(f"{len(made)} cases for {options.target} in {options.folder}")


def check(torch, x, y, result, eps):
    """Whether the first and the last rows are within the bound of docs/Numerics.md, and a rounding."""
    for rows in (slice(0, CHECKED), slice(-CHECKED, None)):
        left = x[rows].double()
        expected, size = left @ y.double(), left.abs() @ y.double().abs()
        bound = x.shape[1] * 2.0**-22 * size + expected.abs() * eps
        if not ((result[rows].double() - expected).abs() <= bound).all():
            return False
    return True


def run(options):
    import torch

    card = Card(torch)
    print(card.name)
    print(f"{'case':36} {'us':>8} {'torch us':>9} {'torch/ours':>10} {'TFLOP/s':>8}  schedule")
    for name, (m, n, k, order, element, kind, schedule) in json.loads(
            (options.folder / "cases.json").read_text()).items():
        dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[element]
        x = torch.randn(m, k, device="cuda", dtype=dtype)
        stored = torch.randn((n, k) if order == "nk" else (k, n), device="cuda", dtype=dtype)
        y = stored.T if order == "nk" else stored
        result = torch.empty(m, n, device="cuda", dtype=torch.float32 if kind == "f32" else dtype)
        other = torch.empty(m, n, device="cuda", dtype=dtype)
        ours = card.load(options.folder / name, [(m, k), tuple(stored.shape)]).bind([x, stored], [result])

        def torchs(x=x, y=y, other=other):
            torch.mm(x, y, out=other)

        ours()
        torch.cuda.synchronize()
        is_right = check(torch, x, y, result, torch.finfo(result.dtype).eps)
        times = measure(torch, alike({"ours": ours, "torch": torchs}))
        print(f"{name:36} {times['ours']:8.1f} {times['torch']:9.1f} {times['torch'] / times['ours']:10.2f} "
              f"{2e-6 * m * n * k / times['ours']:8.0f}  {schedule or 'default'}  {'right' if is_right else 'WRONG'}",
              flush=True)
        if not is_right:
            return 1
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build")
    building.add_argument("folder", type=pathlib.Path)
    building.add_argument("--target", default="sm_80")
    building.add_argument("--sizes", default=SIZES)
    building.add_argument("--elements", default="bf16")
    building.add_argument("--schedules", default="")
    building.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    running = commands.add_parser("run")
    running.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    return build(options) if options.command == "build" else run(options)


if __name__ == "__main__":
    sys.exit(main())
