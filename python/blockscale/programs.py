"""Finds and runs the programs of the compiler.

They are looked for in the folder that the environment variable BLOCKSCALE_BIN names. Without it, in
`build/bin` of the checkout that the package is part of, or in `bin` of the prefix that it is installed
in (as PREFIX/share/blockscale/python/blockscale or, from a wheel,
PREFIX/lib/pythonX.Y/site-packages/blockscale).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import List, NamedTuple, Optional, Sequence

VARIABLE = "BLOCKSCALE_BIN"
# How many folders the package is below a prefix, and the folder of the programs in that prefix.
_BESIDE = ((2, "build/bin"), (4, "bin"))


class ProgramNotFoundError(FileNotFoundError):
    """A program of the compiler is in none of the folders where it is looked for."""


class Identity(NamedTuple):
    """Tells a program from one that was built later, for caches."""

    path: str
    size: int
    mtime_ns: int


class Finished(NamedTuple):
    """A program that has ended: its output, as bytes and as text, and its exit code."""

    command: List[str]
    code: int
    output: bytes
    messages: str


def folders() -> List[Path]:
    """The folders in which programs are looked for, in order."""
    if os.environ.get(VARIABLE):
        return [Path(os.environ[VARIABLE]).absolute()]  # programs run in other folders
    package = Path(__file__).resolve().parent
    return [
        package.parents[levels - 1] / name for levels, name in _BESIDE if levels <= len(package.parents)
    ]


def find(name: str) -> Path:
    """The program `name`, such as "blockscale-compile".

    Raises ProgramNotFoundError, with the files that were looked for and how to name another folder.
    """
    candidates = [folder / name for folder in folders()]
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return path
    looked = " nor ".join(map(str, candidates))
    raise ProgramNotFoundError(
        f"{name}: expected a program, got none: neither {looked} is one. Build or install blockscale, "
        f"or set {VARIABLE} to the folder that has its programs; what needs no compiler works without"
    )


def identify(program: Path) -> Identity:
    """The identity of a program; its bytes are not read."""
    path = program.resolve()
    status = path.stat()
    return Identity(str(path), status.st_size, status.st_mtime_ns)


def run(
    program: Path, arguments: Sequence[str], source: bytes, folder: Optional[str] = None
) -> Finished:
    """Runs a program to its end in `folder`, with `source` as standard input.

    An exception such as KeyboardInterrupt ends the program as well.
    """
    command = [str(program), *arguments]
    done = subprocess.run(command, input=source, capture_output=True, cwd=folder, check=False)
    return Finished(command, done.returncode, done.stdout, done.stderr.decode(errors="replace"))
