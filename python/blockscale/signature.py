"""The signature of a function: the types and shapes of its arguments and results.

It comes from the launch info (docs/Programs.md) for GPUs, and for the CPU from the function type that
the compiler prints.
"""

from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple


class Operand(NamedTuple):
    """An argument or a result.

    dtype   a type code of numpy without byte order, such as "u1", which narrow floats have
    shape   a size for each dimension; None if it is known at run time only
    packed  (elements, bytes): how many elements are in how many bytes of a buffer; here, each has a byte
    """

    dtype: str
    shape: Tuple[Optional[int], ...]
    packed: Tuple[int, int] = (1, 1)


class Signature(NamedTuple):
    arguments: List[Operand]
    results: List[Operand]


def _count_results(value: Any) -> int:
    """The number of results: one more than the highest index of a result in a launch info."""
    if isinstance(value, dict):
        own = value["result"] + 1 if isinstance(value.get("result"), int) else 0
        return max([own, *map(_count_results, value.values())])
    if isinstance(value, list):
        return max(map(_count_results, value), default=0)
    return 0


def from_launch_info(info: Dict[str, Any]) -> Signature:
    """The signature of the function of a launch info."""
    operands = [
        Operand(
            o["dtype"],
            tuple(n if isinstance(n, int) else None for n in o["shape"]),
            tuple(o.get("packed", (1, 1))),
        )
        for o in info["operands"]
    ]
    first_result = len(operands) - _count_results([kernel["params"] for kernel in info["kernels"]])
    return Signature(operands[:first_result], operands[first_result:])


# The type in .npy files of each element type of MLIR.
_DTYPES = {
    "f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2",
    "index": "i8", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "i1": "u1",
}  # fmt: skip


# (elements, bytes) of packed buffers, by the prefix of the element type.
_PACKED = {"f4E": (2, 1), "f6E": (4, 3)}


def _operand(text: str) -> Operand:
    """The operand of a type such as `tensor<4x?xf8E4M3FN>`, `memref<4xf32>` or `f32`."""
    match = re.match(r"(?:tensor|memref)<(?P<sizes>(?:(?:\d+|\?)x)*)(?P<element>\w+)", text.strip())
    element = match["element"] if match else re.match(r"\w+", text.strip())[0]
    sizes = match["sizes"].split("x")[:-1] if match else []
    # All other types are floats of at most 8 bits.
    dtype = _DTYPES.get(element, "u1")
    packed = next((unit for name, unit in _PACKED.items() if element.startswith(name)), (1, 1))
    return Operand(dtype, tuple(None if size == "?" else int(size) for size in sizes), packed)


# Destinations: arguments that an op writes completely.
_WRITTEN = re.compile(r"bufferization\.materialize_in_destination %[\w#]+ in (?:restrict )?(?:writable )?(%\w+)")


def _split(text: str) -> List[str]:
    """Splits a list at the commas outside of brackets."""
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
    """The text inside of the parentheses that `text` starts with, and the text after them."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:position], text[position + 1 :]
    raise ValueError(f"expected a list in parentheses, got {text!r}")


def from_mlir(text: str, entry: Optional[str]) -> Tuple[str, Signature]:
    """The name and the signature of function `entry`, or of the only public one, as MLIR prints it.

    Arguments that are destinations become results, after those that the function returns. Raises ValueError if
    there is no such function.
    """
    names = re.escape(entry) if entry else r"[\w$.-]+"
    heads = list(re.finditer(rf'func\.func (?:public )?@"?({names})"?(?=\()', text))
    if len(heads) != 1:
        what = repr(entry) if entry else "that is the only public one"
        raise ValueError(f"entry: expected a function {what}, got {len(heads)}")
    arguments, rest = _list(text[heads[0].end() :])
    pairs = [part.split(":", 1) for part in _split(arguments)]
    line, _, body = rest.partition("\n")
    written = set(_WRITTEN.findall(body.split("func.func", 1)[0]))
    types = [type for name, type in pairs if name.strip() not in written]
    destinations = [type for name, type in pairs if name.strip() in written]
    results: Sequence[str] = []
    if line.lstrip().startswith("->"):
        after = line.lstrip()[2:].strip()
        results = _split(_list(after)[0]) if after.startswith("(") else [after]
    return heads[0][1], Signature(list(map(_operand, types)), list(map(_operand, [*results, *destinations])))
