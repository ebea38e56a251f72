"""Context and Location, and which of them a call takes that names none."""

from __future__ import annotations

import sys
import threading
import weakref
from typing import Any, List, NamedTuple, Optional, Sequence

from . import library
from .diagnostics import DiagnosticHandler, Handlers, MLIRError
from .handles import Unique
from .library import LIBRARY, text


class _Frame(NamedTuple):
    what: Any
    context: "Context"
    location: Optional["Location"]
    insertion_point: Optional[Any]


class _Frames(threading.local):
    """What `with` blocks of this thread have set; the last one is in force."""

    def __init__(self) -> None:
        self.frames: List[_Frame] = []

    def top(self) -> Optional[_Frame]:
        return self.frames[-1] if self.frames else None

    def push(self, what, context, location=None, insertion_point=None) -> None:
        top = self.top()
        if top and top.context is context:
            location = location or top.location
            insertion_point = insertion_point or top.insertion_point
        self.frames.append(_Frame(what, context, location, insertion_point))

    def pop(self, what) -> None:
        if not self.frames or self.frames[-1].what is not what:
            raise RuntimeError(f"{type(what).__name__}: a `with` block ends that is not the last one that began")
        self.frames.pop()


FRAMES = _Frames()


class ClassProperty:
    """A property of the class itself."""

    def __init__(self, getter) -> None:
        self._getter = getter
        self.__doc__ = getter.__doc__

    def __get__(self, _, owner):
        return self._getter(owner)


class Context:
    """MLIRContext with all dialects of MLIR and blockscale. What is made in it keeps it alive.

    `with context:` makes it the default of calls that take a context.
    """

    def __init__(self, *, threads: bool = True) -> None:
        registry = LIBRARY.mlirDialectRegistryCreate()
        LIBRARY.mlirRegisterAllDialects(registry)
        LIBRARY.blockscaleRegisterDialects(registry)
        self._ptr = LIBRARY.mlirContextCreateWithRegistry(registry, threads)
        LIBRARY.mlirDialectRegistryDestroy(registry)
        LIBRARY.mlirContextLoadAllAvailableDialects(self._ptr)
        # Operations that are in no block, which their wrappers own: they must go before the context does, in whatever
        # order Python frees the objects of a cycle.
        self._owned = set()
        # The wrapper of each operation that has one.
        self._live = weakref.WeakValueDictionary()
        self._handlers = Handlers()
        self._callback = library.DiagnosticHandler(self._handlers.handle)
        LIBRARY.mlirContextAttachDiagnosticHandler(self._ptr, self._callback, None, None)

    def __del__(self) -> None:
        pointer = self.__dict__.pop("_ptr", None)
        if pointer is None or sys.is_finalizing():
            return
        for operation in self._owned:
            LIBRARY.blockscaleOperationDestroy(operation)
        self._owned.clear()
        LIBRARY.mlirContextDestroy(pointer)

    @ClassProperty
    def current(cls) -> "Context":
        """That of the innermost `with` block. Raises ValueError outside of one."""
        top = FRAMES.top()
        if top is None:
            raise ValueError("no context is set: name one, or use `with context:`")
        return top.context

    def __enter__(self) -> "Context":
        FRAMES.push(self, self)
        return self

    def __exit__(self, *_) -> None:
        FRAMES.pop(self)

    @property
    def allow_unregistered_dialects(self) -> bool:
        return LIBRARY.mlirContextGetAllowUnregisteredDialects(self._ptr)

    @allow_unregistered_dialects.setter
    def allow_unregistered_dialects(self, value: bool) -> None:
        LIBRARY.mlirContextSetAllowUnregisteredDialects(self._ptr, value)

    def is_registered_operation(self, name: str) -> bool:
        return LIBRARY.mlirContextIsRegisteredOperation(self._ptr, text(name))

    def attach_diagnostic_handler(self, callback) -> DiagnosticHandler:
        """Calls `callback(DiagnosticInfo)` for each diagnostic, the last one attached first, until one returns True."""
        return DiagnosticHandler(self._handlers.callbacks, callback)

    def _call(self, what: str, function, *arguments):
        """The result of a call that is null if it fails, with diagnostics."""
        with self._handlers.capture() as errors:
            result = function(*arguments)
        if not result:
            raise MLIRError(what, errors)
        return result


class Location(Unique):
    """MlirLocation. `with location:` makes it the default of calls that take one."""

    _print = "mlirLocationPrint"

    @ClassProperty
    def current(cls) -> "Location":
        """That of the innermost `with` block. Raises ValueError if there is none."""
        top = FRAMES.top()
        if top is None or top.location is None:
            raise ValueError("no location is set: name one, or use `with location:`")
        return top.location

    @staticmethod
    def unknown(context: Optional[Context] = None) -> "Location":
        context = context or Context.current
        return Location(context, LIBRARY.mlirLocationUnknownGet(context._ptr))

    @staticmethod
    def file(filename: str, line: int, col: int, context: Optional[Context] = None) -> "Location":
        context = context or Context.current
        return Location(context, LIBRARY.mlirLocationFileLineColGet(context._ptr, text(filename), line, col))

    @staticmethod
    def name(name: str, child: Optional["Location"] = None, context: Optional[Context] = None) -> "Location":
        context = context or (child.context if child else Context.current)
        return Location(context, LIBRARY.mlirLocationNameGet(context._ptr, text(name), child._ptr if child else None))

    @staticmethod
    def callsite(callee: "Location", frames: Sequence["Location"]) -> "Location":
        if not frames:
            raise ValueError("frames: expected at least one location, got none")
        caller = frames[-1]._ptr
        for frame in reversed(frames[:-1]):
            caller = LIBRARY.mlirLocationCallSiteGet(frame._ptr, caller)
        return Location(callee.context, LIBRARY.mlirLocationCallSiteGet(callee._ptr, caller))

    @staticmethod
    def fused(locations: Sequence["Location"], context: Optional[Context] = None) -> "Location":
        context = context or (locations[0].context if locations else Context.current)
        count, array = library.pointers(location._ptr for location in locations)
        return Location(context, LIBRARY.mlirLocationFusedGet(context._ptr, count, array, None))

    def __enter__(self) -> "Location":
        FRAMES.push(self, self.context, location=self)
        return self

    def __exit__(self, *_) -> None:
        FRAMES.pop(self)

    def emit_error(self, message: str) -> None:
        """A diagnostic here, for the handlers of the context."""
        LIBRARY.mlirEmitError(self._ptr, message.encode())

    def __repr__(self) -> str:
        return str(self)


def default_location(location: Optional[Location]) -> Location:
    """`location`, or the current one, or an unknown one of the current context."""
    if location is not None:
        if not isinstance(location, Location):
            raise TypeError(f"loc: expected a Location, got {type(location).__name__}")
        return location
    top = FRAMES.top()
    return top.location if top and top.location else Location.unknown()


def check_same(context: Context, item, name: str) -> None:
    """MLIR takes what is of another context for memory of its own."""
    if item.context is not context:
        raise ValueError(f"{name}: expected one of the context of the location, got one of another context")
