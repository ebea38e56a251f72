"""The schedules that gpu.py tune tries; the compiler refuses those that a chip or a product cannot have."""

from gpu_cases import FORMATS

# Tile and warps: of products of few rows, by the rows of the tile, and of others.
NARROW = (
    (16, "16x64", "1x1"), (16, "16x128", "1x2"), (16, "16x128", "1x4"), (32, "32x128", "1x2"),
    (32, "32x128", "1x4"), (64, "64x128", "1x4"), (64, "64x128", "2x2"), (64, "64x256", "1x4"),
)
WIDE = (
    ("64x64", "2x2"), ("64x128", "2x2"), ("128x64", "2x2"), ("128x128", "2x2"), ("128x128", "2x4"),
    ("128x256", "2x4"), ("256x128", "4x2"),
)
SPLITS = (1, 4, 8, 16)
CLUSTERS = ("1x1", "2x1", "1x2")
WGMMA = ("64x128x64", "64x256x64", "128x128x64", "128x192x64", "128x256x64", "192x128x64", "256x128x64")
# For mixed input: rows of y, and K chunks per split-K range.
MIXED_INPUT = tuple((rows, boxes) for rows in (64, 128) for boxes in (1, 2, 4))
TCGEN05 = ("128x64", "128x128", "128x192", "128x256")


def of_warps(case):
    """Of `mma.sync`, for all chips but those of tcgen05."""
    if case.m <= NARROW[-1][0]:
        rows = min(rows for rows, *_ in NARROW if rows >= case.m)
        for of, tile, warps in NARROW:
            if of == rows:
                yield from (
                    f"tile={tile}x128,warps={warps},stages={stages},split_k={split_k}"
                    for stages in (2, 3) for split_k in SPLITS
                )
        return
    for tile, warps in WIDE:
        yield from (f"tile={tile}x128,warps={warps},stages={stages}" for stages in (2, 3))


def of_mixed_input(case):
    """Of wgmma with y as A: warpgroups that share rows of y divide K."""
    box = 128 if FORMATS[case.format].y.startswith("f4") else 64
    widths = (-(-case.m // 8) * 8,) if case.is_small else (128, 256)
    if case.m == 1 and FORMATS[case.format].x.startswith("f4") and box == 128:
        widths = (1, *widths)
    for columns in widths:
        for rows, boxes in MIXED_INPUT:
            k = (4 if columns <= 64 else 2) * 64 // rows * boxes * box
            for stages in (2, 3, 4, 6):
                yield from (
                    f"tile={rows}x{columns}x{k},stages={stages},accumulators=1,persistent=0,swap_ab=1,"
                    f"split_k={split_k},kernel={'gemv' if columns == 1 else 'mixed_input'}"
                    for split_k in ((1, 2, 4) if case.is_small else (1,))
                )


def of_wgmma(case):
    if case.m <= NARROW[-1][0]:
        return
    for tile in WGMMA:
        for stages in (3, 4):
            yield from (
                f"tile={tile},stages={stages},accumulators=1,persistent=1,raster_group={group},cluster={cluster}"
                for group in (4, 8, 16) for cluster in CLUSTERS
            )


def of_tcgen05(case):
    """K of a tile is a swizzle row of 128 bytes; `swap_ab` is for few rows."""
    few = case.m <= NARROW[-1][0]
    for tile in TCGEN05:
        for k in (128, 256):
            for stages in (3, 4, 6):
                yield from (
                    f"tile={tile}x{k},stages={stages},accumulators=2,persistent=1,swap_ab={int(few)},split_k={split_k}"
                    for split_k in (SPLITS if few else (1,))
                )


# By the start of a chip's name; the first that fits.
BY_CHIP = (
    ("sm_90a", (of_warps, of_mixed_input, of_wgmma)), ("sm_100", (of_tcgen05,)), ("sm_103", (of_tcgen05,)),
    ("sm_110", (of_tcgen05,)), ("sm_", (of_warps,)),
)


def schedules(case, target):
    """As text for --schedule."""
    makers = next(makers for start, makers in BY_CHIP if target.startswith(start))
    return [text for make in makers for text in make(case)]
