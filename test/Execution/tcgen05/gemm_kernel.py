"""A GEMM of MXFP8 with tcgen05.mma: tiles of 128 x 128, two stages of shared memory.

    kernel(a, b, a_scale, b_scale, out)
      a, b              e4m3 (M, K) and e5m2 (N, K), bytes
      a_scale, b_scale  ue8m0 in the 32x4x4 layout, (M / 128, K / 128, 512) and (N / 128, K / 128, 512)
      out               float32 (M, N)

A CTA at (x, y) computes rows 128 y .. and columns 128 x ... . A stage is 128 bytes of K of both operands in
the 128-byte swizzle, and an atom of scale factors for each. Stage s is free again when the mbarrier object
s has the arrival that tcgen05.commit gave it; then nothing reads its columns of scale factors either.

Registers beside those of tcgen05_ptx.py: %kt tile along K, %stage its number & 1, %sbase the stage's
shared memory, %sbar its mbarrier object, %srow the offset of the thread's first unit in an operand's tile.
"""

import blockscale
import harness
import mma_launch
import numpy as np
from matrix_descriptors import instruction_descriptor, shared_descriptor
from mma_config import Config
from tcgen05_ptx import (
    allocate, await_phase, lane_pointer, matrix_descriptor, module, read_columns, release, sync,
)

TILE = 128  # rows, columns, and bytes of K
OPERAND = TILE * TILE
ATOM = 512
STAGE = 2 * OPERAND + 2 * ATOM
SHARED = 2 * STAGE
A_SCALE, B_SCALE, ALLOCATED = 128, 136, 256  # columns; D is at 0
STEPS = 4  # instructions of K = 32


def config():
    """What one instruction computes."""
    return Config(kind="mxf8f6f4", scale="ue8m0", block=32, spelling=".block32", n=TILE)


def _pointers(k):
    """%d4 and %d5: the thread's first unit of A and B; %d6: its unit of an atom, for threads below 64."""
    lines = []
    for register, param, tile in (("%d4", "a", "%ctaid.y"), ("%d5", "b", "%ctaid.x")):
        lines += [
            f"    ld.param.u64 {register}, [{param}];",
            f"    cvta.to.global.u64 {register}, {register};",
            f"    mov.u32 %r0, {tile};",
            "    shl.b32 %r0, %r0, 7;",
            "    shr.u32 %r1, %thread, 3;",
            "    add.u32 %r0, %r0, %r1;",
            f"    mad.wide.u32 {register}, %r0, {k}, {register};",
            "    and.b32 %r1, %thread, 7;",
            f"    mad.wide.u32 {register}, %r1, 16, {register};",
        ]
    return [
        *lines,
        "    ld.param.u64 %d6, [a_scale];",
        "    ld.param.u64 %d7, [b_scale];",
        "    setp.lt.u32 %p4, %thread, 32;",
        "    mov.u32 %r0, %ctaid.y;",
        "    mov.u32 %r1, %ctaid.x;",
        "    selp.b32 %r0, %r0, %r1, %p4;",
        "    selp.b64 %d6, %d6, %d7, %p4;",
        "    cvta.to.global.u64 %d6, %d6;",
        f"    mad.wide.u32 %d6, %r0, {k // TILE * ATOM}, %d6;",
        "    and.b32 %r1, %thread, 31;",
        "    mad.wide.u32 %d6, %r1, 16, %d6;",
        "    setp.lt.u32 %p5, %thread, 64;",
        "    // row * 128 + (unit ^ row % 8) * 16",
        "    shr.u32 %r0, %thread, 3;",
        "    xor.b32 %r1, %r0, %thread;",
        "    and.b32 %r1, %r1, 7;",
        "    shl.b32 %r0, %r0, 7;",
        "    shl.b32 %r1, %r1, 4;",
        "    add.u32 %srow, %r0, %r1;",
    ]


def _copy_stage(k):
    """All threads copy a tile of A and of B, 16 rows at a time, and the first two warps an atom each."""
    lines = ["    add.u32 %r1, %sbase, %srow;"]
    for operand, register in enumerate(("%d4", "%d5")):
        for i in range(8):
            lines += [
                f"    ld.global.v4.b32 {{%w0, %w1, %w2, %w3}}, [{register}+{16 * i * k}];",
                f"    st.shared.v4.b32 [%r1+{operand * OPERAND + 2048 * i}], {{%w0, %w1, %w2, %w3}};",
            ]
        lines.append(f"    add.u64 {register}, {register}, {TILE};")
    return [
        *lines,
        "    @%p5 ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%d6];",
        "    shl.b32 %r1, %thread, 4;",
        "    add.u32 %r1, %r1, %sbase;",
        f"    @%p5 st.shared.v4.b32 [%r1+{2 * OPERAND}], {{%w0, %w1, %w2, %w3}};",
        f"    add.u64 %d6, %d6, {ATOM};",
        sync("fence.proxy.async.shared::cta;", "fence.proxy.async"),
        sync("bar.sync 0;", "barrier stage"),
    ]


def _multiply():
    """Thread 0 copies scale factors, multiplies a stage, and says when that is done."""
    atom = shared_descriptor(0, TILE, 0)
    tile = shared_descriptor(0, 8 * TILE, 128)
    lines = [
        "    shl.b32 %r4, %stage, 2;",
        "    add.u32 %r4, %r4, %tmem;",
        f"    add.u32 %r5, %r4, {B_SCALE};",
        f"    add.u32 %r4, %r4, {A_SCALE};",
    ]
    for column, offset in (("%r4", 0), ("%r5", ATOM)):
        lines += [
            *matrix_descriptor("%d2", 2 * OPERAND + offset, atom, "%sbase"),
            f"    tcgen05.cp.cta_group::1.32x128b.warpx4 [{column}], %d2;",
        ]
    lines += [
        *matrix_descriptor("%d2", 0, tile, "%sbase"), *matrix_descriptor("%d3", OPERAND, tile, "%sbase"),
    ]
    for step in range(STEPS):
        lines += [
            f"    mov.b32 %r3, {instruction_descriptor(config(), step):#010x};",
            "    setp.ne.u32 %p4, %kt, 0;" if step == 0 else "    setp.eq.u32 %p4, %kt, %kt;",
            "    tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32"
            " [%tmem], %d2, %d3, %r3, [%r4], [%r5], %p4;",
            "    add.u64 %d2, %d2, 2;",
            "    add.u64 %d3, %d3, 2;",
        ]
    name = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"
    return [*lines, sync(f"{name} [%sbar];", "commit")]


def kernel_text(n, k):
    """The PTX for `n` columns and a K of `k`, both multiples of 128; any number of rows."""
    tiles = k // TILE
    last = tiles - 1
    return module("sm_100a", "kernel", ("a", "b", "a_scale", "b_scale", "out"), [
        "    .reg .b32 %kt, %stage, %sbase, %sbar, %srow;",
        *allocate(ALLOCATED, barriers=2), *_pointers(k),
        "    mov.b32 %kt, 0;",
        "STAGE:",
        "    and.b32 %stage, %kt, 1;",
        f"    mad.lo.u32 %sbase, %stage, {STAGE}, %base;",
        "    mad.lo.u32 %sbar, %stage, 8, %bar;",
        "    setp.lt.u32 %p4, %kt, 2;",
        "    @%p4 bra FREE;",
        "    shr.u32 %r0, %kt, 1;",
        "    add.u32 %r0, %r0, 1;",
        "    and.b32 %r0, %r0, 1;",
        *await_phase("%r0", "USED", "[%sbar]"),
        "FREE:",
        *_copy_stage(k),
        "    @!%p0 bra ISSUED;",
        *_multiply(),
        "ISSUED:",
        "    add.u32 %kt, %kt, 1;",
        f"    setp.lt.u32 %p4, %kt, {tiles};",
        "    @%p4 bra STAGE;",
        *await_phase(last >> 1 & 1, barrier=f"[%bar+{last % 2 * 8}]"),
        "    // the first row of the tile, as if it were a CTA's part of 128 rows",
        "    mov.u32 %rank, %ctaid.y;",
        *lane_pointer("out", n),
        "    mov.u32 %r0, %ctaid.x;",
        f"    mad.wide.u32 %d0, %r0, {TILE * 4}, %d0;",
        *read_columns(0, TILE), *release(ALLOCATED),
    ])


class Gemm:
    """The kernel for a size, with exact data; M, N and K are multiples of 128."""

    ROW = harness.Combination("f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32)

    def __init__(self, m, n, k, seed=5):
        data = harness.exact(self.ROW, m, n, k, seed, zero_acc=True)
        x, x_scale, y, y_scale, acc = data
        self.expected = blockscale.mma_scaled(*data, **self.ROW.types)
        self.arguments = [
            x, y.T.copy(), blockscale.swizzle_scales(x_scale), blockscale.swizzle_scales(y_scale.T.copy()),
            np.zeros_like(acc),
        ]
        self.grid = f"{n // TILE},{m // TILE}"
        self.text = kernel_text(n, k)

    def launch(self, folder, text, flags=()):
        """Runs the kernel or a changed text of it; (exit code, D (m, n), messages)."""
        return mma_launch.launch(folder, text, self.arguments, SHARED, self.grid, flags=flags)
