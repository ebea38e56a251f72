"""benchmarks/captured.py: programs of nvcc, where that is, run in the simulator."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent
REPO = FOLDER.parents[1]
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
needs_nvcc = pytest.mark.skipif(not NVCC, reason="needs nvcc")

# Addresses in a struct, one of them in the middle of a buffer and one behind it; more shared memory than
# without asking; a cluster, in which block 0 adds what both have; memory that is set and copied. The
# program expects N times the sums of 0 to 63 as the first value.
PROGRAM = """
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
struct Params { const int *begin, *end; int *out; int factor; };
__global__ void __cluster_dims__(2) sum(const __grid_constant__ Params params) {
  extern __shared__ int shared[];
  auto cluster = cooperative_groups::this_cluster();
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  shared[15000 + threadIdx.x] = params.begin + index < params.end ? params.begin[index] : 1000;
  cluster.sync();
  if (blockIdx.x % 2 == 0)
    atomicAdd(params.out, params.factor * (shared[15000 + threadIdx.x] +
                                           cluster.map_shared_rank(shared, 1)[15000 + threadIdx.x]));
  cluster.sync();
}
__device__ int counter;
__global__ void count(int *out) { *out = ++counter; }
#define CHECK(call) if (cudaError_t status = (call)) { std::printf("%s\\n", cudaGetErrorString(status)); return 2; }
int main(int argc, char **argv) {
  int *in, *out, host[96], result;
  for (int i = 0; i != 96; ++i) host[i] = i - 32;
  CHECK(cudaMalloc(&in, sizeof host));
  CHECK(cudaMalloc(&out, sizeof result));
  CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, sizeof result));
  CHECK(cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, 70000));
  sum<<<2, 32, 70000>>>({in + 32, in + 96, out, std::atoi(argv[1])});
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
  std::printf("%d on sm_%d\\n", result, [] { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return p.major; }());
  if (argc > 2) count<<<1, 1>>>(out);
  if (argc > 3) count<<<1, 1>>>(out);
  CHECK(cudaGetLastError());
  return result != 3 * 2016;
}
"""


ARCHITECTURE = """
#include <cstdio>
__global__ void architecture(int *out) {
#ifdef __CUDA_ARCH__
  *out = __CUDA_ARCH__;
#endif
}
int main() {
  int *out, result = 0;
  cudaMalloc(&out, 4);
  architecture<<<1, 1>>>(out);
  std::printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
  cudaMemcpy(&result, out, 4, cudaMemcpyDeviceToHost);
  std::printf("architecture %d\\n", result);
  return 1;
}
"""


def captured(*arguments, expected=0):
    done = subprocess.run(
        [sys.executable, REPO / "benchmarks" / "captured.py", *map(str, arguments)], capture_output=True,
        text=True, timeout=300, check=False, env=dict(os.environ, BLOCKSCALE_BUILD=str(BUILD)),
    )
    assert done.returncode == expected, f"{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def test_nvcc_is_missing():
    assert captured("--nvcc=/nowhere/nvcc", expected=1) == (
        "error: /nowhere/nvcc is missing: expected it on the path, in /usr/local/cuda/bin or as --nvcc=PATH\n"
    )


def compile_program(path, text, *architectures):
    source = path.with_suffix(".cu")
    source.write_text(text)
    subprocess.run([NVCC, *(f"-gencode=arch=compute_{name},code=compute_{name}" for name in architectures),
                    "-cudart", "shared", "--no-compress", source, "-o", path], check=True)
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The path of PROGRAM, compiled for a chip that is not the script's choice."""
    return compile_program(tmp_path_factory.mktemp("captured") / "sum", PROGRAM, "100a")


@needs_nvcc
def test_right(program, tmp_path):
    output = captured("--seeds=2", f"--keep={tmp_path}", program, "--", "3")
    assert re.findall(r"^sum +(\d) right ", output, re.MULTILINE) == ["0", "1"], output
    [line] = (tmp_path / "sum-1" / "launches.jsonl").read_text().splitlines()
    launch = json.loads(line)
    assert (launch["grid"], launch["exit_code"]) == ([2, 1, 1], 0)
    assert launch["statistics"]["kernels"][0]["block"] == [32, 1, 1]
    # The launch can be repeated.
    subprocess.run(["sh", tmp_path / "sum-1" / "launch0" / "repeat", "--check=race"], check=True)


@needs_nvcc
def test_wrong(program):
    output = captured("--seeds=1", program, "--", "4", expected=1)
    assert "sum                         0 wrong " in output
    assert "8064 on sm_10" in output


@needs_nvcc
def test_variables(program):
    """One launch may use a variable; a second one would not find what is in it."""
    assert "right" in captured("--seeds=1", program, "--", "3", "count")
    output = captured("--seeds=1", program, "--", "3", "count", "count", expected=1)
    assert "variable 'counter' is used by several launches, one of which may change it" in output
    assert "operation not supported" in output


@needs_nvcc
def test_errors_of_kernels(program):
    """What the simulator says is there, and the program sees a failure."""
    output = captured("--seeds=1", "--flags=--max-steps=10", program, "--", "3", expected=1)
    assert "wrong" in output and "more steps than --max-steps allows" in output
    assert "unspecified launch failure" in output


@needs_nvcc
def test_source(tmp_path):
    """A program of CUB is compiled, and runs for the chip that is asked for; CUDA's headers are found where
    nvcc is a script in a folder of its own."""
    script = tmp_path / "nvcc"
    script.write_text(f'#!/bin/sh\nexec {NVCC} "$@"\n')
    script.chmod(0o755)
    output = captured("--seeds=1", "--chip=sm_80", f"--nvcc={script}", REPO / "benchmarks" / "cub" / "block_scan.cu")
    assert re.search(r"^block_scan +0 right .* 3 ", output, re.MULTILINE), output


@pytest.mark.parametrize("flag", ["--seeds=0", "--multiprocessors=0"])
def test_counts(flag):
    """No run is no right one."""
    assert f"argument {flag[:-2]}: expected at least 1, got 0" in captured(flag, expected=2)


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    return compile_program(tmp_path_factory.mktemp("cases") / "cases", (FOLDER / "captured_cases.cu").read_text(), "90a")


def run_case(cases, folder, *words, expected=1):
    """What a case prints, where the script shows that, and its launches."""
    output = captured("--seeds=1", f"--keep={folder}", cases, "--", *words, expected=expected)
    lines = (folder / "cases-0" / "launches.jsonl").read_text().splitlines()
    return output, [json.loads(line) for line in lines]


def run_alone(cases, folder, *words, simulator=BUILD / "bin" / "blockscale-sim"):
    """Runs a program with the library, without the script, and gives all that it prints."""
    environment = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "capture"), BLOCKSCALE_CAPTURE_FOLDER=str(folder),
                       BLOCKSCALE_CAPTURE_SIMULATOR=str(simulator))
    done = subprocess.run([cases, *words], capture_output=True, text=True, timeout=300, check=False, env=environment)
    return done.stdout + done.stderr


@needs_nvcc
@pytest.mark.parametrize("what,value", [("stored", 42), ("written", 1)])
def test_addresses(cases, tmp_path, what, value):
    """An address in a buffer is that of the same buffer in each launch, be it a kernel's or the host's."""
    run_case(cases, tmp_path, "addresses", what, expected=0)
    assert f"found {value}" in run_alone(cases, tmp_path, "addresses", what).splitlines()


@needs_nvcc
@pytest.mark.parametrize("what", ["freed", "managed"])
def test_stale_addresses(cases, tmp_path, what):
    """Addresses of memory that is freed, or the host's, are no other buffer's."""
    output, launches = run_case(cases, tmp_path, "addresses", what)
    assert re.search(r"a load of 4 bytes at 0x\w+ is out of bounds", output), output
    assert [launch["exit_code"] for launch in launches] == [0, 0, 0, 1]


@needs_nvcc
def test_found_by_value(cases, tmp_path):
    """Tensor maps and pinned memory are found in parameters."""
    run_case(cases, tmp_path, "tensor", expected=0)
    assert run_alone(cases, tmp_path, "tensor").strip() == "24 26 28 30 0 0 0 0"


@needs_nvcc
@pytest.mark.parametrize("of", ["nothing", "less"])
def test_templates(cases, tmp_path, of):
    """Kernels make maps of one of no memory, and of one of too little."""
    run_case(cases, tmp_path, "tensor", of, expected=0)
    assert run_alone(cases, tmp_path, "tensor", of).strip() == "24 26 28 30 0 0 0 0"


@needs_nvcc
@pytest.mark.parametrize("kernel,variable", [
    ("count", "counter"), ("change", "weights"), ("changeChosen", "weights"), ("changeBelow", "squares"),
    ("changeHidden", "hidden"), ("changeLocal", "local"),
])
def test_changed_variables(cases, tmp_path, kernel, variable):
    """Variables of functions, those whose address is in a register, static ones."""
    output, launches = run_case(cases, tmp_path, "twice", kernel)
    assert re.search(rf"variable '\w*{variable}\w*' is used by several launches", output), output
    assert [launch["exit_code"] for launch in launches] == [0, None]
    assert "not supported in this version: variable" in launches[1]["error"]
    assert "operation not supported" in output


@needs_nvcc
def test_read_variables(cases, tmp_path):
    """Launches may share what they only read, and texts that they print; names that begin alike are others."""
    _, launches = run_case(cases, tmp_path, "twice", "read", expected=0)
    assert len(launches) == 2
    run_case(cases, tmp_path, "prefix", expected=0)


@needs_nvcc
def test_addresses_of_variables(cases, tmp_path):
    output, launches = run_case(cases, tmp_path, "pointer")
    assert "kernel '_Z6followPPiS_': not supported in this version: a launch before has left the address of " \
        "variable 'number' in a buffer" in output
    assert [launch["exit_code"] for launch in launches] == [0, None]


@needs_nvcc
def test_heap(cases, tmp_path):
    output, launches = run_case(cases, tmp_path, "twice", "allocate")
    assert "several launches call malloc or free" in output
    assert [launch["exit_code"] for launch in launches] == [0, None]


@needs_nvcc
def test_illegal_launches(cases, tmp_path):
    """The program gets CUDA's errors, and is not right although its exit code is 0."""
    output, launches = run_case(cases, tmp_path, "launches")
    assert re.search("^cases +0 wrong ", output, re.MULTILINE)
    refused = {launch["error"] for launch in launches if launch["exit_code"] is None}
    assert "kernel '_Z3setPii': expected a block from 1,1,1 to 1024,1024,64, got 2048,1,1" in refused
    assert "kernel '_Z5smallPii': expected at most 64 threads in a block, got 65,1,1" in refused
    assert len(launches) == 10 and len(refused) == 8
    output = run_alone(cases, tmp_path, "launches")
    # 4 bytes, 4 for the alignment, 8 and 40000.
    for line in ["threads: cudaErrorInvalidConfiguration", "depth: cudaErrorInvalidConfiguration",
                 "rows: cudaErrorInvalidConfiguration", "nothing: cudaErrorInvalidConfiguration",
                 "bounds: cudaErrorInvalidConfiguration", "too much shared: cudaErrorInvalidValue",
                 "shared: cudaSuccess", "cluster of 16: cudaErrorInvalidClusterSize", "allowed cluster: cudaSuccess",
                 "part of a cluster: cudaErrorInvalidClusterSize", "shared 40016 and 9136"]:
        assert line in output.splitlines(), output


@needs_nvcc
def test_unchecked_launches(cases, tmp_path):
    """A program is not right if a launch failed, whatever it returns."""
    text = ARCHITECTURE.replace("return 1", "return 0")
    program = compile_program(tmp_path / "unchecked", text, "90a")
    assert " right " in captured("--seeds=1", program)
    assert " wrong " in captured("--seeds=1", "--flags=--max-steps=1", program, expected=1)


@needs_nvcc
def test_host_threads(cases, tmp_path):
    captured("--seeds=1", cases, "--", "threads", expected=1)
    assert "0 wrong" in run_alone(cases, tmp_path, "threads").splitlines()


@needs_nvcc
def test_result_of_other_size(cases, tmp_path):
    """Files that somebody has changed are not copied."""
    captured("--seeds=1", cases, "--", "twice", "none", expected=1)
    simulator = tmp_path / "simulator"
    simulator.write_text(f"#!{sys.executable}\nimport sys, numpy\n"
                         "for word in sys.argv:\n"
                         "    if word.startswith('none:inout:'):\n"
                         "        numpy.save(word[len('none:inout:'):], numpy.zeros(3, numpy.uint8))\n")
    simulator.chmod(0o755)
    output = run_alone(cases, tmp_path, "twice", "read", simulator=simulator)
    assert re.search(r"error: '.*\.npy': expected 4 bytes, got 3\n", output), output


@needs_nvcc
def test_chips(tmp_path):
    """The PTX of the highest chip that is not above the one that is asked for."""
    program = compile_program(tmp_path / "architecture", ARCHITECTURE, "80", "90a", "90", "100", "100a")
    for chip, expected in [("sm_80", 800), ("sm_89", 800), ("sm_90", 900), ("sm_103a", 1000), ("sm_120a", 1000)]:
        output = captured("--seeds=1", f"--chip={chip}", program, expected=1)
        assert f"architecture {expected}\n" in output, f"{chip}: {output}"
    for flags, target in [(["--chip=sm_90a"], "sm_90a"), (["--chip=sm_100a"], "sm_100a"), ([], "sm_100a")]:
        captured("--seeds=1", f"--keep={tmp_path}", *flags, program, expected=1)
        assert f".target {target}\n" in (tmp_path / "architecture-0" / "module0.ptx").read_text()
    for chip in ["sm_99", "sm_90x", "90"]:
        output = captured("--seeds=1", f"--chip={chip}", program, expected=1)
        assert re.search(rf"error: expected a chip of sm_80 sm_86 .* sm_121, got '{chip}'\n", output), output


@needs_nvcc
def test_no_ptx_for_chip(program):
    output = captured("--seeds=1", "--chip=sm_90a", program, "--", "3", expected=1)
    assert "expected PTX that runs on sm_90a, got that of sm_100a" in output
    assert "no kernel image is available" in output
