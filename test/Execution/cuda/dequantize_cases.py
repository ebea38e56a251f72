"""Products whose scales are where conversion to bf16 ends to be exact, for chips that convert.

Sums are exact wherever the scales are: with x_scale[i, b] = edge[b] + r[i] and
y_scale[b, j] = total - edge[b] + c[j], all terms of a result have one power of two.
"""

import numpy as np
from gpu_cases import Case, Expectation, add_problem
from harness import COMBINATIONS, Program, codes_of

# The lowest and the highest e8m0 code with which every element, times its scale, is a normal number
# of bf16 or zero, in the way that it is converted (docs/Numerics.md).
WINDOWS = {
    "f8E4M3FN": (10, 134),
    "f8E5M2": (17, 142),
    "f6E3M2FN": (5, 250),
    "f6E2M3FN": (4, 252),
    "f4E2M1FN": (2, 252),
}
LARGEST = 254
# Two tiles along M, and one and a half along K: the edge comes in the second of each.
M, N, K = 200, 72, 384


def at_edge(row, edge, middle, is_of_x):
    """Scales of x (or y) 3 around `edge` in tiles that have others too; those of y around `middle`."""
    rng = np.random.default_rng([edge, is_of_x])
    blocks = K // row.block
    along_k = np.arange(blocks) % 7 - 3
    along_k[: blocks // 3] = 8 if edge < 127 else -8
    ours = np.minimum(edge + along_k, LARGEST)
    other = edge + middle - ours
    rows = rng.integers(0, 2, M if is_of_x else N)
    columns = rng.integers(0, 4, N if is_of_x else M)
    # The first tile is inside of the window.
    rows[: len(rows) // 2] += 6 if edge < 127 else 0
    ours = ours + np.where(edge < 127, rows, -rows)[:, None]
    other = other + columns[:, None]
    x_scale, y_scale = (ours, other.T) if is_of_x else (other, ours.T)
    x = rng.choice(codes_of(row.x, 1, -3, 3), (M, K))
    y = rng.choice(codes_of(row.y, 1, -3, 3), (K, N))
    # Some blocks of zeros, with the scale that quantisation gives them.
    empty = rng.random((M, blocks)) < 0.1
    x[empty.repeat(row.block, 1)] = 0
    x_scale = np.where(empty, 0, np.clip(x_scale, 0, LARGEST)).astype(np.uint8)
    y_scale = np.ascontiguousarray(np.clip(y_scale, 0, LARGEST), np.uint8)
    return [x, np.ascontiguousarray(x_scale), y, y_scale, np.zeros((M, N), np.float32)]


def opposed(row):
    """The largest scale of one operand with a small one of the other, block by block in turns: a sum of a block that
    is multiplied by the first alone, or by that and a half of the second, is infinite; the result is not.
    """
    rng = np.random.default_rng(9)
    limit = {"f4E2M1FN": 6, "f6E2M3FN": 7}
    x, y = (
        rng.choice(codes_of(name, 1, 1, limit.get(name, 28)), shape)
        for name, shape in ((row.x, (M, K)), (row.y, (K, N)))
    )
    terms = K * limit.get(row.x, 28) * limit.get(row.y, 28)
    small = 125 - int(np.ceil(np.log2(terms)))
    is_of_x = np.arange(K // row.block) % 2 == 0
    x_scale = np.tile(np.where(is_of_x, LARGEST, small), (M, 1)).astype(np.uint8)
    y_scale = np.tile(np.where(is_of_x, small, LARGEST)[:, None], N).astype(np.uint8)
    return [x, x_scale, y, y_scale, np.zeros((M, N), np.float32)]


def edges(row):
    program, expectations = Program(), []
    for is_of_x in (True, False):
        lowest, highest = WINDOWS[row.x if is_of_x else row.y]
        for edge, middle in ((lowest, 127), (highest, 90 if highest > 200 else 127)):
            data = at_edge(row, edge, middle, is_of_x)
            program.result(add_problem(program, row, data, y_is_nk=is_of_x))
            expectations.append(Expectation(row, data, True))
    data = opposed(row)
    program.result(add_problem(program, row, data))
    expectations.append(Expectation(row, data, True))
    return Case(f"{row}-edges", program, expectations)


def all_edges():
    return [edges(row) for row in COMBINATIONS if row.scale == "f8E8M0FNU"]
