"""All cases as kernels for sm_120a, with its instructions."""

import gpu_bundle
import pytest
import tiers
from simulated import check, features


@pytest.mark.parametrize("case", tiers.cover(gpu_bundle.select(""), features), ids=lambda case: case.name)
def test_native(case, tmp_path):
    """The whole product of rows and layouts is `full`."""
    check(case, tmp_path, ["--target=sm_120a"])
