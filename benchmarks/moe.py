#!/usr/bin/python3
"""Grouped products with quantized weights on a CUDA card: ours beside torch's grouped product of bf16.

usage: moe.py build DIR [--target=sm_90a] [--tokens=1,4,...] [--models=gpt-oss-20b,...] [--build=BUILD]
       moe.py run DIR                                                             measures them

`build` needs a build of this project; `run` needs a card and torch, but no LLVM: copy the folder and this
repository's benchmarks/ and python/. Sizes are those of models: each token has the experts of a random routing, and
rows of x are sorted by expert. "up" reads rows of x that tokens share, "down" rows in their order. Weights are G x N x
K elements with scales, for `dequantize` and `grouped_matmul` with a bias; the result is bf16. A time is the median of
samples of a CUDA graph of 20 calls, each with another routing, so that weights of few experts are not in the L2 cache;
ours and torch take turns. The read rate is that of the codes and scales of experts that have rows. Some rows are
checked against f64 with the dequantized weights.
"""

import argparse
import json
import pathlib
import sys

from gpu_graphs import CALLS, measure
from gpu_programs import Card, compile_program
from weight_only import decoded

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKED = 24

# name: experts, experts of a token, and (K, N) of both products
MODELS = {
    "gpt-oss-20b": (32, 4, {"up": (2880, 5760), "down": (2880, 2880)}),
    "gpt-oss-120b": (128, 4, {"up": (2880, 5760), "down": (2880, 2880)}),
    # More than 2^31 elements of y.
    "deepseek-v3": (256, 8, {"up": (7168, 4096), "down": (2048, 7168)}),
}
FORMATS = {
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32), "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16), "bf16": ("bf16", None, None),
}


def program(format, experts, rows, tokens, k, n):
    """With `tokens` None, rows are in their order."""
    element, scale, block = FORMATS[format]
    x, d, r = f"tensor<{tokens or rows}x{k}xbf16>", f"tensor<{rows}x{n}xf32>", f"tensor<{rows}x{n}xbf16>"
    nk, kn = f"tensor<{experts}x{n}x{k}xbf16>", f"tensor<{experts}x{k}x{n}xbf16>"
    codes = f"tensor<{experts}x{n}x{k}x{element}>"
    weights = f"%w: {nk}"
    dequantize = ""
    if scale:
        scales = f"tensor<{experts}x{n}x{k // block}x{scale}>"
        weights = f"%c: {codes}, %s: {scales}"
        dequantize = f"  %w = blockscale.dequantize %c, %s : {codes}, {scales} to {nk}\n"
    offsets, bias, of_x = f"tensor<{experts}xi32>", f"tensor<{experts}x{n}xf32>", f"tensor<{rows}xi32>"
    argument, clause = (f", %rows: {of_x}", f"rows(%rows : {of_x}) ") if tokens else ("", "")
    return f"""func.func @main(%x: {x}, {weights}, %o: {offsets}, %b: {bias}{argument}) -> {r} {{
  %acc = arith.constant dense<0.0> : {d}
{dequantize}  %e = tensor.empty() : {kn}
  %y = linalg.transpose ins(%w : {nk}) outs(%e : {kn}) permutation = [0, 2, 1]
  %d = blockscale.grouped_matmul %x, %y, %o, %acc {clause}bias(%b : {bias}) {{legal_groups}}
      : {x}, {kn}, {offsets}, {d}
  %r = arith.truncf %d : {d} to {r}
  return %r : {r}
}}
"""


def cases(models, tokens, formats):
    return {
        f"{model}-{product}-{format}-{count}": (model, product, format, count)
        for model in models for product in ("up", "down") for format in formats for count in tokens
    }


def build(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    made = cases(options.models.split(","), [int(count) for count in options.tokens.split(",")],
                 options.formats.split(","))
    (options.folder / "cases.json").write_text(json.dumps(made))
    for name, (model, product, format, tokens) in made.items():
        experts, top, sizes = MODELS[model]
        text = program(format, experts, tokens * top, tokens if product == "up" else None, *sizes[product])
        compile_program(options, name, text)
    print(f"{len(made)} cases for {options.target} in {options.folder}")


def make_weights(torch, format, experts, n, k):
    """What the program takes, and the values in bf16."""
    element, scale, block = FORMATS[format]
    if not scale:
        weights = torch.randn(experts, n, k, device="cuda", dtype=torch.bfloat16)
        return [weights], weights
    codes = torch.randint(0, 256, (experts, n, k // 2), device="cuda", dtype=torch.uint8)
    low, high = (120, 130) if scale == "f8E8M0FNU" else (0x30, 0x48)
    scales = torch.randint(low, high, (experts, n, k // block), device="cuda", dtype=torch.uint8)
    weights = torch.empty(experts, n, k, device="cuda", dtype=torch.bfloat16)
    for g in range(experts):
        weights[g] = decoded(torch, format, codes[g], scales[g], torch.bfloat16, None)
    return [codes, scales], weights


def route(torch, tokens, experts, top):
    """A random routing: ends of experts, tokens of rows, and how many experts have rows."""
    chosen = torch.rand(tokens, experts).topk(top).indices
    order = chosen.flatten().argsort(stable=True)
    ends = torch.bincount(chosen.flatten(), minlength=experts).cumsum(0).int()
    return ends.cuda(), (order // top).int().cuda(), int(chosen.unique().numel())


def check(torch, result, x, weights, bias, ends, rows):
    """Whether some rows are as f64 gives them."""
    for i in torch.linspace(0, len(result) - 1, min(CHECKED, len(result))).long().tolist():
        group = int((ends <= i).sum())
        row = x[int(rows[i])].double()
        expected = weights[group].double() @ row + bias[group].double()
        size = weights[group].double().abs() @ row.abs() + bias[group].double().abs()
        bound = x.shape[1] * 2.0**-22 * size + expected.abs() * 2.0**-7
        if not bool(((result[i].double() - expected).abs() <= bound).all()):
            return False
    return True


def read_rate(torch):
    """Bytes a second of a sum over 4 GiB."""
    data = torch.ones(1 << 30, dtype=torch.float32, device="cuda")
    us = measure(torch, {"read": lambda _: data.sum()})["read"]
    return data.numel() * 4 / us * 1e6


def run(options):
    import torch

    card = Card(torch)
    rate = read_rate(torch)
    print(f"{card.name}, reads {rate / 1e12:.2f} TB/s")
    print(f"{'case':32} {'us':>8} {'torch us':>9} {'torch/ours':>10} {'of reading':>10} {'TFLOP/s':>8}  result")
    shared = None
    for name, (model, product, format, tokens) in json.loads((options.folder / "cases.json").read_text()).items():
        experts, top, sizes = MODELS[model]
        (k, n), rows = sizes[product], tokens * top
        element, scale, block = FORMATS[format]
        if shared is None or shared[0] != (model, product, format):
            shared = None
            shared = (model, product, format), *make_weights(torch, format, experts, n, k)
        _, stored, weights = shared
        bias = torch.randn(experts, n, device="cuda")
        routings = [route(torch, tokens, experts, top) for _ in range(CALLS)]
        x = torch.randn(tokens if product == "up" else rows, k, device="cuda", dtype=torch.bfloat16)
        result = torch.empty(rows, n, device="cuda", dtype=torch.bfloat16)
        shapes = [tuple(x.shape), (experts, n, k), *([(experts, n, k // block)] if scale else []), (experts,), (experts, n)]
        shapes += [(rows,)] if product == "up" else []
        loaded = card.load(options.folder / name, shapes)
        calls = [
            loaded.bind([x, *stored, ends, bias] + ([of] if product == "up" else []), [result])
            for ends, of, _ in routings
        ]
        calls[0]()
        torch.cuda.synchronize()
        ends, of, _ = routings[0]
        order = of if product == "up" else torch.arange(rows)
        is_right = check(torch, result, x, weights, bias, ends, order)
        sorted_x = torch.randn(rows, k, device="cuda", dtype=torch.bfloat16)
        y = weights.transpose(1, 2)
        us = measure(torch, {
            "ours": lambda i: calls[i](),
            "torch": lambda i: torch._grouped_mm(sorted_x, y, offs=routings[i][0]),
        })
        hit = sum(count for *_, count in routings) / CALLS
        read = hit * sum(part.numel() * part.element_size() for part in stored) / experts
        print(
            f"{name:32} {us['ours']:8.1f} {us['torch']:9.1f} {us['torch'] / us['ours']:10.2f}"
            f" {read / us['ours'] * 1e6 / rate:10.2f} {2 * rows * n * k / us['ours'] / 1e6:8.1f}"
            f"  {'right' if is_right else 'WRONG'}",
            flush=True,
        )
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
    building.add_argument("--target", default="sm_90a")
    building.add_argument("--tokens", default="1,4,16,64,256,1024,4096")
    building.add_argument("--models", default="gpt-oss-20b,gpt-oss-120b")
    building.add_argument("--formats", default=",".join(FORMATS))
    building.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    running = commands.add_parser("run")
    running.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    return build(options) if options.command == "build" else run(options)


if __name__ == "__main__":
    sys.exit(main())
