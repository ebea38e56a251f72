"""Each line that synchronises is left out in turn: some order of warps must show it.

A run shows it when it fails, warns, or gives a wrong result.
"""

from functools import partial
from typing import Callable, NamedTuple

import mma_data
import mma_launch
import numpy as np
import pytest
import tiers
from gemm_kernel import Gemm
from mma_cases import mxf8f6f4, nvf4
from mma_kernels import kernel
from mma_plan import make_plan
from sync_lines import SEEDS, removals


# Lines that may be missing unnoticed, and why.
EXCEPTIONS = {
    "fence.mbarrier_init": "the barrier that follows orders the object's initialisation, too",
    "fence before setup": "no asynchronous tcgen05 instruction comes before it",
    "fence after setup": "no asynchronous tcgen05 instruction comes before the barrier",
    "wait::ld": "one behind it, before the columns are given back, waits for both loads",
}


class Base(NamedTuple):
    """A correct kernel. `launch(folder, text, flags)` gives (exit code, result, messages)."""

    text: str
    launch: Callable
    expected: np.ndarray


def tile(config):
    data = mma_data.exact(config)
    plan = make_plan(config, data)

    def launch(folder, text, flags):
        return mma_launch.launch_text(folder, plan, text, flags)

    return Base(kernel(plan), launch, mma_data.expected(config, data))


def stages():
    gemm = Gemm(128, 128, 640)
    return Base(gemm.text, gemm.launch, gemm.expected)


BASES = {
    "copied-scales": partial(tile, mxf8f6f4(n=64)),
    "stored-scales": partial(tile, nvf4(n=64, a_memory="tensor", scales_by="st")),
    "pair": partial(tile, mxf8f6f4(n=64, m=256, ctas=2, scales_by="st")),
    "stages": stages,
    "copied-metadata": partial(tile, mxf8f6f4(n=64, sparse=True)),
    "stored-metadata": partial(tile, nvf4(n=64, scales_by="st", sparse=True)),
}


def shows(folder, base, text):
    """Whether a run with some seed fails, warns, or is wrong."""
    for seed in SEEDS:
        flags = [f"--seed={seed}", "--check=proxy", "--max-steps=1000000"]
        code, result, messages = base.launch(folder, text, flags)
        if code or messages or not np.array_equal(result, base.expected):
            return True
    return False


@pytest.mark.parametrize("name", tiers.first(BASES, 1))
def test_each_line_is_needed(name, tmp_path):
    base = BASES[name]()
    assert not shows(tmp_path, base, base.text)
    unnoticed = {line for line, text in removals(base.text) if not shows(tmp_path, base, text)}
    assert unnoticed <= EXCEPTIONS.keys()
