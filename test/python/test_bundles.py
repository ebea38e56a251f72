"""Bundles of programs, compiled from Python."""

import subprocess
from pathlib import Path

import blockscale
import pytest
from blockscale import programs
from programs_for_tests import PRODUCT, TWO_FUNCTIONS


def test_it_is_what_the_program_writes(tmp_path):
    bundle = blockscale.compile_bundle(PRODUCT, tmp_path / "a.bundle", targets=("sm_90a", "sm_120a"))
    (tmp_path / "a.mlir").write_text(PRODUCT)
    subprocess.run(
        [programs.find("blockscale-compile"), "a.mlir", "--target=sm_90a,sm_120a", "--bundle=b.bundle"],
        cwd=tmp_path, check=True, capture_output=True,
    )
    assert (tmp_path / "a.bundle").read_bytes() == (tmp_path / "b.bundle").read_bytes()
    assert isinstance(bundle, blockscale.runtime.Bundle)
    assert bundle["main"].targets == ["sm_90a", "sm_120a"]


def test_functions_and_options(tmp_path, monkeypatch):
    both = blockscale.compile_bundle(TWO_FUNCTIONS, tmp_path / "a.bundle", targets=["sm_80"])
    assert sorted(both) == ["first", "second"]
    monkeypatch.chdir(tmp_path)
    one = blockscale.compile_bundle(TWO_FUNCTIONS, "-", targets=["sm_80"], entry="first")  # a file, whatever its name
    assert list(one) == ["first"] and Path("-").is_file()
    seen, run = [], programs.run
    monkeypatch.setattr(programs, "run", lambda *a: seen.append(a[1]) or run(*a))
    blockscale.compile_bundle(
        PRODUCT, "c.bundle", targets=["sm_120a"], schedule="tile=64x64x128,warps=2x2,stages=2", native_only=True,
        ptx_version="8.8", no_workspace=True, raise_=True,
    )
    assert seen[0][1:] == [
        f"--bundle={tmp_path / 'c.bundle'}", "--target=sm_120a", "--schedule=tile=64x64x128,warps=2x2,stages=2",
        "--native-only", "--ptx-version=8.8", "--no-workspace", "--raise",
    ]


@pytest.mark.parametrize("targets, message", [
    (["sm_90a", "sm_90a"], "expected each chip once in target, got sm_90a twice"),
    (["cpu"], "expected a GPU as target for bundle, got target='cpu'"),
    (["sm_75"], "unknown target 'sm_75'"),
])
def test_wrong_targets(tmp_path, targets, message):
    with pytest.raises(blockscale.CompileError) as caught:
        blockscale.compile_bundle(PRODUCT, tmp_path / "a.bundle", targets=targets)
    assert caught.value.message.startswith(message)
    assert "--" not in caught.value.message
    assert not list(tmp_path.iterdir())


def test_no_target(tmp_path):
    with pytest.raises(ValueError, match="^targets: expected at least one chip, got none"):
        blockscale.compile_bundle(PRODUCT, tmp_path / "a.bundle", targets=[])


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(blockscale.CompileError, match="none/a.bundle"):
        blockscale.compile_bundle(PRODUCT, tmp_path / "none" / "a.bundle", targets=["sm_90a"])
