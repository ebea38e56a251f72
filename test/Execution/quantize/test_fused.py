"""A product that quantises its own result: the same bits as a quantize behind it, and no kernel more."""

import json
import re
import subprocess
from typing import NamedTuple, Optional

import blockscale
import harness
import numpy as np
import pytest
from quantize_cases import tensor

PRODUCT = harness.Combination("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32)
MXFP8 = ("f8E4M3FN", "f8E8M0FNU", 32)
MXFP6 = ("f6E3M2FN", "f8E8M0FNU", 32)
MXFP4 = ("f4E2M1FN", "f8E8M0FNU", 32)
HALVES = ("f4E2M1FN", "f8E8M0FNU", 16)
WIDE = ("f8E4M3FN", "f8E8M0FNU", 64)
NVFP4 = ("f4E2M1FN", "f8E4M3FN", 16)


class Case(NamedTuple):
    """One product, and how its result is quantised."""

    chip: str
    format: tuple
    m: int
    n: int
    k: int = 128
    batch: tuple = ()
    schedule: Optional[str] = None
    # The values that are quantised: after a bias and a maximum with 0, or the accumulator.
    dtype: Optional[str] = "f32"
    rule: Optional[str] = None
    g: Optional[float] = None
    amax: bool = False
    # Whether scales are in the 32x4x4 layout.
    atoms: bool = False
    dynamic: bool = False
    # Kernels behind that of the product. (One in front of it sets the largest magnitude to 0.)
    behind: tuple = ()

    def __str__(self):
        parts = [self.chip, "-".join(map(str, self.format)), f"{self.m}x{self.n}x{self.k}"]
        parts += [str(value) for value in (self.schedule, self.dtype, self.rule) if value]
        parts += [name for name in ("g", "amax", "atoms", "dynamic", "batch") if getattr(self, name)]
        return "-".join(parts)


def program(case, quantized=True):
    element, scale, block = case.format
    m, k = ("?", "?") if case.dynamic else (case.m, case.k)
    n, blocks = case.n, "?" if case.dynamic else case.k // 32
    dtype, rank = case.dtype or "f32", 2 + len(case.batch)
    types = [
        tensor((*case.batch, *shape), kind)
        for shape, kind in (
            ((m, k), PRODUCT.x), ((m, blocks), PRODUCT.scale),
            ((k, n), PRODUCT.y), ((blocks, n), PRODUCT.scale), ((m, n), "f32"),
        )
    ]
    codes, scales = tensor((*case.batch, m, n), element), tensor((*case.batch, m, n // block), scale)
    bias, result = tensor((n,), "f32"), tensor((*case.batch, m, n), dtype)
    loops = ", ".join("bij"[-rank:])
    lines, order = [], [*range(len(case.batch)), rank - 1, rank - 2]
    stored = list(types)
    for i, name in ((2, "y"), (3, "ys")):
        shape = types[i][len("tensor<"):].split("x")
        stored[i] = f"tensor<{'x'.join([*(shape[j] for j in order), shape[-1]])}"
        k_size = f"%{name}_k" if case.dynamic else ""
        if case.dynamic:
            lines += [f"  %{name}_c1 = arith.constant 1 : index",
                      f"  {k_size} = tensor.dim %{name}, %{name}_c1 : {stored[i]}"]
        lines += [
            f"  %{name}_e = tensor.empty({k_size}) : {types[i]}",
            f"  %{name}_t = linalg.transpose ins(%{name} : {stored[i]}) outs(%{name}_e : {types[i]})"
            f" permutation = {order}",
        ]
    lines.append(
        "  %sum = blockscale.mma_scaled %x, %xs, %y_t, %ys_t, %acc {block_size = 32 : i64}"
        f" : {', '.join(types)}"
    )
    if case.dtype:
        dims = f" tensor.dim %acc, %c{rank - 2} : {types[-1]}"
        narrow = "" if dtype == "f32" else f"    %n = arith.truncf %v : f32 to {dtype}\n"
        lines += [
            f"  %c{rank - 2} = arith.constant {rank - 2} : index",
            f"  %rows ={dims}",
            f"  %e = tensor.empty({'%rows' if case.dynamic else ''}) : {result}",
            f"""  %h = linalg.generic {{
      indexing_maps = [affine_map<({loops}) -> ({loops})>, affine_map<({loops}) -> (j)>,
                       affine_map<({loops}) -> ({loops})>],
      iterator_types = [{', '.join(['"parallel"'] * rank)}]}}
      ins(%sum, %bias : {types[-1]}, {bias}) outs(%e : {result}) {{
  ^bb0(%s: f32, %shift: f32, %old: {dtype}):
    %zero = arith.constant 0.0 : f32
    %u = arith.addf %s, %shift : f32
    %v = arith.maximumf %u, %zero : f32
{narrow}    linalg.yield {"%n" if narrow else "%v"} : {dtype}
  }} -> {result}""",
        ]
    x = "%h" if case.dtype else "%sum"
    arguments = ", ".join(
        f"%{name}: {kind}" for name, kind in zip(("x", "xs", "y", "ys", "acc"), stored)
    ) + f", %bias: {bias}" + (", %g: f32" if case.g else "")
    if not quantized:
        return "\n".join([
            f"func.func @main({arguments}) -> {result} {{", *lines, f"  return {x} : {result}", "}"
        ]) + "\n"
    attributes = [f"block_size = {block} : i64"]
    if case.rule:
        attributes.append(f"rule = #blockscale.scale_rule<{case.rule}>")
    g_use, g_type = (" tensor_scale(%g)", ", f32") if case.g else ("", "")
    results = [codes, scales] + (["tensor<f32>"] if case.amax else [])
    names = ["%c", "%q"] + (["%a"] if case.amax else [])
    lines.append(
        f"  {', '.join(names)} = blockscale.quantize {x}{g_use} {{{', '.join(attributes)}}}"
        f" : {result}{g_type} to {', '.join(results)}"
    )
    if case.atoms:
        atoms = ["?" if case.dynamic else -(-case.m // 128), -(-n // (4 * block)), 32, 16]
        results[1] = tensor((*case.batch, *atoms), scale)
        names[1] = "%t"
        lines.append(f"  %t = blockscale.swizzle_scales %q : {scales} to {results[1]}")
    return "\n".join([
        f"func.func @main({arguments}) -> ({', '.join(results)}) {{",
        *lines,
        f"  return {', '.join(names)} : {', '.join(results)}",
        "}",
    ]) + "\n"


def values_of(case):
    """Operands, and what they come to, without a rounding but that of `dtype`."""
    data = harness.exact(
        PRODUCT, case.m, case.n, case.k, 7, "wide", x_batch=case.batch, y_batch=case.batch
    )
    rng = np.random.default_rng(8)
    bias = rng.integers(-64, 65, case.n).astype(np.float32)
    sums = blockscale.mma_scaled(
        *data, x_type=PRODUCT.x, y_type=PRODUCT.y, scale_type=PRODUCT.scale, block_size=PRODUCT.block
    )
    if case.dtype:
        sums = np.maximum(sums + bias, np.float32(0))
    if case.dtype == "f16":
        sums = sums.astype(np.float16).astype(np.float32)
    if case.dtype == "bf16":
        bits = sums.view(np.uint32)
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
        sums = bits.astype(np.uint32).view(np.float32)
    data[2:4] = (np.ascontiguousarray(np.swapaxes(value, -1, -2)) for value in data[2:4])
    return [*data, bias, *([np.float32(case.g)] if case.g else [])], sums


# Each kind of accumulator, by schedule: registers of warps (mma.sync with cp.async and with TMA, wgmma of bf16),
# transposed accumulators in shared memory (mixed-input wgmma), and tensor memory.
WARPS, PIPELINE = "warps=2x2,stages=2", "accumulators=1,persistent=0"
WAYS = {
    "sm_80": (f"tile=64x64x128,{WARPS}", f"tile=128x128x128,{WARPS}"),
    "sm_90a": (
        f"tile=128x128x64,stages=2,{PIPELINE}", f"tile=256x64x64,stages=2,{PIPELINE}",
        f"tile=128x256x64,stages=4,{PIPELINE},swap_ab=1,kernel=mixed_input",
        f"tile=64x64x256,stages=2,{PIPELINE},swap_ab=1,kernel=mixed_input",
    ),
    "sm_100a": (
        f"tile=128x64x128,stages=2,{PIPELINE}", f"tile=128x64x128,stages=2,{PIPELINE},swap_ab=1",
        "tile=128x128x128,stages=2,accumulators=2,persistent=1",
        f"tile=128x128x128,stages=2,{PIPELINE},cluster=2x1,two_cta=1",
    ),
    "sm_120a": (f"tile=64x128x128,{WARPS}", "tile=128x64x128,stages=2,accumulators=1,persistent=1"),
}
CHIPS = tuple(WAYS)
# Tiles of 64 rows do not reach the end of the atoms of 130 rows; nor do those of wgmma, whose results a kernel
# with such tiles may compute anew.
SMALL = {
    "sm_80": WAYS["sm_80"][:1], "sm_90a": WAYS["sm_90a"], "sm_100a": WAYS["sm_100a"][1:2],
    "sm_120a": WAYS["sm_120a"][:1],
}


CASES = [
    *(Case(chip, MXFP8, 300, 256, schedule=way) for chip in CHIPS for way in WAYS[chip]),
    *(
        Case(
            chip, NVFP4, 130, 192, 256, schedule=way, g=0.5, atoms=True,
            behind=("swizzle_scales",) * (way in SMALL.get(chip, ())),
        )
        for chip in CHIPS for way in WAYS[chip]
    ),
    *(
        case
        for chip in CHIPS
        for case in (
            Case(chip, MXFP6, 100, 96, dtype="bf16", rule="even"),
            Case(chip, MXFP4, 70, 128, dtype=None, atoms=True),
            Case(chip, HALVES, 40, 64, batch=(2,), rule="floor"),
            Case(chip, WIDE, 70, 128, behind=("quantize",)),
            Case(chip, NVFP4, 130, 64, amax=True),
            Case(chip, NVFP4, 33, 128, dtype="f16", dynamic=True),
            Case(
                chip, MXFP8, 16, 256, rule="ceil", atoms=True,
                behind=() if chip == "sm_100a" else ("swizzle_scales",),
            ),
        )
    ),
]


def run_tool(tool, *arguments):
    done = subprocess.run(
        [harness.RUN.with_name(tool), *arguments], capture_output=True, text=True,
        timeout=harness.TIMEOUT_S, check=False,
    )
    assert done.returncode == 0, done.stderr


def kernels(folder, text, options):
    """The purposes of the kernels of a program, in order."""
    program_file, info = folder / "compiled.mlir", folder / "info.json"
    program_file.write_text(text)
    run_tool(
        "blockscale-compile", program_file, *options, f"--launch-info={info}", "-o", folder / "ptx"
    )
    names = [kernel["name"] for kernel in json.loads(info.read_text())["kernels"]]
    return [re.sub(r"main_*|_\d+$", "", name) for name in names]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fused(case, tmp_path):
    options = [f"--target={case.chip}"]
    if case.schedule:
        options.append(f"--schedule={case.schedule}")
    text = program(case)
    before = kernels(tmp_path, program(case, quantized=False), options)
    if case.amax:
        before.insert(-1, "loops")
    assert kernels(tmp_path, text, options) == [*before, *case.behind]

    file = tmp_path / "program.mlir"
    file.write_text(text)
    arrays, values = values_of(case)
    inputs = []
    for i, array in enumerate(arrays):
        inputs.append(tmp_path / f"in{i}.npy")
        np.save(inputs[-1], array)
    outputs = [tmp_path / f"out{i}.npy" for i in range(2 + case.amax)]
    stores = [flag for path in outputs for flag in ("-o", path)]
    run_tool(
        "blockscale-run", file, "--device=sim", "--check=race,strict", *options, *stores, *inputs
    )
    expected = list(blockscale.quantize(
        values, *case.format, rule=case.rule, tensor_scale=case.g, amax=True
    ))
    if case.atoms:
        expected[1] = blockscale.swizzle_scales(expected[1])
    for path, value in zip(outputs, expected):
        np.testing.assert_array_equal(np.load(path), value, path.name)
