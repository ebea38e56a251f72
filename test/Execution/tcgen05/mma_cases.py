"""The configurations of tcgen05.mma that tests execute: each legal row, shape and storage."""

from itertools import cycle, product

from mma_config import Config, Storage
from shared_images import PAIRS

SMALL_FLOATS = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")

# (kind, scale type, block, spellings, steps that need more than one word of scale factors)
SCALED_KINDS = (
    ("mxf8f6f4", "ue8m0", 32, ("", ".block32", ".scale_vec::1X"), 5),
    ("mxf4", "ue8m0", 32, ("", ".block32", ".scale_vec::2X"), 3),
    ("mxf4nvf4", "ue8m0", 32, (".block32", ".scale_vec::2X"), 3),
    ("mxf4nvf4", "ue8m0", 16, (".block16", ".scale_vec::4X"), 2),
    ("mxf4nvf4", "ue4m3", 16, (".block16", ".scale_vec::4X"), 2),
)

K_MAJOR = tuple(
    Storage("K", swizzle, inner, gap)
    for swizzle, inner, gap in ((0, "K", 0), (0, "MN", 16), (32, "MN", 0), (64, "MN", 1024), (128, "MN", 0))
)
ACROSS = K_MAJOR[4]._replace(across=True)
MN_MAJOR = tuple(
    Storage("MN", swizzle, inner, gap)
    for swizzle, inner, gap in (
        (0, "K", 0), (0, "MN", 16), (32, "K", 0), (32, "MN", 1024), (64, "K", 1024), (64, "MN", 0),
        (128, "K", 0), (128, "MN", 0),
    )
)


def scaled(kind, scale, block, steps, spelling, **changes):
    """A configuration of a kind with scales; types are those of fp4 unless given."""
    types = dict(a_type="e2m1", b_type="e2m1") if kind != "mxf8f6f4" else {}
    return Config(
        kind=kind, scale=scale, block=block, steps=steps, spelling=spelling, **{**types, **changes}
    )


def mxf8f6f4(**changes):
    return scaled("mxf8f6f4", "ue8m0", 32, changes.pop("steps", 5), ".block32", **changes)


def nvf4(**changes):
    return scaled("mxf4nvf4", "ue4m3", 16, changes.pop("steps", 2), ".block16", **changes)


def mxf4(**changes):
    return scaled("mxf4", "ue8m0", 32, changes.pop("steps", 3), ".block32", **changes)


def types_and_spellings():
    """All 25 pairs and all spellings of all kinds; storages change from case to case."""
    a_storages, b_storages = cycle(K_MAJOR), cycle(K_MAJOR[1:4])
    ways = cycle(("cp", "st", "cp"))
    for kind, scale, block, spellings, steps in SCALED_KINDS:
        if kind == "mxf8f6f4":
            kinds = zip(product(SMALL_FLOATS, repeat=2), cycle(spellings))
        else:
            kinds = ((("e2m1", "e2m1"), spelling) for spelling in spellings)
        for (a_type, b_type), spelling in kinds:
            yield scaled(
                kind, scale, block, steps, spelling, a_type=a_type, b_type=b_type, n=48,
                a=next(a_storages), b=next(b_storages), scales_by=next(ways),
            )


def sizes():
    """Every kind of N: fewer columns than a group of 32 rows of scale factors, more than 128, odd ones."""
    for n, way in zip((8, 16, 64, 72, 96, 128, 192, 256), cycle(("cp", "st"))):
        yield mxf8f6f4(n=n, scales_by=way)
        yield nvf4(n=n, scales_by="st" if way == "cp" else "cp")
    yield mxf4(n=256)
    yield mxf8f6f4(n=136, accumulate=False, steps=9)


def pairs():
    """Two CTAs."""
    for make in (mxf8f6f4, nvf4, mxf4):
        yield make(m=256, n=96, ctas=2)
        yield make(m=256, n=256, ctas=2, scales_by="st")
    yield mxf8f6f4(m=256, n=64, ctas=2, a=MN_MAJOR[6], b=MN_MAJOR[4], a_type="e5m2", b_type="e4m3")
    yield mxf8f6f4(m=256, n=32, ctas=2, a_memory="tensor")
    # Scale factors of layout B: known from one sample of CuTe only.
    yield mxf8f6f4(m=128, n=128, ctas=2, scales_by="st")
    yield nvf4(m=128, n=64, ctas=2, scales_by="st")
    yield Config("f16", "bf16", "f16", m=128, n=96, ctas=2)
    yield Config("f8f6f4", "e5m2", "e3m2", m=256, n=64, ctas=2)


def a_in_tensor_memory():
    for a_type, b_type in zip(SMALL_FLOATS, reversed(SMALL_FLOATS)):
        yield mxf8f6f4(a_type=a_type, b_type=b_type, a_memory="tensor")
    yield mxf4(a_memory="tensor", scales_by="st")
    yield nvf4(a_memory="tensor")
    yield Config("f16", "f16", "bf16", a_memory="tensor")
    yield Config("i8", "s8", "u8", "s32", a_memory="tensor")
    yield Config("f8f6f4", "e5m2", "e4m3", a_memory="tensor")


def storages():
    """Each storage for A and for B, in kinds with units of 16, 32 and 8 elements."""
    for storage, other in zip(K_MAJOR, K_MAJOR[2:] + K_MAJOR[:2]):
        yield mxf8f6f4(n=40, a=storage, b=other)
        yield nvf4(n=56, a=other, b=storage)
        yield Config("f16", "f16", "f16", n=32, a=storage, b=other)
        yield Config("tf32", "tf32", "tf32", n=48, a=storage, b=other)
    for storage, other in zip(MN_MAJOR, MN_MAJOR[3:] + MN_MAJOR[:3]):
        yield mxf8f6f4(n=80, a=storage, b=other)
        yield mxf8f6f4(n=144, b=storage)
        yield Config("f16", "bf16", "bf16", n=48, a=other, b=storage)
    yield Config("i8", "u8", "s8", "s32", n=32, a=MN_MAJOR[7], b=MN_MAJOR[2])
    for inner in ("K", "MN"):  # the only pattern for tf32 that is not K-major
        pairs_of_units = Storage("MN", PAIRS, inner, 0)
        yield Config("tf32", "tf32", "tf32", n=64, a=pairs_of_units, b=pairs_of_units)
    # Padded fp4 that is MN-major: Triton's kernels have it for B; the PTX ISA has no row for it.
    yield mxf8f6f4(n=64, a_type="e4m3", b_type="e2m1", b=MN_MAJOR[6])


def unscaled():
    """Kinds without scales: all types, D in f16, M = 64, saturation."""
    for a_type, b_type in product(("f16", "bf16"), repeat=2):
        yield Config("f16", a_type, b_type, n=64)
    yield Config("f16", "f16", "f16", "f16", n=48)
    yield Config("f16", "f16", "f16", "f16", n=32, m=64, accumulate=False)
    yield Config("tf32", "tf32", "tf32", n=128, m=64)
    for a_type, b_type in product(("s8", "u8"), repeat=2):
        yield Config("i8", a_type, b_type, "s32", n=32)
    yield Config("i8", "s8", "s8", "s32", n=16, saturate=True)
    yield Config("i8", "s8", "u8", "s32", n=24, m=64)
    for a_type, b_type in zip(SMALL_FLOATS, SMALL_FLOATS[2:] + SMALL_FLOATS[:2]):
        yield Config("f8f6f4", a_type, b_type, n=80)
    yield Config("f8f6f4", "e4m3", "e5m2", "f16", n=32)
    yield Config("f8f6f4", "e2m1", "e2m3", n=8, m=64)
    yield Config("f16", "bf16", "f16", n=16, a_memory="shared", negate_a=True)


def signs():
    """The negate bits of the instruction descriptor."""
    yield mxf8f6f4(negate_a=True)
    yield nvf4(negate_b=True)
    yield mxf4(negate_a=True, negate_b=True)
    yield Config("tf32", "tf32", "tf32", negate_b=True)


def k96():
    """Instructions of K = 96, which start inside words of scale factors and run into the next one."""
    storages = cycle((K_MAJOR[0], K_MAJOR[4], K_MAJOR[3], K_MAJOR[1]))
    for m, n, ctas in ((256, 192, 2), (256, 64, 2), (128, 64, 1), (128, 160, 1)):
        for kind, scale, block, spelling in (
            ("mxf4", "ue8m0", 32, ""), ("mxf4nvf4", "ue8m0", 32, ".block32"),
            ("mxf4nvf4", "ue8m0", 16, ".block16"), ("mxf4nvf4", "ue4m3", 16, ".block16"),
        ):
            yield scaled(
                kind, scale, block, 5 if block == 32 else 3, spelling, m=m, n=n, ctas=ctas, step_k=96,
                target="sm_103a", a=next(storages), b=next(storages),
                scales_by="st" if ctas == 2 and block == 16 else "cp",
            )
    for ctas, n in ((1, 96), (2, 128)):
        yield scaled(
            "mxf4nvf4", "ue4m3", 16, 4, ".block16", m=128 * ctas, n=n, ctas=ctas, step_k=96, target="sm_103a",
            a=ACROSS, b=ACROSS,
        )
    yield scaled(
        "mxf4", "ue8m0", 32, 6, ".block32", n=48, step_k=96, target="sm_103a", a=ACROSS, b=K_MAJOR[0]
    )


def sparse():
    """A sparse A: all pairs of types and spellings, shapes, storages. B has 64 bytes of a row in an
    instruction, so that a pattern of 32 bytes is no storage of it."""
    a_storages, b_storages = cycle(K_MAJOR), cycle((K_MAJOR[4], Storage("K", 64), K_MAJOR[0], K_MAJOR[1]))
    ways, widths = cycle(("cp", "st", "cp")), cycle((48, 8, 64, 136, 256))
    for kind, scale, block, spellings, steps in SCALED_KINDS:
        types = product(SMALL_FLOATS if kind == "mxf8f6f4" else ("e2m1",), repeat=2)
        for (a_type, b_type), spelling in zip(types, cycle(spellings)):
            yield scaled(
                kind, scale, block, steps, spelling, a_type=a_type, b_type=b_type, n=next(widths),
                a=next(a_storages), b=next(b_storages), scales_by=next(ways), sparse=True,
            )
        for spelling in spellings:
            yield scaled(kind, scale, block, steps, spelling, n=24, sparse=True)
        for n in (16, 96, 256):
            yield scaled(
                kind, scale, block, 2, spellings[-1], m=256, n=n, ctas=2, scales_by=next(ways), sparse=True
            )
    for storage, other in zip(MN_MAJOR, MN_MAJOR[3:] + MN_MAJOR[:3]):
        yield mxf8f6f4(n=80, a=storage, b=other, sparse=True)
    yield mxf8f6f4(m=256, n=64, ctas=2, a=MN_MAJOR[6], b=MN_MAJOR[7], sparse=True)
    yield mxf8f6f4(n=128, accumulate=False, negate_a=True, steps=6, sparse=True)
    yield nvf4(n=72, negate_b=True, target="sm_103a", sparse=True)


def all_configs():
    """Every configuration, once."""
    groups = (types_and_spellings, sizes, pairs, a_in_tensor_memory, storages, unscaled, signs, k96, sparse)
    return list(dict.fromkeys(config for group in groups for config in group()))
