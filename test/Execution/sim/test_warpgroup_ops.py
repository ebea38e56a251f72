"""Kernels with warpgroup_mma, as somebody else might write them, in the simulator: each layout of tiles."""

import subprocess
from typing import NamedTuple

import gpu_bundle
import matmul_cases
import numpy as np
import pytest
from harness import assert_bit_equal
from simulated import SIMULATOR


class Tile(NamedTuple):
    """Swizzle rows have `a_row` and `b_row` bytes along K, or along M or N (`mn`)."""

    groups: int
    n: int
    k: int
    a: str = "k"
    b: str = "k"
    a_row: int = 128
    b_row: int = 128
    element: str = "bf16"

    @property
    def layouts(self):
        of = ((self.a, self.a_row), (self.b, self.b_row))
        return ", ".join(f"<{major}, slots{', swizzled' * (row > 16)}>" for major, row in of)

    @property
    def threads(self):
        return 128 * self.groups

    @property
    def m(self):
        return 64 * self.groups


TILES = [
    Tile(1, 64, 64), Tile(2, 64, 64), Tile(3, 72, 128), Tile(4, 8, 64), Tile(2, 64, 192, "mn", "mn"),
    Tile(2, 64, 32, a_row=64, b_row=32), Tile(2, 24, 64, a_row=32, b_row=64), Tile(1, 40, 48, a_row=32, b_row=32),
    Tile(2, 64, 128, element="f16"), Tile(3, 256, 64, "mn", "k", element="f16"),
    Tile(2, 96, 16, "mn", "mn", 64, 64), Tile(3, 48, 80, "mn", "mn", 32, 32), Tile(2, 16, 64, a_row=16, b_row=16),
    Tile(3, 24, 32, "mn", "mn", 16, 16), Tile(2, 128, 256, "k", "mn", 64, 128),
]


def image(values, element, major, row):
    """The bytes of a tile of rows along K: columns of swizzle rows, whose pieces of 16 bytes are permuted."""
    array = matmul_cases.to_element(values, element)
    if major == "mn":
        array = array.T
    rows, elements = array.shape
    columns = array.reshape(rows, -1, row // 2).transpose(1, 0, 2)
    plain = np.ascontiguousarray(columns).view(np.uint8).reshape(-1)
    at = np.arange(plain.size)
    stored = np.empty_like(plain)
    # Bits 4 and up of an address, and those of the row in a group of 8.
    stored[at ^ ((at >> 7 & (row // 16 - 1)) << 4)] = plain
    shape = [rows, row] if columns.shape[0] == 1 else [columns.shape[0], rows, row]
    if major == "mn" and len(shape) == 2:
        shape = [1, *shape]
    return stored, "x".join(map(str, shape))


def copy(name, size, threads):
    return f"""
    scf.for %i = %tid to %size_{name} step %threads {{
      %byte = memref.load %{name}_in[%i] : memref<{size}xi8>
      memref.store %byte, %{name}_bytes[%i] : memref<{size}xi8, #gpu.address_space<workgroup>>
    }}"""


def kernel(tile, a_shape, b_shape, sizes):
    shared = "#gpu.address_space<workgroup>"
    types = [f"memref<{shape}xi8, {shared}>" for shape in (a_shape, b_shape)]
    acc = f"!blockscale.acc<{tile.m}x{tile.n}, #blockscale.warps<{4 * tile.groups}x1>>"
    views = [
        f"%{name}_bytes = memref.collapse_shape %{name} [[{', '.join(map(str, range(shape.count('x') + 1)))}]] : "
        f"{kind} into memref<{size}xi8, {shared}>"
        for name, shape, kind, size in zip("ab", (a_shape, b_shape), types, sizes)
    ]
    return f"""
gpu.module @kernels {{
  gpu.func @kernel(%a_in: memref<{sizes[0]}xi8>, %b_in: memref<{sizes[1]}xi8>, %d: memref<{tile.m}x{tile.n}xf32>)
      workgroup(%a : {types[0]}, %b : {types[1]}) kernel
      attributes {{known_block_size = array<i32: {tile.threads}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %size_a = arith.constant {sizes[0]} : index
    %size_b = arith.constant {sizes[1]} : index
    %threads = arith.constant {tile.threads} : index
    %tid = gpu.thread_id x
    {views[0]}
    {views[1]}
    {copy("a", sizes[0], tile.threads)}
    {copy("b", sizes[1], tile.threads)}
    nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
    gpu.barrier
    %zero = blockscale.acc_zero : {acc}
    %0 = blockscale.warpgroup_mma %a, %b, %zero
        instruction = <wgmma, 64x{tile.n}x16, unscaled, {tile.element}, {tile.element}, none, 0>
        layouts = {tile.layouts} : {types[0]}, {types[1]}, {acc}
    %1 = blockscale.warpgroup_mma %a, %b, %0
        instruction = <wgmma, 64x{tile.n}x16, unscaled, {tile.element}, {tile.element}, none, 0>
        layouts = {tile.layouts} : {types[0]}, {types[1]}, {acc}
    %2 = blockscale.warpgroup_wait %1 pending = 1 : {acc}
    %sums = blockscale.warpgroup_wait %2 pending = 0 : {acc}
    blockscale.acc_store %sums, %d[%c0, %c0] : {acc}, memref<{tile.m}x{tile.n}xf32>
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: "-".join(map(str, tile)))
def test_tile(tile, tmp_path):
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-90, 61, shape).astype(np.float32) for shape in ((tile.m, tile.k), (tile.n, tile.k)))
    (a_bytes, a_shape), (b_bytes, b_shape) = image(a, tile.element, tile.a, tile.a_row), image(
        b, tile.element, tile.b, tile.b_row
    )
    source, program = tmp_path / "kernel.mlir", tmp_path / "kernel.ptx"
    source.write_text(kernel(tile, a_shape, b_shape, (a_bytes.size, b_bytes.size)))
    gpu_bundle.run([gpu_bundle.COMPILE, source, "--target=sm_90a", "-o", program])
    for name, array in (("a", a_bytes), ("b", b_bytes)):
        np.save(tmp_path / f"{name}.npy", array)
    done = subprocess.run(
        [
            SIMULATOR, program, "--grid=1", f"--block={tile.threads}", "--check=race,proxy,strict",
            f"in:{tmp_path / 'a.npy'}", f"in:{tmp_path / 'b.npy'}", f"out:{tmp_path / 'd.npy'}:f4:{tile.m}x{tile.n}",
        ], capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert_bit_equal(np.load(tmp_path / "d.npy"), 2 * a @ b.T)
