"""Functions."""

from __future__ import annotations

import inspect
from typing import Callable, List, Optional, Sequence, Tuple, Union

from ..ir import Block, BlockArgument, InsertionPoint, Operation, Value
from ..ir.attributes import FlatSymbolRefAttr, StringAttr, TypeAttr
from ..ir.context import Location, default_location
from ..ir.types import FunctionType, Type
from ._build import build


class FuncOp:
    """`func.func`; `operation` is the op."""

    def __init__(
        self, name: str, type: Union[FunctionType, Tuple[Sequence[Type], Sequence[Type]]], *,
        visibility: Optional[str] = None, loc: Optional[Location] = None, ip=None,
    ) -> None:
        loc = default_location(loc)
        if not isinstance(type, FunctionType):
            type = FunctionType.get(*type, context=loc.context)
        attributes = {"sym_name": StringAttr.get(name, loc.context), "function_type": TypeAttr.get(type)}
        if visibility is not None:
            attributes["sym_visibility"] = StringAttr.get(visibility, loc.context)
        self.operation = Operation.create("func.func", attributes=attributes, regions=1, loc=loc, ip=ip)

    @property
    def name(self) -> str:
        return StringAttr(self.operation.attributes["sym_name"]).value

    @property
    def type(self) -> FunctionType:
        return FunctionType(TypeAttr(self.operation.attributes["function_type"]).value)

    @property
    def is_external(self) -> bool:
        return len(self.operation.regions[0].blocks) == 0

    def add_entry_block(self) -> Block:
        """Raises ValueError if there is one."""
        if not self.is_external:
            raise ValueError(f"the function {self.name!r} has an entry block already")
        return self.operation.regions[0].blocks.append(*self.type.inputs)

    @property
    def entry_block(self) -> Block:
        if self.is_external:
            raise ValueError(f"the function {self.name!r} has no body")
        return self.operation.regions[0].blocks[0]

    @property
    def arguments(self) -> List[BlockArgument]:
        return list(self.entry_block.arguments)

    @staticmethod
    def from_py_func(*inputs: Type, results: Optional[Sequence[Type]] = None, name: Optional[str] = None) -> Callable:
        """Decorates a Python function, which gets the arguments and returns the results: it becomes that FuncOp."""

        def decorate(body: Callable) -> "FuncOp":
            function = FuncOp(name or body.__name__, (inputs, results or ()))
            block = function.add_entry_block()
            parameters = inspect.signature(body).parameters
            more = {"func_op": function} if "func_op" in parameters else {}
            with InsertionPoint(block):
                returned = body(*block.arguments, **more)
                if returned is None:
                    returned = ()
                elif isinstance(returned, (Value, Operation)):
                    returned = (returned,)
                values = [value.result if isinstance(value, Operation) else value for value in returned]
                return_(values)
            if results is None:
                type = FunctionType.get(inputs, [value.type for value in values], function.operation.context)
                function.operation.attributes["function_type"] = TypeAttr.get(type)
            return function

        return decorate


def func(name: str, inputs: Sequence[Type], results: Sequence[Type], **arguments) -> FuncOp:
    return FuncOp(name, (inputs, results), **arguments)


def return_(values: Sequence[Value] = (), *, loc=None, ip=None) -> Operation:
    return build("func.return", values, loc=loc, ip=ip)


def call(results: Sequence[Type], callee: str, operands: Sequence[Value], *, loc=None, ip=None):
    loc = default_location(loc)
    attributes = {"callee": FlatSymbolRefAttr.get(callee, loc.context)}
    return build("func.call", operands, results, attributes, loc=loc, ip=ip)
