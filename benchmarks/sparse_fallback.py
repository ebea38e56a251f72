#!/usr/bin/python3
"""Sparse products on CUDA cards without block-scaled instructions, beside dense ones.

usage: sparse_fallback.py build DIR [--target=CHIP] [--format=F] [--path=P] [--schedule=S] [--sizes MxNxK...]
                                          programs, PTX and launch infos
       sparse_fallback.py run DIR         measures them; needs torch and a card

Three ways to compute W times y, with weights W (M x K) and y (stored as N x K) in blocks of 32, of f8E4M3FN (mxfp8)
or of f4E2M1FN in pairs (mxfp4): `kept` reads kept elements and metadata (wgmma.mma_async.sp on sm_90a, else mma.sp of
bf16; --path=dequant_mma asks for the latter), `decompressed` writes a dense W first, and `dense` has a dense W as
argument. A time is the median of samples of a CUDA graph of 20 calls; the ways take turns. With few columns, calls go
through copies of W that do not fit into the cache. The results of all ways are compared with sums of f64.

`kept / dense` is what docs/performance.md tells. With --path=dequant_mma, where it and `kept / decompressed` change
sides on sm_90a decides `sparseProducts` in lib/Support/TunedRows.cpp. With --schedule, that of `kept`, the times of
tiles are the costs of `kSparseTiles` there.
"""

import argparse
import itertools
import json
import os
import pathlib

from gpu_graphs import measure
from gpu_programs import Card, compile_program

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCALE, BLOCK = "f8E8M0FNU", 32
# The element, the granularity, and the elements of a unit.
FORMATS = {"mxfp8": ("f8E4M3FN", "2:4", 1), "mxfp4": ("f4E2M1FN", "pairs", 2)}
WAYS = ("kept", "decompressed", "dense")
SIZES = (
    (8192, 8192, 8192), (4096, 4096, 4096), (2048, 2048, 2048), (8192, 1, 8192), (8192, 16, 8192), (8192, 64, 8192),
    (8192, 256, 8192),
)
# Up to so many columns, W is read from memory in each call.
FEW, COLD_BYTES = 64, 300 << 20


def program(way, m, n, k, format="mxfp8", path=None):
    """`main` of x, the metadata of a sparse one, its scales, y and its scales."""
    element, granularity, unit = FORMATS[format]

    def tensor(element, *shape):
        return f"tensor<{'x'.join(map(str, shape))}x{element}>"

    dense, kept = tensor(element, m, k), tensor(element, m, k // 2)
    metadata, xs = tensor("i8", m, k // (8 * unit)), tensor(SCALE, m, k // BLOCK)
    y, ys = tensor(element, n, k), tensor(SCALE, n, k // BLOCK)
    yk, ysk, d = tensor(element, k, n), tensor(SCALE, k // BLOCK, n), tensor("f32", m, n)
    granularity = f"granularity = #blockscale.granularity<{granularity}>"
    attribute = f", blockscale.path = #blockscale.path<{path}>" if path else ""
    x = f"%x: {dense}" if way == "dense" else f"%x: {kept}, %m: {metadata}"
    lines = [
        f"func.func @main({x}, %xs: {xs}, %y: {y}, %ys: {ys}) -> {d} {{",
        f"  %acc = arith.constant dense<0.0> : {d}",
        f"  %e = tensor.empty() : {yk}", f"  %es = tensor.empty() : {ysk}",
        f"  %yk = linalg.transpose ins(%y : {y}) outs(%e : {yk}) permutation = [1, 0]",
        f"  %ysk = linalg.transpose ins(%ys : {ys}) outs(%es : {ysk}) permutation = [1, 0]",
    ]
    if way == "kept":
        lines.append(
            f"  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %yk, %ysk, %acc {{{granularity}, legal_metadata"
            f"{attribute}}} : {kept}, {metadata}, {xs}, {yk}, {ysk}, {d}"
        )
    else:
        operand = "%x" if way == "dense" else "%full"
        if way == "decompressed":
            lines.append(f"  %full = blockscale.decompress %x, %m {{{granularity}}} : {kept}, {metadata} to {dense}")
        lines.append(f"  %d = blockscale.mma_scaled {operand}, %xs, %yk, %ysk, %acc : {dense}, {xs}, {yk}, {ysk}, {d}")
    return "\n".join([*lines, f"  return %d : {d}", "}"]) + "\n"


def build(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    cases = {f"{way}-{m}x{n}x{k}": (way, m, n, k) for (m, n, k), way in itertools.product(options.sizes, WAYS)}
    (options.folder / "cases.json").write_text(json.dumps({"format": options.format, "cases": cases}))
    for name, case in cases.items():
        flags = [f"--schedule={options.schedule}"] if options.schedule and case[0] == "kept" else []
        compile_program(options, name, program(*case, options.format, options.path), *flags, is_quiet=True)
    print(f"{len(cases)} programs for {options.target} in {options.folder}")


class Data:
    """Operands on the card: copies of W, and what its first copy times y is."""

    def __init__(self, torch, m, n, k, format):
        _, _, unit = FORMATS[format]
        copies = max(2, COLD_BYTES // (m * k)) if n <= FEW else 1
        fields = torch.tensor([0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110], device="cuda", dtype=torch.uint8)

        def random(low, high, *shape):
            return torch.randint(low, high, shape, device="cuda", dtype=torch.uint8)

        codes = (0x20, 0x60) if format == "mxfp8" else (0, 16)
        kept = random(*codes, copies, m, k // 2)
        chosen = fields[torch.randint(0, 6, (copies, m, k // (8 * unit), 2), device="cuda")]
        self.metadata = chosen[..., 0] | chosen[..., 1] << 4
        self.x_scale = random(120, 130, copies, m, k // BLOCK)
        y, self.y_scale = random(*codes, n, k), random(120, 130, n, k // BLOCK)
        dense = torch.zeros(copies, m, k, device="cuda", dtype=torch.uint8)
        for i in range(copies):
            field = chosen[i].flatten(1)
            at = torch.arange(0, k, 4 * unit, device="cuda") + unit * torch.stack([field & 3, field >> 2]).long()
            for which, part in itertools.product((0, 1), range(unit)):
                source = kept[i, :, unit * which + part :: 2 * unit].contiguous()
                dense[i].scatter_(1, at[which] + part, source)
        rows = min(m, 128)

        def decode(codes):
            if format == "mxfp8":
                return codes.view(torch.float8_e4m3fn).float()
            values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], device="cuda")
            return torch.cat([values, -values])[codes.long()]

        x, y_values = (
            decode(codes).unflatten(-1, (-1, BLOCK)) * torch.exp2(scales.float() - 127)[..., None]
            for codes, scales in ((dense[0, :rows], self.x_scale[0, :rows]), (y, self.y_scale))
        )
        self.expected = x.flatten(1).double() @ y_values.flatten(1).double().T
        if format == "mxfp4":
            kept, dense, y = (each[..., ::2] | each[..., 1::2] << 4 for each in (kept, dense, y))
        self.kept, self.dense, self.y = kept, dense, y

    def arguments(self, way, i):
        x = [self.dense[i]] if way == "dense" else [self.kept[i], self.metadata[i]]
        return [*x, self.x_scale[i], self.y, self.y_scale]


def run(options):
    import torch

    card = Card(torch)
    print(card.name)
    print(f"{'size':18} {'kept us':>9} {'TFLOP/s':>8} {'decompressed':>12} {'dense':>9} {'kept/decompr.':>13} {'kept/dense':>10}")
    built = json.loads((options.folder / "cases.json").read_text())
    format = built["format"]
    sizes = dict.fromkeys(tuple(case[1:]) for case in built["cases"].values())
    for m, n, k in sizes:
        data, works = Data(torch, m, n, k, format), {}
        result = torch.empty(m, n, device="cuda")
        for way in WAYS:
            name = f"{way}-{m}x{n}x{k}"
            loaded = card.load(options.folder / name, [tuple(t.shape) for t in data.arguments(way, 0)])
            calls = [loaded.bind(data.arguments(way, i), [result]) for i in range(len(data.kept))]
            result.fill_(float("nan"))
            calls[0]()
            error = (result[: len(data.expected)].double() - data.expected).abs().max() / data.expected.abs().max()
            if not error < 1e-4:
                print(f"{name}: wrong, relative error {float(error):.2g}")
            works[way] = lambda i, calls=calls: calls[i % len(calls)]()
        us = measure(torch, works)
        print(
            f"{f'{m}x{n}x{k}':18} {us['kept']:9.1f} {2e-6 * m * n * k / us['kept']:8.1f} {us['decompressed']:12.1f}"
            f" {us['dense']:9.1f} {us['kept'] / us['decompressed']:13.2f} {us['kept'] / us['dense']:10.2f}", flush=True,
        )
        # The next data have the memory.
        del data, result, loaded, calls, works


def parse_size(text):
    m, n, k = map(int, text.split("x"))
    return m, n, k


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    steps = parser.add_subparsers(dest="step", required=True)
    step = steps.add_parser("build")
    step.add_argument("folder", type=pathlib.Path)
    step.add_argument("--target", default="sm_90a", metavar="CHIP")
    step.add_argument("--format", default="mxfp8", choices=FORMATS)
    step.add_argument("--path", metavar="PATH")
    step.add_argument("--schedule", metavar="SCHEDULE")
    step.add_argument("--sizes", nargs="+", type=parse_size, default=SIZES, metavar="MxNxK")
    step.add_argument("--build", type=pathlib.Path, default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    step = steps.add_parser("run")
    step.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    {"build": build, "run": run}[options.step](options)


if __name__ == "__main__":
    main()
