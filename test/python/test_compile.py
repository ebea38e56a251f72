"""Compiling by the installed programs: what comes back, errors, the cache."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import blockscale
import pytest
from blockscale import cache, compilation, programs
from programs_for_tests import PRODUCT, TWO_FUNCTIONS

COMPILER = Path(os.environ["BLOCKSCALE_BIN"]) / "blockscale-compile"


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("BLOCKSCALE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def calls(own_cache, monkeypatch):
    """The command lines of the programs that are called."""
    calls, run = [], programs.run

    def record(program, arguments, source, folder=None):
        calls.append(list(arguments))
        return run(program, arguments, source, folder)

    monkeypatch.setattr(programs, "run", record)
    return calls


def reference(source, tmp_path, *flags):
    """What the program itself writes: code and launch info."""
    path, info = tmp_path / "reference.mlir", tmp_path / "info.json"
    path.write_text(source)
    done = subprocess.run(
        [COMPILER, path, *flags, f"--launch-info={info}"], capture_output=True, text=True, check=True
    )
    return done.stdout, json.loads(info.read_text())


# What comes back


def test_a_kernel_is_what_the_program_writes(own_cache, tmp_path):
    kernel = blockscale.compile(PRODUCT, target="sm_120a")
    code, info = reference(PRODUCT, tmp_path, "--target=sm_120a")
    assert (kernel.ptx, kernel.launch_info) == (code, info)
    assert kernel.code == kernel.ptx
    assert (kernel.target, kernel.entry, kernel.remarks) == ("sm_120a", "main", [])
    assert repr(kernel) == "<Kernel 'main' for sm_120a>"
    kernel.launch_info["kernels"].clear()
    assert kernel.launch_info == info


OPTIONS = [
    ({"schedule": "tile=64x64x128,warps=2x2,stages=2"}, "--schedule=tile=64x64x128,warps=2x2,stages=2"),
    ({"ptx_version": "8.8"}, "--ptx-version=8.8"),
    ({"ptx_version": 88}, "--ptx-version=88"),
    ({"emulate_on": "sm_90"}, "--emulate-on=sm_90"),
    ({"no_workspace": True}, "--no-workspace"),
    ({"native_only": True}, "--native-only"),
    ({"accumulate": 128}, "--accumulate=128"),
    ({"entry": "main"}, "--entry=main"),
    ({"raise_": True}, "--raise"),
    ({"raise_": "assume-positive-scales"}, "--raise=assume-positive-scales"),
]


@pytest.mark.parametrize("options, flag", OPTIONS, ids=[flag for _, flag in OPTIONS])
def test_every_option_is_a_flag(calls, tmp_path, options, flag):
    kernel = blockscale.compile(PRODUCT, target="sm_120a", **options)
    assert calls == [["-", "--target=sm_120a", flag, "--launch-info=info.json"]]
    assert (kernel.ptx, kernel.launch_info) == reference(PRODUCT, tmp_path, "--target=sm_120a", flag)


def test_for_the_cpu(own_cache):
    kernel = blockscale.compile(PRODUCT, target="cpu")
    assert (kernel.entry, kernel.target) == ("main", "cpu")
    assert "define" in kernel.code
    for what in ("ptx", "launch_info"):
        with pytest.raises(ValueError, match=f"{what}: expected a kernel for a GPU, got one for cpu"):
            getattr(kernel, what)


def test_a_name_is_that_of_the_function(own_cache):
    """Kernels in front of it have names of their own."""
    kernel = blockscale.compile(PRODUCT, target="sm_100a")
    assert len(kernel.launch_info["kernels"]) > 1
    assert kernel.entry == "main"


@pytest.mark.parametrize("target", ["sm_80", "cpu"])
def test_of_several_functions_one_is_named(own_cache, target):
    for entry in ("first", "second"):
        assert blockscale.compile(TWO_FUNCTIONS, target=target, entry=entry).entry == entry


def test_remarks(own_cache):
    for _ in range(2):  # the second time from the cache
        kernel = blockscale.compile(PRODUCT, target="sm_90a")
        [remark] = kernel.remarks
        assert (remark.kind, remark.file, remark.line, remark.column) == ("remark", "<text>", 4, 8)
        assert remark.message.startswith("no block-scaled instruction on sm_90a")
        assert remark.source[0] == PRODUCT.splitlines()[3]


# Programs


def test_text_bytes_and_files(own_cache, tmp_path):
    path = tmp_path / "product {1}.mlir"
    path.write_text(PRODUCT)
    plain = tmp_path / "product.mlir"
    plain.write_text(PRODUCT)
    for program in (PRODUCT, PRODUCT.encode(), path, str(plain)):
        assert blockscale.compile(program, target="sm_120a").entry == "main"


def test_what_is_no_program(own_cache, tmp_path):
    with pytest.raises(TypeError, match="program: expected text, bytes or a path, got int"):
        blockscale.compile(3, target="sm_120a")
    with pytest.raises(FileNotFoundError, match="none.mlir"):
        blockscale.compile(tmp_path / "none.mlir", target="sm_120a")


# Errors


def test_an_error_has_its_location(own_cache, tmp_path):
    path = tmp_path / "wrong.mlir"
    path.write_text(PRODUCT.replace("tensor<4x32xf8", "tensor<3x32xf8"))
    with pytest.raises(blockscale.CompileError) as caught:
        blockscale.compile(path, target="sm_120a")
    error = caught.value
    assert (error.file, error.line, error.column, error.code) == (str(path), 4, 8, 1)
    assert "K_s of x_scale" in error.message and "got 3" in error.message
    assert error.diagnostics[0].kind == "error"
    assert not own_cache.exists() or not list(own_cache.iterdir())


def test_an_error_has_its_notes(own_cache):
    text = "func.func @main(%x: tensor<4xf32>) {\n  %d = arith.addf %x, %y : tensor<4xf32>\n}\n"
    with pytest.raises(blockscale.CompileError) as caught:
        blockscale.compile(text.replace("%y", "%x").replace("}", "return %d : f32\n}"), target="cpu")
    error = caught.value
    assert error.line == 3
    assert [(note.kind, note.line) for note in error.notes] == [("note", 2)]


def test_wrong_options(own_cache):
    with pytest.raises(blockscale.CompileError) as caught:
        blockscale.compile(PRODUCT, target="sm_120")
    assert (caught.value.code, caught.value.line) == (2, None)
    assert "expected sm_120a or sm_120f" in caught.value.message
    with pytest.raises(blockscale.CompileError, match="expected a GPU as target for ptx_version, got target='cpu'"):
        blockscale.compile(PRODUCT, target="cpu", ptx_version="8.8")
    with pytest.raises(blockscale.CompileError, match="expected entry, which names one of several public functions"):
        blockscale.compile(TWO_FUNCTIONS, target="sm_80")
    with pytest.raises(ValueError, match="entry: expected a function that is the only public one, got 2"):
        blockscale.compile(TWO_FUNCTIONS, target="cpu")
    with pytest.raises(blockscale.CompileError, match="no block-scaled instruction on sm_90a"):
        blockscale.compile(PRODUCT, target="sm_90a", native_only=True)


# The cache


def test_the_second_time_no_program_runs(calls):
    first = blockscale.compile(PRODUCT, target="sm_120a")
    second = blockscale.compile(PRODUCT, target="sm_120a")
    assert len(calls) == 1
    assert (second.ptx, second.launch_info) == (first.ptx, first.launch_info)


def test_other_text_or_options_are_another_entry(calls):
    blockscale.compile(PRODUCT, target="sm_120a")
    blockscale.compile(PRODUCT + "\n", target="sm_120a")
    blockscale.compile(PRODUCT, target="sm_121a")
    for options, _ in OPTIONS:
        blockscale.compile(PRODUCT, target="sm_120a", **options)
    assert len(calls) == 3 + len(OPTIONS)


def test_another_program_is_another_entry(calls, monkeypatch, tmp_path):
    blockscale.compile(PRODUCT, target="sm_120a")
    wrapper = tmp_path / "bin" / "blockscale-compile"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec "{COMPILER}" "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("BLOCKSCALE_BIN", str(wrapper.parent))
    blockscale.compile(PRODUCT, target="sm_120a")
    assert len(calls) == 2
    os.utime(wrapper, (1, 1))  # built again
    blockscale.compile(PRODUCT, target="sm_120a")
    assert len(calls) == 3


def test_a_damaged_entry_is_made_again(calls, own_cache):
    first = blockscale.compile(PRODUCT, target="sm_120a")
    [entry] = own_cache.iterdir()
    entry.write_bytes(entry.read_bytes()[:-10])
    assert blockscale.compile(PRODUCT, target="sm_120a").ptx == first.ptx
    assert len(calls) == 2
    blockscale.compile(PRODUCT, target="sm_120a")
    assert len(calls) == 2


def test_without_a_cache(calls, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("BLOCKSCALE_CACHE", str(tmp_path / "file"))
    assert blockscale.compile(PRODUCT, target="sm_120a").entry == "main"


def test_clear_cache(own_cache):
    blockscale.compile(PRODUCT, target="sm_120a")
    blockscale.compile(PRODUCT, target="sm_121a")
    assert compilation.clear_cache() == 2
    assert cache.load("any") is None and not list(own_cache.iterdir())


def test_files_of_a_call_are_gone(own_cache, monkeypatch, tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    code = (
        "import blockscale, sys\n"
        "kernel = blockscale.compile(sys.argv[1], target='sm_120a')\n"
        "kernel.run(seed=1); kernel.run(seed=1, device='sim'); kernel.show_layout('a')\n"
        "try: blockscale.compile('{', target='sm_120a')\n"
        "except blockscale.CompileError: print('done')\n"
    )
    environment = dict(os.environ, TMPDIR=str(temporary), PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, PRODUCT], env=environment, capture_output=True, text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
    assert not list(temporary.iterdir())


def test_the_program_is_there():
    """Nothing here is skipped where the programs are built."""
    assert shutil.which(str(COMPILER)), f"{COMPILER}: build blockscale first, or set BLOCKSCALE_BUILD"
