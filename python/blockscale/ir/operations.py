"""Operations.

Who owns what: an operation in a block belongs to the operation around the block. One that is in no block belongs to its
wrapper, and is freed with it (with the context, if its results have uses then). A wrapper keeps that of the operation
around it alive, that of one in no block those whose values it uses, and all keep the context. When an operation is
erased, or a pass runs on one around it, wrappers of it are of no use any more, nor are those of operations in no block
that use its values: what they are asked is answered by a RuntimeError.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Callable, Iterator, List, Mapping, Optional, Sequence, Union

from . import blocks, library, values
from .attributes import Attribute, named_attributes
from .context import FRAMES, Context, Location, check_same, default_location
from .library import LIBRARY, printed, printed_bytes, text
from .sequences import Listing
from .types import Type, check_context


class OpAttributeMap(Mapping):
    """The attributes of an operation, by name; they can be set and deleted."""

    def __init__(self, operation: "Operation") -> None:
        self._operation = operation

    def __len__(self) -> int:
        return LIBRARY.mlirOperationGetNumAttributes(self._operation._ptr)

    def __iter__(self) -> Iterator[str]:
        pairs = [LIBRARY.mlirOperationGetAttribute(self._operation._ptr, i) for i in range(len(self))]
        return iter([str(LIBRARY.mlirIdentifierStr(pair.name)) for pair in pairs])

    def __getitem__(self, name: str) -> Attribute:
        pointer = LIBRARY.mlirOperationGetAttributeByName(self._operation._ptr, text(name))
        if not pointer:
            raise KeyError(name)
        return Attribute._wrap(self._operation.context, pointer)

    def __setitem__(self, name: str, value: Attribute) -> None:
        if not isinstance(value, Attribute):
            raise TypeError(f"attribute {name!r}: expected an Attribute, got {type(value).__name__}")
        check_same(self._operation.context, value, f"attribute {name!r}")
        LIBRARY.mlirOperationSetAttributeByName(self._operation._ptr, text(name), value._ptr)

    def __delitem__(self, name: str) -> None:
        if not LIBRARY.mlirOperationRemoveAttributeByName(self._operation._ptr, text(name)):
            raise KeyError(name)


class Operation:
    """MlirOperation. There is one wrapper of each."""

    def __init__(self, context: Context, pointer: int, parent: Optional["Operation"]) -> None:
        self.context, self._pointer, self._parent = context, pointer, parent
        self._used: Sequence["Operation"] = ()
        context._live[pointer] = self

    @staticmethod
    def _wrap(context: Context, pointer: int) -> "Operation":
        known = context._live.get(pointer)
        if known is not None:
            return known
        parent = LIBRARY.mlirOperationGetParentOperation(pointer)
        return Operation(context, pointer, Operation._wrap(context, parent) if parent else None)

    @staticmethod
    def _own(context: Context, pointer: int) -> "Operation":
        """Of an operation in no block, which is freed with the wrapper."""
        context._owned.add(pointer)
        result = Operation(context, pointer, None)
        result._used = [value.owner for value in result.operands if value is not None]
        return result

    def __del__(self) -> None:
        context = self.__dict__.get("context")
        if context is None or sys.is_finalizing() or self._pointer not in context._owned:
            return
        if not any(LIBRARY.mlirValueGetFirstUse(result._pointer) for result in self.results):
            context._owned.discard(self._pointer)
            LIBRARY.blockscaleOperationDestroy(self._pointer)

    @staticmethod
    def create(
        name: str,
        results: Optional[Sequence[Type]] = None,
        operands: Optional[Sequence[values.Value]] = None,
        attributes: Optional[Mapping[str, Attribute]] = None,
        successors: Optional[Sequence["blocks.Block"]] = None,
        regions: int = 0,
        loc: Optional[Location] = None,
        ip: Union["blocks.InsertionPoint", None, bool] = None,
        infer_type: bool = False,
    ) -> "Operation":
        """Any op. It is inserted at `ip`, or at the current insertion point; with `ip=False`, or where there is none,
        it is in no block. With `infer_type`, the types of results follow from operands.

        Raises ValueError for an op that is not registered, and MLIRError if no types follow.
        """
        loc = default_location(loc)
        context = loc.context
        if not context.is_registered_operation(name) and not context.allow_unregistered_dialects:
            raise ValueError(f"expected a registered operation, got {name!r}")
        operands = [values.check_value(value) for value in operands or ()]
        for value in results or ():
            if not isinstance(value, Type):
                raise TypeError(f"results: expected types, got {type(value).__name__}")
        for what, items in (("operands", operands), ("results", results or ())):
            for item in items:
                check_same(context, item, what)
        named = named_attributes(context, attributes or {})
        op_name = text(name)  # the state refers to its characters
        state = LIBRARY.mlirOperationStateGet(op_name, loc._ptr)
        reference = ctypes.byref(state)
        LIBRARY.mlirOperationStateAddOperands(reference, *library.pointers(value._ptr for value in operands))
        LIBRARY.mlirOperationStateAddResults(reference, *library.pointers(t._ptr for t in results or ()))
        LIBRARY.mlirOperationStateAddAttributes(reference, *named)
        LIBRARY.mlirOperationStateAddSuccessors(reference, *library.pointers(b._ptr for b in successors or ()))
        new_regions = [LIBRARY.mlirRegionCreate() for _ in range(regions)]
        LIBRARY.mlirOperationStateAddOwnedRegions(reference, *library.pointers(new_regions))
        if infer_type:
            LIBRARY.mlirOperationStateEnableResultTypeInference(reference)
        pointer = context._call(f"Cannot create {name}", LIBRARY.mlirOperationCreate, reference)
        return Operation._own(context, pointer)._insert(ip)

    def _insert(self, ip: Union["blocks.InsertionPoint", None, bool]) -> "Operation":
        if ip is None:
            top = FRAMES.top()
            ip = top.insertion_point if top else None
        if ip:
            ip.insert(self)
        return self

    @staticmethod
    def parse(source: str, *, source_name: str = "", context: Optional[Context] = None) -> "Operation":
        """One operation, in no block. Raises MLIRError."""
        context = check_context(context)
        call = (LIBRARY.mlirOperationCreateParse, context._ptr, text(source), text(source_name))
        return Operation._own(context, context._call("Unable to parse operation assembly", *call))

    # What has become of it

    @property
    def _ptr(self) -> int:
        if self._pointer is None:
            raise RuntimeError("the operation has been invalidated: it was erased, or a pass ran on it")
        return self._pointer

    def _is_inside(self, other: "Operation") -> bool:
        parent = self._parent
        while parent is not None and parent is not other:
            parent = parent._parent
        return parent is other

    def _root(self) -> "Operation":
        operation = self
        while operation._parent is not None:
            operation = operation._parent
        return operation

    def _invalidate(self) -> None:
        self.context._live.pop(self._pointer, None)
        self._pointer = None

    def _uses_from_outside(self) -> set:
        """The operations around, or beside, whose values this one and what is in it use."""
        found = set()

        def add(operation: "Operation") -> None:
            for value in operation.operands:
                if value is not None:
                    owner = value.owner
                    found.add(owner if isinstance(owner, Operation) else owner.owner)

        if self.name != "builtin.module":  # which uses none
            self.walk(add)
        return {operation for operation in found if operation is not self and not operation._is_inside(self)}

    def _invalidate_inside(self) -> None:
        """Before what is in this operation is freed or changed by others. Operations in no block that use its values go
        with it.
        """
        context = self.context
        gone = {operation for operation in list(context._live.values()) if operation._is_inside(self)} | {self}
        others = [Operation._wrap(context, pointer) for pointer in list(context._owned)]
        users = {other: other._uses_from_outside() for other in others if other is not self}
        # Those first that no other one uses.
        while True:
            found = [
                user for user, used in users.items()
                if used & gone and not any(LIBRARY.mlirValueGetFirstUse(result._ptr) for result in user.results)
            ]
            if not found:
                break
            for user in found:
                del users[user]
                user.erase()
        for operation in gone - {self}:
            operation._invalidate()

    def erase(self) -> None:
        """Frees the operation. Raises ValueError if a result has uses."""
        if any(result.uses for result in self.results):
            raise ValueError(f"cannot erase {self.name}: a result of it has uses")
        pointer = self._ptr
        self._invalidate_inside()
        self.context._owned.discard(pointer)
        self._invalidate()
        LIBRARY.blockscaleOperationDestroy(pointer)

    def detach_from_parent(self) -> "Operation":
        """Takes it out of its block; from then on the wrapper owns it."""
        if self._parent is None:
            raise ValueError(f"{self.name} is in no block")
        LIBRARY.mlirOperationRemoveFromParent(self._ptr)
        self._used = [self._parent]
        self._parent = None
        self.context._owned.add(self._pointer)
        return self

    def _move_to(self, parent: "Operation") -> None:
        if parent is self or parent._is_inside(self):
            raise ValueError(f"cannot insert {self.name} into itself")
        self.context._owned.discard(self._pointer)
        self._parent = parent

    def move_before(self, other: "Operation") -> None:
        self._move(LIBRARY.mlirOperationMoveBefore, other)

    def move_after(self, other: "Operation") -> None:
        self._move(LIBRARY.mlirOperationMoveAfter, other)

    def _move(self, function, other: "Operation") -> None:
        if self._parent is None or other._parent is None or self is other:
            raise ValueError("expected two operations that are in blocks")
        pointers = self._ptr, other._ptr
        self._move_to(other._parent)
        function(*pointers)

    def clone(self, ip: Union["blocks.InsertionPoint", None, bool] = None) -> "Operation":
        result = Operation._own(self.context, LIBRARY.mlirOperationClone(self._ptr))
        result._used = [*result._used, self]  # what is in it may use what is around the original
        return result._insert(ip)

    # What it has

    @property
    def operation(self) -> "Operation":
        return self

    @property
    def name(self) -> str:
        return str(LIBRARY.mlirIdentifierStr(LIBRARY.mlirOperationGetName(self._ptr)))

    @property
    def parent(self) -> Optional["Operation"]:
        self._ptr  # which is checked
        return self._parent

    @property
    def block(self) -> Optional["blocks.Block"]:
        block = LIBRARY.mlirOperationGetBlock(self._ptr)
        return blocks.Block(self._parent, block) if block else None

    @property
    def location(self) -> Location:
        return Location(self.context, LIBRARY.mlirOperationGetLocation(self._ptr))

    @location.setter
    def location(self, value: Location) -> None:
        LIBRARY.mlirOperationSetLocation(self._ptr, value._ptr)

    @property
    def attributes(self) -> OpAttributeMap:
        return OpAttributeMap(self)

    @property
    def operands(self) -> values.Operands:
        return values.Operands(self)

    @property
    def results(self) -> Sequence[values.OpResult]:
        return Listing(
            lambda: LIBRARY.mlirOperationGetNumResults(self._ptr),
            lambda i: values.OpResult(self, LIBRARY.mlirOperationGetResult(self._ptr, i)),
        )

    @property
    def result(self) -> values.OpResult:
        """The only one. Raises ValueError if there are others, or none."""
        if len(self.results) != 1:
            raise ValueError(f"expected one result of {self.name}, got {len(self.results)}")
        return self.results[0]

    @property
    def successors(self) -> Sequence["blocks.Block"]:
        return Listing(
            lambda: LIBRARY.mlirOperationGetNumSuccessors(self._ptr),
            lambda i: blocks.Block(self._parent, LIBRARY.mlirOperationGetSuccessor(self._ptr, i)),
        )

    @property
    def regions(self) -> Sequence["blocks.Region"]:
        return Listing(
            lambda: LIBRARY.mlirOperationGetNumRegions(self._ptr),
            lambda i: blocks.Region(self, LIBRARY.mlirOperationGetRegion(self._ptr, i)),
        )

    def walk(self, callback: Callable[["Operation"], Optional[bool]]) -> None:
        """Calls `callback` for this operation and all in it, what is inside first; it may return False to stop.

        An exception of it ends the walk, and comes out of this call.
        """
        raised: List[BaseException] = []

        def visit(pointer: int, _) -> int:
            try:
                return 1 if callback(Operation._wrap(self.context, pointer)) is False else 0
            except BaseException as error:  # it cannot pass through C
                raised.append(error)
                return 1

        LIBRARY.mlirOperationWalk(self._ptr, library.WalkCallback(visit), None, 1)
        if raised:
            raise raised[0]

    def verify(self) -> bool:
        """True, or an MLIRError with what is wrong."""
        self.context._call("Verification failed", LIBRARY.mlirOperationVerify, self._ptr)
        return True

    # Text

    def get_asm(
        self, *, large_elements_limit: Optional[int] = None, enable_debug_info: bool = False,
        pretty_debug_info: bool = False, print_generic_op_form: bool = False, use_local_scope: bool = False,
        assume_verified: bool = False,
    ) -> str:
        flags = LIBRARY.mlirOpPrintingFlagsCreate()
        if large_elements_limit is not None:
            LIBRARY.mlirOpPrintingFlagsElideLargeElementsAttrs(flags, large_elements_limit)
        if enable_debug_info:
            LIBRARY.mlirOpPrintingFlagsEnableDebugInfo(flags, True, pretty_debug_info)
        for is_set, function in (
            (print_generic_op_form, LIBRARY.mlirOpPrintingFlagsPrintGenericOpForm),
            (use_local_scope, LIBRARY.mlirOpPrintingFlagsUseLocalScope),
            (assume_verified, LIBRARY.mlirOpPrintingFlagsAssumeVerified),
        ):
            if is_set:
                function(flags)
        try:
            return printed(LIBRARY.mlirOperationPrintWithFlags, self._ptr, flags)
        finally:
            LIBRARY.mlirOpPrintingFlagsDestroy(flags)

    def print(self, file=None, **flags) -> None:
        """Writes `get_asm(**flags)` and a newline to `file`, or to standard output."""
        print(self.get_asm(**flags), file=file)

    def write_bytecode(self, file) -> None:
        """Writes MLIR's bytecode to a file of bytes."""
        file.write(printed_bytes(LIBRARY.mlirOperationWriteBytecode, self._ptr))

    def __str__(self) -> str:
        return self.get_asm(assume_verified=True) if self._pointer is not None else "<invalidated operation>"

    def __repr__(self) -> str:
        return f"<Operation {self.name}>" if self._pointer is not None else "<invalidated operation>"
