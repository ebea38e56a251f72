"""The flags --full and --exhaustive: without them, the cases that are marked so are left out. Of a test with many `full`
cases, --full takes those that are the first of a combination of types in their file, and a third of the others;
--exhaustive takes all.
"""

import collections
import re

import pytest

# A test of so many `full` cases runs all of them with --full.
FEW = 3
# The tests of instructions, of which --full takes all cases.
WHOLE = {
    ("test_tcgen05.py", "test_exact"), ("test_wgmma.py", "test_exact"),
    ("test_grouped_kernels.py", "test_every_combination"),
}
# Types of x and y, and of their scales, in the name of a case.
COMBINATION = re.compile(r"f\d\w+-f\d\w+-f\d\w+-\d+")
LEFT_OUT = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also run the cases of the wide cover")
    parser.addoption("--exhaustive", action="store_true", help="also run whole products of cases; has --full")


def pytest_configure(config):
    if config.getoption("--exhaustive"):
        config.option.full = True


def combination(item):
    types = COMBINATION.search(item.name)
    return types and types[0]


def thinned(items):
    """The `full` cases that --full leaves out."""
    tests, seen = collections.defaultdict(list), collections.defaultdict(set)
    for item in items:
        if item.get_closest_marker("full"):
            tests[item.nodeid.split("[")[0]].append(item)
        else:
            seen[item.path].add(combination(item))
    for cases in tests.values():
        if len(cases) <= FEW or (cases[0].path.name, cases[0].originalname) in WHOLE:
            continue
        # Of combinations that the file has not had.
        first = {types: item for item in reversed(cases) if (types := combination(item))}
        first = {item for types, item in first.items() if types not in seen[item.path]}
        seen[cases[0].path].update(map(combination, first))
        yield from (item for i, item in enumerate(item for item in cases if item not in first) if i % 3)


def pytest_collection_modifyitems(config, items):
    tiers = [tier for tier in ("full", "exhaustive") if not config.getoption(f"--{tier}")]
    left_out = {item for item in items if any(item.get_closest_marker(tier) for tier in tiers)}
    if tiers == ["exhaustive"]:
        left_out.update(thinned([item for item in items if item not in left_out]))
    config.stash[LEFT_OUT] = len(left_out)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def pytest_sessionfinish(session, exitstatus):
    # A file of nothing but wide cases is done, not empty.
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash.get(LEFT_OUT, 0):
        session.exitstatus = pytest.ExitCode.OK
