"""blockscale.torch on a card. Without torch, a card or kernels.bundle, everything here is skipped.

Runs on a machine without LLVM: carry python/, test/python/ and kernels.bundle, and name the latter by
BLOCKSCALE_TORCH_BUNDLE:

    BLOCKSCALE_TORCH_BUNDLE=... python3 -m pytest -c test/pytest.ini -rs test/python/torch_card
"""

import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPO / "python"))
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()


def missing():
    """What there is not; None if all is there."""
    try:
        import torch
    except ImportError:
        return "torch"
    if not torch.cuda.is_available():
        return "a CUDA card"
    os.environ.setdefault(
        "BLOCKSCALE_TORCH_BUNDLE", str(BUILD / "python" / "blockscale" / "torch" / "kernels.bundle")
    )
    if not Path(os.environ["BLOCKSCALE_TORCH_BUNDLE"]).is_file():
        return "kernels.bundle, target blockscale-torch-kernels"
    return None


MISSING = missing()


def pytest_collection_modifyitems(items):
    """Tests import what they need inside, so that they can be collected anywhere."""
    if MISSING:
        here = Path(__file__).resolve().parent
        for item in items:
            if here in Path(str(item.fspath)).resolve().parents:
                item.add_marker(pytest.mark.skip(reason=f"needs {MISSING}"))


@pytest.fixture(autouse=True)
def no_gradients():
    import torch

    with torch.no_grad():
        yield
    torch.cuda.synchronize()
