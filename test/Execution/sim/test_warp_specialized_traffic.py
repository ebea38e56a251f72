"""What a kernel of the path tcgen05 moves, and what it does at the same time, as the simulator counts
and orders it: each operand byte of a tile comes once, past registers, and the sums of a tile are
stored while the next one is multiplied.
"""

import json
import re
from collections import Counter
from itertools import groupby

import gpu_bundle
import pytest
import warp_specialized_cases
import tiers
from gpu_cases import NVFP4
from harness import Combination
from simulated import SIMULATOR

MXFP8 = Combination("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32)
BITS = {MXFP8: 8, NVFP4: 4}
TILE_M, TILE_N = 128, 256
# Blocks of the simulator's card; at least four tiles for each.
BLOCKS = 4
# Scales 32x4x4, x as M x K, y as N x K: all that bulk copies bring.
LAYOUT = (True, False, True, False)
SIZES = ((512, 1024, 512), tiers.full((1024, 1024, 2048)))
# Copies and products complete early in most blocks; with seed 0, at the last moment.
SEED = "--seed=2"


class Run:
    """A case that has run with right results: its PTX, statistics and order of events."""

    def __init__(self, row, sizes, folder, accumulators=2):
        tile_k = 128 * 8 // BITS[row]
        flags = (f"--schedule=tile={TILE_M}x{TILE_N}x{tile_k},stages=4,"
                 f"accumulators={accumulators},persistent=1",)
        case = warp_specialized_cases.case("traffic", row, [(*sizes, LAYOUT, ())], flags, kind="wide")
        stats, order = folder / "stats.json", folder / "order"
        gpu_bundle.write_case(case, folder, ["--target=sm_100a", "--native-only"])
        gpu_bundle.check_case(
            case, folder, SIMULATOR, [f"--stats={stats}", f"--order={order}", SEED]
        )
        self.lines = (folder / "traffic.ptx").read_text().split("\n")
        [self.stats] = json.loads(stats.read_text())["kernels"]
        self.events = [self.event(line) for line in order.read_text().splitlines()]

    def opcode(self, number):
        """That of a line, without guard and types."""
        opcode = re.match(r"\s*(?:@!?%p\d+\s+)?(\S+)", self.lines[number - 1])[1]
        return re.match(r"(tcgen05\.\w+|cp\.async\.bulk|\w+\.(?:global|shared)|\w+)", opcode)[1]

    def event(self, line):
        """(block, opcode)."""
        block, _, number = line.split(" ")
        return block, self.opcode(int(number))

    def get_bytes(self, space):
        """Of each opcode and kind of access."""
        counts = Counter()
        for line in self.stats["lines"]:
            if line["space"] == space:
                counts[self.opcode(line["line"]), line["kind"]] += line["bytes"]
        return counts


@pytest.fixture(scope="module", params=[
    pytest.param((row, getattr(sizes, "values", (sizes,))[0]), marks=getattr(sizes, "marks", ()))
    for row in (MXFP8, NVFP4) for sizes in SIZES
], ids=lambda param: f"{param[0]}-{'x'.join(map(str, param[1]))}")
def run(request, tmp_path_factory):
    row, sizes = request.param
    return row, sizes, Run(row, sizes, tmp_path_factory.mktemp("traffic"))


def test_each_byte_comes_once(run):
    row, (m, n, k), result = run
    tiles = (m // TILE_M) * (n // TILE_N)
    assert result.stats["grid"] == [BLOCKS, 1, 1] and tiles >= 4 * BLOCKS
    elements = (TILE_M + TILE_N) * k * BITS[row] // 8
    scales = (TILE_M + TILE_N) * k // row.block
    # The accumulator starts from C, f32.
    sums = TILE_M * TILE_N * 4
    assert result.get_bytes("global") == {
        ("cp.async.bulk", "load"): tiles * (elements + scales),
        ("ld.global", "load"): tiles * sums,
        ("st.global", "store"): tiles * sums,
    }


def test_no_operand_goes_through_registers(run):
    row, (m, n, k), result = run
    text = "\n".join(result.lines)
    for opcode in ("st.shared", "ld.shared.v", "cp.async.ca", "cp.async.cg", "tcgen05.st"):
        assert opcode not in text
    # What is left is the address of tensor memory, and the making of mbarrier objects.
    assert all(opcode in ("ld.shared", "mbarrier", "tcgen05.alloc")
               for opcode, _ in result.get_bytes("shared"))
    assert result.stats["bytes"]["tensor_map_loads"] == result.get_bytes("global")["cp.async.bulk", "load"]
    assert "tensor_stores" not in result.stats["bytes"]


def count_overlaps(opcodes, mmas):
    """(in how many tiles of a block the first of `mmas` multiplications comes before the sums of the
    tile before have all been read, how many tiles have one before)."""
    starts = [i for i, opcode in enumerate(opcodes) if opcode == "tcgen05.mma"][::mmas]
    reads = [i for i, opcode in enumerate(opcodes) if opcode == "tcgen05.ld"]
    of_tile = len(reads) // len(starts)
    ends = reads[of_tile - 1::of_tile]
    return sum(start < end for start, end in zip(starts[1:], ends)), len(starts) - 1


def count_all_overlaps(row, k, result):
    """The same of all blocks."""
    mmas = k // (32 if BITS[row] == 8 else 64)
    blocks = groupby(sorted(result.events, key=lambda event: event[0]), key=lambda event: event[0])
    counts = [count_overlaps([opcode for _, opcode in events], mmas) for _, events in blocks]
    return tuple(map(sum, zip(*counts)))


def test_sums_are_read_while_the_next_tile_is_multiplied(run):
    row, (_, _, k), result = run
    overlaps, most = count_all_overlaps(row, k, result)
    assert most >= 3 * BLOCKS
    assert overlaps > 0


def test_one_accumulator_has_no_overlap(tmp_path):
    result = Run(MXFP8, (512, 1024, 512), tmp_path, accumulators=1)
    assert count_all_overlaps(MXFP8, 512, result) == (0, 3 * BLOCKS)


@pytest.mark.parametrize("options, parts", [("swap_ab=1", 1), ("swap_ab=1,split_k=3", 3)])
def test_few_rows_move_whole_sectors(options, parts, tmp_path):
    """The transpose is stored without touching more than it has; a second kernel reads each part once."""
    m, n, k = 16, 256, 384
    schedule = f"--schedule=tile=128x64x128,stages=2,accumulators=2,persistent=1,{options}"
    case = warp_specialized_cases.case("few", MXFP8, [(m, n, k, LAYOUT, ())], (schedule,), kind="wide")
    stats = tmp_path / "stats.json"
    gpu_bundle.write_case(case, tmp_path, ["--target=sm_100a", "--native-only"])
    gpu_bundle.check_case(case, tmp_path, SIMULATOR, [f"--stats={stats}"])
    lines = (tmp_path / "few.ptx").read_text().split("\n")
    kernels = json.loads(stats.read_text())["kernels"]
    moved = []
    for kernel in kernels:
        counts = Counter()
        for line in kernel["lines"]:
            if re.search(r"(ld|st)\.global", lines[line["line"] - 1]):
                assert line["bytes"] == 32 * line["sectors"]
                counts[line["kind"]] += line["bytes"]
        moved.append(counts)
    sums = m * n * 4
    # C is read where sums are added to it.
    last = {"load": sums * (1 if parts == 1 else parts + 1), "store": sums}
    assert moved == [{"store": parts * sums}, last][parts == 1:]
