"""What MLIR says of a program, and the exception that carries it."""

from __future__ import annotations

import enum
import sys
import threading
from typing import Callable, List, NamedTuple, Sequence

from .library import LIBRARY, printed


class DiagnosticSeverity(enum.Enum):
    ERROR = 0
    WARNING = 1
    NOTE = 2
    REMARK = 3


class DiagnosticInfo(NamedTuple):
    """One diagnostic: `location` is the text of it, such as `loc("a.mlir":3:8)`."""

    severity: DiagnosticSeverity
    message: str
    location: str
    notes: Sequence["DiagnosticInfo"]

    def __str__(self) -> str:
        first = f"{self.severity.name.lower()}: {self.location[4:-1]}: {self.message}"
        return "\n ".join([first, *map(str, self.notes)])


class MLIRError(Exception):
    """A call failed: what was called, and `error_diagnostics`."""

    def __init__(self, message: str, error_diagnostics: Sequence[DiagnosticInfo] = ()) -> None:
        self.message = message
        self.error_diagnostics = list(error_diagnostics)
        super().__init__("\n".join([message + (":" if error_diagnostics else ""), *map(str, error_diagnostics)]))


def _read(diagnostic: int) -> DiagnosticInfo:
    return DiagnosticInfo(
        DiagnosticSeverity(LIBRARY.mlirDiagnosticGetSeverity(diagnostic)),
        printed(LIBRARY.mlirDiagnosticPrint, diagnostic),
        printed(LIBRARY.mlirLocationPrint, LIBRARY.mlirDiagnosticGetLocation(diagnostic)),
        tuple(
            _read(LIBRARY.mlirDiagnosticGetNote(diagnostic, i))
            for i in range(LIBRARY.mlirDiagnosticGetNumNotes(diagnostic))
        ),
    )


class Handlers:
    """Gets the diagnostics of a context. Those that nobody wants are printed by MLIR.

    It does not know the context, which owns it: the context must not be kept alive by what it calls.
    """

    def __init__(self) -> None:
        self.callbacks: List[Callable[[DiagnosticInfo], bool]] = []
        # By thread: several may use one context. Passes report on the thread that runs them.
        self._captures: dict = {}

    def handle(self, diagnostic: int, _) -> int:
        info = _read(diagnostic)
        for callback in reversed(self.callbacks):
            try:
                if callback(info):
                    return 1
            except Exception as error:  # it cannot pass through C
                print(f"a diagnostic handler raised {error!r}", file=sys.stderr)
        captures = self._captures.get(threading.get_ident())
        if not captures or info.severity is not DiagnosticSeverity.ERROR:
            return 0
        captures[-1].append(info)
        return 1

    def capture(self) -> "_Capture":
        return _Capture(self._captures)


class _Capture:
    """In a `with` block, errors of this thread are collected."""

    def __init__(self, captures: dict) -> None:
        self._captures = captures

    def __enter__(self) -> List[DiagnosticInfo]:
        errors: List[DiagnosticInfo] = []
        self._captures.setdefault(threading.get_ident(), []).append(errors)
        return errors

    def __exit__(self, *_) -> None:
        mine = self._captures[threading.get_ident()]
        mine.pop()
        if not mine:
            del self._captures[threading.get_ident()]


class DiagnosticHandler:
    """A function that gets diagnostics, until `detach` or the end of a `with` block."""

    def __init__(self, callbacks: list, callback: Callable[[DiagnosticInfo], bool]) -> None:
        self._callbacks, self._callback = callbacks, callback
        callbacks.append(callback)

    @property
    def attached(self) -> bool:
        return self._callback in self._callbacks

    def detach(self) -> None:
        if self.attached:
            self._callbacks.remove(self._callback)

    def __enter__(self) -> "DiagnosticHandler":
        return self

    def __exit__(self, *_) -> None:
        self.detach()
