#!/usr/bin/python3
"""Errors of the functions that GPUs compute without a library, over all 2^32 f32 values, on a card.

usage: math_errors_card.py build DIR --target=CHIP [--build=BUILD]    PTX and launch infos
       math_errors_card.py run DIR                                    the largest errors, in minutes

`build` needs a build of this project; `run` a card and torch, whose functions of f64 are the reference: carry
the folder and this repository's benchmarks/. Errors are in units of the last place of an f32, which below
2^-126 is 2^-149. NaN has to be NaN, and what no f32 holds infinite. powf is left out: it has two arguments.
"""

import argparse
import pathlib
import sys

from gpu_programs import Card, compile_program

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUNCTIONS = "exp exp2 expm1 log log2 log10 log1p tanh sinh cosh erf sin cos tan rsqrt sqrt".split()
CHUNK = 1 << 28


def build(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    kind = f"tensor<{CHUNK}xf32>"
    for name in FUNCTIONS:
        text = f"func.func @main(%x: {kind}) -> {kind} {{\n  %y = math.{name} %x : {kind}\n  return %y : {kind}\n}}\n"
        compile_program(options, name, text)
    print(f"{len(FUNCTIONS)} functions for {options.target} in {options.folder}")


def largest_error(torch, y, exact):
    """The largest error of y, in ulps of f32, and where it is."""
    exponent = torch.frexp(exact).exponent.clamp(min=-125) - 24
    error = (y.double() - exact).abs() / torch.ldexp(torch.ones_like(exact), exponent)
    # Infinite where the nearest f32 is; NaN on both sides; exactly the same zero.
    error[(y == exact.float()) | (y.isnan() & exact.isnan())] = 0
    error[error.isnan()] = float("inf")
    error, at = error.max(0)
    return error.item(), at.item()


def run(options):
    import torch

    card = Card(torch)
    print(card.name)
    part = 1 << 26
    for name in FUNCTIONS:
        loaded = card.load(options.folder / name, [(CHUNK,)])
        exact = getattr(torch, name)
        worst, where = -1.0, 0
        y = torch.empty(CHUNK, device="cuda")
        for first in range(-1 << 31, 1 << 31, CHUNK):
            x = torch.arange(first, first + CHUNK, dtype=torch.int64, device="cuda").to(torch.int32)
            x = x.view(torch.float32)
            loaded.bind([x], [y])()
            for start in range(0, CHUNK, part):
                some = x[start:start + part]
                error, at = largest_error(torch, y[start:start + part], exact(some.double()))
                if error > worst:
                    worst, where = error, some[at].item()
        print(f"{name:6} {worst:.3f} ulp at {where!r}", flush=True)
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
    commands.add_parser("run").add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    return build(options) if options.command == "build" else run(options)


if __name__ == "__main__":
    sys.exit(main())
