#!/usr/bin/python3
"""How the time and memory of blockscale-opt grow with the program.

Prints, for modules of some numbers of mma_scaled ops, the time and peak memory
to parse, verify and print them, each also per op beyond those of an empty
module; and the time for a ten-line file as a ratio to the stock mlir-opt on an
empty module.

usage: compile_time.py [--repeat N] [--ops N...] [--build DIR] [--mlir-opt PATH]
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

TYPES = (
    "tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x8xf8E5M2>, "
    "tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>"
)


def make_chain(count):
    """A function of `count` ops, each the accumulator of the next."""
    names = ["%x", "%xs", "%y", "%ys", "%d0"]
    arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, TYPES.split(", ")))
    lines = [f"func.func @main({arguments}) -> tensor<16x8xf32> {{"]
    for i in range(count):
        lines.append(
            f"  %d{i + 1} = blockscale.mma_scaled %x, %xs, %y, %ys, %d{i} : {TYPES}"
        )
    lines.append(f"  return %d{count} : tensor<16x8xf32>\n}}\n")
    return "\n".join(lines)


def measure(command, repeat):
    """The least of `repeat` times in seconds, and the peak memory in MiB."""
    times, memory = [], 0
    for _ in range(repeat):
        start = time.perf_counter()
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        times.append(time.perf_counter() - start)
        memory = max(memory, usage.ru_maxrss / 1024)
        if status != 0:
            raise SystemExit(f"failed: {command}")
    return min(times), memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--ops", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--build", default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    parser.add_argument("--mlir-opt", default="mlir-opt-22")
    options = parser.parse_args()
    opt = f"{options.build}/bin/blockscale-opt"

    with tempfile.TemporaryDirectory() as folder:
        empty = pathlib.Path(folder, "empty.mlir")
        empty.write_text("module {}\n")
        base, base_memory = measure([opt, empty, "-o", os.devnull], options.repeat)
        print("       ops  time (s)  us per op  memory (MiB)  bytes per op")
        for count in options.ops:
            path = pathlib.Path(folder, f"{count}.mlir")
            path.write_text(make_chain(count))
            seconds, memory = measure([opt, path, "-o", os.devnull], options.repeat)
            per_op = (seconds - base) / count * 1e6
            per_op_memory = (memory - base_memory) * 2**20 / count
            print(
                f"{count:10,}  {seconds:8.3f}  {per_op:9.1f}  {memory:12.0f}  {per_op_memory:12.0f}"
            )
        ten_lines = ROOT / "examples" / "mma_scaled.mlir"
        ours, _ = measure([opt, ten_lines, "-o", os.devnull], 4 * options.repeat)
        stock, _ = measure([options.mlir_opt, empty, "-o", os.devnull], 4 * options.repeat)
    print(f"blockscale-opt, examples/mma_scaled.mlir: {ours * 1e3:.1f} ms")
    print(f"stock mlir-opt, empty module:             {stock * 1e3:.1f} ms")
    print(f"ratio:                                    {ours / stock:.2f}")


if __name__ == "__main__":
    main()
