"""One line or one term of a kernel of the path tcgen05 at a time is changed in its PTX: an error, a
warning or wrong sums must show it, under some of eight seeds.
"""

import pytest
import warp_specialized_kernels
import tiers
from warp_specialized_flips import flips, with_registers
from warp_specialized_mutants import removals

SEEDS = range(8)
# For what chance has no part in, and for exceptions.
FEW_SEEDS = range(2)

# Lines that may be missing unnoticed, and why.
NEEDLESS = {
    "fence.mbarrier_init > cluster arrive > cluster wait": "the barrier of the cluster behind it makes mbarrier objects "
    "known, too",
    "before > bar.sync > address": "no asynchronous tcgen05 instruction comes before it",
    "after > address": "no asynchronous tcgen05 instruction comes before the barrier",
    "after > dealloc": "dealloc is not asynchronous",
    "before > cluster arrive > cluster wait": "the same of the first barrier and of the last one in clusters",
    "before > bar.sync > dealloc": "each warp has executed one behind its last load, for the arrival",
    "after > wait > cp": "each wait for a stage has a fence behind it, too",
    "after > wait > ld.shared": "the same, where the only stage is one that K ends in",
    "after > wait > mma": "the same without scales",
    "after > mma > mma": "without scales, no stage has anything in tensor memory, and the wait for the accumulator has a "
    "fence behind it, too",
}
OF_SHARED = {
    "after > cp > cp": "who waits for the sums has waited for all earlier copies of scales",
}
OF_CLUSTER = {
    "fence.mbarrier_init > alloc > before": "the barrier of the cluster, which comes later, makes mbarrier objects known, "
    "too",
}
# There, arrivals come before the last columns have been read.
NEEDED_BY_SHARED = {"before > bar.sync > dealloc"}

# Terms that may have another value, and why.
FREE = {
    "cp leading": "one unit of 16 bytes makes a row of 32x128b",
    "cp base offset": "there is no swizzle",
    "mma a leading": "not used by a K-major matrix with a swizzle, nor by rows that are one column",
    "mma b leading": "not used by a K-major matrix with a swizzle",
}
# There, B is in several columns.
USED_IN_WIDE = {"mma b leading"}


@pytest.fixture(scope="module", params=[
    name if name in ("mxfp8", "bf16", "sparse") else tiers.full(name)
    for name in (*warp_specialized_kernels.KERNELS, *warp_specialized_kernels.PRODUCTS, *warp_specialized_kernels.SPARSE)
])
def pipeline(request, tmp_path_factory):
    return warp_specialized_kernels.build(request.param, tmp_path_factory.mktemp(request.param))


def needless(pipeline):
    if pipeline.name == "shared":
        return set(NEEDLESS | OF_SHARED) - NEEDED_BY_SHARED
    return set(NEEDLESS | OF_CLUSTER if pipeline.name == "cluster" else NEEDLESS)


def test_correct(pipeline):
    assert pipeline.shows(pipeline.text, SEEDS) is None


def first_and_last(changes):
    """Of changes with the same name, which are those of unrolled loops and of both accumulators."""
    ends = {}
    for change in changes:
        ends.setdefault(change.name, []).append(change)
    return [change for all_of in ends.values() for change in all_of[:1] + all_of[1:][-1:]]


def test_each_line_is_needed(pipeline, request):
    """Without --exhaustive, of lines with the same name the first and the last one."""
    changes, unnoticed, names = list(removals(pipeline.text)), set(), set()
    for change in changes if request.config.getoption("--exhaustive") else first_and_last(changes):
        names.add(change.name)
        seeds = FEW_SEEDS if change.name in NEEDLESS else SEEDS
        if pipeline.shows(change.text, seeds) is None:
            unnoticed.add(change.name)
    assert unnoticed == needless(pipeline) & names


def term(change):
    """The instruction and the term, without what follows."""
    what, name = change.name.split(": ")
    return f"{what.split(' > ')[0]} {name}"


# Pipelines whose operands differ; the others have the same instructions.
@pytest.mark.parametrize("pipeline", [
    name if name in ("mxfp8", "sparse") else tiers.full(name)
    for name in ("mxfp8", "nvfp4", "warps", "wide", "two-cta", "sparse")
], indirect=True)
def test_each_term_matters(pipeline, request):
    """Without --full, few of the terms; without --exhaustive, some."""
    lines = pipeline.text.split("\n")
    last = max(i for i, line in enumerate(lines) if "tcgen05.mma" in line)
    assert pipeline.shows(with_registers(lines, last, [lines[last]]), FEW_SEEDS) is None
    n = warp_specialized_kernels.get_n(pipeline.name)
    changes = list(flips(pipeline.text, n))
    if not request.config.getoption("--full"):
        changes = changes[::10]
    elif not request.config.getoption("--exhaustive"):
        changes = changes[:: 2 if pipeline.name == "mxfp8" else 4]
    unnoticed = {term(change) for change in changes if pipeline.shows(change.text, FEW_SEEDS) is None}
    free = set(FREE) - (USED_IN_WIDE if pipeline.name == "wide" else set())
    assert unnoticed == free & {term(change) for change in changes}
