"""Every function of sparse.bundle, on every chip, against the reference."""

import zlib

import blockscale
import numpy as np
import pytest
from kernel_cases import from_bf16, load, to_bf16
from test_torch_kernels import CHIPS, name

from blockscale import runtime
from blockscale.runtime.bundle_file import read_bundle

# Elements, scales, logical block, granularity.
FORMATS = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 64, "2:4"), "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 64, "pairs"),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 32, "pairs"),
}
KINDS = ("decompress", "legal_metadata", "sparse_mma_scaled")
MOST_BYTES = 4_000_000
# Few rows of x, and more; whole tiles nowhere.
SIZES = ((5, 136, 1088), (70, 136, 192))
WIDE = ((1, 8, 64), (128, 256, 512), (131, 129, 320), (24, 200, 1344))


class Weight:
    """Random kept elements and metadata with scales, as the card has them, and their values, without g."""

    def __init__(self, rng, rows, k, format):
        element, scale, block, granularity = FORMATS[format]
        units = 4 if granularity == "2:4" else 8
        codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
        kept = rng.choice(codes[np.isfinite(blockscale.decode(codes, element))], (rows, k // 2))
        fields = rng.choice(np.uint8([0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]), (rows, k // units))
        # CUTLASS's field of a chunk of zeros.
        kept[rows // 2, : units // 2], fields[rows // 2, 0] = 0, 0
        self.metadata = fields[:, ::2] | fields[:, 1::2] << 4
        # What products take.
        self.legal = self.metadata.copy()
        self.legal[rows // 2, 0] |= 0b0100
        low, high = (124, 130) if scale == "f8E8M0FNU" else (0x30, 0x48)
        self.scales = rng.integers(low, high, (rows, k // block), dtype=np.uint8)
        self.codes = pack(kept, element)
        self.dense = blockscale.decompress(kept, self.metadata, element, granularity)
        self.values = values_of(self.dense, self.scales, format)


def pack(codes, element):
    return blockscale.pack(codes, element) if element.startswith("f4") else codes


def values_of(codes, scales, format):
    element, scale, block, _ = FORMATS[format]
    return blockscale.dequantize(codes, scales, element, scale, block).astype(np.float64)


def make_rng(*parts):
    return np.random.default_rng(zlib.crc32(" ".join(map(str, parts)).encode()))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("format", FORMATS)
def test_decompress(run_sparse, format, chip):
    for rows, k in ((1, 64), (37, 320)):
        weight = Weight(make_rng(format, rows, k), rows, k, format)
        codes, scales = pack(weight.dense, FORMATS[format][0]), np.repeat(weight.scales, 2, axis=1)
        got = run_sparse(
            f"decompress_{format}", chip, [weight.codes, weight.metadata, weight.scales],
            [("u1", codes.shape), ("u1", scales.shape)],
        )
        np.testing.assert_array_equal(got[0], codes)
        np.testing.assert_array_equal(got[1], scales)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("format", FORMATS)
def test_legal_metadata(run_sparse, format, chip):
    """0100 for 0000, each other field as it was; fields that are not legal stop the kernel."""
    function = f"legal_metadata_{format}"
    for rows, k in ((1, 64), (37, 320)):
        weight = Weight(make_rng(format, rows, k), rows, k, format)
        [got] = run_sparse(function, chip, [weight.codes, weight.metadata], [("u1", weight.metadata.shape)])
        np.testing.assert_array_equal(got, weight.legal)
    last = weight.metadata[-1, -1]
    weight.codes[-1, -1] |= 0x41
    for byte in (last & 0xF0, last & 0x0F, last & 0xF0 | 0b0110, last & 0x0F | 0xF0):
        weight.metadata[-1, -1] = byte
        # What the last byte of elements has is in its upper chunk.
        if byte == last & 0xF0:
            weight.codes[-1, -3 if format == "mxfp8" else -4] |= 0x41
        with pytest.raises(AssertionError, match="expected fields of metadata whose two positions ascend, or 0000"):
            run_sparse(function, chip, [weight.codes, weight.metadata], [("u1", weight.metadata.shape)])


def check_product(run_sparse, format, chip, m, n, k, special=None):
    """x is quantized by the rules of the reference; `special` is in it at [m // 2, 3], and NaN in the last scale."""
    element, scale, block, _ = FORMATS[format]
    rng = make_rng(format, m, n, k)
    weight = Weight(rng, n, k, format)
    x = from_bf16(to_bf16(rng.standard_normal((m, k))))
    scales = [np.float32(g) for g in (0.0042, 0.37)] if format == "nvfp4" else []
    g = {"tensor_scale": scales[0]} if scales else {}
    if special is not None:
        x[m // 2, 3] = special
        weight.scales[-1, -1] = 0x7F if scale == "f8E4M3FN" else 0xFF
        weight.values = values_of(weight.dense, weight.scales, format)
    bias = from_bf16(to_bf16(rng.standard_normal(n)))
    x_values = values_of(*blockscale.quantize(x, element, scale, block, **g), format)
    [got] = run_sparse(
        f"sparse_mma_scaled_{format}", chip,
        [weight.codes, weight.legal, weight.scales, to_bf16(x), *(np.array(each) for each in scales), to_bf16(bias)],
        [("u2", (m, n))],
    )
    got = from_bf16(got)
    factor = np.prod(scales, dtype=np.float64) if scales else 1.0
    expected = x_values @ weight.values.T * factor + bias
    numbers = ~np.isnan(expected)
    if special is None:
        assert numbers.all()
    else:
        assert not numbers[m // 2].any() and not numbers[:, -1].any() and numbers.sum() == (m - 1) * (n - 1)
    np.testing.assert_array_equal(~np.isnan(got), numbers)
    size = np.abs(x_values) @ np.abs(weight.values.T) * factor + np.abs(bias)
    # f32 sums in any order, then two products and a sum, and one rounding to bf16.
    bound = (k + 4) * 2.0**-22 * size + np.abs(expected) * 2.0**-8
    error = np.abs(got - expected)
    assert (error <= bound)[numbers].all(), f"{np.argwhere((error > bound) & numbers)[:5]} {np.nanmax(error)}"


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("sizes", SIZES, ids=name)
@pytest.mark.parametrize("format", FORMATS)
def test_product(run_sparse, format, sizes, chip):
    check_product(run_sparse, format, chip, *sizes)


@pytest.mark.parametrize("special", [np.nan, -np.inf], ids=str)
@pytest.mark.parametrize("format,chip", zip([*FORMATS, "mxfp8"], CHIPS))
def test_what_is_no_number(run_sparse, format, chip, special):
    """In x it reaches its row, as a scale of the weight its column, whether elements are kept there or not."""
    check_product(run_sparse, format, chip, 9, 40, 192, special)


@pytest.mark.full
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("sizes", WIDE, ids=name)
@pytest.mark.parametrize("format", FORMATS)
def test_product_of_other_sizes(run_sparse, format, sizes, chip):
    check_product(run_sparse, format, chip, *sizes)


def test_bundle(sparse_bundle_path):
    assert sparse_bundle_path.stat().st_size <= MOST_BYTES
    bundle = load(sparse_bundle_path)
    assert set(bundle) == {f"{kind}_{format}" for kind in KINDS for format in FORMATS}
    for function in bundle.values():
        assert function.targets == list(CHIPS)
    assert {entry.most_rows for entry in read_bundle(sparse_bundle_path)} == {None}
