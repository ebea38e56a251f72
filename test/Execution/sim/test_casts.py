"""Casts of narrow floats, on the CPU and in the simulator, against tables of the formats.

Every code is widened; what is narrowed are all values of the format, the halves between them,
what is beside both, the ends, and random bits. Expected codes come from a search among the values
of the format, which numpy holds exactly in float64: nothing of it is a rounding.
"""

import itertools
import subprocess

import blockscale
import numpy as np
import pytest
from harness import RUN

DEVICES = {
    "cpu": ["--device=cpu"],
    **{chip: ["--device=sim", f"--target={chip}"] for chip in ("sm_90a", "sm_100a", "sm_120a")},
}
NARROW = ["f8E4M3FN", "f8E5M2", "f6E3M2FN", "f6E2M3FN", "f4E2M1FN", "f8E8M0FNU"]
BITS = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}
FILES = {"f16": "float16", "bf16": "uint16", "f32": "float32", "f64": "float64"}


# Values


def to_double(bits, element):
    """The values of bit patterns of f16, bf16, f32 or f64, and of codes."""
    if element in NARROW:
        return blockscale.decode(bits, element).astype(np.float64)
    with np.errstate(all="ignore"):
        if element == "bf16":
            return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        return bits.view(FILES[element]).astype(np.float64)


def magnitudes(element):
    """The finite values from zero up, by their code, and the first one beyond."""
    if element in BITS:
        exponent_bits, mantissa_bits = {"f16": (5, 10), "bf16": (8, 7)}[element]
        codes = np.arange(((1 << exponent_bits) - 1) << mantissa_bits, dtype=np.uint16)
        values = to_double(codes, element)
    else:
        codes = np.arange(blockscale.FORMATS[element].finite_count, dtype=np.uint8)
        values = to_double(codes, element)
    if element == "f8E8M0FNU":
        return np.append(values, values[-1] * 2)
    return np.append(values, 2 * values[-1] - values[-2])


def specials(element):
    """The codes of what is too large, and of NaN; whether NaN has a sign."""
    return {
        "f8E4M3FN": (0x7F, 0x7F, True),
        "f8E5M2": (0x7C, None, True),
        "f8E8M0FNU": (0xFF, 0xFF, False),
        "f16": (0x7C00, None, True),
        "bf16": (0x7F80, None, True),
    }.get(element, (None, None, False))


def encode(x, element):
    """The codes of float64 values, and a mask of those of which only NaN is known."""
    values = magnitudes(element)
    largest = len(values) - 2
    middles = (values[:-1] + values[1:]) / 2
    size = np.abs(x)
    index = np.searchsorted(middles, size)  # How many middles are below.
    tie = np.isin(size, middles)
    if element == "f8E8M0FNU":
        index += tie
    else:
        index += tie & (index % 2 == 1)
    too_large, nan, nan_has_sign = specials(element)
    index = np.where(index > largest, largest if too_large is None else too_large, index)
    width = {"f16": 16, "bf16": 16}.get(element) or blockscale.FORMATS[element].bits
    sign = np.signbit(x) * (1 << (width - 1))
    if element == "f8E8M0FNU":
        return np.where(np.isnan(x) | (x < 0), 0xFF, index), np.zeros(x.shape, bool)
    if too_large is None:  # Neither infinity nor NaN.
        return np.where(np.isnan(x), largest, index | sign), np.zeros(x.shape, bool)
    if nan is None:
        return index | sign, np.isnan(x)
    return np.where(np.isnan(x), nan, index) | sign, np.zeros(x.shape, bool)


def inputs(source, target):
    """Bits of `source` that matter to `target`."""
    values = magnitudes(target)
    values = values[:: 1 if len(values) < 300 else 97]
    points = np.concatenate([values, (values[:-1] + values[1:]) / 2, [2.0**-149, 2.0**-126]])
    with np.errstate(all="ignore"):
        if source == "bf16":
            bits = (points.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        else:
            bits = points.astype(FILES[source]).view(BITS[source])
    beside = [bits, bits + 1, np.maximum(bits, 1) - 1]
    width = bits.dtype.itemsize * 8
    exponent_bits = {"f16": 5, "bf16": 8, "f32": 8, "f64": 11}[source]
    mantissa_bits = width - 1 - exponent_bits
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    nans = [infinity + (1 << i) for i in range(mantissa_bits)]
    ends = np.array([0, 1, infinity, infinity - 1, *nans], bits.dtype)
    all_bits = np.concatenate([*beside, ends])
    all_bits = np.concatenate([all_bits, all_bits | bits.dtype.type(1 << (width - 1))])
    rng = np.random.default_rng(len(all_bits))
    random = rng.integers(0, 1 << width, 300, np.uint64).astype(bits.dtype)
    all_bits = np.concatenate([all_bits, random])
    return np.resize(all_bits, -(-len(all_bits) // 2) * 2)  # Rows of fp4 are whole bytes.


# Programs


def run(folder, device, op, casts):
    """casts: (arrays, their types, result type) for each result."""
    lines, args, results, arrays = [], [], [], []
    for arrays_in, elements, element in casts:
        names, types = [], []
        for array, kind in zip(arrays_in, elements):
            names.append(f"%a{len(args)}")
            types.append(f"tensor<{len(array)}x{kind}>")
            args.append(f"{names[-1]}: {types[-1]}")
            arrays.append(array if kind in NARROW else array.view(FILES[kind]))
        kind = f"tensor<{len(arrays_in[0])}x{element}>"
        lines.append(f"%r{len(results)} = {op} {', '.join(names)} : {', '.join(types)} to {kind}")
        results.append(kind)
    text = f"func.func @main({', '.join(args)}) -> ({', '.join(results)}) {{\n"
    text += "\n".join(lines)
    names = ", ".join(f"%r{i}" for i in range(len(results)))
    text += f"\nreturn {names} : {', '.join(results)}\n}}\n"
    (folder / "casts.mlir").write_text(text)
    command = [RUN, folder / "casts.mlir", *DEVICES[device]]
    for i in range(len(results)):
        command += ["-o", folder / f"out{i}.npy"]
    for i, array in enumerate(arrays):
        np.save(folder / f"in{i}.npy", array)
        command.append(folder / f"in{i}.npy")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [np.load(folder / f"out{i}.npy") for i in range(len(results))]


@pytest.mark.parametrize("device", DEVICES)
def test_narrow(device, tmp_path):
    pairs = [*itertools.product(["f16", "bf16", "f32", "f64"], NARROW), ("f64", "bf16"), ("f64", "f16"),
             ("f32", "bf16"), ("f32", "f16")]
    casts = [([inputs(source, target)], [source], target) for source, target in pairs]
    results = run(tmp_path, device, "arith.truncf", casts)
    for ((bits,), (source,), target), result in zip(casts, results):
        if target in BITS:
            result = result.view(np.uint16)
        expected, free = encode(to_double(bits, source), target)
        what = f"{source} to {target}"
        where = np.flatnonzero((result != expected) & ~free)[:5]
        assert not where.size, [
            f"{what} of {bits[i]:#x}: {result[i]:#x}, not {expected[i]:#x}" for i in where
        ]
        assert np.isnan(to_double(result, target)[free]).all(), what


@pytest.mark.parametrize("device", DEVICES)
def test_widen(device, tmp_path):
    pairs = [*itertools.product(NARROW, ["f16", "bf16", "f32", "f64"])]
    casts = []
    for source, target in pairs:
        codes = np.arange(1 << blockscale.FORMATS[source].bits, dtype=np.uint8)
        casts.append(([codes], [source], target))
    results = run(tmp_path, device, "arith.extf", casts)
    for ((codes,), (source,), target), result in zip(casts, results):
        values = to_double(codes, source)
        with np.errstate(all="ignore"):
            expected = values.astype(np.float16) if target == "f16" else values
        got = to_double(result.view(BITS[target]), target)
        np.testing.assert_array_equal(got, expected.astype(np.float64), f"{source} to {target}")
        finite = ~np.isnan(values)
        assert (np.signbit(got) == np.signbit(values))[finite].all()


@pytest.mark.parametrize("device", DEVICES)
def test_between_narrow(device, tmp_path):
    casts = []
    for source, target in itertools.product(NARROW, NARROW):
        bits = blockscale.FORMATS[source].bits
        if bits > blockscale.FORMATS[target].bits:
            casts.append(([np.arange(1 << bits, dtype=np.uint8)], [source], target))
    results = run(tmp_path, device, "arith.truncf", casts)
    for ((codes,), (source,), target), result in zip(casts, results):
        expected, _ = encode(to_double(codes, source), target)
        np.testing.assert_array_equal(result, expected, f"{source} to {target}")


def scaled(source):
    """All codes of a narrow type, or values of a wide one, with all scales; few of those with many."""
    scales = np.arange(256, dtype=np.uint8)
    if source in NARROW:
        codes = np.arange(1 << blockscale.FORMATS[source].bits, dtype=np.uint8)
        codes = codes[:: 5 if len(codes) == 256 else 1]
        codes = np.append(codes, codes[-1:]) if len(codes) % 2 else codes
        scales = np.append(scales[::7], [0, 1, 0xFE, 0xFF]).astype(np.uint8)
        scales = scales[: len(scales) // 2 * 2]
    else:
        codes = inputs(source, "f8E4M3FN")[::61]
        scales = np.append(scales[::3], [0, 1, 0xFE, 0xFF]).astype(np.uint8)
    grid = np.meshgrid(codes, scales)
    pair = [part.ravel() for part in grid]
    return [np.resize(part, -(-len(part) // 2) * 2) for part in pair]


@pytest.mark.parametrize("device", DEVICES)
def test_scaling_extf(device, tmp_path):
    pairs = [*itertools.product([n for n in NARROW if n != "f8E8M0FNU"], ["f32", "bf16"]), ("f8E5M2", "f16"),
             ("bf16", "f32")]
    casts = [(scaled(source), [source, "f8E8M0FNU"], target) for source, target in pairs]
    results = run(tmp_path, device, "arith.scaling_extf", casts)
    for ((codes, scales), (source, _), target), result in zip(casts, results):
        with np.errstate(all="ignore"):
            exact = to_double(codes, source) * to_double(scales, "f8E8M0FNU")
            if target == "f32":
                np.testing.assert_array_equal(result, exact.astype(np.float32), f"{source} to f32")
                continue
        expected, free = encode(exact, target)
        result = result.view(np.uint16)
        np.testing.assert_array_equal(result[~free], expected[~free], f"{source} to {target}")
        assert np.isnan(to_double(result, target)[free]).all()


@pytest.mark.parametrize("device", DEVICES)
def test_scaling_truncf(device, tmp_path):
    pairs = [*itertools.product(["f32"], [n for n in NARROW if n != "f8E8M0FNU"]), ("f64", "f8E4M3FN"),
             ("bf16", "f4E2M1FN"), ("f16", "f8E5M2")]
    casts = [(scaled(source), [source, "f8E8M0FNU"], target) for source, target in pairs]
    results = run(tmp_path, device, "arith.scaling_truncf", casts)
    for ((bits, scales), (source, _), target), result in zip(casts, results):
        with np.errstate(all="ignore"):
            quotient = to_double(bits, source) / to_double(scales, "f8E8M0FNU")
        expected, free = encode(quotient, target)
        free |= np.isnan(to_double(expected.astype(np.uint8), target))  # NaN with any sign.
        np.testing.assert_array_equal(result[~free], expected[~free], f"{source} to {target}")
        assert np.isnan(to_double(result, target)[free]).all()
