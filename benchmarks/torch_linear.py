#!/usr/bin/python3
"""Linear layers of blockscale.torch on a CUDA card, beside torch.nn.Linear of bf16.

usage: torch_linear.py [--formats=mxfp8,mxfp4,nvfp4] [--rows=1,16,64,4096] [--sizes=8192x8192]
                       [--ways=weights,dynamic] [--static=FILE] [--plot | --host]
       torch_linear.py build FILE [--formats] [--rows] [--sizes] [--emit=ptx|cubin] [--build=BUILD]

Needs a card, torch, this repository's python/ and kernels.bundle, and no LLVM. x is M x K of bf16, the weight N x K
(--sizes=NxK,NxK). `weights` is weight-only quantization; `dynamic` quantises x, too. The formats fp8_block and fp8_row
are dynamic only, with the licence for fp8 tensor cores, and need fp8.bundle. A time is the median of samples
of a CUDA graph of 20 calls; ours and torch take turns, and up to M = 256 calls go through more copies of the weights
than an L2 cache holds. `static` is the same product in kernels for this one size, from the bundle FILE that `build`
makes with a build of this project. `step` is the time beside that of the M before, over the larger of 1.6 and 1.1
times the ratio of the two M: time should not grow faster than that. `error` is the relative error of the first rows
against f64 with the weights before they were quantised; `kernel` is that against f64 with the dequantized weights.
--plot draws bf16/ours over M. --host measures the host time of a call, without a graph, on small sizes (the median of
20 times 200 calls).
"""

import argparse
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from gpu_graphs import CALLS, measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
CHECKED = 16
WEIGHT_BYTES, MOST_COLD_ROWS = 240 << 20, 256
WAYS = {"weights": None, "dynamic": "dynamic"}
# name: element, scale, block size
FORMATS = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32), "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16),
}
LICENSED = ("fp8_block", "fp8_row")
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
        size = weight.codes.numel() + weight.scales.numel() * weight.scales.element_size()
        count = copies_of(size, m)
        return weight, size, [
            QuantizedTensor(weight.codes.clone(), weight.scales.clone(), format, weight.tensor_scale)
            for _ in range(count)
        ], Linear


def in_turn(layers, x):
    return lambda i: layers[i % len(layers)](x)


def activations_of(torch, x, format):
    """What a quantised x stands for, in f32."""
    from blockscale.torch import QuantizedTensor, quantize

    if format not in LICENSED:
        return QuantizedTensor.from_float(x, format).dequantize(torch.float32)
    codes, scales = quantize(x, format)
    return codes.view(torch.float8_e4m3fn).float() * scales.repeat_interleave(-(-x.shape[1] // scales.shape[1]), 1)[:, :x.shape[1]]


def check(torch, layer, weight, weights, x, activations):
    """(error, kernel, error of torch)"""
    rows = x[:CHECKED]
    exact = rows.double() @ weights.values.double().T
    if activations:
        # A scale of the tensor is that of all of x.
        rows = activations_of(torch, x, weight.format)[:CHECKED]
    meant = rows.double() @ weight.dequantize(torch.float32).double().T
    result = layer(x)[:CHECKED]
    return distance(result, exact), distance(result, meant), distance(weights.plain[0](x)[:CHECKED], exact)


def static_name(format, n, k, m):
    return f"{format}_{n}x{k}_{m}"


def build(options):
    """A bundle of kernels for one size each."""
    from weight_only import program

    text = "".join(
        program(*FORMATS[format], m, "bf16", None, n, k, static_name(format, n, k, m))
        for format in options.formats for n, k in options.sizes for m in options.rows
    )
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "static.mlir"
        source.write_text(text)
        subprocess.run(
            [options.build / "bin" / "blockscale-compile", source, "--target=sm_90a", f"--bundle={options.file}",
             f"--emit={options.emit}"], check=True,
        )
    return 0


class Static:
    """Kernels for one size each, from the file of `build`; without a file, none."""

    def __init__(self, torch, path):
        from blockscale import runtime

        self.torch, self.bundle = torch, runtime.load(path) if path else {}

    def find(self, format, n, k, m, x, copies):
        """The works for `measure`."""
        name = static_name(format, n, k, m)
        if name not in self.bundle:
            return {}
        function, torch = self.bundle[name], self.torch

        def work(i):
            y = copies[i % len(copies)]
            out = torch.empty((m, n), dtype=torch.bfloat16, device="cuda")
            function(
                x, y.codes, y.scales, out=out,
                workspace=lambda size: torch.empty(size, dtype=torch.uint8, device="cuda"),
            )

        return {"static": work}


def step_of(times, m):
    """The time of the last of (M, time) beside that of the one before, over what is expected; 0 for the first."""
    if len(times) < 2:
        return 0.0
    (before, old), (_, new) = times[-2:]
    return new / old / max(1.6, 1.1 * m / before)


def compare(torch, options, weights, static, points):
    n, k = weights.n, weights.k
    print(f"{n} x {k}\n{'case':22} {'us':>8} {'bf16 us':>8} {'bf16/ours':>9} {'static':>8} {'/static':>7} {'step':>5} "
          f"{'TB/s':>6} {'TFLOP/s':>8} {'error':>8} {'kernel':>8} {'of bf16':>8}")
    is_right = True
    with torch.no_grad():
        for format in options.formats:
            for way in ("dynamic",) if format in LICENSED else options.ways:
                activations, times = WAYS[way], []
                licence = {"accumulate": 128} if format in LICENSED else {}
                for m in options.rows:
                    x = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
                    weight, size, copies, layer_type = weights.make_narrow(format, m)
                    layers = [layer_type(each, activations=activations, **licence) for each in copies]
                    errors = check(torch, layers[0], weight, weights, x, activations)
                    plain = weights.plain[:copies_of(2 * n * k, m)]
                    other = {} if activations else static.find(format, n, k, m, x, copies)
                    us = measure(torch, {"ours": in_turn(layers, x), "bf16": in_turn(plain, x), **other})
                    times.append((m, us["ours"]))
                    ratio = us["bf16"] / us["ours"]
                    points.setdefault((n, k, f"{format}-{way}"), []).append((m, ratio))
                    beside = us.get("static", math.nan)
                    works = 2 * m * n * k
                    print(f"{f'{format}-{way}-{m}':22} {us['ours']:8.1f} {us['bf16']:8.1f} {ratio:9.2f} "
                          f"{beside:8.1f} {us['ours'] / beside:7.2f} {step_of(times, m):5.2f} "
                          f"{size / us['ours'] / 1e6:6.2f} {works / us['ours'] / 1e6:8.1f} {errors[0]:8.5f} "
                          f"{errors[1]:8.5f} {errors[2]:8.5f}{'' if errors[1] <= MOST_ERROR else '  WRONG'}",
                          flush=True)
                    is_right &= errors[1] <= MOST_ERROR
    return is_right


def plot(points):
    """bf16/ours as text: a row for each M, with a bar in steps of 0.05."""
    for (n, k, name), values in points.items():
        print(f"\n{name}, {n} x {k}: time of bf16 / ours; | is 1")
        for m, ratio in values:
            bar = ["#"] * round(ratio * 20)
            bar += [" "] * (21 - len(bar))
            bar[20] = "|"
            print(f"{m:6} {ratio:5.2f} {''.join(bar)}")


def host_time(torch, options):
    """Microseconds of the host for a call, eager and through torch's dispatcher."""
    from blockscale.torch import Linear

    plain = torch.nn.Linear(256, 256, device="cuda", dtype=torch.bfloat16)
    print(f"{'case':22} {'us of host':>10}")
    with torch.no_grad():
        works = {"bf16": plain}
        for format in options.formats:
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


def numbers(text):
    return [int(each) for each in text.split(",")]


def pairs(text):
    return [tuple(map(int, each.split("x"))) for each in text.split(",")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("command", nargs="?", choices=("build",))
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--formats", type=lambda text: text.split(","), default=list(FORMATS))
    parser.add_argument("--rows", type=numbers, default=[1, 16, 64, 4096])
    parser.add_argument("--sizes", type=pairs, default=[(8192, 8192)])
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS))
    parser.add_argument("--emit", choices=("ptx", "cubin"), default="ptx")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--static", type=pathlib.Path)
    parser.add_argument("--plot", action="store_true")
    parser.add_argument("--host", action="store_true")
    options = parser.parse_args()
    if options.command == "build":
        return build(options)
    import torch

    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    if options.host:
        return host_time(torch, options)
    static, points, is_right = Static(torch, options.static), {}, True
    for n, k in options.sizes:
        is_right &= compare(torch, options, Weights(torch, n, k), static, points)
    if options.plot:
        plot(points)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
