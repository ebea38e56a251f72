#!/usr/bin/python3
"""The sparse kernels of sm_120a on a Hopper card, which has their instruction without scales.

usage: sparse_fragments.py build DIR [--build=BUILD]   kernels of MXFP8, PTX for sm_90a
       sparse_fragments.py run DIR                     on the card: results against numpy, which have to be equal

mma.sp.m16n8k64 of e4m3 without scales has the fragments and the metadata of the block-scaled instruction (PTX ISA,
"Matrix fragments for sparse mma.m16n8k64"). `build` compiles for sm_120a and writes the one for the other; all scales
are 1, and values are small multiples of 1/2, so that sums are exact. So a card shows that registers, metadata, both
loads and copies are right, and that elements of y that nobody keeps are not read (NaN); scales it does not show.

`build` needs a build of this project; `run` needs a card, torch, numpy and this repository's python/.
"""

import argparse
import pathlib
import re
import sys

from gpu_programs import Card, compile_program

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
ELEMENT, SCALE, BLOCK = "f8E4M3FN", "f8E8M0FNU", 64
# M, N, K, schedule: whole tiles and others of the multistage kernel, the choice, which is warp-specialized.
CASES = {
    "whole": (256, 256, 1024, "tile=128x64x256,warps=2x2,stages=2"),
    "ragged": (130, 72, 448, "tile=64x64x256,warps=2x2,stages=2"), "chosen": (256, 256, 1024, None),
}
VALUES = (-2, -1, -0.5, 0, 0.5, 1, 2, 3)
FIELDS = (0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)
SCALED = re.compile(r"mma\.sp\S+block_scale\S+\s+([^;]*);")
PLAIN = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32"


def program(m, n, k):
    def tensor(element, *shape):
        return f"tensor<{'x'.join(map(str, shape))}x{element}>"

    x, metadata, xs = tensor(ELEMENT, m, k // 2), tensor("i8", m, k // 8), tensor(SCALE, m, k // BLOCK)
    y, ys, d = tensor(ELEMENT, n, k), tensor(SCALE, n, k // BLOCK), tensor("f32", m, n)
    yk, ysk = tensor(ELEMENT, k, n), tensor(SCALE, k // BLOCK, n)
    return f"""func.func @main(%x: {x}, %m: {metadata}, %xs: {xs}, %y: {y}, %ys: {ys}) -> {d} {{
  %acc = arith.constant dense<0.0> : {d}
  %e = tensor.empty() : {yk}
  %yk = linalg.transpose ins(%y : {y}) outs(%e : {yk}) permutation = [1, 0]
  %es = tensor.empty() : {ysk}
  %ysk = linalg.transpose ins(%ys : {ys}) outs(%es : {ysk}) permutation = [1, 0]
  %d = blockscale.sparse_mma_scaled %x, %m, %xs, %yk, %ysk, %acc
      {{granularity = #blockscale.granularity<2:4>, legal_metadata}} : {x}, {metadata}, {xs}, {yk}, {ysk}, {d}
  return %d : {d}
}}
"""


def without_scales(match):
    """The instruction with d, a, b, c, metadata and selector alone."""
    operands = [each.strip() for each in re.findall(r"\{[^{}]*\}|[^,{}]+", match[1]) if each.strip()]
    return f"{PLAIN} {', '.join(operands[:6])};"


def build(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    options.target = "sm_120a"
    for name, (m, n, k, schedule) in CASES.items():
        flags = ["--ptx-version=88"] + ([f"--schedule={schedule}"] if schedule else [])
        compile_program(options, name, program(m, n, k), *flags)
        path = (options.folder / name).with_suffix(".ptx")
        text, count = SCALED.subn(without_scales, path.read_text())
        path.write_text(text.replace(".target sm_120a", ".target sm_90a"))
        print(f"{name}: {count} instructions")
    return 0


def run(options):
    import blockscale
    import numpy as np
    import torch

    card, rng, wrong = Card(torch), np.random.default_rng(1), 0
    print(card.name)
    for name, (m, n, k, _) in CASES.items():
        small = blockscale.encode(np.float32(VALUES), ELEMENT)
        fields = rng.choice(np.uint8(FIELDS), (m, k // 4))
        x, y = rng.choice(small, (m, k // 2)), rng.choice(small, (n, k))
        y[5, 17] = 0x7F  # NaN
        metadata = fields[:, ::2] | fields[:, 1::2] << 4
        xs, ys = (np.full((rows, k // BLOCK), 127, np.uint8) for rows in (m, n))
        expected = blockscale.sparse_mma_scaled(
            x, metadata, xs, np.ascontiguousarray(y.T), np.ascontiguousarray(ys.T), np.zeros((m, n), np.float32),
            x_type=ELEMENT, y_type=ELEMENT, scale_type=SCALE, granularity="2:4", block_size=BLOCK,
        )
        arrays = [x, metadata, xs, y, ys]
        out = torch.zeros(m, n, device="cuda")
        card.load(options.folder / name, [array.shape for array in arrays]).bind(
            [torch.from_numpy(array).cuda() for array in arrays], [out]
        )()
        torch.cuda.synchronize()
        bad = ~np.equal(out.cpu().numpy(), expected) & ~(np.isnan(out.cpu().numpy()) & np.isnan(expected))
        wrong += int(bad.sum())
        print(f"{name}: {int(bad.sum())} of {bad.size} wrong, {int(np.isnan(expected).sum())} are NaN")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("command", choices=("build", "run"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    options = parser.parse_args()
    return build(options) if options.command == "build" else run(options)


if __name__ == "__main__":
    sys.exit(main())
