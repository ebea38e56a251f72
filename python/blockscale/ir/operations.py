"""Operations, blocks, regions and values.

Who owns what: an operation in a block belongs to the operation around the block. One that is in no block belongs to its
wrapper, and is freed with it (with the context, if its results have uses then). A wrapper keeps that of the operation
around it alive, that of one in no block those whose values it uses, and all keep the context. When an operation is
erased, or a pass runs on one around it, wrappers of it are of no use any more: what they are asked is answered by a
RuntimeError.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Callable, Iterator, List, Mapping, Optional, Sequence, Union

from . import library
from .attributes import Attribute, named_attributes
from .context import FRAMES, ClassProperty, Context, Location, default_location
from .library import LIBRARY, printed, printed_bytes, text
from .types import Type, check_context


class Value:
    """MlirValue: a result of an operation, or an argument of a block, whose `owner` that is."""

    def __init__(self, owner: Union["Operation", "Block"], pointer: int) -> None:
        self.owner, self._pointer = owner, pointer

    @staticmethod
    def _wrap(context: Context, pointer: int) -> "Value":
        if LIBRARY.mlirValueIsAOpResult(pointer):
            return OpResult(Operation._wrap(context, LIBRARY.mlirOpResultGetOwner(pointer)), pointer)
        block = LIBRARY.mlirBlockArgumentGetOwner(pointer)
        parent = Operation._wrap(context, LIBRARY.mlirBlockGetParentOperation(block))
        return BlockArgument(Block(parent, block), pointer)

    @property
    def _ptr(self) -> int:
        self.owner._ptr  # which is checked
        return self._pointer

    @property
    def context(self) -> Context:
        return self.owner.context

    @property
    def type(self) -> Type:
        return Type._wrap(self.context, LIBRARY.mlirValueGetType(self._ptr))

    @property
    def location(self) -> Location:
        return Location(self.context, LIBRARY.mlirValueGetLocation(self._ptr))

    @property
    def uses(self) -> List["OpOperand"]:
        result, use = [], LIBRARY.mlirValueGetFirstUse(self._ptr)
        while use:
            owner = Operation._wrap(self.context, LIBRARY.mlirOpOperandGetOwner(use))
            result.append(OpOperand(owner, LIBRARY.mlirOpOperandGetOperandNumber(use)))
            use = LIBRARY.mlirOpOperandGetNextUse(use)
        return result

    def replace_all_uses_with(self, other: "Value") -> None:
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

    def __eq__(self, other) -> bool:
        return isinstance(other, Value) and self._pointer == other._pointer

    def __hash__(self) -> int:
        return hash(self._pointer)

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

    def __init__(self, owner: "Operation", operand_number: int) -> None:
        self.owner, self.operand_number = owner, operand_number


class _List(Sequence):
    """A sequence of what an operation has, which is asked for anew each time."""

    def __init__(self, count: Callable[[], int], get: Callable[[int], object]) -> None:
        self._count, self._get = count, get

    def __len__(self) -> int:
        return self._count()

    def __getitem__(self, index):
        size = len(self)
        if isinstance(index, slice):
            return [self._get(i) for i in range(*index.indices(size))]
        position = index + size if index < 0 else index
        if not 0 <= position < size:
            raise IndexError(f"expected an index below {size}, got {index}")
        return self._get(position)


class _Operands(_List):
    def __init__(self, operation: "Operation") -> None:
        self._operation = operation
        super().__init__(
            lambda: LIBRARY.mlirOperationGetNumOperands(operation._ptr),
            lambda i: Value._wrap(operation.context, LIBRARY.mlirOperationGetOperand(operation._ptr, i)),
        )

    def __setitem__(self, index: int, value: Value) -> None:
        if not 0 <= index < len(self):
            raise IndexError(f"expected an index below {len(self)}, got {index}")
        LIBRARY.mlirOperationSetOperand(self._operation._ptr, index, _check_value(value)._ptr)


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
        result._used = [value.owner for value in result.operands]
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
        operands: Optional[Sequence[Value]] = None,
        attributes: Optional[Mapping[str, Attribute]] = None,
        successors: Optional[Sequence["Block"]] = None,
        regions: int = 0,
        loc: Optional[Location] = None,
        ip: Union["InsertionPoint", None, bool] = None,
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
        op_name = text(name)  # the state refers to its characters
        state = LIBRARY.mlirOperationStateGet(op_name, loc._ptr)
        reference = ctypes.byref(state)
        operands = [_check_value(value) for value in operands or ()]
        count, array = library.pointers(value._ptr for value in operands)
        LIBRARY.mlirOperationStateAddOperands(reference, count, array)
        for value in results or ():
            if not isinstance(value, Type):
                raise TypeError(f"results: expected types, got {type(value).__name__}")
        LIBRARY.mlirOperationStateAddResults(reference, *library.pointers(t._ptr for t in results or ()))
        LIBRARY.mlirOperationStateAddAttributes(reference, *named_attributes(context, attributes or {}))
        LIBRARY.mlirOperationStateAddSuccessors(reference, *library.pointers(b._ptr for b in successors or ()))
        new_regions = [LIBRARY.mlirRegionCreate() for _ in range(regions)]
        LIBRARY.mlirOperationStateAddOwnedRegions(reference, *library.pointers(new_regions))
        if infer_type:
            LIBRARY.mlirOperationStateEnableResultTypeInference(reference)
        pointer = context._call(f"Cannot create {name}", LIBRARY.mlirOperationCreate, reference)
        return Operation._own(context, pointer)._insert(ip)

    def _insert(self, ip: Union["InsertionPoint", None, bool]) -> "Operation":
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

    def _invalidate_inside(self) -> None:
        """Before what is in this operation is freed or changed by others."""
        for operation in list(self.context._live.values()):
            if operation._is_inside(self):
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

    def clone(self, ip: Union["InsertionPoint", None, bool] = None) -> "Operation":
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
    def block(self) -> Optional["Block"]:
        block = LIBRARY.mlirOperationGetBlock(self._ptr)
        return Block(self._parent, block) if block else None

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
    def operands(self) -> _Operands:
        return _Operands(self)

    @property
    def results(self) -> Sequence[OpResult]:
        return _List(
            lambda: LIBRARY.mlirOperationGetNumResults(self._ptr),
            lambda i: OpResult(self, LIBRARY.mlirOperationGetResult(self._ptr, i)),
        )

    @property
    def result(self) -> OpResult:
        """The only one. Raises ValueError if there are others, or none."""
        if len(self.results) != 1:
            raise ValueError(f"expected one result of {self.name}, got {len(self.results)}")
        return self.results[0]

    @property
    def successors(self) -> Sequence["Block"]:
        return _List(
            lambda: LIBRARY.mlirOperationGetNumSuccessors(self._ptr),
            lambda i: Block(self._parent, LIBRARY.mlirOperationGetSuccessor(self._ptr, i)),
        )

    @property
    def regions(self) -> Sequence["Region"]:
        return _List(
            lambda: LIBRARY.mlirOperationGetNumRegions(self._ptr),
            lambda i: Region(self, LIBRARY.mlirOperationGetRegion(self._ptr, i)),
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


def _check_value(value: Union[Value, Operation]) -> Value:
    if isinstance(value, Operation):
        return value.result
    if not isinstance(value, Value):
        raise TypeError(f"expected a Value, got {type(value).__name__}")
    return value


class Region:
    """MlirRegion of an operation, its `owner`."""

    def __init__(self, owner: Operation, pointer: int) -> None:
        self.owner, self._pointer = owner, pointer

    @property
    def _ptr(self) -> int:
        self.owner._ptr  # which is checked
        return self._pointer

    @property
    def blocks(self) -> "BlockList":
        return BlockList(self)

    def __iter__(self) -> Iterator["Block"]:
        return iter(self.blocks)

    def __len__(self) -> int:
        return len(self.blocks)

    def __getitem__(self, index):
        return self.blocks[index]


class BlockList(Sequence):
    """The blocks of a region."""

    def __init__(self, region: Region) -> None:
        self._region = region

    def _all(self) -> List["Block"]:
        result, block = [], LIBRARY.mlirRegionGetFirstBlock(self._region._ptr)
        while block:
            result.append(Block(self._region.owner, block))
            block = LIBRARY.mlirBlockGetNextInRegion(block)
        return result

    def __len__(self) -> int:
        return len(self._all())

    def __getitem__(self, index):
        return self._all()[index]

    def append(self, *arg_types: Type, arg_locs: Optional[Sequence[Location]] = None) -> "Block":
        """A new block, the last one, with arguments of these types."""
        owner = self._region.owner
        locs = arg_locs if arg_locs is not None else [Location.unknown(owner.context)] * len(arg_types)
        if len(locs) != len(arg_types):
            raise ValueError(f"arg_locs: expected {len(arg_types)} locations, got {len(locs)}")
        count, types = library.pointers(t._ptr for t in arg_types)
        block = LIBRARY.mlirBlockCreate(count, types, library.pointers(loc._ptr for loc in locs)[1])
        LIBRARY.mlirRegionAppendOwnedBlock(self._region._ptr, block)
        return Block(owner, block)


class Block:
    """MlirBlock of an operation, its `owner`."""

    def __init__(self, owner: Operation, pointer: int) -> None:
        self.owner, self._pointer = owner, pointer

    @property
    def _ptr(self) -> int:
        self.owner._ptr  # which is checked
        return self._pointer

    @property
    def context(self) -> Context:
        return self.owner.context

    @property
    def region(self) -> Region:
        return Region(self.owner, LIBRARY.mlirBlockGetParentRegion(self._ptr))

    @property
    def arguments(self) -> Sequence[BlockArgument]:
        return _List(
            lambda: LIBRARY.mlirBlockGetNumArguments(self._ptr),
            lambda i: BlockArgument(self, LIBRARY.mlirBlockGetArgument(self._ptr, i)),
        )

    def add_argument(self, type: Type, loc: Location) -> BlockArgument:
        return BlockArgument(self, LIBRARY.mlirBlockAddArgument(self._ptr, type._ptr, loc._ptr))

    @property
    def operations(self) -> List[Operation]:
        """Those that are in the block now."""
        result, operation = [], LIBRARY.mlirBlockGetFirstOperation(self._ptr)
        while operation:
            result.append(Operation._wrap(self.context, operation))
            operation = LIBRARY.mlirOperationGetNextInBlock(operation)
        return result

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    @property
    def terminator(self) -> Optional[Operation]:
        pointer = LIBRARY.mlirBlockGetTerminator(self._ptr)
        return Operation._wrap(self.context, pointer) if pointer else None

    def append(self, operation: Operation) -> None:
        InsertionPoint(self).insert(operation)

    def __eq__(self, other) -> bool:
        return isinstance(other, Block) and self._pointer == other._pointer

    def __hash__(self) -> int:
        return hash(self._pointer)

    def __str__(self) -> str:
        return printed(LIBRARY.mlirBlockPrint, self._ptr)


class InsertionPoint:
    """Where operations go: the end of a block, or before an operation. `with ip:` makes it the default."""

    def __init__(self, block_or_operation: Union[Block, Operation]) -> None:
        if isinstance(block_or_operation, Block):
            self.block, self.ref_operation = block_or_operation, None
        elif isinstance(block_or_operation, Operation):
            if block_or_operation.parent is None:
                raise ValueError("expected an operation that is in a block")
            self.block, self.ref_operation = block_or_operation.block, block_or_operation
        else:
            raise TypeError(f"expected a Block or an Operation, got {type(block_or_operation).__name__}")

    @staticmethod
    def at_block_begin(block: Block) -> "InsertionPoint":
        operations = block.operations
        return InsertionPoint(operations[0] if operations else block)

    @staticmethod
    def at_block_terminator(block: Block) -> "InsertionPoint":
        terminator = block.terminator
        if terminator is None:
            raise ValueError("the block has no terminator")
        return InsertionPoint(terminator)

    def insert(self, operation: Operation) -> None:
        """Inserts an operation that is in no block."""
        pointer, block = operation._ptr, self.block._ptr
        if operation._parent is not None:
            raise ValueError(f"{operation.name} is in a block already")
        if operation.context is not self.block.context:
            raise ValueError("the operation is of another context than the block")
        root = self.block.owner._root()
        for value in operation.operands:
            owner = value.owner if isinstance(value.owner, Operation) else value.owner.owner
            if owner._parent is not None and owner._root() is not root:
                raise ValueError(f"{operation.name} uses a value of another operation than the one it is inserted into")
        operation._move_to(self.block.owner)
        if self.ref_operation is None:
            LIBRARY.mlirBlockAppendOwnedOperation(block, pointer)
        else:
            LIBRARY.mlirBlockInsertOwnedOperationBefore(block, self.ref_operation._ptr, pointer)

    def __enter__(self) -> "InsertionPoint":
        FRAMES.push(self, self.block.context, insertion_point=self)
        return self

    def __exit__(self, *_) -> None:
        FRAMES.pop(self)

    @ClassProperty
    def current(cls) -> "InsertionPoint":
        """That of the innermost `with` block. Raises ValueError if there is none."""
        top = FRAMES.top()
        if top is None or top.insertion_point is None:
            raise ValueError("no insertion point is set: use `with InsertionPoint(block):`")
        return top.insertion_point


class Module:
    """A `builtin.module` that is in no block."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation

    @staticmethod
    def create(loc: Optional[Location] = None) -> "Module":
        loc = default_location(loc)
        pointer = LIBRARY.mlirModuleGetOperation(LIBRARY.mlirModuleCreateEmpty(loc._ptr))
        return Module(Operation._own(loc.context, pointer))

    @staticmethod
    def parse(asm: Union[str, bytes], context: Optional[Context] = None) -> "Module":
        """Text or bytecode. Raises MLIRError."""
        return Module._parse(context, "Unable to parse module assembly", LIBRARY.mlirModuleCreateParse, asm)

    @staticmethod
    def parse_file(path, context: Optional[Context] = None) -> "Module":
        """Raises MLIRError, also for a file that cannot be read."""
        return Module._parse(context, f"Unable to parse {path}", LIBRARY.mlirModuleCreateParseFromFile, str(path))

    @staticmethod
    def _parse(context: Optional[Context], what: str, function, given: Union[str, bytes]) -> "Module":
        context = check_context(context)
        module = context._call(what, function, context._ptr, text(given))
        return Module(Operation._own(context, LIBRARY.mlirModuleGetOperation(module)))

    @property
    def context(self) -> Context:
        return self.operation.context

    @property
    def body(self) -> Block:
        return self.operation.regions[0].blocks[0]

    def __str__(self) -> str:
        return str(self.operation)
