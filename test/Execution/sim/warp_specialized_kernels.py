"""Small kernels of the path tcgen05 whose stages and accumulators come round several times, to be
changed in their PTX: compiled once, launched again and again.
"""

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import blockscale
import gpu_bundle
import matmul_cases
import numpy as np
import sparse_cases
import warp_specialized_cases
from gpu_cases import NVFP4
from matmul_cases import Problem
from warp_specialized_cases import E4M3, MIXED
from simulated import SIMULATOR

# Scales 32x4x4, x as K x M, y as N x K, no batch.
BY_MAPS = (True, False, True, False)
ROW_MAJOR = (False, False, True, False)
BY_WARPS = (True, False, False, False)
# Five tiles in one block, so that both accumulators come round and the last tile is alone, and five
# steps along K in two stages, the last one cut. K of NVFP4 ends inside of an instruction, too; its M is
# whole, for rows of padding are scales with a sign bit, which the simulator warns of.
PIPELINE = "stages=2,accumulators=2,persistent=1"
KERNELS = {
    "mxfp8": (E4M3, (610, 16, 576), BY_MAPS, f"tile=128x16x128,{PIPELINE}"),
    "nvfp4": (NVFP4, (640, 16, 1248), BY_MAPS, f"tile=128x16x256,{PIPELINE}"),
    "warps": (MIXED, (610, 16, 576), BY_WARPS, f"tile=128x16x128,{PIPELINE}"),
    # Rows of 600 bytes, which warps copy.
    "copies": (NVFP4, (640, 16, 1200), BY_MAPS, f"tile=128x16x256,{PIPELINE}"),
    "row-major": (E4M3, (610, 16, 576), ROW_MAJOR, f"tile=128x16x128,{PIPELINE}"),
    # Tiles along N, which start in the middle of an atom of scales; x along M, y along N.
    "wide": (E4M3, (112, 960, 320), (True, True, False, False), f"tile=128x192x128,{PIPELINE}"),
    # Accumulators that share columns.
    "shared": (E4M3, (610, 256, 320), BY_MAPS, f"tile=128x256x128,{PIPELINE}"),
    # Columns of the result are rows of A.
    "swap_ab": (E4M3, (16, 610, 576), BY_MAPS, f"tile=128x16x128,{PIPELINE},swap_ab=1"),
    # Pairs of blocks, of which the last one lacks rows; K ends inside of an instruction.
    "two-cta": (NVFP4, (1152, 64, 1248), BY_MAPS, f"tile=128x64x256,{PIPELINE},cluster=2x1,two_cta=1"),
    # The same with stages that warps fill.
    "two-cta-warps": (MIXED, (1130, 32, 576), BY_WARPS, f"tile=128x32x128,{PIPELINE},cluster=2x1,two_cta=1"),
    # Blocks that load for each other.
    "cluster": (E4M3, (1150, 128, 576), BY_MAPS, f"tile=128x64x128,{PIPELINE},cluster=2x2"),
    # Six parts of three tiles, which a second kernel adds.
    "split_k": (E4M3, (300, 16, 832), BY_MAPS, f"tile=128x16x128,{PIPELINE},split_k=2"),
}
# A sparse x, with metadata in rows and in atoms of a kernel in front.
SPARSE = {
    "sparse": ((("f8E4M3FN", "f8E5M2", "f8E8M0FNU"), 64, "2:4"), (640, 16, 1280), f"tile=128x16x256,{PIPELINE}"),
    "sparse-atoms": ((("f8E5M2", "f8E4M3FN", "f8E8M0FNU"), 64, "2:4"), (610, 16, 1216), f"tile=128x16x256,{PIPELINE}"),
}
# The same without scales: a stage is both operands.
PRODUCTS = {
    "bf16": Problem("bf16", 610, 16, 312, y_order="transposed", schedule=(128, 16, 2, 1, 8, 1, "", 2)),
    # Pairs of blocks, and operands along M and N.
    "two-cta-f16": Problem("f16", 1160, 32, 312, "transposed", acc="argument",
                           schedule=(128, 32, 2, 1, 8, 1, "2x1", 2, 0, 1)),
}
# Some hundred times what they need.
STEPS = 1_000_000
TIMEOUT_S = 120


class Pipeline(NamedTuple):
    """A compiled kernel with its data in `folder`."""

    name: str
    folder: Path
    text: str
    arguments: list
    expected: np.ndarray

    def shows(self, text, seeds):
        """What the first of the seeds shows that shows anything: an error, a warning or wrong sums."""
        program = self.folder / "changed.ptx"
        program.write_text(text)
        for seed in seeds:
            done = subprocess.run(
                [SIMULATOR, program, *self.arguments, f"--seed={seed}"],
                capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
            )
            assert done.returncode in (0, 1), f"exit code {done.returncode}"
            if done.returncode or done.stderr:
                return f"seed {seed}: {done.stderr.splitlines()[0]}"
            if not np.array_equal(np.load(self.folder / "out.npy"), self.expected):
                return f"seed {seed}: wrong sums"
        return None


def build(name, folder):
    if name in PRODUCTS:
        case = matmul_cases.case(name, [PRODUCTS[name]])
        return prepare(case, folder, "sm_100a", case.expectations[0].expected)
    if name in SPARSE:
        return build_sparse(name, folder)
    row, sizes, layout, schedule = KERNELS[name]
    problems = [(*sizes, layout, ())]
    case = warp_specialized_cases.case(name, row, problems, (f"--schedule={schedule}",), "wide")
    [expectation] = case.expectations
    expected = blockscale.mma_scaled(*expectation.operands, **row.types)
    return prepare(case, folder, "sm_100a", expected)


def forget_digest(info):
    """Lets a launch info be of any code: what is changed in that has to show in another way."""
    fields = json.loads(info.read_text())
    del fields["digest"]
    info.write_text(json.dumps(fields))


def prepare(case, folder, chip, expected):
    """The one kernel, or two, of a case with one result."""
    gpu_bundle.write_case(case, folder, [f"--target={chip}", "--native-only"])
    buffers, [(dtype, shape, _)] = gpu_bundle.describe(case.program, case.expectations)
    return make_pipeline(case.name, folder, buffers, dtype, shape, expected)


def make_pipeline(name, folder, buffers, dtype, shape, expected):
    """The pipeline whose code and launch info are in `folder`."""
    info = folder / f"{name}.json"
    # As on a card with one SM: one block, or one cluster.
    info.write_text(info.read_text().replace('{"multiprocessors":1}', "1"))
    forget_digest(info)
    arguments = [f"--launch-info={info}", "--check=race,proxy,strict", f"--max-steps={STEPS}"]
    for i, buffer in enumerate(buffers):
        np.save(folder / f"in{i}.npy", buffer)
        arguments.append(f"in:{folder / f'in{i}.npy'}")
    arguments.append(f"out:{folder / 'out.npy'}:{dtype}:{'x'.join(map(str, shape))}")
    text = (folder / f"{name}.ptx").read_text()
    return Pipeline(name, folder, text, arguments, expected)


def build_sparse(name, folder):
    row, sizes, schedule = SPARSE[name]
    # Data whose blocks in a stage all have other scales.
    data = next(
        data for data in (sparse_cases.product_data(*row, *sizes, seed) for seed in range(100))
        if all(len({*column[:4]}) == 4 for column in (*data[2][:1], *data[4].T[:1]))
    )
    source = folder / f"{name}.mlir"
    # Without the kernel that looks for illegal fields; y is N x K, so that K of a stage is two columns.
    y = 3
    text = sparse_cases.product_program([array.shape for array in data], *row, transposed=(y,))
    source.write_text(text.replace("granularity =", "legal_metadata, granularity ="))
    command = [
        SIMULATOR.parent / "blockscale-compile", source, "--target=sm_100a", "--native-only", f"--schedule={schedule}",
        f"--launch-info={folder / f'{name}.json'}", "-o", folder / f"{name}.ptx",
    ]
    subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=True)
    (x_type, y_type, scale_type), block_size, granularity = row
    expected = blockscale.sparse_mma_scaled(
        *data, x_type=x_type, y_type=y_type, scale_type=scale_type, granularity=granularity, block_size=block_size
    )
    data[y] = np.ascontiguousarray(data[y].T)
    return make_pipeline(name, folder, data, "f4", expected.shape, expected)


def get_n(name):
    """N of the instructions."""
    schedule = SPARSE[name][2] if name in SPARSE else KERNELS[name][3]
    return int(schedule.split("x")[1])
