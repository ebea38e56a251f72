"""Compiling with `blockscale-compile`, with a cache of its results."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from . import cache, programs
from ._version import __version__
from .diagnostics import CompileError, parse
from .kernel import Kernel, Options, Program
from .licence import check_licence
from .signature import from_launch_info, from_mlir

# Changes with what entries of the cache hold.
_ENTRY_VERSION = 1
# The name that messages give a program that is not a file.
TEXT_NAME = "<text>"
POSITIVE_SCALES = "assume-positive-scales"
# A text of one line has one of these; file names with them are given as a Path.
_MARKS_OF_TEXT = "\n{"


def read_program(program: Union[str, bytes, "os.PathLike[str]"]) -> Program:
    if isinstance(program, bytes):
        return Program(program, TEXT_NAME)
    if isinstance(program, str) and any(mark in program for mark in _MARKS_OF_TEXT):
        return Program(program.encode(), TEXT_NAME)
    if not isinstance(program, (str, os.PathLike)):
        raise TypeError(f"program: expected text, bytes or a path, got {type(program).__name__}")
    return Program(Path(program).read_bytes(), str(program))


def make_options(
    target, entry, schedule, native_only, ptx_version, emulate_on, no_workspace, raise_, accumulate, rebase
) -> Options:
    """The options of `compile`, whose types are checked. Raises TypeError or ValueError."""
    if not isinstance(target, str):
        raise TypeError(f"target: expected a str, got {type(target).__name__}")
    for name, value in (("entry", entry), ("schedule", schedule), ("emulate_on", emulate_on)):
        if not isinstance(value, (str, type(None))):
            raise TypeError(f"{name}: expected a str, got {type(value).__name__}")
    for name, value in (("native_only", native_only), ("no_workspace", no_workspace)):
        if not isinstance(value, bool):
            raise TypeError(f"{name}: expected True or False, got {type(value).__name__}")
    if isinstance(ptx_version, bool) or not isinstance(ptx_version, (str, int, type(None))):
        raise TypeError(f"ptx_version: expected a str or an integer, got {type(ptx_version).__name__}")
    if not isinstance(raise_, (bool, str)):
        raise TypeError(f"raise_: expected True, False or a str, got {type(raise_).__name__}")
    if isinstance(raise_, str) and raise_ != POSITIVE_SCALES:
        raise ValueError(f"raise_: expected True, False or {POSITIVE_SCALES!r}, got {raise_!r}")
    check_licence(accumulate, rebase, "accumulate")
    version = None if ptx_version is None else str(ptx_version)
    accumulate = None if accumulate is None else int(accumulate)
    return Options(
        target, entry, schedule, native_only, version, emulate_on, no_workspace, raise_, accumulate, rebase
    )


def _call(program: Program, arguments: List[str], folder: str) -> programs.Finished:
    executable = programs.find("blockscale-compile")
    done = programs.run(executable, ["-", *arguments], program.source, folder)
    if done.code != 0:
        raise CompileError(done, program.name)
    return done


def _make_entry(program: Program, options: Options) -> Dict[str, Any]:
    """A cache entry: the code, the messages, and the launch info or the type of the function."""
    with tempfile.TemporaryDirectory(prefix="blockscale-") as folder:
        flags = options.flags()
        if options.target == "cpu":
            done = _call(program, flags, folder)
            tile = _call(program, [*flags, "--emit=tile"], folder).output.decode()
            return {"code": done.output.decode(), "messages": done.messages, "tile": tile}
        done = _call(program, [*flags, "--launch-info=info.json"], folder)
        info = json.loads((Path(folder) / "info.json").read_text())
        return {"code": done.output.decode(), "messages": done.messages, "launch_info": info}


def _make_kernel(program: Program, options: Options, entry: Dict[str, Any]) -> Kernel:
    info = entry.get("launch_info")
    if info is None:
        name, signature = from_mlir(entry["tile"], options.entry)
    else:
        # All others are NAME__WHAT.
        name = options.entry or min((kernel["name"] for kernel in info["kernels"]), key=len)
        signature = from_launch_info(info)
    remarks = parse(entry["messages"], program.name)
    return Kernel(program, options, name, entry["code"], info, signature, remarks)


def compile(
    program: Union[str, bytes, "os.PathLike[str]"],
    *,
    target: str,
    entry: Optional[str] = None,
    schedule: Optional[str] = None,
    native_only: bool = False,
    ptx_version: Union[str, int, None] = None,
    emulate_on: Optional[str] = None,
    no_workspace: bool = False,
    raise_: Union[bool, str] = False,
    accumulate: Optional[int] = None,
    rebase: bool = False,
) -> Kernel:
    """Compiles a function of an MLIR program for `target` with `blockscale-compile`; a `Kernel`.

    program       MLIR: bytes, a str with a line break or a brace, or else the path of a file
    target        a chip such as "sm_120a", or "cpu"
    entry         the function; needed if the program has several public ones
    schedule      the schedule of matrix multiplications, as in --schedule; the default is chosen by the compiler
    native_only   whether ops without a block-scaled instruction on the chip are errors
    ptx_version   such as "8.7"; the default is the lowest that works
    emulate_on    a chip to run on, with the instructions of `target` emulated in software
    no_workspace  whether to choose kernels without a workspace (memory besides arguments and results),
                  and refuse functions that need one
    raise_        whether to rewrite contractions of decoded operands to `mma_scaled` first
                  (docs/Raising.md); "assume-positive-scales" also assumes that f8E4M3FN scales are positive
    accumulate    32, 64 or 128: the chunk of the licence `#blockscale.accumulate` (docs/Numerics.md) of
                  products that have none
    rebase        whether that licence permits rebasing, too

    docs/Programs.md describes all of these. `compile_bundle` compiles for several chips. Results are
    cached on disk: see `blockscale.cache`.

    >>> kernel = compile('''
    ...     func.func @double(%x: tensor<4xf32>) -> tensor<4xf32> {
    ...       %sum = arith.addf %x, %x : tensor<4xf32>
    ...       return %sum : tensor<4xf32>
    ...     }''', target="sm_120a")
    >>> kernel
    <Kernel 'double' for sm_120a>
    >>> kernel.launch_info["operands"][0]
    {'dtype': 'f4', 'shape': [4]}
    >>> import numpy as np
    >>> kernel.run(np.arange(4, dtype=np.float32))  # in the simulator
    array([0., 2., 4., 6.], dtype=float32)

    Raises CompileError, with location and notes, if the compiler reports an error;
    ProgramNotFoundError if it is not found; OSError for a file that cannot be read; TypeError, which
    names the argument, for arguments of other types; ValueError for the CPU if the program has several
    functions and no `entry` is given.
    """
    source = read_program(program)
    options = make_options(
        target, entry, schedule, native_only, ptx_version, emulate_on, no_workspace, raise_, accumulate, rebase
    )
    identity = programs.identify(programs.find("blockscale-compile"))
    key = cache.make_key([_ENTRY_VERSION, __version__, identity, options, source.source])
    found = cache.load(key)
    if found is None:
        found = _make_entry(source, options)
        cache.store(key, found)
    return _make_kernel(source, options, found)


def clear_cache() -> int:
    """Removes all cached results from the disk; returns how many there were.

    Entries that cannot be removed stay.
    """
    return cache.clear()
