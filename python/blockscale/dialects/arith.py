"""Constants, and arithmetic of scalars, vectors and tensors."""

from __future__ import annotations

from typing import Union

from ..ir import Value
from ..ir.attributes import Attribute, DenseElementsAttr, FloatAttr, IntegerAttr
from ..ir.context import Location, default_location
from ..ir.types import FloatType, Type
from ._build import build

# Of two operands of one type, which the result has.
_BINARY = (
    "addf", "addi", "andi", "ceildivsi", "divf", "divsi", "divui", "floordivsi", "maximumf", "maxnumf", "maxsi",
    "maxui", "minimumf", "minnumf", "minsi", "minui", "mulf", "muli", "ori", "remf", "remsi", "remui", "shli", "shrsi", "shrui",
    "subf", "subi", "xori",
)
# To another type, which is given.
_CASTS = (
    "bitcast", "extf", "extsi", "extui", "fptosi", "fptoui", "index_cast", "index_castui", "sitofp", "truncf", "trunci",
    "uitofp",
)
_CMPF = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)
_CMPI = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def _binary(name: str):
    def builder(lhs: Value, rhs: Value, *, loc=None, ip=None) -> Value:
        return build(f"arith.{name}", [lhs, rhs], infer_type=True, loc=loc, ip=ip)

    return _named(builder, name, f"`arith.{name}` of two values of one type.")


def _cast(name: str):
    def builder(out: Type, in_: Value, *, loc=None, ip=None) -> Value:
        return build(f"arith.{name}", [in_], [out], loc=loc, ip=ip)

    return _named(builder, name, f"`arith.{name}` to the type `out`.")


def _named(builder, name: str, doc: str):
    builder.__name__ = builder.__qualname__ = name
    builder.__doc__ = doc
    return builder


globals().update({name: _binary(name) for name in _BINARY}, **{name: _cast(name) for name in _CASTS})


def constant(result: Type, value: Union[int, float, bool, Attribute, bytes], *, loc=None, ip=None) -> Value:
    """Of a number; of an attribute; or, for a tensor or vector, of the bytes of its elements."""
    if isinstance(value, Attribute):
        attribute = value
    elif isinstance(value, bytes):
        attribute = DenseElementsAttr.get_raw(result, value)
    elif isinstance(result, FloatType):
        attribute = FloatAttr.get(result, value)
    else:
        attribute = IntegerAttr.get(result, int(value))
    loc = default_location(loc) if loc is not None else _location(result)
    return build("arith.constant", [], [result], {"value": attribute}, loc=loc, ip=ip)


def _location(result: Type) -> Location:
    try:
        return default_location(None)
    except ValueError:
        return Location.unknown(result.context)


def negf(operand: Value, *, loc=None, ip=None) -> Value:
    return build("arith.negf", [operand], infer_type=True, loc=loc, ip=ip)


def select(condition: Value, true_value: Value, false_value: Value, *, loc=None, ip=None) -> Value:
    return build("arith.select", [condition, true_value, false_value], infer_type=True, loc=loc, ip=ip)


def _compare(name: str, predicates, predicate: str, lhs: Value, rhs: Value, loc, ip) -> Value:
    if predicate not in predicates:
        raise ValueError(f"predicate: expected one of {', '.join(predicates)}, got {predicate!r}")
    i64 = IntegerAttr.get(Type.parse("i64", lhs.context), predicates.index(predicate))
    return build(f"arith.{name}", [lhs, rhs], attributes={"predicate": i64}, infer_type=True, loc=loc, ip=ip)


def cmpf(predicate: str, lhs: Value, rhs: Value, *, loc=None, ip=None) -> Value:
    """`predicate` by its name, such as "olt"."""
    return _compare("cmpf", _CMPF, predicate, lhs, rhs, loc, ip)


def cmpi(predicate: str, lhs: Value, rhs: Value, *, loc=None, ip=None) -> Value:
    """`predicate` by its name, such as "slt"."""
    return _compare("cmpi", _CMPI, predicate, lhs, rhs, loc, ip)
