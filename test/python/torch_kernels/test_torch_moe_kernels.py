"""Every function of moe.bundle, on every chip, against numpy."""

import zlib

import blockscale
import numpy as np
import pytest
import tiers
from kernel_cases import FORMATS, from_bf16, load, to_bf16
from test_torch_kernels import CHIPS, VALUE_TYPES, name, purposes

from blockscale import runtime
from blockscale.runtime.bundle_file import read_bundle

SCORINGS = ("softmax", "softmax_of_chosen")
COUNTS = (1, 2, 4, 6, 8)
# What functions with these activations start with.
PREFIXES = {None: "", "dynamic": "dynamic_"}
# alpha, limit and shift.
GATES = {"silu": (1.0, np.inf, 0.0), "gpt_oss": (1.702, 7.0, 1.0)}
MOST_BYTES = 16_000_000
# Of `mma.sync`, with 16, 32, 64 and 128 rows of x.
NUM_TILES = 4
# Rows, G, N and K: whole tiles nowhere, and more groups than a warp has lanes.
GROUPED_SIZES = ((1, 3, 40, 96), (3, 36, 136, 192), (40, 3, 72, 160), (40, 36, 24, 64))
# One for each kernel of which a launch on sm_90a chooses, by the average number of rows of a group.
SIZES_OF_KERNELS = (
    (7, 2, 72, 192), (17, 2, 136, 64), (27, 2, 40, 128), (70, 3, 72, 320), (200, 2, 136, 64), (530, 2, 24, 192),
)
# S, J, G, H and I. On sm_90a, some have wgmma for both products, or for one, with each format.
MOE_SIZES = ((1, 2, 3, 128, 64), (3, 4, 36, 160, 64), (40, 2, 3, 192, 160), (40, 1, 36, 96, 96))
MOE_SIZES_OF_KERNELS = (
    (3, 2, 2, 64, 192), (17, 1, 2, 192, 64), (9, 3, 2, 128, 96), (35, 2, 3, 64, 64), (50, 2, 1, 64, 128),
    (270, 1, 1, 64, 64),
)
WIDE = ((17, 8, 36, 320, 192), (120, 2, 3, 192, 224), (300, 1, 2, 96, 128), (2, 6, 128, 576, 32))
# What bf16 loses of a number, of one that came out a little different.
ROUNDING = 2.0**-8


def make_rng(*parts):
    return np.random.default_rng(zlib.crc32(" ".join(map(str, parts)).encode()))


class Experts:
    """Random weights and biases of G experts, as the card has them, and their values. Products of them with numbers
    around 1 are some multiples of 1.
    """

    def __init__(self, rng, groups, n, k, format):
        element, scale, block = FORMATS[format]
        weight = (rng.standard_normal((groups, n, k)) * 4 / np.sqrt(k)).astype(np.float32)
        # Not the scale that a weight needs, but one that rounds in all products.
        self.g = (rng.random(groups) * 0.01 + 0.003).astype(np.float32) if format == "nvfp4" else None
        codes, self.scales, self.values = (np.stack(each) for each in zip(*(
            self._quantize(weight[i], {} if self.g is None else {"tensor_scale": self.g[i]}, FORMATS[format])
            for i in range(groups)
        )))
        self.codes = blockscale.pack(codes, element) if element.startswith("f4") else codes
        self.bias = rng.standard_normal((groups, n)).astype(np.float32)

    @staticmethod
    def _quantize(weight, scaled, format):
        codes, scales = blockscale.quantize(weight, *format, **scaled)
        return codes, scales, blockscale.dequantize(codes, scales, *format, **scaled).astype(np.float64)

    @property
    def weights(self):
        return [self.codes, self.scales, *([] if self.g is None else [self.g])]

    def times(self, x, of, x_error=0):
        """(product, how far f32 sums may be from it) of rows of x, each of which has the expert `of`."""
        result = np.einsum("tk,tnk->tn", x, self.values[of]) + self.bias[of]
        sizes = np.abs(self.values[of])
        size = np.einsum("tk,tnk->tn", np.abs(x) + x_error, sizes) + np.abs(self.bias[of])
        # In any order, then a product and a sum.
        bound = (x.shape[1] + 4) * 2.0**-22 * size
        return result, bound + np.einsum("tk,tnk->tn", np.broadcast_to(x_error, x.shape), sizes)


def expect_near(got, expected, bound):
    error = np.abs(from_bf16(got) - expected)
    assert (error <= bound).all(), f"{np.argwhere(error > bound)[:5]} {error.max()}"
    # Bounds add up what hardly ever adds up.
    assert np.linalg.norm(error) <= ROUNDING * np.linalg.norm(expected)


def expect_sums(got, each, bound, weights, nobody):
    """The weighted sums of slots that are somebody's, whose vectors are `each`, within `bound`."""
    token, slot = np.nonzero(~nobody)
    expected, error = np.zeros(got.shape), np.zeros(got.shape)
    factors = weights[token, slot, None].astype(np.float64)
    np.add.at(expected, token, factors * each)
    np.add.at(error, token, np.abs(factors) * (bound + np.abs(each) * (weights.shape[1] + 1) * 2.0**-22))
    expect_near(got, expected, error + np.abs(expected) * ROUNDING)
    assert not got[nobody.all(axis=1)].any()


def quantize_rows(x, format):
    """(what a product reads of rows that are exact in bf16, how far that may jump if x is a little different: a code,
    and a scale, is another one then).
    """
    element, scale, block = FORMATS[format]
    amax = np.abs(x).max()
    scaled = {"tensor_scale": np.float32(amax) / np.float32(2688)} if format == "nvfp4" else {}
    codes, scales = blockscale.quantize(x.astype(np.float32), element, scale, block, **scaled)
    values = blockscale.dequantize(codes, scales, element, scale, block, **scaled).astype(np.float64)
    largest = np.abs(x).reshape(len(x), -1, block).max(axis=2).repeat(block, axis=1)
    step = largest / (8 if element == "f8E4M3FN" else 2)
    return values, step


def check_grouped_linear(run_moe, format, chip, count, groups, n, k, activations=None):
    rng = make_rng(format, count, groups, n, k)
    experts = Experts(rng, groups, n, k, format)
    x = from_bf16(to_bf16(rng.standard_normal((count, k)))).astype(np.float64)
    # Of equal ends, groups are empty; the last rows are nobody's.
    offsets = np.sort(rng.integers(0, count + 1, groups)).astype(np.int32)
    offsets[offsets == count] -= count > 3
    [got] = run_moe(f"{PREFIXES[activations]}grouped_linear_{format}", chip,
                    [to_bf16(x), *experts.weights, offsets, experts.bias], [("u2", (count, n))])
    if activations:
        x, _ = quantize_rows(x, format)
    end = offsets[-1]
    assert not got[end:].any() and (end < count or count <= 3)
    expected, bound = experts.times(x[:end], np.searchsorted(offsets, np.arange(end), side="right"))
    expect_near(got[:end], expected, bound + np.abs(expected) * ROUNDING)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("sizes", GROUPED_SIZES, ids=name)
@pytest.mark.parametrize("format", FORMATS)
def test_grouped_linear(run_moe, format, sizes, chip):
    check_grouped_linear(run_moe, format, chip, *sizes)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("sizes", tiers.first(GROUPED_SIZES, 1), ids=name)
@pytest.mark.parametrize("format", FORMATS)
def test_dynamic_grouped_linear(run_moe, format, sizes, chip):
    check_grouped_linear(run_moe, format, chip, *sizes, "dynamic")


@pytest.mark.parametrize("format, sizes, activations", tiers.product(FORMATS, SIZES_OF_KERNELS, PREFIXES), ids=name)
def test_kernels_of_rows(run_moe, format, sizes, activations):
    check_grouped_linear(run_moe, format, "sm_90a", *sizes, activations)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("format", FORMATS)
def test_what_is_no_number(run_moe, format, chip):
    """In x it reaches its row, as a scale of a weight a column of its group, and nothing else."""
    rng = make_rng(format)
    experts, x = Experts(rng, 3, 40, 96, format), rng.standard_normal((13, 96))
    offsets, place = np.array([4, 9, 12], np.int32), (0, 5, 1)
    for special in (np.nan, -np.inf):
        x[10, 3] = special
        scales = experts.scales.copy()
        scales[place] = 0x7F if format == "nvfp4" else 0xFF
        [got] = run_moe(
            f"grouped_linear_{format}", chip,
            [to_bf16(x), experts.codes, scales, *experts.weights[2:], offsets, experts.bias], [("u2", (13, 40))],
        )
        got, expected = from_bf16(got), np.zeros((13, 40), bool)
        expected[10], expected[:4, 5] = True, True
        np.testing.assert_array_equal(~np.isfinite(got), expected)


def gated(product, bound, gate):
    """(what an activation makes of a first product, how far it may be from that, rounded to bf16)."""
    alpha, limit, shift = gate
    pairs, bounds = (each.reshape(len(each), -1, 2, 8) for each in (product, bound))
    g, u = np.minimum(pairs[:, :, 0], limit), np.clip(pairs[:, :, 1], -limit, limit) + shift
    with np.errstate(over="ignore"):
        swish = g / (1 + np.exp(-alpha * g))
    h = swish * u
    # g * sigmoid(alpha * g) is nowhere steeper than 1.1.
    error = 1.1 * bounds[:, :, 0] * (np.abs(u) + bounds[:, :, 1]) + np.abs(swish) * bounds[:, :, 1]
    return tuple(each.reshape(len(product), -1) for each in (h, error + np.abs(h) * ROUNDING))


def check_moe(run_moe, format, gate, chip, count, top_k, groups, hidden, inner, activations=None):
    rng = make_rng(format, gate, count, top_k, groups, hidden, inner)
    up, down = Experts(rng, groups, 2 * inner, hidden, format), Experts(rng, groups, hidden, inner, format)
    x = from_bf16(to_bf16(rng.standard_normal((count, hidden)))).astype(np.float64)
    weights = rng.standard_normal((count, top_k)).astype(np.float32)
    ids = rng.integers(0, groups, (count, top_k))
    nobody = rng.random(ids.shape) < (0.2 if ids.size > 3 else 0)
    ids[nobody] = rng.choice([-1, groups, -(2**40), 2**32], nobody.sum())
    limit = GATES[gate][1]
    [got] = run_moe(
        f"{PREFIXES[activations]}moe_{format}", chip,
        [to_bf16(x), ids, weights, *up.weights, up.bias, *down.weights, down.bias, *GATES[gate]],
        [("u2", (count, hidden))],
    )
    if activations:
        x, _ = quantize_rows(x, format)
    token, slot = np.nonzero(~nobody)
    of = ids[token, slot]
    product, bound = up.times(x[token], of)
    assert limit == np.inf or count == 1 or (np.abs(product) > limit).any()
    h, bound = gated(product, bound, GATES[gate])
    if activations:
        h, step = quantize_rows(from_bf16(to_bf16(h)), format)
        bound += step
    each, bound = down.times(h, of, bound)
    bound += np.abs(each) * ROUNDING
    expect_sums(got, each, bound, weights, nobody)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("sizes, gate", tiers.product(MOE_SIZES, GATES), ids=name)
@pytest.mark.parametrize("format", FORMATS)
def test_moe(run_moe, format, sizes, gate, chip):
    check_moe(run_moe, format, gate, chip, *sizes)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("sizes", tiers.first(MOE_SIZES[::-1], 1), ids=name)
@pytest.mark.parametrize("format", FORMATS)
def test_dynamic_moe(run_moe, format, sizes, gate, chip):
    check_moe(run_moe, format, gate, chip, *sizes, "dynamic")


@pytest.mark.parametrize("format, sizes, gate, activations", tiers.product(
    FORMATS, MOE_SIZES_OF_KERNELS, GATES, PREFIXES), ids=name)
def test_moe_kernels_of_rows(run_moe, format, sizes, gate, activations):
    check_moe(run_moe, format, gate, "sm_90a", *sizes, activations)


@pytest.mark.full
@pytest.mark.parametrize("format, sizes, chip, gate, activations", tiers.product(
    FORMATS, WIDE, CHIPS, GATES, PREFIXES), ids=name)
def test_moe_of_other_sizes(run_moe, format, sizes, chip, gate, activations):
    check_moe(run_moe, format, gate, chip, *sizes, activations)


def make_logits(rng, shape, type):
    """Few different ones, and in the last row NaN and infinities; as the card has them, and as f32."""
    logits = np.round(rng.standard_normal(shape) * 8) / 4
    if len(logits) > 1:
        logits[-1] = rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], shape[1])
    if type == "bf16":
        return to_bf16(logits), from_bf16(to_bf16(logits))
    stored = logits.astype({"f16": np.float16, "f32": np.float32}[type])
    return stored, stored.astype(np.float32)


def check_route(run_moe, scoring, count, type, chip, rows, groups):
    stored, logits = make_logits(make_rng(scoring, count, type, rows, groups), (rows, groups), type)
    expected = blockscale.route(logits, count, scoring)
    got = run_moe(f"route_{scoring}_{count}_{type}", chip, [stored], [("i4", (rows, count)), ("f4", (rows, count))])
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_allclose(got[1], expected[1], rtol=2e-6, atol=1e-37)


FUNCTIONS = [(scoring, count, type) for scoring in SCORINGS for count in COUNTS for type in VALUE_TYPES]


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=name)
def test_route(run_moe, function, chip):
    check_route(run_moe, *function, chip, 3, 36)


@pytest.mark.parametrize("sizes, function, chip", tiers.product(
    # As few groups as are chosen, and more than a warp has at a time.
    [(1, 8), (40, 9), (3, 33), (2, 128), (1, 256), (3, 2048)], FUNCTIONS[:: len(VALUE_TYPES) + 1], CHIPS), ids=name)
def test_route_of_other_sizes(run_moe, function, sizes, chip):
    check_route(run_moe, *function, chip, *sizes)


def test_bundle(moe_bundle_path):
    assert moe_bundle_path.stat().st_size <= MOST_BYTES
    bundle = load(moe_bundle_path)
    assert set(bundle) == {
        *(f"{prefix}{kind}_{format}" for prefix in PREFIXES.values() for kind in ("grouped_linear", "moe")
          for format in FORMATS),
        *(f"route_{name(function)}" for function in FUNCTIONS),
    }
    for function in bundle.values():
        assert function.targets == list(CHIPS)
    assert {entry.most_rows for entry in read_bundle(moe_bundle_path)} == {None}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("format", FORMATS)
def test_what_ends_the_sums_is_no_kernel(moe_bundle_path, format, chip):
    """Activations, biases and rounding are done by the kernels of products, and routes are sorted by one."""
    bundle = load(moe_bundle_path)
    others = {"permute", "exact_recomputation"} if chip == "sm_90a" else set()
    there = purposes(bundle, f"grouped_linear_{format}", chip, "grouped_matmul")
    assert there == {"grouped_matmul"} | others
    there = purposes(bundle, f"moe_{format}", chip, "combine_rows")
    assert there == {"sort_routes", "grouped_matmul", "combine_rows"} | others
    if chip != "sm_90a":
        # Each product has one for each tile.
        assert len(bundle[f"moe_{format}"].launch_info(chip)["kernels"]) == 2 + 2 * NUM_TILES
    for function in FUNCTIONS:
        assert len(bundle[f"route_{name(function)}"].launch_info(chip)["kernels"]) == 1


# Tensor memory takes scales in atoms of each group.
SCALES = {"mxfp8": set(), "mxfp4": set(), "nvfp4": {"loops"}}
AROUND = {"sm_90a": {"dequantize_operand", "exact_recomputation"}, "sm_100a": {"swizzle_scales"}}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("format", FORMATS)
def test_what_is_around_quantized_products(moe_bundle_path, format, chip):
    """A quantize for each x, and with nvfp4 loops for tensor scales."""
    bundle = load(moe_bundle_path)
    product = {"quantize", "grouped_mma_scaled"} | AROUND.get(chip, set()) | SCALES[format]
    assert purposes(bundle, f"dynamic_grouped_linear_{format}", chip, "grouped_mma_scaled") == product
    # Rows of x are copied for it, too.
    gathered = {"loops"} if chip == "sm_100a" else set()
    there = purposes(bundle, f"dynamic_moe_{format}", chip, "combine_rows")
    assert there == {"sort_routes", "combine_rows"} | product | gathered
