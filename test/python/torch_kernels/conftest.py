"""Where the bundles of blockscale.torch and the simulator are."""

import os
import sys
from pathlib import Path

import pytest
from kernel_cases import Simulated

REPO = Path(__file__).resolve().parents[3]
# Have the module `tiers`, and what writes the programs of bundles.
sys.path += [str(REPO / "test" / "Execution"), str(REPO / "python" / "blockscale" / "torch")]
BUILD = Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
BUNDLE = Path(
    os.environ.get("BLOCKSCALE_TORCH_BUNDLE", BUILD / "python" / "blockscale" / "torch" / "kernels.bundle")
).resolve()


@pytest.fixture(scope="session")
def bundle_path():
    if not BUNDLE.exists():
        pytest.skip("needs kernels.bundle, target blockscale-torch-kernels")
    return BUNDLE


@pytest.fixture(scope="session")
def sparse_bundle_path():
    path = BUNDLE.with_name("sparse.bundle")
    if not path.exists():
        pytest.skip("needs sparse.bundle, target blockscale-torch-sparse-kernels")
    return path


@pytest.fixture(scope="session")
def moe_bundle_path():
    path = BUNDLE.with_name("moe.bundle")
    if not path.exists():
        pytest.skip("needs moe.bundle, target blockscale-torch-moe-kernels")
    return path


@pytest.fixture(scope="session")
def fp8_bundle_path():
    path = BUNDLE.with_name("fp8.bundle")
    if not path.exists():
        pytest.skip("needs fp8.bundle, target blockscale-torch-fp8-kernels")
    return path


@pytest.fixture(scope="session")
def build():
    return BUILD


def simulate(bundle, folder):
    program = BUILD / "bin" / "blockscale-sim"
    if not program.exists():
        pytest.skip("needs blockscale-sim")
    return Simulated(program, bundle, folder)


@pytest.fixture
def run(bundle_path, tmp_path):
    return simulate(bundle_path, tmp_path)


@pytest.fixture
def run_sparse(sparse_bundle_path, tmp_path):
    return simulate(sparse_bundle_path, tmp_path)


@pytest.fixture
def run_fp8(fp8_bundle_path, tmp_path):
    return simulate(fp8_bundle_path, tmp_path)


@pytest.fixture
def run_moe(moe_bundle_path, tmp_path):
    return simulate(moe_bundle_path, tmp_path)
