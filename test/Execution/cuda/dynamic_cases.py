"""Kernels whose sizes are parameters: one program for all of them, run with several.

A case is one text; its variants bring other data of other sizes, for which nothing is compiled.
"""

import blockscale
import numpy as np
from fusion_cases import Made, halves
from gpu_cases import (
    FP6, MIXED, MXFP4, NVFP4, Case, Expectation, Same, swapped, tiles_with_padding,
)
from harness import COMBINATIONS, Program, exact

# Tiles of the kernels that all combinations run with; small, so that several fit into small sizes.
M, N, K = 32, 64, 256
SCHEDULE = f"--schedule=tile={M}x{N}x{K},warps=2x2,stages=3"
# M, N and K. N is even, for fp4 that is packed along it, and so is M where x is K x M. Each tile
# divides all sizes, none, all but one; the least there is; fewer steps than stages.
SIZES = [(2 * M, 2 * N, 4 * K), (38, 70, 288), (2 * M, N, K + 32), (M + 2, N, K), (M, N + 2, 2 * K),
         (2, 2, 32)]
# Scales 32x4x4, x as K x M, y as N x K, a batch; the sizes that are dynamic.
LAYOUTS = [
    (False, False, False, False, "mnk"),
    (True, False, True, False, "mnk"),
    (True, True, True, True, "bmnk"),
    (False, True, False, True, "bmnk"),
]
# One size each, as of models whose weights are static.
PARTS = [
    (True, False, True, False, "m"), (False, False, True, False, "n"),
    (True, False, False, False, "k"), (False, False, True, True, "b"),
]


class Sizes:
    """Arguments of dynamic sizes, and values for these sizes."""

    def __init__(self, program, row, dynamic, packed=False):
        self.program, self.row, self.dynamic, self.packed = program, row, dynamic, packed
        # Letter: name of an index value, of the latest argument that has it. (x and its scales
        # have one batch, y and its scales another.)
        self.known = {}

    def shape(self, array, letters):
        """`letters` names the last dimensions, with "s" for K_s and "." for others."""
        letters = "b" * (array.ndim - len(letters)) + letters
        return letters, [None if self.is_dynamic(c) else n for c, n in zip(letters, array.shape)]

    def arg(self, array, element, letters):
        letters, shape = self.shape(array, letters)
        value = self.program.arg(array, element, shape, packed=self.packed and "f6" in element)
        for dim, letter in enumerate(letters):
            if shape[dim] is None and letter in "bmnk":
                self.known[letter] = self.program.dim(value, dim)
        return value

    def is_dynamic(self, letter):
        return letter.replace("s", "k") in self.dynamic

    def get(self, letter):
        """The name of a size that an argument has had."""
        if letter != "s":
            return self.known[letter]
        block = self.program.index(self.row.block)
        return self.program.op(f"arith.divui {self.known['k']}, {block} : index").name

    def operand(self, array, element, letters, is_transposed):
        """A matrix in the order of `letters`, stored as it is or transposed."""
        if not is_transposed:
            return self.arg(array, element, letters)
        return self.program.transpose(self.arg(swapped(array), element, letters[::-1]))

    def scales(self, array, letters, is_swizzled, is_transposed):
        """Scales with rows first."""
        if not is_swizzled:
            return self.operand(array, self.row.scale, letters, is_transposed)
        tiles = tiles_with_padding(array)
        _, tiles_shape = self.shape(tiles, letters + "..")
        tiles = self.program.arg(tiles, self.row.scale, tiles_shape)
        letters, shape = self.shape(array, letters)
        sizes = [self.get(c) for c in letters if self.is_dynamic(c)]
        return self.program.unswizzle(tiles, shape, sizes)


def add_problem(program, row, data, layout, packed=False):
    is_swizzled, x_is_km, y_is_nk, _, dynamic = layout
    x, x_scale, y, y_scale, acc = data
    sizes = Sizes(program, row, dynamic, packed)
    x = sizes.operand(x, row.x, "mk", x_is_km)
    x_scale = sizes.scales(x_scale, "ms", is_swizzled, x_is_km)
    y = sizes.operand(y, row.y, "kn", y_is_nk)
    y_scale = program.transpose(
        sizes.scales(swapped(y_scale), "ns", is_swizzled, not y_is_nk)
    )
    acc = sizes.arg(acc, "f32", "mn")
    return program.mma(x, x_scale, y, y_scale, acc, block_size=row.block)


def problems(row, m, n, k, layouts):
    """A program with all layouts, and what must come out."""
    program, expectations = Program(), []
    for number, layout in enumerate(layouts):
        # A batch of 1 is broadcast, and the kernel does not know which one it is.
        batches = ((), ())
        if layout[3]:
            batches = ((3,), (1,)) if number % 2 == 0 or layout[4] == "b" else ((2,), (2,))
        data = exact(row, m, n, k, number, "fine", x_batch=batches[0], y_batch=batches[1])
        program.result(add_problem(program, row, data, layout))
        expectations.append(Expectation(row, data, True))
    return program, expectations


def family(name, row, sizes, layouts, flags=()):
    """One kernel for all sizes: the programs differ in nothing but their data."""
    variants = [problems(row, *one, layouts) for one in sizes]
    assert len({program.text() for program, _ in variants}) == 1
    (program, expectations), *others = variants
    return Case(name, program, expectations, flags, tuple(others))


def fused_problem(row, m, n, k):
    """A bias along N and relu after the product, and truncation to f16, in its kernel."""
    data = exact(row, m, n, k, 5)
    bias = halves(np.random.default_rng([m, n]), (n,))
    program = Program()
    product = add_problem(program, row, data, (False, False, True, False, "mnk"))
    bias_value = program.arg(bias, "f32", [None])
    sizes = ", ".join(program.dim(product, dim) for dim in (0, 1))
    init = program.op(f"tensor.empty({sizes}) : tensor<?x?xf16>", product.shape, "f16")
    program.result(program.op(
        f"""linalg.generic {{indexing_maps = [
          affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}}
        ins({product.name}, {bias_value.name} : {product.type}, {bias_value.type})
        outs({init.name} : {init.type}) {{
        ^bb0(%p: f32, %b: f32, %o: f16):
          %zero = arith.constant 0.0 : f32
          %sum = arith.addf %p, %b : f32
          %relu = arith.maximumf %sum, %zero : f32
          %half = arith.truncf %relu : f32 to f16
          linalg.yield %half : f16
        }} -> {init.type}""", init.shape, "f16",
    ))

    def make(product):
        return np.float16(np.maximum(product + bias, 0))

    return program, [Made(row, data, make)]


def fused(row):
    sizes = [(2 * M, 2 * N, 2 * K), (45, 46, 160)]
    (program, expectations), *others = (fused_problem(row, *one) for one in sizes)
    return Case(f"{row}-dynamic-fused", program, expectations, (SCHEDULE,), tuple(others))


def packed_problem(m, n, k):
    """fp6 as a bit stream: x along K, y along N."""
    data = exact(FP6, m, n, k, 7, "fine")
    program = Program()
    layout = (False, False, False, False, "mnk")
    program.result(add_problem(program, FP6, data, layout, packed=True))
    return program, [Expectation(FP6, data, True)]


def packed():
    sizes = [(2 * M, N, 2 * K), (33, N + 4, 96)]
    (program, expectations), *others = (packed_problem(*one) for one in sizes)
    return Case("packed-fp6-dynamic", program, expectations, (SCHEDULE,), tuple(others))


def swizzle_problem(*shape):
    """A swizzle that no mma_scaled absorbs."""
    scales = np.random.default_rng(shape).integers(0, 256, shape, np.uint8)
    program = Program()
    value = program.arg(scales, "f8E8M0FNU", [None] * len(shape))
    program.result(program.swizzle(value))
    return program, [Same(blockscale.swizzle_scales(scales))]


def swizzle(*shapes):
    (program, expectations), *others = (swizzle_problem(*shape) for shape in shapes)
    name = f"dynamic-swizzle-{len(shapes[0])}"
    return Case(name, program, expectations, variants=tuple(others))


def all_dynamic():
    yield packed()
    yield swizzle((150, 9), (128, 64), (1, 1))
    yield swizzle((2, 130, 33), (1, 256, 8))
    for row in COMBINATIONS:
        yield family(f"{row}-dynamic", row, SIZES, LAYOUTS, (SCHEDULE,))
    for row in (MIXED, FP6, MXFP4, NVFP4):
        # The schedule that is chosen.
        sizes = [(128, 128, 512), (130, 200, 352), (1, 6, 96)]
        yield family(f"{row}-dynamic-chosen", row, sizes, LAYOUTS[1:2])
        yield fused(row)
        for layout in PARTS:
            m, n, k = (64, 128, 512) if layout[4] != "n" else (38, 128, 512)
            grow = {letter: 32 * (letter in layout[4]) for letter in "mnk"}
            sizes = [(m, n, k), (m + grow["m"] // 4, n + grow["n"] // 4, k + grow["k"])]
            yield family(f"{row}-dynamic-{layout[4]}", row, sizes, [layout], (SCHEDULE,))
