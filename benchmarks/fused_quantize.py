#!/usr/bin/python3
"""The cost of quantising the result of a product on a CUDA card: fused, and by a second kernel.

usage: fused_quantize.py build DIR --target=CHIP [--build=BUILD] [--size=N]   PTX and launch infos
       fused_quantize.py run DIR                                              measures them

`build` needs a build of this project; `run` needs a card and torch, but no LLVM: copy the folder and this
repository's benchmarks/ and python/. A product of N x N matrices of MXFP8 ends in f32 (`product`), in quantized
elements and scales (`fused`), or in f32 that a second kernel quantises (`behind`). The quantized results of the
latter two must be equal.
"""

import argparse
import pathlib
import sys

from gpu_graphs import alike, measure
from gpu_programs import Card, compile_program
from quantize import FORMATS as ALL_FORMATS
from quantize import ROOT

# Coarse scales are not fused.
FORMATS = {name: format for name, format in ALL_FORMATS.items() if isinstance(format[2], int)}
PRODUCT = ("f8E4M3FN", "f8E8M0FNU", 32)


def program(n, quantized):
    element, scale, block = PRODUCT
    x, xs = f"tensor<{n}x{n}x{element}>", f"tensor<{n}x{n // block}x{scale}>"
    ys, sums = f"tensor<{n // block}x{n}x{scale}>", f"tensor<{n}x{n}xf32>"
    text = f"""func.func @main(%x: {x}, %xs: {xs}, %y: {x}, %ys: {xs}) -> RESULTS {{
  %e = tensor.empty() : {x}
  %t = linalg.transpose ins(%y : {x}) outs(%e : {x}) permutation = [1, 0]
  %es = tensor.empty() : {ys}
  %ts = linalg.transpose ins(%ys : {xs}) outs(%es : {ys}) permutation = [1, 0]
  %zero = arith.constant dense<0.0> : {sums}
  %sum = blockscale.mma_scaled %x, %xs, %t, %ts, %zero : {x}, {xs}, {x}, {ys}, {sums}
"""
    if not quantized:
        return text.replace("RESULTS", sums) + f"  return %sum : {sums}\n}}\n"
    element, scale, block = quantized
    types = f"tensor<{n}x{n}x{element}>, tensor<{n}x{n // block}x{scale}>"
    return text.replace("RESULTS", f"({types})") + f"""
  %c, %s = blockscale.quantize %sum {{block_size = {block} : i64}} : {sums} to {types}
  return %c, %s : {types}
}}
"""


def quantizing(n, element, scale, block):
    sums, types = f"tensor<{n}x{n}xf32>", f"tensor<{n}x{n}x{element}>, tensor<{n}x{n // block}x{scale}>"
    return f"""func.func @main(%x: {sums}) -> ({types}) {{
  %c, %s = blockscale.quantize %x {{block_size = {block} : i64}} : {sums} to {types}
  return %c, %s : {types}
}}
"""


def build(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    texts = {"product": program(options.size, None)}
    for name, format in FORMATS.items():
        texts[f"{name}-fused"] = program(options.size, format)
        texts[f"{name}-behind"] = quantizing(options.size, *format)
    for name, text in texts.items():
        compile_program(options, name, text)
    (options.folder / "size").write_text(str(options.size))
    print(f"{len(texts)} programs for {options.target} in {options.folder}")


def run(options):
    import torch

    card = Card(torch)
    n = int((options.folder / "size").read_text())
    block = PRODUCT[2]

    def work(name, inputs, results, shapes):
        return card.load(options.folder / name, shapes).bind(inputs, results)

    x, y = (torch.randn(n, n, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    xs, ys = (torch.randint(120, 130, (n, n // block), dtype=torch.uint8, device="cuda") for _ in range(2))
    inputs = [x, xs, y, ys]
    shapes = [(n, n), (n, n // block)] * 2
    sums = torch.empty(n, n, device="cuda")
    product = work("product", inputs, [sums], shapes)
    print(f"{card.name}, {n} x {n} x {n}")
    print(f"{'result':8} {'product us':>10} {'fused':>7} {'behind':>7}   codes")
    for name, (element, _, size) in FORMATS.items():
        bits = 4 if element.startswith("f4") else 8
        results = [
            [torch.zeros(n, n * bits // 8, dtype=torch.uint8, device="cuda"),
             torch.zeros(n, n // size, dtype=torch.uint8, device="cuda")]
            for _ in range(2)
        ]
        fused = work(f"{name}-fused", inputs, results[0], shapes)
        quantize = work(f"{name}-behind", [sums], results[1], [(n, n)])

        def behind():
            product()
            quantize()

        fused()
        behind()
        torch.cuda.synchronize()
        right = all(torch.equal(*pair) for pair in zip(*results))
        us = measure(torch, alike({"product": product, "fused": fused, "behind": behind}))
        print(
            f"{name:8} {us['product']:10.1f} {us['fused'] / us['product']:7.3f}"
            f" {us['behind'] / us['product']:7.3f}   {'equal' if right else 'DIFFERENT'}", flush=True,
        )
        if not right:
            return 1
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    commands = parser.add_subparsers(dest="command", required=True)
    building = commands.add_parser("build")
    building.add_argument("folder", type=pathlib.Path)
    building.add_argument("--target", required=True)
    building.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    building.add_argument("--size", type=int, default=4096)
    commands.add_parser("run").add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    return build(options) if options.command == "build" else run(options)


if __name__ == "__main__":
    sys.exit(main())
