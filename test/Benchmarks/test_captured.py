"""benchmarks/captured.py: programs of nvcc, where that is, run in the simulator."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
needs_nvcc = pytest.mark.skipif(not NVCC, reason="needs nvcc")

# Addresses in a struct, one of them in the middle of a buffer and one behind it; more shared memory than
# without asking; a cluster, in which block 0 adds what both have; memory that is set and copied. The
# program expects N times the sums of 0 to 63 in the first place.
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


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The path of PROGRAM, compiled for a chip that is not the script's choice."""
    folder = tmp_path_factory.mktemp("captured")
    source = folder / "sum.cu"
    source.write_text(PROGRAM)
    subprocess.run([NVCC, "-gencode=arch=compute_100a,code=compute_100a", "-cudart", "shared", "--no-compress",
                    source, "-o", folder / "sum"], check=True)
    return folder / "sum"


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
    assert "variable 'counter' is used by several launches" in output
    assert "operation not supported" in output


@needs_nvcc
def test_errors_of_kernels(program):
    """What the simulator says is there, and the program sees a failure."""
    output = captured("--seeds=1", "--flags=--max-steps=10", program, "--", "3", expected=1)
    assert "wrong" in output and "more steps than --max-steps allows" in output and "unspecified launch failure" in output


@needs_nvcc
def test_source(tmp_path):
    """A program of CUB is compiled, and runs for the chip that is asked for; CUDA's headers are found where
    nvcc is a script in a folder of its own."""
    script = tmp_path / "nvcc"
    script.write_text(f'#!/bin/sh\nexec {NVCC} "$@"\n')
    script.chmod(0o755)
    output = captured("--seeds=1", "--chip=sm_80", f"--nvcc={script}", REPO / "benchmarks" / "cub" / "block_scan.cu")
    assert re.search(r"^block_scan +0 right .* 3 ", output, re.MULTILINE), output
