"""Products of x in bf16 with a y that is dequantized: programs, operands, and what they should give."""

import json
import re
import subprocess

import blockscale
import harness
import numpy as np
from blockscale import bfloat16
from quantize_cases import tensor, to_bits

FORMATS = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32),
    "e5m2": ("f8E5M2", "f8E8M0FNU", 32),
    "e3m2": ("f6E3M2FN", "f8E8M0FNU", 32),
    "mxfp6": ("f6E2M3FN", "f8E8M0FNU", 32),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32),
    "mxfp4-16": ("f4E2M1FN", "f8E8M0FNU", 16),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16),
}
# Blocks of sparse products, which kernels with dequantized operands need not have.
WIDE_BLOCKS = {
    "mxfp8-64": ("f8E4M3FN", "f8E8M0FNU", 64),
    "mxfp4-64": ("f4E2M1FN", "f8E8M0FNU", 64),
    "nvfp4-32": ("f4E2M1FN", "f8E4M3FN", 32),
}
# How y, stored as N x K, becomes K x N.
MAPS = """%d = linalg.matmul
       indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                        affine_map<(m, n, k) -> (m, n)>]
       ins(%x, %w : {xt}, {wt}) outs(%acc : {dt}) -> {dt}"""
TRANSPOSE = """%we = tensor.empty() : {kn}
  %wk = linalg.transpose ins(%w : {wt}) outs(%we : {kn}) permutation = [1, 0]
  %d = linalg.matmul ins(%x, %wk : {xt}, {kn}) outs(%acc : {dt}) -> {dt}"""
BATCH = """%we = tensor.empty() : {kn}
  %wk = linalg.transpose ins(%w : {wt}) outs(%we : {kn}) permutation = [0, 2, 1]
  %d = linalg.batch_matmul ins(%x, %wk : {xt}, {kn}) outs(%acc : {dt}) -> {dt}"""
# The result times 2, as bf16, a new op that the kernel takes over.
DOUBLED = """%two = arith.constant dense<2.0> : {dt}
  %twice = arith.mulf %d, %two : {dt}
  %r = arith.truncf %twice : {dt} to {rt}"""


class Product:
    """x of M x K and quantized y of N x K; the accumulator is an argument with `has_acc`. K is promised to be a multiple
    of `multiple`.
    """

    def __init__(self, m, n, k, format, near=2, form=MAPS, batch=None, has_acc=False, is_doubled=False, g=None,
                 dtype="bf16", is_dynamic=False, multiple=1):
        self.format, self.dtype, self.g = {**FORMATS, **WIDE_BLOCKS}[format], dtype, g
        element, scale, block = self.format
        lead = (batch,) if batch else ()
        rng = np.random.default_rng(m * n + k)
        codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
        codes = codes[np.isfinite(blockscale.decode(codes, element))]
        self.y = rng.choice(codes, (*lead, n, k))
        low, high = (127 - near, 127 + near) if scale == "f8E8M0FNU" else (0x30, 0x48)
        self.ys = rng.integers(low, high, (*lead, n, k // block), dtype=np.uint8, endpoint=True)
        self.x = rng.integers(-8, 9, (*lead, m, k)).astype(np.float32) / 4
        self.acc = rng.standard_normal((*lead, m, n)).astype(np.float32) if has_acc else None
        self.is_doubled = is_doubled
        types = dict(
            xt=tensor((*lead, m, k), dtype), ct=tensor((*lead, n, k), element),
            st=tensor((*lead, n, k // block), scale), wt=tensor((*lead, n, k), dtype),
            kn=tensor((*lead, k, n), dtype), dt=tensor((*lead, m, n), "f32"), rt=tensor((*lead, m, n), "bf16"),
        )
        if is_dynamic:
            types = {name: re.sub("[0-9]+x", "?x", type) for name, type in types.items()}
        result, name = (types["rt"], "%r") if is_doubled else (types["dt"], "%d")
        acc = f", %acc: {types['dt']}" if has_acc else ""
        scaled = (" tensor_scale(%g)", ", f32") if g is not None else ("", "")
        lines = [
            f"func.func @main(%x: {types['xt']}, %c: {types['ct']}, %s: {types['st']}{acc}) -> {result} {{",
            "" if has_acc else f"  %acc = arith.constant dense<0.0> : {types['dt']}",
            f"  %g = arith.constant 0x{np.float32(g).view(np.uint32):08X} : f32" if g is not None else "",
            f"  %w = blockscale.dequantize %c, %s{scaled[0]} {{block_size = {block} : i64}}"
            f" : {types['ct']}, {types['st']}{scaled[1]} to {types['wt']}",
            "  " + form.format(**types),
            "  " + DOUBLED.format(**types) if is_doubled else "",
            f"  return {name} : {result}",
            "}",
        ]
        self.text = "\n".join(filter(None, lines)) + "\n"
        if multiple != 1:
            promise = f" {{blockscale.multiples = array<i64: 1, {multiple}>}}"
            for operand in (f"%x: {types['xt']}", f"%c: {types['ct']}"):
                self.text = self.text.replace(operand, operand + promise, 1)

    def run(self, folder, device, schedule=None, flags=(), has_statistics=True):
        """The result, statistics of the kernels by name (none on the CPU), and what was said."""
        folder.mkdir(exist_ok=True)
        (folder / "p.mlir").write_text(self.text)
        arrays = [to_bits(self.x, self.dtype), self.y, self.ys, *([] if self.acc is None else [self.acc])]
        for i, array in enumerate(arrays):
            np.save(folder / f"{i}.npy", array)
        command = [harness.RUN, "p.mlir", *flags, *(f"{i}.npy" for i in range(len(arrays))), "-o", "d.npy"]
        if device != "cpu":
            command += ["--device=sim", f"--target={device}", "--stats", "--check=race,proxy,strict"]
        if schedule:
            command.append(f"--schedule={schedule}")
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False
        )
        assert done.returncode == 0, f"{device}: {done.stderr}\n{self.text}"
        assert "warning" not in done.stderr, done.stderr
        kernels = {}
        if device != "cpu":
            statistics = json.loads(done.stderr[done.stderr.index("{\n"):])
            kernels = {kernel["name"]: kernel for kernel in statistics["kernels"]}
        result = np.load(folder / "d.npy")
        if self.is_doubled:
            result = (result.astype(np.uint32) << 16).view(np.float32)
        return result, kernels, done.stderr

    def compile(self, folder, chip):
        """What `launch` takes, and what was said; of dynamic sizes, for all products of this text."""
        (folder / "p.mlir").write_text(self.text)
        done = subprocess.run(
            [harness.RUN.with_name("blockscale-compile"), "p.mlir", f"--target={chip}", "--launch-info=p.json", "-o",
             "p.ptx"], cwd=folder, capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False,
        )
        assert done.returncode == 0, f"{done.stderr}\n{self.text}"
        return folder, done.stderr

    def launch(self, folder, compiled):
        """The same as `run` of what was compiled."""
        where, said = compiled
        elements = [self.dtype, *self.format[:2], "f32"]
        arrays = [to_bits(self.x, self.dtype), self.y, self.ys, *([] if self.acc is None else [self.acc])]
        arguments = []
        for i, (array, element) in enumerate(zip(arrays, elements)):
            np.save(folder / f"{i}.npy", harness.gpu_buffer(array, element))
            arguments.append(f"in:{folder / str(i)}.npy")
        m, n = self.x.shape[-2], self.y.shape[-2]
        done = subprocess.run(
            [harness.RUN.with_name("blockscale-sim"), where / "p.ptx", f"--launch-info={where / 'p.json'}",
             "--check=race,proxy,strict", f"--stats={folder / 'stats.json'}", *arguments,
             f"out:{folder / 'd.npy'}:f4:{m}x{n}"],
            capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False,
        )
        assert done.returncode == 0 and not done.stderr, f"{done.stderr}\n{self.text}"
        statistics = json.loads((folder / "stats.json").read_text())
        return np.load(folder / "d.npy"), {kernel["name"]: kernel for kernel in statistics["kernels"]}, said

    def weights(self):
        """y as bf16 or f16 values."""
        if self.g is None:
            weights = blockscale.dequantize(self.y, self.ys, *self.format, dtype=self.dtype)
        else:
            # Without the function's tensor scale, which has to be positive and finite.
            weights = blockscale.dequantize(self.y, self.ys, *self.format)
            with np.errstate(all="ignore"):
                weights = weights * np.float32(self.g)
                weights = bfloat16.round_f32(weights) if self.dtype == "bf16" else weights.astype(np.float16)
        return bfloat16.widen(weights) if self.dtype == "bf16" else weights

    def check(self, result, is_exact=False):
        """The result is that of rounding y once and multiplying; bit-equal if all partial sums are exact."""
        x = self.x.astype(np.float64)
        y = self.weights().astype(np.float64).swapaxes(-1, -2)
        with np.errstate(all="ignore"):
            acc = np.zeros(result.shape) if self.acc is None else self.acc.astype(np.float64)
            expected, size = acc + x @ y, np.abs(acc) + np.abs(x) @ np.abs(y)
        bound = 0 if is_exact else self.x.shape[-1] * 2.0**-22 * size + 2.0**-122
        if self.is_doubled:
            expected, bound = 2 * expected, 2 * bound + np.abs(expected) * 2.0**-6
        is_number = np.isfinite(size) & (size < 2.0**126)
        error = np.abs(np.where(is_number, result, 0) - np.where(is_number, expected, 0))
        assert (error <= np.where(is_number, bound, 0)).all(), np.argwhere(error > np.where(is_number, bound, 0))[:5]
        # Infinity and NaN are the same everywhere, unless sums overflow.
        others = ~np.isfinite(size)
        assert np.array_equal(np.isnan(result[others]), np.isnan(expected[others]))
        assert np.array_equal(result[others & np.isinf(expected)], expected[others & np.isinf(expected)])
