"""All cases as kernels for sm_120a, with its instructions."""

import gpu_bundle
import pytest
import tiers
from simulated import check, parts


@pytest.mark.parametrize("case", tiers.pairs(gpu_bundle.select(""), parts), ids=lambda case: case.name)
def test_native(case, tmp_path):
    """The whole product of rows and layouts is `exhaustive`."""
    check(case, tmp_path, ["--target=sm_120a"])
