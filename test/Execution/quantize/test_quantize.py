"""quantize on the CPU and in the simulator, against exact rationals."""

import blockscale
import numpy as np
import pytest
import quantize_oracle
import tiers
from quantize_cases import (
    CASES,
    CHIPS,
    DEVICES,
    all_rules,
    name_of,
    quantize_op,
    rules_of,
    run,
    tensor,
    to_bits,
)


def assert_codes(got, expected, what):
    np.testing.assert_array_equal(got, expected, err_msg=what)


def features(case):
    element, scale, block, dtype = case
    # Each format once, each high-precision type with both kinds of scales.
    return [(element, scale, block), (dtype, scale)]


def oracle(values, element, scale, block, rule, g=None):
    """Elements and scales of rows of whole blocks, by exact rationals."""
    codes, scales = [], []
    for row in values.reshape(-1, block):
        row_codes, row_scales = quantize_oracle.quantize(row, element, scale, block, rule, g)
        codes.append(row_codes)
        scales.append(row_scales)
    codes = np.array(codes, np.uint8).reshape(values.shape)
    return codes, np.array(scales, np.uint8).reshape(*values.shape[:-1], -1)


@pytest.mark.parametrize("case", tiers.cover(CASES, features), ids=name_of)
def test_hard_blocks(case, tmp_path):
    """Midpoints between codes, the ends of all formats, NaN and infinity: equal bits everywhere."""
    element, scale, block, dtype = case
    expected, values = [], []
    for rule in rules_of(scale):
        values.append(quantize_oracle.hard_blocks(element, scale, block, rule, dtype))
    rows = np.concatenate(values)
    # Whole rows of several blocks, and a multiple of them.
    rows = np.resize(rows, (-(-len(rows) // 4) * 4, block)).reshape(-1, 4 * block)
    for rule in rules_of(scale):
        expected += oracle(rows, element, scale, block, rule)
    text, results = all_rules(element, scale, block, dtype, rows.shape)
    for device in DEVICES:
        got = run(tmp_path, text, [to_bits(rows, dtype)], results, device)
        for i, (a, b) in enumerate(zip(got, expected)):
            assert_codes(a, b, f"{device}, result {i}")


@pytest.mark.parametrize("g", [1.0, 0.37, 1e-30, 3e37, 2.0**-140])
def test_tensor_scale(g, tmp_path):
    rng = np.random.default_rng(7)
    values = rng.standard_normal((8, 64)) * g * 100
    values = np.clip(values, -3e38, 3e38).astype(np.float32)
    g = np.float32(g)
    expected = oracle(values, "f4E2M1FN", "f8E4M3FN", 16, None, g)
    text, results = all_rules("f4E2M1FN", "f8E4M3FN", 16, "f32", values.shape, g)
    for device in DEVICES:
        got = run(tmp_path, text, [values, np.float32(g)], results, device)
        for a, b in zip(got, expected):
            assert_codes(a, b, device)


FORMS = {
    # name: sizes in the text, sizes of the data, padded, transposed
    "one": ((64,), (64,), False, False),
    "ragged": ((7, 100), (7, 100), True, False),
    "short": ((300, 96), (300, 96), False, False),
    "dynamic": (("?", "?"), (33, 160), False, False),
    # Several rounds of loads for each lane, of which the last ones are outside.
    "dynamic-long": (("?", "?"), (5, 1184), False, False),
    "dynamic-ragged": (("?", 34), (5, 34), True, False),
    "batch": ((2, 5, 64), (2, 5, 64), False, False),
    "high": ((2, 3, 4, 32), (2, 3, 4, 32), False, False),
    "long": ((3, 4096), (3, 4096), False, False),
    "transposed": ((70, 96), (70, 96), False, True),
}


def random_values(shape, dtype):
    rng = np.random.default_rng(list(map(int, shape)))
    values = rng.standard_normal(shape) * np.exp2(rng.integers(-20, 20, shape))
    bits = to_bits(values.astype(np.float32), dtype)
    if dtype == "bf16":
        return bits, (bits.astype(np.uint32) << 16).view(np.float32)
    return bits, bits.astype(np.float32)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["f8E4M3FN-f8E8M0FNU-32-bf16", "f4E2M1FN-f8E4M3FN-16-f32"])
def test_forms(form, kind, tmp_path):
    """Shapes and layouts of x, against the numpy reference."""
    element, scale, block, dtype = kind.split("-")
    block = int(block)
    sizes, shape, pad, transposed = FORMS[form]
    bits, values = random_values(shape, dtype)
    expected = blockscale.quantize(values, element, scale, block, pad=pad)[:2]
    line, types = quantize_op("q", "%x", element, scale, block, dtype, sizes, pad=pad)
    x_type, lines = tensor(sizes, dtype), [line]
    name = "%x"
    if transposed:
        bits = np.ascontiguousarray(bits.T)
        name, stored = "%t", tensor(sizes[::-1], dtype)
        lines = [
            f"  %e = tensor.empty() : {x_type}",
            f"  %x = linalg.transpose ins(%t : {stored}) outs(%e : {x_type}) permutation = [1, 0]",
            line,
        ]
        x_type = stored
    text = "\n".join([
        f"func.func @main({name}: {x_type}) -> ({', '.join(types)}) {{",
        *lines,
        f"  return %q_c, %q_s : {', '.join(types)}",
        "}",
    ])
    for device in DEVICES:
        got = run(tmp_path, text, [bits], 2, device)
        for a, b in zip(got, expected):
            assert_codes(a, b, device)


@pytest.mark.parametrize("shape", [(63, 1024), (128, 128), (300, 288)], ids=str)
@pytest.mark.parametrize("chip", CHIPS)
def test_swizzled(chip, shape, tmp_path):
    """Scales straight in the 32x4x4 layout, zeros in the padding."""
    m, k = shape
    atoms = (-(-m // 128), -(-k // 128), 32, 16)
    bits, values = random_values(shape, "bf16")
    codes, scales = blockscale.quantize(values, "f8E5M2", "f8E8M0FNU", 32)[:2]
    line, (quantized_type, scales_type) = quantize_op(
        "q", "%x", "f8E5M2", "f8E8M0FNU", 32, "bf16", shape
    )
    swizzled = tensor(atoms, "f8E8M0FNU")
    text = "\n".join([
        f"func.func @main(%x: {tensor(shape, 'bf16')}) -> ({quantized_type}, {swizzled}) {{",
        line,
        f"  %t = blockscale.swizzle_scales %q_s : {scales_type} to {swizzled}",
        f"  return %q_c, %t : {quantized_type}, {swizzled}",
        "}",
    ])
    got = run(tmp_path, text, [bits], 2, chip)
    assert_codes(got[0], codes, chip)
    assert_codes(got[1], blockscale.swizzle_scales(scales), chip)


SPECIAL = {"none": 3.5, "infinity": -np.inf, "nan": np.nan}


@pytest.mark.parametrize("special", SPECIAL)
def test_largest_magnitude(special, tmp_path):
    """The largest magnitude of all, and a scale that is computed from it."""
    values = np.random.default_rng(3).standard_normal((40, 256)).astype(np.float32)
    values[17, 33] = SPECIAL[special]
    types = "tensor<40x256xf4E2M1FN>, tensor<40x16xf8E4M3FN>, tensor<f32>"
    text = f"""func.func @main(%x: tensor<40x256xf32>, %g: f32) -> ({types}) {{
  %c, %s, %a = blockscale.quantize %x tensor_scale(%g) {{block_size = 16 : i64}}
       : tensor<40x256xf32>, f32 to {types}
  return %c, %s, %a : {types}
}}
"""
    expected = np.abs(values).max()  # NaN where one is
    for device in DEVICES:
        largest = run(tmp_path, text, [values, np.float32(0.25)], 3, device)[2]
        np.testing.assert_array_equal(largest, expected, device)
    if special != "none":
        return
    # NVFP4 as it is used: the tensor scale from the largest magnitude.
    text = f"""func.func @main(%x: tensor<40x256xf32>) -> ({types}) {{
  %one = arith.constant 1.0 : f32
  %c0, %s0, %a = blockscale.quantize %x tensor_scale(%one) {{block_size = 16 : i64}}
       : tensor<40x256xf32>, f32 to {types}
  %largest = tensor.extract %a[] : tensor<f32>
  %limit = arith.constant 2688.0 : f32
  %g = arith.divf %largest, %limit : f32
  %c, %s, %b = blockscale.quantize %x tensor_scale(%g) {{block_size = 16 : i64}}
       : tensor<40x256xf32>, f32 to {types}
  return %c, %s, %b : {types}
}}
"""
    g = np.abs(values).max() / np.float32(2688)
    expected = blockscale.quantize(
        values, "f4E2M1FN", "f8E4M3FN", 16, tensor_scale=g
    )[:2]
    for device in DEVICES:
        got = run(tmp_path, text, [values], 3, device)
        for a, b in zip(got, expected):
            assert_codes(a, b, device)


@pytest.mark.parametrize("case", CASES[::3], ids=name_of)
def test_dequantize(case, tmp_path):
    """All codes times all scales, to each high-precision type."""
    element, scale, block, _ = case
    count = 1 << blockscale.FORMATS[element].bits
    row = np.resize(np.arange(count, dtype=np.uint8), -(-count // block) * block)
    codes = np.tile(row, (256, 1))
    scales = np.repeat(
        np.arange(256, dtype=np.uint8)[:, None], codes.shape[1] // block, axis=1
    )
    shape = codes.shape
    for dtype in ("f32", "f16", "bf16"):
        expected = blockscale.dequantize(codes, scales, element, scale, block, dtype=dtype)
        text = f"""func.func @main(%c: {tensor(shape, element)}, %s: {tensor(scales.shape, scale)})
    -> {tensor(shape, dtype)} {{
  %y = blockscale.dequantize %c, %s
       : {tensor(shape, element)}, {tensor(scales.shape, scale)} to {tensor(shape, dtype)}
  return %y : {tensor(shape, dtype)}
}}
"""
        for device in ("cpu", "sm_100a"):
            got = run(tmp_path, text, [codes, scales], 1, device)[0]
            if dtype == "bf16":
                got = (got.astype(np.uint32) << 16).view(np.float32)
                if expected.dtype == np.uint16:
                    expected = (expected.astype(np.uint32) << 16).view(np.float32)
            np.testing.assert_array_equal(got, expected, f"{device}, {dtype}")


@pytest.mark.parametrize("case", [("f8E4M3FN", "f8E8M0FNU", 32), ("f6E3M2FN", "f8E8M0FNU", 32)], ids=name_of)
def test_there_and_back(case, tmp_path):
    """Dynamic sizes of what one kernel leaves to the next."""
    element, scale, block = case
    sizes, values = ("?", "?"), random_values((3, 96), "f32")[1]
    line, types = quantize_op("q", "%x", element, scale, block, "f32", sizes)
    text = "\n".join([
        f"func.func @main(%x: {tensor(sizes, 'f32')}) -> {tensor(sizes, 'f32')} {{",
        line,
        f"  %y = blockscale.dequantize %q_c, %q_s {{block_size = {block} : i64}}"
        f" : {', '.join(types)} to {tensor(sizes, 'f32')}",
        f"  return %y : {tensor(sizes, 'f32')}",
        "}",
    ])
    codes, scales = blockscale.quantize(values, element, scale, block)[:2]
    expected = blockscale.dequantize(codes, scales, element, scale, block)
    for device in DEVICES:
        np.testing.assert_array_equal(run(tmp_path, text, [values], 1, device)[0], expected, device)


@pytest.mark.parametrize("formats", [("f8E4M3FN", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E4M3FN", 16)], ids=name_of)
def test_dequantize_rows(formats, tmp_path):
    """Several blocks in a row, scales that differ, and rows that end inside of a kernel's tile."""
    element, scale, block = formats
    m, k = 37, 160
    rng = np.random.default_rng(11)
    codes = rng.integers(0, 1 << blockscale.FORMATS[element].bits, (m, k), np.uint8)
    scales = rng.integers(0x60, 0x7F, (m, k // block), np.uint8)
    types = tensor((m, k), element), tensor((m, k // block), scale)
    result = tensor((m, k), "f32")
    text = f"""func.func @main(%c: {types[0]}, %s: {types[1]}) -> {result} {{
  %y = blockscale.dequantize %c, %s : {', '.join(types)} to {result}
  return %y : {result}
}}
"""
    expected = blockscale.dequantize(codes, scales, element, scale, block)
    for device in DEVICES:
        [got] = run(tmp_path, text, [codes, scales], 1, device)
        np.testing.assert_array_equal(got, expected, device)


@pytest.mark.parametrize("formats", [("f8E5M2", "f8E8M0FNU", 32), ("f4E2M1FN", "f8E4M3FN", 16)], ids=name_of)
def test_dequantize_ragged(formats, tmp_path):
    """Batches of dynamic sizes whose rows end anywhere, or on whole loads, by the same program."""
    element, scale, block = formats
    sizes = ("?", "?", "?")
    rng = np.random.default_rng(13)
    text = f"""func.func @main(%c: {tensor(sizes, element)}, %s: {tensor(sizes, scale)}) -> {tensor(sizes, 'f16')} {{
  %y = blockscale.dequantize %c, %s {{block_size = {block} : i64}}
       : {tensor(sizes, element)}, {tensor(sizes, scale)} to {tensor(sizes, 'f16')}
  return %y : {tensor(sizes, 'f16')}
}}
"""
    for batch, m, k in ((2, 5, 278), (3, 33, 264), (1, 1, 2)):
        codes = rng.integers(0, 1 << blockscale.FORMATS[element].bits, (batch, m, k), np.uint8)
        scales = rng.integers(0x70, 0x7E, (batch, m, -(-k // block)), np.uint8)
        expected = blockscale.dequantize(codes, scales, element, scale, block, dtype="f16")
        for chip in ("sm_90a", "sm_120a"):
            [got] = run(tmp_path, text, [codes, scales], 1, chip)
            np.testing.assert_array_equal(got, expected, f"{chip}, {k}")


def test_dequantize_packed_fp6(tmp_path):
    """fp6 as a bit stream: 8 elements are 6 bytes."""
    m, k = 19, 288
    rng = np.random.default_rng(17)
    codes = rng.integers(0, 64, (m, k), np.uint8)
    scales = rng.integers(0x60, 0x90, (m, k // 32), np.uint8)
    for element in ("f6E2M3FN", "f6E3M2FN"):
        text = f"""func.func @main(%c: tensor<{m}x{k}x{element}> {{blockscale.packed}}, %s: tensor<{m}x9xf8E8M0FNU>)
    -> tensor<{m}x{k}xf32> {{
  %y = blockscale.dequantize %c, %s
       : tensor<{m}x{k}x{element}>, tensor<{m}x9xf8E8M0FNU> to tensor<{m}x{k}xf32>
  return %y : tensor<{m}x{k}xf32>
}}
"""
        expected = blockscale.dequantize(codes, scales, element, "f8E8M0FNU", 32)
        for chip in ("sm_90a", "sm_120a"):
            [got] = run(tmp_path, text, [codes, scales], 1, chip)
            np.testing.assert_array_equal(got, expected, f"{element}, {chip}")
