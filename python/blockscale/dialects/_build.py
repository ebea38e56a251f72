"""What builders share."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple, Union

from ..ir import Operation, Value
from ..ir.context import Location, default_location


def results_of(operation: Operation) -> Union[Operation, Value, Tuple[Value, ...]]:
    """The only result, all of several, or the operation if it has none."""
    results = operation.results
    if not len(results):
        return operation
    return results[0] if len(results) == 1 else tuple(results)


def value_of(value, name: str) -> Value:
    """A value, or the only result of an operation."""
    if isinstance(value, Operation):
        return value.result
    if not isinstance(value, Value):
        raise TypeError(f"{name}: expected a Value, got {type(value).__name__}")
    return value


def location_of(values: Sequence[Optional[Value]], loc: Optional[Location]) -> Location:
    """The location that is given or set, or an unknown one of the context of the values."""
    if loc is not None:
        return default_location(loc)
    context = next(value.context for value in values if value is not None)
    try:
        current = default_location(None)
    except ValueError:
        return Location.unknown(context)
    return current if current.context is context else Location.unknown(context)


def build(name: str, operands, results=None, attributes=None, *, infer_type=False, regions=0, loc=None, ip=None):
    """Operation.create of values, with what `results_of` gives."""
    operands = [value_of(value, "operand") for value in operands]
    loc = location_of(operands, loc) if operands else default_location(loc)
    return results_of(Operation.create(
        name, results=results, operands=operands, attributes=attributes, regions=regions, loc=loc, ip=ip,
        infer_type=infer_type,
    ))
