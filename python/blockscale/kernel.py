"""A function that has been compiled: its code, how it is launched, and running and seeing it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional

from . import programs
from .diagnostics import CompileError, Diagnostic
from .signature import Signature

if TYPE_CHECKING:
    from .layouts import Layout


class Options(NamedTuple):
    """What a program is compiled with; see `blockscale.compile`."""

    target: str
    entry: Optional[str] = None
    schedule: Optional[str] = None
    native_only: bool = False
    ptx_version: Optional[str] = None
    emulate_on: Optional[str] = None
    no_workspace: bool = False

    def flags(self, *without: str) -> List[str]:
        """The flags of the programs for all options but some."""
        flags = []
        for field, value in self._asdict().items():
            if field in without or value in (None, False):
                continue
            name = "--" + field.replace("_", "-")
            flags.append(name if value is True else f"{name}={value}")
        return flags


class Program(NamedTuple):
    """MLIR, as text or bytecode, and what messages call it."""

    source: bytes
    name: str


# What blockscale-run does not take: with these it would run other code than this.
_NOT_RUN = ("emulate_on", "no_workspace")


class Kernel:
    """What `blockscale.compile` gives. Attributes are for reading.

    target   the chip, or "cpu"
    entry    the name of the function
    remarks  what the compiler said, each a `Diagnostic`
    code     PTX, or LLVM IR for the CPU
    options  what it was compiled with
    """

    def __init__(
        self,
        program: Program,
        options: Options,
        entry: str,
        code: str,
        launch_info: Optional[Dict[str, Any]],
        signature: Signature,
        remarks: List[Diagnostic],
    ):
        self.options = options
        self.target = options.target
        self.entry = entry
        self.code = code
        self.remarks = remarks
        self._program, self._launch_info, self._signature = program, launch_info, signature
        self._stats: Optional[Dict[str, Any]] = None
        self._layouts: Dict[str, "Layout"] = {}

    def __repr__(self):
        return f"<Kernel {self.entry!r} for {self.target}>"

    def _require_gpu(self, what):
        if self._launch_info is None:
            raise ValueError(f"{what}: expected a kernel for a GPU, got one for {self.target}")

    @property
    def ptx(self) -> str:
        """The PTX text of all its kernels. Raises ValueError for the CPU."""
        self._require_gpu("ptx")
        return self.code

    @property
    def launch_info(self) -> Mapping[str, Any]:
        """How it is launched (docs/Programs.md, "Launch info"). Raises ValueError for the CPU."""
        self._require_gpu("launch_info")
        return copy.deepcopy(self._launch_info)

    @property
    def stats(self) -> Mapping[str, Any]:
        """The statistics of the last `run(device="sim")` (docs/Simulator.md, "Statistics").

        Raises ValueError if there was none.
        """
        if self._stats is None:
            raise ValueError('stats: expected a run with device="sim" before, got none')
        return self._stats

    def _run_flags(self, device: str, seed: Optional[int], compare: bool) -> List[str]:
        lacked = [field for field in _NOT_RUN if getattr(self.options, field)]
        if device != "cpu":
            self._require_gpu("device")
            if lacked:
                raise ValueError(
                    f"device: expected 'cpu' for what is compiled with {lacked[0]}, got {device!r}"
                )
        elif compare:
            raise ValueError("compare: expected device 'sim' or 'cuda', got 'cpu', the reference")
        # The reference is the same for all chips.
        without = self.options._fields if device == "cpu" else _NOT_RUN
        flags = [*self.options._replace(entry=None).flags(*without), f"--device={device}"]
        flags.append(f"--entry={self.entry}")
        if seed is not None:
            flags.append(f"--seed={int(seed)}")
        if compare:
            flags.append("--compare")
        return flags

    def _execute(self, arrays, device, seed, compare, reports):
        from . import execution  # with numpy

        if device not in execution.DEVICES:
            raise ValueError(
                f"device: expected one of {', '.join(execution.DEVICES)}, got {device!r}"
            )
        if seed is not None and arrays:
            raise TypeError(f"arguments: expected none beside seed, got {len(arrays)}")
        flags = self._run_flags(device, seed, compare)
        if seed is None:
            arrays = execution.check_arguments(arrays, self._signature.arguments)
        count = len(self._signature.results)
        return execution.execute(*self._program, flags, arrays, count, reports)

    def run(
        self, *arrays: Any, device: str = "cpu", seed: Optional[int] = None, compare: bool = False
    ) -> Any:
        """The result of the function for `arrays`; a tuple if there are several, or none.

        arrays   one for each argument, in the shape of its type: codes of narrow floats as uint8, one
                 for each byte, bf16 as the uint16 of its bits, scalars as arrays of rank 0; packed
                 buffers are made on the way
        device   "cpu" for the reference meaning, "sim" for the kernel in the simulator, "cuda" for
                 the kernel on the first card
        seed     draws the arguments, in place of arrays; all sizes must be static
        compare  also computes the reference, and raises RunError where an error is over its bound

        `run` compiles once more, by `blockscale-run`, from the same text with the same options.

        Raises TypeError for another number of arrays or another element type, ValueError for other
        shapes and devices, before anything runs; RunError for what goes wrong then.
        """
        reports = ("stats",) if device == "sim" else ()
        outcome = self._execute(arrays, device, seed, compare, reports)
        self._stats = outcome.stats if device == "sim" else self._stats
        from .execution import unwrap

        return unwrap(outcome.results)

    def trace(self, *arrays: Any, seed: Optional[int] = None) -> Mapping[str, Any]:
        """What would happen when on the chip, as the simulator estimates it, for `arrays` or `seed`.

        The result is what chrome://tracing and Perfetto read, once it is written by `json.dump`
        (docs/Simulator.md, "Estimated times"). Errors are those of `run` with device="sim".
        """
        return self._execute(arrays, "sim", seed, False, ("trace",)).trace

    def show_layout(self, name: str) -> "Layout":
        """Where the kernel has an operand, as text on a terminal and as a picture in a notebook.

        name  "a", "scale_a", "b", "scale_b" or "accumulator": which lane and register, or which lane
              and column of tensor memory, has which element; "shared": the bytes of tiles in shared
              memory; "tmem": the columns of tensor memory

        A and B are the operands of the instruction: with an `exchanged` schedule, A is y.

        Raises CompileError for a layout that the kernel does not have, with those that it has, and
        ValueError for the CPU.
        """
        self._require_gpu("show_layout")
        if name not in self._layouts:
            from .layouts import Layout

            flags = [*self.options.flags(), f"--print-layout={name}", "--layout-format=json"]
            program = programs.find("blockscale-compile")
            done = programs.run(program, ["-", *flags], self._program.source)
            if done.code != 0:
                raise CompileError(done, self._program.name)
            self._layouts[name] = Layout.from_json(name, done.output)
        return self._layouts[name]
