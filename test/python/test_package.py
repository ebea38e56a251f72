"""The package as a whole: its names, what importing it loads, its version, Python 3.9, its wheel."""

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import blockscale
import pytest

REPO = Path(__file__).resolve().parents[2]
PACKAGE = REPO / "python" / "blockscale"
SOURCES = sorted((REPO / "python").rglob("*.py"))
INIT = ast.parse((PACKAGE / "__init__.py").read_text())


def python(code, folder=PACKAGE.parent):
    """What a new interpreter prints."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env={"PYTHONPATH": str(folder)}, capture_output=True,
        text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# Names


def names_for_tools():
    """{module: names} of the imports below TYPE_CHECKING."""
    [block] = [n for n in INIT.body if isinstance(n, ast.If) and n.test.id == "TYPE_CHECKING"]
    return {node.module: tuple(alias.name for alias in node.names) for node in block.body}


def test_tools_see_the_same_names():
    assert names_for_tools() == {m: names for m, names in blockscale._MODULES.items() if names}
    names = [name for names in blockscale._MODULES.values() for name in names]
    assert sorted([*names, "__version__"]) == sorted(blockscale.__all__)


def test_every_name_is_there():
    assert set(dir(blockscale)) >= {*blockscale.__all__, *blockscale._MODULES}
    for module, names in blockscale._MODULES.items():
        for name in names:
            value = getattr(blockscale, name)
            assert value is getattr(getattr(blockscale, module), name)
            assert getattr(value, "__module__", "blockscale." + module) == "blockscale." + module
    listed = python("from blockscale import *; print(*sorted(globals()))").split()
    assert set(blockscale.__all__) - {"__version__"} <= set(listed)


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'blockscale' has no attribute 'multiply'"):
        blockscale.multiply
    with pytest.raises(ImportError, match="multiply"):
        from blockscale import multiply  # noqa: F401


@pytest.mark.parametrize("use, loaded", [("dir(blockscale)", False), ("blockscale.decode", True)])
def test_numpy_is_loaded_late(use, loaded):
    code = f"import sys, blockscale; {use}; print('numpy' in sys.modules)"
    assert python(code) == str(loaded)


def test_torch_is_loaded_late(tmp_path):
    """And where there is none, nothing else is worse off."""
    (tmp_path / "torch.py").write_text("raise ImportError('no torch here')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import blockscale; dir(blockscale); "
    assert python(code + "print('torch' in sys.modules, hasattr(blockscale, 'torch'))") == "False False"
    assert python(code + """
try:
    blockscale.torch
except AttributeError as error:
    print(error)
""") == "module 'blockscale': cannot import 'torch': no torch here"
    assert "no torch here" in python(code + """
try:
    import blockscale.torch
except ImportError as error:
    print(error)
""")


# Sources


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(REPO)))
def test_python_3_9(path):
    ast.parse(path.read_text(), str(path), feature_version=(3, 9))


def test_version():
    project = re.search(r"^project\(blockscale\s+VERSION (\S+)", (REPO / "CMakeLists.txt").read_text(), re.M)
    assert blockscale.__version__ == project[1]


# The wheel


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


@pytest.mark.skipif(not has("setuptools", "wheel"), reason="needs setuptools and wheel")
def test_wheel(tmp_path):
    """Made of a copy, because a build writes beside its sources."""
    project = tmp_path / "project"
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(REPO / "python", project / "python", ignore=ignore)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(REPO / name, project)
    # Where CMake puts it.
    data = project / "build" / "python" / "blockscale" / "torch"
    data.mkdir(parents=True)
    bundles = ("kernels.bundle", "sparse.bundle", "moe.bundle", "fp8.bundle")
    for name in bundles:
        (data / name).write_bytes(b"\0")
    environment = {name: value for name, value in os.environ.items() if name != "BLOCKSCALE_TORCH_BUNDLE"}
    build = "from setuptools import build_meta; print(build_meta.build_wheel('..'))"
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=project, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    name = done.stdout.split()[-1]
    assert name == f"blockscale-{blockscale.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(tmp_path / name) as wheel:
        files = set(wheel.namelist())
    expected = {str(path.relative_to(REPO / "python")) for path in SOURCES}
    assert files >= expected | {"blockscale/py.typed", *(f"blockscale/torch/{name}" for name in bundles)}
    code = "import blockscale; print(blockscale.__file__, blockscale.decode([7], 'f4E2M1FN'))"
    assert python(code, tmp_path / name) == f"{tmp_path / name}/blockscale/__init__.py [6.]"
