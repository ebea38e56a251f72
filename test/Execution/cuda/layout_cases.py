"""The product of what kernels for sm_120 have to take: every row of the table, by how operands and
scales are stored, by whether the tile divides the sizes, by batch; and kernels with other schedules.
"""

from itertools import product

import blockscale
import numpy as np
from gpu_cases import FP6, MIXED, MXFP4, NVFP4, Case, Expectation, swapped, tiles_with_padding
from harness import COMBINATIONS, Combination, Program, exact

# name: M, N and blocks of K. N is even, for fp4 that is packed along it.
SIZES = {"aligned": (64, 128, {16: 16, 32: 8}), "ragged": (37, 70, {16: 17, 32: 9})}
# Scales 32x4x4, x as K x M, y as N x K, a batch.
LAYOUTS = list(product((False, True), repeat=4))

E4M3 = Combination("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32)
E5M2_FP6 = Combination("f8E5M2", "f6E2M3FN", "f8E8M0FNU", 32)
# Schedules that users may ask for: other tiles, warps and stages than are chosen.
SCHEDULES = [
    (E4M3, "tile=128x128x128,warps=2x2,stages=3", (256, 256, 384)),
    (MXFP4, "tile=128x128x256,warps=2x2,stages=2", (128, 256, 1024)),
    (NVFP4, "tile=128x128x256,warps=2x2,stages=2", (256, 128, 512)),
    (MIXED, "tile=128x128x128,warps=2x2,stages=3", (128, 128, 640)),
    (FP6, "tile=128x128x128,warps=2x2,stages=2", (256, 128, 256)),
    (E4M3, "tile=256x64x128,warps=4x1,stages=2", (300, 70, 288)),
    (NVFP4, "tile=64x256x128,warps=1x4,stages=4", (70, 300, 544)),
    (MXFP4, "tile=16x32x512,warps=1x4,stages=3", (50, 40, 1120)),
    (MIXED, "tile=32x64x256,warps=1x1,stages=1", (33, 66, 544)),
    (E5M2_FP6, "tile=64x96x128,warps=4x3,stages=4", (130, 98, 96)),
    (E4M3, "tile=128x256x128,warps=2x4,stages=1", (140, 260, 160)),
    (NVFP4, "tile=128x64x256,warps=1x2,stages=3", (256, 128, 1024)),
    # Words of fp4 along M and N, in all numbers of them that a tile may have.
    (NVFP4, "tile=16x24x128,warps=1x3,stages=2", (40, 56, 352)),
    (MXFP4, "tile=96x32x128,warps=3x1,stages=2", (104, 40, 416)),
]


def stored(program, array, element, is_transposed):
    """An argument in this order, as a value in the order of the op."""
    if not is_transposed:
        return program.arg(array, element)
    return program.transpose(program.arg(swapped(array), element))


def stored_scales(program, scale, element, is_swizzled, is_transposed):
    """Scales with rows first; 32x4x4 or row-major."""
    if not is_swizzled:
        return stored(program, scale, element, is_transposed)
    tiles = program.arg(tiles_with_padding(scale), element)
    return program.unswizzle(tiles, scale.shape)


def add_layout(program, row, data, is_swizzled, x_is_km, y_is_nk):
    x, x_scale, y, y_scale, acc = data
    x = stored(program, x, row.x, x_is_km)
    x_scale = stored_scales(program, x_scale, row.scale, is_swizzled, x_is_km)
    y = stored(program, y, row.y, y_is_nk)
    y_scale = program.transpose(
        stored_scales(program, swapped(y_scale), row.scale, is_swizzled, not y_is_nk)
    )
    return program.mma(x, x_scale, y, y_scale, program.arg(acc, "f32"))


def add_exact(program, expectations, row, sizes, layout):
    *order, has_batch = layout
    batch = (2,) if has_batch else ()
    m, n, k = sizes
    # fp4 is packed along the last dimension of the argument: x as K x M needs an even M.
    if row.x == "f4E2M1FN" and order[1]:
        m += m % 2
    data = exact(row, m, n, k, len(expectations), "fine", x_batch=batch, y_batch=batch)
    program.result(add_layout(program, row, data, *order))
    expectations.append(Expectation(row, data, True))


def layouts(row, name, chosen=LAYOUTS):
    m, n, blocks = SIZES[name]
    program, expectations = Program(), []
    for layout in chosen:
        add_exact(program, expectations, row, (m, n, blocks[row.block] * row.block), layout)
    return Case(f"{row}-layouts-{name}", program, expectations)


def schedules():
    """Each schedule, with scales in both layouts."""
    for number, (row, schedule, sizes) in enumerate(SCHEDULES):
        program, expectations = Program(), []
        for layout in ((True, False, True, False), (False, True, False, False)):
            add_exact(program, expectations, row, sizes, layout)
        name = f"schedule-{number}-" + schedule.replace(",", "-").replace("=", "")
        yield Case(name, program, expectations, (f"--schedule={schedule}",))


def splat_scales():
    """No padding of scales hides what is beyond K; fp4 goes through registers, along M and N."""
    x, _, y, _, acc = exact(MXFP4, 40, 24, 160, seed=31)
    program = Program()
    scales = [program.constant(1, shape, MXFP4.scale) for shape in ((40, 5), (5, 24))]
    program.result(
        program.mma(
            stored(program, x, MXFP4.x, True), scales[0], program.arg(y, MXFP4.y), scales[1],
            program.arg(acc, "f32"),
        )
    )
    ones = [blockscale.encode(np.ones(scale.shape), MXFP4.scale) for scale in scales]
    expectation = Expectation(MXFP4, [x, ones[0], y, ones[1], acc], True)
    return Case("layouts-splat-scales", program, [expectation])


def all_layouts():
    yield splat_scales()
    for row in COMBINATIONS:
        for name in SIZES:
            yield layouts(row, name)
