"""Finds kernels.bundle and its functions.

An installed package has it beside this module, a checkout in its build tree. BLOCKSCALE_TORCH_BUNDLE names another
one.
"""

import functools
import os
from pathlib import Path

from .. import runtime

NAME = "kernels.bundle"
VARIABLE = "BLOCKSCALE_TORCH_BUNDLE"
HERE = Path(__file__).resolve().parent


def candidates():
    """The paths at which a bundle may be, best first."""
    named = os.environ.get(VARIABLE)
    if named:
        return [Path(named)]
    paths = [HERE / NAME]
    if HERE.parents[1].name == "python":  # a checkout
        paths.append(HERE.parents[2] / "build" / "python" / "blockscale" / "torch" / NAME)
    return paths


def find():
    """The path of the bundle. Raises FileNotFoundError."""
    paths = candidates()
    for path in paths:
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"blockscale.torch: expected its kernels at {' or '.join(map(str, paths))}, found none: build the target "
        f"blockscale-torch-kernels, or name the file by {VARIABLE}"
    )


@functools.lru_cache(maxsize=None)
def load():
    return runtime.load(find())


@functools.lru_cache(maxsize=None)
def function(name):
    """A function of the bundle, as a `blockscale.runtime.Kernel`."""
    return load()[name]
