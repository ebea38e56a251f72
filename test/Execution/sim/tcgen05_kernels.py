"""Kernels of the instruction level of tcgen05, as somebody else might write them.

A block of 128 threads computes one tile: plain loads and stores bring operands to shared memory, with
the swizzle, and atoms of scales as they are; one thread copies scales, multiplies and commits; each
warp loads its rows of the sums. The order is that of PTX ISA, tcgen05, "Memory consistency model".
"""

import math
from dataclasses import dataclass

import blockscale
import numpy as np
from harness import Combination, exact

LANES = THREADS = 128
ATOM = 512
WORKGROUP = "#gpu.address_space<workgroup>"
SHORT = {
    "f8E4M3FN": "e4m3", "f8E5M2": "e5m2", "f6E3M2FN": "e3m2", "f6E2M3FN": "e2m3", "f4E2M1FN": "e2m1",
    "f8E8M0FNU": "ue8m0",
}


@dataclass(frozen=True)
class Tile:
    """One kernel. Swizzle rows have `row_bytes` bytes; what is `mn` is contiguous along M or N."""

    name: str
    row: Combination
    kind: str
    n: int
    k: int
    row_bytes: int = 128
    a_major: str = "k"
    b_major: str = "k"
    a_in_tensor: bool = False  # A is stored to tensor memory from registers
    accumulates: bool = False  # C is stored to tensor memory first
    in_loop: bool = False  # steps along K in a loop, 128 bytes at a time

    @property
    def is_packed(self):
        return self.kind != "mxf8f6f4"

    @property
    def step(self):
        """K of an instruction."""
        return 64 if self.is_packed else 32

    @property
    def steps(self):
        return self.k // self.step

    @property
    def factors(self):
        """Scales along K of an instruction."""
        return self.step // self.row.block

    @property
    def words(self):
        return -(-self.k // self.row.block // 4)

    @property
    def b_rows(self):
        """Rows of scales of B."""
        return 128 if self.n <= 128 else 256

    @property
    def columns(self):
        """Elements of the accumulator that a thread loads or stores at a time."""
        return math.gcd(self.n, 32)

    @property
    def instruction(self):
        scale = "ue4m3" if self.row.scale == "f8E4M3FN" else "ue8m0"
        types = f"{SHORT[self.row.x]}, {SHORT[self.row.y]}, {scale}, {self.factors}"
        return f"<tcgen05, 128x{self.n}x{self.step}, {self.kind}, {types}>"

    def storage(self, element):
        """What rows of shared memory hold of elements."""
        return "slots" if self.is_packed or "f8" in element else "padded"

    def layout(self, element, major):
        swizzle = ", swizzled" if self.row_bytes > 16 else ""
        return f"<{major}, {self.storage(element)}{swizzle}>"


def data(tile):
    """Operands as mma_scaled has them; C is zero where the kernel does not read it."""
    return exact(tile.row, LANES, tile.n, tile.k, seed=5, zero_acc=not tile.accumulates)


def rows_of(tile, codes, element, major):
    """Codes (rows, k) as the bytes of swizzle rows, side by side: (rows, bytes), or (k, bytes) where rows are
    contiguous."""
    codes = codes.T if major == "mn" else codes
    if tile.is_packed:
        return blockscale.pack(codes, element)
    if tile.storage(element) == "padded":
        chunks = blockscale.pack(codes.reshape(len(codes), -1, 16), element)
        padding = np.full((*chunks.shape[:2], 16 - chunks.shape[2]), 0xAA, np.uint8)
        return np.concatenate([chunks, padding], axis=2).reshape(len(codes), -1)
    return np.ascontiguousarray(codes)


def atoms_of(tile, scales):
    """Scales (rows, blocks) as atoms in the order (word, group of 128 rows); padding is 0xFF."""
    rows, blocks = scales.shape
    padded = np.full((-(-rows // 128) * 128, tile.words * 4), 0xFF, np.uint8)
    padded[:rows, :blocks] = scales
    return swizzled(padded)


def swizzled(scales):
    return np.ascontiguousarray(blockscale.swizzle_scales(scales).swapaxes(0, 1)).reshape(-1)


def arguments(tile, operands):
    """The buffers of the kernel, without that of the result."""
    x, x_scale, y, y_scale, acc = operands
    return [
        rows_of(tile, x, tile.row.x, tile.a_major), rows_of(tile, y.T, tile.row.y, tile.b_major),
        atoms_of(tile, x_scale), atoms_of(tile, np.ascontiguousarray(y_scale.T)), acc,
    ]


def expected(tile, operands):
    return blockscale.mma_scaled(*operands, **tile.row.types).astype(np.float32)


class Text:
    """The text of a kernel. Views of shared memory are taken from the front of it."""

    def __init__(self, tile, buffers):
        self.tile, self.buffers = tile, buffers
        self.lines, self.constants, self.used = [], {}, 0

    def add(self, *lines):
        self.lines += lines

    def index(self, number):
        self.constants[f"%c{number}"] = number
        return f"%c{number}"

    def view(self, name, shape, element, size):
        kind = f"memref<{shape}x{element}, {WORKGROUP}>"
        self.add(
            f"%{name} = memref.view %shared[{self.index(self.used)}][] "
            f": memref<?xi8, {WORKGROUP}> to {kind}"
        )
        self.used += -(-size // 1024) * 1024
        return kind

    def copy_rows(self, name, buffer):
        """Each thread copies pieces of 16 bytes to where they are swizzled. The view's type."""
        row_bytes, (rows, size) = self.tile.row_bytes, buffer.shape
        kind = self.view(name, f"{size // row_bytes}x{rows}x{row_bytes}", "i8", buffer.size)
        chunks, of_row = size // 16, row_bytes // 16
        period = max(1, 128 // row_bytes)  # rows that are swizzled alike
        piece = "vector<16xi8>"
        self.add(
            f"scf.for %i = %tid to {self.index(rows * chunks)} step {self.index(THREADS)} {{",
            f"  %row = arith.divui %i, {self.index(chunks)} : index",
            f"  %chunk = arith.remui %i, {self.index(chunks)} : index",
            f"  %byte = arith.muli %chunk, {self.index(16)} : index",
            f"  %v = vector.load %{name}_global[%row, %byte] : memref<{rows}x{size}xi8>, {piece}",
            f"  %column = arith.divui %chunk, {self.index(of_row)} : index",
            f"  %in_row = arith.remui %chunk, {self.index(of_row)} : index",
            f"  %period = arith.divui %row, {self.index(period)} : index",
            f"  %turn = arith.remui %period, {self.index(of_row)} : index",
            "  %turned = arith.xori %in_row, %turn : index",
            f"  %to = arith.muli %turned, {self.index(16)} : index",
            f"  vector.store %v, %{name}[%column, %row, %to] : {kind}, {piece}",
            "}",
        )
        return kind

    def copy_atoms(self, name, buffer):
        kind = self.view(name, str(buffer.size), "i8", buffer.size)
        self.add(
            f"scf.for %i = %tid to {self.index(buffer.size // 16)} step {self.index(THREADS)} {{",
            f"  %byte = arith.muli %i, {self.index(16)} : index",
            f"  %v = vector.load %{name}_global[%byte] : memref<{buffer.size}xi8>, vector<16xi8>",
            f"  vector.store %v, %{name}[%byte] : {kind}, vector<16xi8>",
            "}",
        )
        return kind


def barrier():
    return ["blockscale.tcgen05_fence before", "gpu.barrier", "blockscale.tcgen05_fence after"]


def one_thread(*lines):
    return ["scf.if %is_first {", *(f"  {line}" for line in lines), "}"]


def one_warp(*lines):
    return ["scf.if %is_warp {", *(f"  {line}" for line in lines), "}"]


def prologue(text, barriers, slot):
    """Allocates tensor memory and makes the mbarrier, in the order in which others see both."""
    columns = "{columns = 512 : i64}"
    text.add(
        "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}",
        *one_warp(f"blockscale.tmem_alloc %slot {columns} : {slot}", "blockscale.tmem_relinquish"),
        f"%at = memref.extract_aligned_pointer_as_index %barriers : {barriers} -> index",
        f"%address = arith.addi %at, {text.index(8)} : index",
        "%number = arith.index_cast %address : index to i64",
        "%barrier = llvm.inttoptr %number : i64 to !llvm.ptr<3>",
        "%one = arith.constant 1 : i32",
        *one_thread("nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32", "nvvm.fence.mbarrier.init"),
        *barrier(),
        f"%t = blockscale.tmem_base %slot : {slot} -> !blockscale.tmem<512>",
    )


def store_rows(text, name, region, width, element, buffer_type):
    """Each thread stores a row of %NAME_global to its lane of %NAME_tmem."""
    count = math.gcd(width, 32)
    piece = f"vector<{count}x{element}>"
    for first in range(0, width, count):
        where = text.index(first)
        text.add(
            f"%{name}_{first} = vector.load %{name}_global[%tid, {where}] : {buffer_type}, {piece}",
            f"blockscale.tmem_store %{name}_{first}, %{name}_tmem[{where}] : {piece}, {region}",
        )


def offset(tile, rows, major, step):
    """Where a step along K of an operand of so many rows (M, N) starts."""
    if major == "mn":
        return step * 32 * tile.row_bytes
    column, byte = divmod(step * 32, tile.row_bytes)
    return column * rows * tile.row_bytes + byte


def multiply(text, types, step, at="", scales=("%sa", "%sb"), number=None):
    """Lines of one instruction. `at`: what is added to offsets, by operand. `number`: that of its first
    block in the regions of scales."""
    tile = text.tile
    number = step * tile.factors if number is None else number
    lines = []
    operands = [("a", LANES, tile.a_major, tile.row.x), ("b", tile.n, tile.b_major, tile.row.y)]
    for name, rows, major, element in operands:
        if name == "a" and tile.a_in_tensor:
            lines.append(
                f"%a{step} = blockscale.tmem_operand %t[{text.index(A_COLUMN + 8 * step)}] "
                ": !blockscale.tmem<512> -> !blockscale.tmem_a<128x8>"
            )
            continue
        where = text.index(offset(tile, rows, major, step))
        if at:
            lines.append(f"%{name}_at{step} = arith.addi %{name}{at}, {where} : index")
            where = f"%{name}_at{step}"
        lines.append(
            f"%{name}{step} = blockscale.matrix_descriptor %{name}[{where}] "
            f"layout = {tile.layout(element, major)} : {types[name]}"
        )
    accumulate = "%first" if step == 0 else "%true"
    transposes = [f"transpose_{n}" for n, _, major, _ in operands if major == "mn"]
    attributes = f" {{{', '.join(transposes)}}}" if transposes else ""
    a_type = "!blockscale.tmem_a<128x8>" if tile.a_in_tensor else "i64"
    lines.append(
        f"blockscale.tcgen05_mma {tile.instruction} %acc, %a{step}, %b{step}, {scales[0]}[{number}], "
        f"{scales[1]}[{number}], {accumulate}{attributes} : {types['acc']}, {a_type}, "
        f"{types['sa']}, {types['sb']}"
    )
    return lines


A_COLUMN, SA_COLUMN, SB_COLUMN = 256, 352, 384


def copies(text, types):
    """Lines that copy all atoms."""
    lines = []
    for name, rows in (("a_scale", 128), ("b_scale", text.tile.b_rows)):
        region = "%sa" if name == "a_scale" else "%sb"
        for i in range(text.tile.words * rows // 128):
            word, atom = divmod(i, rows // 128)
            lines.append(
                f"blockscale.copy_scales %{name}[{text.index(i * ATOM)}], {region} "
                f"{{row_atom = {atom} : i64, word = {word} : i64}} : {types[name]}, {types[region[1:]]}"
            )
    return lines


def loop_body(text, types):
    """Steps in a loop; scales of one word are found by the column of the loop."""
    tile = text.tile
    word = {"sa": "!blockscale.tmem_scales<128x4>", "sb": f"!blockscale.tmem_scales<{tile.b_rows}x4>"}
    inner = 128 // 32
    lines = [
        # What the code generator does not know.
        "%threads = gpu.block_dim x",
        f"%groups = arith.divui %threads, {text.index(THREADS)} : index",
        f"%tiles = arith.muli %groups, {text.index(tile.steps // inner)} : index",
        f"scf.for %kt = {text.index(0)} to %tiles step {text.index(1)} {{",
        f"  %first = arith.cmpi ne, %kt, {text.index(0)} : index",
    ]
    for name, rows in (("a", LANES), ("b", tile.n)):
        lines.append(f"  %{name}_tile = arith.muli %kt, {text.index(rows * 128)} : index")
    for name, base, width in (("sa", SA_COLUMN, 4), ("sb", SB_COLUMN, tile.b_rows // 32)):
        lines += [
            f"  %{name}_further = arith.muli %kt, {text.index(width)} : index",
            f"  %{name}_column = arith.addi %{name}_further, {text.index(base)} : index",
            f"  %{name}_word = blockscale.tmem_scales %t[%{name}_column] "
            f": !blockscale.tmem<512> -> {word[name]}",
        ]
    for step in range(inner):
        lines += [
            f"  {line}" for line in multiply(
                text, {**types, **word}, step, "_tile", ("%sa_word", "%sb_word"), step * tile.factors % 4
            )
        ]
    return [*lines, "}"]


def body(text, types):
    """What one thread issues."""
    tile = text.tile
    lines = copies(text, types)
    if tile.in_loop:
        lines += loop_body(text, types)
    else:
        lines.append(f"%first = arith.constant {'true' if tile.accumulates else 'false'}")
        for step in range(tile.steps):
            lines += multiply(text, types, step)
    return [*lines, f"blockscale.tcgen05_commit %barriers[{text.index(1)}] : {types['barriers']}"]


def epilogue(text, types):
    columns = text.tile.columns
    piece = f"vector<{columns}xf32>"
    text.add(
        "%phase = arith.constant 0 : i32",
        "%ticks = arith.constant 1000000 : i32",
        "nvvm.mbarrier.try_wait.parity %barrier, %phase, %ticks : !llvm.ptr<3>, i32, i32",
        "blockscale.tcgen05_fence after",
        f"scf.for %c = {text.index(0)} to {text.index(text.tile.n)} step {text.index(columns)} {{",
        f"  %v = blockscale.tmem_load %acc[%c] : {types['acc']} -> {piece}",
        "  blockscale.tmem_wait load",
        f"  vector.store %v, %out[%tid, %c] : memref<128x{text.tile.n}xf32>, {piece}",
        "}",
        *barrier(),
        *one_warp("blockscale.tmem_dealloc %t : !blockscale.tmem<512>"),
    )


def kernel(tile, buffers):
    """(MLIR, bytes of dynamic shared memory)."""
    text = Text(tile, buffers)
    a, b, a_scale, b_scale, _ = buffers
    types = {"acc": f"!blockscale.tmem_acc<128x{tile.n}>"}
    for name, rows in (("sa", 128), ("sb", tile.b_rows)):
        types[name] = f"!blockscale.tmem_scales<{rows}x{4 * tile.words}>"
    text.add(f"%shared = gpu.dynamic_shared_memory : memref<?xi8, {WORKGROUP}>")
    # The first one does not begin where shared memory does.
    text.used = 1024
    if not tile.a_in_tensor:
        types["a"] = text.copy_rows("a", a)
    types["b"] = text.copy_rows("b", b)
    types["a_scale"] = text.copy_atoms("a_scale", a_scale)
    types["b_scale"] = text.copy_atoms("b_scale", b_scale)
    types["barriers"] = text.view("barriers", "2", "i64", 16)
    slot = text.view("slot", "1", "i32", 4)
    prologue(text, types["barriers"], slot)
    regions = [("acc", 0, "acc"), ("sa", SA_COLUMN, "scales"), ("sb", SB_COLUMN, "scales")]
    for name, column, op in regions:
        text.add(
            f"%{name} = blockscale.tmem_{op} %t[{text.index(column)}] "
            f": !blockscale.tmem<512> -> {types[name]}"
        )
    if tile.a_in_tensor:
        words = tile.steps * 8
        region = f"!blockscale.tmem_a<128x{words}>"
        text.add(
            f"%a_tmem = blockscale.tmem_operand %t[{text.index(A_COLUMN)}] "
            f": !blockscale.tmem<512> -> {region}"
        )
        store_rows(text, "a", region, words, "i32", f"memref<128x{words}xi32>")
    if tile.accumulates:
        text.add("%c_tmem = blockscale.tmem_acc %t[%c0] : !blockscale.tmem<512> -> " + types["acc"])
        store_rows(text, "c", types["acc"], tile.n, "f32", f"memref<128x{tile.n}xf32>")
    if tile.a_in_tensor or tile.accumulates:
        text.add("blockscale.tmem_wait store", *barrier())
    text.add("%true = arith.constant true", *one_thread(*body(text, types)))
    epilogue(text, types)
    return assemble(text, buffers), text.used


def assemble(text, buffers):
    """The whole module."""
    a, b, a_scale, b_scale, _ = buffers
    a_type = f"memref<128x{a.shape[1] // 4}xi32>" if text.tile.a_in_tensor else \
        f"memref<{a.shape[0]}x{a.shape[1]}xi8>"
    parameters = [
        f"%a_global: {a_type}", f"%b_global: memref<{b.shape[0]}x{b.shape[1]}xi8>",
        f"%a_scale_global: memref<{a_scale.size}xi8>", f"%b_scale_global: memref<{b_scale.size}xi8>",
        f"%c_global: memref<128x{text.tile.n}xf32>", f"%out: memref<128x{text.tile.n}xf32>",
    ]
    threads = [
        "%tid = gpu.thread_id x",
        f"%is_first = arith.cmpi eq, %tid, {text.index(0)} : index",
        f"%is_warp = arith.cmpi ult, %tid, {text.index(32)} : index",
    ]
    constants = [f"{name} = arith.constant {number} : index" for name, number in text.constants.items()]
    return "\n".join([
        "gpu.module @kernels {",
        f"  gpu.func @kernel({', '.join(parameters)}) kernel {{",
        *(f"    {line}" for line in [*constants, *threads, *text.lines]),
        "    gpu.return", "  }", "}", "",
    ])
