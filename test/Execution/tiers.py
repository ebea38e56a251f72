"""Which of many cases run always, which with --full, and which with --exhaustive only: each value once, each pair of
values, or the whole product.
"""

import itertools

import pytest


def full(case):
    """A case that runs with --full only."""
    return pytest.param(case, marks=pytest.mark.full)


def unmarked(case):
    return case.values[0] if hasattr(case, "marks") else case


def exhaustive(case):
    """A case that runs with --exhaustive only."""
    return pytest.param(case, marks=pytest.mark.exhaustive)


def cover(cases, features):
    """A case runs always if it is the first to show one of its `features`; the others are `full`."""
    seen, result = set(), []
    for case in cases:
        new = set(features(case)) - seen
        seen |= new
        result.append(case if new else full(case))
    return result


def pairs(cases, features, always=None):
    """A case runs always if it is the first to show one of the features that `always` gives (else: of `features`), with
    --full if it is needed to show two of its `features` together, and else with --exhaustive.
    """
    cases = list(cases)
    tier, seen = [exhaustive] * len(cases), set()
    for i, case in enumerate(cases):
        if not seen.issuperset((always or features)(case)):
            tier[i] = None
        seen |= set((always or features)(case))
    # What runs always shows pairs, too; of the others those first that show most.
    shown = [pairs_of(features(case)) for case in cases]
    missing = set().union(*shown).difference(*(new for i, new in enumerate(shown) if tier[i] is None))
    while missing:
        i = max(range(len(cases)), key=lambda i: len(shown[i] & missing))
        tier[i] = full
        missing -= shown[i]
    return [mark(case) if mark else case for mark, case in zip(tier, cases)]


def runs_always(cases):
    """Of cases of which some are marked, those that are not."""
    return [case for case in cases if not hasattr(case, "marks")]


def runs_with_full(cases):
    """Of cases of which some are marked, those that do not need --exhaustive."""
    return [unmarked(case) for case in cases if pytest.mark.exhaustive not in getattr(case, "marks", ())]


def pairs_of(features):
    """Those of one feature are it and itself."""
    features = sorted(set(features), key=repr)
    return {*itertools.combinations(features, 2), *((feature, feature) for feature in features)}


def first(cases, count, step=1):
    """The first `count` run always; of the others, one of `step` is `full`, and the rest is `exhaustive`."""
    return [
        case if i < count else full(case) if (i - count) % step == 0 else exhaustive(case)
        for i, case in enumerate(cases)
    ]


def product(*choices):
    """The product of choices as parameters: always as many as the longest choice has, each with other values; some that
    have each pair of values are `full`, and the others `exhaustive`.
    """
    choices = [list(choice) for choice in choices]
    diagonal = [tuple(choice[i % len(choice)] for choice in choices) for i in range(max(map(len, choices)))]
    cases = [*diagonal, *(case for case in itertools.product(*choices) if case not in diagonal)]
    cases = pairs(cases, lambda case: list(enumerate(case)))
    return [pytest.param(*unmarked(case), marks=getattr(case, "marks", ())) for case in cases]


def names(value):
    """For numbers of a tuple, as in a size."""
    return "x".join(map(str, value)) if isinstance(value, tuple) else None
