"""Values, what uses them, and the operands of an operation."""

from __future__ import annotations

from typing import Optional, Union

from . import blocks, operations
from .context import Context, Location, check_same
from .handles import Part
from .library import LIBRARY, printed
from .sequences import Listing
from .types import Type


class Value(Part):
    """MlirValue: a result of an operation, or an argument of a block, whose `owner` that is."""

    @staticmethod
    def _wrap(context: Context, pointer: Optional[int]) -> Optional["Value"]:
        """None for an operand whose value is gone."""
        if not pointer:
            return None
        if LIBRARY.mlirValueIsAOpResult(pointer):
            return OpResult(operations.Operation._wrap(context, LIBRARY.mlirOpResultGetOwner(pointer)), pointer)
        block = LIBRARY.mlirBlockArgumentGetOwner(pointer)
        parent = operations.Operation._wrap(context, LIBRARY.mlirBlockGetParentOperation(block))
        return BlockArgument(blocks.Block(parent, block), pointer)

    @property
    def type(self) -> Type:
        return Type._wrap(self.context, LIBRARY.mlirValueGetType(self._ptr))

    @property
    def location(self) -> Location:
        return Location(self.context, LIBRARY.mlirValueGetLocation(self._ptr))

    @property
    def uses(self) -> "list[OpOperand]":
        result, use = [], LIBRARY.mlirValueGetFirstUse(self._ptr)
        while use:
            owner = operations.Operation._wrap(self.context, LIBRARY.mlirOpOperandGetOwner(use))
            result.append(OpOperand(owner, LIBRARY.mlirOpOperandGetOperandNumber(use)))
            use = LIBRARY.mlirOpOperandGetNextUse(use)
        return result

    def replace_all_uses_with(self, other: "Value") -> None:
        check_same(self.context, other, "other")
        if other.type != self.type:
            raise ValueError(f"expected a value of type {self.type}, got one of {other.type}")
        LIBRARY.mlirValueReplaceAllUsesOfWith(self._ptr, other._ptr)

    def get_name(self) -> str:
        """The name that the value is printed with, such as "%0"."""
        flags = LIBRARY.mlirOpPrintingFlagsCreate()
        state = LIBRARY.mlirAsmStateCreateForValue(self._ptr, flags)
        name = printed(LIBRARY.mlirValuePrintAsOperand, self._ptr, state)
        LIBRARY.mlirAsmStateDestroy(state)
        LIBRARY.mlirOpPrintingFlagsDestroy(flags)
        return name

    def __str__(self) -> str:
        return f"Value({printed(LIBRARY.mlirValuePrint, self._ptr)})"

    __repr__ = __str__


class OpResult(Value):
    @property
    def result_number(self) -> int:
        return LIBRARY.mlirOpResultGetResultNumber(self._ptr)


class BlockArgument(Value):
    @property
    def arg_number(self) -> int:
        return LIBRARY.mlirBlockArgumentGetArgNumber(self._ptr)


class OpOperand:
    """A use of a value: the operation and the number of its operand."""

    def __init__(self, owner: "operations.Operation", operand_number: int) -> None:
        self.owner, self.operand_number = owner, operand_number


class Operands(Listing):
    def __init__(self, operation: "operations.Operation") -> None:
        self._operation = operation
        super().__init__(
            lambda: LIBRARY.mlirOperationGetNumOperands(operation._ptr),
            lambda i: Value._wrap(operation.context, LIBRARY.mlirOperationGetOperand(operation._ptr, i)),
        )

    def __setitem__(self, index: int, value: Value) -> None:
        if not 0 <= index < len(self):
            raise IndexError(f"expected an index below {len(self)}, got {index}")
        value = check_value(value)
        check_same(self._operation.context, value, f"operand {index}")
        LIBRARY.mlirOperationSetOperand(self._operation._ptr, index, value._ptr)


def check_value(value: Union[Value, "operations.Operation"]) -> Value:
    if isinstance(value, operations.Operation):
        return value.result
    if not isinstance(value, Value):
        raise TypeError(f"expected a Value, got {type(value).__name__}")
    return value
