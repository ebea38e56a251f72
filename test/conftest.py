"""The flag --full: without it, the cases that are marked `full` are left out."""


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also run the cases of the wide cover")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--full"):
        return
    wide = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=wide)
    items[:] = [item for item in items if item not in set(wide)]
