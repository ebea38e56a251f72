#!/usr/bin/python3
"""Measures the tiles of the mixed-input kernel of sm_90a for numbers of rows, and prints rows of the compiler's table.

usage: tune_rows.py build FILE [--formats=mxfp4,mxfp8] [--rows=16,32,...] [--size=NxK] [--emit=ptx|cubin] [--build=BUILD]
       tune_rows.py run FILE [the same] [--all]

`build` needs a build of this project and writes a bundle with a function for each tile and number of rows; `run` needs
a card, torch, and this repository's python/. x is M x K of bf16, the weights are N x K quantized elements with scales.
For each number of rows it prints the fastest tile as a row of kRowRanges in lib/Support/TunedRows.cpp: capability,
least and most bits of an element of the weights, most rows, rows of the weights in a tile, rows of x, K of each
warpgroup's share, stages, most split-K ranges, cost (1000 times the time of an element of a tile of 128 x 256). With
--all, it prints the times of all tiles.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from gpu_graphs import measure
from weight_only import program

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
# name: element, scale, block size, bits
FORMATS = {"mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32, 4), "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32, 8)}
SHARED_BYTES, MOST_STAGES, SMS = 226 * 1024, 4, 132
FEW_COLUMNS, CHUNK_BYTES = 64, 64


def slices_of(rows, columns):
    """Shares of K in a block: warpgroups with the same rows."""
    groups = 4 if columns <= FEW_COLUMNS else 2
    return max(groups, rows // 64) // (rows // 64)


def tiles(m, bits):
    """(rows of y, rows of x, K of a share, stages, split-K)"""
    columns = [-(-m // 8) * 8] if m <= 256 else [128, 160, 192, 224, 256]
    for rows in (64, 128):
        for width in columns:
            if rows * width > 128 * 256:
                continue
            for k in (64, 128, 256, 512):
                if k * bits // 8 < CHUNK_BYTES:
                    continue
                stage = slices_of(rows, width) * k * (rows * bits // 8 + 2 * width)
                stages = min(MOST_STAGES, SHARED_BYTES // stage)
                if stages < 2:
                    continue
                for split in (1, 2) if m <= 256 else (1,):
                    yield rows, width, k, stages, split


def name_of(format, m, tile):
    return f"{format}_{m}_" + "x".join(map(str, tile))


def cases(options):
    for format in options.formats:
        for m in options.rows:
            for tile in tiles(m, FORMATS[format][3]):
                yield format, m, tile


def build(options):
    n, k = options.size
    texts = []
    for format, m, tile in cases(options):
        rows, width, share, stages, split = tile
        schedule = (
            f"#blockscale.warp_specialized_schedule<tile = [{rows}, {width}, {share * slices_of(rows, width)}], "
            f"stages = {stages}, accumulators = 1, persistent = false, swap_ab = true, split_k = {split}, "
            "kernel = mixed_input>"
        )
        text = program(*FORMATS[format][:3], m, "bf16", None, n, k, name_of(format, m, tile))
        texts.append(text.replace(" {\n", f" attributes {{blockscale.schedule = {schedule}}} {{\n", 1))
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "tiles.mlir"
        source.write_text("".join(texts))
        subprocess.run(
            [options.build / "bin" / "blockscale-compile", source, "--target=sm_90a", f"--bundle={options.file}",
             f"--emit={options.emit}"], check=True,
        )
    print(f"{len(texts)} tiles in {options.file}")
    return 0


def run(options):
    import torch
    from blockscale import runtime
    from torch_linear import copies_of

    bundle = runtime.load(options.file)
    n, k = options.size
    print(torch.cuda.get_device_name(), f"{n} x {k}")
    for format in options.formats:
        _, _, block, bits = FORMATS[format]
        size = n * k * bits // 8 + n * k // block
        for m in options.rows:
            x = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
            count = copies_of(size, m)
            codes = torch.randint(0, 120, (count, n, k * bits // 8), device="cuda", dtype=torch.uint8)
            scales = torch.randint(120, 130, (count, n, k // block), device="cuda", dtype=torch.uint8)
            out = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
            workspace = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")

            def work(i, name):
                bundle[name](x, codes[i % count], scales[i % count], out=out, workspace=lambda size: workspace[:size])

            names = {name_of(format, m, tile): tile for tile in tiles(m, bits)}
            us = measure(torch, {name: (lambda i, name=name: work(i, name)) for name in names})
            order = sorted(us, key=us.get)
            for name in order if options.all else order[:1]:
                rows, width, share, stages, split = names[name]
                rounds = -(-(-(-n // rows) * -(-m // width)) // SMS)
                cost = us[name] / (rounds * rows * width) / (858 / (16 * 128 * 256)) * 1000
                print(f"    {{90, {bits}, {bits}, {m:4}, {rows:3}, {width:3}, {share:3}, {stages}, {split}, "
                      f"{round(cost)}, \"{torch.cuda.get_device_name().split()[1]}\", \"benchmarks/tune_rows.py\"}},"
                      f"  // {us[name]:.1f} us", flush=True)
    return 0


def numbers(text):
    return [int(each) for each in text.split(",")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("command", choices=("build", "run"))
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--formats", type=lambda text: text.split(","), default=list(FORMATS))
    parser.add_argument("--rows", type=numbers, default=[8, 16, 32, 48, 64, 96, 128, 160, 192, 224, 256, 384, 768, 4096])
    parser.add_argument("--size", type=lambda text: tuple(map(int, text.split("x"))), default=(8192, 8192))
    parser.add_argument("--emit", choices=("ptx", "cubin"), default="ptx")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    return build(options) if options.command == "build" else run(options)


if __name__ == "__main__":
    sys.exit(main())
