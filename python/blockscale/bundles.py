"""Bundles: the functions of a program compiled for several chips, in one file."""

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
    accumulate: Optional[int] = None,
    rebase: bool = False,
) -> "Bundle":
    """Compiles the functions of a program for each of `targets` into the file `path` (docs/Bundle.md).

    program  as for `compile`
    path     the file; it is written completely or not at all
    targets  chips such as ["sm_90a", "sm_120a"], without duplicates
    entry    compile only this function; the default is all public functions
    cubin    whether to add machine code, assembled by `ptxas`

    The other options are those of `compile`. Returns the bundle as `blockscale.runtime.load` reads
    it: a mapping from names to functions, which can be called on a machine with a CUDA card.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bundle = compile_bundle('''
    ...         func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
    ...           %sum = arith.addf %x, %x : tensor<4xf32>
    ...           return %sum : tensor<4xf32>
    ...         }''', folder + "/double.bundle", targets=["sm_90a", "sm_120a"])
    >>> bundle["double"].targets
    ['sm_90a', 'sm_120a']

    Raises CompileError if the compiler reports an error, ProgramNotFoundError if it is not found,
    OSError for files that cannot be read or written, TypeError for arguments of other types, and
    ValueError if there is no target.
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
        ",".join(targets), entry, schedule, native_only, ptx_version, emulate_on, no_workspace, raise_, accumulate,
        rebase,
    )
    # A relative path could begin with a dash or be "-".
    flags = [f"--bundle={Path(path).absolute()}", *options.flags(), *(["--emit=cubin"] if cubin else [])]
    done = programs.run(programs.find("blockscale-compile"), ["-", *flags], source.source)
    if done.code != 0:
        raise CompileError(done, source.name)
    from .runtime import load

    return load(path)
