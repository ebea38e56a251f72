"""Kernels of the path tcgen05 for a card without it, `--emulate-on`: all else of them is what it is.

What the software does with an instruction depends on its row, on N, on how A and B lie in shared memory and
on who brings them; what is around instructions, on the schedule. Sums are small: a warp does the work of a
tensor core.
"""

import warp_specialized_cases
from gpu_cases import FP6, Case, Expectation, add_problem
from harness import COMBINATIONS, Program, exact
from warp_specialized_cases import E4M3, case, make_problem, tile_k

# Scales 32x4x4, x as K x M, y as N x K, a batch.
BY_MAPS = (True, False, True, False)
# The same with both operands along M and N: by TMA if elements have 8 bits, else by warps.
ALONG_MN = (True, True, False, False)
ROW_MAJOR = (False, False, True, True)


def combinations():
    """Each row, with a K that ends inside of a stage: by copies where the chip has such, and by warps."""
    for row in COMBINATIONS:
        k = tile_k(row)
        of = k // row.block
        problems = [
            make_problem(row, 130, 24, of + of // 2, BY_MAPS),
            make_problem(row, 48, 40, of // 2 + 1, ALONG_MN),
            make_problem(row, 20, 16, 2 * of, ROW_MAJOR),
        ]
        schedule = f"--schedule=tile=128x64x{k},stages=2,accumulators=2,persistent=1"
        yield case(f"{row}-emulated", row, problems, (schedule,))


def packed():
    """fp6 elements as a bit stream."""
    program, data = Program(), exact(FP6, 130, 24, 256, 70, "fine")
    program.result(add_problem(program, FP6, data, y_is_nk=True, packed=True))
    schedule = "--schedule=tile=128x24x128,stages=2,accumulators=1,persistent=0"
    return Case("packed-emulated", program, [Expectation(FP6, data, True)], (schedule,))


def clusters():
    """Blocks that load parts of tiles for each other, and tell each other of stages that are empty."""
    for cluster in ("1x2", "2x1", "2x2"):
        schedule = f"--schedule=tile=128x64x128,stages=2,accumulators=2,persistent=1,cluster={cluster}"
        yield case(f"emulated-cluster-{cluster}", E4M3, [(300, 130, 384, BY_MAPS, ())], (schedule,))


def few(cases, step):
    return list(cases)[::step]


def all_emulated():
    """What a card runs in less than a minute."""
    return [
        *combinations(), packed(), *clusters(), *warp_specialized_cases.odd_columns(), *few(warp_specialized_cases.factors(), 2), *warp_specialized_cases.schedules(),
        *few(warp_specialized_cases.rounds(), 2), *few(warp_specialized_cases.groups(), 2), *few(warp_specialized_cases.swap_ab(), 2),
        *few(warp_specialized_cases.swapped_tiles(), 2), *few(warp_specialized_cases.split_k(), 2),
        *few(warp_specialized_cases.around("emulated", "swap_ab=1,split_k=2"), 3),
        case("emulated-many-tiles", E4M3, [(17900, 8, 64, BY_MAPS, ())],
             ("--schedule=tile=128x8x128,stages=2,accumulators=1,persistent=0",)),
    ]
