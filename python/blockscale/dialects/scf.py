"""Loops and branches."""

from __future__ import annotations

from typing import Callable, Optional, Sequence

from ..ir import InsertionPoint, Operation, Value
from ..ir.types import Type
from ._build import build, location_of, results_of, value_of


def yield_(values: Sequence[Value] = (), *, loc=None, ip=None) -> Operation:
    return build("scf.yield", values, loc=loc, ip=ip)


def _fill(block, body: Callable, arguments, loc) -> None:
    with InsertionPoint(block):
        returned = body(*arguments)
        if returned is None:
            returned = ()
        elif isinstance(returned, (Value, Operation)):
            returned = (returned,)
        yield_([value_of(value, "what the body returns") for value in returned], loc=loc)


def for_(
    start: Value, stop: Value, step: Value, body: Callable, iter_args: Sequence[Value] = (), *, loc=None, ip=None
):
    """`body(index, *values)` builds a step and returns what the next one gets. Gives the last values."""
    operands = [value_of(value, "operand") for value in (start, stop, step, *iter_args)]
    loc = location_of(operands, loc)
    types = [value.type for value in operands[3:]]
    operation = Operation.create("scf.for", types, operands, regions=1, loc=loc, ip=ip)
    block = operation.regions[0].blocks.append(start.type, *types)
    _fill(block, body, block.arguments, loc)
    return results_of(operation)


def if_(
    condition: Value, then: Callable, otherwise: Optional[Callable] = None, results: Sequence[Type] = (), *, loc=None,
    ip=None,
):
    """`then()` and `otherwise()` build the branches and return the results."""
    loc = location_of([condition], loc)
    operation = Operation.create("scf.if", results, [condition], regions=2, loc=loc, ip=ip)
    _fill(operation.regions[0].blocks.append(), then, (), loc)
    if otherwise is not None:
        _fill(operation.regions[1].blocks.append(), otherwise, (), loc)
    return results_of(operation)
