"""The examples in the package's documentation run, and every public function has one."""

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import blockscale
import pytest

# Those with examples; others are not imported.
MODULES = sorted(
    ".".join(["blockscale", *path.relative_to(folder).with_suffix("").parts]).replace(".__init__", "")
    for folder in [Path(blockscale.__file__).parent]
    for path in folder.rglob("*.py")
    if ">>> " in path.read_text()
)
NEEDS = {"blockscale.arrays": "ml_dtypes"}


@pytest.mark.parametrize("name", MODULES)
def test_example(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", sorted(blockscale.__all__))
def test_every_function_has_an_example(name):
    function = getattr(blockscale, name)
    if inspect.isfunction(function):
        assert ">>> " in function.__doc__
        assert re.search(r"Raises |errors are\s+those of", function.__doc__)
