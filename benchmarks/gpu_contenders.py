"""The contenders of gpu.py, their operands, and the reference of results. Needs torch and a card."""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from gpu_cases import FORMATS, row_bytes
from gpu_launch import Function, Launch
from gpu_triton import CONVERT_TILE, FIELDS, configurations, convert_specification, dot_specification

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import blockscale  # noqa: E402

DEVICE = "cuda"
# Weights that calls of a small M go through in turn: several times what an L2 cache holds.
ROTATED_BYTES = 240_000_000
# Of weights of less than 4 MB, which no case of the main ones has, there are fewer bytes.
MAX_COPIES = 64
# e8m0 codes of 2^-4 to 2^4.
E8M0_CODES = range(127 - 4, 127 + 4 + 1)
# Kernels that Triton compiles at the same time, and how long one may take, in seconds.
COMPILE_JOBS, COMPILE_TIMEOUT = os.cpu_count() or 1, 120


class Missing(Exception):
    """A contender that is not there, and why, in one line."""


def count_copies(case, weight_bytes):
    """How many weights of that many bytes a contender needs, so that none is in a cache when its turn comes."""
    return min(MAX_COPIES, -(-ROTATED_BYTES // weight_bytes)) if case.is_small else 1


def scale_format(types):
    return blockscale.SCALE_FORMATS[types.scale]


def finite_codes(name):
    """All codes of finite values, as a tensor of bytes; of e8m0 only those of E8M0_CODES, of ue4m3 no signs."""
    if name == "f8E8M0FNU":
        return torch.tensor(list(E8M0_CODES), dtype=torch.uint8, device=DEVICE)
    row = blockscale.FORMATS[name]
    codes = np.arange(1 << (row.bits if name != "ue4m3" else row.magnitude_bits), dtype=np.uint8)
    return torch.from_numpy(codes[np.isfinite(blockscale.decode(codes, name))]).to(DEVICE)


def look_up(codes, name, dtype):
    """The values of a tensor of codes."""
    values = blockscale.decode(np.arange(1 << blockscale.FORMATS[name].bits), name)
    return torch.from_numpy(values).to(DEVICE, dtype)[codes.int()]


def unpack(buffer, element, is_packed):
    """Unpacks a buffer as kernels read it (rows x bytes) to elements (rows x K)."""
    if element == "f4E2M1FN":
        return torch.stack((buffer & 15, buffer >> 4), dim=-1).flatten(-2)
    if is_packed:
        a, b, c = buffer.unflatten(-1, (-1, 3)).unbind(-1)
        codes = (a & 63, a >> 6 | (b & 15) << 2, b >> 4 | (c & 3) << 4, c >> 2)
        return torch.stack(codes, dim=-1).flatten(-2)
    return buffer


class Operands:
    """Random buffers of a case, and the product in f64.

    x (M x bytes) and xs (M x K_s); y (N x bytes) and ys (N x K_s) for each copy of the weights.
    """

    def __init__(self, case, seed=0):
        self.case, self.types = case, FORMATS[case.format]
        self.random = torch.Generator(DEVICE).manual_seed(seed)
        (m, k), (_, blocks), (n, _), _ = case.shapes
        self.x, self.xs = self._draw(self.types.x, m, k), self._draw_scales(m, blocks)
        weights = n * (row_bytes(self.types.y, k, self.types.is_packed) + blocks)
        self.weights = [
            (self._draw(self.types.y, n, k), self._draw_scales(n, blocks))
            for _ in range(count_copies(case, weights))
        ]
        x, y = self.decode_x(torch.float64), self.decode_y(0, torch.float64)
        self.product = x @ y.T
        self.magnitude = x.abs() @ y.abs().T

    def _pick(self, codes, shape):
        index = torch.randint(len(codes), shape, device=DEVICE, generator=self.random, dtype=torch.int32)
        return codes[index]

    def _draw(self, element, rows, k):
        size = (rows, row_bytes(element, k, self.types.is_packed))
        if size[1] != k:  # Packed, and then every byte is finite elements.
            return torch.randint(256, size, device=DEVICE, generator=self.random, dtype=torch.uint8)
        return self._pick(finite_codes(element), size)

    def _draw_scales(self, rows, blocks):
        return self._pick(finite_codes(scale_format(self.types)), (rows, blocks))

    def elements(self, buffer, element, dtype):
        return look_up(unpack(buffer, element, self.types.is_packed), element, dtype)

    def _decode(self, buffer, scales, element, dtype):
        # An element times its scale is exact in bf16, too.
        blocks = self.elements(buffer, element, dtype).unflatten(1, (-1, self.types.block))
        return (blocks * look_up(scales, scale_format(self.types), dtype)[:, :, None]).flatten(1)

    def decode_x(self, dtype):
        return self._decode(self.x, self.xs, self.types.x, dtype)

    def decode_y(self, copy, dtype):
        return self._decode(*self.weights[copy], self.types.y, dtype)

    def excess(self, result):
        """The largest error of an M x N result as a share of its bound, which for f32 is that of all targets."""
        bound = self.case.k * 2.0**-22 * self.magnitude + 2.0**-122
        return largest(result, self.product, bound)


def largest(result, product, bound):
    """Of |error| / bound, NaN if there is one; a bf16 result may be half a unit in its last place further off."""
    if result.dtype == torch.bfloat16:
        bound = bound + product.abs() * 2.0**-8
    return ((result.double() - product).abs() / bound).max().item()


class Contender:
    """`calls`, one for each copy of the weights, return the result; `excess` of it over 1 is wrong."""

    def __init__(self, calls, excess, detail=""):
        self.calls, self.excess, self.detail = calls, excess, detail


def essence(text):
    """Of what a compiler has said, the line that most likely says why, without its location."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for mark in ("Assertion ", "error: ", "Error: "):
        found = [line[max(line.find(mark), 0):] for line in lines if mark in line]
        if found:
            return found[0][:200]
    return lines[-1][:200] if lines else ""


def new_result(case):
    """M x N in f32, all NaN, so that what a kernel leaves out shows."""
    return torch.full((case.m, case.n), float("nan"), dtype=torch.float32, device=DEVICE)


def make_call(launches, result, prepare=None):
    def call():
        if prepare:
            prepare()
        stream = torch.cuda.current_stream().cuda_stream
        for launch in launches:
            launch.run(stream)
        return result

    return call


def make_ours(driver, folder, entry, operands):
    """Ours, from PTX and the launch info in the folder."""
    if "error" in entry:
        raise Missing(f"not compiled: {entry['error']}")
    case, result = operands.case, new_result(operands.case)
    name = entry["file"]
    info = json.loads((folder / f"{name}.json").read_text())
    multiprocessors = torch.cuda.get_device_properties(DEVICE).multi_processor_count
    image = (folder / f"{name}.ptx").read_bytes()
    function = Function(driver, image, info, case.shapes, multiprocessors)
    workspace = torch.empty(max(function.workspace, 1), dtype=torch.uint8, device=DEVICE)
    calls = []
    for y, ys in operands.weights:
        buffers = [operands.x, operands.xs, y, ys]
        launches = function.bind([t.data_ptr() for t in buffers], [result.data_ptr()], workspace.data_ptr())
        calls.append(make_call(launches, result))
    names = ", ".join(kernel["name"] for kernel in info["kernels"])
    contender = Contender(calls, operands.excess, f"{names}, {name}.ptx for {info['target']}")
    contender.workspace = workspace  # Alive as long as its address is in launches.
    return contender


def make_torch_bf16(operands):
    """torch.mm of values decoded before, which is not timed; its result is bf16."""
    case = operands.case
    x = operands.decode_x(torch.bfloat16)
    copies = min(count_copies(case, case.n * case.k * 2), len(operands.weights))
    weights = [operands.decode_y(i, torch.bfloat16) for i in range(copies)]
    calls = [lambda y=y: torch.mm(x, y.T) for y in weights]
    return Contender(calls, operands.excess, "operands decoded before; result bf16")


def make_torch_fp8(operands):
    """torch._scaled_mm of the elements as e4m3 with one scale for all: as fast, but not block-scaled."""
    case, types = operands.case, operands.types

    def elements(buffer, element):
        return operands.elements(buffer, element, torch.float32).to(torch.float8_e4m3fn)

    x = elements(operands.x, types.x)
    one = torch.ones((), device=DEVICE)
    copies = [elements(y, types.y) for y, _ in operands.weights]
    while len(copies) < count_copies(case, case.n * case.k):
        copies.append(copies[-1].clone())
    del copies[count_copies(case, case.n * case.k):]
    calls = [
        lambda y=y: torch._scaled_mm(x, y.T, one, one, out_dtype=torch.bfloat16, use_fast_accum=True) for y in copies
    ]
    wide_x, wide_y = x.double(), copies[0].double()
    product = wide_x @ wide_y.T
    # Sums of Hopper's fp8 instructions hold about 13 bits: this tells a product from something else.
    bound = (wide_x.abs() @ wide_y.abs().T) * max(case.k / 32, 8) * 2.0**-13 + 2.0**-122
    return Contender(calls, lambda result: largest(result, product, bound), "one scale, not block-scaled; result bf16")


def make_torch_blocks(operands):
    """torch._scaled_mm with the scales of blocks, which it has for some formats, on some cards."""
    case, types = operands.case, operands.types
    if case.format not in ("mxfp8", "nvfp4"):
        raise Missing("torch has scales of blocks for mxfp8 and nvfp4 alone")
    if torch.cuda.get_device_capability() < (10, 0):
        raise Missing("torch has scales of blocks of 32 or 16 from compute capability 10.0 on")
    is_fp4 = types.x == "f4E2M1FN"
    element = torch.float4_e2m1fn_x2 if is_fp4 else torch.float8_e4m3fn
    scale = torch.float8_e4m3fn if is_fp4 else torch.float8_e8m0fnu

    def swizzle(scales):
        atoms = blockscale.swizzle_scales(scales.cpu().numpy())
        return torch.from_numpy(np.ascontiguousarray(atoms)).to(DEVICE).flatten().view(scale)

    x, xs = operands.x.view(element), swizzle(operands.xs)
    weights = [(y.view(element), swizzle(ys)) for y, ys in operands.weights]
    calls = [
        lambda y=y, ys=ys: torch._scaled_mm(x, y.T, scale_a=xs, scale_b=ys, out_dtype=torch.bfloat16)
        for y, ys in weights
    ]
    return Contender(calls, operands.excess, "scales swizzled before; result bf16")


class Triton:
    """Triton's kernels for some cases, compiled when asked for the first time, all at once."""

    def __init__(self, driver, cases):
        try:
            import triton
        except ImportError as error:
            raise Missing(str(error)) from None
        self.driver, self.version = driver, triton.__version__
        major, minor = torch.cuda.get_device_capability()
        self.chip = 10 * major + minor
        self.folder = tempfile.TemporaryDirectory()
        self.kernels = {}
        wanted = {}
        for case in cases:
            for specification in self._specifications(case):
                wanted[self._key(specification)] = specification
        with ThreadPoolExecutor(COMPILE_JOBS) as pool:
            made = pool.map(self._compile, range(len(wanted)), wanted.values())
            self.kernels = dict(zip(wanted, made))

    @staticmethod
    def _key(specification):
        return json.dumps(specification, sort_keys=True)

    def _specifications(self, case):
        types = FORMATS[case.format]
        found = [dot_specification(case.format, config) for config in configurations(case)]
        if not types.is_packed:
            elements = {types.x, types.y} & FIELDS.keys()
            found += [convert_specification(case.format, element) for element in elements]
        return [specification for specification in found if specification]

    def _compile(self, index, specification):
        """(path without suffix, None), or (None, why there is none)."""
        out = pathlib.Path(self.folder.name, str(index))
        text = json.dumps(dict(specification, chip=self.chip))
        command = [sys.executable, pathlib.Path(__file__).with_name("gpu_triton.py"), text, out]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_TIMEOUT)
        except subprocess.TimeoutExpired:
            return None, f"Triton took more than {COMPILE_TIMEOUT} s to compile"
        if done.returncode == 0:
            return out, None
        return None, f"Triton did not compile it: {essence(done.stderr) or f'exit code {done.returncode}'}"

    def _kernel(self, specification):
        """The kernel on the card, and what is known of it."""
        out, why = self.kernels[self._key(specification)]
        if why:
            raise Missing(why)
        info = json.loads(out.with_suffix(".json").read_text())
        module = self.driver.load(out.with_suffix(".cubin").read_bytes())
        return self.driver.get_kernel(module, info["name"], info["shared"]), info

    def _launch(self, specification, grid, pointers, numbers):
        function, info = self._kernel(specification)
        values = [ctypes.c_uint64(tensor.data_ptr()) for tensor in pointers]
        values += [ctypes.c_uint32(number) for number in numbers]
        values += [ctypes.c_uint64(0) for _ in range(info["hidden"])]
        return Launch(self.driver, function, (*grid, 1), (info["threads"], 1, 1), values, info["shared"])

    def makers(self, operands):
        """(name of a configuration, function that makes its contender)."""
        case, types = operands.case, operands.types
        for config in configurations(case):
            if not dot_specification(case.format, config):
                yield "dot_scaled", lambda: self._refuse("tl.dot_scaled has no such types")
                break
            yield f"dot_scaled {config.name}", lambda config=config: self._make_dot(operands, config)
        if types.is_packed:
            yield "convert, torch.mm", lambda: self._refuse("not written for packed elements")
        else:
            yield "convert, torch.mm", lambda: self._make_converted(operands)

    @staticmethod
    def _refuse(why):
        raise Missing(why)

    def _make_dot(self, operands, config):
        case, result, calls = operands.case, new_result(operands.case), []
        specification = dot_specification(case.format, config)
        rows, columns = (case.n, case.m) if config.swaps else (case.m, case.n)
        grid = (-(-rows // config.rows) * -(-columns // config.columns), config.split)
        for y, ys in operands.weights:
            a, b = (operands.x, operands.xs), (y, ys)
            (a, sa), (b, sb) = (b, a) if config.swaps else (a, b)
            launch = self._launch(specification, grid, (a, b, sa, sb, result), (rows, columns, case.k))
            calls.append(make_call([launch], result, result.zero_ if config.split > 1 else None))
        return Contender(calls, operands.excess, f"dot_scaled {config.name}")

    def _make_converted(self, operands):
        """Both operands to bf16 in memory, by kernels of Triton, then torch.mm with an f32 result."""
        case, types = operands.case, operands.types
        x, y = (torch.empty(size, case.k, dtype=torch.bfloat16, device=DEVICE) for size in (case.m, case.n))

        def convert(element, codes, scales, out):
            count = out.numel()
            specification = convert_specification(case.format, element)
            return self._launch(specification, (-(-count // CONVERT_TILE), 1), (codes, scales, out), (count,))

        def make(launches):
            def call():
                stream = torch.cuda.current_stream().cuda_stream
                for launch in launches:
                    launch.run(stream)
                return torch.mm(x, y.T, out_dtype=torch.float32)

            return call

        of_x = convert(types.x, operands.x, operands.xs, x)
        calls = [make([of_x, convert(types.y, *weights, y)]) for weights in operands.weights]
        return Contender(calls, operands.excess, "convert, torch.mm")
