"""Kernels that others might write: mma_scaled on vectors that one warp shares.

Each has a loop over K with the accumulator in iter_args, elementwise arithmetic around it, sizes
that are no multiples of the instruction's, and operands read from memory as each format is kept.
Those whose memory has a known alignment are loaded in words.
"""

from typing import NamedTuple

import blockscale
import numpy as np
from gpu_cases import KernelCase
from harness import COMBINATIONS, Combination, exact, gpu_buffer

M, N, K, STEPS = 24, 12, 96, 2
SHARED = "#gpu.address_space<workgroup>"


class Memory(NamedTuple):
    """How a kernel holds quantized elements."""

    shape: tuple
    element: str
    space: str = ""

    @property
    def type(self):
        space = f", {self.space}" if self.space else ""
        return f"memref<{'x'.join(map(str, self.shape))}x{self.element}{space}>"


def memory_of(shape, element, as_bytes=False):
    """fp4 packed, fp6 in bytes, others as their type or `as_bytes`."""
    *outer, last = shape
    if element == "f4E2M1FN":
        return Memory((*outer, last // 2), "i8")
    return Memory(tuple(shape), "i8" if as_bytes or "f6" in element else element)


def read(name, memory, shape, element, indices):
    """Lines that read `shape` of `memory` from `indices` as a vector called %NAME."""
    sizes = "x".join(map(str, shape))
    wanted = f"vector<{sizes}x{element}>"
    padding = "%i8" if memory.element == "i8" else f"%pad_{element}"
    in_bounds = "{in_bounds = [true, true]}"
    where = ", ".join(indices)

    def transfer(result, vector):
        return (
            f"%{result} = vector.transfer_read %{name}_mem[{where}], {padding} {in_bounds}"
            f" : {memory.type}, {vector}"
        )

    if element == "f4E2M1FN":
        bytes_ = f"vector<{shape[0]}x{shape[1] // 2}xi8>"
        return [
            transfer(f"{name}_b", bytes_),
            f"%{name} = vector.bitcast %{name}_b : {bytes_} to {wanted}",
        ]
    if "f6" in element:
        bytes_, integers = f"vector<{sizes}xi8>", f"vector<{sizes}xi6>"
        return [
            transfer(f"{name}_b", bytes_),
            f"%{name}_c = arith.trunci %{name}_b : {bytes_} to {integers}",
            f"%{name} = arith.bitcast %{name}_c : {integers} to {wanted}",
        ]
    if memory.element == "i8":
        bytes_ = f"vector<{sizes}xi8>"
        return [
            transfer(f"{name}_b", bytes_),
            f"%{name} = arith.bitcast %{name}_b : {bytes_} to {wanted}",
        ]
    return [transfer(name, wanted)]


def copy(name, memory):
    """Lines by which one warp brings what %NAME_global holds to %NAME_mem."""
    rows, columns = memory.shape
    return f"""
    %{name}_rows = arith.constant {rows} : index
    %{name}_columns = arith.constant {columns} : index
    scf.for %i = %lane to %{name}_rows step %warp {{
      scf.for %j = %c0 to %{name}_columns step %c1 {{
        %v = memref.load %{name}_global[%i, %j] : {memory._replace(space="").type}
        memref.store %v, %{name}_mem[%i, %j] : {memory.type}
      }}
    }}"""


def vector_kernel(row, y_is_nk, m=M, n=N, k=K, align=None, is_shared=False):
    """`align`: what the parameters are known to be aligned to, in bytes.

    `is_shared`: operands are read from bytes in shared memory.
    """
    data = exact(row, m, n, STEPS * k, seed=21)
    x, x_scale, y, y_scale, acc = data
    if y_is_nk:
        y, y_scale = (np.ascontiguousarray(a.T) for a in (y, y_scale))
    blocks = k // row.block
    arrays = [gpu_buffer(a, e) for a, e in zip((x, x_scale, y, y_scale, acc),
                                               (row.x, row.scale, row.y, row.scale, "f32"))]
    memories = [memory_of(a.shape, e, is_shared)._replace(space=SHARED * is_shared)
                for a, e in zip((x, x_scale, y, y_scale), (row.x, row.scale, row.y, row.scale))]

    def step(element):
        """The loop counter times the extent along K, in elements of the memory."""
        return "%k_packed" if element == "f4E2M1FN" else "%k"

    y_shape, s_shape = (k, n), (blocks, n)
    y_at, s_at = [step("" if row.y == "f4E2M1FN" else row.y), "%c0"], ["%ks", "%c0"]
    y_name, s_name = "y", "ys"
    if y_is_nk:
        y_shape, s_shape = y_shape[::-1], s_shape[::-1]
        y_at, s_at = ["%c0", step(row.y)], ["%c0", "%ks"]
        y_name, s_name = "yt", "yst"
    lines = [
        *read("x", memories[0], (m, k), row.x, ["%c0", step(row.x)]),
        *read("xs", memories[1], (m, blocks), row.scale, ["%c0", "%ks"]),
        *read(y_name, memories[2], y_shape, row.y, y_at),
        *read(s_name, memories[3], s_shape, row.scale, s_at),
    ]
    y_vector, s_vector = f"vector<{k}x{n}x{row.y}>", f"vector<{blocks}x{n}x{row.scale}>"
    if y_is_nk:
        lines += [
            f"%y = vector.transpose %yt, [1, 0] : vector<{n}x{k}x{row.y}> to {y_vector}",
            f"%ys = vector.transpose %yst, [1, 0] : "
            f"vector<{n}x{blocks}x{row.scale}> to {s_vector}",
        ]
    sums = f"vector<{m}x{n}xf32>"
    names = ["x", "xs", y_name, s_name]
    known = f" {{llvm.align = {align} : i64}}" if align else ""
    space = "global" if is_shared else "mem"
    params = [f"%{n}_{space}: {m._replace(space='').type}{known}" for n, m in zip(names, memories)]
    tiles, copies = "", ""
    if is_shared:
        tiles = ", ".join(f"%{n}_mem: {m.type}" for n, m in zip(names, memories))
        tiles = f"workgroup({tiles}) "
        copies = """
    %lane = gpu.lane_id
    %warp = arith.constant 32 : index""" + "".join(map(copy, names, memories)) + """
    gpu.barrier"""
    pads = sorted({m.element for m in memories} - {"i8"})
    text = f"""
gpu.module @kernels {{
  gpu.func @kernel({', '.join(params)}, %acc_mem: memref<{m}x{n}xf32>,
                   %out: memref<{m}x{n}xf32>) {tiles}kernel {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index{copies}
    %steps = arith.constant {STEPS} : index
    %i8 = arith.constant 0 : i8
    {' '.join(f'%pad_{e} = arith.constant 1.0 : {e}' for e in pads)}
    %zero = arith.constant 0.0 : f32
    %half = arith.constant dense<0.5> : {sums}
    %c = vector.transfer_read %acc_mem[%c0, %c0], %zero {{in_bounds = [true, true]}}
         : memref<{m}x{n}xf32>, {sums}
    %first = arith.mulf %c, %half : {sums}
    %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %first) -> {sums} {{
      %k = affine.apply affine_map<(i) -> (i * {k})>(%i)
      %k_packed = affine.apply affine_map<(i) -> (i * {k // 2})>(%i)
      %ks = affine.apply affine_map<(i) -> (i * {blocks})>(%i)
      {chr(10).join('      ' + line for line in lines).strip()}
      %next = blockscale.mma_scaled %x, %xs, %y, %ys, %acc
              : vector<{m}x{k}x{row.x}>, vector<{m}x{blocks}x{row.scale}>, {y_vector},
                {s_vector}, {sums}
      scf.yield %next : {sums}
    }}
    %result = arith.addf %sum, %half : {sums}
    vector.transfer_write %result, %out[%c0, %c0] {{in_bounds = [true, true]}}
        : {sums}, memref<{m}x{n}xf32>
    gpu.return
  }}
}}
"""
    halved = [*data[:4], np.float32(acc * 0.5)]
    expected = blockscale.mma_scaled(*halved, **row.types) + np.float32(0.5)
    name = f"vector-{row}-{'nk' if y_is_nk else 'kn'}-{m}x{n}x{k}"
    name += f"-align{align}" * bool(align) + "-shared" * is_shared
    return KernelCase(name, text, arrays, (m, n), expected)


def swizzled_kernel():
    """Scales in the 32x4x4 layout as a vector of rank 4; reads that end beyond memory."""
    row = Combination("f8E5M2", "f8E4M3FN", "f8E8M0FNU", 32)
    m, n, k = 20, 9, 64
    data = exact(row, m, n, k, seed=22, zero_acc=True)
    x, x_scale, y, y_scale, _ = data
    used = blockscale.swizzle_scales(np.ones_like(x_scale)) == 1
    tiles = np.where(used, blockscale.swizzle_scales(x_scale), np.uint8(0xFF))
    text = """
gpu.module @kernels {
  gpu.func @kernel(%x: memref<20x64xf8E5M2> {llvm.align = 4 : i64},
                   %t: memref<1x1x32x16xf8E8M0FNU> {llvm.align = 4 : i64},
                   %y: memref<64x9xf8E4M3FN>, %s: memref<2x9xf8E8M0FNU>,
                   %out: memref<20x9xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zx = arith.constant 0.0 : f8E5M2
    %zy = arith.constant 0.0 : f8E4M3FN
    %one = arith.constant 1.0 : f8E8M0FNU
    %xv = vector.transfer_read %x[%c0, %c0], %zx {in_bounds = [false, true]}
          : memref<20x64xf8E5M2>, vector<32x64xf8E5M2>
    %tv = vector.transfer_read %t[%c0, %c0, %c0, %c0], %one
          {in_bounds = [true, true, true, true]}
          : memref<1x1x32x16xf8E8M0FNU>, vector<1x1x32x16xf8E8M0FNU>
    %xs = blockscale.unswizzle_scales %tv
          : vector<1x1x32x16xf8E8M0FNU> to vector<32x2xf8E8M0FNU>
    %yv = vector.transfer_read %y[%c0, %c0], %zy : memref<64x9xf8E4M3FN>, vector<64x16xf8E4M3FN>
    %ys = vector.transfer_read %s[%c0, %c0], %one : memref<2x9xf8E8M0FNU>, vector<2x16xf8E8M0FNU>
    %acc = arith.constant dense<0.0> : vector<32x16xf32>
    %d = blockscale.mma_scaled %xv, %xs, %yv, %ys, %acc
         : vector<32x64xf8E5M2>, vector<32x2xf8E8M0FNU>, vector<64x16xf8E4M3FN>,
           vector<2x16xf8E8M0FNU>, vector<32x16xf32>
    vector.transfer_write %d, %out[%c0, %c0] : vector<32x16xf32>, memref<20x9xf32>
    gpu.return
  }
}
"""
    expected = blockscale.mma_scaled(*data, **row.types)
    return KernelCase("vector-swizzled", text, [x, tiles, y, y_scale], (m, n), expected)


def wide_kernels():
    """Memory that is known to be aligned: one load for each register and word of scales."""
    combinations = [Combination(*pair, "f8E8M0FNU", 32) for pair in (
        ("f8E4M3FN", "f8E5M2"), ("f8E4M3FN", "f4E2M1FN"), ("f4E2M1FN", "f6E3M2FN"),
        ("f6E2M3FN", "f8E5M2"), ("f4E2M1FN", "f4E2M1FN"))]
    combinations += [Combination("f4E2M1FN", "f4E2M1FN", scale, 16) for scale in ("f8E8M0FNU", "f8E4M3FN")]
    for row in combinations:
        yield vector_kernel(row, y_is_nk=True, k=128, align=4)
        yield vector_kernel(row, y_is_nk=True, m=32, n=16, k=128, is_shared=True)
    yield vector_kernel(combinations[1], y_is_nk=True, m=40, n=36, k=128, align=16)
    yield vector_kernel(combinations[4], y_is_nk=True, m=40, n=36, k=128, align=16)


def all_kernels():
    for row in COMBINATIONS:
        yield vector_kernel(row, y_is_nk=True)
    for pair in (("f8E4M3FN", "f4E2M1FN"), ("f6E2M3FN", "f8E5M2")):
        yield vector_kernel(Combination(*pair, "f8E8M0FNU", 32), y_is_nk=False)
    yield vector_kernel(Combination("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32), y_is_nk=True, m=40, n=36)
    yield vector_kernel(Combination("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16), y_is_nk=True, m=40, n=36)
    yield from wide_kernels()
    # Words along K for x only, for elements only, and for packed fp4 beside fp8 only.
    mixed = Combination("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32)
    yield vector_kernel(mixed, y_is_nk=False, m=24, n=12, k=128, align=4)
    yield vector_kernel(mixed, y_is_nk=True, m=24, n=12, k=96, align=4)
    yield vector_kernel(Combination("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16), y_is_nk=True, align=4)
    yield vector_kernel(mixed, y_is_nk=True, k=128, align=2)
    # Rows that fill no tile of the instruction.
    yield vector_kernel(mixed, y_is_nk=True, k=128, is_shared=True)
    yield swizzled_kernel()
