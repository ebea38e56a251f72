"""Every function of fp8.bundle, on every chip, against the reference; and the products on the CPU."""

import subprocess
import zlib

import blockscale
import fp8_kernels
import numpy as np
import pytest
import tiers
from kernel_cases import from_bf16, load, to_bf16
from test_torch_kernels import CHIPS, SIZES, SIZES_OF_KERNELS, VALUE_TYPES, WIDE, name


BLOCKS = {"fp8_block": ((128, 128), (1, 128)), "fp8_row": ((1, "all"), (1, "all"))}
QUANTIZED = {"quantize_fp8_block": (1, 128), "quantize_weight_fp8_block": (128, 128), "quantize_fp8_row": (1, "all")}
MOST_BYTES = 12_000_000
PRODUCTS = list(BLOCKS)
# Of products: without a licence, and with it.
LICENCES = (None, fp8_kernels.CHUNK)


def stored(x, number):
    """(x as the card has it, its values)"""
    if number == "bf16":
        return to_bf16(x), from_bf16(to_bf16(x))
    return (x.astype(np.float16),) * 2 if number == "f16" else (x, x)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("number", VALUE_TYPES)
@pytest.mark.parametrize("function", QUANTIZED)
def test_quantize(run_fp8, function, number, chip):
    """With partial last blocks, zeros, and numbers that are none."""
    x = np.random.default_rng(1).standard_normal((141, 416)).astype(np.float32) * 3
    x[0, :128], x[-1, -32:] = 0, np.inf
    memory, x = stored(x, number)
    codes, scales = blockscale.quantize(x.astype(np.float32), "f8E4M3FN", "f32", scale_block=QUANTIZED[function])
    got = run_fp8(f"{function}_{number}", chip, [memory], [("u1", codes.shape), ("f4", scales.shape)])
    np.testing.assert_array_equal(got[1].view(np.uint32), scales.view(np.uint32))
    np.testing.assert_array_equal(got[0], codes)


def operands(format, m, n, k):
    """(arguments, expected values, sizes of sums): rows, columns and blocks of K of many magnitudes."""
    rng = np.random.default_rng(zlib.crc32(f"{format} {m} {n} {k}".encode()))
    arguments, values = [], []
    for rows, block in zip((m, n), reversed(BLOCKS[format])):
        steps = np.exp2(rng.integers(-4, 5, (rows, 1)) + np.repeat(rng.integers(-4, 5, (1, k // 32)), 32, 1))
        x = (rng.standard_normal((rows, k)) * steps).astype(np.float32)
        arguments += blockscale.quantize(x, "f8E4M3FN", "f32", scale_block=block)
        values.append(blockscale.dequantize(*arguments[-2:], "f8E4M3FN", scale_block=block).astype(np.float64))
    bias = from_bf16(to_bf16(rng.standard_normal(n)))
    x, y = values
    return [*arguments, to_bf16(bias)], x @ y.T + bias, np.abs(x) @ np.abs(y.T) + np.abs(bias)


def check(got, expected, size, k):
    """f32 sums in any order, two products and a sum, and one rounding to bf16."""
    error = np.abs(got - expected)
    bound = (k + 4) * 2.0**-22 * size + np.abs(expected) * 2.0**-8
    assert (error <= bound).all(), f"{np.argwhere(error > bound)[:5]} {error.max()}"


def check_product(run, format, chip, m, n, k):
    """The simulator adds up exactly what a licence permits to add up in another way."""
    arguments, *expected = operands(format, m, n, k)
    for licence in LICENCES:
        [got] = run(fp8_kernels.product_name(format, licence), chip, arguments, [("u2", (m, n))])
        check(from_bf16(got), *expected, k)


@pytest.mark.parametrize("format, sizes, chip", tiers.product(PRODUCTS, SIZES, CHIPS), ids=name)
def test_product(run_fp8, format, sizes, chip):
    check_product(run_fp8, format, chip, *sizes)


# Formats of x and of weights.
REBASED = [("mxfp8", "mxfp8"), ("mxfp4", "mxfp4"), ("mxfp8", "mxfp4"), ("fp8_row", "mxfp4")]


def rebased_operands(formats, m, n, k, is_rebased):
    """As `operands`; values are those of elements with one scale for each row, if a chip rebases."""
    rng = np.random.default_rng(zlib.crc32(f"{formats} {m} {n} {k}".encode()))
    arguments, values = [], []
    for format, rows in zip(formats, (m, n)):
        steps = np.exp2(rng.integers(-4, 5, (rows, 1)) + np.repeat(rng.integers(-3, 4, (1, k // 32)), 32, 1))
        x = (rng.standard_normal((rows, k)) * steps).astype(np.float32)
        if format == "fp8_row":
            codes, scales = blockscale.quantize(x, "f8E4M3FN", "f32", scale_block=(1, "all"))
            arguments += [codes, scales]
            values.append(blockscale.dequantize(codes, scales, "f8E4M3FN", scale_block=(1, "all")).astype(np.float64))
            continue
        element, block = fp8_kernels.REBASED_FORMATS[format]
        codes, scales = blockscale.quantize(x, format)
        arguments += [blockscale.pack(codes, element) if element.startswith("f4") else codes, scales]
        if is_rebased:
            codes, factors = blockscale.rebase(codes, scales, element, block)
            values.append(blockscale.decode(codes, blockscale.REBASED_TYPES[element][0]) * factors.astype(np.float64))
        else:
            values.append(blockscale.dequantize(codes, scales, format).astype(np.float64))
    bias = from_bf16(to_bf16(rng.standard_normal(n)))
    x, y = values
    return [*arguments, to_bf16(bias)], x @ y.T + bias, np.abs(x) @ np.abs(y.T) + np.abs(bias)


@pytest.mark.parametrize("formats, sizes, chip", [
    *((formats, SIZES[i % len(SIZES)], "sm_90a") for i, formats in enumerate(REBASED)),
    *tiers.product(REBASED, SIZES, [chip for chip in CHIPS if chip != "sm_90a"]),
], ids=name)
def test_rebased_product(run_fp8, formats, sizes, chip):
    """Only sm_90a rebases; the simulator's sums are exact."""
    m, n, k = sizes
    arguments, *expected = rebased_operands(formats, m, n, k, chip == "sm_90a")
    function = fp8_kernels.product_name(formats[1], fp8_kernels.CHUNK, True, formats[0])
    [got] = run_fp8(function, chip, arguments, [("u2", (m, n))])
    check(from_bf16(got), *expected, k)


@pytest.mark.parametrize("chip", CHIPS)
def test_a_token_of_no_number(run_fp8, chip):
    """Only its results are NaN."""
    arguments, *expected = operands("fp8_row", 70, 136, 96)
    arguments[1][3] = np.nan
    [got] = run_fp8("mma_scaled_fp8_row", chip, arguments, [("u2", (70, 136))])
    assert np.isnan(from_bf16(got)[3]).all()
    check(*(np.delete(each, 3, 0) for each in (from_bf16(got), *expected)), 96)


@pytest.mark.full
@pytest.mark.parametrize("format, sizes", tiers.product(PRODUCTS, SIZES_OF_KERNELS), ids=name)
def test_kernels_of_rows(run_fp8, format, sizes):
    check_product(run_fp8, format, "sm_90a", *sizes)


@pytest.mark.full
@pytest.mark.parametrize("format, sizes, chip", tiers.product(PRODUCTS, WIDE, CHIPS), ids=name)
def test_product_of_other_sizes(run_fp8, format, sizes, chip):
    check_product(run_fp8, format, chip, *sizes)


@pytest.mark.parametrize("format", BLOCKS)
def test_products_on_the_cpu(format, build, tmp_path):
    """The text of a function."""
    m, n, k = 7, 150, 288
    arguments, *expected = operands(format, m, n, k)
    program = tmp_path / "main.mlir"
    program.write_text(fp8_kernels.make_product(format))
    paths = [tmp_path / f"{i}.npy" for i in range(len(arguments))]
    for path, array in zip(paths, arguments):
        np.save(path, array)
    done = subprocess.run(
        [build / "bin" / "blockscale-run", program, f"--entry=mma_scaled_{format}", "-o", tmp_path / "out.npy", *paths],
        capture_output=True, text=True, check=False, timeout=60,
    )
    assert done.returncode == 0, done.stderr
    check(from_bf16(np.load(tmp_path / "out.npy")), *expected, k)


def test_bundle(fp8_bundle_path):
    assert fp8_bundle_path.stat().st_size <= MOST_BYTES
    bundle = load(fp8_bundle_path)
    assert set(bundle) == {
        *(f"{function}_{number}" for function in QUANTIZED for number in VALUE_TYPES),
        *(fp8_kernels.product_name(format, licence) for format in PRODUCTS for licence in LICENCES),
        *(f"mma_scaled_{of}_accumulate128_rebase" for of in ("mxfp8", "mxfp4", "mxfp8_mxfp4", "fp8_row_mxfp4")),
        *(f"dynamic_{kind}_{fp8_kernels.experts_name(format, licence)}" for kind in ("grouped_linear", "moe")
          for format in PRODUCTS for licence in LICENCES),
    }
    for function in bundle.values():
        assert function.targets == list(CHIPS)


@pytest.mark.parametrize("chip", CHIPS)
def test_scales_are_factors(fp8_bundle_path, chip):
    """No kernel fills scales that are 1, but where the instruction reads them from tensor memory."""
    kernels = load(fp8_bundle_path)["mma_scaled_fp8_row"].launch_info(chip)["kernels"]
    assert any("loops" in each["name"] for each in kernels) == (chip == "sm_100a")
