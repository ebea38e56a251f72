"""Mixtures of experts of fp8.bundle, on every chip, against numpy; with the licence for fp8 tensor cores, too."""

import blockscale
import fp8_kernels
import numpy as np
import pytest
import tiers
from kernel_cases import from_bf16, load, to_bf16
from test_torch_fp8_kernels import BLOCKS, LICENCES
from test_torch_kernels import CHIPS, name, purposes
from test_torch_moe_kernels import GATES, ROUNDING, Experts, expect_near, expect_sums, gated, make_rng


# Rows, G, N and K: whole tiles and blocks nowhere, and more groups than a warp has lanes.
GROUPED_SIZES = ((40, 3, 152, 288), (3, 36, 136, 192), (1, 3, 40, 96))
# One for each kernel of which a launch on sm_90a chooses, by the average number of rows of a group.
SIZES_OF_KERNELS = ((70, 2, 72, 320), (200, 2, 136, 160), (530, 2, 24, 192))
# S, J, G, H and I.
MOE_SIZES = ((40, 2, 3, 288, 160), (3, 4, 36, 160, 64))
MOE_SIZES_OF_KERNELS = ((50, 2, 1, 64, 160), (270, 1, 1, 64, 64))
# What products may be, by chip: the licence is used on sm_90a only.
PRODUCTS = [(format, chip, licence) for format in BLOCKS for chip in CHIPS for licence in LICENCES
            if licence is None or chip == "sm_90a"]


def quantize(x, block):
    """(codes, scales, values)"""
    codes, scales = blockscale.quantize(np.ascontiguousarray(x, np.float32), "f8E4M3FN", "f32", scale_block=block)
    return codes, scales, blockscale.dequantize(codes, scales, "f8E4M3FN", scale_block=block).astype(np.float64)


class CoarseExperts(Experts):
    """With rows and blocks of many magnitudes. Those of pairs have scales for each row."""

    def __init__(self, rng, groups, n, k, format, are_pairs=False):
        rows, along = BLOCKS[format][0]
        steps = np.exp2(rng.integers(-2, 3, (groups, n, 1)) + np.repeat(rng.integers(-2, 3, (1, 1, k // 32)), 32, 2))
        weight = rng.standard_normal((groups, n, k)) * steps / np.sqrt(k)
        block = (1, along) if are_pairs else (rows, along)
        self.codes, self.scales, self.values = (np.stack(each) for each in zip(*(quantize(each, block) for each in weight)))
        self.g, self.bias = None, rng.standard_normal((groups, n)).astype(np.float32)


def quantize_rows(x, format):
    """(what a product reads of rows that are exact in bf16, how far that may jump if x is a little different)."""
    _, scales, values = quantize(x, BLOCKS[format][1])
    # Half of an e4m3 code's distance at the largest magnitude, 448, and of its scale.
    steps = np.repeat(scales.astype(np.float64), 128 if format == "fp8_block" else x.shape[1], 1)[:, : x.shape[1]] * 32
    return values, steps


def check_grouped_linear(run_fp8, format, chip, licence, count, groups, n, k):
    rng = make_rng(format, count, groups, n, k)
    experts = CoarseExperts(rng, groups, n, k, format)
    x = from_bf16(to_bf16(rng.standard_normal((count, k)) * np.exp2(rng.integers(-3, 4, (count, 1))))).astype(np.float64)
    offsets = np.sort(rng.integers(0, count + 1, groups)).astype(np.int32)
    offsets[offsets == count] -= count > 3
    function = f"dynamic_grouped_linear_{fp8_kernels.experts_name(format, licence)}"
    [got] = run_fp8(function, chip, [to_bf16(x), *experts.weights, offsets, experts.bias], [("u2", (count, n))])
    end = offsets[-1]
    assert not got[end:].any() and (end < count or count <= 3)
    x, _ = quantize_rows(x, format)
    expected, bound = experts.times(x[:end], np.searchsorted(offsets, np.arange(end), side="right"))
    expect_near(got[:end], expected, bound + np.abs(expected) * ROUNDING)


@pytest.mark.parametrize("product, sizes", tiers.product(PRODUCTS, GROUPED_SIZES), ids=name)
def test_grouped_linear(run_fp8, product, sizes):
    check_grouped_linear(run_fp8, *product, *sizes)


@pytest.mark.parametrize("product, sizes", tiers.product([(format, "sm_90a", licence) for format in BLOCKS for licence in LICENCES],
                                                         SIZES_OF_KERNELS), ids=name)
def test_kernels_of_rows(run_fp8, product, sizes):
    check_grouped_linear(run_fp8, *product, *sizes)


def check_moe(run_fp8, format, chip, licence, gate, count, top_k, groups, hidden, inner):
    rng = make_rng(format, gate, count, top_k, groups, hidden, inner)
    up = CoarseExperts(rng, groups, 2 * inner, hidden, format, are_pairs=True)
    down = CoarseExperts(rng, groups, hidden, inner, format)
    x = from_bf16(to_bf16(rng.standard_normal((count, hidden)))).astype(np.float64)
    weights, ids = rng.standard_normal((count, top_k)).astype(np.float32), rng.integers(0, groups, (count, top_k))
    nobody = rng.random(ids.shape) < (0.2 if ids.size > 3 else 0)
    ids[nobody] = rng.choice([-1, groups, -(2**40), 2**32], nobody.sum())
    [got] = run_fp8(
        f"dynamic_moe_{fp8_kernels.experts_name(format, licence)}", chip,
        [to_bf16(x), ids, weights, *up.weights, up.bias, *down.weights, down.bias, *GATES[gate]], [("u2", (count, hidden))],
    )
    x, _ = quantize_rows(x, format)
    token, slot = np.nonzero(~nobody)
    of = ids[token, slot]
    h, bound = gated(*up.times(x[token], of), GATES[gate])
    h, step = quantize_rows(from_bf16(to_bf16(h)), format)
    each, bound = down.times(h, of, bound + step)
    bound += np.abs(each) * ROUNDING
    expect_sums(got, each, bound, weights, nobody)


@pytest.mark.parametrize("product, gate, sizes", tiers.product(PRODUCTS, GATES, MOE_SIZES), ids=name)
def test_moe(run_fp8, product, gate, sizes):
    check_moe(run_fp8, *product, gate, *sizes)


@pytest.mark.parametrize("product, gate, sizes", tiers.product(
    [(format, "sm_90a", licence) for format in BLOCKS for licence in LICENCES], GATES, MOE_SIZES_OF_KERNELS), ids=name)
def test_moe_kernels_of_rows(run_fp8, product, gate, sizes):
    check_moe(run_fp8, *product, gate, *sizes)


@pytest.mark.parametrize("format", BLOCKS)
def test_what_is_around_the_products(fp8_bundle_path, format):
    """With the licence on sm_90a: quantize, and copies of the rows of x and of their scales. Nothing reads weights but
    the products, which do activations, biases and rounding, too."""
    bundle = load(fp8_bundle_path)
    end = fp8_kernels.experts_name(format, fp8_kernels.CHUNK)
    there = purposes(bundle, f"dynamic_grouped_linear_{end}", "sm_90a", "grouped_matmul")
    assert there == {"checks", "quantize", "grouped_matmul"}
    kernels = [each["name"] for each in bundle[f"dynamic_moe_{end}"].launch_info("sm_90a")["kernels"]]
    count = lambda purpose: sum(f"__{purpose}" in each for each in kernels)
    assert [count(purpose) for purpose in ("sort_routes", "quantize", "loops", "grouped_matmul")] == [1, 2, 2, 6]
    # The last one is combine_rows.
    assert len(kernels) == 12
