"""A compiled function: its code, its launch info, and ways to run and inspect it."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Union

from . import programs
from .diagnostics import CompileError, Diagnostic, drop_messages
from .signature import Signature

if TYPE_CHECKING:
    from .layouts import Layout


class Options(NamedTuple):
    """The options of a compilation; see `blockscale.compile`."""

    target: str
    entry: Optional[str] = None
    schedule: Optional[str] = None
    native_only: bool = False
    ptx_version: Optional[str] = None
    emulate_on: Optional[str] = None
    no_workspace: bool = False
    raise_: Union[bool, str] = False
    accumulate: Optional[int] = None
    rebase: bool = False

    def flags(self, *without: str) -> List[str]:
        """The flags of the programs for all options except some."""
        flags = []
        for field, value in self._asdict().items():
            if field in without or value in (None, False):
                continue
            name = "--" + field.rstrip("_").replace("_", "-")
            flags.append(name if value is True else f"{name}={value}")
        return flags


# The levels that can be printed, by their stage of blockscale-compile; after the last one comes the code.
LEVELS = {"cpu": ("tile", "kernel", "llvm"), "gpu": ("tile", "kernel", "instr", "nvvm", "llvm")}


class Program(NamedTuple):
    """MLIR, as text or bytecode, and its name in messages."""

    source: bytes
    name: str


# A line of --compare; other lines are remarks with source lines.
_COMPARED = re.compile(r"^result #\d+: .*", re.MULTILINE)


def _find_comparison(messages: str) -> str:
    return "\n".join(_COMPARED.findall(messages))


class Kernel:
    """A compiled function, as `blockscale.compile` returns it. Its attributes are read-only.

    target   the chip, or "cpu"
    entry    the name of the function
    remarks  the messages of the compiler, each a `Diagnostic`
    code     PTX, or LLVM IR for the CPU
    options  the options of the compilation
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
        self._comparison: Optional[str] = None
        self._layouts: Dict[str, "Layout"] = {}
        # By level, and that of `explain`.
        self._texts: Dict[str, str] = {}

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
        """The launch info (docs/Programs.md, "Launch info"). Raises ValueError for the CPU."""
        self._require_gpu("launch_info")
        return copy.deepcopy(self._launch_info)

    @property
    def stats(self) -> Mapping[str, Any]:
        """The statistics of the last run in the simulator (docs/Simulator.md, "Statistics").

        Raises ValueError if there was none.
        """
        if self._stats is None:
            raise ValueError('stats: expected a run with device="sim" before, got none')
        return self._stats

    def _run_flags(self, device: str, seed: Optional[int], compare: bool, simulator: Dict[str, Any]) -> List[str]:
        if device != "cpu":
            self._require_gpu("device")
        elif compare:
            raise ValueError("compare: expected device 'sim' or 'cuda', got 'cpu', the reference")
        # The reference is the same for all chips.
        own = self.options if device != "cpu" else Options(None, raise_=self.options.raise_)
        flags = [*own._replace(entry=None).flags(), f"--device={device}"]
        flags.append(f"--entry={self.entry}")
        if seed is not None:
            flags.append(f"--seed={seed}")
        if compare:
            flags.append("--compare")
        for name, value in simulator.items():
            if value is not None and device != "sim":
                raise ValueError(f"{name}: expected device 'sim', got {device!r}")
            if value is not None:
                flags.append(f"--{name.replace('_', '-')}={value}")
        return flags

    def _execute(self, arrays, device, seed, compare, simulator, reports):
        from . import execution  # with numpy
        from .arrays import expect_count, expect_flag, expect_name, require

        if device not in execution.DEVICES:
            expect_name(device, "device")
            raise ValueError(f"device: expected one of {', '.join(execution.DEVICES)}, got {device!r}")
        seed = expect_count(seed, "seed")
        require(seed is None or 0 <= seed < 2**64, "seed", "an integer from 0 to 2^64 - 1", seed)
        if seed is not None and arrays:
            raise TypeError(f"arguments: expected none beside seed, got {len(arrays)}")
        for name in ("check", "numerics"):
            expect_name(simulator.get(name), name)
        expect_count(simulator.get("max_steps"), "max_steps")
        flags = self._run_flags(device, seed, expect_flag(compare, "compare"), simulator)
        if seed is None:
            arrays = execution.check_arguments(arrays, self._signature.arguments)
        count = len(self._signature.results)
        return execution.execute(*self._program, flags, arrays, count, reports)

    @property
    def device(self) -> str:
        """The default device of `run`: the simulator, or the CPU if that is the target."""
        return "cpu" if self._launch_info is None else "sim"

    def run(
        self,
        *arrays: Any,
        device: Optional[str] = None,
        seed: Optional[int] = None,
        compare: bool = False,
        check: Optional[str] = None,
        numerics: Optional[str] = None,
        max_steps: Optional[int] = None,
    ) -> Any:
        """The result of the function for `arrays`; a tuple if there are several, or none.

        arrays   one for each argument, in the shape of its type: narrow floats as uint8, one element
                 per byte; bf16 as uint16 bits (`to_bf16`); scalars as arrays of rank 0. Elements are
                 packed for the kernel where it needs that
        device   "sim" for the kernel in the simulator, "cuda" for the kernel on the first card, "cpu"
                 for the reference meaning; the default is that of the target, "sim" or "cpu"
        seed     draw random arguments instead of taking arrays; all sizes must be static
        compare  also compute the reference, keep the comparison as `comparison`, and raise RunError if
                 an error exceeds its bound
        check, numerics, max_steps
                 the flags of the simulator of these names (docs/Programs.md, "blockscale-sim")

        `run` calls `blockscale-run`, which compiles the same text again with the same options.

        Before anything runs, raises TypeError for a wrong number of arrays or a wrong element type, and
        ValueError for wrong shapes and devices. Raises RunError if the run fails.
        """
        device = self.device if device is None else device
        reports = ("stats",) if device == "sim" else ()
        simulator = {"check": check, "numerics": numerics, "max_steps": max_steps}
        outcome = self._execute(arrays, device, seed, compare, simulator, reports)
        self._stats = outcome.stats if device == "sim" else self._stats
        if compare:
            self._comparison = _find_comparison(outcome.messages)
        from .execution import unwrap

        return unwrap(outcome.results)

    def trace(self, *arrays: Any, seed: Optional[int] = None) -> Mapping[str, Any]:
        """A timeline of the kernels on the chip, as the simulator estimates it, for `arrays` or `seed`.

        Write the result with `json.dump` to open it in chrome://tracing or Perfetto (docs/Simulator.md,
        "Estimated times"). Errors are those of `run` with device="sim".
        """
        return self._execute(arrays, "sim", seed, False, {}, ("trace",)).trace

    @property
    def comparison(self) -> str:
        """The comparison of the last `run(compare=True)`, a line for each result (docs/Programs.md, "Against
        the reference"). Raises ValueError if there was none.
        """
        if self._comparison is None:
            raise ValueError("comparison: expected a run with compare=True before, got none")
        return self._comparison

    def _compile(self, *flags: str) -> programs.Finished:
        """Runs `blockscale-compile` again, for other output than code."""
        program = programs.find("blockscale-compile")
        done = programs.run(program, ["-", *self.options.flags(), *flags], self._program.source)
        if done.code != 0:
            raise CompileError(done, self._program.name)
        return done

    def ir(self, level: str) -> str:
        """The function at a level of its lowering, as text (docs/gpu/levels.md).

        level  "tile", "kernel", "instr" or "nvvm" for MLIR, "llvm" for LLVM IR; for the CPU only
               "tile", "kernel" and "llvm"

        Raises ValueError for another level.
        """
        levels = LEVELS["cpu" if self._launch_info is None else "gpu"]
        if not isinstance(level, str):
            raise TypeError(f"level: expected a str, got {type(level).__name__}")
        if level not in levels:
            raise ValueError(f"level: expected one of {', '.join(levels)} for {self.target}, got {level!r}")
        if level not in self._texts:
            self._texts[level] = self._compile(f"--emit={level}").output.decode()
        return self._texts[level]

    def explain(self) -> str:
        """The kernels of the function, the schedules of matrix multiplications, and what limits their speed.

        The text is that of `blockscale-compile --explain` (docs/Programs.md). Raises ValueError for
        the CPU.
        """
        self._require_gpu("explain")
        if "explain" not in self._texts:
            messages = self._compile("--explain", "--emit=kernel").messages
            self._texts["explain"] = drop_messages(messages)
        return self._texts["explain"]

    def show_layout(self, name: str) -> "Layout":
        """How the kernel lays out an operand, as text on a terminal and as a picture in a notebook.

        name  "a", "scale_a", "b", "scale_b" or "accumulator": which lane and register, or which lane
              and column of tensor memory, has which element; "shared": the bytes of tiles in shared
              memory; "tmem": the columns of tensor memory

        A and B are the operands of the instruction: with a `swap_ab` schedule, A is y.

        Raises CompileError, which lists the layouts of the kernel, if it does not have this one, and
        ValueError for the CPU.
        """
        self._require_gpu("show_layout")
        if not isinstance(name, str):
            raise TypeError(f"name: expected a str, got {type(name).__name__}")
        if name not in self._layouts:
            from .layouts import Layout

            done = self._compile(f"--print-layout={name}", "--layout-format=json")
            self._layouts[name] = Layout.from_json(name, done.output)
        return self._layouts[name]
