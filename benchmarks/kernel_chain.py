#!/usr/bin/python3
"""Kernels one after another on a CUDA card: launched so that each waits for the whole of the one in front, and
as their launch info says, so that it starts when the blocks of that have ended.

usage: kernel_chain.py build [--build DIR] [--out DIR]   PTX and launch infos
       kernel_chain.py run [--out DIR]                   times, on a card

`build` needs a build of this project, `run` a card of sm_90 or later and torch. They may be two machines: carry
the folder, this file and gpu_launch.py from the one to the other. A function is eight products of M x M x 256
(MXFP8, converted), each added to the one before; times are microseconds of a function, in a stream and in a
CUDA graph, medians of turns. Results have to be the same bits. A third way lets the next kernel start before
the blocks have ended, with griddepcontrol.launch_dependents behind the wait of each.
"""

import argparse
import copy
import json
import os
import pathlib
import statistics
import subprocess
import sys

import gpu_launch

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES, K, PRODUCTS = (256, 1024), 256, 8
WAYS = ("one by one", "programmatic", "early")
TURNS, CALLS = 40, 20


def program(m):
    """A function of the chain."""
    types = (f"tensor<{m}x{K}xf8E4M3FN>", f"tensor<{m}x{K // 32}xf8E8M0FNU>",
             f"tensor<{K}x{m}xf8E4M3FN>", f"tensor<{K // 32}x{m}xf8E8M0FNU>", f"tensor<{m}x{m}xf32>")
    names = ("%x", "%sx", "%y", "%sy")
    arguments = ", ".join(map(": ".join, zip(names, types)))
    products = "\n".join(
        f"  %d{i + 1} = blockscale.mma_scaled {', '.join(names)}, %d{i} : {', '.join(types)}"
        for i in range(PRODUCTS)
    )
    return (f"func.func @main({arguments}) -> {types[4]} {{\n  %d0 = arith.constant dense<0.0> : {types[4]}\n"
            f"{products}\n  return %d{PRODUCTS} : {types[4]}\n}}\n")


def build(args):
    args.out.mkdir(parents=True, exist_ok=True)
    for m in SIZES:
        path = args.out / f"chain{m}"
        path.with_suffix(".mlir").write_text(program(m))
        subprocess.run(
            [args.build / "bin" / "blockscale-compile", path.with_suffix(".mlir"), "--target=sm_90a",
             f"--launch-info={path.with_suffix('.json')}", "-o", path.with_suffix(".ptx")],
            check=True, stderr=subprocess.DEVNULL,
        )


def change(way, ptx, info):
    """The PTX and the launch info of a way."""
    info = copy.deepcopy(info)
    if way == "one by one":
        for kernel in info["kernels"]:
            kernel.pop("programmatic", None)
    if way == "early":
        wait = "griddepcontrol.wait;"
        ptx = ptx.replace(wait, f"{wait}\ngriddepcontrol.launch_dependents;")
    return ptx.encode(), info


def time_ways(torch, driver, m, out):
    """Microseconds of each way in a stream and in a graph."""
    def draw(low, high, *shape):
        return torch.randint(low, high, shape, dtype=torch.uint8, device="cuda")

    arguments = [draw(0, 0x7E, m, K), draw(120, 134, m, K // 32), draw(0, 0x7E, K, m), draw(120, 134, K // 32, m)]
    ptx = (out / f"chain{m}.ptx").read_text()
    info = json.loads((out / f"chain{m}.json").read_text())
    stream, works, kept = torch.cuda.Stream(), {}, []
    for way in WAYS:
        image, changed = change(way, ptx, info)
        function = gpu_launch.Function(driver, image, changed, [tuple(a.shape) for a in arguments], 132)
        workspace = torch.zeros(function.workspace, dtype=torch.uint8, device="cuda")
        result = torch.zeros((m, m), device="cuda")
        launches = function.bind([a.data_ptr() for a in arguments], [result.data_ptr()], workspace.data_ptr())

        def work(launches=launches):
            for _ in range(CALLS):
                for launch in launches:
                    launch.run(stream.cuda_stream)

        work()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            work()
        works[way] = (work, graph.replay)
        kept.append((function, workspace, result, launches, graph))
    if not all(torch.equal(result, kept[0][2]) for _, _, result, *_ in kept):
        sys.exit("error: the ways have different results")

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = {way: ([], []) for way in WAYS}
    for _ in range(TURNS):
        for way, both in works.items():
            for run, into in zip(both, times[way]):
                with torch.cuda.stream(stream):
                    start.record()
                    run()
                    end.record()
                end.synchronize()
                into.append(start.elapsed_time(end) * 1e3 / CALLS)
    return {way: tuple(map(statistics.median, both)) for way, both in times.items()}


def run(args):
    import torch

    torch.zeros(1, device="cuda")
    driver = gpu_launch.Driver()
    print(f"{'M':>6}  {'launched':12} {'stream (us)':>12} {'graph (us)':>12} {'ratios':>12}")
    for m in SIZES:
        times = time_ways(torch, driver, m, args.out)
        first = times[WAYS[0]]
        for way, (stream, graph) in times.items():
            print(f"{m:6}  {way:12} {stream:12.1f} {graph:12.1f} {stream / first[0]:6.2f}{graph / first[1]:6.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("build", "run"))
    parser.add_argument("--build", type=pathlib.Path, default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "chain")
    args = parser.parse_args()
    args.build = pathlib.Path(args.build)
    {"build": build, "run": run}[args.action](args)


if __name__ == "__main__":
    main()
