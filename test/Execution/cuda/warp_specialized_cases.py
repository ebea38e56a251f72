"""Kernels of the path tcgen05: who brings operands, where tiles end, and what schedules divide.

Each value of a factor meets each value of every other one over the cases (`cover`); sizes are
those around tiles, words of scales and instructions.
"""

from itertools import combinations, product

import dynamic_cases
import fusion_cases
import numpy as np
from gpu_cases import FP6, MIXED, MXFP4, MXFP4_16, NVFP4, Case, Expectation
from harness import Combination, exact
from layout_cases import add_layout

E4M3 = Combination("f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32)
FACTOR_TYPES = [E4M3, MIXED, FP6, MXFP4, MXFP4_16, NVFP4]
M = (1, 17, 128, 200, 300)
N = (1, 8, 24, 64, 96, 128, 136, 192, 256, 320)
# In blocks: less than an instruction, several words of scales, several stages and a tail.
BLOCKS = (1, 3, 4, 16, 35)
# Scales 32x4x4 (their padding is 0xFF), x as K x M, y as N x K, a batch.
LAYOUTS = list(product((False, True), repeat=4))


def cover(factors, strength, seed):
    """Choices, one of each factor, in which each value of a factor meets each value of every other one
    (`strength` 2), or each two values of others (3).
    """
    rng = np.random.default_rng(seed)
    positions = list(combinations(range(len(factors)), strength))

    def values_at(choice):
        return {(position, tuple(choice[i] for i in position)) for position in positions}

    missing = {
        (position, values) for position in positions
        for values in product(*(range(len(factors[i])) for i in position))
    }
    while missing:
        position, values = min(missing)
        best, most = None, set()
        for _ in range(40):
            choice = [int(rng.integers(len(values))) for values in factors]
            for i, value in zip(position, values):
                choice[i] = value
            new = values_at(choice) & missing
            if len(new) > len(most):
                best, most = choice, new
        missing -= most
        yield [values[index] for values, index in zip(factors, best)]


def even(size, element):
    """fp4 is packed along M and N, too."""
    return size + size % 2 if element == "f4E2M1FN" else size


def wide_tiles(row):
    """What is chosen for large products, which are too large for the simulator."""
    return (f"--schedule=tile=128x256x{tile_k(row)},stages=3,accumulators=2,persistent=1",)


def make_problem(row, m, n, blocks, layout):
    _, x_is_km, y_is_nk, has_batch = layout
    m = even(m, row.x) if x_is_km else m
    n = n if y_is_nk else even(n, row.y)
    # Half a block of K for fp4 that is packed along it.
    k = blocks * row.block
    batch = (2,) if has_batch and m * n < 20000 else ()
    return m, n, k, layout, batch


def factors():
    return [case(*arguments) for arguments in pairs(FACTOR_TYPES)]


def pairs(combinations):
    """Arguments of `case`: pairs of all factors."""
    chosen = {row: [] for row in combinations}
    for row, *values in cover([combinations, M, N, BLOCKS, LAYOUTS], 2, seed=1):
        chosen[row].append(make_problem(row, *values))
    for row, problems in chosen.items():
        yield from parts(f"{row}-factors", row, problems)


def triples(row):
    """The same for triples of all factors but the types."""
    problems = [make_problem(row, *values) for values in cover([M, N, BLOCKS, LAYOUTS], 3, seed=2)]
    return parts(f"{row}-triples", row, problems)


def parts(name, row, problems):
    """Several problems to a case; every second case with wide tiles."""
    for first in range(0, len(problems), 8):
        number = first // 8
        flags = wide_tiles(row) if number % 2 else ()
        yield f"{name}-{number}", row, problems[first:first + 8], flags


def case(name, row, problems, flags=(), kind="fine"):
    from harness import Program

    program, expectations = Program(), []
    for number, (m, n, k, layout, batch) in enumerate(problems):
        data = exact(row, m, n, k, 50 + number, kind, x_batch=batch, y_batch=batch)
        *order, _ = layout
        program.result(add_layout(program, row, data, *order))
        expectations.append(Expectation(row, data, True))
    return Case(name, program, expectations, flags)


# N of the instruction, and of the result; both numbers of accumulators, persistent or not.
SCHEDULED = [(8, 8), (16, 9), (24, 24), (64, 200), (96, 96), (128, 300), (136, 130), (192, 400), (256, 520)]


def schedules():
    """Each N of an instruction, with what fits in columns and shared memory."""
    for number, (tile, n) in enumerate(SCHEDULED):
        for row in (E4M3, NVFP4):
            accumulators, persistent = 1 + number % 2, (number // 2 + (row is NVFP4)) % 2
            flags = f"stages={2 + number % 2},accumulators={accumulators},persistent={persistent}"
            schedule = f"tile=128x{tile}x{tile_k(row)},{flags}"
            name = f"{row}-ring-{tile}-{accumulators}-{persistent}"
            problems = [
                (200, n + n % 2, 5 * tile_k(row) // 2, (True, False, True, False), ()),
                (130, n + n % 2, tile_k(row), (True, False, row is NVFP4, False), ()),
            ]
            yield case(name, row, problems, (f"--schedule={schedule}",))


def groups():
    """Orders of tiles: 11 along M by 3 along N are whole groups, or some left over."""
    for group in (1, 3, 8):
        schedule = f"tile=128x64x128,stages=2,accumulators=2,persistent=1,raster_group={group}"
        problems = [
            (1300, 136, 96, (True, False, True, False), ()),
            (300, 200, 64, (True, False, True, True), (2,)),
        ]
        yield case(f"warp-specialized-group-{group}", E4M3, problems, (f"--schedule={schedule}",))


# Rows of x where they are those of B: N of the instruction.
FEW = {1: 8, 8: 8, 17: 32, 64: 64, 100: 112}


def tile_k(row):
    return 256 if row.x == row.y == "f4E2M1FN" else 128


def swap_ab():
    """Few rows of x as rows of B: pairs of all factors."""
    chosen = {}
    for row, m, *values in cover([FACTOR_TYPES, tuple(FEW), N, BLOCKS, LAYOUTS], 2, seed=3):
        chosen.setdefault((row, m), []).append(make_problem(row, m, *values))
    for number, ((row, m), problems) in enumerate(chosen.items()):
        schedule = f"tile=128x{FEW[m]}x{tile_k(row)},stages={2 + number % 3},accumulators={1 + number % 2}"
        flags = (f"--schedule={schedule},persistent={number // 2 % 2},swap_ab=1",)
        yield case(f"{row}-swap-ab-{m}", row, problems, flags)


def swapped_tiles():
    """Several tiles of rows of x, and results of one tile with each N; accumulators that share columns."""
    for number, (tile, m) in enumerate(SCHEDULED):
        for row in (MIXED, NVFP4):
            flags = f"stages={2 + number % 2},accumulators={2 - number % 2},persistent=1,raster_group=2,swap_ab=1"
            problems = [(m, 200, 5 * tile_k(row) // 2, (row is NVFP4, False, number % 2 == 0, False), ())]
            schedule = f"--schedule=tile=128x{tile}x{tile_k(row)},{flags}"
            yield case(f"{row}-swap-ab-tile-{tile}", row, problems, (schedule,))


def odd_columns():
    """Operands along N, or M, in a tile of an odd multiple of 8 rows: bulk copies have rows of 16 bytes."""
    schedule = "--schedule=tile=128x24x128,stages=2,accumulators=1,persistent=0"
    for m, n, flag in ((130, 16, schedule), (16, 130, f"{schedule},swap_ab=1")):
        yield case(f"warp-specialized-odd-columns-{n}", E4M3, [(m, n, 96, (True, True, False, False), ())], (flag,))


# Parts of K, steps along K, and blocks that the last step lacks: as many steps as parts, whole ones for
# each, and one more for some.
PARTS = [(2, 2, 0), (2, 5, 1), (3, 3, 3), (3, 6, 0), (4, 7, 2), (5, 12, 1)]


def split_k():
    """Parts of K that other blocks multiply: pairs of all factors, with operands swap_ab and not."""
    chosen = {}
    factors = [FACTOR_TYPES, PARTS, (False, True), (1, 8, 17, 64, 100), (8, 64, 136, 200), LAYOUTS]
    for row, part, swaps_ab, m, n, layout in cover(factors, 2, seed=4):
        _, steps, missing = part
        blocks = steps * tile_k(row) // row.block - missing
        problem = make_problem(row, m, n, blocks, layout)
        chosen.setdefault((row, part, swaps_ab), []).append(problem)
    for number, ((row, part, swaps_ab), problems) in enumerate(chosen.items()):
        schedule = f"tile=128x64x{tile_k(row)},stages={2 + number % 3},accumulators={1 + number % 2}"
        options = f"persistent={number // 2 % 2},swap_ab={int(swaps_ab)},split_k={part[0]}"
        name = f"{row}-split_k-{part[0]}-{part[1]}{'-swap-ab' * swaps_ab}"
        yield case(name, row, problems, (f"--schedule={schedule},{options}",))


SURROUNDED = (MIXED, NVFP4, FP6, MXFP4)


def around(name, options):
    """What surrounds products of the pipeline, with such options of its schedule."""
    for row in SURROUNDED:
        k = tile_k(row)
        yield from surroundings(name, row, k, f"tile=128x64x{k},stages=2,accumulators=2,persistent=1,{options}")


def surroundings(name, row, k, schedule):
    """Elementwise ops, batches and dynamic sizes with a schedule whose tiles have `k` elements along K. K of
    some has fewer steps than parts, which only dynamic sizes may have.
    """
    schedule = (f"--schedule={schedule}",)
    for make in (fusion_cases.biased, fusion_cases.scaled, fusion_cases.batched, fusion_cases.filled):
        of = make(row, 37, 22, 3 * k - 32)
        yield of._replace(name=f"{of.name}-{name}", flags=schedule)
    of = dynamic_cases.fused(row)
    yield of._replace(name=f"{of.name}-{name}", flags=schedule)
    sizes = [(38, 70, 3 * k - 32), (130, 200, 352), (2, 6, 32)]
    yield dynamic_cases.family(f"{row}-dynamic-{name}", row, sizes, dynamic_cases.LAYOUTS, schedule)
    for layout in dynamic_cases.PARTS:
        k_of = 4 * k if layout[4] != "k" else 96
        sizes = [(64, 130, 4 * k), (64 + 8 * (layout[4] == "m"), 130 + 8 * (layout[4] == "n"), k_of)]
        yield dynamic_cases.family(
            f"{row}-dynamic-{layout[4]}-{name}", row, sizes, [layout], schedule
        )


# Stages of the pipeline, and steps along K: whole rounds of stages, or some before and behind them; rounds
# of all stages, of half of eight, and of one.
ROUNDS = [(2, 4), (2, 5), (3, 7), (4, 8), (4, 9), (5, 11), (8, 16), (8, 9), (8, 19), (11, 12)]


def rounds():
    """Tiles whose steps are not a multiple of the stages: each starts elsewhere in the pipeline."""
    for number, (stages, steps) in enumerate(ROUNDS):
        schedule = f"tile=128x16x128,stages={stages},accumulators=2,persistent=1"
        k = 128 * steps - (32 if number % 3 == 2 else 0)
        problems = [(1100, 16, k, (True, False, True, False), ())]
        yield case(f"warp-specialized-rounds-{stages}-{steps}", E4M3, problems, (f"--schedule={schedule}",))
    # Two stages' columns for the scales of four stages.
    schedule = "tile=128x256x256,stages=4,accumulators=2,persistent=1"
    for steps in (8, 9):
        problems = [(200, 520, 256 * steps, (True, False, True, False), ())]
        yield case(f"warp-specialized-slots-{steps}", NVFP4, problems, (f"--schedule={schedule}",))


# Clusters, whether their blocks are pairs, and M x N of tiles: all shapes, and N that blocks divide in each way.
CLUSTERS = [
    ("2x1", 0, "128x64"), ("1x2", 0, "128x128"), ("2x2", 0, "128x192"), ("4x1", 0, "128x64"), ("1x4", 0, "128x256"),
    ("2x1", 1, "128x64"), ("2x1", 1, "128x128"), ("2x1", 1, "128x192"), ("2x1", 1, "128x256"),
    ("2x2", 1, "128x128"), ("4x1", 1, "128x256"),
    ("2x1", 1, "64x256"), ("2x2", 1, "64x256"), ("4x1", 1, "64x256"),
]
# Of rows of x and columns of y: less than a block, tiles that are all outside, several for each cluster.
CLUSTER_M = (40, 128, 300, 600)
CLUSTER_N = (24, 128, 200, 520)
# Scales 32x4x4, x as K x M, y as N x K, a batch.
CLUSTER_LAYOUTS = [layout for layout in LAYOUTS if not layout[3]] + [(True, False, True, True)]


def clusters():
    """Blocks that load for each other, and pairs of them that multiply together: pairs of all factors."""
    chosen = {}
    factors = [CLUSTERS, FACTOR_TYPES, CLUSTER_M, CLUSTER_N, BLOCKS, CLUSTER_LAYOUTS, (False, True)]
    for of, row, m, n, blocks, layout, swaps_ab in cover(factors, 2, seed=5):
        if swaps_ab:
            m, n = n, m
        problem = make_problem(row, m, n, blocks, layout)
        chosen.setdefault((of, row, swaps_ab), []).append(problem)
    for number, ((of, row, swaps_ab), problems) in enumerate(chosen.items()):
        cluster, two_cta, tile = of
        schedule = f"tile={tile}x{tile_k(row)},stages={2 + number % 2},accumulators={1 + number // 2 % 2}"
        options = f"persistent={number // 4 % 2},raster_group={1 + number % 3},swap_ab={int(swaps_ab)}"
        name = f"{row}-cluster-{cluster}-{two_cta}-{tile}{'-swap-ab' * swaps_ab}"
        flags = f"--schedule={schedule},{options},cluster={cluster}" + ",two_cta=1" * two_cta
        yield case(name, row, problems, (flags,))


# Rows of packed fp4, M x N of tiles, and whether blocks are pairs.
WIDE_TYPES = [MXFP4, MXFP4_16, NVFP4]
WIDE_TILES = [("128x64", 0), ("128x128", 0), ("128x256", 0), ("128x192", 1), ("128x256", 1)]


def wide():
    """Instructions with K = 96: swizzle rows with two of them and one of 64, and K that ends in one."""
    chosen = {}
    for row, of, m, n, blocks, layout in cover(
        [WIDE_TYPES, WIDE_TILES, (40, 300), (24, 200, 520), BLOCKS, CLUSTER_LAYOUTS], 2, seed=6
    ):
        problem = make_problem(row, m, n, blocks, layout)
        chosen.setdefault((row, of), []).append(problem)
    for number, ((row, (tile, two_cta)), problems) in enumerate(chosen.items()):
        schedule = f"tile={tile}x256,stages={2 + number % 2},accumulators={1 + number // 2 % 2},persistent=1"
        options = ",cluster=2x1,two_cta=1" * two_cta
        yield case(f"{row}-wide-{tile}-{two_cta}", row, problems, (f"--schedule={schedule}{options},k=96",))
