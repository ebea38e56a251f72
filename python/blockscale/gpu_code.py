"""From a module of blockscale.ir to PTX, in this process."""

from __future__ import annotations

import threading
from typing import List, NamedTuple, Optional, Union

from .ir import Module, Operation, library
from .ir.context import Location
from .ir.diagnostics import DiagnosticSeverity
from .ir.library import LIBRARY, text

# One compilation at a time in a process: blockscale-c/Compilation.h.
_LOCK = threading.Lock()


class Remark(NamedTuple):
    """A decision of the compiler that a user may want to know."""

    location: Location
    message: str


class GpuCode(NamedTuple):
    """What `compile_module` gives: PTX, or the text or bytes of another stage, and how to launch it as JSON."""

    code: Union[str, bytes]
    launch_info: Optional[str]
    remarks: List[Remark]


def option_names() -> List[str]:
    """The options of `compile_module`, with - for _."""
    return str(LIBRARY.blockscaleGetGpuOptionNames()).split()


def compile_module(module: Union[Module, Operation], target: str, **options) -> GpuCode:
    """Compiles `module` for a chip such as "sm_120a", and lowers it in place.

    Options are the flags of blockscale-compile, with _ for -: `schedule="tile=.."`, `native_only=True`, `emit="nvvm"`.
    Raises ValueError for an option that there is not, and MLIRError, with locations, for all else.
    """
    if not isinstance(module, (Module, Operation)):
        raise TypeError(f"module: expected a Module or an Operation, got {type(module).__name__}")
    if not isinstance(target, str):
        raise TypeError(f"target: expected a str, got {type(target).__name__}")
    operation = module.operation
    context = operation.context
    if operation.name != "builtin.module":
        raise ValueError(f"expected a builtin.module, got {operation.name}")
    given = {"target": target, **{name.replace("_", "-"): value for name, value in options.items()}}
    for name in given:
        if name not in option_names():
            raise ValueError(f"unknown option {name!r}, expected one of {', '.join(option_names())}")
    values = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}
    strings = [(text(name), text(value)) for name, value in values.items()]
    array = (library.Option * len(strings))(*(library.Option(*pair) for pair in strings))
    operation._ptr  # which is checked, before what is inside is given up
    operation._invalidate_inside()

    def is_remark(info) -> bool:  # they are in the result
        return info.severity is DiagnosticSeverity.REMARK

    with _LOCK, context.attach_diagnostic_handler(is_remark):
        what = f"Cannot compile for {target}"
        pointer = context._call(
            what, LIBRARY.blockscaleCompileForGpu, LIBRARY.mlirModuleFromOperation(operation._ptr), len(array), array
        )
    try:
        code = bytes(LIBRARY.blockscaleGpuCodeGetText(pointer))
        info = str(LIBRARY.blockscaleGpuCodeGetLaunchInfo(pointer))
        remarks = [
            Remark(
                Location(context, LIBRARY.blockscaleGpuCodeGetRemarkLocation(pointer, i)),
                str(LIBRARY.blockscaleGpuCodeGetRemark(pointer, i)),
            )
            for i in range(LIBRARY.blockscaleGpuCodeGetNumRemarks(pointer))
        ]
    finally:
        LIBRARY.blockscaleGpuCodeDestroy(pointer)
    is_bytes = values.get("emit") == "cubin"
    return GpuCode(code if is_bytes else code.decode(), info or None, remarks)
