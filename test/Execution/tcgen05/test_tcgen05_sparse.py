"""tcgen05.mma with a sparse A: what metadata names, and what it must not be."""

import json
from dataclasses import replace

import mma_data
import mma_launch
import numpy as np
import pytest
import sparse_data
from harness import assert_bit_equal
from mma_cases import mxf4, mxf8f6f4, nvf4
from mma_kernels import kernel
from mma_plan import make_plan
from operand_types import encode

NAN = 0x7F  # of e4m3
CONFIGS = [
    mxf8f6f4(n=24, sparse=True),
    mxf8f6f4(n=32, a_type="e2m3", b_type="e2m1", scales_by="st", sparse=True),
    mxf8f6f4(n=64, m=256, ctas=2, a_type="e5m2", b_type="e3m2", sparse=True),
    mxf4(n=40, sparse=True),
    mxf4(n=64, m=256, ctas=2, scales_by="st", sparse=True),
    nvf4(n=16, sparse=True),
    nvf4(n=96, m=256, ctas=2, sparse=True),
]
BYTES, PAIRS = CONFIGS[0], CONFIGS[3]


def launch(folder, config, data, *flags):
    plan = make_plan(config, data)
    return mma_launch.launch_text(folder, plan, kernel(plan), flags)


@pytest.mark.parametrize("numerics", ["exact", "hardware"])
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.label)
def test_random(config, numerics, tmp_path):
    """Any codes: as near to the sums as rounding after each instruction, or each chunk, lets it be."""
    data = mma_data.random(config)
    result = mma_launch.run(tmp_path, make_plan(config, data), [f"--numerics={numerics}"])
    error = np.abs(result - sparse_data.sums(config, data))
    roundings = config.steps * (1 if numerics == "exact" else 64)
    assert (error <= roundings * 2.0**-24 * sparse_data.sums(config, data, magnitudes=True)).all()


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.label)
@pytest.mark.parametrize("seed", range(3))
def test_orders_of_warps_and_fields(config, seed, tmp_path):
    data = mma_data.exact(config, seed=10 + seed)
    flags = [f"--seed={seed}", "--check=race,proxy,strict"]
    result = mma_launch.run(tmp_path, make_plan(config, data), flags)
    assert_bit_equal(result, mma_data.expected(config, data))


@pytest.mark.parametrize("field", sparse_data.LEGAL_FIELDS)
def test_each_place_by_hand(field, tmp_path):
    """One chunk of row 3 keeps 1 and 2, and B has 1, 4, 16 and 64 there."""
    config = mxf8f6f4(n=8, b_type="e4m3", steps=1, accumulate=False, sparse=True)
    values = np.zeros((config.m, config.a_k))
    values[3, 20:22] = 1, 2
    b = np.zeros((config.n, config.k))
    b[5, 40:44] = 1, 4, 16, 64
    ones = np.full((config.m, 1), 127, np.uint8)
    fields = np.full((config.m, config.k // 4), 0b0100, np.uint8)
    fields[3, 10] = field
    data = mma_data.Data(
        encode(values, "e4m3"), encode(b, "e4m3"), ones, ones[: config.n],
        np.zeros((config.m, config.n), np.float32), fields,
    )
    want = np.zeros((config.m, config.n), np.float32)
    want[3, 5] = 4.0 ** (field & 3) + 2 * 4.0 ** (field >> 2)
    assert_bit_equal(mma_launch.run(tmp_path, make_plan(config, data)), want)


def test_what_is_not_named_is_not_read(tmp_path):
    """NaN in B reaches the rows that name its place, even if they keep 0 there, and no others."""
    config = mxf8f6f4(n=16, b_type="e4m3", sparse=True)
    data = mma_data.exact(config)
    k = 4 * 31 + 2
    data.b[7, k] = NAN
    names = (sparse_data.positions(config, data.fields) == k).any(axis=1)
    assert 10 < names.sum() < config.m - 10
    data.a[sparse_data.positions(config, data.fields) == k] = 0
    result = mma_launch.run(tmp_path, make_plan(config, data))
    want = sparse_data.expected(config, data)
    assert (np.isnan(want[:, 7]) == names).all() and not np.isnan(np.delete(want, 7, 1)).any()
    assert_bit_equal(np.where(np.isnan(result), 0, result), np.where(np.isnan(want), 0, want))
    assert (np.isnan(result) == np.isnan(want)).all()


def test_scales_cover_what_is_kept(tmp_path):
    """A scale that is NaN reaches the cells whose row names anything of its block, which all do."""
    config = nvf4(n=16, sparse=True)
    data = mma_data.exact(config)
    data.b_scale[3, 2] = NAN
    result = mma_launch.run(tmp_path, make_plan(config, data))
    assert np.isnan(result[:, 3]).all() and not np.isnan(np.delete(result, 3, 1)).any()


def zeroed(config, row, chunk, kept=()):
    """Exact data in which a chunk has the field 0b0000, and the kept elements given, else zeros."""
    data = mma_data.exact(config)
    data.fields[row, chunk] = 0
    first = chunk * config.chunk // 2
    data.a[row, first : first + config.chunk // 2] = 0
    data.a[row, first : first + len(kept)] = kept
    return data


@pytest.mark.parametrize("config", [BYTES, PAIRS, CONFIGS[4]], ids=lambda config: config.label)
def test_chunks_of_zeros_may_have_no_field(config, tmp_path):
    """As compressors write them: a warning, and an error with --check=strict."""
    row, chunk = config.m - 27, 17
    data = zeroed(config, row, chunk)
    code, result, messages = launch(tmp_path, config, data)
    assert code == 0 and messages.count("warning") == 1, messages
    assert f" of lane {row % 128}, column" in messages
    assert "metadata: expected 0b0100, 0b1000, 0b1001, 0b1100, 0b1101 or 0b1110 for the columns" in messages
    assert f"of row {row}, got 0b0000" in messages and "where the kept values are 0" in messages
    assert_bit_equal(result, mma_data.expected(config, data))
    code, _, messages = launch(tmp_path, config, data, "--check=strict")
    assert code == 1 and 'tcgen05, "Sparse matrices"' in messages


def test_negative_zeros_are_zeros(tmp_path):
    code, _, messages = launch(tmp_path, BYTES, zeroed(BYTES, 5, 6, (0x80, 0)))
    assert code == 0 and "where the kept values are 0" in messages


def test_a_field_of_zeros_names_the_first_place(tmp_path):
    config = mxf8f6f4(n=16, b_type="e4m3", sparse=True)
    data = zeroed(config, 5, 6)
    data.b[2, 24] = data.b[3, 25] = NAN
    data.fields[6:, 6] = data.fields[:5, 6] = 0b1110
    code, result, _ = launch(tmp_path, config, data)
    assert code == 0 and np.argwhere(np.isnan(result)).tolist() == [[5, 2]]


@pytest.mark.parametrize("kept", [(1, 0), (0, 1)])
@pytest.mark.parametrize("config", [BYTES, PAIRS], ids=lambda config: config.label)
def test_other_chunks_need_a_field(config, kept, tmp_path):
    where = (0,) * (config.chunk // 2 - 2)
    for values in ((*kept, *where), (*where, *kept)):
        code, _, messages = launch(tmp_path, config, zeroed(config, 5, 6, values))
        assert code == 1 and "got 0b0000 in the bits 24 to 27 of lane 5, column" in messages
        assert "where the kept values are 0" not in messages


@pytest.mark.parametrize("field", sorted(set(range(1, 16)) - set(sparse_data.LEGAL_FIELDS.tolist())))
def test_illegal_fields(field, tmp_path):
    """Even if all that the chunk keeps is 0."""
    data = zeroed(BYTES, 127, 15)
    data.fields[127, 15] = field
    code, _, messages = launch(tmp_path, BYTES, data)
    assert code == 1
    assert f"for the columns 60 to 63 of row 127, got 0b{field:04b} in the bits 28 to 31 of lane 127" in messages


def k_per_clock(folder, config):
    """Elements of K that the estimate has in a clock, from the time of more instructions."""
    plan = make_plan(config, mma_data.exact(config))
    clocks = []
    for times in (10, 20):
        longer = replace(plan, mmas=plan.mmas * times)
        statistics = folder / "statistics.json"
        code, _, messages = mma_launch.launch_text(folder, longer, kernel(longer), [f"--stats={statistics}"])
        assert code == 0, messages
        clocks.append(json.loads(statistics.read_text())["kernels"][0]["estimate"]["clocks"])
    return 10 * config.k / (clocks[1] - clocks[0])


@pytest.mark.parametrize(
    ("make", "target", "dense", "gain"),
    [
        (mxf8f6f4, "sm_100a", {}, 2), (nvf4, "sm_100a", {}, 2), (mxf4, "sm_103a", {}, 2),
        (nvf4, "sm_103a", {"step_k": 96}, 4 / 3),
    ],
)
def test_rates(make, target, dense, gain, tmp_path):
    """Twice the K in the time of a dense instruction; those of K = 96 take as long as those of K = 64."""
    pair = {"m": 256, "n": 256, "ctas": 2, "steps": 2, "target": target}
    rates = [k_per_clock(tmp_path, make(**pair, **dense)), k_per_clock(tmp_path, make(**pair, sparse=True))]
    assert rates[1] / rates[0] == pytest.approx(gain, rel=0.01)
