"""Contexts, locations, diagnostics, and what frees what."""

import gc
import io
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from blockscale import ir

PACKAGE = Path(__file__).resolve().parents[3] / "python"
IDENTITY = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"


def test_default_context():
    with pytest.raises(ValueError, match="no context is set"):
        ir.Context.current
    with ir.Context() as outer:
        with ir.Context() as inner:
            assert ir.Context.current is inner
        assert ir.Context.current is outer
        with pytest.raises(ValueError, match="no location is set"):
            ir.Location.current
        with ir.Location.file("a.py", 3, 7):
            assert str(ir.Location.current) == 'loc("a.py":3:7)'
            with ir.Context():
                with pytest.raises(ValueError, match="no location is set"):
                    ir.Location.current
    with pytest.raises(RuntimeError, match="not the last one that began"):
        outer.__exit__()


def test_locations():
    with ir.Context():
        file = ir.Location.file("a.py", 3, 7)
        assert str(ir.Location.unknown()) == "loc(unknown)"
        assert str(ir.Location.name("x", file)) == 'loc("x"("a.py":3:7))'
        assert str(ir.Location.callsite(ir.Location.name("f"), [file])) == 'loc(callsite("f" at "a.py":3:7))'
        assert str(ir.Location.fused([ir.Location.name("f"), file])) == 'loc(fused["f", "a.py":3:7])'
        assert file == ir.Location.file("a.py", 3, 7) != ir.Location.unknown()
        with pytest.raises(ValueError, match="frames: expected at least one"):
            ir.Location.callsite(file, [])


def test_errors_have_locations_and_notes():
    with ir.Context():
        with pytest.raises(ir.MLIRError) as caught:
            ir.Module.parse("func.func @f() {\n  %0 = arith.nope\n}")
        [error] = caught.value.error_diagnostics
        assert error.severity is ir.DiagnosticSeverity.ERROR and error.location.endswith('"-":2:8)')
        module = ir.Module.parse(IDENTITY)
        module.body.operations[0].attributes["function_type"] = ir.TypeAttr.get(ir.Type.parse("() -> ()"))
        with pytest.raises(ir.MLIRError, match="Verification failed") as caught:
            module.operation.verify()
        assert caught.value.error_diagnostics


def test_diagnostic_handlers(capfd):
    seen = []
    with ir.Context() as context, ir.Location.file("a.py", 1, 2) as location:
        with context.attach_diagnostic_handler(lambda info: seen.append(str(info)) or True) as handler:
            assert handler.attached
            location.emit_error("first")
            with context.attach_diagnostic_handler(lambda info: False):
                location.emit_error("second")
            with context.attach_diagnostic_handler(lambda info: 1 / 0):
                location.emit_error("third")
        assert not handler.attached
        location.emit_error("printed by MLIR")
    assert seen == [f'error: "a.py":1:2: {what}' for what in ("first", "second", "third")]
    out, err = capfd.readouterr()
    assert not out and "ZeroDivisionError" in err and "printed by MLIR" in err and "second" not in err


def test_freed_in_any_order():
    """Wrappers keep what they need, also in cycles, in which Python frees objects in its own order."""
    for order in range(6):
        context = ir.Context()
        module = ir.Module.parse(IDENTITY, context)
        argument = module.body.operations[0].regions[0].blocks[0].arguments[0]
        detached = ir.Operation.parse("func.func private @g()", context=context)
        objects = [context, module, detached]
        names = ["context", "module", "detached"]
        del context, module, detached
        for i in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))[order]:
            objects[i] = names[i]
            gc.collect()
        assert str(argument.type) == "tensor<4xf32>" and argument.owner.owner.name == "func.func"
        del argument, objects
        cycle = [ir.Context()]
        cycle += [ir.Module.parse(IDENTITY, cycle[0]), ir.Operation.parse("func.func private @g()", context=cycle[0])]
        cycle.append(cycle)
        del cycle
        gc.collect()


def test_threads():
    """Contexts of their own, and one for all: each thread gets its own errors."""
    shared, failures = ir.Context(), []

    def work(number):
        try:
            for i in range(20):
                with ir.Context() if i % 2 else shared:
                    module = ir.Module.parse(IDENTITY.replace("@f", f"@f{number}_{i}"))
                    assert f"@f{number}_{i}" in str(module)
                    with pytest.raises(ir.MLIRError, match=f"redefinition of symbol named 'g{number}_{i}'"):
                        ir.Module.parse(f"func.func private @g{number}_{i}()\n" * 2)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_no_numpy():
    """Neither numpy nor the library is loaded by importing; a missing library says where it was looked for."""
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from blockscale import ir, passmanager, gpu_code\n"
        "from blockscale.dialects import arith, blockscale, func, linalg, math, scf, tensor\n"
        "try: ir.Context()\nexcept ir.LibraryNotFoundError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env={"PYTHONPATH": str(PACKAGE), "BLOCKSCALE_BIN": "/nowhere/bin"},
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("libBlockScaleC.so is in none of /nowhere/lib/libBlockScaleC.so: build the project")


def test_bytecode():
    with ir.Context():
        file = io.BytesIO()
        module = ir.Module.parse(IDENTITY)
        module.operation.write_bytecode(file)
        assert file.getvalue()[:4] == b"ML\xefR"
        assert str(ir.Module.parse(file.getvalue())) == str(module)


def test_parse_file(tmp_path):
    (tmp_path / "a.mlir").write_text(IDENTITY)
    with ir.Context():
        assert str(ir.Module.parse_file(tmp_path / "a.mlir")) == str(ir.Module.parse(IDENTITY))
        with pytest.raises(ir.MLIRError, match="nothing.mlir"):
            ir.Module.parse_file(tmp_path / "nothing.mlir")
