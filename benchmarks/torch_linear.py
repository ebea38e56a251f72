#!/usr/bin/python3
"""Linear layers of blockscale.torch on a CUDA card, beside torch.nn.Linear of bf16.

usage: torch_linear.py [--formats=mxfp8,mxfp4,nvfp4] [--rows=1,16,64,4096] [--size=8192x8192] [--variants | --host]

Needs a card, torch, this repository's python/ and kernels.bundle, and no LLVM. x is M x K of bf16, the weight N x K
(--size=NxK). `weights` is weight-only quantization; `dynamic` quantises x, too. A time is the median of samples of a
CUDA graph of 20 calls; ours and torch take turns, and up to M = 256 calls go through more copies of the weights than
an L2 cache holds. `error` is the relative error of the first rows against f64 with the weights before they were
quantised; `kernel` is that against f64 with the dequantized weights. --variants measures every kernel of `weights`
and `dynamic` for all M; `ROWS` in python/blockscale/torch/card.py is chosen from this. --host measures the host time
of a call, without a graph, on small sizes (the median of 20 times 200 calls).
"""

import argparse
import math
import pathlib
import statistics
import sys
import time

from gpu_graphs import CALLS, measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
CHECKED = 16
WEIGHT_BYTES, MOST_COLD_ROWS = 240 << 20, 256
WAYS = {"weights": None, "dynamic": "dynamic"}
# The largest `kernel`: bf16 rounds to 2^-9 of each number. With a dynamic x, that is quantised once more.
MOST_ERROR = 0.004


def copies_of(size, m):
    """So many weights of so many bytes no cache holds."""
    return min(CALLS, math.ceil(WEIGHT_BYTES / size)) if m <= MOST_COLD_ROWS else 1


def distance(result, expected):
    return float((result.double() - expected).norm() / expected.norm())


class Weights:
    """Random weights: in bf16, as layers of torch, and as quantized layers."""

    def __init__(self, torch, n, k):
        self.torch, self.n, self.k = torch, n, k
        torch.manual_seed(1)
        self.values = torch.randn(n, k, device="cuda", dtype=torch.bfloat16) / math.sqrt(k)
        self.plain = self.make_plain()

    def make_plain(self):
        layers = []
        for _ in range(copies_of(2 * self.n * self.k, 1)):
            layer = self.torch.nn.Linear(self.k, self.n, bias=False, device="meta")
            layer.weight = self.torch.nn.Parameter(self.values.clone(), requires_grad=False)
            layers.append(layer)
        return layers

    def make_narrow(self, format, m):
        from blockscale.torch import Linear, QuantizedTensor

        weight = QuantizedTensor.from_float(self.values, format)
        size = weight.codes.numel() + weight.scales.numel()
        count = copies_of(size, m)
        return weight, size, [
            QuantizedTensor(weight.codes.clone(), weight.scales.clone(), format, weight.tensor_scale)
            for _ in range(count)
        ], Linear


def in_turn(layers, x):
    return lambda i: layers[i % len(layers)](x)


def check(torch, layer, weight, weights, x, activations):
    """(error, kernel, error of torch)"""
    from blockscale.torch import QuantizedTensor

    rows = x[:CHECKED]
    exact = rows.double() @ weights.values.double().T
    if activations:
        # A scale of the tensor is that of all of x.
        rows = QuantizedTensor.from_float(x, weight.format).dequantize(torch.float32)[:CHECKED]
    meant = rows.double() @ weight.dequantize(torch.float32).double().T
    result = layer(x)[:CHECKED]
    return distance(result, exact), distance(result, meant), distance(weights.plain[0](x)[:CHECKED], exact)


def compare(torch, options, weights):
    print(f"{'case':22} {'us':>8} {'bf16 us':>8} {'bf16/ours':>9} {'TB/s':>6} {'TFLOP/s':>8} {'error':>8} "
          f"{'kernel':>8} {'of bf16':>8}")
    is_right = True
    with torch.no_grad():
        for format in options.formats.split(","):
            for m in map(int, options.rows.split(",")):
                x = torch.randn(m, weights.k, device="cuda", dtype=torch.bfloat16)
                weight, size, copies, layer_type = weights.make_narrow(format, m)
                for way, activations in WAYS.items():
                    layers = [layer_type(each, activations=activations) for each in copies]
                    errors = check(torch, layers[0], weight, weights, x, activations)
                    plain = weights.plain[:copies_of(2 * weights.n * weights.k, m)]
                    us = measure(torch, {"ours": in_turn(layers, x), "bf16": in_turn(plain, x)})
                    works = 2 * m * weights.n * weights.k
                    print(f"{f'{format}-{way}-{m}':22} {us['ours']:8.1f} {us['bf16']:8.1f} "
                          f"{us['bf16'] / us['ours']:9.2f} {size / us['ours'] / 1e6:6.2f} "
                          f"{works / us['ours'] / 1e6:8.1f} {errors[0]:8.5f} {errors[1]:8.5f} {errors[2]:8.5f}"
                          f"{'' if errors[1] <= MOST_ERROR else '  WRONG'}", flush=True)
                    is_right &= errors[1] <= MOST_ERROR
    return 0 if is_right else 1


def variants(torch, options, weights):
    """All kernels of the same products."""
    from blockscale.torch import card, formats

    names = {"linear": ("few", "some", "tile", "many"), "mma_scaled": ("few", "some", "many")}
    print(f"{'case':22} " + " ".join(f"{name:>8}" for name in names["linear"]) + f" {'bf16':>8}  us, * is chosen")
    for format in options.formats.split(","):
        description = formats.get(format)
        for m in map(int, options.rows.split(",")):
            x = torch.randn(m, weights.k, device="cuda", dtype=torch.bfloat16)
            _, _, copies, _ = weights.make_narrow(format, m)
            zeros = torch.zeros(weights.n, device="cuda", dtype=torch.bfloat16)
            g = card.tensor_scale_of(x) if description.is_scaled else None
            codes, scales = card.quantize(x, g, description)
            for kind, rows in names.items():
                def work(i, of, kind=kind):
                    y = copies[i % len(copies)]
                    if kind == "linear":
                        return card.linear(x, y.codes, y.scales, y.tensor_scale, zeros, description, of)
                    return card.mma_scaled(
                        codes, scales, y.codes, y.scales, g, y.tensor_scale, zeros, description, of
                    )

                works = {each: (lambda i, each=each, work=work: work(i, each)) for each in rows}
                plain = weights.plain[:copies_of(2 * weights.n * weights.k, m)]
                with torch.no_grad():
                    us = measure(torch, {**works, "bf16": in_turn(plain, x)})
                chosen = card.product_of(kind, format, x).name.rpartition("_")[2]
                cells = [f"{us[each]:7.1f}{'*' if each == chosen else ' '}" if each in us else " " * 8
                         for each in names["linear"]]
                print(f"{f'{format}-{kind}-{m}':22} " + " ".join(cells) + f" {us['bf16']:8.1f}", flush=True)
    return 0


def host_time(torch, options):
    """Microseconds of the host for a call, eager and through torch's dispatcher."""
    from blockscale.torch import Linear

    plain = torch.nn.Linear(256, 256, device="cuda", dtype=torch.bfloat16)
    print(f"{'case':22} {'us of host':>10}")
    with torch.no_grad():
        works = {"bf16": plain}
        for format in options.formats.split(","):
            for way, activations in WAYS.items():
                layer = Linear.from_linear(plain, format, activations)
                works[f"{format}-{way}"] = layer
                works[f"{format}-{way}-op"] = lambda x, layer=layer: torch.ops.blockscale.linear(
                    x, layer.codes, layer.scales, layer.tensor_scale, layer.bias, layer.format, layer.activations
                )
        x = torch.randn(16, 256, device="cuda", dtype=torch.bfloat16)
        for name, work in works.items():
            samples = []
            for _ in range(20):
                torch.cuda.synchronize()
                start = time.perf_counter()
                for _ in range(200):
                    work(x)
                samples.append((time.perf_counter() - start) / 200 * 1e6)
            torch.cuda.synchronize()
            print(f"{name:22} {statistics.median(samples):10.2f}", flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("--formats", default="mxfp8,mxfp4,nvfp4")
    parser.add_argument("--rows", default="1,16,64,4096")
    parser.add_argument("--size", default="8192x8192")
    parser.add_argument("--variants", action="store_true")
    parser.add_argument("--host", action="store_true")
    options = parser.parse_args()
    import torch

    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    if options.host:
        return host_time(torch, options)
    weights = Weights(torch, *map(int, options.size.split("x")))
    return (variants if options.variants else compare)(torch, options, weights)


if __name__ == "__main__":
    sys.exit(main())
