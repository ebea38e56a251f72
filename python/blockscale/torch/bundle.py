"""Finds kernels.bundle, and other bundles beside it, and their functions.

An installed package has it beside this module, a checkout in its build tree. BLOCKSCALE_TORCH_BUNDLE names another
one.
"""

import functools
import os
from pathlib import Path

from .. import runtime

NAME = "kernels.bundle"
# Of sparse weights, of mixtures of experts, and of fp8_block, fp8_row and licences to rebase. Not part of the first one,
# which most users need alone.
SPARSE_NAME = "sparse.bundle"
MOE_NAME = "moe.bundle"
FP8_NAME = "fp8.bundle"
# What each is for, and the target that makes it.
BUNDLES = {
    NAME: ("", "blockscale-torch-kernels"),
    SPARSE_NAME: (" for sparse weights", "blockscale-torch-sparse-kernels"),
    MOE_NAME: (" for mixtures of experts", "blockscale-torch-moe-kernels"),
    FP8_NAME: (" for fp8_block, fp8_row and rebase", "blockscale-torch-fp8-kernels"),
}
VARIABLE = "BLOCKSCALE_TORCH_BUNDLE"
HERE = Path(__file__).resolve().parent


def candidates(name=NAME):
    """The paths at which a bundle may be, best first."""
    named = os.environ.get(VARIABLE)
    if named:
        return [Path(named) if name == NAME else Path(named).with_name(name)]
    paths = [HERE / name]
    if HERE.parents[1].name == "python":  # a checkout
        paths.append(HERE.parents[2] / "build" / "python" / "blockscale" / "torch" / name)
    return paths


def find(name=NAME):
    """The path of a bundle. Raises FileNotFoundError."""
    paths = candidates(name)
    for path in paths:
        if path.is_file():
            return path
    purpose, target = BUNDLES[name]
    raise FileNotFoundError(
        f"blockscale.torch: expected its kernels{purpose} at {' or '.join(map(str, paths))}, found none: build the "
        f"target {target}, or name {'the file' if name == NAME else f'{NAME} in the same folder'} by {VARIABLE}"
    )


@functools.lru_cache(maxsize=None)
def load(name=NAME):
    return runtime.load(find(name))


@functools.lru_cache(maxsize=None)
def function(name, of=NAME):
    """A function of the bundle `of`, as a `blockscale.runtime.Kernel`."""
    return load(of)[name]
