"""Kernels of the path tcgen05: who brings operands, where tiles end, and what schedules divide.

Each value of a factor meets each value of every other one over the cases (`pairs`); sizes are
those around tiles, words of scales and instructions.
"""

from itertools import product

import numpy as np
from gpu_cases import FP6, MIXED, MXFP4, MXFP4_16, NVFP4, Case, Expectation
from harness import Row, exact
from layout_cases import add_layout

E4M3 = Row("f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32)
ROWS_OF_FACTORS = [E4M3, MIXED, FP6, MXFP4, MXFP4_16, NVFP4]
M = (1, 17, 128, 200, 300)
N = (1, 8, 24, 64, 96, 128, 136, 192, 256, 320)
# In blocks: less than an instruction, several words of scales, several stages and a tail.
BLOCKS = (1, 3, 4, 16, 35)
# Scales 32x4x4 (their padding is 0xFF), x as K x M, y as N x K, a batch.
LAYOUTS = list(product((False, True), repeat=4))


def pairs(factors, seed):
    """Choices, one of each factor, in which each pair of values of two factors occurs."""
    rng = np.random.default_rng(seed)
    missing = {
        (i, a, j, b)
        for i, first in enumerate(factors) for j, second in enumerate(factors) if i < j
        for a in range(len(first)) for b in range(len(second))
    }
    while missing:
        best, most = None, -1
        for _ in range(40):
            choice = [int(rng.integers(len(values))) for values in factors]
            i, a, j, b = min(missing)
            choice[i], choice[j] = a, b
            new = sum(
                (i, choice[i], j, choice[j]) in missing
                for i in range(len(factors)) for j in range(i + 1, len(factors))
            )
            if new > most:
                best, most = choice, new
        missing -= {
            (i, best[i], j, best[j]) for i in range(len(best)) for j in range(i + 1, len(best))
        }
        yield [values[index] for values, index in zip(factors, best)]


def even(size, element):
    """fp4 is packed along M and N, too."""
    return size + size % 2 if element == "f4E2M1FN" else size


def factors():
    """Several problems of one row to a case."""
    chosen = {row: [] for row in ROWS_OF_FACTORS}
    for row, m, n, blocks, layout in pairs([ROWS_OF_FACTORS, M, N, BLOCKS, LAYOUTS], seed=1):
        _, x_is_km, y_is_nk, has_batch = layout
        m = even(m, row.x) if x_is_km else m
        n = n if y_is_nk else even(n, row.y)
        # Half a block of K for fp4 that is packed along it.
        k = blocks * row.block
        batch = (2,) if has_batch and m * n < 20000 else ()
        chosen[row].append((m, n, k, layout, batch))
    for row, problems in chosen.items():
        for first in range(0, len(problems), 8):
            yield case(f"{row}-factors-{first // 8}", row, problems[first:first + 8])


def case(name, row, problems, flags=()):
    from harness import Program

    program, expectations = Program(), []
    for number, (m, n, k, layout, batch) in enumerate(problems):
        data = exact(row, m, n, k, 50 + number, "fine", x_batch=batch, y_batch=batch)
        *order, _ = layout
        program.result(add_layout(program, row, data, *order))
        expectations.append(Expectation(row, data, True))
    return Case(name, program, expectations, flags)


# N of the instruction, and of the result; both numbers of accumulators, persistent or not.
SCHEDULED = [(8, 8), (16, 9), (24, 24), (64, 200), (96, 96), (128, 300), (136, 130), (192, 400), (256, 520)]


def schedules():
    """Each N of an instruction, with what columns and shared memory leave room for."""
    for number, (tile, n) in enumerate(SCHEDULED):
        for row in (E4M3, NVFP4):
            tile_k = 256 if row is NVFP4 else 128
            accumulators, persistent = 1 + number % 2, (number // 2 + (row is NVFP4)) % 2
            schedule = f"tile=128x{tile}x{tile_k},stages={2 + number % 2},accumulators={accumulators},persistent={persistent}"
            name = f"{row}-ring-{tile}-{accumulators}-{persistent}"
            problems = [
                (200, n + n % 2, 5 * tile_k // 2, (True, False, True, False), ()),
                (130, n + n % 2, tile_k, (True, False, row is NVFP4, False), ()),
            ]
            yield case(name, row, problems, (f"--schedule={schedule}",))
