"""Kernels of the path mma_sync whose stages bulk copies fill: a pipeline schedule on sm_120.

Operands and sizes are those of the pipeline of tcgen05; tiles have sides of 64, 128 and 256, which start in
the middle of an atom of scales, too.
"""

import fusion_cases
from gpu_cases import FP6, MIXED, MXFP4, MXFP4_16, NVFP4
from harness import COMBINATIONS
from warp_specialized_cases import E4M3, LAYOUTS, PARTS, case, cover, make_problem, surroundings, tile_k

FACTOR_TYPES = [E4M3, MIXED, FP6, MXFP4, MXFP4_16, NVFP4]
M = (1, 17, 64, 128, 200, 300)
N = (2, 8, 24, 64, 96, 128, 136, 192, 320)
# Less than a word of scales, whole words of them, stages that are cut inside of a word, and at one.
BLOCKS = (1, 3, 4, 12, 16, 35)
# M, N and stages: as many as fit in shared memory, or fewer.
TILES = [(128, 128, 2), (128, 64, 3), (64, 128, 2), (64, 64, 4), (64, 256, 2), (256, 64, 1)]


def schedule(row, tile, options=""):
    m, n, stages = tile
    text = f"tile={m}x{n}x{tile_k(row)},stages={stages},accumulators=1,persistent=1"
    return (f"--schedule={text}{options}",)


def all_combinations():
    """Each row with three layouts, in turns, and two tiles."""
    for number, row in enumerate(COMBINATIONS):
        tile = TILES[number % 4]
        blocks = (35, 16, 3)
        problems = [
            make_problem(row, *size, blocks[i], LAYOUTS[(5 * number + 7 * i) % len(LAYOUTS)])
            for i, size in enumerate([(130, 72), (64, 256), (17, 200)])
        ]
        yield case(f"{row}-mma-sync-specialized", row, problems, schedule(row, tile))


def factors():
    """Pairs of all factors."""
    chosen = {}
    for row, tile, *values in cover([FACTOR_TYPES, TILES, M, N, BLOCKS, LAYOUTS], 2, seed=11):
        chosen.setdefault((row, tile), []).append(make_problem(row, *values))
    for (row, tile), problems in chosen.items():
        m, n, _ = tile
        yield case(f"{row}-mma-sync-specialized-{m}x{n}", row, problems, schedule(row, tile))


def split_k():
    """Parts of K, whose last step may be cut, with blocks that are persistent and not."""
    chosen = {}
    for row, part, *values in cover([FACTOR_TYPES, PARTS, (1, 64, 100), (8, 136, 200), LAYOUTS], 2, seed=12):
        _, steps, missing = part
        m, n, layout = values
        blocks = steps * tile_k(row) // row.block - missing
        chosen.setdefault((row, part), []).append(make_problem(row, m, n, blocks, layout))
    for number, ((row, part), problems) in enumerate(chosen.items()):
        tile = TILES[number % 4]
        flags = schedule(row, tile, f",raster_group={1 + number % 3},split_k={part[0]}")
        if number % 2:
            flags = (flags[0].replace("persistent=1", "persistent=0"),)
        yield case(f"{row}-mma-sync-specialized-split_k-{part[0]}-{part[1]}", row, problems, flags)


# Stages, and steps along K: whole rounds, or some before and behind them.
ROUNDS = [(1, 3), (2, 4), (2, 5), (3, 7), (4, 9), (4, 4)]


def rounds():
    """Several tiles for each block, whose steps start elsewhere in the pipeline."""
    for number, (stages, steps) in enumerate(ROUNDS):
        k = 128 * steps - (0, 32, 128 - 32)[number % 3]
        problems = [(600, 200, k, (True, False, True, False), ())]
        yield case(f"mma-sync-specialized-rounds-{stages}-{steps}", E4M3, problems, schedule(E4M3, (64, 64, stages)))


def around():
    """Elementwise ops, batches and dynamic sizes."""
    for number, row in enumerate((MIXED, NVFP4, FP6, MXFP4)):
        [flag] = schedule(row, TILES[number], ",split_k=2" if number % 2 else "")
        yield from surroundings("mma-sync-specialized", row, tile_k(row), flag.removeprefix("--schedule="))


def accumulated():
    """Epilogues that load C, in tiles that end outside of the result and others."""
    for make in (fusion_cases.filled, fusion_cases.biased):
        of = make(E4M3, 130, 258, 160)
        yield of._replace(name=f"{of.name}-mma-sync-specialized-started", flags=schedule(E4M3, TILES[0]))
