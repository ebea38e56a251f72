"""Kernels that others might write: tile_mma on tiles that the kernel itself brings to shared memory.

Elements go as they are to rows along K, scales to the row-major tiles that are simplest to fill.
"""

from typing import NamedTuple

import blockscale
import numpy as np
from gpu_cases import NVFP4, KernelCase
from harness import Combination, exact, gpu_buffer

SHARED = "#gpu.address_space<workgroup>"
E4M3_E5M2 = Combination("f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32)
ROW_ATTRIBUTES = {
    E4M3_E5M2: "<e4m3, e5m2, ue8m0, 32> instruction ="
    " <mma_sync, 16x8x32, mxf8f6f4, e4m3, e5m2, ue8m0, 1>",
    NVFP4: "<e2m1, e2m1, ue4m3, 16> instruction ="
    " <mma_sync, 16x8x64, mxf4nvf4, e2m1, e2m1, ue4m3, 4>",
}


def memory_of(data, row):
    """Buffers of x, its scales, y (N x K) and its scales, all with K last."""
    x, x_scale, y, y_scale, _ = data
    y, y_scale = np.ascontiguousarray(y.T), np.ascontiguousarray(y_scale.T)
    arrays, elements = (x, x_scale, y, y_scale), (row.x, row.scale, row.y, row.scale)
    return [gpu_buffer(array, element) for array, element in zip(arrays, elements)]


def one_warp():
    """One warp has all of the product, so that its scales are several groups of words."""
    row, (m, n, k) = E4M3_E5M2, (64, 48, 128)
    data = exact(row, m, n, k, seed=23, zero_acc=True)
    kinds = [f"{r}x{c}xi8" for r, c in ((m, k), (m, k // 32), (n, k), (n, k // 32))]
    params = ", ".join(f"%g{i}: memref<{kind}>" for i, kind in enumerate(kinds))
    tiles = ", ".join(f"%t{i}: memref<{kind}, {SHARED}>" for i, kind in enumerate(kinds))
    copies = "".join(
        f"""
    scf.for %i = %lane to %rows{i} step %warp {{
      scf.for %j = %c0 to %columns{i} step %c1 {{
        %v = memref.load %g{i}[%i, %j] : memref<{kind}>
        memref.store %v, %t{i}[%i, %j] : memref<{kind}, {SHARED}>
      }}
    }}"""
        for i, kind in enumerate(kinds)
    )
    sizes = "".join(
        f"""
    %rows{i} = arith.constant {kind.split("x")[0]} : index
    %columns{i} = arith.constant {kind.split("x")[1]} : index"""
        for i, kind in enumerate(kinds)
    )
    types = ", ".join(f"memref<{kind}, {SHARED}>" for kind in kinds)
    acc = f"!blockscale.acc<{m}x{n}, #blockscale.warps<1x1>>"
    text = f"""
gpu.module @kernels {{
  gpu.func @kernel({params}, %out: memref<{m}x{n}xf32>)
      workgroup({tiles}) kernel {{
    %lane = gpu.lane_id
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %warp = arith.constant 32 : index{sizes}{copies}
    gpu.barrier
    %zero = blockscale.acc_zero : {acc}
    %sum = blockscale.tile_mma %t0, %t1, %t2, %t3, %zero types = {ROW_ATTRIBUTES[row]}
           : {types}, {acc}
    blockscale.acc_store %sum, %out[%c0, %c0] : {acc}, memref<{m}x{n}xf32>
    gpu.return
  }}
}}
"""
    expected = blockscale.mma_scaled(*data, **row.types)
    return KernelCase("tile-one-warp", text, memory_of(data, row), (m, n), expected)


# Kernels of BLOCKS blocks along M, each of 2 x 2 warps with TILE x TILE results. A step along K is
# ROW_BYTES of elements; of two stages, one is multiplied while the other is filled.
BLOCKS, TILE, ROW_BYTES, STEPS, THREADS = 2, 64, 128, 5, 128


class Copies(NamedTuple):
    """How bytes come to shared memory."""

    piece: str  # moves one piece
    commit: str = ""  # ends the copies of a stage
    wait: str = ""  # for all stages but the latest


ASYNC = Copies(
    """nvgpu.device_async_copy %{name}[%row, %from], %tile[%to_row, %to], {size}
            : {memory} to {tile}""",
    # With braces, or the parser takes the result of the next line for an operand.
    "%{group} = nvgpu.device_async_create_group {{}}",
    "nvgpu.device_async_wait %group {numGroups = 1 : i32}",
)
VECTOR = Copies(
    """%piece = vector.load %{name}[%row, %from] {{alignment = {size} : i64}}
                 : {memory}, vector<{size}xi8>
        vector.store %piece, %tile[%to_row, %to] {{alignment = {size} : i64}}
            : {tile}, vector<{size}xi8>"""
)


class Operand(NamedTuple):
    """A parameter, and its tile in a stage."""

    name: str
    memory: str
    first: str  # the row where the block starts
    row_bytes: int
    offset: int  # of the tile in a stage
    is_swizzled: bool

    @property
    def tile(self):
        return f"memref<{TILE}x{self.row_bytes}xi8, {SHARED}>"

    @property
    def pieces(self):
        """The bytes of a piece, and pieces in a row of the tile."""
        size = min(self.row_bytes, 16)
        return size, self.row_bytes // size

    def view(self, tile, step, shared):
        """Defines `tile`, the tile of step number `step`."""
        return f"""
        {tile}_at = affine.apply affine_map<(s) -> (s mod 2 * {shared // 2} + {self.offset})>({step})
        {tile} = memref.view %shared[{tile}_at][] : memref<{shared}xi8, {SHARED}> to {self.tile}"""

    def fill(self, piece, step, shared):
        """The copies of step number `step`: threads take pieces in turn."""
        size, per_row = self.pieces
        copy = piece.format(name=self.name, size=size, memory=self.memory, tile=self.tile)
        return f"""
      scf.for %p = %thread to %{self.name}_pieces step %threads {{{self.view("%tile", step, shared)}
        %to_row = affine.apply affine_map<(p) -> (p floordiv {per_row})>(%p)
        %row = affine.apply affine_map<(l, f) -> (l + f)>(%to_row, {self.first})
        %c = affine.apply affine_map<(p) -> (p mod {per_row})>(%p)
        %from = affine.apply affine_map<(c, s) -> (c * {size} + s * {self.row_bytes})>(%c, {step})
        %factor = affine.apply affine_map<(l) -> ({"l mod 8" if self.is_swizzled else "0"})>(%to_row)
        %chunk = arith.xori %c, %factor : index
        %to = affine.apply affine_map<(c) -> (c * {size})>(%chunk)
        {copy}
      }}"""


def two_stages(name, row, copies, is_swizzled):
    k = ROW_BYTES * 8 // blockscale.FORMATS[row.x].bits
    m, n = BLOCKS * TILE, TILE
    data = exact(row, m, n, STEPS * k, seed=24)
    arrays = memory_of(data, row)
    stage, operands = 0, []
    for i, (array, first) in enumerate(zip(arrays, ("%m", "%m", "%c0", "%c0"))):
        memory = f"memref<{array.shape[0]}x{array.shape[1]}xi8>"
        swizzled = is_swizzled and i % 2 == 0  # elements
        operands.append(
            Operand(f"g{i}", memory, first, array.shape[1] // STEPS, stage, swizzled)
        )
        stage += TILE * operands[-1].row_bytes
    shared = 2 * stage

    def fill(step):
        return "".join(operand.fill(copies.piece, step, shared) for operand in operands)

    counts = "".join(
        f"""
    %{o.name}_pieces = arith.constant {TILE * o.pieces[1]} : index"""
        for o in operands
    )
    views = "".join(o.view(f"%t{i}", "%step", shared) for i, o in enumerate(operands))
    types = ", ".join(operand.tile for operand in operands)
    acc, sums = f"!blockscale.acc<{TILE}x{TILE}, #blockscale.warps<2x2>>", f"memref<{m}x{n}xf32>"
    layout = f"#blockscale.tile_layout<k, slots{', swizzled' * is_swizzled}>"
    text = f"""
gpu.module @kernels {{
  gpu.func @kernel({", ".join(f"%{o.name}: {o.memory}" for o in operands)}, %acc: {sums},
                   %out: {sums})
      workgroup(%shared: memref<{shared}xi8, {SHARED}>) kernel {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %steps = arith.constant {STEPS} : index
    %threads = arith.constant {THREADS} : index{counts}
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %m = affine.apply affine_map<(b) -> (b * {TILE})>(%block)
    %first = blockscale.acc_load %acc[%m, %c0] : {sums} -> {acc}
    {fill("%c0")}
    {copies.commit.format(group="first_group")}
    %result = scf.for %step = %c0 to %steps step %c1 iter_args(%sum = %first) -> {acc} {{
      %next = arith.addi %step, %c1 : index
      %has_next = arith.cmpi ult, %next, %steps : index
      scf.if %has_next {{{fill("%next")}
      }}
      // An empty group after the last step: as many are under way in each.
      {copies.commit.format(group="group")}
      {copies.wait}
      gpu.barrier{views}
      %more = blockscale.tile_mma %t0, %t1, %t2, %t3, %sum types = {ROW_ATTRIBUTES[row]}
              {{a_layout = {layout}, b_layout = {layout}}}
              : {types}, {acc}
      // All warps are done with the stage that the next step fills.
      gpu.barrier
      scf.yield %more : {acc}
    }}
    blockscale.acc_store %result, %out[%m, %c0] : {acc}, {sums}
    gpu.return
  }}
}}
"""
    arrays.append(data[4])
    expected = blockscale.mma_scaled(*data, **row.types)
    return KernelCase(name, text, arrays, (m, n), expected, grid=BLOCKS, block=THREADS)


def all_tiles():
    yield one_warp()
    yield two_stages("tile-async-fp8", E4M3_E5M2, ASYNC, is_swizzled=True)
    yield two_stages("tile-vector-fp8", E4M3_E5M2, VECTOR, is_swizzled=False)
    yield two_stages("tile-async-nvfp4", NVFP4, ASYNC, is_swizzled=False)
    yield two_stages("tile-vector-nvfp4", NVFP4, VECTOR, is_swizzled=True)
