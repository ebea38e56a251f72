"""One line that synchronises is left out of the PTX of a kernel for mma.sync whose stages bulk copies fill, at a
time: an error, a warning or wrong sums must show it, under some of eight seeds.
"""

import blockscale
import pytest
import warp_specialized_cases
import warp_specialized_kernels
import tiers
from gpu_cases import NVFP4
from warp_specialized_cases import E4M3, MIXED
from warp_specialized_kernels import BY_MAPS, BY_WARPS, ROW_MAJOR
from warp_specialized_mutants import is_among, try_removals
from test_wgmma_mutations import FEW_SEEDS, SEEDS

# Several tiles in one block, and five steps along K in two stages; K ends inside of a word of scales.
PIPELINE = "stages=2,accumulators=1,persistent=1"
KERNELS = {
    "mxfp8": (E4M3, (200, 64, 576), BY_MAPS, f"tile=64x64x128,{PIPELINE}"),
    # Elements that TMA cannot copy.
    "warps": (MIXED, (200, 64, 576), BY_WARPS, f"tile=64x64x128,{PIPELINE}"),
    "nvfp4": (NVFP4, (256, 64, 1248), BY_MAPS, f"tile=64x64x256,{PIPELINE}"),
    # A kernel in front, whose result the copies bring.
    "row-major": (E4M3, (200, 64, 576), ROW_MAJOR, f"tile=64x64x128,{PIPELINE}"),
    "split_k": (E4M3, (128, 64, 1088), BY_MAPS, f"tile=64x64x128,{PIPELINE},split_k=2"),
}

# Lines that may be missing unnoticed, by the start of their names, and why.
NEEDLESS = {
    "bar.warp.sync": "lanes of a warp load at the same time here; the memory model does not promise that",
}


@pytest.fixture(scope="module", params=tiers.first(list(KERNELS), 2))
def pipeline(request, tmp_path_factory):
    row, sizes, layout, schedule = KERNELS[request.param]
    name = f"mma-sync-specialized-{request.param}"
    case = warp_specialized_cases.case(name, row, [(*sizes, layout, ())], (f"--schedule={schedule}",), "wide")
    [expectation] = case.expectations
    expected = blockscale.mma_scaled(*expectation.operands, **row.types)
    return warp_specialized_kernels.prepare(case, tmp_path_factory.mktemp(name), "sm_120a", expected)


def test_correct(pipeline):
    assert pipeline.shows(pipeline.text, SEEDS) is None


def test_each_line_is_needed(pipeline):
    unnoticed, noticed = try_removals(pipeline, pipeline.text, SEEDS, FEW_SEEDS, NEEDLESS)
    names = unnoticed | noticed
    kinds = {name.split(" > ")[0] for name in names}
    assert kinds >= {"wait", "expect_tx", "arrive", "bar.sync", "bar.warp.sync"}
    assert unnoticed == {name for name in names if is_among(name, NEEDLESS)}
    assert not unnoticed & noticed
