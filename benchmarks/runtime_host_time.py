#!/usr/bin/python3
"""The host time of a launch: of a function of a bundle with blockscale.runtime, and of a Triton kernel.

usage: runtime_host_time.py build [--build DIR] [--out DIR]      the bundle, for sm_90a and sm_120a
       runtime_host_time.py run [--out DIR] [--fake LIBRARY]     times

`build` needs a build of this project, `run` a card, torch and Triton: carry the folder, this file and python/ there.
Times are microseconds of a call that returns before the kernels have run, with arguments whose shapes are known:
medians of turns of calls behind an idle card. The function "one" is one kernel with five arguments and a result;
"several" has dynamic sizes, several kernels and a workspace. Triton's kernel has as many pointers and the sizes as
"one", and does nothing. With --fake, the driver is test/FakeCuda's and tensors are stand-ins: what is measured is
Python, and what the fake driver takes.
"""

import argparse
import ctypes
import pathlib
import statistics
import subprocess
import sys
import time
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent
M, N, K = 16, 64, 128
TURNS, CALLS, WARM_UPS = 31, 200, 200


def product(name, m, n, k):
    shapes = [f"{m}x{k}xf8E4M3FN", f"{m}x{k // 32 if k != '?' else k}xf8E8M0FNU", f"{k}x{n}xf8E4M3FN",
              f"{k // 32 if k != '?' else k}x{n}xf8E8M0FNU", f"{m}x{n}xf32"]
    arguments = ", ".join(f"%{i}: tensor<{shape}>" for i, shape in enumerate(shapes))
    types_ = ", ".join(f"tensor<{shape}>" for shape in shapes)
    return (f"func.func @{name}({arguments}) -> tensor<{shapes[4]}> {{\n"
            f"  %d = blockscale.mma_scaled %0, %1, %2, %3, %4 {{block_size = 32 : i64}} : {types_}\n"
            f"  return %d : tensor<{shapes[4]}>\n}}\n")


def build(args):
    args.out.mkdir(parents=True, exist_ok=True)
    source = args.out / "host_time.mlir"
    source.write_text(product("one", M, N, K) + product("several", "?", "?", "?"))
    subprocess.run(
        [args.build / "bin" / "blockscale-compile", source, "--target=sm_90a,sm_120a",
         f"--bundle={args.out / 'host_time.bundle'}"],
        check=True, stderr=subprocess.DEVNULL,
    )


def make_fake_torch(library):
    """As much of torch as a launch asks for; its tensors cost about what torch's do."""
    torch = types.ModuleType("torch")

    class Tensor:
        __slots__ = ("shape", "dtype", "address")

        def __init__(self, shape, dtype):
            self.shape, self.dtype = shape, dtype
            address, size = ctypes.c_uint64(), 4
            for extent in shape:
                size *= extent
            library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
            self.address = address.value

        def data_ptr(self):
            return self.address

        def get_device(self):
            return 0

        def is_contiguous(self):
            return True

        @property
        def device(self):
            return 0

    torch.Tensor, torch.uint8, torch.float32 = Tensor, NamedType("uint8"), NamedType("float32")
    torch.empty = lambda shape, dtype, device: Tensor(shape, dtype)
    torch._C = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda ordinal: 0)
    sys.modules["torch"] = torch
    return torch


class NamedType:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"


def measure(call, synchronize):
    """Microseconds of a call."""
    for _ in range(WARM_UPS):
        call()
    times = []
    for _ in range(TURNS):
        synchronize()
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append((time.perf_counter() - start) / CALLS * 1e6)
    synchronize()
    return statistics.median(times)


def make_triton_call(torch, tensors, out):
    import triton
    import triton.language as tl

    @triton.jit
    def nothing(x, sx, y, sy, acc, out, m, n, k, BLOCK: tl.constexpr):
        if m < 0:
            tl.store(out + tl.arange(0, BLOCK), tl.load(acc + tl.arange(0, BLOCK)))

    return lambda: nothing[(1,)](*tensors, out, M, N, K, BLOCK=128)


def run(args):
    if args.fake:
        library = ctypes.CDLL(str(args.fake))
        torch, synchronize = make_fake_torch(library), lambda: None
        make = torch.Tensor
    else:
        import torch

        synchronize = torch.cuda.synchronize

        def make(shape, dtype):
            return torch.zeros(shape, dtype=dtype, device="cuda")

    sys.path.insert(0, str(ROOT / "python"))
    import blockscale.runtime

    bundle = blockscale.runtime.load(args.out / "host_time.bundle")
    shapes = [(M, K), (M, K // 32), (K, N), (K // 32, N)]
    tensors = [make(shape, torch.uint8) for shape in shapes] + [make((M, N), torch.float32)]
    out = make((M, N), torch.float32)
    calls = {}
    for name, function in bundle.items():
        calls[f"{name}, out="] = lambda function=function: function(*tensors, out=out)
        calls[f"{name}, result made"] = lambda function=function: function(*tensors)
    if not args.fake:
        calls["Triton"] = make_triton_call(torch, tensors, out)
    for name, call in calls.items():
        print(f"{name:<22} {measure(call, synchronize):6.2f} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function in (("build", build), ("run", run)):
        command = commands.add_parser(name)
        command.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "host-time")
        command.set_defaults(function=function)
    commands.choices["build"].add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    commands.choices["run"].add_argument("--fake", type=pathlib.Path)
    args = parser.parse_args()
    args.function(args)


if __name__ == "__main__":
    main()
