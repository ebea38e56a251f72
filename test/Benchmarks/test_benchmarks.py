"""Every script of benchmarks/ starts and prints what it measures, on tiny sizes."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fake_tools
import pytest

REPO = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
TIMEOUT_S = 300
NUMBER = r"[\d.]+"

# The flags of a tiny run, and a pattern of its last lines.
SCRIPTS = {
    "compile_time.py": (
        ["--repeat=1", "--ops", "10", "20"],
        rf" +10 .*\n +20 .*\n.* ms\n.* ms\nratio: +{NUMBER}\n",
    ),
    "cpu_matmul.py": (["--repeat=1", "--size=32"], rf"ratio: +{NUMBER}\nlargest error: +[\d.e-]+\n"),
    "gpu_compile_time.py": (
        ["--repeat=1", "--functions=2"], rf"2 functions of the first row: {NUMBER} s, {NUMBER} times one .*\n",
    ),
    "kernel_statistics.py": (["--size=128x128x512"], rf"swizzle_scales( +{NUMBER}){{3}} +-\n"),
    "math_errors.py": (["--step=10000019", "exp", "powf"], rf"exp +{NUMBER} ulp at .*\npowf +{NUMBER} ulp at .*\n"),
    "reference.py": (
        ["--repeat=1", "--size=64"],
        rf"random +{NUMBER} s, ratio {NUMBER}\nexact .*\ninfinite +{NUMBER} s, ratio {NUMBER}\n",
    ),
    "warp_specialized_cover.py": (["--combinations", "--part=0/1000"], rf".*: ok\n1 of 1 cases right, {NUMBER} s\n"),
    "simulator.py": (
        ["--repeat=1", "--loops=50", "--gemm", "128x128x128"],
        r"GEMM 128 x 128 x 128, f8E4M3FN: .*\nGEMM 128 x 128 x 128 with tcgen05.mma, .*\n",
    ),
}
ELSEWHERE = {
    "captured.py", "estimates.py", "fp8.py", "grouped_card.py", "grouped_estimates.py", "sass_loop.py", "gpu.py", "gpu_cases.py",
    "gpu_contenders.py", "gpu_graphs.py", "gpu_launch.py", "gpu_measure.py", "gpu_programs.py", "gpu_report.py",
    "gpu_schedules.py", "gpu_triton.py", "hardware_numerics.py", "kernel_chain.py", "quantize.py", "fused_quantize.py",
    "math_errors_card.py", "runtime_host_time.py", "moe.py", "moe_layer.py", "products.py", "sparse_fallback.py",
    "sparse_fragments.py", "sparse_linear.py", "torch_linear.py", "tune_rows.py", "weight_only.py",
}


def has(tool):
    return bool(shutil.which(tool) or shutil.which(tool, path="/usr/local/cuda/bin"))


def needs(tool):
    return pytest.mark.skipif(not has(tool), reason=f"needs {tool}")


def run(script, *flags, **environment):
    done = subprocess.run(
        [sys.executable, REPO / "benchmarks" / script, *flags], capture_output=True, text=True,
        timeout=TIMEOUT_S, check=False,
        env=dict(os.environ, BLOCKSCALE_BUILD=str(BUILD), PYTHONDONTWRITEBYTECODE="1", **environment),
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_tiny_run(script):
    flags, pattern = SCRIPTS[script]
    output = run(script, *flags)
    assert re.search(pattern + r"\Z", output), output


def test_every_script_is_here():
    assert {path.name for path in (REPO / "benchmarks").glob("*.py")} == SCRIPTS.keys() | ELSEWHERE


# kernel_chain.py


def test_kernel_chain_build(tmp_path):
    """What `run` changes is there: all kernels but the first wait for the one in front."""
    run("kernel_chain.py", "build", f"--out={tmp_path}")
    kernels = json.loads((tmp_path / "chain256.json").read_text())["kernels"]
    assert [kernel.get("programmatic") for kernel in kernels] == [None] + [True] * 7
    assert (tmp_path / "chain256.ptx").read_text().count("griddepcontrol.wait;") == 7


# quantize.py


def test_quantize_build(tmp_path):
    """A file of its own for each case, with the sizes that its name says."""
    run("quantize.py", "build", str(tmp_path), "--target=sm_90a", f"--build={BUILD}")
    assert len(list(tmp_path.glob("*.ptx"))) == len(list(tmp_path.glob("*.json"))) == 48
    for name, block in (("nvfp4-300x8192", 16), ("mxfp8-8192x8192-f32", 32)):
        assert f"block_size = {block}" in (tmp_path / f"{name}.mlir").read_text()
        assert ".visible .entry main(" in (tmp_path / f"{name}.ptx").read_text()


# fused_quantize.py


def test_fused_quantize_build(tmp_path):
    """The program that is measured as fused has no kernel that quantises."""
    flags = [str(tmp_path), "--target=sm_90a", f"--build={BUILD}", "--size=4096"]
    assert "9 programs" in run("fused_quantize.py", "build", *flags)

    def kernels(name):
        return [kernel["name"] for kernel in json.loads((tmp_path / f"{name}.json").read_text())["kernels"]]

    for name in ("mxfp8", "mxfp6", "mxfp4", "nvfp4"):
        assert kernels(f"{name}-fused") == kernels("product")
        assert kernels(f"{name}-behind") == ["main"]


# moe.py


def test_moe_build(tmp_path):
    """One program for each case, that compiles; `run` needs a card."""
    run("moe.py", "build", str(tmp_path), f"--build={BUILD}", "--tokens=1", "--models=gpt-oss-20b")
    cases = json.loads((tmp_path / "cases.json").read_text())
    assert len(cases) == 6 and cases["gpt-oss-20b-up-mxfp4-1"] == ["gpt-oss-20b", "up", "mxfp4", 1]
    assert all((tmp_path / f"{name}.ptx").exists() for name in cases)


# weight_only.py


def test_weight_only_build(tmp_path):
    """Mixed-input wgmma, whatever x and the scales are."""
    run("weight_only.py", "build", str(tmp_path), f"--build={BUILD}")
    names = {
        path.stem: [kernel["name"].rstrip("_0123456789") for kernel in json.loads(path.read_text())["kernels"]]
        for path in tmp_path.glob("*-*.json")
    }
    kernels = ["main__permute", "main", "main__exact_recomputation"]
    assert names == {
        f"{format}{way}-{m}": kernels
        for format in ("mxfp4", "nvfp4") for way in ("", "-scaled", "-f16") for m in (1, 16, 4096)
    }


# sparse_fallback.py


def test_sparse_fallback_build(tmp_path):
    """One kernel reads metadata, with split-K for one column; two ways more, of which one decompresses."""
    sizes = ["--sizes", "256x256x512", "8192x1x8192"]
    run("sparse_fallback.py", "build", str(tmp_path), "--target=sm_80", f"--build={BUILD}", *sizes)
    assert len(list(tmp_path.glob("*.ptx"))) == len(list(tmp_path.glob("*-*.json"))) == 6
    kernels = {
        path.stem: len(json.loads(path.read_text())["kernels"]) for path in tmp_path.glob("*-*.json")
    }
    assert [kernels[f"{way}-256x256x512"] for way in ("kept", "decompressed", "dense")] == [1, 2, 1]
    assert [kernels[f"{way}-8192x1x8192"] for way in ("kept", "decompressed", "dense")] == [2, 3, 2]
    for path in tmp_path.glob("*.ptx"):
        assert ("mma.sp" in path.read_text()) == path.stem.startswith("kept")


# products.py


def test_products_build(tmp_path):
    """One kernel of mma.sync for each order of y and type of the result; split-K for few rows."""
    run("products.py", "build", str(tmp_path), "--sizes=256x256x128,8x512x4096", "--elements=bf16,f16",
        f"--build={BUILD}")
    names = {
        path.stem: [kernel["name"].rstrip("_0123456789") for kernel in json.loads(path.read_text())["kernels"]]
        for path in tmp_path.glob("*-*.json")
    }
    assert names == {
        f"{size}-{element}-{order}-{result}-0": ["main", "main__split_k_reduction"][:1 + (size == "8x512x4096")]
        for size in ("256x256x128", "8x512x4096") for element in ("bf16", "f16")
        for order in ("nk", "kn") for result in ("f32", "same")
    }
    assert all("mma.sync.aligned.m16n8k16" in path.read_text() for path in tmp_path.glob("*.ptx"))


# fp8.py


@pytest.mark.parametrize("flags", [[], ["--dynamic"], ["--accumulate=0"]], ids=["static", "dynamic", "exact"])
def test_fp8_build(flags, tmp_path):
    """With the licence, wgmma of fp8 elements, behind kernels that rebase; without, elements of blocks become bf16 first."""
    run("fp8.py", "build", str(tmp_path), "--sizes=256x256x256", f"--build={BUILD}", *flags)
    is_exact = "--accumulate=0" in flags
    for recipe, rebased in (("block", 0), ("row", 0), ("mxfp8", 2), ("w4a8", 1)):
        ptx = (tmp_path / f"256x256x256-{recipe}-0.ptx").read_text()
        assert (".f32.e4m3.e4m3" in ptx) != is_exact
        kernels = [kernel["name"].rstrip("_0123456789") for kernel in json.loads(
            (tmp_path / f"256x256x256-{recipe}-0.json").read_text())["kernels"]]
        # Of those for numbers of rows, the launch chooses one.
        assert kernels.count("main__rebase") == (0 if is_exact else rebased)
        products = kernels.count("main") + kernels.count("main__matmul")
        assert products == (4 if "--dynamic" in flags else 1) or (is_exact and rebased)
        if recipe == "block":
            assert ("main__dequantize" in kernels) == is_exact


# runtime_host_time.py


def test_runtime_host_time(tmp_path):
    """Where the driver is the fake one, Python alone is measured, with functions of one kernel and of several."""
    run("runtime_host_time.py", "build", f"--build={BUILD}", f"--out={tmp_path}")
    output = run(
        "runtime_host_time.py", "run", f"--out={tmp_path}", f"--fake={BUILD / 'test' / 'FakeCuda' / 'libcuda.so.1'}",
        FAKE_CUDA_STREAMS="any",
    )
    rows = [f"{name}, {result} *{NUMBER} us" for name in ("one", "several") for result in ("out=", "result made")]
    assert re.fullmatch("\n".join(rows) + "\n", output), output


# estimates.py


def test_estimates_build(tmp_path):
    """What `measure` needs is there, and the estimates depend on the schedule."""
    run("estimates.py", "build", "--case=mxfp4-16x64x256", f"--out={tmp_path}")
    [(name, rows)] = json.loads((tmp_path / "estimates.json").read_text()).items()
    assert name == "mxfp4-16x64x256" and len(set(rows.values())) > 2
    for schedule in rows:
        assert json.loads((tmp_path / f"{name}-{schedule}.json").read_text())["kernels"]
        assert ".target sm_90a" in (tmp_path / f"{name}-{schedule}.ptx").read_text()


# grouped_card.py


def test_grouped_card_build(tmp_path):
    """Programs for each option, wrong offsets and more than 2^31 elements, that compile; `run` needs a card."""
    run("grouped_card.py", "build", str(tmp_path), f"--build={BUILD}", "--types=1", "--target=sm_80", "--target=sm_120a")
    cases = json.loads((tmp_path / "cases.json").read_text())
    assert len(cases) == 12 and cases["sm_80-0-4"][1] == ["rows", "group_scale", "bias"]
    for name in [*cases, "sm_80-weights", "sm_120a-result"]:
        assert f".target {name.split('-')[0]}" in (tmp_path / f"{name}.ptx").read_text()


# grouped_estimates.py


def test_grouped_estimates():
    """The bytes, and a row for each chip."""
    output = run("grouped_estimates.py", "--shape=3+0+70x128x256", f"--build={BUILD}")
    size = (73 + 3 * 128) * (128 + 16) + 2 * 73 * 128
    for chip, line in zip(("sm_100a", "sm_120a"), output.splitlines()[1:], strict=True):
        assert re.fullmatch(rf"{chip} +3 +73 +128 +256 +{size / 1e6:.1f}( +{NUMBER}){{4}}", line), line


# sass_loop.py


KERNEL = "e2m1-e2m1-ue4m3"


@needs("ptxas")
@pytest.mark.parametrize("kernel", [KERNEL, "two-cta-bf16"])
def test_sass_loop_build(kernel, tmp_path):
    run("sass_loop.py", "build", f"--out={tmp_path}", "--only", kernel)
    assert (tmp_path / f"{kernel}.cubin").read_bytes().startswith(b"\x7fELF")


@needs("ptxas")
@needs("cuobjdump")
def test_sass_loop_count(tmp_path):
    run("sass_loop.py", "build", f"--out={tmp_path}", "--only", KERNEL)
    [line] = run("sass_loop.py", "count", f"--out={tmp_path}", "--only", KERNEL).splitlines()[1:]
    name, who, mma, *_ = line.split()
    assert (name, who) == (KERNEL, "ours") and int(mma) > 0


@needs("ptxas")
@needs("cuobjdump")
@pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="needs Triton")
def test_sass_loop_count_of_triton(tmp_path):
    run("sass_loop.py", "build", f"--out={tmp_path}", "--only", KERNEL)
    lines = run("sass_loop.py", "count", f"--out={tmp_path}", "--only", KERNEL, "--triton").splitlines()
    name, who, mma, *_ = lines[-1].split()
    assert (name, who) == (KERNEL, "Triton") and int(mma) > 0


def test_sass_loop_with_fakes(tmp_path):
    """What it asks of Triton, and how it counts, where neither Triton nor cuobjdump is."""
    fake_tools.write_triton(tmp_path)
    fake_tools.write_cuobjdump(tmp_path)
    output = run(
        "sass_loop.py", "count", "--triton", f"--out={tmp_path}",
        PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}", PYTHONPATH=str(tmp_path),
    )
    rows = [line.split() for line in output.splitlines()[1:]]
    assert [row[1] for row in rows] == ["ours", "Triton"] * 4 + ["ours"] * 26
    # MMA, copies, NOP, others, others per MMA, spills.
    assert {tuple(row[2:]) for row in rows} == {("2", "0", "1", "2", "1.00", "1")}
    cubin = (tmp_path / f"{KERNEL}-triton.cubin").read_text()
    assert cubin == "cuda-120-e2m1-e2m1-16-3"
