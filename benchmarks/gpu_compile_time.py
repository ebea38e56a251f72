#!/usr/bin/python3
"""How long a 4096-cubed GEMM takes from MLIR to PTX, as a ratio to llc alone on its LLVM IR; and how long
many such functions take, as a ratio to one.

usage: gpu_compile_time.py [--repeat N] [--functions N] [--target CHIP] [--build DIR] [--llc PATH]
"""

import argparse
import os
import pathlib
import statistics
import tempfile

from compile_time import ROOT, measure

SIZE = 4096
COMBINATIONS = (
    ("f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32),
    ("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32),
    ("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32),
    ("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16),
)


def make_gemm(x, y, scale, block):
    """x times y, y and its scales stored as N x K."""
    n, blocks = SIZE, SIZE // block
    acc = f"tensor<{n}x{n}xf32>"
    return f"""
func.func @main(%x: tensor<{n}x{n}x{x}>, %xs: tensor<{n}x{blocks}x{scale}>,
                %yt: tensor<{n}x{n}x{y}>, %yst: tensor<{n}x{blocks}x{scale}>) -> {acc} {{
  %e = tensor.empty() : tensor<{n}x{n}x{y}>
  %y = linalg.transpose ins(%yt : tensor<{n}x{n}x{y}>) outs(%e : tensor<{n}x{n}x{y}>)
       permutation = [1, 0]
  %es = tensor.empty() : tensor<{blocks}x{n}x{scale}>
  %ys = linalg.transpose ins(%yst : tensor<{n}x{blocks}x{scale}>)
        outs(%es : tensor<{blocks}x{n}x{scale}>) permutation = [1, 0]
  %acc = arith.constant dense<0.0> : {acc}
  %d = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
       : tensor<{n}x{n}x{x}>, tensor<{n}x{blocks}x{scale}>, tensor<{n}x{n}x{y}>,
         tensor<{blocks}x{n}x{scale}>, {acc}
  return %d : {acc}
}}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--functions", type=int, default=100, help="as many in one program")
    parser.add_argument("--target", default="sm_120a", metavar="CHIP", help="default: %(default)s")
    parser.add_argument("--build", default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    parser.add_argument("--llc", default="/usr/lib/llvm-22/bin/llc")
    options = parser.parse_args()
    compile_ = [f"{options.build}/bin/blockscale-compile", f"--target={options.target}"]
    llc = [options.llc, f"-mcpu={options.target}", "-mattr=+ptx88", "-O3", "-o", os.devnull]

    print("row                                MLIR to PTX (s)  llc alone (s)  ratio")
    with tempfile.TemporaryDirectory() as folder:
        for row in COMBINATIONS:
            source, ir = pathlib.Path(folder, "gemm.mlir"), pathlib.Path(folder, "gemm.ll")
            source.write_text(make_gemm(*row))
            measure([*compile_, source, "--emit=llvm", "-o", ir], 1)
            # In turns, and the median of their ratios: a machine that is slower for a while is so
            # for both.
            commands = ([*compile_, source, "-o", os.devnull], [*llc, ir])
            turns = [[measure(command, 1)[0] for command in commands] for _ in range(options.repeat)]
            ours, alone = map(min, zip(*turns))
            ratio = statistics.median(one / other for one, other in turns)
            name = " ".join(map(str, row))
            print(f"{name:34s} {ours:15.3f}  {alone:13.3f}  {ratio:5.2f}")

        functions = [make_gemm(*COMBINATIONS[0]).replace("@main", f"@f{i}") for i in range(options.functions)]
        times = []
        for text, repeat in ((functions[0], options.repeat), ("\n".join(functions), 1)):
            source.write_text(text)
            times.append(measure([*compile_, source, "-o", os.devnull], repeat)[0])
        one, all_ = times
        print(f"{len(functions)} functions of the first row: {all_:.1f} s, {all_ / one:.1f} times one ({one:.3f} s)")


if __name__ == "__main__":
    main()
