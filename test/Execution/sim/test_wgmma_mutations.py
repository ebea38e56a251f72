"""One line that synchronises is left out of the PTX of a kernel of the path wgmma at a time: an error, a
warning or wrong sums must show it, under some of eight seeds.
"""

import matmul_cases
import pytest
import warp_specialized_kernels
import tiers
from matmul_cases import Problem
from warp_specialized_mutants import is_among, try_removals

SEEDS = range(8)
# For what chance has no part in.
FEW_SEEDS = range(2)

# Five tiles in one block and five steps along K in two stages, the last one cut.
SIZES = (610, 16, 312)
KERNELS = {
    # Two warpgroups, 64 rows each.
    "two": Problem("bf16", *SIZES, y_order="transposed", schedule=(128, 16, 2, 1, 8, 1)),
    # Blocks that share tiles of y; five tiles along M are three of two blocks.
    "rows": Problem("bf16", *SIZES, y_order="transposed", schedule=(128, 16, 2, 1, 8, 1, "2x1")),
    # One, and operands along M and N.
    "along": Problem("f16", 312, 16, 304, x_order="transposed", acc="argument", schedule=(64, 16, 2, 1, 8, 1)),
    # Two products of each warpgroup are under way at once.
    "parts": Problem("bf16", *SIZES, y_order="transposed", schedule=(256, 16, 2, 1, 8, 1)),
    # Parts of K, which a second kernel adds.
    "split_k": Problem("bf16", 300, 16, 600, y_order="transposed", schedule=(128, 16, 2, 1, 8, 2)),
    # Blocks that share tiles of x, and of both.
    "columns": Problem("bf16", 300, 56, 312, y_order="transposed", schedule=(128, 16, 2, 1, 8, 1, "1x2")),
    "both": Problem("f16", 312, 56, 304, x_order="transposed", schedule=(64, 16, 2, 1, 8, 1, "2x2")),
    # What is brought is copied first, by a kernel in front.
    "copied": Problem("bf16", 300, 16, 300, y_order="transposed", schedule=(128, 16, 2, 1, 8, 1)),
}

# Lines all of which may be missing unnoticed, by the start of their names, and why.
NEEDLESS = {
    "fence.mbarrier_init > cluster": "the barrier of the cluster behind it makes mbarrier objects known, too",
    "wgmma.commit_group > wgmma.fence": "products of the first part are in the group of the second then, and one wait "
    "is for both",
}
# The same of some lines of a name.
SOMETIMES = {
    "wgmma.fence": "between products of one shape that follow each other the sums need none, which is so but in the "
    "first step of a tile",
}


@pytest.fixture(scope="module", params=tiers.first(list(KERNELS), 2))
def pipeline(request, tmp_path_factory):
    case = matmul_cases.case(request.param, [KERNELS[request.param]])
    [expectation] = case.expectations
    return warp_specialized_kernels.prepare(case, tmp_path_factory.mktemp(case.name), "sm_90a", expectation.expected)


def test_correct(pipeline):
    assert pipeline.shows(pipeline.text, SEEDS) is None


def test_each_line_is_needed(pipeline):
    unnoticed, noticed = try_removals(pipeline, pipeline.text, SEEDS, FEW_SEEDS, {**NEEDLESS, **SOMETIMES})
    names = unnoticed | noticed
    kinds = {name.split(" > ")[0] for name in names}
    assert kinds >= {"wait", "expect_tx", "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group"}
    inside, around = {"arrive", "bar.sync"}, {"arrive at all", "cluster arrive", "cluster wait"}
    assert kinds & (inside | around) == (around if "cluster wait" in kinds else inside)
    assert unnoticed - noticed == {name for name in names if is_among(name, NEEDLESS)}
    assert unnoticed & noticed == {name for name in names if is_among(name, SOMETIMES)}
