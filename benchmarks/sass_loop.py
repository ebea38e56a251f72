#!/usr/bin/python3
"""Counts the instructions of the loop along K in SASS, ours and Triton's.

usage: sass_loop.py build [--only NAME...] [--build DIR] [--out DIR]   PTX and cubins of kernels
       sass_loop.py count [--only NAME...] [--out DIR] [--triton]      their loops, and Triton's

`build` needs a build of this project and `ptxas`; `count` needs `cuobjdump` of the CUDA toolkit and, for
`--triton`, the Python package of that name (no GPU). They may be two machines: carry the folder and this
file from the one to the other.

The loop is the one, by its branch backwards, with the most matrix instructions, among those that have
no other such loop inside: not the loop over tiles, which has the steps that are left over, too. "other" is every
instruction in it that is neither a matrix instruction, nor a copy of scales to tensor memory, nor a NOP;
spills are accesses of local memory. Of kernels in which another warp loads, the loop with the most bulk
loads follows, as instructions for each stage, all counted.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZE = 4096

WARPS = "tile=128x128x{},warps=2x2,stages={}"
MMA_SYNC_SPECIALIZED = "tile=128x128x{},stages=2,accumulators=1,persistent=1"
COPIED_N64 = "tile=128x64x{},stages={},accumulators=1,persistent=1"
PIPELINE = "tile=128x256x{},stages=4,accumulators=2,persistent=1"
TWO_CTA = "tile=128x256x{},stages={},accumulators=2,persistent=1,cluster=2x1,two_cta=1"
SPARSE = "tile=128x{}x256,warps=2x2,stages={}"
# name: chip, types of x and y, of scales (None without), block size, schedule, and the granularity of a sparse x
KERNELS = {
    "e4m3-e4m3": ("sm_120a", "f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32, WARPS.format(128, 3)),
    "e2m1-e2m1": ("sm_120a", "f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32, WARPS.format(256, 2)),
    "e2m1-e2m1-ue4m3": ("sm_120a", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16, WARPS.format(256, 2)),
    "e4m3-e2m1": ("sm_120a", "f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32, WARPS.format(128, 3)),
    "e2m3-e3m2": ("sm_120a", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU", 32, WARPS.format(128, 3)),
    "sparse-e4m3-e4m3": ("sm_120a", "f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 64, SPARSE.format(64, 2), "2:4"),
    "sparse-e2m1-e2m1": ("sm_120a", "f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 64, SPARSE.format(128, 3), "pairs"),
    "sparse-e2m1-e2m1-ue4m3": ("sm_120a", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 32, SPARSE.format(128, 3), "pairs"),
    "sparse-e4m3-e2m1": ("sm_120a", "f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 64, SPARSE.format(64, 2), "2:4"),
    "copied-e4m3-e4m3": ("sm_120a", "f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32, MMA_SYNC_SPECIALIZED.format(128)),
    "copied-e2m1-e2m1": ("sm_120a", "f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32, MMA_SYNC_SPECIALIZED.format(256)),
    "copied-e2m1-e2m1-ue4m3": ("sm_120a", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16, MMA_SYNC_SPECIALIZED.format(256)),
    "copied-e4m3-e2m1": ("sm_120a", "f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32, MMA_SYNC_SPECIALIZED.format(128)),
    "copied-e2m3-e3m2": ("sm_120a", "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU", 32, MMA_SYNC_SPECIALIZED.format(128)),
    "copied-e4m3-e4m3-n64": ("sm_120a", "f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32, COPIED_N64.format(128, 3)),
    "copied-e2m1-e2m1-ue4m3-n64": ("sm_120a", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16, COPIED_N64.format(256, 3)),
    "copied-sparse-e4m3-e4m3": ("sm_120a", "f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 64, COPIED_N64.format(256, 2), "2:4"),
    "copied-sparse-e2m1-e2m1-ue4m3": (
        "sm_120a", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 32, COPIED_N64.format(512, 2), "pairs"),
    "warp-specialized-e4m3-e4m3": ("sm_100a", "f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32, PIPELINE.format(128)),
    "warp-specialized-e2m1-e2m1": ("sm_100a", "f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32, PIPELINE.format(256)),
    "warp-specialized-e2m1-e2m1-ue4m3": ("sm_100a", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16, PIPELINE.format(256)),
    "two-cta-e4m3-e4m3": ("sm_100a", "f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32, TWO_CTA.format(128, 6)),
    "two-cta-e2m1-e2m1-ue4m3": ("sm_100a", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16, TWO_CTA.format(256, 4)),
    "two-cta-sparse-e4m3-e4m3": (
        "sm_100a", "f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 64, TWO_CTA.format(256, 4), "2:4"),
    "two-cta-sparse-e2m1-e2m1-ue4m3": (
        "sm_100a", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 32, TWO_CTA.format(512, 3), "pairs"),
    "warp-specialized-sparse-e4m3-e4m3": (
        "sm_100a", "f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 64, "tile=128x256x256,stages=2,accumulators=2,persistent=1", "2:4"),
    "wide-e2m1-e2m1-ue4m3": ("sm_103a", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16, TWO_CTA.format(256, 4) + ",k=96"),
    "warp-specialized-bf16": ("sm_100a", "bf16", "bf16", None, 1, PIPELINE.format(64)),
    "two-cta-bf16": ("sm_100a", "bf16", "bf16", None, 1, TWO_CTA.format(64, 7)),
    "warp-specialized-e4m3-e2m1": ("sm_100a", "f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32, PIPELINE.format(128)),
}
# What Triton compiles of these: its names of types, and the block size.
TRITON = {
    "e4m3-e4m3": ("e4m3", "e4m3", 32),
    "e2m1-e2m1": ("e2m1", "e2m1", 32),
    "e2m1-e2m1-ue4m3": ("e2m1", "e2m1", 16),
    "e4m3-e2m1": ("e4m3", "e2m1", 32),
}


def program(x, y, scale, block, m=SIZE, n=SIZE, k=SIZE, is_k_last=True, granularity=None):
    """A function on M x K and N x K operands, or K x M and K x N, with 32x4x4 scales or without.

    A sparse x, of M x K / 2, is followed by its metadata.
    """
    if scale is None:
        return unscaled_program(x, m, n, k)
    blocks = k // block

    def scales(rows):
        return f"tensor<{rows // 128}x{blocks // 4}x32x16x{scale}>", f"tensor<{rows}x{blocks}x{scale}>"

    (x_atoms, x_rows), (y_atoms, y_rows) = scales(m), scales(n)
    a, at = f"tensor<{m}x{k}x{x}>", f"tensor<{k}x{m}x{x}>"
    b, bt = f"tensor<{k}x{n}x{y}>", f"tensor<{n}x{k}x{y}>"
    x_stored, y_stored = (a, bt) if is_k_last else (at, b)
    # The one that the op takes in the other order.
    name, source, target = ("y", bt, b) if is_k_last else ("x", at, a)
    x_name, y_name = ("%x", "%t") if is_k_last else ("%t", "%y")
    y_columns, d = f"tensor<{blocks}x{n}x{scale}>", f"tensor<{m}x{n}xf32>"
    op, metadata, attribute, metadata_type = "mma_scaled", "", "", ""
    if granularity:
        op, attribute = "sparse_mma_scaled", f" {{granularity = #blockscale.granularity<{granularity}>, legal_metadata}}"
        a = x_stored = f"tensor<{m}x{k // 2}x{x}>"
        bytes_of_metadata = f"tensor<{m}x{k // {'2:4': 8, 'pairs': 16}[granularity]}xi8>"
        metadata, metadata_type = f" %e: {bytes_of_metadata},", f" {bytes_of_metadata},"
        x_name = "%x, %e"
    return f"""
func.func @mma(%x: {x_stored},{metadata} %sx: {x_atoms}, %y: {y_stored}, %sy: {y_atoms}) -> {d} {{
  %acc = arith.constant dense<0.0> : {d}
  %sx_rows = blockscale.unswizzle_scales %sx : {x_atoms} to {x_rows}
  %sy_rows = blockscale.unswizzle_scales %sy : {y_atoms} to {y_rows}
  %t_empty = tensor.empty() : {target}
  %sy_empty = tensor.empty() : {y_columns}
  %t = linalg.transpose ins(%{name} : {source}) outs(%t_empty : {target}) permutation = [1, 0]
  %syt = linalg.transpose ins(%sy_rows : {y_rows}) outs(%sy_empty : {y_columns}) permutation = [1, 0]
  %d = blockscale.{op} {x_name}, %sx_rows, {y_name}, %syt, %acc{attribute}
       : {a},{metadata_type} {x_rows}, {b}, {y_columns}, {d}
  return %d : {d}
}}
"""


def unscaled_program(element, m, n, k):
    """The same without scales, on M x K and N x K operands."""
    x, y, d = f"tensor<{m}x{k}x{element}>", f"tensor<{n}x{k}x{element}>", f"tensor<{m}x{n}xf32>"
    maps = ", ".join(f"affine_map<(m, n, k) -> ({dims})>" for dims in ("m, k", "n, k", "m, n"))
    return f"""
func.func @mma(%x: {x}, %y: {y}) -> {d} {{
  %acc = arith.constant dense<0.0> : {d}
  %d = linalg.matmul indexing_maps = [{maps}] ins(%x, %y : {x}, {y}) outs(%acc : {d}) -> {d}
  return %d : {d}
}}
"""


def find(tool):
    path = shutil.which(tool) or shutil.which(tool, path="/usr/local/cuda/bin")
    if not path:
        sys.exit(f"error: cannot find {tool} on the path or in /usr/local/cuda/bin")
    return path


def build(args):
    compiler = args.build / "bin" / "blockscale-compile"
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.only:
        chip, x, y, scale, block, schedule, *sparse = KERNELS[name]
        source = args.out / f"{name}.mlir"
        source.write_text(program(x, y, scale, block, granularity=sparse[0] if sparse else None))
        subprocess.run([compiler, source, f"--target={chip}", f"--schedule={schedule}",
                        "-o", args.out / f"{name}.ptx"], check=True)
        subprocess.run([find("ptxas"), f"-arch={chip}", args.out / f"{name}.ptx",
                        "-o", args.out / f"{name}.cubin"], check=True)


def loops(text):
    """(first address, last address, instructions) of all loops of a dump of SASS."""
    code = re.findall(r"/\*([0-9a-f]{4,})\*/\s+([^;]*?)\s*;", text)
    code = [(int(address, 16), line) for address, line in code]
    for address, line in code:
        branch = re.match(r"(@!?U?P\w+ )?BRA(\.\w+)* .*?0x([0-9a-f]+)", line)
        if branch and int(branch[3], 16) <= address:
            first = int(branch[3], 16)
            yield first, address, [opcode(line) for at, line in code if first <= at <= address]


def opcode(line):
    return re.sub(r"^@!?U?P\w+ ", "", line).split(" ")[0]


MMA, COPY, LOAD, ARRIVE = r"[A-Z]*MMA\b", r"UTCCP\b", r"UTMALDG\b", r"SYNCS\.ARRIVE"


def most(loops_of_kernel, pattern):
    """The opcodes of the innermost loop with the most that match, the smallest of several."""
    found = [loop for loop in loops_of_kernel if number(loop[2], pattern)]

    def is_innermost(loop):
        return not any(loop[0] <= other[0] and other[1] <= loop[1] and other[:2] != loop[:2] for other in found)

    return max((loop[2] for loop in found if is_innermost(loop)),
               key=lambda o: (number(o, pattern), -len(o)), default=[])


def number(opcodes, pattern):
    return sum(bool(re.match(pattern, o)) for o in opcodes)


def count(cubin):
    """The opcodes of the loop with the most matrix instructions, and of that with the most loads."""
    text = subprocess.run([find("cuobjdump"), "-sass", cubin], check=True, capture_output=True,
                          text=True).stdout
    found = list(loops(text))
    return most(found, MMA), most(found, LOAD)


def triton_cubin(name, folder):
    """The cubin of Triton's kernel for the same types, with 3 stages."""
    sys.path.insert(0, str(ROOT / "test" / "Execution" / "kernels"))
    from dot_scaled import Case, compile_kernel

    path = folder / f"{name}-triton.cubin"
    path.write_bytes(compile_kernel(Case(120, *TRITON[name])).asm["cubin"])
    return path


def report(name, who, found, verbose):
    loop, loading = found
    mma, copies, nop = number(loop, MMA), number(loop, COPY), number(loop, "NOP")
    spills = number(loop, r"(LDL|STL)\b")
    other = len(loop) - mma - copies - nop
    ratio = other / mma if mma else float("nan")
    print(f"{name:21} {who:7} {mma:5} {copies:6} {nop:5} {other:6} {ratio:10.2f} {spills:7}")
    others = collections.Counter(o.split(".")[0] for o in loop
                                 if not re.match(f"{MMA}|{COPY}|NOP", o))
    if verbose:
        print("    " + ", ".join(f"{o} {n}" for o, n in others.most_common()))
    stages = number(loading, ARRIVE)
    if number(loading, LOAD) and stages:
        print(f"{'':21} {'':7} {number(loading, LOAD)} loads for {stages} stages: "
              f"{len(loading) / stages:.1f} instructions each")


def count_all(args):
    print(f"{'kernel':21} {'by':7} {'MMA':>5} {'copies':>6} {'NOP':>5} {'other':>6} {'other/MMA':>10} "
          f"{'spills':>7}")
    for name in args.only:
        report(name, "ours", count(args.out / f"{name}.cubin"), args.verbose)
        if args.triton and name in TRITON:
            report(name, "Triton", count(triton_cubin(name, args.out)), args.verbose)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("build", "count"))
    parser.add_argument("--only", nargs="+", choices=KERNELS, default=list(KERNELS), metavar="NAME")
    parser.add_argument("--build", type=pathlib.Path,
                        default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "sass")
    parser.add_argument("--triton", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="also count the others by opcode")
    args = parser.parse_args()
    (build if args.step == "build" else count_all)(args)


if __name__ == "__main__":
    main()
