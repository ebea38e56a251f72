"""route and sort_routes on the CPU and in the simulator, against numpy."""

import re

import blockscale
import numpy as np
import pytest
import tiers
from devices import CHIPS, DEVICES, READ, STORE, run

SCORINGS = ("logits", "softmax", "softmax_of_chosen")
ELEMENTS = ("f32", "bf16", "f16")


def route(folder, stored, element, top_k, scoring, device, static=False, fails=False):
    s, g = stored.shape if static else "??"
    results = f"tensor<{s}x{top_k}xi32>, tensor<{s}x{top_k}xf32>"
    text = f"""func.func @main(%logits: tensor<{s}x{g}x{element}>) -> ({results}) {{
  %ids, %weights = blockscale.route %logits {{top_k = {top_k} : i64, scoring = #blockscale.scoring<{scoring}>}}
      : tensor<{s}x{g}x{element}> to {results}
  return %ids, %weights : {results}
}}
"""
    return run(folder, text, [stored], device, 2, fails)


def check_route(folder, stored, element, top_k, scoring, device, static=False):
    """Ids are exact, and logits as weights. exp differs in the last bits, and each step of a sum by half of one."""
    ids, weights = route(folder, stored, element, top_k, scoring, device, static)
    values = np.asarray(READ[element](stored), np.float32)
    expected_ids, expected = blockscale.route(values, top_k, scoring)
    np.testing.assert_array_equal(ids, expected_ids)
    assert weights.dtype == np.float32 and weights.shape == expected.shape
    if scoring == "logits":
        np.testing.assert_array_equal(weights, expected)
    else:
        steps = stored.shape[1] if scoring == "softmax" else top_k
        np.testing.assert_array_max_ulp(weights, expected, 4 + steps // 2)


# S, G, top_k: all are chosen, one, as many as a warp has lanes; fewer and more groups than lanes, and no multiples.
SIZES = [(5, 3, 3), (9, 33, 1), (3, 36, 32), (8, 8, 2), (1, 1, 1), (4, 64, 6), (6, 257, 8)]


@pytest.mark.parametrize("number, element, scoring, device", tiers.product(
    range(len(SIZES)), ELEMENTS, SCORINGS, DEVICES))
def test_route(number, element, scoring, device, tmp_path):
    s, g, top_k = SIZES[number]
    rng = np.random.default_rng(number)
    stored = STORE[element](rng.standard_normal((s, g)).astype(np.float32) * 3)
    for static in (False, True):
        check_route(tmp_path, stored, element, top_k, scoring, device, static)


@pytest.mark.parametrize("element, device", tiers.product(ELEMENTS, DEVICES))
def test_ties(element, device, tmp_path):
    """The lower number comes first, in one lane and in several; numbers of both signs, and zeros of both."""
    rng = np.random.default_rng(3)
    few = np.float32([-1.5, -0.0, 0.0, 2.0])
    stored = STORE[element](rng.choice(few, (12, 70)))
    stored[0], stored[1] = STORE[element](np.float32([-0.0]))[0], STORE[element](np.float32([-7]))[0]
    for scoring in SCORINGS:
        check_route(tmp_path, stored, element, 24, scoring, device)


@pytest.mark.parametrize("element, device", tiers.product(ELEMENTS, DEVICES))
def test_special_logits(element, device, tmp_path):
    """NaN of any sign and payload comes first, infinities are numbers, and so are the smallest."""
    rng = np.random.default_rng(4)
    bits = {"f32": np.uint32, "bf16": np.uint16, "f16": np.uint16}[element]
    wide = 8 * np.dtype(bits).itemsize
    stored = rng.integers(0, 1 << wide, (8, 40), np.uint64).astype(bits)
    exponent = {"f32": 0x7F800000, "bf16": 0x7F80, "f16": 0x7C00}[element]
    sign = 1 << wide - 1
    special = [exponent, exponent | sign, exponent + 1, exponent | sign | 3, sign - 1, 1, 1 | sign, 0, sign]
    stored[:6] = rng.choice(np.array(special, bits), (6, 40))
    # Rows of nothing but one infinity.
    stored[0], stored[1] = exponent, exponent | sign
    stored = stored if element == "bf16" else stored.view(STORE[element])
    for scoring in SCORINGS:
        check_route(tmp_path, stored, element, 32, scoring, device)


@pytest.mark.parametrize("device", DEVICES)
def test_route_of_no_rows(device, tmp_path):
    check_route(tmp_path, np.zeros((0, 40), np.float32), "f32", 4, "softmax", device)


@pytest.mark.parametrize("device", DEVICES)
def test_large_differences(device, tmp_path):
    """Weights are 1 and 0, or small ones, whatever the size of logits is: exponents are at most 0."""
    logits = np.float32([[1e30, -1e30, 0, 1], [3e38, 2.9e38, -3e38, 1], [-1e5, -1e5 - 20, -1e5 - 80, -1e6]])
    for scoring in SCORINGS:
        check_route(tmp_path, logits, "f32", 4, scoring, device)


@pytest.mark.parametrize("device", DEVICES)
def test_fewer_groups_than_chosen(device, tmp_path):
    said = route(tmp_path, np.zeros((3, 3), np.float32), "f32", 4, "logits", device, fails=True)
    assert "expected at least top_k = 4 groups" in said


# sort_routes


def sort(folder, ids, groups, device, static=(), fails=False, offsets=None):
    """`static` names what is known: letters of S, J and G. `offsets` is their number, if another one."""
    element = "i64" if ids.dtype == np.int64 else "i32"
    s, j = (size if letter in static else "?" for letter, size in zip("SJ", ids.shape))
    t = "?" if "?" in (s, j) else s * j
    g = groups if "G" in static else "?"
    types = f"tensor<{offsets or g}xi32>, tensor<{t}xi32>, tensor<{s}x{j}xi32>"
    argument, constant = (", %g: index", "") if g == "?" or offsets else ("", f"  %g = arith.constant {g} : index\n")
    text = f"""func.func @main(%ids: tensor<{s}x{j}x{element}>{argument}) -> ({types}) {{
{constant}  %offsets, %rows, %positions = blockscale.sort_routes %ids, %g : tensor<{s}x{j}x{element}> to {types}
  return %offsets, %rows, %positions : {types}
}}
"""
    return run(folder, text, [ids] + [np.int64(groups)] * bool(argument), device, 3, fails)


def check_sort(folder, ids, groups, device, static=()):
    for got, expected in zip(sort(folder, ids, groups, device, static), blockscale.sort_routes(ids, groups)):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


GROUPS = (1, 5, 36, 257, 2048)
# S, J: none, one slot, a lot of a warp and one slot more, some lots of each warp, and many; J no power of two.
ROWS = [(0, 4), (1, 1), (8, 4), (33, 1), (205, 5), (701, 3), (1100, 4)]
STATIC = ("", "SJG", "JG", "G")


def draw_ids(rng, groups, shape, element):
    """Some are nobody's, also such as have a group's number in their low bits."""
    ids = rng.integers(0, groups, shape)
    nobody = [-1, -groups, groups, groups + 1, (1 << 31) - 1, -(1 << 31)]
    if element == np.int64:
        nobody += [1 << 32, (1 << 32) + groups - 1, -(1 << 32), 1 << 62, -(1 << 63)]
    return np.where(rng.random(shape) < 0.2, rng.choice(nobody, shape), ids).astype(element)


@pytest.mark.parametrize("groups, shape, element, static, device", tiers.product(
    GROUPS, ROWS, (np.int32, np.int64), STATIC, DEVICES), ids=tiers.names)
def test_sort(groups, shape, element, static, device, tmp_path):
    ids = draw_ids(np.random.default_rng([groups, *shape]), groups, shape, element)
    # An empty tensor of static size is refused for GPUs.
    check_sort(tmp_path, ids, groups, device, static if shape[0] else static.replace("S", ""))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("groups", [5, 2048])
def test_one_group(groups, device, tmp_path):
    """All slots in the first group, the last one, or none."""
    for group in (0, groups - 1, -1):
        check_sort(tmp_path, np.full((601, 4), group, np.int32), groups, device)


@pytest.mark.parametrize("device", DEVICES)
def test_neighbors(device, tmp_path):
    """Slots that are sorted already, in reverse, and in turns."""
    slots = np.arange(2000, dtype=np.int32).reshape(500, 4)
    for ids in (slots // 50, 39 - slots // 50, slots % 40):
        check_sort(tmp_path, ids, 40, device)


@pytest.mark.parametrize("chip", CHIPS)
def test_routes_are_sorted(chip, tmp_path):
    """One program with both ops: the second reads what the first has written."""
    logits = np.random.default_rng(6).standard_normal((90, 36)).astype(np.float32)
    results = "tensor<36xi32>, tensor<?xi32>, tensor<?x4xi32>"
    text = f"""func.func @main(%logits: tensor<?x36xf32>) -> ({results}) {{
  %g = arith.constant 36 : index
  %ids, %weights = blockscale.route %logits {{top_k = 4 : i64, scoring = #blockscale.scoring<logits>}}
      : tensor<?x36xf32> to tensor<?x4xi32>, tensor<?x4xf32>
  %offsets, %rows, %positions = blockscale.sort_routes %ids, %g : tensor<?x4xi32> to {results}
  return %offsets, %rows, %positions : {results}
}}
"""
    ids, _ = blockscale.route(logits, 4, "logits")
    for got, expected in zip(run(tmp_path, text, [logits], chip, 3), blockscale.sort_routes(ids, 36)):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("groups, message", [
    (0, "at least 1 group"), (-1, "at least 1 group|a size of at least 0"), (2049, "at most 2048 groups"),
])
def test_wrong_groups(groups, message, device, tmp_path):
    """Where results are parameters, a negative size of one is found first."""
    ids = np.zeros((3, 2), np.int32)
    assert re.search(f"expected ({message})", sort(tmp_path, ids, groups, device, fails=True))
    with pytest.raises(ValueError, match="^groups: expected from 1 to 2048"):
        blockscale.sort_routes(ids, groups)


@pytest.mark.parametrize("device", DEVICES)
def test_wrong_sizes(device, tmp_path):
    """Another number of offsets than of groups, and rows without slots."""
    said = sort(tmp_path, np.zeros((3, 2), np.int32), 5, device, "SJ", fails=True, offsets=4)
    assert "expected offsets to have as many elements as there are groups, 4" in said
    assert "expected J to be at least 1" in sort(tmp_path, np.zeros((3, 0), np.int32), 5, device, "G", fails=True)
