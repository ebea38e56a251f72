#!/usr/bin/python3
"""Weight-only quantization on a CUDA card: ours beside torch.mm of the same values in bf16 or f16.

usage: weight_only.py build DIR [--target=sm_90a] [--rows=1,16,4096] [--build=BUILD]   PTX and launch infos
       weight_only.py run DIR                                                          measures them

`build` needs a build of this project; `run` needs a card and torch, but no LLVM: copy the folder and this
repository's benchmarks/ and python/. x is M x K, the weights are N x K quantized elements with scales, for
`blockscale.dequantize` and `linalg.matmul`, also with a tensor scale (`-scaled`); the result has x's type, as in
torch. A time is the median of samples of a CUDA graph of 20 calls; ours and torch take turns. Up to M = 256 calls
go through more copies of the weights than an L2 cache holds. The first rows are checked against f64 with the
dequantized weights.
"""

import argparse
import json
import math
import pathlib
import sys

from gpu_graphs import CALLS, measure
from gpu_programs import Card, compile_program

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
CHECKED = 16
WEIGHT_BYTES, MOST_COLD_ROWS = 240 << 20, 256

# name: element, scale, block size
FORMATS = {"mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32), "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16)}
# name: type of x, scale of the tensor
WAYS = {"": ("bf16", None), "-scaled": ("bf16", 0.7), "-f16": ("f16", None)}
N, K = 8192, 8192


def program(element, scale, block, m, value_type, tensor_scale, n=N, k=K, name="main"):
    x, w, d = f"tensor<{m}x{k}x{value_type}>", f"tensor<{n}x{k}x{value_type}>", f"tensor<{m}x{n}xf32>"
    quantized, scales = f"tensor<{n}x{k}x{element}>", f"tensor<{n}x{k // block}x{scale}>"
    result = f"tensor<{m}x{n}x{value_type}>"
    scaled = (f"  %g = arith.constant {tensor_scale} : f32\n", " tensor_scale(%g)", ", f32")
    constant, operand, type_ = scaled if tensor_scale else ("", "", "")
    return f"""func.func @{name}(%x: {x}, %c: {quantized}, %s: {scales}) -> {result} {{
  %acc = arith.constant dense<0.0> : {d}
{constant}  %w = blockscale.dequantize %c, %s{operand} : {quantized}, {scales}{type_} to {w}
  %d = linalg.matmul
       indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                        affine_map<(m, n, k) -> (m, n)>]
       ins(%x, %w : {x}, {w}) outs(%acc : {d}) -> {d}
  %r = arith.truncf %d : {d} to {result}
  return %r : {result}
}}
"""


def cases(rows):
    return {f"{format}{way}-{m}": (format, way, m) for format in FORMATS for way in WAYS for m in rows}


def build(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    made = cases([int(m) for m in options.rows.split(",")])
    (options.folder / "cases.json").write_text(json.dumps(made))
    for name, (format, way, m) in made.items():
        compile_program(options, name, program(*FORMATS[format], m, *WAYS[way]))
    print(f"{len(made)} cases for {options.target} in {options.folder}")


def decoded(torch, format, codes, scales, dtype, tensor_scale):
    """The dequantized weights in torch, by the package's tables of all codes."""
    import blockscale
    import numpy as np

    element, scale, block = FORMATS[format]
    scale_type = "ue4m3" if scale == "f8E4M3FN" else scale
    tables = [
        torch.from_numpy(blockscale.decode(np.arange(count, dtype=np.uint8), kind).astype(np.float32)).cuda()
        for count, kind in ((16, element), (256, scale_type))
    ]
    nibbles = torch.stack([codes & 15, codes >> 4], -1).flatten(-2)
    scaled = tables[0][nibbles.int()].unflatten(-1, (-1, block)) * tables[1][scales.int()][..., None]
    return (scaled * (tensor_scale or 1)).flatten(-2).to(dtype)


def run(options):
    import torch

    card = Card(torch)
    print(card.name)
    print(f"{'case':20} {'us':>8} {'torch us':>9} {'torch/ours':>10} {'TB/s':>6} {'TFLOP/s':>8}  result")
    for name, (format, way, m) in json.loads((options.folder / "cases.json").read_text()).items():
        dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[WAYS[way][0]]
        element, scale, block = FORMATS[format]
        code_bytes = N * K // 2 + N * K // block
        copies = min(64, math.ceil(WEIGHT_BYTES / code_bytes)) if m <= MOST_COLD_ROWS else 1
        bf16_copies = min(CALLS, math.ceil(WEIGHT_BYTES / (2 * N * K))) if m <= MOST_COLD_ROWS else 1
        x = torch.randn(m, K, device="cuda", dtype=dtype)
        codes = torch.randint(0, 256, (copies, N, K // 2), device="cuda", dtype=torch.uint8)
        low, high = (120, 130) if scale == "f8E8M0FNU" else (0x30, 0x48)
        scales = torch.randint(low, high, (copies, N, K // block), device="cuda", dtype=torch.uint8)
        result = torch.empty(m, N, device="cuda", dtype=dtype)
        loaded = card.load(options.folder / name, [(m, K), (N, K), (N, K // block)])
        calls = [loaded.bind([x, codes[i], scales[i]], [result]) for i in range(copies)]

        def ours(i, calls=calls):
            calls[i % len(calls)]()

        weights = [
            decoded(torch, format, codes[i], scales[i], dtype, WAYS[way][1])
            for i in range(min(copies, bf16_copies))
        ]
        ours(0)
        torch.cuda.synchronize()
        rows = min(m, CHECKED)
        left, right = x[:rows].double(), weights[0].double()
        expected, size = left @ right.T, left.abs() @ right.abs().T
        bound = K * 2.0**-22 * size + expected.abs() * torch.finfo(dtype).eps
        is_right = bool(((result[:rows].double() - expected).abs() <= bound).all())
        del left, right, expected, size, bound
        us = measure(torch, {
            "ours": ours, "torch": lambda i, weights=weights: torch.mm(x, weights[i % len(weights)].T),
        })
        print(
            f"{name:20} {us['ours']:8.1f} {us['torch']:9.1f} {us['torch'] / us['ours']:10.2f}"
            f" {code_bytes / us['ours'] / 1e6:6.2f} {2 * m * N * K / us['ours'] / 1e6:8.1f}"
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
    building.add_argument("--rows", default="1,16,4096")
    building.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    running = commands.add_parser("run")
    running.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    return build(options) if options.command == "build" else run(options)


if __name__ == "__main__":
    sys.exit(main())
