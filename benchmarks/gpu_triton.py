#!/usr/bin/python3
"""Triton's side of gpu.py: kernels, and the configurations of which the best counts.

usage: gpu_triton.py SPECIFICATION OUT     compiles one kernel to OUT.cubin and OUT.json

gpu.py starts this file once for each kernel, so that they are compiled in parallel, and if Triton's compiler
aborts, only that kernel is missing.
"""

import json
import pathlib
import re
import sys
from typing import NamedTuple

from gpu_cases import FORMATS

# Of tl.dot_scaled: the name of the type, and that of a pointer to it; elements of one byte.
DOT_TYPES = {"f8E4M3FN": ("e4m3", "*fp8e4nv"), "f8E5M2": ("e5m2", "*fp8e5"), "f4E2M1FN": ("e2m1", "*u8")}
# To put a code's bits where bf16 has them: bits of the code, to which shift its magnitude goes, and the
# exponent of the factor that is then missing. A subnormal code gives a subnormal bf16.
FIELDS = {"f8E4M3FN": (8, 4, 120), "f6E2M3FN": (6, 4, 126), "f6E3M2FN": (6, 5, 124), "f4E2M1FN": (4, 6, 126)}
# Elements per block of the dequantizing kernel, and its warps.
CONVERT_TILE, CONVERT_WARPS = 4096, 8


class Config(NamedTuple):
    """One way to multiply. `swaps`: y is the left operand, so that a small M is the narrow side.

    `split` blocks share K and add up their sums with atomics.
    """

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int
    swaps: bool = False
    split: int = 1

    @property
    def name(self):
        swapped, split = ", swapped" if self.swaps else "", f", split {self.split}" if self.split > 1 else ""
        return f"{self.rows}x{self.columns}x{self.depth}, {self.warps} warps, {self.stages} stages{swapped}{split}"


LARGE = [
    Config(128, 128, 128, 4, 3), Config(128, 128, 128, 8, 3), Config(128, 128, 64, 4, 4),
    Config(128, 256, 64, 8, 3), Config(128, 256, 128, 8, 3), Config(256, 128, 64, 8, 3),
    Config(64, 256, 128, 4, 3),
]


def configurations(case):
    """Those to try for a case; `depth` divides its K."""
    if not case.is_small:
        configs = LARGE
    else:
        narrow = min(64, max(16, 1 << (case.m - 1).bit_length()))
        configs = [
            Config(narrow, 32, 256, 4, 4), Config(narrow, 64, 256, 4, 3), Config(narrow, 128, 128, 4, 4),
            Config(narrow, 64, 256, 4, 3, split=4), Config(64, narrow, 256, 4, 3, True),
            Config(64, narrow, 256, 4, 3, True, 4), Config(128, narrow, 128, 4, 4, True),
            Config(128, narrow, 128, 4, 4, True, 4), Config(narrow, 64, 256, 4, 3, split=8),
            Config(128, narrow, 128, 4, 4, True, 8),
        ]
        if case.m > 64:
            configs = [*configs, Config(128, 64, 128, 4, 4), LARGE[0], LARGE[2], LARGE[0]._replace(split=4)]
    return [config for config in configs if case.k % config.depth == 0]


def dot_specification(format, config):
    """What to compile for tl.dot_scaled, as JSON can hold it; None if it has no such types."""
    types = FORMATS[format]
    if types.x not in DOT_TYPES or types.y not in DOT_TYPES:
        return None
    a, b = (types.y, types.x) if config.swaps else (types.x, types.y)
    scale = "*fp8e4nv" if types.scale == "f8E4M3FN" else "*u8"
    return dict(
        kernel="multiply", warps=config.warps, stages=config.stages,
        signature=dict(a=DOT_TYPES[a][1], b=DOT_TYPES[b][1], sa=scale, sb=scale, d="*fp32", M="i32", N="i32", K="i32"),
        constants=dict(
            FA=DOT_TYPES[a][0], FB=DOT_TYPES[b][0], PA=2 if a == "f4E2M1FN" else 1, PB=2 if b == "f4E2M1FN" else 1,
            BLOCK=types.block, BM=config.rows, BN=config.columns, BK=config.depth, SWAP=config.swaps,
            SPLIT=config.split,
        ),
        # All but M, or what the narrow side is called, are multiples of 16.
        divisible=["a", "b", "sa", "sb", "d", "K", "M" if config.swaps else "N"],
    )


def convert_specification(format, element):
    """What to compile to dequantize to bf16."""
    types = FORMATS[format]
    bits, shift, exponent = FIELDS[element]
    is_float = types.scale == "f8E4M3FN"
    return dict(
        kernel="convert", warps=CONVERT_WARPS, stages=1,
        signature=dict(codes="*u8", scales="*fp8e4nv" if is_float else "*u8", out="*bf16", COUNT="i32"),
        constants=dict(
            BITS=bits, SHIFT=shift, FACTOR=2.0**exponent, BLOCK=types.block, FLOAT_SCALE=is_float, TILE=CONVERT_TILE,
        ),
        divisible=["codes", "scales", "out", "COUNT"],
    )


def make_kernels():
    import triton
    import triton.language as tl

    @triton.jit
    def multiply(a, b, sa, sb, d, M, N, K, FA: tl.constexpr, FB: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr,
                 BLOCK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SWAP: tl.constexpr,
                 SPLIT: tl.constexpr):
        # Groups of 8 rows of tiles, which share what is in the L2 cache.
        tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
        group = tl.program_id(0) // (8 * tiles_n)
        height = min(tiles_m - group * 8, 8)
        inside = tl.program_id(0) % (8 * tiles_n)
        rows = (group * 8 + inside % height) * BM + tl.arange(0, BM)
        columns = (inside // height) * BN + tl.arange(0, BN)
        # Rows past the end read others, and are not stored.
        ra, cb, scales = rows % M, columns % N, tl.arange(0, BK // BLOCK)
        first = tl.program_id(1)
        a += ra[:, None] * (K // PA) + first * (BK // PA) + tl.arange(0, BK // PA)[None, :]
        b += cb[None, :] * (K // PB) + first * (BK // PB) + tl.arange(0, BK // PB)[:, None]
        sa += ra[:, None] * (K // BLOCK) + first * (BK // BLOCK) + scales[None, :]
        sb += cb[:, None] * (K // BLOCK) + first * (BK // BLOCK) + scales[None, :]
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for _ in range(first, K // BK, SPLIT):
            acc = tl.dot_scaled(tl.load(a), tl.load(sa), FA, tl.load(b), tl.load(sb), FB, acc)
            a += SPLIT * (BK // PA)
            b += SPLIT * (BK // PB)
            sa += SPLIT * (BK // BLOCK)
            sb += SPLIT * (BK // BLOCK)
        mask = (rows[:, None] < M) & (columns[None, :] < N)
        if SWAP:
            d += columns[None, :] * M + rows[:, None]
        else:
            d += rows[:, None] * N + columns[None, :]
        if SPLIT == 1:
            tl.store(d, acc, mask)
        else:
            tl.atomic_add(d, acc, mask, sem="relaxed")

    @triton.jit
    def convert(codes, scales, out, COUNT, BITS: tl.constexpr, SHIFT: tl.constexpr, FACTOR: tl.constexpr,
                BLOCK: tl.constexpr, FLOAT_SCALE: tl.constexpr, TILE: tl.constexpr):
        # Rows are whole blocks, and so an operand is one row.
        start = tl.program_id(0).to(tl.int64) * TILE
        blocks = tl.arange(0, TILE // BLOCK)
        if BITS == 4:
            inside = tl.arange(0, BLOCK // 2)
            at = start // 2 + blocks[:, None] * (BLOCK // 2) + inside[None, :]
            pairs = tl.load(codes + at, at * 2 < COUNT, 0)
            code = tl.join(pairs & 15, pairs >> 4).reshape(TILE // BLOCK, BLOCK)
        else:
            at = start + blocks[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
            code = tl.load(codes + at, at < COUNT, 0)
        bits = code.to(tl.uint16)
        bits = ((bits >> (BITS - 1)) << 15) | ((bits & ((1 << (BITS - 1)) - 1)) << SHIFT)
        value = bits.to(tl.bfloat16, bitcast=True).to(tl.float32) * FACTOR
        at = start // BLOCK + blocks
        scale = tl.load(scales + at, at < COUNT // BLOCK)
        if FLOAT_SCALE:
            scale = scale.to(tl.float32)
        else:
            scale = (scale.to(tl.uint32) << 23).to(tl.float32, bitcast=True)
        at = start + blocks[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
        tl.store(out + at, (value * scale[:, None]).to(tl.bfloat16), at < COUNT)

    return dict(multiply=multiply, convert=convert)


def compile_kernel(specification, out):
    """Writes OUT.cubin, and OUT.json with the kernel's name, threads, shared memory and hidden parameters."""
    import triton
    from triton.backends.compiler import GPUTarget

    signature = dict(specification["signature"], **dict.fromkeys(specification["constants"], "constexpr"))
    names = list(signature)
    source = triton.compiler.ASTSource(
        fn=make_kernels()[specification["kernel"]], signature=signature, constexprs=specification["constants"],
        attrs={(names.index(name),): [["tt.divisibility", 16]] for name in specification["divisible"]},
    )
    made = triton.compile(
        source, target=GPUTarget("cuda", specification["chip"], 32),
        options={"num_warps": specification["warps"], "num_stages": specification["stages"]},
    )
    params = re.search(r"\.entry\s+\w+\(([^)]*)\)", made.asm["ptx"])[1].count(".param")
    # Behind the signature come pointers to memory of Triton's own, which these kernels do not use.
    hidden = params - len(specification["signature"])
    out.with_suffix(".cubin").write_bytes(made.asm["cubin"])
    out.with_suffix(".json").write_text(json.dumps(dict(
        name=made.metadata.name, threads=32 * specification["warps"], shared=made.metadata.shared, hidden=hidden,
    )))


if __name__ == "__main__":
    compile_kernel(json.loads(sys.argv[1]), pathlib.Path(sys.argv[2]))
