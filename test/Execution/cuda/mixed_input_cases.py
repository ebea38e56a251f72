"""Mixed-input wgmma on sm_90a, y dequantized in registers, by schedule: all type combinations, each width of
the tile, ends of tiles and of K, scales in rows and in the 32x4x4 layout, a batch; any codes and scales, too.
"""

from gpu_cases import Case, Expectation, add_problem
from harness import COMBINATIONS, Program, any_codes, exact, random
from layout_cases import add_layout

# N of the tile, and rows of x.
COLUMNS = {1: (1, 1), 8: (1, 5), 16: (13, 16), 64: (33, 64), 256: (100, 300)}
BOX_BITS = 512


def is_fp4(row):
    return row.x == row.y == "f4E2M1FN"


def box(row):
    """Elements of a row of y that are loaded at once."""
    return BOX_BITS // (4 if row.y == "f4E2M1FN" else 8)


def schedule(columns, rows, k, split_k, stages=2):
    kernel = "gemv" if columns == 1 else "mixed_input"
    options = f"accumulators=1,persistent=0,swap_ab=1,split_k={split_k},kernel={kernel}"
    return f"--schedule=tile={rows}x{columns}x{k},stages={stages},{options}"


def case(row, columns, split_k):
    """Two problems in which each partial sum is exact, one of any finite codes, and one of any codes."""
    rows = 128 if columns == 256 else 64
    parts = (4 if columns <= 64 else 2) * 64 // rows
    boxes = 2 if columns <= 16 else 1
    k = parts * boxes * box(row)
    program, expectations = Program(), []
    few, many = COLUMNS[columns]
    # The last step along K is not whole.
    whole, cut = 2 * split_k * k, 2 * split_k * k + k // parts
    for number, (m, n, size, atoms, batch) in enumerate(((few, 70, cut, False, ()), (many, 130, whole, True, (2,)))):
        data = exact(row, m, n, size, number, "fine", x_batch=batch, y_batch=batch)
        program.result(add_layout(program, row, data, atoms, False, True))
        expectations.append(Expectation(row, data, True))
    for make, m in ((random, many), (any_codes, few)):
        data = make(row, m, 72, whole, seed=columns)
        program.result(add_problem(program, row, data, y_is_nk=True))
        expectations.append(Expectation(row, data, False))
    name = f"{row}-mixed-{columns}-{split_k}"
    return Case(name, program, expectations, (schedule(columns, rows, k, split_k),))


def all_mixed_input():
    for number, row in enumerate(COMBINATIONS):
        for columns in COLUMNS:
            if columns != 1 or is_fp4(row):
                yield case(row, columns, 1 + number % 2)
