"""The flag --full: without it, the cases that are marked `full` are left out."""

import pytest

LEFT_OUT = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also run the cases of the wide cover")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--full"):
        return
    wide = [item for item in items if item.get_closest_marker("full")]
    config.stash[LEFT_OUT] = len(wide)
    config.hook.pytest_deselected(items=wide)
    items[:] = [item for item in items if item not in set(wide)]


def pytest_sessionfinish(session, exitstatus):
    # A file of nothing but wide cases is done, not empty.
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash.get(LEFT_OUT, 0):
        session.exitstatus = pytest.ExitCode.OK
