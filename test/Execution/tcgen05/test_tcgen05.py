"""Every kind, type, shape and storage of tcgen05.mma in the simulator, against numpy."""

from dataclasses import fields

import mma_cases
import mma_data
import mma_launch
import numpy as np
import pytest
import tiers
from harness import COMBINATIONS, assert_bit_equal
from mma_cases import mxf4, mxf8f6f4, nvf4
from mma_data import SCALE_FORMATS
from mma_kernels import kernel
from mma_plan import make_plan
from operand_types import ELEMENTS

CONFIGS = mma_cases.all_configs()
RANDOM = [
    mxf8f6f4(n=64), mxf8f6f4(n=64, a_type="e2m3", b_type="e4m3"), nvf4(n=72), mxf4(n=64),
    mxf8f6f4(n=64, m=256, ctas=2, a_type="e3m2", b_type="e2m1"),
]


def features(config):
    """Each value of each field, and each row of types, also with a sparse A in one CTA and in two."""
    row = (config.kind, config.a_type, config.b_type, config.scale, config.block, config.sparse)
    shape = (config.kind, config.block, config.sparse, config.ctas)
    return [*((field.name, getattr(config, field.name)) for field in fields(config)), row, shape]


@pytest.mark.parametrize("config", tiers.cover(CONFIGS, features), ids=lambda config: config.label)
def test_exact(config, tmp_path):
    data = mma_data.exact(config)
    result = mma_launch.run(tmp_path, make_plan(config, data))
    assert_bit_equal(result, mma_data.expected(config, data))


@pytest.mark.parametrize("numerics", ["exact", "hardware"])
@pytest.mark.parametrize("config", RANDOM, ids=lambda config: config.label)
def test_random(config, numerics, tmp_path):
    data = mma_data.random(config)
    result = mma_launch.run(tmp_path, make_plan(config, data), [f"--numerics={numerics}"])
    mma_data.check_bound(config, data, result)


@pytest.mark.parametrize("config", RANDOM, ids=lambda config: config.label)
def test_special_codes(config, tmp_path):
    data = mma_data.special(config)
    result = mma_launch.run(tmp_path, make_plan(config, data), [])
    mma_data.check_bound(config, data, result)


def test_pair_outside_of_a_cluster_is_an_error(tmp_path):
    config = mxf8f6f4(n=64, m=256, ctas=2)
    plan = make_plan(config, mma_data.exact(config))
    out = np.zeros((2, 128, config.n), np.uint32)
    code, _, messages = mma_launch.launch(
        tmp_path, kernel(plan), [plan.shared, plan.fill_words, out], plan.shared.shape[1], grid=2
    )
    assert code == 1 and "error" in messages


def test_order_of_warps_does_not_matter(tmp_path):
    for config in (mxf8f6f4(n=64), mxf8f6f4(n=64, m=256, ctas=2, scales_by="st")):
        data = mma_data.exact(config)
        for seed in range(4):
            result = mma_launch.run(
                tmp_path, make_plan(config, data), [f"--seed={seed}", "--check=race,proxy,strict"]
            )
            assert_bit_equal(result, mma_data.expected(config, data))


def test_all_combinations_are_there():
    """Each legal (types, scale type, block) of the dialect has a configuration, and one with a sparse A."""
    for sparse in (False, True):
        configured = {
            (ELEMENTS[c.a_type].format, ELEMENTS[c.b_type].format, SCALE_FORMATS[c.scale], c.block)
            for c in CONFIGS if c.scaled and c.sparse == sparse
        }
        assert configured == {tuple(row) for row in COMBINATIONS}
