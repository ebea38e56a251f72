"""linalg.softmax of any rank, dimension and float, with static and dynamic sizes."""

import numpy as np
import pytest
from row_cases import DEVICES, from_bits, run, tensor, to_bits

# Half an ulp of the type, and what exp, the sum and the quotient of f32 lose.
ERROR = {"f32": 2e-6, "f16": 2.0**-11 + 2e-6, "bf16": 2.0**-8 + 2e-6}
SMALLEST = {"f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133}
# Shape and dimension: parts of a warp, registers, a block, loops; other dimensions; no rows.
SHAPES = [
    ((5, 7), 1), ((3, 64), 1), ((2, 1000), 1), ((2, 4200), 1), ((2, 3, 40), 2), ((70,), 0),
    ((40, 6), 0), ((2, 33, 5), 1),
]


def softmax(shape, dim, dtype, static=True):
    type = tensor(shape if static else ["?"] * len(shape), dtype)
    return f"""func.func @main(%x: {type}, %out: {type}) -> {type} {{
  %y = linalg.softmax dimension({dim}) ins(%x : {type}) outs(%out : {type}) -> {type}
  return %y : {type}
}}
"""


def expect(x, dim):
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max(dim, keepdims=True))
        return e / e.sum(dim, keepdims=True)


def check(result, expected, dtype):
    error = np.abs(from_bits(result, dtype) - expected)
    assert (error <= ERROR[dtype] * expected + SMALLEST[dtype]).all(), error.max()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ERROR)
def test_shapes(device, dtype, tmp_path, request):
    """Each shape with static or dynamic sizes, in turns; with --exhaustive with both."""
    rng = np.random.default_rng(3)
    # Every chip sees each kind of row, and each size that a dynamic one has.
    for number, (shape, dim) in enumerate(SHAPES if dtype == "f32" else SHAPES[1:5]):
        x = to_bits(3 * rng.standard_normal(shape), dtype)
        is_static = (number + DEVICES.index(device)) % 2 == 0
        is_both = request.config.getoption("--exhaustive")
        for static in (True, False) if is_both else (is_static,):
            text = softmax(shape, dim, dtype, static)
            [result] = run(tmp_path, text, [x, np.zeros_like(x)], device, compare=dtype == "f32")
            check(result, expect(from_bits(x, dtype), dim), dtype)


@pytest.mark.parametrize("device", DEVICES)
def test_ends(device, tmp_path):
    """NaN, infinities, and differences that leave nothing of a number."""
    inf, nan = np.inf, np.nan
    rows = [
        [0, nan, 1], [inf, 0, 0], [-inf, 0, 0], [-inf, -inf, -inf], [3e38, -3e38, 0],
        [nan, nan, nan], [1e4, 1e4, 1e4], [-1e30, -1e30, -2e30],
    ]
    for length in (3, 600, 9000):
        x = np.full((len(rows), length), -100, np.float32)
        for row, start in zip(x, rows):
            row[: 3 * (length // 3)] = np.tile(start, length // 3)
        [result] = run(tmp_path, softmax(x.shape, 1, "f32"), [x, np.zeros_like(x)], device)
        expected = expect(x.astype(np.float64), 1)
        assert (np.isnan(result) == np.isnan(expected)).all(), length
        finite = ~np.isnan(expected)
        check(result[finite], expected[finite], "f32")


def test_sizes_of_the_output(tmp_path):
    """Of another size than the input: an error on every device, and not memory of others."""
    x, out = np.zeros((2, 40), np.float32), np.zeros((2, 39), np.float32)
    for device in ("cpu", "sm_120a"):
        with pytest.raises(AssertionError, match="size"):
            run(tmp_path, softmax(x.shape, 1, "f32", static=False), [x, out], device)
