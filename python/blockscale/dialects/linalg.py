"""Structured ops on tensors, in destination style: `outs` has the tensors that results are formed on."""

from __future__ import annotations

from typing import Callable, Dict, Sequence, Union

from ..ir import InsertionPoint, Operation, Value
from ..ir.affine import AffineMap
from ..ir.attributes import AffineMapAttr, ArrayAttr, Attribute, DenseI32ArrayAttr, DenseI64ArrayAttr
from ..ir.library import LIBRARY
from ..ir.types import ShapedType, Type
from ._build import build, location_of, results_of, value_of

_NAMED = {
    # Products of two tensors.
    "matmul": 2, "batch_matmul": 2, "matvec": 2, "vecmat": 2, "dot": 2,
    # Elementwise ops.
    "add": 2, "sub": 2, "mul": 2, "div": 2, "max": 2, "min": 2, "powf": 2,
    "abs": 1, "ceil": 1, "erf": 1, "exp": 1, "floor": 1, "log": 1, "negf": 1, "reciprocal": 1, "round": 1, "rsqrt": 1,
    "sqrt": 1, "square": 1, "tanh": 1, "copy": 1, "fill": 1,
}


def _structured(name: str, ins, outs, attributes: Dict[str, Attribute], loc, ip, fill: Callable) -> Union[Value, tuple]:
    """An op with results of the types of `outs`; `fill` gets the op and makes its region."""
    ins = [value_of(value, "ins") for value in ins]
    outs = [value_of(value, "outs") for value in outs]
    loc = location_of([*ins, *outs], loc)
    operation = Operation.create(
        name, [value.type for value in outs], [*ins, *outs], attributes, regions=1, loc=loc, ip=ip
    )
    fill(operation)
    return results_of(operation)


def _segments(ins, outs) -> Dict[str, Attribute]:
    return {"operandSegmentSizes": DenseI32ArrayAttr.get([len(ins), len(outs)], value_of(outs[0], "outs").context)}


def _named(name: str, count: int):
    def builder(*ins: Value, outs: Sequence[Value], loc=None, ip=None):
        if len(ins) != count:
            raise TypeError(f"{name}: expected {count} operands, got {len(ins)}")

        def fill(operation: Operation) -> None:
            LIBRARY.mlirLinalgFillBuiltinNamedOpRegion(operation._ptr)

        return _structured(f"linalg.{name}", ins, outs, _segments(ins, outs), loc, ip, fill)

    builder.__name__ = builder.__qualname__ = name
    builder.__doc__ = f"`linalg.{name}` of {count} operand{'s' * (count > 1)}."
    return builder


globals().update({name: _named(name, count) for name, count in _NAMED.items()})


def yield_(values: Sequence[Value], *, loc=None, ip=None) -> Operation:
    return build("linalg.yield", values, loc=loc, ip=ip)


def _element_type(type: Type) -> Type:
    return type.element_type if isinstance(type, ShapedType) else type


def _with_body(body: Callable, values: Sequence[Value]):
    def fill(operation: Operation) -> None:
        types = [_element_type(value.type) for value in values]
        block = operation.regions[0].blocks.append(*types)
        with InsertionPoint(block):
            returned = body(*block.arguments)
            if isinstance(returned, (Value, Operation)):
                returned = (returned,)
            yield_([value_of(value, "what the body returns") for value in returned], loc=operation.location)

    return fill


def generic(
    ins: Sequence[Value], outs: Sequence[Value], indexing_maps: Sequence[Union[AffineMap, str]],
    iterator_types: Sequence[str], body: Callable, *, loc=None, ip=None,
):
    """`body` gets elements of all operands and returns those of the results.

    A map is an AffineMap or text, such as "(d0, d1) -> (d1)"; an iterator "parallel" or "reduction".
    """
    context = value_of(outs[0], "outs").context
    maps = [
        AffineMapAttr.get(item) if isinstance(item, AffineMap) else Attribute.parse(f"affine_map<{item}>", context)
        for item in indexing_maps
    ]
    iterators = [Attribute.parse(f"#linalg.iterator_type<{item}>", context) for item in iterator_types]
    attributes = {
        "indexing_maps": ArrayAttr.get(maps, context), "iterator_types": ArrayAttr.get(iterators, context),
        **_segments(ins, outs),
    }
    return _structured("linalg.generic", ins, outs, attributes, loc, ip, _with_body(body, [*ins, *outs]))


def transpose(source: Value, *, outs: Sequence[Value], permutation: Sequence[int], loc=None, ip=None) -> Value:
    attributes = {"permutation": DenseI64ArrayAttr.get(permutation, source.context)}
    body = _with_body(lambda element, _: element, [source, *outs])
    return _structured("linalg.transpose", [source], outs, attributes, loc, ip, body)


def broadcast(source: Value, *, outs: Sequence[Value], dimensions: Sequence[int], loc=None, ip=None) -> Value:
    attributes = {"dimensions": DenseI64ArrayAttr.get(dimensions, source.context)}
    body = _with_body(lambda element, _: element, [source, *outs])
    return _structured("linalg.broadcast", [source], outs, attributes, loc, ip, body)


def reduce(source: Value, *, outs: Sequence[Value], dimensions: Sequence[int], body: Callable, loc=None, ip=None):
    """`body` gets an element and what there is so far."""
    attributes = {"dimensions": DenseI64ArrayAttr.get(dimensions, source.context)}
    return _structured("linalg.reduce", [source], outs, attributes, loc, ip, _with_body(body, [source, *outs]))


def map(*ins: Value, outs: Sequence[Value], body: Callable, loc=None, ip=None):
    """Elementwise; `body` gets an element of each operand and of the output."""
    return _structured("linalg.map", ins, outs, {}, loc, ip, _with_body(body, [*ins, *outs]))
