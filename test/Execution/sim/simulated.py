"""Cases of ../cuda in the simulator."""

import re

import gpu_bundle
from harness import RUN

SIMULATOR = RUN.parent / "blockscale-sim"
ROW = re.compile(r"(f\w+)-(f\w+)-(f\w+-\d+)")


def check(case, folder, flags):
    gpu_bundle.write_case(case, folder, flags)
    gpu_bundle.check_case(case, folder, SIMULATOR)


def features(case):
    """What a case is about, with each x, each y and each way to scale of the rows that it has it for."""
    row = ROW.search(case.name)
    if not row:
        return [case.name]
    about = case.name.replace(row[0], "")
    return [(about, i, part) for i, part in enumerate(row.groups())]


def parts(case):
    """What a case is about, and x, y and the way to scale, if it has one row: all that may be paired."""
    row = ROW.search(case.name)
    return [case.name.replace(row[0], ""), *enumerate(row.groups())] if row else [case.name]


def around(case):
    """What is around a product, what its schedule is for, and its types; each with each."""
    row = ROW.search(case.name)[0]
    what, _, schedule = case.name.replace(row, "").rpartition("-")
    return [("around", what), ("schedule", schedule), row]
