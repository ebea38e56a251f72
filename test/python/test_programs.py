"""Finding the programs of the compiler, and ending them."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from blockscale import programs

REPO = Path(__file__).resolve().parents[2]


def make_program(path, text="#!/bin/sh\ncat\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_the_variable_names_the_folder(monkeypatch, tmp_path):
    program = make_program(tmp_path / "tool")
    monkeypatch.setenv("BLOCKSCALE_BIN", str(tmp_path))
    assert programs.find("tool") == program
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BLOCKSCALE_BIN", ".")
    assert programs.find("tool") == program


@pytest.mark.parametrize(
    "package, folder",
    [
        ("python/blockscale", "build/bin"),
        ("share/blockscale/python/blockscale", "bin"),
        ("lib/python3.11/site-packages/blockscale", "bin"),
    ],
)
def test_beside_the_package(monkeypatch, tmp_path, package, folder):
    program = make_program(tmp_path / folder / "tool")
    monkeypatch.delenv("BLOCKSCALE_BIN")
    monkeypatch.setattr(programs, "__file__", str(tmp_path / package / "programs.py"))
    assert programs.find("tool") == program


def test_install_rules_put_the_package_where_it_looks():
    rules = (REPO / "cmake" / "BlockScaleInstall.cmake").read_text()
    assert 'DESTINATION "${CMAKE_INSTALL_DATADIR}/blockscale/python"' in rules


def test_no_program(monkeypatch, tmp_path):
    (tmp_path / "tool").write_text("no program")  # not executable
    monkeypatch.setenv("BLOCKSCALE_BIN", str(tmp_path))
    with pytest.raises(programs.ProgramNotFoundError) as error:
        programs.find("tool")
    assert isinstance(error.value, FileNotFoundError)
    assert str(tmp_path / "tool") in str(error.value)
    assert "BLOCKSCALE_BIN" in str(error.value)


def test_the_package_works_without_programs(tmp_path):
    code = textwrap.dedent("""\
        import blockscale
        print(blockscale.decode([7], "f4E2M1FN"))
        try:
            blockscale.compile("{}", target="sm_120a")
        except blockscale.ProgramNotFoundError as error:
            print(error)
    """)
    environment = {"PYTHONPATH": str(REPO / "python"), "BLOCKSCALE_BIN": str(tmp_path / "none")}
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    first, second = done.stdout.splitlines()
    assert first == "[6.]"
    assert second.startswith(f"blockscale-compile: expected a program, got none: neither {tmp_path}/none")


def test_importing_and_compiling_load_no_numpy(tmp_path):
    code = "import sys, blockscale; blockscale.compile; print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env={"PYTHONPATH": str(REPO / "python")},
        capture_output=True, text=True, check=True,
    )
    assert done.stdout == "False\n"


def test_run(tmp_path):
    program = make_program(tmp_path / "tool", "#!/bin/sh\ncat; echo to error >&2; exit 3\n")
    done = programs.run(program, ["an argument"], b"from input", str(tmp_path))
    assert done == ([str(program), "an argument"], 3, b"from input", "to error\n")


def test_interrupt_ends_the_program(tmp_path):
    """As a notebook interrupts: the signal is for Python alone. No file of the call is left."""
    make_program(
        tmp_path / "bin" / "blockscale-compile",
        f"#!/bin/sh\necho $$ > {tmp_path}/pid.new\nmv {tmp_path}/pid.new {tmp_path}/pid\nexec sleep 100\n",
    )
    # A shell that starts the tests in the background has SIGINT ignored, which children inherit.
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " import blockscale; blockscale.compile('{}', target='sm_120a')"
    )
    temporary, cache = tmp_path / "tmp", tmp_path / "cache"
    temporary.mkdir()
    environment = dict(
        os.environ, PYTHONPATH=str(REPO / "python"), BLOCKSCALE_BIN=str(tmp_path / "bin"),
        BLOCKSCALE_CACHE=str(cache), TMPDIR=str(temporary), PYTHONDONTWRITEBYTECODE="1",
    )
    # A session of its own, so that the signal cannot come from a terminal.
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    child = int((tmp_path / "pid").read_text())
    assert list(temporary.iterdir())
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in messages
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert not list(temporary.iterdir())
    assert not cache.exists() or not list(cache.iterdir())
