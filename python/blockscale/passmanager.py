"""Pipelines of passes: those of MLIR, and of blockscale with `blockscale-to-cpu` and `blockscale-to-nvvm`."""

from __future__ import annotations

import sys
import threading
from typing import Optional, Union

from .ir import Module, Operation
from .ir.context import Context
from .ir.diagnostics import MLIRError
from .ir.library import LIBRARY, StringCallback, printed, text
from .ir.types import check_context

_LOCK = threading.Lock()
_REGISTERED = False


def _register_passes() -> None:
    """All of them, once: it takes some milliseconds, which a context need not."""
    global _REGISTERED
    with _LOCK:
        if not _REGISTERED:
            LIBRARY.mlirRegisterAllPasses()
            LIBRARY.blockscaleRegisterPasses()
            _REGISTERED = True


class PassManager:
    """A pipeline that runs on an operation of the name `anchor_op`."""

    def __init__(self, anchor_op: str = "any", context: Optional[Context] = None) -> None:
        self.context = check_context(context)
        self._ptr = LIBRARY.mlirPassManagerCreateOnOperation(self.context._ptr, text(anchor_op))

    def __del__(self) -> None:
        pointer = self.__dict__.pop("_ptr", None)
        if pointer is not None and not sys.is_finalizing():
            LIBRARY.mlirPassManagerDestroy(pointer)

    @staticmethod
    def parse(pipeline: str, context: Optional[Context] = None) -> "PassManager":
        """Of text, such as "builtin.module(blockscale-raise,canonicalize)". Raises MLIRError."""
        _register_passes()
        anchor = pipeline.partition("(")[0].strip() or "any"
        manager = PassManager(anchor, context)
        manager._read(LIBRARY.mlirParsePassPipeline, pipeline)
        return manager

    def add(self, pipeline: str) -> None:
        """Adds passes, such as "cse,func.func(canonicalize)". Raises MLIRError."""
        _register_passes()
        self._read(LIBRARY.mlirOpPassManagerAddPipeline, pipeline)

    def _read(self, function, pipeline: str) -> None:
        said = []
        callback = StringCallback(lambda part, _: said.append(str(part)))
        with self.context._handlers.capture() as errors:
            done = function(LIBRARY.mlirPassManagerGetAsOpPassManager(self._ptr), text(pipeline), callback, None)
        if not done:
            raise MLIRError(f"Unable to parse the pipeline {pipeline!r}: {''.join(said).strip()}", errors)

    def enable_verifier(self, enable: bool) -> None:
        LIBRARY.mlirPassManagerEnableVerifier(self._ptr, enable)

    def run(self, operation: Union[Operation, Module]) -> None:
        """Runs on `operation`; wrappers of what is in it are of no use afterwards. Raises MLIRError."""
        operation = operation.operation
        pointer = operation._ptr
        operation._invalidate_inside()
        self.context._call("Failure while executing pass pipeline", LIBRARY.mlirPassManagerRunOnOp, self._ptr, pointer)

    def __str__(self) -> str:
        return printed(LIBRARY.mlirPrintPassPipeline, LIBRARY.mlirPassManagerGetAsOpPassManager(self._ptr))
