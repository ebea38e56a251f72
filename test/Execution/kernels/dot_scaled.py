#!/usr/bin/python3
"""What Triton makes of tl.dot_scaled for sm_120 and sm_100, executed in the simulator.

usage: dot_scaled.py compile FOLDER
       dot_scaled.py check FOLDER --launcher=PROGRAM

`compile` needs Triton (3.6 was tried), and no card: it compiles for both on any machine. `check`
launches the PTX in FOLDER with PROGRAM (blockscale-sim, or blockscale-launch where there is such a
card) on exact and on random values, and holds results against the reference.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

TILE = 128
TYPES = {"e4m3": ("f8E4M3FN", "*fp8e4nv"), "e5m2": ("f8E5M2", "*fp8e5"), "e2m1": ("f4E2M1FN", "*u8")}
TYPE_CASES = [
    ("e4m3", "e4m3", 32), ("e5m2", "e5m2", 32), ("e4m3", "e5m2", 32), ("e2m1", "e2m1", 32),
    ("e2m1", "e2m1", 16),
]


class Case(NamedTuple):
    """A kernel for tiles of 128 x `columns` and 128 of K."""

    chip: int
    a: str
    b: str
    block: int
    stages: int = 3
    columns: int = TILE

    @property
    def name(self):
        return "-".join(map(str, self))


# For sm_120, Triton multiplies e4m3 by e2m1 in bf16.
CASES = [Case(120, *types, stages) for types in TYPE_CASES for stages in (1, 3)] + [
    Case(100, *types, stages, columns)
    for types in [*TYPE_CASES, ("e4m3", "e2m1", 32)] for stages in (1, 3) for columns in (64, TILE)
]
INSTRUCTIONS = {120: "mma.sync", 100: "tcgen05.mma"}


def make_kernel():
    """Pointers to row-major operands, b as N x K; fp4 in pairs along K."""
    import triton
    import triton.language as tl

    @triton.jit
    def kernel(a, b, sa, sb, d, M, N, K, FA: tl.constexpr, FB: tl.constexpr, PA: tl.constexpr,
               PB: tl.constexpr, BLOCK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        rows = tl.program_id(0) * BM + tl.arange(0, BM)
        columns = tl.program_id(1) * BN + tl.arange(0, BN)
        scales = tl.arange(0, BK // BLOCK)
        a += rows[:, None] * (K // PA) + tl.arange(0, BK // PA)[None, :]
        b += columns[None, :] * (K // PB) + tl.arange(0, BK // PB)[:, None]
        sa += rows[:, None] * (K // BLOCK) + scales[None, :]
        sb += columns[:, None] * (K // BLOCK) + scales[None, :]
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for _ in range(0, tl.cdiv(K, BK)):
            acc = tl.dot_scaled(tl.load(a), tl.load(sa), FA, tl.load(b), tl.load(sb), FB, acc)
            a += BK // PA
            b += BK // PB
            sa += BK // BLOCK
            sb += BK // BLOCK
        tl.store(d + rows[:, None] * N + columns[None, :], acc)

    return kernel


def compile_kernel(case):
    """Triton's kernel, in four warps."""
    import triton
    from triton.backends.compiler import GPUTarget

    pack = {"e2m1": 2}
    constants = dict(
        FA=case.a, FB=case.b, PA=pack.get(case.a, 1), PB=pack.get(case.b, 1), BLOCK=case.block,
        BM=TILE, BN=case.columns, BK=TILE,
    )
    scale = "*fp8e4nv" if case.block == 16 else "*u8"
    signature = dict(a=TYPES[case.a][1], b=TYPES[case.b][1], sa=scale, sb=scale, d="*fp32", M="i32", N="i32", K="i32")
    signature.update({name: "constexpr" for name in constants})
    divisible = {(i,): [["tt.divisibility", 16]] for i in range(8)}
    source = triton.compiler.ASTSource(
        fn=make_kernel(), signature=signature, constexprs=constants, attrs=divisible
    )
    return triton.compile(
        source, target=GPUTarget("cuda", case.chip, 32),
        options={"num_warps": 4, "num_stages": case.stages},
    )


def compile_all(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        made = compile_kernel(case)
        ptx, instruction = made.asm["ptx"], INSTRUCTIONS[case.chip]
        (folder / f"{case.name}.ptx").write_text(ptx)
        (folder / f"{case.name}.json").write_text(json.dumps({"shared": made.metadata.shared}))
        print(f"{case.name}: {ptx.count(instruction)} {instruction}")
    return 0


def check_case(case, folder, launcher, data, row):
    import conftest  # noqa: F401
    import blockscale
    import numpy as np
    from harness import gpu_buffer

    x, x_scale, y, y_scale, acc = data
    m, n, k = x.shape[0], y.shape[1], x.shape[1]
    shared = json.loads((folder / f"{case.name}.json").read_text())["shared"]
    command = [
        launcher, folder / f"{case.name}.ptx", f"--grid={m // TILE},{n // case.columns}",
        "--block=128", f"--shared={shared}",
    ]
    for i, (array, element) in enumerate([
        (x, row.x), (np.ascontiguousarray(y.T), row.y), (x_scale, row.scale),
        (np.ascontiguousarray(y_scale.T), row.scale),
    ]):
        np.save(folder / f"{i}.npy", gpu_buffer(array, element))
        command.append(f"in:{folder}/{i}.npy")
    # The last two are Triton's own scratch memory, which is not used.
    command += [f"out:{folder}/d.npy:f4:{m}x{n}", f"i32:{m}", f"i32:{n}", f"i32:{k}", "i64:0", "i64:0"]
    subprocess.run([str(part) for part in command], check=True)
    blockscale.compare(np.load(folder / "d.npy"), x, x_scale, y, y_scale, np.zeros_like(acc), **row.types)


def check_all(folder, launcher):
    import conftest  # noqa: F401
    from harness import Combination, exact, random

    wrong = 0
    for case in CASES:
        scale = "f8E4M3FN" if case.block == 16 else "f8E8M0FNU"
        row = Combination(TYPES[case.a][0], TYPES[case.b][0], scale, case.block)
        try:
            check_case(case, folder, launcher, exact(row, 128, 256, 512, 3), row)
            check_case(case, folder, launcher, random(row, 256, 128, 384, 4), row)
            print(f"{case.name}: ok")
        except (AssertionError, subprocess.CalledProcessError) as error:
            wrong += 1
            print(f"{case.name}: {str(error).splitlines()[0]}")
    return min(wrong, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("compile").add_argument("folder", type=Path)
    check = actions.add_parser("check")
    check.add_argument("folder", type=Path)
    check.add_argument("--launcher", type=Path, required=True)
    options = parser.parse_args()
    if options.action == "compile":
        return compile_all(options.folder)
    return check_all(options.folder, options.launcher)


if __name__ == "__main__":
    sys.exit(main())
