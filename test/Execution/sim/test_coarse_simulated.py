"""Coarse scales in the simulator that become block-scaled products.

Scales that are powers of two (e8m0, or constants) are repeated for blocks of instructions; scales of
whole rows become factors of the result. Everything else is in test_promoted_sums.py.
"""

import subprocess

import blockscale
import numpy as np
import pytest
from harness import RUN

ALL = "all"
TARGETS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
NATIVE = TARGETS[2:]
M, N, K = 130, 136, 192


def count(size, block):
    return 1 if block == ALL else -(-size // block)


def attribute(name, block):
    return f"{name}_scale_block = #blockscale.scale_block<rows = {block[0]}, k = {block[1]}>"


def text(types, scale_types, blocks, constants=None, k=K, m="130"):
    (x, y), (x_scale, y_scale), (x_block, y_block) = types, scale_types, blocks
    shapes = [
        f"tensor<{m}x{k}x{x}>", f"tensor<{count(M, x_block[0]) if m != '?' else '?'}x{count(k, x_block[1])}x{x_scale}>",
        f"tensor<{k}x{N}x{y}>", f"tensor<{count(k, y_block[1])}x{count(N, y_block[0])}x{y_scale}>", f"tensor<{m}x{N}xf32>",
    ]
    names = ["%x", "%xs", "%y", "%ys", "%acc"]
    constants = constants or {}
    arguments = ", ".join(f"{n}: {s}" for n, s in zip(names, shapes) if n not in constants)
    body = "".join(f"  {name} = arith.constant dense<{value}> : {shapes[names.index(name)]}\n" for name, value in constants.items())
    return (
        f"func.func @main({arguments}) -> {shapes[4]} {{\n{body}"
        f"  %d = blockscale.mma_scaled {', '.join(names)} {{{attribute('x', x_block)}, {attribute('y', y_block)}}}"
        f" : {', '.join(shapes)}\n  return %d : {shapes[4]}\n}}\n"
    )


def simulate(program, arrays, target, folder, *flags):
    (folder / "main.mlir").write_text(program)
    paths = [folder / f"in{i}.npy" for i in range(len(arrays))]
    for path, array in zip(paths, arrays):
        np.save(path, array)
    command = [RUN, folder / "main.mlir", "--device=sim", f"--target={target}", "-o", folder / "out.npy", *flags, *paths]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def result(program, arrays, target, folder, *flags):
    done = simulate(program, arrays, target, folder, *flags)
    assert done.returncode == 0, done.stderr + program
    return np.load(folder / "out.npy"), done.stderr


def elements(element, shape, rng):
    codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
    return rng.choice(codes[np.isfinite(blockscale.decode(codes, element))], shape)


def scales(kind, shape, rng):
    if kind == "f32":
        return (rng.standard_normal(shape) * np.exp2(rng.integers(-20, 20, shape))).astype(np.float32)
    return rng.integers(117, 137, shape).astype(np.uint8)


def operands(types, scale_types, blocks, seed):
    rng = np.random.default_rng(seed)
    (x, y), (x_block, y_block) = types, blocks
    return [
        elements(x, (M, K), rng), scales(scale_types[0], (count(M, x_block[0]), count(K, x_block[1])), rng),
        elements(y, (K, N), rng), scales(scale_types[1], (count(K, y_block[1]), count(N, y_block[0])), rng),
        rng.standard_normal((M, N)).astype(np.float32),
    ]


E8M0, F32 = "f8E8M0FNU", "f32"
# (types, scale types, blocks, what the remark says)
REWRITTEN = [
    (("f8E4M3FN", "f8E5M2"), (E8M0, E8M0), ((1, 128), (128, 128)), "repeated for blocks of 32"),
    (("f8E4M3FN", "f4E2M1FN"), (E8M0, E8M0), ((1, ALL), (1, 32)), "repeated for blocks of 32"),
    (("f4E2M1FN", "f4E2M1FN"), (E8M0, E8M0), ((1, 16), (ALL, 64)), "repeated for blocks of 16"),
    (("f8E4M3FN", "f8E4M3FN"), (F32, F32), ((1, ALL), (1, ALL)), "factors of the result"),
    (("f8E5M2", "f8E4M3FN"), (F32, F32), ((ALL, ALL), (1, ALL)), "factors of the result"),
    (("f6E3M2FN", "f4E2M1FN"), (F32, E8M0), ((128, ALL), (128, ALL)), "factors of the result"),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("types, scale_types, blocks, remark", REWRITTEN, ids=lambda case: str(case) if isinstance(case, str) else None)
def test_rewritten(types, scale_types, blocks, remark, target, tmp_path):
    """Within the bound of products, by numpy and by --compare; native where a chip has the instruction."""
    data = operands(types, scale_types, blocks, 1)
    flags = ["--compare"] + ["--native-only"] * (target in NATIVE)
    got, messages = result(text(types, scale_types, blocks), data, target, tmp_path, *flags)
    assert remark in messages
    blockscale.compare(
        got, *data, x_type=types[0], y_type=types[1], x_scale_block=blocks[0], y_scale_block=blocks[1],
        scale_type=E8M0 if E8M0 in scale_types else None,
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("scale, blocks", [(E8M0, ((1, 128), (128, 128))), (F32, ((1, ALL), (1, ALL)))])
def test_powers_of_two(scale, blocks, target, tmp_path):
    """All elements are 1, and each scale is another power of two: exact expectations."""
    data = operands(("f8E4M3FN",) * 2, (scale, scale), blocks, 2)
    data[0][:], data[2][:], data[4][:] = 0x38, 0x38, 0
    for i in (1, 3):
        powers = np.exp2(np.arange(data[i].size).reshape(data[i].shape) % 11)
        data[i] = np.float32(powers) if scale == F32 else blockscale.encode(powers, E8M0)
    got, _ = result(text(("f8E4M3FN",) * 2, (scale, scale), blocks), data, target, tmp_path)
    factors = [blockscale.decode(each, E8M0) if scale == E8M0 else each.astype(np.float64) for each in (data[1], data[3])]
    x = np.repeat(np.repeat(factors[0], blocks[0][0], 0), 128 if scale == E8M0 else K, 1)[:M, :K]
    y = np.repeat(np.repeat(factors[1], blocks[1][0], 1), 128 if scale == E8M0 else K, 0)[:K, :N]
    np.testing.assert_array_equal(got, (x @ y).astype(np.float32))


@pytest.mark.parametrize("target", TARGETS)
def test_factors_that_cancel(target, tmp_path):
    """2^120 and 2^-120: the product with one of them is not in the range of f32. Special scales stay what they are."""
    blocks = ((1, ALL), (1, ALL))
    data = operands(("f8E4M3FN",) * 2, (F32, F32), blocks, 3)
    data[1][:] = np.resize(np.float32([2.0**120, 2.0**-120, -3, 0, np.nan, np.inf, 1e-45]), data[1].shape)
    data[3][:] = np.resize(np.float32([2.0**-120, 2.0**120, 1, 2.0**-149]), data[3].shape)
    got, _ = result(text(("f8E4M3FN",) * 2, (F32, F32), blocks), data, target, tmp_path)
    types = dict(x_type="f8E4M3FN", y_type="f8E4M3FN", x_scale_block=blocks[0], y_scale_block=blocks[1])
    wanted = blockscale.mma_scaled(*data, **types)
    blockscale.compare(got, *data, **types)
    # Also where the sum of magnitudes is too large to be compared by the bound.
    special = ~np.isfinite(wanted)
    np.testing.assert_array_equal(got[special], wanted[special])


@pytest.mark.parametrize("target", TARGETS)
def test_constant_powers(target, tmp_path):
    """f32 constants that are powers of two are what e8m0 scales are."""
    types, blocks = ("f8E4M3FN",) * 2, ((ALL, 128), (128, 64))
    constants = {"%xs": "[[0.5, 4.0]]", "%ys": "[[1.0, 2.0], [8.0, 16.0], [0.25, 2.0]]"}
    data = operands(types, (F32, F32), blocks, 4)
    data[1] = np.float32([[0.5, 4]])
    data[3] = np.float32([[1, 2], [8, 16], [0.25, 2]])
    program = text(types, (F32, F32), blocks, constants)
    got, messages = result(program, [data[0], data[2], data[4]], target, tmp_path)
    assert "repeated for blocks of 32" in messages
    blockscale.compare(got, *data, x_type=types[0], y_type=types[1], x_scale_block=blocks[0], y_scale_block=blocks[1])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("types, scale_types, blocks", [REWRITTEN[1][:3], REWRITTEN[3][:3], REWRITTEN[4][:3]], ids=["powers", "rows", "tensor"])
def test_dynamic_rows(types, scale_types, blocks, target, tmp_path):
    """M is known at run time only, and so is whether there is a scale for each row."""
    data = operands(types, scale_types, blocks, 5)
    program = text(types, scale_types, blocks, m="?")
    if blocks[0][0] == ALL:
        program = program.replace("tensor<?x1xf32>", "tensor<1x1xf32>")
    got, _ = result(program, data, target, tmp_path)
    blockscale.compare(
        got, *data, x_type=types[0], y_type=types[1], x_scale_block=blocks[0], y_scale_block=blocks[1],
        scale_type=E8M0 if E8M0 in scale_types else None,
    )
    if blocks[0][0] == 1:
        data[1] = data[1][:-1]
        done = simulate(program, data, target, tmp_path)
        assert done.returncode == 1 and "error" in done.stderr, done.stderr
