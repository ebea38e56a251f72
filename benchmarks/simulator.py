#!/usr/bin/python3
"""How fast the simulator is on one core, as ratios to numpy on the same values.

usage: simulator.py [--repeat N] [--loops N] [--gemm MxNxK...] [--build DIR]

Plain arithmetic is a loop of seven instructions, matrix instructions are loops of one instruction in
four warps; numpy multiplies and adds arrays of the same number of elements, and float64 matrices. The
GEMM is a program of this dialect, from its PTX to the stored result.
"""

import argparse
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

from compile_time import ROOT, measure

sys.path.insert(0, str(ROOT / "test" / "Execution"))
sys.path.insert(0, str(ROOT / "python"))
from harness import COMBINATIONS, Program, gpu_buffer, random  # noqa: E402

THREADS = 1024
INSTRUCTIONS = 7
ARITHMETIC = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 o, .param .u32 n) {
  .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %d<2>; .reg .pred %p;
  ld.param.u64 %d0, [o]; ld.param.u32 %r0, [n];
  mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d0, %d0, %d1;
  cvt.rn.f32.u32 %f0, %r1; mov.f32 %f1, 0f3F7FFFFF; mov.u32 %r2, 0;
LOOP:
  fma.rn.f32 %f0, %f0, %f1, %f1;
  add.f32 %f2, %f0, %f1;
  mul.f32 %f3, %f2, %f1;
  mad.lo.u32 %r3, %r2, %r1, %r0;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, %r0;
  @%p bra LOOP;
  add.f32 %f0, %f0, %f3; st.global.f32 [%d0], %f0; ret;
}
"""

# Modifiers behind m16n8k..., K, registers of A and B, and scale operands.
SCALES = ", {%r0}, {0, 0}, {%r0}, {0, 0}"
MATRIX = [
    ("k16.row.col.f32.f16.f16.f32", 16, 4, 2, ""),
    ("k32.row.col.f32.e4m3.e4m3.f32", 32, 4, 2, ""),
    ("k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0", 32, 4, 2, SCALES),
    ("k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e2m1.f32.ue8m0", 32, 4, 2, SCALES),
    ("k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 64, 4, 2, SCALES),
    ("k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 64, 4, 2, SCALES),
]


def make_matrix_kernel(modifiers, a, b, scales):
    """Registers hold different codes in every lane."""
    regs = [f"%x{i}" for i in range(a + b)]
    setup = "".join(f"mad.lo.u32 {reg}, %r1, 305419896, {i * 2654435}; " for i, reg in enumerate(regs))
    return f""".version 9.0
.target sm_120a
.address_size 64
.visible .entry k(.param .u64 o, .param .u32 n) {{
  .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b32 %x<{a + b}>; .reg .b64 %d<2>; .reg .pred %p;
  ld.param.u64 %d0, [o]; ld.param.u32 %r2, [n];
  mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d0, %d0, %d1;
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  mov.u32 %r0, {"0x38383838" if "ue4m3" in modifiers else "0x7F7F7F7F"}; {setup} {fit(regs, modifiers)}
LOOP:
  mma.sync.aligned.m16n8{modifiers} {{%f0, %f1, %f2, %f3}}, {{{", ".join(regs[:a])}}},
    {{{", ".join(regs[a:])}}}, {{%f0, %f1, %f2, %f3}}{scales};
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p, %r2, 0;
  @%p bra LOOP;
  st.global.f32 [%d0], %f0; ret;
}}
"""


def fit(regs, modifiers):
    """Clears what would be infinite, or padding in a container of 8 bits."""
    mask = 0x3C3C3C3C if "e2m1" in modifiers and "mxf8f6f4" in modifiers else 0x3B3B3B3B
    return " ".join(f"and.b32 {reg}, {reg}, {mask};" for reg in regs)


def make_command(build, folder, text, block, numbers):
    """Runs kernel `k` of a text with one block."""
    ptx = pathlib.Path(folder, "k.ptx")
    ptx.write_text(text)
    return [
        f"{build}/bin/blockscale-sim", ptx, "--grid=1", f"--block={block}",
        f"out:{folder}/o.npy:f4:{block}", f"i32:{numbers}",
    ]


def best(repeat, run):
    """The shortest of `repeat` times, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def numpy_arithmetic(loops):
    x = np.arange(THREADS, dtype=np.float32)
    n = np.arange(THREADS, dtype=np.uint32)
    for i in range(loops):
        x = x * np.float32(0.999) + np.float32(0.999)
        y = x + np.float32(0.999)
        z = y * np.float32(0.999)
        w = n * np.uint32(i) + np.uint32(7)
    return z, w


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--loops", type=int, default=50000, help="of plain arithmetic")
    parser.add_argument("--gemm", nargs="+", default=["256x256x512", "1024x1024x1024"], metavar="MxNxK")
    parser.add_argument("--build", default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    options = parser.parse_args()
    repeat, build, loops = options.repeat, options.build, options.loops
    matrix_loops, numpy_loops = max(loops // 25, 1), max(loops // 50, 1)
    with tempfile.TemporaryDirectory() as folder:
        seconds, _ = measure(make_command(build, folder, ARITHMETIC, THREADS, loops), repeat)
        rate = THREADS * loops * INSTRUCTIONS / seconds
        # Four arrays are made of five operations.
        ours = THREADS * numpy_loops * 6 / best(repeat, lambda: numpy_arithmetic(numpy_loops))
        print(f"plain arithmetic: {rate / 1e6:.0f} million lane-instructions a second, "
              f"{rate / ours:.2f} of numpy's operations")

        square = np.random.default_rng(0).random((512, 512))
        matmul = 512**3 / best(repeat, lambda: square @ square)
        for modifiers, k, a, b, scales in MATRIX:
            text = make_matrix_kernel(modifiers, a, b, scales)
            command = make_command(build, folder, text, 128, matrix_loops)
            seconds, _ = measure(command, repeat)
            hardware, _ = measure([*command, "--numerics=hardware"], repeat)
            rate = 4 * matrix_loops * 16 * 8 * k / seconds
            print(f"{modifiers}: {rate / 1e6:.0f} million multiply-adds a second, "
                  f"{rate / matmul:.2f} of numpy's float64 @; "
                  f"{hardware / seconds:.2f} times the time with --numerics=hardware")
        for size in options.gemm:
            sizes = tuple(map(int, size.split("x")))
            gemm(build, folder, repeat, matmul, *sizes)
            tensor_gemm(build, folder, repeat, matmul, *sizes)


def gemm(build, folder, repeat, matmul, m, n, k):
    """MXFP8, from PTX to the stored result."""
    row = COMBINATIONS[0]
    data = random(row, m, n, k, 1)
    program = Program()
    x, x_scale, y, y_scale, acc = data
    arrays = [x, x_scale, np.ascontiguousarray(y.T), np.ascontiguousarray(y_scale.T), acc]
    values = [program.arg(array, element) for array, element in
              zip(arrays, (row.x, row.scale, row.y, row.scale, "f32"))]
    program.result(program.mma(
        values[0], values[1], program.transpose(values[2]), program.transpose(values[3]), values[4]
    ))
    source, ptx, info = (pathlib.Path(folder, name) for name in ("g.mlir", "g.ptx", "g.json"))
    source.write_text(program.text())
    measure([f"{build}/bin/blockscale-compile", source, "--target=sm_120a", "-o", ptx,
             f"--launch-info={info}"], 1)
    command = [f"{build}/bin/blockscale-sim", ptx, f"--launch-info={info}"]
    size = 4 * m * n
    for i, (array, value) in enumerate(zip(arrays, program.args)):
        path = pathlib.Path(folder, f"g{i}.npy")
        np.save(path, gpu_buffer(array, value.element))
        command.append(f"in:{path}")
        size += path.stat().st_size
    seconds, memory = measure([*command, f"out:{folder}/g.npy:f4:{m}x{n}"], repeat)
    rate = m * n * k / seconds
    print(f"GEMM {m} x {n} x {k}, {row.x}: {seconds:.2f} s, {rate / matmul:.3f} of numpy's float64 @, "
          f"{memory:.0f} MiB for arguments of {size / 2**20:.1f} MiB")


def tensor_gemm(build, folder, repeat, matmul, m, n, k):
    """The same with tcgen05.mma in tensor memory: a kernel written by hand, and its launch."""
    os.environ["BLOCKSCALE_BUILD"] = str(build)
    sys.path.insert(0, str(ROOT / "test" / "Execution" / "tcgen05"))
    from gemm_kernel import Gemm

    kernel = Gemm(m, n, k)
    seconds = best(repeat, lambda: kernel.launch(pathlib.Path(folder, "tcgen05"), kernel.text))
    rate = m * n * k / seconds
    print(f"GEMM {m} x {n} x {k} with tcgen05.mma, {kernel.ROW.x} and {kernel.ROW.y}: {seconds:.2f} s, "
          f"{rate / matmul:.3f} of numpy's float64 @")


if __name__ == "__main__":
    main()
