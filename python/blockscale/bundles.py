"""Bundles: functions of a program for several chips in one file, by `blockscale-compile`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Optional, Sequence, Union

from . import programs
from .compilation import make_options, read_program
from .diagnostics import CompileError

if TYPE_CHECKING:
    from .runtime import Bundle


def compile_bundle(
    program: Union[str, bytes, "os.PathLike[str]"],
    path: Union[str, "os.PathLike[str]"],
    *,
    targets: Sequence[str],
    entry: Optional[str] = None,
    cubin: bool = False,
    schedule: Optional[str] = None,
    native_only: bool = False,
    ptx_version: Union[str, int, None] = None,
    emulate_on: Optional[str] = None,
    no_workspace: bool = False,
    raise_: Union[bool, str] = False,
) -> "Bundle":
    """Writes the functions of a program for each of `targets` to the file `path` (docs/Bundle.md).

    program  as for `compile`
    path     the file, which appears whole or not at all
    targets  chips such as ["sm_90a", "sm_120a"], each once
    entry    the only function to take; without it, all public ones
    cubin    whether machine code is added, by `ptxas`

    The other options are those of `compile`. The result is the bundle as `blockscale.runtime.load`
    reads it: a mapping from names to functions that can be called where there is a card.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bundle = compile_bundle('''
    ...         func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
    ...           %sum = arith.addf %x, %x : tensor<4xf32>
    ...           return %sum : tensor<4xf32>
    ...         }''', folder + "/double.bundle", targets=["sm_90a", "sm_120a"])
    >>> bundle["double"].targets
    ['sm_90a', 'sm_120a']

    Raises CompileError for what the compiler refuses; ProgramNotFoundError if it is not there; OSError
    for files that cannot be read or written; TypeError for arguments of other types,
    ValueError for no target.
    """
    if not isinstance(targets, (list, tuple)) or not all(isinstance(each, str) for each in targets):
        raise TypeError(f"targets: expected a list or tuple of str, got {type(targets).__name__}")
    if not targets:
        raise ValueError("targets: expected at least one chip, got none")
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path: expected a path, got {type(path).__name__}")
    if not isinstance(cubin, bool):
        raise TypeError(f"cubin: expected True or False, got {type(cubin).__name__}")
    source = read_program(program)
    options = make_options(
        ",".join(targets), entry, schedule, native_only, ptx_version, emulate_on, no_workspace, raise_
    )
    # An absolute path begins with nothing that means another thing to the compiler.
    flags = [f"--bundle={Path(path).absolute()}", *options.flags(), *(["--emit=cubin"] if cubin else [])]
    done = programs.run(programs.find("blockscale-compile"), ["-", *flags], source.source)
    if done.code != 0:
        raise CompileError(done, source.name)
    from .runtime import load

    return load(path)
