"""quantize and dequantize with coarse scales in the simulator, bit for bit the numpy functions.

Kernels differ by block, by how values lie in memory (whole vectors of a row, or not), and by what is
known of sizes; arithmetic by types, rule and chip. Each meets each other one.
"""

import re
import subprocess
import sys
from pathlib import Path

import blockscale
import numpy as np
import pytest
from harness import RUN, Program
from warp_specialized_cases import cover

sys.path.append(str(Path(__file__).resolve().parents[1] / "quantize"))
from test_coarse_quantize import ALL, hard_values, quantize

TARGETS = ["sm_80", "sm_90a", "sm_100a", "sm_120a"]
F32, E8M0 = "f32", "f8E8M0FNU"
BLOCKS = [(rows, k) for rows in (1, 128, ALL) for k in (16, 32, 64, 128, ALL)]
RULES = [None, "rceil", "floor", "ceil", "even"]
TYPES = ["f32", "f16", "bf16"]
# Whole vectors of 8 and of fewer values or single ones, whole and partial last blocks, more rows than a tile has.
SHAPES = [(130, 320), (3, 97), (257, 36), (2, 129, 192), (1, 1), (2, 2, 5, 1096), (256, 128), (3, 131, 50)]
LAYOUTS = ["static", "dynamic", "rows", "multiples", "transposed", "in"]


def simulate(program, target, folder, *flags):
    """The results, as arrays."""
    (folder / "main.mlir").write_text(program.text())
    inputs = [folder / f"in{i}.npy" for i in range(len(program.arrays))]
    outputs = [folder / f"out{i}.npy" for i in range(len(program.results))]
    for path, array in zip(inputs, program.arrays):
        np.save(path, array)
    command = [RUN, folder / "main.mlir", "--device=sim", f"--target={target}", *flags]
    for path in outputs:
        command += ["-o", path]
    done = subprocess.run([*command, *inputs], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr + program.text()
    return [np.load(path) for path in outputs]


def assert_same_bits(got, wanted):
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    bits = [each.view(f"u{each.itemsize}") for each in (got.reshape(-1), np.ascontiguousarray(wanted).reshape(-1))]
    np.testing.assert_array_equal(*bits)


def to_type(values, dtype):
    with np.errstate(over="ignore", under="ignore"):
        return {"f32": lambda: values, "f16": lambda: values.astype(np.float16), "bf16": lambda: blockscale.to_bf16(values)}[dtype]()


def make_values(shape, dtype, seed):
    """Some blocks have a special value, in any of their columns."""
    rng = np.random.default_rng(seed)
    values = hard_values(shape, seed) if np.prod(shape[:-1]) > 2 else rng.standard_normal(shape).astype(np.float32)
    if seed % 2:
        values.reshape(-1)[rng.integers(values.size)] = [np.nan, np.inf, -np.inf][seed % 3]
    return to_type(values, dtype)


def is_legal(element, scale, block):
    return scale == F32 or (block[1] != 16 and block != (1, 32))


def add_argument(program, values, dtype, layout):
    """x, of which the layout says what is known."""
    shape = values.shape
    if layout == "transposed":
        return program.transpose(program.arg(np.ascontiguousarray(np.swapaxes(values, -1, -2)), dtype))
    if layout == "in":
        # Made by another op, which may be fused.
        x = program.arg(values, dtype)
        return program.op(f"arith.negf {x.name} : {x.type}", shape, dtype)
    known = {"dynamic": [None] * len(shape), "multiples": [None] * len(shape), "rows": [*[None] * (len(shape) - 1), shape[-1]]}
    return program.arg(values, dtype, known.get(layout))


def give_multiples(program, shape):
    """Promises what divides the sizes of the first argument."""
    multiples = ", ".join(["1"] * (len(shape) - 1) + [str(8 if shape[-1] % 8 == 0 else 1)])
    text = program.text
    program.text = lambda: re.sub(
        r"(%arg0: tensor<[^>]*>)", rf"\1 {{blockscale.multiples = array<i64: {multiples}>}}", text(), count=1
    )


CASES = [
    [(element, scale), *others]
    for (element, scale), *others in cover(
        [[(e, s) for s in (F32, E8M0) for e in blockscale.ELEMENT_TYPES], BLOCKS, SHAPES, RULES, TYPES, LAYOUTS, TARGETS], 2, 7
    )
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_quantize(number, tmp_path):
    (element, scale), block, shape, rule, dtype, layout, target = CASES[number]
    if not is_legal(element, scale, block):
        block = (block[0], 64)
    if element == "f4E2M1FN":
        shape = (*shape[:-1], shape[-1] + shape[-1] % 2)  # packed rows end on a byte
    values = make_values(shape, dtype, number)
    program = Program()
    x = add_argument(program, values, dtype, layout)
    if layout == "in":
        values = -values if dtype != "bf16" else values ^ np.uint16(0x8000)
    if layout == "multiples":
        give_multiples(program, shape)
    for result in quantize(program, x, element, scale, block, rule, amax=True):
        program.result(result)
    wanted = blockscale.quantize(values, element, scale, rule=rule, scale_block=block, amax=True)
    for got, each in zip(simulate(program, target, tmp_path), wanted):
        assert_same_bits(got, each)
