"""What of many cases runs by default, and what with --full (test/Execution/tiers.py)."""

import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Execution"))
import tiers  # noqa: E402

CASES = list(itertools.product("abc", range(4), "xyz"))


def features(case):
    return list(enumerate(case))


def pairs_in(cases):
    return {pair for case in cases for pair in itertools.combinations(features(case), 2)}


def test_pairs():
    marked = tiers.pairs(CASES, features)
    assert [tiers.unmarked(case) for case in marked] == CASES
    always, full = tiers.runs_always(marked), tiers.runs_with_full(marked)
    # Each value always, each pair with --full, and by far not all.
    assert {f for case in always for f in features(case)} == {f for case in CASES for f in features(case)}
    assert pairs_in(full) == pairs_in(CASES)
    assert set(always) < set(full) and len(full) < len(CASES) * 2 // 3
    assert {mark.name for case in marked for mark in getattr(case, "marks", ())} == {"full", "exhaustive"}


def test_pairs_of_what_runs_always():
    """Other features may say what runs always."""
    marked = tiers.pairs(CASES, features, always=lambda case: [case[0]])
    assert [case[0] for case in tiers.runs_always(marked)] == ["a", "b", "c"]
    assert pairs_in(tiers.runs_with_full(marked)) == pairs_in(CASES)


def test_product():
    choices = ("ab", range(3), "xyzw")
    parameters = tiers.product(*choices)
    assert sorted(p.values for p in parameters) == sorted(itertools.product(*choices))
    always = [p.values for p in parameters if not p.marks]
    assert len(always) >= 4
    assert all({values[i] for values in always} == set(choice) for i, choice in enumerate(choices))
    full = [p.values for p in parameters if pytest.mark.exhaustive not in p.marks]
    assert pairs_in(full) == pairs_in(itertools.product(*choices))
