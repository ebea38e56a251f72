"""Products of few rows or columns on chips that dequantize: split-K over several blocks.

Each value of a factor meets each value of every other one over the cases (`cover`).
"""

import warp_specialized_cases
from warp_specialized_cases import LAYOUTS, PARTS, FACTOR_TYPES, cover, make_problem

TILE_K = 128
# Rows of the tile, and of x.
FEW = {1: 16, 8: 16, 16: 16, 17: 32, 32: 32, 33: 64, 64: 64}
MANY = (8, 128, 136, 300)


def schedule(few, is_of_x, split_k, stages=2):
    tile, warps = (f"{few}x128", "1x4") if is_of_x else (f"128x{few}", "4x1")
    return f"tile={tile}x{TILE_K},warps={warps},stages={stages},split_k={split_k}"


def split_k():
    """Few rows of x and few of y, all layouts, and steps that parts do not divide."""
    chosen = {}
    factors = [FACTOR_TYPES, PARTS, (True, False), tuple(FEW), MANY, LAYOUTS]
    for row, part, is_of_x, few, many, layout in cover(factors, 2, seed=7):
        _, steps, missing = part
        m, n = (few, many) if is_of_x else (many, few)
        problem = make_problem(row, m, n, steps * TILE_K // row.block - missing, layout)
        chosen.setdefault((row, part, is_of_x, FEW[few]), []).append(problem)
    for number, ((row, part, is_of_x, tile), problems) in enumerate(chosen.items()):
        flag = f"--schedule={schedule(tile, is_of_x, part[0], stages=1 + number % 3)}"
        side = "x" if is_of_x else "y"
        yield warp_specialized_cases.case(f"{row}-narrow-{side}-{tile}-{part[0]}-{part[1]}", row, problems, (flag,))


def around():
    """Elementwise ops, batches and dynamic sizes."""
    for row in warp_specialized_cases.SURROUNDED:
        yield from warp_specialized_cases.surroundings("narrow", row, TILE_K, schedule(32, True, 3))
