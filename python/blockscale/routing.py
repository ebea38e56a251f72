"""The meaning of `blockscale.route` and `blockscale.sort_routes`, in numpy: what comes before the grouped products of a
mixture of experts.
"""

from __future__ import annotations

from typing import Tuple

import numpy as np

from .arrays import expect_array, expect_count, expect_name, require

SCORINGS = ("logits", "softmax", "softmax_of_chosen")
MOST_CHOSEN = 32
MOST_GROUPS = 2048
NOBODY = -1


def _expect_number(value, name, most):
    """`value`, an integer from 1 to `most`."""
    number = expect_count(value, name)
    require(number is not None and 1 <= number <= most, name, f"from 1 to {most}", value)
    return number


def route(logits: np.ndarray, top_k: int, scoring: str) -> Tuple[np.ndarray, np.ndarray]:
    """The groups with the largest logits of each row, and their weights: int32 and float32 of shape (S, top_k).

    logits   float32 of (S, G)
    top_k    how many groups a row has: from 1 to 32, and at most G
    scoring  what weights are: "logits"; "softmax", of all logits of the row; or "softmax_of_chosen"

    The largest comes first, and of equal ones the lower number. -0 equals +0, and NaN is larger than all numbers.

    >>> import numpy as np
    >>> ids, weights = route(np.array([[0, 2, 2, 1]], np.float32), 2, "softmax_of_chosen")
    >>> ids, weights
    (array([[1, 2]], dtype=int32), array([[0.5, 0.5]], dtype=float32))

    Raises TypeError for arrays of another element type, ValueError for other numbers and names.
    """
    logits = expect_array(logits, "logits", np.float32)
    require(logits.ndim == 2, "logits rank", 2, logits.ndim)
    most = min(MOST_CHOSEN, logits.shape[1])
    top_k = _expect_number(top_k, "top_k", most)
    require(expect_name(scoring, "scoring") in SCORINGS, "scoring", f"one of {', '.join(SCORINGS)}", repr(scoring))
    # A stable sort keeps the order of equal ones.
    nan = np.isnan(logits)
    order = np.argsort(-np.where(nan, np.float32(0), logits), axis=1, kind="stable")
    order = np.take_along_axis(
        order, np.argsort(~np.take_along_axis(nan, order, 1), axis=1, kind="stable"), 1
    )
    ids = order[:, :top_k].astype(np.int32)
    chosen = np.take_along_axis(logits, ids, 1)
    if scoring == "logits":
        return ids, chosen
    with np.errstate(invalid="ignore", over="ignore"):  # infinity - infinity, and what is far apart
        of = logits if scoring == "softmax" else chosen
        total = np.exp(of - chosen[:, :1]).sum(axis=1, keepdims=True, dtype=np.float32)
        return ids, np.exp(chosen - chosen[:, :1]) / total


def sort_routes(ids: np.ndarray, groups: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The slots of all rows, sorted by group: (offsets, rows, positions), int32 of (groups,), (S * J,) and (S, J).

    ids     int32 or int64 of (S, J): the group of each slot. Others than 0 to groups - 1 are nobody's
    groups  from 1 to 2048

    offsets[g] is where group g ends, rows has the row of each sorted slot, and positions is where each slot is. Slots of
    one group stay in order. Those of nobody have the position -1, and there are as many rows of -1 at the end.

    >>> import numpy as np
    >>> sort_routes(np.array([[1, 0], [1, 5]], np.int32), 3)
    (array([1, 3, 3], dtype=int32), array([ 0,  0,  1, -1], dtype=int32), array([[ 1,  0],
           [ 2, -1]], dtype=int32))

    Raises TypeError for arrays of another element type, ValueError for other shapes and numbers.
    """
    if not isinstance(ids, np.ndarray) or ids.dtype != np.int64:
        ids = expect_array(ids, "ids", np.int32, "int64")
    require(ids.ndim == 2 and ids.shape[1] >= 1, "ids shape", "(S, J) with J of at least 1", ids.shape)
    groups = _expect_number(groups, "groups", MOST_GROUPS)
    flat = ids.reshape(-1)
    keys = np.where((flat >= 0) & (flat < groups), flat, groups)
    offsets = np.cumsum(np.bincount(keys, minlength=groups + 1)[:groups]).astype(np.int32)
    order = np.argsort(keys, kind="stable")
    rows = (order // ids.shape[1]).astype(np.int32)
    positions = np.empty(flat.shape, np.int32)
    positions[order] = np.arange(flat.size)
    rows[offsets[-1]:] = NOBODY
    positions[keys == groups] = NOBODY
    return offsets, rows, positions.reshape(ids.shape)
