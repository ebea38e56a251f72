"""linalg.transpose of matrices, with static and dynamic sizes."""

import numpy as np
import pytest
from row_cases import CHIPS, run, tensor

# In the files, elements are their bits.
STORED = {"i8": np.uint8, "f8E4M3FN": np.uint8, "bf16": np.uint16, "f16": np.uint16, "f32": np.uint32, "i32": np.uint32}
# One element, a row, parts of tiles, a whole one, and tiles of which some are whole.
SHAPES = [(1, 1), (1, 200), (70, 1), (33, 31), (64, 64), (130, 192), (128, 71)]


def transpose(shape, element, static):
    sizes = shape if static else ("?", "?")
    type, result = tensor(sizes, element), tensor(sizes[::-1], element)
    of = "" if static else "%n, %m"
    return f"""func.func @main(%x: {type}) -> {result} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : {type}
  %n = tensor.dim %x, %c1 : {type}
  %e = tensor.empty({of}) : {result}
  %t = linalg.transpose ins(%x : {type}) outs(%e : {result}) permutation = [1, 0]
  return %t : {result}
}}
"""


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("element", STORED)
def test_shapes(chip, element, tmp_path, request):
    """Each shape with static and dynamic sizes; without --exhaustive in turns."""
    rng = np.random.default_rng(7)
    stored = STORED[element]
    for number, shape in enumerate(SHAPES):
        x = rng.integers(0, np.iinfo(stored).max, shape, stored)
        is_both = request.config.getoption("--exhaustive")
        for static in (True, False) if is_both else (number % 2 == 0,):
            [result] = run(tmp_path, transpose(shape, element, static), [as_file(x, element)], chip)
            np.testing.assert_array_equal(result.view(stored), x.T)


def as_file(x, element):
    return x.view({"f16": np.float16, "f32": np.float32, "i8": np.int8, "i32": np.int32}.get(element, x.dtype))
