"""Kernels that need a Blackwell card, or the simulator: hand-written ones with block-scaled mma.sync."""

import blockscale
import numpy as np
from cases import Case, integers, pack, to_codes
from harness import COMBINATIONS, Combination, exact
from tensor_cases import pair_case

PTX_NAMES = {
    "f8E4M3FN": "e4m3", "f8E5M2": "e5m2", "f6E2M3FN": "e2m3", "f6E3M2FN": "e3m2",
    "f4E2M1FN": "e2m1", "f8E8M0FNU": "ue8m0",
}


def containers(codes, kind):
    """Bytes of the operands of kind::mxf8f6f4: fp4 is in bits 5 to 2."""
    return (codes << 2 if kind == "f4E2M1FN" else codes).astype(np.uint8)


def pairs(codes):
    """fp4 in pairs, the lower nibble first."""
    return (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8)


def block_scaled(row, entry, k, edits, label, to_bytes):
    m, n = 64, 128
    x, x_scale, y, y_scale, acc = exact(row, m, n, k, seed=9)
    a, b = to_bytes(x, row.x), to_bytes(np.ascontiguousarray(y.T), row.y)
    arguments = [
        a, b, x_scale, np.ascontiguousarray(y_scale.T), acc, np.zeros((m, n), np.float32),
        a.shape[1],
    ]
    expected = blockscale.mma_scaled(x, x_scale, y, y_scale, acc, **row.types)
    return Case(
        "block_scaled", entry, (n // 64, m // 64), (128,), arguments, {5: expected}, edits, label,
        "sm_120a",
    )


def dense_rows():
    """The 28 instructions that PTX 9.0 has, and the one of PTX 9.1."""
    fp4 = "f4E2M1FN"
    for row in COMBINATIONS:
        if row.x == row.y == fp4:
            continue
        types = f".f32.{PTX_NAMES[row.x]}.{PTX_NAMES[row.y]}.f32."
        yield block_scaled(
            row, "mxf8", 256, ((".f32.e4m3.e4m3.f32.", types),), f"{row.x}-{row.y}", containers
        )
    e8m0 = Combination(fp4, fp4, "f8E8M0FNU", 32)
    yield block_scaled(
        e8m0, "mxf8", 256, ((".f32.e4m3.e4m3.f32.", ".f32.e2m1.e2m1.f32."),), f"{fp4}-{fp4}",
        containers,
    )

    def paired(codes, _):
        return pairs(codes)

    yield block_scaled(e8m0, "mxf4", 512, (), "", paired)
    yield block_scaled(
        e8m0, "mxf4", 512, (("kind::mxf4.", "kind::mxf4nvf4."),), "mxf4nvf4", paired
    )
    yield block_scaled(Combination(fp4, fp4, "f8E4M3FN", 16), "nvf4", 512, (), "", paired)
    yield block_scaled(
        Combination(fp4, fp4, "f8E8M0FNU", 16), "nvf4", 512,
        ((".version 9.0", ".version 9.1"), ("f32.ue4m3", "f32.ue8m0")), "ue8m0", paired,
    )


def sparse():
    """Two of each four elements of A: positions 0 and 2 in even chunks, 1 and 3 in odd ones."""
    rng = np.random.default_rng(10)
    m, n, k = 16, 8, 64
    kept = integers(rng, (m, k // 2), -8, 8)
    b = integers(rng, (n, k), -8, 8)
    scale_a, scale_b = integers(rng, m, 120, 134), integers(rng, n, 120, 134)
    dense = np.zeros((m, k))
    registers = np.zeros((11, 32), np.uint32)
    for row in range(m):
        for i in range(k // 2):
            dense[row, 4 * (i // 2) + 2 * (i % 2) + i // 2 % 2] = kept[row, i]
    codes_a, codes_b = to_codes(kept.astype(float), "e4m3"), to_codes(b.astype(float), "e4m3")
    words_a, words_b = pack(codes_a, 8), pack(codes_b, 8)
    for lane in range(32):
        group, thread = divmod(lane, 4)
        for i in range(4):
            registers[i, lane] = words_a[group + i % 2 * 8, thread + i // 2 * 4]
            registers[4 + i, lane] = words_b[group, thread + 4 * i]
        # A chunk's field is the positions of its elements; even threads have rows below 8.
        registers[8, lane] = sum((0b1000, 0b1101)[chunk % 2] << 4 * chunk for chunk in range(8))
        registers[9, lane] = scale_a[group + lane % 2 * 8]
        registers[10, lane] = scale_b[group]
    scales = 2.0 ** (scale_a - 127)[:, None] * 2.0 ** (scale_b - 127)
    expected = (dense @ b.T * scales).astype(np.float32)
    arguments = [registers, np.zeros((m, n), np.float32)]
    return Case(
        "block_scaled", "sparse_mxf8", (1,), (32,), arguments, {1: expected}, (), "", "sm_120a"
    )


def blackwell_cases():
    """All of them."""
    yield from dense_rows()
    yield sparse()
    yield pair_case(Case)
