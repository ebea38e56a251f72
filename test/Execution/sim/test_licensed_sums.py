"""The licence of fp8 tensor cores: the bound of --compare is that of numpy, and both are about what cards compute.

The simulator's adder is the judge of the one in test/python, with which the bound in numpy is tested.
"""

import os
import pathlib
import re
import subprocess
import sys

import blockscale
import numpy as np
import pytest
from blockscale import decode, encode
from harness import RUN

REPO = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("BLOCKSCALE_BUILD", REPO / "build")).resolve()
sys.path[:0] = [str(REPO / "benchmarks"), str(REPO / "test" / "python")]

import fp8_adder  # noqa: E402
import hardware_numerics  # noqa: E402

FP8 = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
PAIRS = [(x, y) for x in FP8 for y in FP8]
M, N, STEP = 64, hardware_numerics.WGMMA_N, 32


def wgmma(x, y, types, folder):
    """Sums of x (64, K) times y (K, 64) by one wgmma for each 32 of K, codes of 8 bits, in the simulator."""
    form = hardware_numerics.Form("wgmma", M, STEP, "f32", *(FP8[type] for type in types))
    (folder / "k.ptx").write_text(hardware_numerics.make_kernel(form))
    thread = np.arange(form.threads)
    warp, lane = thread // 32, thread % 32
    register = np.arange(form.registers[2])
    rows = 16 * warp[:, None] + lane[:, None] // 4 + 8 * (register // 2 % 2)
    columns = lane[:, None] % 4 * 2 + 8 * (register // 4) + register % 2
    sums = np.zeros((form.threads, register.size), np.float32)
    byte = np.arange(16)
    for k in range(0, x.shape[1], STEP):
        # Registers of A: rows 8 apart, then 16 elements of K apart, with four bytes each.
        a = x[16 * warp[:, None] + lane[:, None] // 4 + 8 * (byte // 4 % 2),
              k + 4 * (lane[:, None] % 4) + 16 * (byte // 8) + byte % 4]
        b = y[k + 16 * (thread[:, None] // 8 % 2) + byte, 8 * (thread[:, None] // 16) + thread[:, None] % 8]
        names = []
        for name, array in (("a", a), ("b", b), ("d", sums), ("e", np.zeros(form.threads, np.int32))):
            np.save(folder / f"{name}.npy", np.ascontiguousarray(array))
            names.append(f"in:{folder}/{name}.npy")
        subprocess.run(
            [BUILD / "bin" / "blockscale-sim", folder / "k.ptx", "--grid=1", f"--block={form.threads}",
             "--numerics=hardware", *names, f"out:{folder}/o.npy:f4:{sums.size}"],
            check=True, capture_output=True, text=True,
        )
        sums = np.load(folder / "o.npy").reshape(sums.shape)
    result = np.zeros((M, N), np.float32)
    result[rows, columns] = sums
    return result


@pytest.mark.parametrize("types", PAIRS, ids="-".join)
def test_the_adder_in_numpy_is_that_of_the_simulator(types, tmp_path):
    """Codes of all exponents, subnormal ones among them, and sums of one sign."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 0x78, (M, 128)).astype(np.uint8) | rng.integers(0, 2, (M, 128)).astype(np.uint8) << 7
    y = rng.integers(0, 0x78, (128, N)).astype(np.uint8) | rng.integers(0, 2, (128, N)).astype(np.uint8) << 7
    x[:16] = encode(np.abs(rng.normal(size=(16, 128))), types[0])
    y[:, :16] = encode(np.abs(rng.normal(size=(128, 16))), types[1])
    x[16:32] = rng.integers(0, 12, (16, 128))
    expected = fp8_adder.add_up(decode(x, types[0]), decode(y, types[1]), types, STEP)
    got = wgmma(x, y, types, tmp_path)
    assert (got == expected).all()
    exact = decode(x, types[0]) @ decode(y, types[1])
    assert (got != exact.astype(np.float32)).mean() > 0.9
    ones = np.ones((M, 1), np.float32), np.ones((1, N), np.float32)
    operands = x, ones[0], y, ones[1], np.zeros((M, N), np.float32)
    names = dict(x_type=types[0], y_type=types[1], x_scale_block=(1, "all"), y_scale_block=(1, "all"))
    blockscale.compare(got, *operands, **names, chunk=128)


# The bound of --compare.


def block_text(name, block):
    return f"{name}_scale_block = #blockscale.scale_block<rows = {block[0]}, k = {block[1]}>"


def printed_bound(types, arrays, scale, blocks, licence, folder, *flags):
    """The cell and the bound that --compare prints: those of the largest error, which has to be other than 0."""
    elements = [types[0], scale, types[1], scale, "f32"]
    tensors = [f"tensor<{'x'.join(map(str, array.shape))}x{type}>" for array, type in zip(arrays, elements)]
    names = ["%x", "%xs", "%y", "%ys", "%acc"]
    attributes = [block_text(side, block) for side, block in zip("xy", blocks)] if blocks else []
    attributes += [f"accumulate = #blockscale.accumulate<{licence}>"] if licence else []
    (folder / "main.mlir").write_text(
        f"func.func @main({', '.join(map(': '.join, zip(names, tensors)))}) -> {tensors[4]} {{\n"
        f"  %d = blockscale.mma_scaled {', '.join(names)} {{{', '.join(attributes)}}} : {', '.join(tensors)}\n"
        f"  return %d : {tensors[4]}\n}}\n"
    )
    paths = []
    for i, array in enumerate(arrays):
        paths.append(folder / f"{i}.npy")
        np.save(paths[-1], array)
    flags = ["--device=sim", "--target=sm_90a", "--compare", "-o", folder / "o.npy", *flags]
    done = subprocess.run([RUN, folder / "main.mlir", *paths, *flags], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = re.search(r"^result #0: largest error \S+ at \[(\d+), (\d+)\], bound ([^;\s]+)", done.stderr, re.MULTILINE)
    assert found, done.stderr
    return (int(found[1]), int(found[2])), float(found[3])


NARROW = ["f6E3M2FN", "f6E2M3FN", "f4E2M1FN"]
CASES = [
    *((x, y, "f8E8M0FNU", None, 512) for x, y in PAIRS),
    *((x, y, "f8E8M0FNU", None, 512) for x, y in zip(NARROW, [*FP8, NARROW[0]])),
    *((x, y, "f8E8M0FNU", None, 512) for x, y in zip([*FP8, NARROW[2]], NARROW)),
    ("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 16, 480),
    ("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16, 480),
    ("f8E4M3FN", "f8E5M2", "f8E8M0FNU", ((1, 128), (128, 64)), 416),
    ("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", ((1, "all"), (1, 128)), 480),
    ("f8E5M2", "f8E4M3FN", "f32", ((1, "all"), ("all", "all")), 416),
]


ROWS, COLUMNS = 6, 8


def draw_scales(rng, scale, shape):
    if scale == "f32":
        return rng.normal(size=shape).astype(np.float32)
    low, high = (0x30, 0x50) if scale == "f8E4M3FN" else (118, 137)
    return rng.integers(low, high, shape).astype(np.uint8)


def count(size, block):
    return 1 if block == "all" else -(-size // block)


def draw_operands(x_type, y_type, scale, blocks, k):
    rng = np.random.default_rng(1)
    x_scale = draw_scales(rng, scale, (count(ROWS, blocks[0][0]), count(k, blocks[0][1])))
    y_scale = draw_scales(rng, scale, (count(k, blocks[1][1]), count(COLUMNS, blocks[1][0])))
    # Zeros, subnormal elements, and the largest.
    x, y = (rng.normal(size=shape) * rng.choice([0.01, 1, 3], shape) for shape in ((ROWS, k), (k, COLUMNS)))
    acc = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32) / 100
    return encode(x, x_type), x_scale, encode(y, y_type), y_scale, acc


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_compare_has_the_bound_of_numpy(case, tmp_path):
    """Of the cell whose bound is printed, which is 32 bits of it."""
    x_type, y_type, scale, block, k = case
    blocks = block if isinstance(block, tuple) else None
    operands = draw_operands(x_type, y_type, scale, blocks or [(1, block or 32)] * 2, k)
    names = dict(x_type=x_type, y_type=y_type, scale_type=None if scale == "f32" else scale)
    if blocks:
        names.update(x_scale_block=blocks[0], y_scale_block=blocks[1])
    result = blockscale.mma_scaled(*operands, **names)
    for licence in ({}, dict(chunk=32), dict(chunk=64), dict(chunk=128), dict(chunk=128, rebase=True)):
        text = licence and f"chunk = {licence['chunk']}{', rebase' if len(licence) == 2 else ''}"
        cell, bound = printed_bound((x_type, y_type), operands, scale, blocks, text, tmp_path)
        expected, _ = blockscale.error_bound(*operands, **names, **licence)
        # Ends of the interval are bounds around the sum, and the bound is their distance from the result, in f32.
        assert abs(bound - expected[cell]) <= 2.0**-23 * abs(result[cell]) + 1e-7 * bound, licence


def test_options_give_the_licence(tmp_path):
    operands = draw_operands("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", [(1, 32)] * 2, 256)

    def bound(licence, *flags):
        return printed_bound(("f8E4M3FN",) * 2, operands, "f8E8M0FNU", None, licence, tmp_path, *flags)[1]

    assert bound(None) < bound(None, "--accumulate=128") == bound("chunk = 128")
    assert bound(None, "--accumulate=64", "--rebase") == bound("chunk = 64, rebase") > bound("chunk = 64")
    assert bound("chunk = 32", "--accumulate=128", "--rebase") == bound("chunk = 32")
