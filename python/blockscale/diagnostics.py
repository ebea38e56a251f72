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

# What a flag of the programs is for a caller in Python, where it is not the same word.
_KEYWORDS = {"emit": "level", "raise": "raise_", "print-layout": "name", "o": "results"}
_FLAG = re.compile(r"(?<![\w-])--(?P<flag>[a-z]+(?:-[a-z]+)*)(?:=(?P<value>[\w.+-][\w.=+-]*(?:,[\w.=+-]+)*))?")
# What is of files and flags that nobody named, in other words: patterns and what takes their place.
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
# Files that are made on the way.
_OWN_FILE = re.compile(r"'argument\d+\.npy': (?=argument #)")
_OWN_INPUT = re.compile(r"'-': ")


def _name_keyword(match):
    name = _KEYWORDS.get(match["flag"], match["flag"].replace("-", "_"))
    # A word in capitals, as in --target=CHIP, stands for a value.
    return name if match["value"] is None or match["value"].isupper() else f"{name}={match['value']!r}"


def to_python(message: str) -> str:
    """A message of the programs in the words of the caller: keywords for flags, no files of ours."""
    for pattern, phrase in _PHRASES:
        message = pattern.sub(phrase, message)
    return _FLAG.sub(_name_keyword, _OWN_INPUT.sub("", _OWN_FILE.sub("", message)))


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
        to_python(match["message"]),
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
                messages[-1] = replace(last, message=f"{last.message}\n{to_python(lines[position - 1])}")
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


def drop_messages(text: str) -> str:
    """What a program wrote beside messages."""
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
