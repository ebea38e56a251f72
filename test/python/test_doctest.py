"""The examples in the package's documentation run, and every public function has one."""

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import blockscale
import pytest

# Those with examples: a module that needs what is not installed has none at import.
MODULES = sorted(
    ".".join(["blockscale", *path.relative_to(folder).with_suffix("").parts]).replace(".__init__", "")
    for folder in [Path(blockscale.__file__).parent]
    for path in folder.rglob("*.py")
    if ">>> " in path.read_text()
)
# Its example needs ml_dtypes; test_ml_dtypes.py has it.
WITHOUT = {"as_ml_dtypes"}


@pytest.mark.parametrize("name", MODULES)
def test_example(name):
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", sorted(blockscale.__all__))
def test_every_function_has_an_example(name):
    function = getattr(blockscale, name)
    if inspect.isfunction(function) and name not in WITHOUT:
        assert ">>> " in function.__doc__
        assert "Raises " in function.__doc__ or "errors are those of" in " ".join(function.__doc__.split())
