#!/usr/bin/env python3
"""Errors of the functions that GPUs compute without a library, over all f32 values.

`blockscale-expand-math` makes the same arithmetic for a CPU as for a GPU, and its operations are
rounded alike; so a CPU measures it: each function is compiled for this machine and compared with
the C library's function of double, for all 2^32 arguments (powf: as many random pairs). Errors
are in units of the last place of an f32, which below 2^-126 is 2^-149.

    benchmarks/math_errors.py [--build=DIR] [--step=N] [--threads=N] [NAME...]

`--step=N` takes every N-th argument. The whole takes hours of CPU time.
include/blockscale/Support/MathErrors.h has what is promised, which no figure may be above.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]
FUNCTIONS = ("exp exp2 expm1 log log2 log10 log1p tanh sinh cosh erf sin cos tan rsqrt sqrt powf").split()
PASSES = (
    "blockscale-expand-math", "convert-scf-to-cf", "convert-arith-to-llvm", "convert-func-to-llvm",
    "convert-cf-to-llvm", "reconcile-unrealized-casts",
)
LLVM = Path("/usr/lib/llvm-22/bin")


def build(name, folder, programs):
    arguments = 2 if name == "powf" else 1
    params = ", ".join(f"%x{i}: f32" for i in range(arguments))
    names = ", ".join(f"%x{i}" for i in range(arguments))
    source = folder / f"{name}.mlir"
    source.write_text(
        f"func.func @approximation({params}) -> f32 {{\n"
        f"  %0 = math.{name} {names} : f32\n  return %0 : f32\n}}\n"
    )
    code = folder / f"{name}.ll"
    lowered = subprocess.run(
        [programs / "blockscale-opt", source, f"--pass-pipeline=builtin.module({','.join(PASSES)})"],
        capture_output=True, check=True,
    )
    translated = subprocess.run(
        [LLVM / "mlir-translate", "--mlir-to-llvmir"], input=lowered.stdout, capture_output=True, check=True
    )
    code.write_bytes(translated.stdout)
    code_object = folder / f"{name}.o"
    subprocess.run(
        [LLVM / "llc", "-O3", "-mcpu=native", "-relocation-model=pic", "-filetype=obj", code, "-o", code_object], check=True
    )
    program = folder / name
    exact = "rsqrt" if name == "rsqrt" else f"std::{'pow' if name == 'powf' else name}"
    subprocess.run(
        ["c++", "-O3", "-march=native", "-ffp-contract=off", "-pthread", f'-DNAME="{name}"', f"-DEXACT={exact}",
         f"-DARGUMENTS={arguments}", REPO / "benchmarks/math_errors.cpp", code_object, "-o", program],
        check=True,
    )
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=REPO / "build")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("names", nargs="*", metavar="NAME", default=FUNCTIONS)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names:
            program = build(name, Path(folder), options.build / "bin")
            failed |= subprocess.run([program, str(options.step), str(options.threads)], check=False).returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
