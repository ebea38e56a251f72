"""Regions, their blocks, and places in blocks."""

from __future__ import annotations

from typing import Iterator, List, Optional, Sequence, Union

from . import library, operations
from .context import FRAMES, ClassProperty, Location
from .handles import Part
from .library import LIBRARY, printed
from .sequences import Listing
from .types import Type
from .values import BlockArgument


class Region(Part):
    """MlirRegion of an operation, its `owner`."""

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


class Block(Part):
    """MlirBlock of an operation, its `owner`."""

    @property
    def region(self) -> Region:
        return Region(self.owner, LIBRARY.mlirBlockGetParentRegion(self._ptr))

    @property
    def arguments(self) -> Sequence[BlockArgument]:
        return Listing(
            lambda: LIBRARY.mlirBlockGetNumArguments(self._ptr),
            lambda i: BlockArgument(self, LIBRARY.mlirBlockGetArgument(self._ptr, i)),
        )

    def add_argument(self, type: Type, loc: Location) -> BlockArgument:
        return BlockArgument(self, LIBRARY.mlirBlockAddArgument(self._ptr, type._ptr, loc._ptr))

    @property
    def operations(self) -> "List[operations.Operation]":
        """Those that are in the block now."""
        result, operation = [], LIBRARY.mlirBlockGetFirstOperation(self._ptr)
        while operation:
            result.append(operations.Operation._wrap(self.context, operation))
            operation = LIBRARY.mlirOperationGetNextInBlock(operation)
        return result

    def __iter__(self) -> "Iterator[operations.Operation]":
        return iter(self.operations)

    @property
    def terminator(self) -> "Optional[operations.Operation]":
        pointer = LIBRARY.mlirBlockGetTerminator(self._ptr)
        return operations.Operation._wrap(self.context, pointer) if pointer else None

    def append(self, operation: "operations.Operation") -> None:
        InsertionPoint(self).insert(operation)

    def __str__(self) -> str:
        return printed(LIBRARY.mlirBlockPrint, self._ptr)


class InsertionPoint:
    """Where operations go: the end of a block, or before an operation. `with ip:` makes it the default."""

    def __init__(self, block_or_operation: Union[Block, "operations.Operation"]) -> None:
        if isinstance(block_or_operation, Block):
            self.block, self.ref_operation = block_or_operation, None
        elif isinstance(block_or_operation, operations.Operation):
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

    def insert(self, operation: "operations.Operation") -> None:
        """Inserts an operation that is in no block."""
        pointer, block = operation._ptr, self.block._ptr
        if operation._parent is not None:
            raise ValueError(f"{operation.name} is in a block already")
        if operation.context is not self.block.context:
            raise ValueError("the operation is of another context than the block")
        root = self.block.owner._root()
        for value in operation.operands:
            owner = value.owner if isinstance(value.owner, operations.Operation) else value.owner.owner
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
