"""Running a function on arrays with `blockscale-run`, which reads and writes them as .npy files."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, List, NamedTuple, Optional, Sequence

import numpy as np

from . import programs
from .arrays import require, type_name
from .diagnostics import RunError
from .signature import Operand

DEVICES = ("cpu", "sim", "cuda")
# MLIR's integers have no sign: arrays may be signed or unsigned.
_SIGNED = {"i": "iu", "u": "u", "f": "f"}


class Outcome(NamedTuple):
    """The results of a function, its messages, and the statistics and trace of the simulator."""

    results: List[np.ndarray]
    messages: str
    stats: Optional[Any]
    trace: Optional[Any]


def _describe(operand: Operand) -> str:
    sizes = ", ".join("any" if size is None else str(size) for size in operand.shape)
    return f"({sizes}{',' * (len(operand.shape) == 1)})"


def _packed_hint(array: np.ndarray, operand: Operand) -> str:
    """A hint for messages if a shape is that of packed elements; else empty."""
    elements, bytes = operand.packed
    expected = operand.shape[-1] if operand.shape else None
    if elements == bytes or expected is None or array.ndim != len(operand.shape):
        return ""
    if array.shape[-1] * elements != expected * bytes:
        return ""
    format = "f4E2M1FN" if elements == 2 else "f6E2M3FN"
    return f" with one element per byte ({elements} in {bytes} is packed: see unpack(array, {format!r}))"


def check_argument(index: int, array: Any, operand: Operand) -> np.ndarray:
    """`array` as an argument, in C order.

    Raises TypeError for another element type, ValueError for another shape.
    """
    name = f"argument #{index}"
    kind, size = operand.dtype
    if isinstance(array, np.generic):
        array = np.asarray(array)
    kinds = _SIGNED[kind] if operand.dtype != "u1" else "u"
    if not isinstance(array, np.ndarray) or not any(
        array.dtype == np.dtype(k + size) for k in kinds
    ):
        hint = " (bits of bf16, see to_bf16)" if operand.dtype == "u2" else ""
        raise TypeError(
            f"{name}: expected an array of {np.dtype(operand.dtype)}{hint}, got {type_name(array)}"
        )
    fits = array.ndim == len(operand.shape) and all(
        size in (None, n) for size, n in zip(operand.shape, array.shape)
    )
    require(fits, name, f"shape {_describe(operand)}{_packed_hint(array, operand)}", array.shape)
    return np.asarray(array, order="C")  # ascontiguousarray makes a vector of a scalar


def check_arguments(arrays: Sequence[Any], operands: Sequence[Operand]) -> List[np.ndarray]:
    """All arguments. Also raises TypeError for another number of arguments."""
    if len(arrays) != len(operands):
        raise TypeError(f"arguments: expected {len(operands)} arrays, got {len(arrays)}")
    return [check_argument(i, *pair) for i, pair in enumerate(zip(arrays, operands))]


def _load_json(path: Path) -> Optional[Any]:
    return json.loads(path.read_text()) if path.is_file() else None


def execute(
    source: bytes,
    name: str,
    flags: Sequence[str],
    arrays: Sequence[np.ndarray],
    num_results: int,
    reports: Sequence[str] = (),
) -> Outcome:
    """Runs the function of a program; `flags` say which one, where and how.

    source   the program, called `name` in messages
    arrays   the arguments; none if there is a flag --seed
    reports  which files the simulator writes: "stats", "trace"

    Raises RunError. Files are in a temporary folder, which is always removed.
    """
    program = programs.find("blockscale-run")
    with tempfile.TemporaryDirectory(prefix="blockscale-") as directory:
        folder = Path(directory)
        command: List[str] = ["-", *flags]
        for report in reports:
            command.append(f"--{report}={report}.json")
        outputs = [f"result{i}.npy" for i in range(num_results)]
        for output in outputs:
            command += ["-o", output]
        for i, array in enumerate(arrays):
            np.save(folder / f"argument{i}.npy", array)
            command.append(f"argument{i}.npy")
        done = programs.run(program, command, source, directory)
        if done.code != 0:
            raise RunError(done, name)
        return Outcome(
            [np.load(folder / output, allow_pickle=False) for output in outputs],
            done.messages,
            *(_load_json(folder / f"{report}.json") for report in ("stats", "trace")),
        )


def unwrap(results: List[np.ndarray]) -> Any:
    """A single array itself, several arrays as a tuple."""
    return results[0] if len(results) == 1 else tuple(results)
