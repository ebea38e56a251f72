"""The functions of `blockscale-emulate-mma`, which kernels are tested on, against numpy.

The functions find the elements that a lane needs; here matrices go to the registers element by
element, by the inverse formulas. Both are from PTX ISA, "Matrix Fragments for mma.m16n8k32" and
"... m16n8k64", "Matrix fragments for sparse mma.m16n8k64" and "... mma.m16n8k128", and "Block Scaling for mma.sync".
The functions are executed by `lanes`.
"""

import subprocess
from itertools import product
from typing import NamedTuple

import blockscale
import lanes
import numpy as np
import pytest
from harness import RUN, TIMEOUT_S

M, N = 16, 8
FORMATS = {
    "e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "e3m2": "f6E3M2FN", "e2m3": "f6E2M3FN",
    "e2m1": "f4E2M1FN", "ue8m0": "f8E8M0FNU", "ue4m3": "ue4m3",
}
# The selectors of Table 37.
BYTES = {1: (0, 1, 2, 3), 2: (0, 2), 4: (0,)}
A_THREADS, B_THREADS = (0, 1), (0, 1, 2, 3)


class Instruction(NamedTuple):
    kind: str
    a: str
    b: str
    scale: str
    scale_vec: int
    sparsity: str = ""

    def __str__(self):
        return ("sp_" if self.sparsity else "sync_") + "_".join(map(str, self[:5])) + "x"

    @property
    def kept_k(self):
        return 32 if self.kind == "mxf8f6f4" else 64

    @property
    def k(self):
        """Of B, and of A with what it leaves out."""
        return self.kept_k * (2 if self.sparsity else 1)

    @property
    def block(self):
        return self.k // self.scale_vec


DENSE = [
    *(Instruction("mxf8f6f4", *pair, "ue8m0", 1) for pair in product(list(FORMATS)[:5], repeat=2)),
    Instruction("mxf4", "e2m1", "e2m1", "ue8m0", 2),
    Instruction("mxf4nvf4", "e2m1", "e2m1", "ue8m0", 2),
    Instruction("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4),
]
INSTRUCTIONS = [*DENSE, *(of._replace(sparsity="2:4" if of.kind == "mxf8f6f4" else "pairs") for of in DENSE)]
# Positions of the two kept units of a chunk, the first one in bits 1:0.
FIELDS = (0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)


@pytest.fixture(scope="module")
def functions():
    """All functions, from one module that uses all instructions."""
    body = "".join(
        f"%d{i} = blockscale.mma_{'sp' if instruction.sparsity else 'sync'} <mma_sync, 16x8x{instruction.k}, "
        f"{', '.join(str(of) for of in instruction if of)}>"
        f" %a, {'%a, %c, %s' if instruction.sparsity else '%b, %c'}, %s[0, 0], %s[0, 0]\n"
        for i, instruction in enumerate(INSTRUCTIONS)
    )
    text = (
        "gpu.module @kernels { gpu.func @all("
        "%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %s: i32) {\n"
        f"{body} gpu.return }} }}"
    )
    command = [RUN.with_name("blockscale-opt"), "--blockscale-emulate-mma"]
    done = subprocess.run(
        [*command, "--mlir-print-op-generic"], input=text, capture_output=True, text=True,
        timeout=TIMEOUT_S, check=False,
    )
    assert done.returncode == 0, done.stderr
    return lanes.parse_functions(done.stdout)


# Registers, of all warps. Whatever an instruction must not read is random.


def put(registers, lane, register, first_bit, bits, codes):
    """Puts a code of each warp into a register."""
    mask = np.uint32(((1 << bits) - 1) << first_bit)
    old = registers[lane, :, register]
    registers[lane, :, register] = old & ~mask | codes.astype(np.uint32) << np.uint32(first_bit)


def fragment(rng, instruction, name, codes, registers):
    """A operand of (rows, K) codes per warp, of A the kept ones. Rows are those of A, or the columns of B."""
    warps, rows, k_size = codes.shape
    bits = blockscale.FORMATS[FORMATS[name]].bits
    result = rng.integers(0, 1 << 32, (lanes.LANES, warps, registers), np.uint32)
    packed = instruction.kept_k == 64
    per_register = 8 if packed else 4
    padding = 2 if bits == 4 and not packed else 0
    for row, k in product(range(rows), range(k_size)):
        lane = 4 * (row & 7) + (k // per_register & 3)
        part = k // (4 * per_register)
        register = (row >> 3) + 2 * part if rows == M else part
        first_bit = k % per_register * (32 // per_register) + padding
        put(result, lane, register, first_bit, bits, codes[:, row, k])
    return result


def metadata_register(fields):
    """Of (rows, chunks) fields per warp: each lane has the eight fields of one row, of one half of K."""
    warps = len(fields)
    result = np.empty((lanes.LANES, warps), np.uint32)
    for lane in range(lanes.LANES):
        of = fields[:, (lane >> 2) + 8 * (lane & 1), 8 * (lane >> 1 & 1) :][:, :8].astype(np.uint32)
        result[lane] = (of << np.arange(0, 32, 4, dtype=np.uint32)).sum(1, dtype=np.uint32)
    return result


def logical(instruction, fields):
    """The index along K of each kept element, of (rows, chunks) fields per warp."""
    unit = {"2:4": 1, "pairs": 2}[instruction.sparsity]
    kept = np.arange(instruction.kept_k)
    field = fields[..., kept // (2 * unit)]
    position = field >> (2 * (kept // unit % 2)).astype(np.uint8) & 3
    return kept // (2 * unit) * 4 * unit + position.astype(int) * unit + kept % unit


def scale_register(rng, codes, lane_of, byte, thread):
    """Registers of (rows, K_s) codes per warp; `byte` and `thread` select in each warp."""
    warps, rows, blocks = codes.shape
    result = rng.integers(0, 256, (lanes.LANES, warps, 4), np.uint8)
    for row, block in product(range(rows), range(blocks)):
        result[lane_of(row, thread), np.arange(warps), byte + block] = codes[:, row, block]
    return result.astype("u1").view("<u4")[..., 0]


def a_scale_lane(m, thread):
    return 4 * (m & 7) + 2 * thread + (m >> 3)


def b_scale_lane(n, thread):
    return 4 * n + thread


def sum_positions():
    """Lanes and registers of the elements of C and D, of shape (16, 8)."""
    m, n = np.ogrid[:M, :N]
    return 4 * (m & 7) + (n >> 1), (n & 1) + 2 * (m >> 3)


# Data


def random_codes(rng, name, shape):
    """Any code in odd warps. In even ones finite elements, and scales whose sums stay in f32."""
    row = blockscale.FORMATS[FORMATS[name]]
    codes = rng.integers(0, 1 << row.bits, shape, np.uint8)
    allowed = np.arange(1 << row.bits, dtype=np.uint8)
    allowed = allowed[np.isfinite(blockscale.decode(allowed, row.name))]
    if name == "ue8m0":
        allowed = np.arange(117, 138, dtype=np.uint8)
    codes[::2] = rng.choice(allowed, codes[::2].shape)
    return codes


def reference(instruction, a, a_scale, b, b_scale, c, places):
    """c plus products by ascending k, in float64, rounded once. B and its scales are transposed.

    `places` are the indices along K of the elements of A in each row.
    """
    def scaled(name, codes, scales):
        return blockscale.decode(codes, FORMATS[name]) * blockscale.decode(scales, FORMATS[instruction.scale])

    with np.errstate(all="ignore"):
        rows = scaled(instruction.a, a, np.take_along_axis(a_scale, places // instruction.block, -1))
        columns = scaled(instruction.b, b, b_scale.repeat(instruction.block, axis=-1))
        sums = c.astype(np.float64)
        for i in range(instruction.kept_k):
            # Each row has columns of its own: (warps, rows, columns).
            beside = np.take_along_axis(columns, places[:, None, :, i], -1).swapaxes(1, 2)
            sums = sums + rows[:, :, None, i] * beside
        return sums.astype(np.float32)


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=str)
def test_instruction(functions, instruction):
    """Every combination of selectors, in two warps each."""
    rng = np.random.default_rng(INSTRUCTIONS.index(instruction))
    of_byte = BYTES[instruction.scale_vec]
    selectors = list(product(of_byte, A_THREADS, of_byte, B_THREADS))
    selectors = np.array(selectors).repeat(2, axis=0).T
    a_byte, a_thread, b_byte, b_thread = selectors
    warps = len(a_byte)
    a = random_codes(rng, instruction.a, (warps, M, instruction.kept_k))
    b = random_codes(rng, instruction.b, (warps, N, instruction.k))
    a_scale = random_codes(rng, instruction.scale, (warps, M, instruction.scale_vec))
    b_scale = random_codes(rng, instruction.scale, (warps, N, instruction.scale_vec))
    c = np.float32(rng.standard_normal((warps, M, N)) * 1000)

    metadata = []
    places = np.broadcast_to(np.arange(instruction.k), (warps, M, instruction.k))
    if instruction.sparsity:
        fields = rng.choice(np.array(FIELDS, np.uint8), (warps, M, 16))
        metadata, places = [metadata_register(fields)], logical(instruction, fields)

    lane, register = sum_positions()
    c_registers = np.empty((lanes.LANES, warps, 4), np.float32)
    c_registers[lane, :, register] = np.moveaxis(c, 0, -1)
    [d_registers] = lanes.call(
        functions[f"emulated_mma_{instruction}"],
        [
            fragment(rng, instruction, instruction.a, a, 4),
            fragment(rng, instruction, instruction.b, b, 4 if instruction.sparsity else 2),
            c_registers,
            *metadata,
            scale_register(rng, a_scale, a_scale_lane, a_byte, a_thread),
            *selectors[:2].astype(np.uint32),
            scale_register(rng, b_scale, b_scale_lane, b_byte, b_thread),
            *selectors[2:].astype(np.uint32),
        ],
    )
    result = np.moveaxis(d_registers[lane, :, register], -1, 0)
    expected = reference(instruction, a, a_scale, b, b_scale, c, places)
    assert np.isfinite(expected[::2]).all()
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    is_number = ~np.isnan(expected)
    np.testing.assert_array_equal(
        result[is_number].view(np.uint32), expected[is_number].view(np.uint32)
    )
