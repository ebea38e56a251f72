"""Executes functions of MLIR's generic form in numpy, on all lanes of many warps at a time.

A scalar is an array that broadcasts to (32, warps), a vector has its elements in one more
dimension. Control flow is the same in all lanes. This knows the ops that emulated instructions
are made of, and no others.
"""

import re
from typing import NamedTuple, Optional

import numpy as np

LANES = 32
TYPES = {
    "i1": np.bool_, "i8": np.uint8, "i32": np.uint32, "i64": np.uint64, "index": np.uint64,
    "f32": np.float32, "f64": np.float64,
}
BINARY = {
    "arith.addi": np.add, "arith.muli": np.multiply, "arith.divui": np.floor_divide,
    "arith.remui": np.remainder, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or,
    "arith.shli": np.left_shift, "arith.shrui": np.right_shift, "arith.addf": np.add,
    "arith.mulf": np.multiply,
}
CASTS = ("index_cast", "extui", "trunci", "uitofp", "extf", "truncf")
PREDICATES = {0: np.equal, 1: np.not_equal, 6: np.less, 9: np.greater_equal}  # unsigned

LINE = re.compile(
    r'(?:(?P<result>%\w+)(?::\d+)? = )?"(?P<name>[\w.]+)"\((?P<operands>[^()]*)\)'
    r"(?: <\{(?P<properties>.*?)\}>)?(?P<region> \(\{)?(?: : \(.*\) -> (?P<type>.*))?"
)


class Op(NamedTuple):
    name: str
    result: Optional[str]
    operands: list
    properties: str
    type: str
    body: Optional["Body"]


class Body(NamedTuple):
    """A region of one block."""

    arguments: list
    ops: list


def parse_functions(text):
    """{name: Body} of the functions of a module that emulated instructions are in."""
    lines, functions = iter(text.splitlines()), {}
    for line in lines:
        match = re.search(r'"func.func"\(\) <\{.*sym_name = "(\w+)"', line)
        if match:
            functions[match[1]] = _parse_body(lines)
    return functions


def _parse_body(lines):
    arguments, ops = re.findall(r"(%\w+):", next(lines)), []
    for line in lines:
        if line.strip().startswith("})"):
            return Body(arguments, ops)
        match = LINE.fullmatch(line.strip())
        body = _parse_body(lines) if match["region"] else None
        operands = [name for name in match["operands"].split(", ") if name]
        ops.append(
            Op(match["name"], match["result"], operands, match["properties"], match["type"], body)
        )
    raise ValueError("a region does not end")


def call(body, arguments):
    """The results of a function."""
    with np.errstate(all="ignore"):
        return _execute(body, arguments, {})


def _execute(body, arguments, values):
    values.update(zip(body.arguments, arguments))
    for op in body.ops:
        operands = [values[name] for name in op.operands]
        if op.name in ("func.return", "scf.yield"):
            return operands
        result = _loop(op, operands, values) if op.body else _compute(op, *operands)
        if isinstance(result, list):
            values.update((f"{op.result}#{i}", value) for i, value in enumerate(result))
        else:
            values[op.result] = result
    raise ValueError("a block does not end")


def _loop(op, operands, values):
    """scf.for, which must be the same in all lanes."""
    assert op.name == "scf.for", op
    first, last, step = (int(np.unique(bound).item()) for bound in operands[:3])
    sums = operands[3:]
    for i in range(first, last, step):
        sums = _execute(op.body, [np.uint32(i), *sums], values)
    return sums


def _compute(op, *operands):
    name, short_name = op.name, op.name.split(".")[1]
    if name in BINARY:
        if name in ("arith.shli", "arith.shrui"):
            assert np.all(operands[1] < 8 * operands[0].dtype.itemsize), op
        return BINARY[name](*operands)
    if short_name in CASTS:
        return operands[0].astype(TYPES[op.type])
    if name == "arith.constant":
        value, kind = re.search(r"value = (\S+) : (\w+)", op.properties).groups()
        if kind == "f64" and value.startswith("0x"):
            return np.uint64(int(value, 16)).view(np.float64)
        return TYPES[kind](value)
    if name == "arith.bitcast":
        return operands[0].view(TYPES[op.type])
    if name == "arith.negf":
        return -operands[0]
    if name == "arith.select":
        return np.where(*operands)
    if name == "arith.cmpi":
        return PREDICATES[int(re.search(r"\d+", op.properties)[0])](*operands)
    if name == "vector.extract":
        return operands[0][..., int(re.search(r"i64: (\d+)>", op.properties)[1])]
    if name == "vector.from_elements":
        return np.stack(operands, axis=-1)
    if name == "gpu.lane_id":
        return np.arange(LANES, dtype=np.uint64)[:, None]
    if name == "gpu.shuffle":
        value, lane, width = operands
        assert "idx" in op.properties and np.all(width == LANES) and np.all(lane < LANES), op
        lane = np.broadcast_to(lane, value.shape).astype(np.intp)
        return [np.take_along_axis(value, lane, axis=0), np.ones(value.shape, bool)]
    raise ValueError(f"unknown op {op}")
