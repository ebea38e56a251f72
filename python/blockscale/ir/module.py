"""Modules."""

from __future__ import annotations

from typing import Optional, Union

from .blocks import Block
from .context import Context, Location, default_location
from .library import LIBRARY, text
from .operations import Operation
from .types import check_context


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
