#!/usr/bin/python3
"""Makes the tables of docs/Support.md from the output of blockscale-compile --print-support-matrix.

The tables stand between two markers of the page. Without --write the script
only compares, and fails if the page is stale.

usage: support_table.py [--write] [--build DIR]
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "Support.md"
BEGIN = "<!-- begin: scripts/support_table.py -->"
END = "<!-- end: scripts/support_table.py -->"


def read_matrix(text):
    """{chip: {(x, y, scale, B): (support, PTX version, instruction)}}, without illegal combinations; that of sparse x."""
    dense, sparse = {}, {}
    for line in text.splitlines()[1:]:
        chip, x, y, scale, block, support, ptx, instruction = line.split(maxsplit=7)
        matrix = sparse if "/" in x else dense
        if support != "illegal":
            matrix.setdefault(chip, {})[x, y, scale, block] = support, ptx, instruction
    return dense, sparse


def group(keys, value_of):
    """Keys with equal values together, in the order in which they come: [(value, [key, ...]), ...]."""
    groups = {}
    for key in keys:
        groups.setdefault(value_of(key), []).append(key)
    return list(groups.items())


def code(words):
    return " ".join(f"`{word}`" for word in words)


def table(*rows):
    head, *body = [list(map(str, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *body)]
    lines = [head, ["-" * width for width in widths], *body]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines
    )


def make_tables(text):
    dense, sparse = read_matrix(text)
    lowest = [("PTX", "chips")]
    versions = group(dense, lambda chip: ", ".join(sorted({ptx for _, ptx, _ in dense[chip].values()})))
    lowest += [(version, code(chips)) for version, chips in sorted(versions) if version != "-"]
    count, *tables = tables_of(dense)
    sparse_count, *sparse_tables = tables_of(sparse)
    return "\n\n".join([
        f"The {count} legal combinations:", tables[0], "What computes them:", tables[1],
        f"The {sparse_count} combinations of a [sparse x](Sparse.md) that instructions have, with its granularity:",
        sparse_tables[0], "What computes them:", sparse_tables[1],
        "The lowest PTX version of the code:", table(*lowest),
    ])


def tables_of(matrix):
    """How many combinations there are, a table of them, and one of what computes them."""

    def of_combination(combination):
        return tuple((cells[combination][0], cells[combination][2]) for cells in matrix.values())

    def of_chip(chip):
        return tuple((support, instruction) for support, _, instruction in matrix[chip].values())

    classes = [combinations for _, combinations in group(next(iter(matrix.values())), of_combination)]
    names = [chr(ord("a") + i) for i in range(len(classes))]

    legal = [("", "x", "y", "scales", "B")]
    for name, combinations in zip(names, classes):
        # One row for each set of y that several x share.
        by_x = group(combinations, lambda combination: (combination[0], *combination[2:]))
        by_y = group(by_x, lambda item: (tuple(y for _, y, _, _ in item[1]), item[0][1:]))
        for (ys, (scale, block)), items in by_y:
            legal.append((name, code(item[0][0] for item in items), code(ys), f"`{scale}`", block))

    support = [("chips", "combinations", "support", "instruction")]
    for _, chips in group(matrix, of_chip):
        cells = matrix[chips[0]]
        by_cell = group(range(len(classes)), lambda i: cells[classes[i][0]][::2])
        for i, ((status, instruction), members) in enumerate(by_cell):
            text = f"`{instruction}`" if "." in instruction else instruction
            support.append((code(chips) if i == 0 else "", ", ".join(names[j] for j in members), status, text))
    return sum(map(len, classes)), table(*legal), table(*support)


def with_tables(page, tables):
    """The page with new tables between its markers."""
    before, rest = page.split(BEGIN + "\n")
    _, after = rest.split(END + "\n")
    return f"{before}{BEGIN}\n\n{tables}\n\n{END}\n{after}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="bring the page up to date")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    options = parser.parse_args()
    program = options.build / "bin" / "blockscale-compile"
    done = subprocess.run([program, "--print-support-matrix"], stdout=subprocess.PIPE, text=True, check=True)
    page = PAGE.read_text()
    fresh = with_tables(page, make_tables(done.stdout))
    if page == fresh:
        return 0
    if not options.write:
        print(f"{PAGE.relative_to(ROOT)} is stale: run scripts/support_table.py --write")
        return 1
    PAGE.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
