"""gpu.py, as far as it goes without a card: what it builds, how it launches, the table and the plot."""

import ctypes
import importlib.util
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

REPO = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
FAKE_DRIVER = BUILD / "test" / "FakeCuda" / "libcuda.so.1"
TIMEOUT_S = 300

sys.path[:0] = [str(REPO / "benchmarks"), str(REPO / "python")]

import blockscale  # noqa: E402
import gpu_cases  # noqa: E402
import gpu_launch  # noqa: E402
import gpu_schedules  # noqa: E402
import gpu_triton  # noqa: E402


def gpu(*flags, code=0, **environment):
    """What it prints, and where that is an error, says."""
    done = subprocess.run(
        [sys.executable, REPO / "benchmarks" / "gpu.py", *map(str, flags)], capture_output=True, text=True,
        timeout=TIMEOUT_S, check=False,
        env=dict(os.environ, BLOCKSCALE_BUILD=str(BUILD), PYTHONDONTWRITEBYTECODE="1", **environment),
    )
    assert done.returncode == code, f"{done.stdout}{done.stderr}"
    return done.stderr if code else done.stdout


# Cases and build.


def test_cases():
    sizes = {case[1:] for case in gpu_cases.select(None, None)}
    assert {(n, n, n) for n in (1024, 2048, 4096, 8192)} | {(16384, 4096, 4096)} <= sizes
    small = {(m, n, k) for m in (1, 8, 16, 32, 64, 256) for n, k in ((8192, 8192), (14336, 4096), (4096, 14336))}
    assert small <= sizes and len(sizes) == 5 + 18
    assert {case.format for case in gpu_cases.select(None, None)} == {*gpu_cases.DEFAULT_FORMATS}


@pytest.mark.parametrize("target", ["sm_80", "sm_120a"])
def test_build(tmp_path, target):
    formats = ["nvfp4", "mxfp6-packed"]
    output = gpu("build", tmp_path, f"--target={target}", "--formats", *formats, "--sizes", "16x32x64", "1x32x64")
    assert output.splitlines()[-1] == f"4 of 4 cases for {target} in {tmp_path}"
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["target"] == target and len(manifest["cases"]) == 4
    info = json.loads((tmp_path / "nvfp4-16x32x64.json").read_text())
    assert info["kernels"][-1]["name"] == "mma"
    assert ".entry mma" in (tmp_path / "nvfp4-16x32x64.ptx").read_text()


def test_build_names_what_does_not_compile(tmp_path):
    flags = ["--target=sm_80", "--formats", "mxfp8", "--sizes", "16x32x64", "--flag=--native-only"]
    error = gpu("build", tmp_path, *flags, code=1)
    assert error.startswith("mxfp8-16x32x64: error: ")
    [entry] = json.loads((tmp_path / "manifest.json").read_text())["cases"]
    assert entry["error"].startswith("error: ")


@pytest.mark.parametrize("format", gpu_cases.FORMATS)
def test_program_multiplies(tmp_path, format):
    """x times y, the latter as N x K: the program means what contenders are held against."""
    case, types = gpu_cases.Case(format, 3, 16, 64), gpu_cases.FORMATS[format]
    random = np.random.default_rng(1)
    names = (types.x, types.scale, types.y, types.scale)
    arrays = []
    for i, (shape, name) in enumerate(zip(case.shapes, names)):
        if i % 2:
            codes = random.integers(123, 132, shape) if name == "f8E8M0FNU" else random.integers(0, 127, shape)
        else:
            codes = random.integers(0, min(1 << blockscale.FORMATS[name].bits, 0x7F), shape)
        arrays.append(codes.astype(np.uint8))
        np.save(tmp_path / f"{i}.npy", arrays[-1])
    (tmp_path / "mma.mlir").write_text(gpu_cases.program(case))
    files = [tmp_path / f"{i}.npy" for i in range(4)]
    command = [BUILD / "bin" / "blockscale-run", tmp_path / "mma.mlir", *files, "-o", tmp_path / "d.npy"]
    subprocess.run(command, check=True, timeout=TIMEOUT_S)
    x, xs, y, ys = arrays
    blockscale.compare(
        np.load(tmp_path / "d.npy"), x, xs, np.ascontiguousarray(y.T), np.ascontiguousarray(ys.T),
        np.zeros((case.m, case.n), np.float32), x_type=types.x, y_type=types.y, scale_type=types.scale,
    )


def test_sizes_are_checked(tmp_path):
    assert "expected square, tall, small or MxNxK, got '3x4'" in gpu(
        "build", tmp_path, "--target=sm_80", "--sizes", "3x4", code=2
    )
    assert "expected N in multiples of 16" in gpu("build", tmp_path, "--target=sm_80", "--sizes", "8x8x32", code=2)


def test_tune(tmp_path):
    """The schedule that is chosen and those that the compiler takes, each with its files."""
    output = gpu("build", tmp_path, "--target=sm_100a", "--tune", "--formats", "nvfp4", "--sizes", "16x32x512")
    entries = json.loads((tmp_path / "manifest.json").read_text())["cases"]
    assert output.endswith(f"{len(entries)} of {4 * 2 * 3 * 4 + 1} schedules of 1 cases for sm_100a in {tmp_path}\n")
    schedules = [entry["schedule"] for entry in entries]
    assert schedules[0] is None and None not in schedules[1:] and len(set(schedules)) == len(schedules) > 2
    # K of a tile of fp4 is 256, of which there are two.
    assert all("x256,stages" in of and of.endswith(",split_k=1") for of in schedules[1:])
    assert all((tmp_path / f"{entry['file']}.{ext}").is_file() for entry in entries for ext in ("ptx", "json"))
    assert "expected a folder of gpu.py build without --tune" in gpu("run", tmp_path, code=1)
    gpu("build", tmp_path, "--target=sm_100a", "--formats", "nvfp4", "--sizes", "16x32x512")
    assert "expected a folder of gpu.py build with --tune" in gpu("tune", tmp_path, code=1)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100f", "sm_120a"])
def test_schedules(target):
    """Of each case several, by the forms that the chip has."""
    for case in gpu_cases.select(None, None):
        texts = gpu_schedules.schedules(case, target)
        assert len(texts) == len(set(texts)) > 10
        assert any("warps=" in text for text in texts) == (target != "sm_100f")
        assert any("accumulators=" in text for text in texts) == (target in ("sm_90a", "sm_100f"))


@pytest.mark.skipif(importlib.util.find_spec("torch"), reason="torch is there")
def test_run_says_what_it_needs(tmp_path):
    gpu("build", tmp_path, "--target=sm_80", "--formats", "mxfp8", "--sizes", "16x32x64")
    error = gpu("run", tmp_path, code=1)
    assert error.startswith("error: run and tune need torch and a CUDA card") and error.count("\n") == 1


# Launches.


def test_expressions():
    size = {"size": {"arg": 0, "dim": 1}}

    def evaluate(expression):
        return gpu_launch.evaluate(expression, [(300, 64)], 132)

    assert evaluate(7) == 7 and evaluate(size) == 64
    assert evaluate({"ceildiv": [{"arg": 0, "dim": 0}, 128]}) == 3
    assert evaluate({"ceildiv": [{"add": [size, 1]}, 32]}) == 3
    assert evaluate({"min": [{"multiprocessors": 2}, {"mul": [size, 4]}]}) == 256
    assert evaluate({"max": [{"multiprocessors": 1}, size]}) == 132
    assert evaluate({"select": [{"lt": [size, 65]}, 3, {"ceildiv": [1, 0]}]}) == 3
    assert evaluate({"select": [{"eq": [size, 65]}, {"ceildiv": [1, 0]}, 4]}) == 4
    with pytest.raises(ValueError, match="expected one of add, mul, ceildiv, floordiv, min, max, eq, lt, got 'sub'"):
        evaluate({"sub": [1, 1]})


PTX = b"""\
.visible .entry mma__first(.param .u64 a, .param .u64 b) {}
.visible .entry mma(.param .u64 a, .param .align 64 .b8 b[128], .param .u32 c, .param .u64 d) {}
"""
ROWS = {"size": {"arg": 0, "dim": 0}}
TENSOR_MAP = {
    "of": {"workspace": 64}, "dtype": "u1", "sizes": [ROWS, 64], "strides": [{"mul": [2, 64]}, 1], "box": [8, 32],
    "element_strides": [1, 1], "swizzle": "64", "fill": "zero", "l2": "none",
}
INFO = {
    "version": 1, "target": "sm_90a", "workspace": {"mul": [ROWS, 8]},
    "kernels": [
        {"name": "mma__first", "grid": [{"ceildiv": [{"arg": 0, "dim": 0}, 128]}, 2, 1], "block": [32, 4, 1],
         "cluster": [1, 1, 1], "shared": 1024, "params": [{"arg": 1}, {"workspace": {"add": [4, 4]}}]},
        {"name": "mma", "grid": [{"multiprocessors": 1}, 1, 1], "block": [128, 1, 1], "cluster": [2, 1, 1],
         "shared": 65536, "programmatic": True, "params": [{"arg": 0}, {"tensor_map": TENSOR_MAP}, ROWS, {"result": 0}]},
    ],
}


@pytest.mark.skipif(not FAKE_DRIVER.exists(), reason=f"needs {FAKE_DRIVER}")
def test_launches(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_CUDA_TRACE", str(tmp_path / "trace"))
    driver = gpu_launch.Driver(str(FAKE_DRIVER))
    function = gpu_launch.Function(driver, PTX, INFO, [(300, 64), (300, 2)], multiprocessors=132)
    assert function.workspace == 2400
    stream = ctypes.c_void_p()
    driver.call("cuStreamCreate", ctypes.byref(stream), 0)
    for launch in function.bind([0x1000, 0x2000], [0x3000], workspace=0x4000):
        launch.run(stream.value)
    assert (tmp_path / "trace").read_text().splitlines() == [
        "attribute 8 of mma__first is 1024",
        "attribute 8 of mma is 65536",
        "launch mma__first 3,2,1 32,4,1 1,1,1 shared 1024: 0x2000; 0x4008;",
        "launch mma 132,1,1 128,1,1 2,1,1 programmatic shared 65536: 0x1000; "
        "map of type 0, swizzle 2, fill 0, dims 64/0/32/1 300/128/8/1; 0x12c; 0x3000;",
    ]
    with pytest.raises(gpu_launch.CudaError, match="cuModuleGetFunction: status 500"):
        driver.get_kernel(driver.load(PTX), "other")


@pytest.mark.skipif(not FAKE_DRIVER.exists(), reason=f"needs {FAKE_DRIVER}")
def test_alternatives():
    """A kernel whose condition does not hold is left out."""
    driver = gpu_launch.Driver(str(FAKE_DRIVER))
    first, second = INFO["kernels"]
    kernels = [{**first, "condition": {"lt": [ROWS, 100]}}, {**second, "condition": {"lt": [99, ROWS]}}]
    for rows, name in ((99, "mma__first"), (100, "mma")):
        info = {**INFO, "version": 2, "kernels": kernels}
        function = gpu_launch.Function(driver, PTX, info, [(rows, 64), (rows, 2)], multiprocessors=132)
        assert [kernel["name"] for _, kernel in function.kernels] == [name]
    with pytest.raises(ValueError, match="expected a launch info of version 1 or 2, got 3"):
        gpu_launch.Function(driver, PTX, {**INFO, "version": 3}, [], multiprocessors=132)


def test_no_driver():
    with pytest.raises(gpu_launch.CudaError, match="cannot open the CUDA driver"):
        gpu_launch.Driver("/nowhere/libcuda.so.1")


# Triton.


def test_configurations():
    for case in gpu_cases.select(None, None):
        configs = gpu_triton.configurations(case)
        assert len(configs) > 5 and len(set(configs)) == len(configs)
        has_types = gpu_triton.dot_specification(case.format, configs[0]) is not None
        assert has_types == (case.format != "mxfp6")


@pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="needs Triton")
@pytest.mark.parametrize("kernel", ["dot", "convert"])
def test_triton_compiles(tmp_path, kernel):
    if kernel == "dot":
        specification = gpu_triton.dot_specification("mxfp8-mxfp4", gpu_triton.LARGE[0])
    else:
        specification = gpu_triton.convert_specification("nvfp4", "f4E2M1FN")
    text = json.dumps(dict(specification, chip=90))
    subprocess.run([sys.executable, gpu_triton.__file__, text, tmp_path / "k"], check=True, timeout=TIMEOUT_S)
    assert (tmp_path / "k.cubin").read_bytes().startswith(b"\x7fELF")
    assert json.loads((tmp_path / "k.json").read_text())["hidden"] >= 0


# Table and plot.


def measured(us, excess=0.5, **more):
    return dict(us=us, low=us, high=us, rounds=3, excess=excess, wrong=excess == "nan" or excess > 1, detail="", **more)


def results(tmp_path):
    """A file of two formats, with what was measured, what was wrong and what was not there."""
    tried = {"dot_scaled a": dict(missing="Triton did not compile it: error: x"), "dot_scaled b": measured(20.0, 3.0)}
    contenders = [
        {"ours": measured(10.0), "triton": dict(measured(20.0), tried=tried, detail="dot_scaled c"),
         "torch bf16": measured(5.0), "torch fp8": dict(missing="no such card"), "torch blocks": measured(7.0, "nan")},
        {"ours": measured(10.0, 2.5), "triton": dict(missing="no Triton here"), "torch bf16": measured(5.0)},
    ]
    cases = [
        dict(format=format, m=1024, n=1024, k=1024, contenders=who)
        for format, who in zip(("mxfp8", "mxfp6"), contenders)
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(dict(version=1, target="sm_80", card="A card", torch="2", triton=None, cases=cases)))
    return path


def test_table(tmp_path):
    lines = gpu("table", results(tmp_path)).splitlines()
    assert lines[0] == "A card, PTX for sm_80; torch 2, Triton not there"
    right, wrong = [" ".join(line.split()) for line in lines if line.startswith("1024x1024x1024")]
    assert right == (
        "1024x1024x1024 10 us 215 0.5 20 us 107 2.00x 5 us 429 0.50x not there WRONG (nan of bound)"
    )
    # Against a wrong result nothing is held.
    assert wrong == "1024x1024x1024 WRONG (2.5 of bound) 2.5 not there 5 us 429 not asked for not asked for"
    means = [" ".join(line.split()) for line in lines if line.startswith("geometric mean")]
    assert means == ["geometric mean 2.00x (1) 0.50x (1) - -", "geometric mean - - - -"]
    notes = lines[lines.index("", lines.index("mxfp6")) + 1:]
    assert notes == [
        "WRONG: mxfp8-1024x1024x1024, torch, block scales: error nan times the bound",
        "WRONG: mxfp6-1024x1024x1024, ours: error 2.5 times the bound",
        "not there: torch fp8, one scale: no such card: mxfp8-1024x1024x1024",
        "not there: Triton, best: no Triton here: mxfp6-1024x1024x1024",
        "Triton left out: Triton did not compile it: error: x: mxfp8-1024x1024x1024, dot_scaled a",
        "Triton left out: wrong, 3 of the bound: mxfp8-1024x1024x1024, dot_scaled b",
        "Triton's best: dot_scaled c: mxfp8-1024x1024x1024",
    ]


def test_plot(tmp_path):
    gpu("table", results(tmp_path), f"--plot={tmp_path / 'plot.svg'}")
    ElementTree.parse(tmp_path / "plot.svg")
    if not importlib.util.find_spec("matplotlib"):
        drawn = (tmp_path / "plot.svg").read_text()
        assert drawn.count("<path") == 2 and "1024x1024x1024" in drawn  # Two that are wrong.
        error = gpu("table", results(tmp_path), f"--plot={tmp_path / 'plot.png'}", code=1)
        assert error == "error: cannot plot: only .svg can be drawn without matplotlib, got 'plot.png'\n"


def test_table_of_another_file(tmp_path):
    path = tmp_path / "other.json"
    path.write_text("{}")
    assert gpu("table", path, code=1) == f"error: '{path}': expected results of gpu.py run of version 1\n"
