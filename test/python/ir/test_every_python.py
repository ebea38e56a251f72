"""The bindings under each Python that they are for, without numpy: those that this machine has."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"


def interpreters(version):
    yield from sorted(str(path) for path in PYENV.glob(f"{version}.*/bin/python3"))
    found = shutil.which(f"python{version}")
    if found:
        yield found


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13"])
def test_python(version):
    for interpreter in interpreters(version):
        asked = subprocess.run([interpreter, "--version"], capture_output=True, text=True, check=False)
        if asked.returncode == 0:  # a shim of pyenv may have nothing behind it
            break
    else:
        pytest.skip(f"needs python{version}")
    done = subprocess.run(
        [interpreter, "-B", HERE / "with_any_python.py", HERE.parents[2] / "python"], capture_output=True, text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "9 operations\n"
