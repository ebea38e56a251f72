#!/usr/bin/python3
"""Estimated times of kernels against those that a card takes.

usage: estimates.py build [--case FORMAT-MxNxK]... [--target CHIP] [--out DIR] [--build DIR]
       estimates.py measure [--out DIR]

`build` needs a build of this project: it compiles products for several schedules, runs them in the simulator
with `--stats`, and writes PTX, launch infos and estimates to the folder. `measure` needs a card of the target
and torch, but no build. For two machines, copy the folder and `benchmarks/` from one to the other.

A time is that of a kernel in 20 consecutive launches, the least of three. For each product, it counts the pairs
of schedules whose times differ by more than 5% and whose estimates are in the same order.
"""

import argparse
import itertools
import json
import os
import pathlib
import subprocess

from gpu_cases import FORMATS, Case, program, row_bytes

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = [Case("mxfp8", 1024, 1024, 1024), Case("mxfp4", 1024, 1024, 1024), Case("nvfp4", 1024, 1024, 1024),
         Case("mxfp8-mxfp4", 1024, 2048, 512), Case("mxfp4", 16, 4096, 2048)]
# M x N x K of the tile, warps, stages.
SCHEDULES = [
    (128, 128, 128, 2, 2, 2), (128, 128, 128, 2, 4, 2), (128, 128, 128, 2, 2, 3), (128, 64, 128, 2, 2, 2),
    (128, 64, 128, 4, 1, 3), (64, 64, 128, 2, 2, 3), (64, 64, 128, 2, 2, 2), (64, 64, 128, 1, 2, 3),
    (64, 128, 128, 1, 4, 3), (64, 128, 128, 2, 2, 2), (256, 128, 128, 4, 2, 2), (256, 64, 128, 4, 1, 2),
    (32, 64, 128, 1, 2, 3), (64, 32, 128, 2, 1, 4), (128, 256, 128, 2, 4, 2), (32, 32, 128, 1, 1, 4),
    (64, 64, 256, 2, 2, 2), (16, 64, 128, 1, 4, 3), (16, 128, 128, 1, 4, 3), (16, 64, 256, 1, 4, 2),
]
LAUNCHES, ROUNDS = 20, 3
# Pairs that differ by less say nothing.
DIFFERENCE = 1.05


def parse_case(text):
    format, _, size = text.rpartition("-")
    sizes = size.split("x")
    if format not in FORMATS or len(sizes) != 3 or not all(size.isdigit() for size in sizes):
        raise argparse.ArgumentTypeError(f"expected FORMAT-MxNxK with one of {', '.join(FORMATS)}, got {text!r}")
    return Case(format, *map(int, sizes))


def describe(m, n, k, warps_m, warps_n, stages):
    return f"tile={m}x{n}x{k},warps={warps_m}x{warps_n},stages={stages}"


def suits(case, m):
    """Whether the tile is neither far higher than the result nor far lower."""
    return m <= 4 * case.m and (case.m <= 64 or m >= 32)


def make_arguments(case, random, packed):
    """Codes without NaN and scales around 1, as `random(high, shape)` gives bytes below `high`.

    `packed`: as a card has them, two elements of fp4 in a byte.
    """
    x, y, scale, block, _ = FORMATS[case.format]
    arguments = []
    for element, rows in ((x, case.m), (y, case.n)):
        is_nibble = element == "f4E2M1FN"
        width = row_bytes(element, case.k) if packed else case.k
        codes = random(16 if is_nibble and not packed else 256, (rows, width))
        if element == "f8E4M3FN":
            codes[(codes & 0x7F) == 0x7F] = 0
        least, most = (120, 128) if scale == "f8E8M0FNU" else (0x28, 0x40)
        arguments += [codes, random(most - least, (rows, case.k // block)) + least]
    return arguments


def build(options):
    import numpy

    generator = numpy.random.default_rng(1)
    options.out.mkdir(parents=True, exist_ok=True)
    estimates = {}
    for case in options.case or CASES:
        source = options.out / f"{case.name}.mlir"
        source.write_text(program(case))
        files = []
        for i, array in enumerate(make_arguments(
            case, lambda high, shape: generator.integers(0, high, shape, dtype=numpy.uint8), packed=False
        )):
            files.append(options.out / f"{case.name}-{i}.npy")
            numpy.save(files[-1], array)
        rows = {}
        for schedule in SCHEDULES:
            if not suits(case, schedule[0]):
                continue
            text = describe(*schedule)
            kernel, stats = options.out / f"{case.name}-{text}", options.out / "stats.json"
            flags = [source, f"--target={options.target}", f"--schedule={text}"]
            result = subprocess.run(
                [f"{options.build}/bin/blockscale-compile", *flags, "-o", f"{kernel}.ptx",
                 f"--launch-info={kernel}.json"],
                capture_output=True, text=True,
            )
            if result.returncode:
                print(f"{case.name} {text}: {result.stderr.strip().splitlines()[-1]}")
                continue
            subprocess.run(
                [f"{options.build}/bin/blockscale-run", *flags, *files, "--device=sim", f"--stats={stats}",
                 "-o", os.devnull],
                check=True, stderr=subprocess.DEVNULL,
            )
            kernels = json.loads(stats.read_text())["kernels"]
            rows[text] = sum(kernel["estimate"]["microseconds"] for kernel in kernels)
            print(f"{case.name:28} {text:40} {rows[text]:9.1f} us", flush=True)
        for file in files:
            file.unlink()
        estimates[case.name] = rows
        (options.out / "estimates.json").write_text(json.dumps(estimates))


def time_kernel(torch, launches, stream):
    """Microseconds of one round of the launches."""
    best = float("inf")
    with torch.cuda.stream(stream):
        for _ in range(ROUNDS):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            for launch in launches:
                launch.run(stream.cuda_stream)
            begin.record(stream)
            for launch in launches * LAUNCHES:
                launch.run(stream.cuda_stream)
            end.record(stream)
            end.synchronize()
            best = min(best, begin.elapsed_time(end) * 1000 / LAUNCHES)
    return best


def measure(options):
    import torch

    from gpu_launch import Driver, Function

    torch.zeros(1, device="cuda")
    count = torch.cuda.get_device_properties(0).multi_processor_count
    driver, stream = Driver(), torch.cuda.Stream()
    generator = torch.Generator(device="cuda").manual_seed(1)

    def random(high, shape):
        return torch.randint(0, high, shape, dtype=torch.uint8, device="cuda", generator=generator)

    estimates = json.loads((options.out / "estimates.json").read_text())
    for name, estimated in estimates.items():
        case = parse_case(name)
        arguments = make_arguments(case, random, packed=True)
        result = torch.empty(case.m, case.n, device="cuda")
        rows = []
        for text, microseconds in estimated.items():
            kernel = options.out / f"{case.name}-{text}"
            info = json.loads(pathlib.Path(f"{kernel}.json").read_text())
            function = Function(driver, pathlib.Path(f"{kernel}.ptx").read_bytes(), info, case.shapes, count)
            workspace = torch.empty(max(function.workspace, 1), dtype=torch.uint8, device="cuda")
            launches = function.bind(
                [argument.data_ptr() for argument in arguments], [result.data_ptr()], workspace.data_ptr()
            )
            rows.append((time_kernel(torch, launches, stream), microseconds, text))
        report(case, sorted(rows))


def report(case, rows):
    print(f"{case.name:40} {'measured':>9} {'estimated':>9} {'ratio':>6}")
    for measured, estimated, text in rows:
        print(f"  {text:38} {measured:9.1f} {estimated:9.1f} {estimated / measured:6.2f}")
    pairs = [(a, b) for a, b in itertools.combinations(rows, 2) if b[0] > DIFFERENCE * a[0]]
    good = sum(b[1] > a[1] for a, b in pairs)
    print(f"  {good} of {len(pairs)} pairs in the same order")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("build", "measure"))
    parser.add_argument("--case", action="append", type=parse_case)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("estimates"))
    parser.add_argument("--build", default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    options = parser.parse_args()
    {"build": build, "measure": measure}[options.command](options)


if __name__ == "__main__":
    main()
