"""What the programs say on standard error, as objects; and the exceptions made of errors.

A message is `FILE:LINE:COLUMN: KIND: TEXT` and, below it, the line of the file with a mark; or
`KIND: TEXT`, where it is about no place. Notes belong to the message before them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import List, Optional, Tuple

_HEAD = re.compile(
    r"(?:(?P<file>[^\n]+?):(?P<line>\d+):(?P<column>\d+): )?"
    r"(?P<kind>error|warning|remark|note): (?P<message>.*)"
)
_MARK = re.compile(r"\s*\^[\s^~]*")
# Of checks at run time, whose place comes last.
_LOCATION = re.compile(r'Location: loc\("(?P<file>[^"]*)":(?P<line>\d+):(?P<column>\d+)\)')
STANDARD_INPUT = ("<stdin>", "-")


@dataclass(frozen=True)
class Diagnostic:
    """One message.

    kind     "error", "warning", "remark" or "note"
    message  its text, in one line or several
    file, line, column   where, from 1; None for a message about no place
    source   the lines of the program that were shown below it
    notes    the notes that belong to it
    """

    kind: str
    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    source: Tuple[str, ...] = ()
    notes: Tuple["Diagnostic", ...] = ()

    def __str__(self):
        place = "" if self.line is None else f"{self.file}:{self.line}:{self.column}: "
        lines = [f"{place}{self.kind}: {self.message}", *self.source, *map(str, self.notes)]
        return "\n".join(lines)


def _start(match, name):
    """The message that a line begins; `name` is what standard input was."""
    place = match["file"]
    return Diagnostic(
        match["kind"],
        match["message"],
        name if place in STANDARD_INPUT else place,
        int(match["line"]) if match["line"] else None,
        int(match["column"]) if match["column"] else None,
    )


def _locate(diagnostic, name):
    """With the place that its text ends in, if there is one."""
    found = _LOCATION.search(diagnostic.message)
    if diagnostic.line is not None or not found:
        return diagnostic
    file = name if found["file"] in STANDARD_INPUT else found["file"]
    return replace(diagnostic, file=file, line=int(found["line"]), column=int(found["column"]))


def parse(text: str, name: str) -> List[Diagnostic]:
    """The messages of a program that read the file `name` from standard input, in order.

    Lines in front of the first message are dropped; other lines without a head go on with the
    message above them.
    """
    messages: List[Diagnostic] = []
    lines = text.splitlines()
    position = 0
    while position < len(lines):
        match = _HEAD.fullmatch(lines[position])
        position += 1
        if not match:
            if messages and lines[position - 1].strip():
                last = messages[-1]
                messages[-1] = replace(last, message=f"{last.message}\n{lines[position - 1]}")
            continue
        diagnostic = _start(match, name)
        # A line of the program may look like anything, but has a mark below it.
        shown = lines[position : position + 2]
        if diagnostic.line is not None and len(shown) == 2 and _MARK.fullmatch(shown[1]):
            diagnostic = replace(diagnostic, source=tuple(shown))
            position += 2
        if diagnostic.kind == "note" and messages:
            owner = messages[-1]
            messages[-1] = replace(owner, notes=(*owner.notes, diagnostic))
        else:
            messages.append(diagnostic)
    return [_locate(message, name) for message in messages]


class ProgramError(RuntimeError):
    """A program of the compiler refused what it was given.

    message              the text of the first error
    file, line, column   where it is, from 1; None for an error about no place
    notes                the notes that belong to it, each a Diagnostic
    diagnostics          all that was said, remarks included
    code                 the exit code: 1 for what is wrong with files, 2 with the options; negative
                         for a signal that ended the program
    """

    def __init__(self, finished, name):
        self.diagnostics = parse(finished.messages, name)
        self.code = finished.code
        errors = [d for d in self.diagnostics if d.kind == "error"]
        first = errors[0] if errors else Diagnostic("error", self._describe(finished))
        self.message = first.message
        self.file, self.line, self.column = first.file, first.line, first.column
        self.notes = list(first.notes)
        super().__init__(str(first).replace("error: ", "", 1))

    @staticmethod
    def _describe(finished):
        """Of a program that gave no error."""
        program = finished.command[0]
        how = f"signal {-finished.code}" if finished.code < 0 else f"exit code {finished.code}"
        return "\n".join(filter(None, [f"{program} ended with {how}", finished.messages.strip()]))


class CompileError(ProgramError):
    """blockscale-compile refused a program. The attributes are those of ProgramError."""


class RunError(ProgramError):
    """blockscale-run refused a program or arrays, or results are not those of the reference."""
