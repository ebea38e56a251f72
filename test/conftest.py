"""The flags --full and --exhaustive: without them, the cases that are marked so are left out."""

import pytest

LEFT_OUT = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also run the cases of the wide cover")
    parser.addoption("--exhaustive", action="store_true", help="also run whole products of cases; has --full")


def pytest_configure(config):
    if config.getoption("--exhaustive"):
        config.option.full = True


def pytest_collection_modifyitems(config, items):
    tiers = [tier for tier in ("full", "exhaustive") if not config.getoption(f"--{tier}")]
    wide = [item for item in items if any(item.get_closest_marker(tier) for tier in tiers)]
    config.stash[LEFT_OUT] = len(wide)
    config.hook.pytest_deselected(items=wide)
    left_out = set(wide)
    items[:] = [item for item in items if item not in left_out]


def pytest_sessionfinish(session, exitstatus):
    # A file of nothing but wide cases is done, not empty.
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash.get(LEFT_OUT, 0):
        session.exitstatus = pytest.ExitCode.OK
