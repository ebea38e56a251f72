"""Cases of ../cuda in the simulator."""

import re

import gpu_bundle
from harness import RUN

SIMULATOR = RUN.parent / "blockscale-sim"


def check(case, folder, flags):
    gpu_bundle.write_case(case, folder, flags)
    gpu_bundle.check_case(case, folder, SIMULATOR)


def row_types(case):
    """Each x, each y and each way to scale, whatever the case is about."""
    return [(i, part) for _, i, part in features(case)]


def features(case):
    """What a case is about, with each x, each y and each way to scale of the rows that it has it for."""
    row = re.search(r"(f\w+)-(f\w+)-(f\w+-\d+)", case.name)
    if not row:
        return [case.name]
    about = case.name.replace(row[0], "")
    return [(about, i, part) for i, part in enumerate(row.groups())]
