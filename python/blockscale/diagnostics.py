"""The messages of the programs as objects, and the exceptions made of errors.

A message on standard error is `FILE:LINE:COLUMN: KIND: TEXT`, with the source line and a mark below
it, or `KIND: TEXT` if it has no location. Notes belong to the message before them.
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
# Messages of run-time checks, whose location comes last.
_LOCATION = re.compile(r'Location: loc\("(?P<file>[^"]*)":(?P<line>\d+):(?P<column>\d+)\)')
STANDARD_INPUT = ("<stdin>", "-")

# Flags of the programs whose keyword in Python is another name.
_KEYWORDS = {"emit": "level", "raise": "raise_", "print-layout": "name", "o": "results"}
_FLAG = re.compile(r"(?<![\w-])--(?P<flag>[a-z]+(?:-[a-z]+)*)(?:=(?P<value>[\w.+-][\w.=+-]*(?:,[\w.=+-]+)*))?")
# Patterns of texts about files and flags that the caller did not give, and their replacements.
_PHRASES = [
    (re.compile(pattern), phrase) for pattern, phrase in (
        (r"--launch-info describes one public function: expected --entry",
         "expected entry, which names one of several public functions"),
        (r"--launch-info describes one public function: expected one in the program",
         "expected a public function in the program"),
        (r"give a \.npy file for each argument", "give an array for each argument"),
        (r"no \.npy file can hold", "no array can hold"),
    )
]
# Temporary files.
_OWN_FILE = re.compile(r"'argument\d+\.npy': (?=argument #)")
_OWN_INPUT = re.compile(r"'-': ")


def _name_keyword(match):
    name = _KEYWORDS.get(match["flag"], match["flag"].replace("-", "_"))
    # A name in capitals, as in --target=CHIP, means a value.
    return name if match["value"] is None or match["value"].isupper() else f"{name}={match['value']!r}"


def to_python(message: str) -> str:
    """A message of the programs for a Python caller: keywords instead of flags, no temporary files."""
    for pattern, phrase in _PHRASES:
        message = pattern.sub(phrase, message)
    return _FLAG.sub(_name_keyword, _OWN_INPUT.sub("", _OWN_FILE.sub("", message)))


@dataclass(frozen=True)
class Diagnostic:
    """One message.

    kind     "error", "warning", "remark" or "note"
    message  its text, in one line or several
    file, line, column   its location, from 1; None if it has none
    source   the source lines that were shown below it
    notes    its notes
    """

    kind: str
    message: str
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    source: Tuple[str, ...] = ()
    notes: Tuple["Diagnostic", ...] = ()

    def __str__(self):
        location = "" if self.line is None else f"{self.file}:{self.line}:{self.column}: "
        lines = [f"{location}{self.kind}: {self.message}", *self.source, *map(str, self.notes)]
        return "\n".join(lines)


def _start(match, name):
    """The message that begins with this line; `name` replaces the name of standard input."""
    location = match["file"]
    return Diagnostic(
        match["kind"],
        to_python(match["message"]),
        name if location in STANDARD_INPUT else location,
        int(match["line"]) if match["line"] else None,
        int(match["column"]) if match["column"] else None,
    )


def _locate(diagnostic, name):
    """The message with the location at the end of its text, if there is one."""
    found = _LOCATION.search(diagnostic.message)
    if diagnostic.line is not None or not found:
        return diagnostic
    file = name if found["file"] in STANDARD_INPUT else found["file"]
    return replace(diagnostic, file=file, line=int(found["line"]), column=int(found["column"]))


def parse(text: str, name: str) -> List[Diagnostic]:
    """The messages of a program that read the file `name` from standard input, in order.

    Lines before the first message are dropped; other lines that do not begin a message continue the
    one above them.
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
                messages[-1] = replace(last, message=f"{last.message}\n{to_python(lines[position - 1])}")
            continue
        diagnostic = _start(match, name)
        # A source line may look like a message, but has a mark below it.
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


def drop_messages(text: str) -> str:
    """The output of a program that is no message."""
    kept, lines, position = [], text.splitlines(keepends=True), 0
    while position < len(lines):
        match = _HEAD.fullmatch(lines[position].rstrip("\n"))
        if match is None:
            kept.append(lines[position])
        elif match["line"] and position + 2 < len(lines) and _MARK.fullmatch(lines[position + 2].rstrip("\n")):
            position += 2
        position += 1
    return "".join(kept)


class ProgramError(RuntimeError):
    """A program of the compiler failed.

    message              the text of the first error
    file, line, column   its location, from 1; None if it has none
    notes                its notes, each a Diagnostic
    diagnostics          all messages, including remarks
    code                 the exit code: 1 for errors in files, 2 for wrong options; negative if a
                         signal ended the program
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
        """The exception for a program that failed without an error message."""
        program = finished.command[0]
        how = f"signal {-finished.code}" if finished.code < 0 else f"exit code {finished.code}"
        return "\n".join(filter(None, [f"{program} ended with {how}", finished.messages.strip()]))


class CompileError(ProgramError):
    """blockscale-compile failed. The attributes are those of ProgramError."""


class RunError(ProgramError):
    """blockscale-run failed, or results are outside of the error bounds of the reference."""
