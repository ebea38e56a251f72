"""What a function takes and gives: how many arrays, of which type and shape.

Kernels for GPUs say that in their launch info (docs/Programs.md), and functions for the CPU in the
type that the compiler prints of them.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple


class Operand(NamedTuple):
    """An argument or a result.

    dtype  a code of numpy without byte order, such as "u1"; codes of narrow floats are "u1"
    shape  a size for each dimension; None for one that is known at run time only
    """

    dtype: str
    shape: Tuple[Optional[int], ...]


class Signature(NamedTuple):
    arguments: List[Operand]
    results: List[Operand]


def _count_results(value: Any) -> int:
    """One more than the highest number of a result in any parameter of a launch info."""
    if isinstance(value, dict):
        own = value["result"] + 1 if isinstance(value.get("result"), int) else 0
        return max([own, *map(_count_results, value.values())])
    if isinstance(value, list):
        return max(map(_count_results, value), default=0)
    return 0


def from_launch_info(info: Dict[str, Any]) -> Signature:
    """Of the function that a launch info belongs to."""
    operands = [
        Operand(o["dtype"], tuple(n if isinstance(n, int) else None for n in o["shape"]))
        for o in info["operands"]
    ]
    first_result = len(operands) - _count_results([kernel["params"] for kernel in info["kernels"]])
    return Signature(operands[:first_result], operands[first_result:])


# By the element type of MLIR: what .npy files have for it.
_DTYPES = {
    "f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2",
    "index": "i8", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "i1": "u1",
}  # fmt: skip


def _operand(text: str) -> Operand:
    """Of a type such as `tensor<4x?xf8E4M3FN>` or `f32`."""
    match = re.match(r"tensor<(?P<sizes>(?:(?:\d+|\?)x)*)(?P<element>\w+)", text.strip())
    element = match["element"] if match else re.match(r"\w+", text.strip())[0]
    sizes = match["sizes"].split("x")[:-1] if match else []
    # All other types are floats of at most 8 bits.
    dtype = _DTYPES.get(element, "u1")
    return Operand(dtype, tuple(None if size == "?" else int(size) for size in sizes))


def _split(text: str) -> List[str]:
    """The parts of a list, at commas that are in no brackets."""
    parts, depth, part = [], 0, ""
    for character in re.sub("->", "", text):
        depth += (character in "(<{[") - (character in ")>}]")
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    return [p for p in [*parts, part] if p.strip()]


def _list(text: str) -> Tuple[str, str]:
    """What is in the parentheses that a text starts with, and what is behind them."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:position], text[position + 1 :]
    raise ValueError(f"expected a list in parentheses, got {text!r}")


def from_mlir(text: str, entry: Optional[str]) -> Tuple[str, Signature]:
    """The name and the signature of function `entry`, or of the only public one, as MLIR prints it.

    Raises ValueError if there is no such function.
    """
    names = re.escape(entry) if entry else r"[\w$.-]+"
    heads = list(re.finditer(rf'func\.func (?:public )?@"?({names})"?(?=\()', text))
    if len(heads) != 1:
        what = repr(entry) if entry else "that is the only public one"
        raise ValueError(f"entry: expected a function {what}, got {len(heads)}")
    arguments, rest = _list(text[heads[0].end() :])
    types = [part.split(":", 1)[1] for part in _split(arguments)]
    line = rest.split("\n", 1)[0]
    results: Sequence[str] = []
    if line.lstrip().startswith("->"):
        after = line.lstrip()[2:].strip()
        results = _split(_list(after)[0]) if after.startswith("(") else [after]
    return heads[0][1], Signature(list(map(_operand, types)), list(map(_operand, results)))
