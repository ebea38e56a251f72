"""The tables of docs/Support.md are those that scripts/support_table.py makes of the support matrix."""

import subprocess
import sys

import examples
import pytest

sys.path.insert(0, str(examples.REPO / "scripts"))
import support_table  # noqa: E402


@pytest.fixture(scope="module")
def matrix():
    program = examples.BUILD / "bin" / "blockscale-compile"
    return subprocess.run([program, "--print-support-matrix"], capture_output=True, text=True, check=True).stdout


def is_fresh(page, matrix):
    return page == support_table.with_tables(page, support_table.make_tables(matrix))


def test_page_is_fresh(matrix):
    assert is_fresh(support_table.PAGE.read_text(), matrix), "run scripts/support_table.py --write"


@pytest.mark.parametrize(
    "old, new",
    [
        # One chip has another way for one combination; a chip has another name; a PTX version; a combination is legal.
        ("sm_100a f8E4M3FN  f8E4M3FN  f8E8M0FNU  32 native ", "sm_100a f8E4M3FN  f8E4M3FN  f8E8M0FNU  32 rewritten "),
        ("\nsm_121f ", "\nsm_129f "),
        ("converted 7.0", "converted 7.3"),
        ("f8E4M3FN  f8E4M3FN  f8E8M0FNU  16 illegal ", "f8E4M3FN  f8E4M3FN  f8E8M0FNU  16 plain "),
    ],
)
def test_another_matrix_is_seen(old, new, matrix):
    assert old in matrix
    assert not is_fresh(support_table.PAGE.read_text(), matrix.replace(old, new))
