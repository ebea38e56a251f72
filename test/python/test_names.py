"""Names that the project has given up do not come back."""

import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]


def run(*arguments, root=REPO):
    return subprocess.run([sys.executable, root / "scripts" / "check_names.py", *arguments], capture_output=True, text=True)


def test_no_old_names():
    done = run()
    assert done.returncode == 0, done.stdout


def test_old_names_are_found(tmp_path):
    """In text, in a file's name, and as users spelled them."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    for name in ("check_names.py", "names.txt"):
        (scripts / name).write_text((REPO / "scripts" / name).read_text())
    (tmp_path / "RingPlan.h").write_text("class OpRow {};\nclass OpRows {};\n")
    (tmp_path / "a.mlir").write_text("#blockscale.schedule<tile = [1, 1, 1]>\nsplits = 2\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    done = run(root=tmp_path)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert len(lines) == 5 and lines[-1] == "4 old names"
    for start in ("RingPlan.h: ", "RingPlan.h:1: 'OpRow'", "a.mlir:1: '#blockscale.schedule<'", "a.mlir:2: 'splits = 2'"):
        assert any(line.startswith(start) for line in lines), start
