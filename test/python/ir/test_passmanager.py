"""Pipelines in this process: the same text as the programs give."""

import subprocess

import pytest
from blockscale import ir, programs
from blockscale.gpu_code import compile_module, option_names
from blockscale.passmanager import PassManager

REPO = programs.Path(__file__).resolve().parents[3]
EXAMPLE = REPO / "examples" / "mma_scaled.mlir"


def program(name, *arguments):
    return subprocess.run([programs.find(name), *arguments], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def module():
    with ir.Context():
        yield ir.Module.parse_file(EXAMPLE)


@pytest.mark.parametrize("pipeline", ["blockscale-to-cpu", "blockscale-to-nvvm{target=sm_120a}", "canonicalize,cse"])
def test_pipelines(module, pipeline):
    PassManager.parse(f"builtin.module({pipeline})").run(module)
    assert module.operation.verify()
    assert f"{module}\n" == program("blockscale-opt", f"--pass-pipeline=builtin.module({pipeline})", EXAMPLE)


def test_building(module):
    manager = PassManager("builtin.module")
    manager.add("func.func(canonicalize)")
    manager.add("cse")
    assert str(manager).startswith("builtin.module(func.func(canonicalize{") and str(manager).endswith(",cse)")
    manager.enable_verifier(False)
    manager.run(module)
    for text, message in (("nope", "'nope' does not refer to a registered pass"), ("cse(", "unbalanced parentheses")):
        with pytest.raises(ir.MLIRError, match=message):
            manager.add(text)
        with pytest.raises(ir.MLIRError, match="Unable to parse the pipeline"):
            PassManager.parse(f"builtin.module({text})")


def test_failures(module):
    with pytest.raises(ir.MLIRError, match="Failure while executing pass pipeline:\nerror: .*unknown target 'sm_1'"):
        PassManager.parse("builtin.module(blockscale-to-nvvm{target=sm_1})").run(module)
    with pytest.raises(ir.MLIRError):
        PassManager.parse("func.func(cse)").run(module)


@pytest.mark.parametrize("target, options", [
    ("sm_120a", {}), ("sm_90a", {}), ("sm_100a", {"emulate_on": "sm_90a"}), ("sm_120a", {"emit": "nvvm"}),
    ("sm_120a", {"schedule": "tile=16x16x128,warps=1x1,stages=2", "native_only": True}),
])
def test_gpu_code(module, tmp_path, target, options):
    code = compile_module(module, target, **options)
    flags = [f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}") for name, value in options.items()]
    info = tmp_path / "info.json"
    text = program("blockscale-compile", EXAMPLE, f"--target={target}", f"--launch-info={info}", *flags)
    assert code.code == text and code.launch_info == info.read_text()
    assert all("mma_scaled.mlir" in str(remark.location) for remark in code.remarks)
    says_so = [remark for remark in code.remarks if "no block-scaled instruction" in remark.message]
    assert len(says_so) == (target == "sm_90a")


def test_wrong_options(module):
    assert "target" in option_names()
    with pytest.raises(ValueError, match="unknown option 'grid', expected one of target,"):
        compile_module(module, "sm_90", grid=1)
    for options, message in (
        (dict(target="sm_75"), "unknown target 'sm_75', expected one of"),
        (dict(target="sm_90", native_only=2), "native-only"),
        (dict(target="sm_90", native_only=True), "no block-scaled instruction"),
    ):
        with pytest.raises(ir.MLIRError, match=message):
            compile_module(ir.Module.parse_file(EXAMPLE), **options)
    with pytest.raises(ValueError, match="expected a builtin.module, got func.func"):
        compile_module(module.body.operations[0], "sm_90")
