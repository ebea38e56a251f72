#!/usr/bin/python3
"""Memory traffic of kernels for sm_120a, as the simulator counts it.

usage: kernel_statistics.py [--size MxNxK] [--build DIR]

For the kernels of sass_loop.py, on 512 x 256 x 1024 unless given: wavefronts of shared memory over the least possible
(the whole kernel, and the worst line), the share of each sector of 32 bytes of global memory that is
used, and bytes read from global memory over what the blocks need once. Then fp4 that is stored as
K x M and K x N, and a swizzle_scales.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

from sass_loop import KERNELS, ROOT, program

CHIP, TILE = "sm_120a", 128
BITS = {"f8E4M3FN": 8, "f6E2M3FN": 8, "f6E3M2FN": 8, "f4E2M1FN": 4}
SWIZZLE = """
func.func @swizzle(%s: tensor<512x64xf8E8M0FNU>) -> tensor<4x16x32x16xf8E8M0FNU> {
  %t = blockscale.swizzle_scales %s : tensor<512x64xf8E8M0FNU> to tensor<4x16x32x16xf8E8M0FNU>
  return %t : tensor<4x16x32x16xf8E8M0FNU>
}
"""


def statistics(build, text, flags, folder):
    source, result = pathlib.Path(folder, "kernel.mlir"), pathlib.Path(folder, "stats.json")
    source.write_text(text)
    subprocess.run(
        [f"{build}/bin/blockscale-run", source, "--device=sim", f"--target={CHIP}", "--seed=1", *flags,
         f"--stats={result}", "-o", os.devnull],
        check=True, stderr=subprocess.DEVNULL,
    )
    return json.loads(result.read_text())["kernels"][0]


def show(name, kernel, needed=None):
    shared = kernel.get("shared_memory", {}).get("wavefronts_over_least", 1.0)
    worst = max(line.get("wavefronts_over_least", 1.0) for line in kernel["lines"])
    read = sum(line["bytes"] for line in kernel["lines"] if (line["space"], line["kind"]) == ("global", "load"))
    fetched = f"{read / needed:12.3f}" if needed else f"{'-':>12}"
    print(f"{name:16} {shared:10.3f} {worst:10.3f} {kernel['global_memory']['sector_use']:10.3f} {fetched}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    parser.add_argument("--size", default="512x256x1024", metavar="MxNxK")
    options = parser.parse_args()
    build = options.build
    m, n, k = map(int, options.size.split("x"))
    print(f"{'kernel':16} {'wavefronts':>10} {'worst line':>10} {'sectors':>10} {'bytes/needed':>12}")
    with tempfile.TemporaryDirectory() as folder:
        # Those of a sparse x have other bytes and another tile.
        dense = {name: kernel for name, (chip, *kernel) in KERNELS.items() if chip == CHIP and "sparse" not in name}
        cases = [(name, *kernel, True) for name, kernel in dense.items()]
        cases.append(("e2m1-e2m1, K x M", *KERNELS["e2m1-e2m1"][1:], False))
        for name, x, y, scale, block, schedule, is_k_last in cases:
            text = program(x, y, scale, block, m, n, k, is_k_last)
            kernel = statistics(build, text, [f"--schedule={schedule}"], folder)
            blocks = (m // TILE) * (n // TILE)
            needed = blocks * TILE * (k * (BITS[x] + BITS[y]) // 8 + 2 * k // block)
            show(name, kernel, needed)
        show("swizzle_scales", statistics(build, SWIZZLE, [], folder))


if __name__ == "__main__":
    main()
