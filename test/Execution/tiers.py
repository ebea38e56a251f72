"""Which of many cases run always, and which with --full only: each value once, or the whole product."""

import pytest


def full(case):
    """A case that runs with --full only."""
    return pytest.param(case, marks=pytest.mark.full)


def cover(cases, features):
    """A case runs always if it is the first to show one of its `features`; the others are `full`."""
    seen, result = set(), []
    for case in cases:
        new = set(features(case)) - seen
        seen |= new
        result.append(case if new else full(case))
    return result


def first(cases, count):
    """The first `count` run always, the others are `full`."""
    return [case if i < count else full(case) for i, case in enumerate(cases)]
