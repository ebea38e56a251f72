"""Builds small MLIR programs, executes them with `blockscale-run`, and makes their data.

The program is <build>/bin/blockscale-run, <build> taken from the environment variable
BLOCKSCALE_BUILD (default: `build` in this checkout). Expected results come from the Python
package `blockscale`, which shares no code with the compiler.
"""

import functools
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import blockscale
import numpy as np

REPO = Path(__file__).resolve().parents[2]
RUN = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")) / "bin" / "blockscale-run"
TIMEOUT_S = 120


class Combination(NamedTuple):
    """One legal combination of types and block size."""

    x: str
    y: str
    scale: str
    block: int

    def __str__(self):
        return "-".join(map(str, self))

    @property
    def types(self):
        """The keyword arguments of blockscale.mma_scaled."""
        return dict(x_type=self.x, y_type=self.y, scale_type=self.scale)


COMBINATIONS = [Combination(*row) for row in blockscale.LEGAL_TYPE_COMBINATIONS]


# Programs


class Value(NamedTuple):
    """An SSA value: its name, and its type as container<shape x element>; None is `?`."""

    name: str
    shape: tuple
    element: str
    container: str = "tensor"

    @property
    def type(self):
        if self.container == "scalar":
            return self.element
        sizes = "".join(f"{'?' if size is None else size}x" for size in self.shape)
        return f"{self.container}<{sizes}{self.element}>"


class Program:
    """One func.func under construction, with the data of its arguments.

    Each method adds one operation and returns its result.
    """

    def __init__(self, entry="main"):
        self.entry = entry
        self.args, self.arrays, self.body, self.results = [], [], [], []
        self.packed = set()  # numbers of arguments with the attribute blockscale.packed
        self.values = 0

    def arg(self, array, element, shape=None, packed=False):
        """An argument with `array` as data; `shape` may give `?` (None) for some sizes."""
        value = Value(f"%arg{len(self.args)}", tuple(shape or array.shape), element)
        if packed:
            self.packed.add(len(self.args))
        self.args.append(value)
        self.arrays.append(array)
        return value

    def scalar(self, number, element):
        """An argument that is passed by value; `number` is a numpy scalar."""
        value = Value(f"%arg{len(self.args)}", (), element, "scalar")
        self.args.append(value)
        self.arrays.append(np.asarray(number))
        return value

    def mma_args(self, row, operands, dynamic="", y_order="kn"):
        """Arguments for the five operands of mma_scaled.

        `dynamic` names the sizes that are `?`: letters of "b" (batch), "m", "n", "k". `y_order`
        names the dimensions of y and y_scale; "nk" needs `transpose` before the op.
        """
        letters = ("mk", "mk", y_order, y_order, "mn")
        elements = (row.x, row.scale, row.y, row.scale, "f32")
        values = []
        for array, element, sizes in zip(operands, elements, letters):
            sizes = "b" * (array.ndim - 2) + sizes
            shape = [None if s in dynamic else n for s, n in zip(sizes, array.shape)]
            values.append(self.arg(array, element, shape))
        return values

    def op(self, text, shape=(), element="", container="tensor"):
        """An operation with one result."""
        value = Value(f"%{self.values}", tuple(shape), element, container)
        self.values += 1
        self.body.append(f"{value.name} = {text}")
        return value

    def index(self, number):
        return self.op(f"arith.constant {number} : index").name

    def dim(self, value, dimension):
        return self.op(f"tensor.dim {value.name}, {self.index(dimension)} : {value.type}").name

    def constant(self, number, shape, element):
        """A splat tensor."""
        kind = Value("", tuple(shape), element).type
        return self.op(f"arith.constant dense<{number:.1f}> : {kind}", shape, element)

    def mma(self, x, x_scale, y, y_scale, acc, block_size=None):
        operands = (x, x_scale, y, y_scale, acc)
        names = ", ".join(v.name for v in operands)
        types = ", ".join(v.type for v in operands)
        attribute = "" if block_size is None else f" {{block_size = {block_size}}}"
        return self.op(
            f"blockscale.mma_scaled {names}{attribute} : {types}",
            acc.shape, "f32", acc.container,
        )

    def empty(self, like, order):
        """tensor.empty with the sizes of `like` in `order`."""
        sizes = ", ".join(self.dim(like, d) for d in order if like.shape[d] is None)
        shape = [like.shape[d] for d in order]
        kind = Value("", tuple(shape), like.element).type
        return self.op(f"tensor.empty({sizes}) : {kind}", shape, like.element)

    def transpose(self, value):
        """The last two dimensions exchanged."""
        rank = len(value.shape)
        order = [*range(rank - 2), rank - 1, rank - 2]
        if value.container == "vector":
            shape = [value.shape[d] for d in order]
            result = Value("", tuple(shape), value.element, "vector").type
            return self.op(
                f"vector.transpose {value.name}, {order} : {value.type} to {result}",
                shape, value.element, "vector",
            )
        init = self.empty(value, order)
        return self.op(
            f"linalg.transpose ins({value.name} : {value.type}) "
            f"outs({init.name} : {init.type}) permutation = {order}",
            init.shape, value.element,
        )

    def swizzle(self, s):
        *batch, m, k = s.shape
        tiles = [None if n is None else -(-n // unit) for n, unit in ((m, 128), (k, 4))]
        return self._swizzle_op("swizzle", s, (*batch, *tiles, 32, 16), "")

    def unswizzle(self, t, shape, sizes=()):
        """`sizes`: names of index values, one for each `?` of `shape`."""
        clause = f" sizes({', '.join(sizes)})" if sizes else ""
        return self._swizzle_op("unswizzle", t, shape, clause)

    def _swizzle_op(self, name, value, shape, clause):
        result = Value("", tuple(shape), value.element, value.container).type
        return self.op(
            f"blockscale.{name}_scales {value.name}{clause} : {value.type} to {result}",
            shape, value.element, value.container,
        )

    def read(self, value):
        """The whole of a static tensor as a vector."""
        # 1.0 as padding, which is never read: f8E8M0FNU has no zero.
        padding = self.op(f"arith.constant 1.0 : {value.element}").name
        zero = self.index(0)
        where = ", ".join([zero] * len(value.shape))
        in_bounds = ", ".join(["true"] * len(value.shape))
        vector = value._replace(container="vector")
        return self.op(
            f"vector.transfer_read {value.name}[{where}], {padding} "
            f"{{in_bounds = [{in_bounds}]}} : {value.type}, {vector.type}",
            *vector[1:],
        )

    def write(self, vector):
        """A vector as a tensor."""
        tensor = vector._replace(container="tensor")
        init = self.op(f"tensor.empty() : {tensor.type}").name
        zero = self.index(0)
        where = ", ".join([zero] * len(vector.shape))
        in_bounds = ", ".join(["true"] * len(vector.shape))
        return self.op(
            f"vector.transfer_write {vector.name}, {init}[{where}] "
            f"{{in_bounds = [{in_bounds}]}} : {vector.type}, {tensor.type}",
            *tensor[1:],
        )

    def result(self, value):
        self.results.append(value)

    def text(self):
        args = ", ".join(
            f"{v.name}: {v.type}" + " {blockscale.packed}" * (i in self.packed)
            for i, v in enumerate(self.args)
        )
        types = ", ".join(v.type for v in self.results)
        names = ", ".join(v.name for v in self.results)
        lines = [f"func.func @{self.entry}({args}) -> ({types}) {{"]
        lines += [f"  {line}" for line in self.body]
        lines += [f"  return {names} : {types}", "}"]
        return "\n".join(lines) + "\n"

    def run(self, folder):
        """The results, as arrays."""
        return execute(folder, self.text(), self.arrays, len(self.results), self.entry)


def execute(folder, text, arrays, results, entry):
    """Runs function `entry` of an MLIR text on `arrays`; its results, as arrays.

    `folder` receives the program and the data, and keeps them for a look at a failure.
    """
    if not RUN.is_file():
        raise FileNotFoundError(f"{RUN}: build blockscale first, or set BLOCKSCALE_BUILD")
    program = folder / f"{entry}.mlir"
    program.write_text(text)
    inputs = [folder / f"in{i}.npy" for i in range(len(arrays))]
    outputs = [folder / f"out{i}.npy" for i in range(results)]
    for path, array in zip(inputs, arrays):
        np.save(path, array)
    command = [RUN, program, f"--entry={entry}"]
    for path in outputs:
        command += ["-o", path]
    done = subprocess.run(
        [*command, *inputs], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr}\n{text}"
    return [np.load(path, allow_pickle=False) for path in outputs]


# Buffers of GPUs


def gpu_buffer(array, element, packed=False):
    """What a GPU buffer holds for an argument: fp4 always packed, fp6 where that was asked for."""
    return blockscale.pack(array, element) if element == "f4E2M1FN" or packed else array


# Data. Operands are lists [x, x_scale, y, y_scale, acc] of arrays.


def operands(row, m, n, k, element, scale, acc, x_batch=(), y_batch=()):
    """Operands from functions element(type, shape), scale(type, shape) and acc(shape)."""
    blocks = k // row.block
    return [
        element(row.x, (*x_batch, m, k)),
        scale(row.scale, (*x_batch, m, blocks)),
        element(row.y, (*y_batch, k, n)),
        scale(row.scale, (*y_batch, blocks, n)),
        acc((*np.broadcast_shapes(x_batch, y_batch), m, n)),
    ]


@functools.cache
def codes_of(name, unit, smallest, largest):
    """The codes of the multiples of `unit`, from `smallest` to `largest`, that format has."""
    values = np.arange(smallest, largest + unit, unit)
    codes = blockscale.encode(values, name)
    return codes[blockscale.decode(codes, name) == values]


# Steps and ends of element and scale values whose products add up without rounding: "fine" shows
# every mantissa bit of the elements, "wide" more different scales.
EXACT = {"fine": (1 / 8, 7.5, 1 / 2, 2.0), "wide": (1.0, 3.0, 1 / 8, 8.0)}


def exact(row, m, n, k, seed, kind="wide", zero_acc=False, x_batch=(), y_batch=()):
    """Operands whose every partial sum is exact in float32. Scales differ from block to block."""
    unit, limit, scale_unit, scale_limit = EXACT[kind]
    rng = np.random.default_rng([seed, m, n, k])

    def element(name, shape):
        return rng.choice(codes_of(name, unit, -limit, limit), shape)

    def scale(name, shape):
        # Walks through the codes in non-zero steps along every dimension.
        codes = codes_of(blockscale.SCALE_FORMATS[name], scale_unit, scale_unit, scale_limit)
        steps = [rng.integers(1, len(codes), size).cumsum() for size in shape]
        return codes[sum(np.ix_(*steps)) % len(codes)]

    def acc(shape):
        return np.float32(rng.integers(-256, 257, shape) * (not zero_acc) / 4)

    data = operands(row, m, n, k, element, scale, acc, x_batch, y_batch)
    check_exact(row, data, (unit * scale_unit) ** 2)
    return data


def check_exact(row, data, unit):
    """Every term is a multiple of `unit`, and |acc| + sum |terms| has at most 24 bits above it."""
    x, x_scale, y, y_scale, acc = data

    scales = [blockscale.decode(codes, blockscale.SCALE_FORMATS[row.scale]) for codes in (x_scale, y_scale)]
    x, y = blockscale.decode(x, row.x), blockscale.decode(y, row.y)

    def length(values, scales):
        """The greatest of vectors along K, which is second to last."""
        blocks = values.reshape(*scales.shape[:-1], row.block, values.shape[-1])
        return np.sqrt(((blocks * blocks).sum(-2) * scales**2).sum(-2).max(initial=0))

    # No sum is greater than the product of its vectors' lengths, which are known soon; few data need the sums.
    most = length(np.swapaxes(x, -1, -2), np.swapaxes(scales[0], -1, -2)) * length(y, scales[1])
    if np.abs(acc).max(initial=0) + most < 2.0**24 * unit:
        return
    x, y = x * scales[0].repeat(row.block, -1), y * scales[1].repeat(row.block, -2)
    magnitude = np.abs(acc) + np.abs(x) @ np.abs(y)
    assert magnitude.max() < 2.0**24 * unit


def random(row, m, n, k, seed):
    """Any finite elements; any finite ue4m3 scales, e8m0 scales from 2^-20 to 2^20."""
    rng = np.random.default_rng([seed, m, n, k])

    def element(name, shape):
        codes = np.arange(1 << blockscale.FORMATS[name].bits, dtype=np.uint8)
        return rng.choice(codes[np.isfinite(blockscale.decode(codes, name))], shape)

    def scale(name, shape):
        low, high = {"f8E8M0FNU": (107, 147), "f8E4M3FN": (0, 0x7E)}[name]
        return rng.integers(low, high + 1, shape, np.uint8)

    def acc(shape):
        return np.float32(rng.standard_normal(shape) * 100)

    return operands(row, m, n, k, element, scale, acc)


def any_codes(row, m, n, k, seed):
    """Every bit pattern may come, NaN and infinity included."""
    rng = np.random.default_rng([seed, m, n, k])

    def element(name, shape):
        return rng.integers(0, 1 << blockscale.FORMATS[name].bits, shape, np.uint8)

    def acc(shape):
        return np.float32(rng.standard_normal(shape) * 100)

    return operands(row, m, n, k, element, element, acc)


SPECIAL_SCALES = {
    "f8E8M0FNU": [0x00, 0x01, 0x7E, 0xFD, 0xFE, 0xFF],
    "f8E4M3FN": [0x00, 0x01, 0x7E, 0x7F, 0x80, 0x81, 0xB8, 0xC5, 0xFE, 0xFF],  # with sign bits
}


def special_codes(name):
    """Zero, ends of the subnormal and the normal values, infinity and NaN, in both signs."""
    row = blockscale.FORMATS[name]
    normal = 1 << row.mantissa_bits
    magnitudes = [0, 1, normal - 1, normal, *range(row.finite_count - 1, row.nan or 0), row.nan]
    magnitudes = {m for m in [*magnitudes, row.finite_count - 1] if m is not None}
    return sorted(m | sign for m in magnitudes for sign in (0, row.sign_bit))


def extreme(row, seed):
    """Special element and scale codes in x against those in y. M is not N.

    A special code fills its row of x or column of y, so that each result shows one pair of codes
    and nothing larger hides it: the smallest subnormal values, or 2^127 in x against 2^-127 in y.
    The last row of x is not special; acc is 0 outside it.
    """
    x_codes, y_codes = special_codes(row.x), special_codes(row.y)
    scales = SPECIAL_SCALES[row.scale]
    m, n = len(x_codes) + len(scales) + 1, len(y_codes) + len(scales)
    x, x_scale, y, y_scale, acc = exact(row, m, n, 96, seed, zero_acc=True)
    for i, code in enumerate(x_codes):
        x[i] = code
    for j, code in enumerate(y_codes):
        y[:, j] = code
    for i, code in enumerate(scales):
        x_scale[len(x_codes) + i] = code
        y_scale[:, len(y_codes) + i] = code
    acc[-1, :5] = [np.inf, -np.inf, np.nan, -0.0, 1.5]
    return [x, x_scale, y, y_scale, acc]


def assert_bit_equal(result, expected):
    """The same float32 bits, except that -0 equals +0 and NaN equals NaN."""
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(result, expected)
