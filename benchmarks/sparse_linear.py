#!/usr/bin/python3
"""Sparse linear layers of blockscale.torch on a CUDA card, beside dense ones and torch.nn.Linear of bf16.

usage: sparse_linear.py [--formats=mxfp8,mxfp4,nvfp4] [--rows=1,16,64,256,1024,4096] [--sizes=8192x8192,4096x4096]

Needs a card, torch, this repository's python/ and both bundles, and no LLVM. x is M x K of bf16, the weight N x K
(--sizes=NxK,NxK), random kept elements at random positions. `sparse` is a layer with quantized x
(activations="dynamic"), `dense` the same with the decompressed weight, `weights` that with an x of bf16. A time is the
median of samples of a CUDA graph of 20 calls, in us; the four take turns, and calls go through five weights (three of
bf16). `apart` is the relative difference of the results of sparse and dense: x is quantized in blocks of twice the
length for a sparse weight.
"""

import argparse
import pathlib
import sys

from gpu_graphs import measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
COPIES, PLAIN_COPIES = 5, 3
FIELDS = (0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)
# Elements in a byte, and their codes; logical elements of a chunk and of a block; codes of scales near 1.
FORMATS = {
    "mxfp8": (1, (0, 0x78), 4, 64, (120, 128)), "mxfp4": (2, (0, 256), 8, 64, (120, 128)),
    "nvfp4": (2, (0, 256), 8, 32, (0x30, 0x48)),
}
# Quantization of x alone: with the same blocks there would be no difference but of sums.
MOST_APART = {"mxfp8": 0.03, "mxfp4": 0.2, "nvfp4": 0.2}


def make_weight(torch, n, k, format):
    from blockscale.torch import QuantizedTensor

    per_byte, codes, chunk, block, scales = FORMATS[format]

    def draw(ends, *shape):
        return torch.randint(*ends, shape, device="cuda", dtype=torch.uint8)

    fields = torch.tensor(FIELDS, device="cuda", dtype=torch.uint8)[
        torch.randint(0, len(FIELDS), (n, k // chunk), device="cuda")
    ]
    return QuantizedTensor(
        draw(codes, n, k // 2 // per_byte), draw(scales, n, k // block), format,
        torch.tensor(0.01, device="cuda") if format == "nvfp4" else None, fields[:, ::2] | fields[:, 1::2] << 4,
    )


def in_turn(layers, x):
    return lambda i: layers[i % len(layers)](x)


def compare(torch, n, k, format, rows, plain):
    """Prints a line for each number of rows; whether all results are right."""
    from blockscale.torch import Linear

    sparse = [Linear(make_weight(torch, n, k, format), None, "dynamic") for _ in range(COPIES)]
    weights = [layer.quantized_weight.to_dense() for layer in sparse]
    dense, alone = ([Linear(each, None, activations) for each in weights] for activations in ("dynamic", None))
    is_right = True
    for m in rows:
        x = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
        ours, expected = (layers[0](x).float() for layers in (sparse, dense))
        apart = float((ours - expected).norm() / expected.norm())
        us = measure(torch, {
            name: in_turn(layers, x)
            for name, layers in {"sparse": sparse, "dense": dense, "weights": alone, "bf16": plain}.items()
        })
        is_right &= apart <= MOST_APART[format]
        print(f"{f'{n}x{k} {format} {m}':24} {us['sparse']:8.1f} {us['dense']:8.1f} {us['weights']:8.1f} "
              f"{us['bf16']:8.1f} {us['sparse'] / us['dense']:12.2f} {us['bf16'] / us['sparse']:11.2f} {apart:8.5f}"
              f"{'' if apart <= MOST_APART[format] else '  WRONG'}", flush=True)
    return is_right


def main():
    def numbers(text):
        return [int(each) for each in text.split(",")]

    def sizes(text):
        return [tuple(map(int, each.split("x"))) for each in text.split(",")]

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("--formats", type=lambda text: text.split(","), default=list(FORMATS))
    parser.add_argument("--rows", type=numbers, default=[1, 16, 64, 256, 1024, 4096])
    parser.add_argument("--sizes", type=sizes, default=[(8192, 8192), (4096, 4096)])
    options = parser.parse_args()
    import torch

    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    print(f"{'case':24} {'sparse':>8} {'dense':>8} {'weights':>8} {'bf16':>8} {'sparse/dense':>12} {'bf16/sparse':>11} "
          f"{'apart':>8}")
    is_right = True
    with torch.no_grad():
        for n, k in options.sizes:
            plain = [
                torch.nn.Linear(k, n, bias=False, device="cuda", dtype=torch.bfloat16) for _ in range(PLAIN_COPIES)
            ]
            for format in options.formats:
                is_right &= compare(torch, n, k, format, options.rows, plain)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
