"""The products that gpu.py measures: formats, sizes, and their programs."""

import argparse
from typing import NamedTuple


class Format(NamedTuple):
    """Types by MLIR's names; `block` elements of K share a scale. `is_packed`: fp6 as a stream of bits."""

    x: str
    y: str
    scale: str
    block: int
    is_packed: bool = False


FORMATS = {
    "mxfp8": Format("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32),
    "mxfp4": Format("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32),
    "nvfp4": Format("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16),
    "mxfp8-mxfp4": Format("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32),
    "mxfp6": Format("f6E2M3FN", "f6E2M3FN", "f8E8M0FNU", 32),
    "mxfp6-packed": Format("f6E2M3FN", "f6E2M3FN", "f8E8M0FNU", 32, is_packed=True),
}
DEFAULT_FORMATS = ("mxfp8", "mxfp4", "nvfp4", "mxfp8-mxfp4", "mxfp6")

# Up to this M a product reads its weights and does little else: where they come from decides.
MAX_SMALL_M = 256
SIZES = {
    "square": [(n, n, n) for n in (1024, 2048, 4096, 8192)],
    "tall": [(16384, 4096, 4096)],
    "small": [
        (m, n, k)
        for n, k in ((8192, 8192), (14336, 4096), (4096, 14336))
        for m in (1, 8, 16, 32, 64, MAX_SMALL_M)
    ],
}


class Case(NamedTuple):
    """x (M x K) times y, which is stored as N x K; scales in rows, M x K / B and N x K / B."""

    format: str
    m: int
    n: int
    k: int

    @property
    def name(self):
        return f"{self.format}-{self.size}"

    @property
    def size(self):
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def is_small(self):
        return self.m <= MAX_SMALL_M

    @property
    def flops(self):
        return 2 * self.m * self.n * self.k

    @property
    def shapes(self):
        """Of x, its scales, y, its scales: in elements, as the program declares them."""
        blocks = self.k // FORMATS[self.format].block
        return (self.m, self.k), (self.m, blocks), (self.n, self.k), (self.n, blocks)


def row_bytes(element, k, is_packed=False):
    """Bytes of a row of `k` elements in a buffer of the card."""
    if element == "f4E2M1FN":
        return k // 2
    return k * 3 // 4 if is_packed and element.startswith("f6") else k


def parse_sizes(text):
    """`square`, `tall`, `small` or MxNxK, as a list of (M, N, K)."""
    if text in SIZES:
        return SIZES[text]
    try:
        m, n, k = map(int, text.split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected {', '.join(SIZES)} or MxNxK, got {text!r}") from None
    # Blocks of 32; and Triton's loads, and torch's fp8, want rows of whole 16 bytes.
    if min(m, n, k) < 1 or n % 16 or k % 32:
        raise argparse.ArgumentTypeError(f"expected N in multiples of 16 and K of 32, got {text!r}")
    return [(m, n, k)]


def select(formats, sizes):
    """The cases of these formats and of these lists of sizes; the default is all of the main ones."""
    sizes = [size for group in sizes or SIZES.values() for size in group]
    return [Case(format, *size) for format in formats or DEFAULT_FORMATS for size in dict.fromkeys(sizes)]


def program(case):
    """MLIR of a function `mma` of x, its scales, y as N x K, its scales; the result is M x N in f32."""
    x, y, scale, block, is_packed = FORMATS[case.format]
    m, n, k, blocks = case.m, case.n, case.k, case.k // block
    attribute = " {blockscale.packed}" if is_packed else ""
    xt, xst = f"tensor<{m}x{k}x{x}>", f"tensor<{m}x{blocks}x{scale}>"
    yt, yst = f"tensor<{n}x{k}x{y}>", f"tensor<{n}x{blocks}x{scale}>"
    yk, ysk, d = f"tensor<{k}x{n}x{y}>", f"tensor<{blocks}x{n}x{scale}>", f"tensor<{m}x{n}xf32>"
    return f"""\
func.func @mma(%x: {xt}{attribute}, %xs: {xst}, %y: {yt}{attribute}, %ys: {yst}) -> {d} {{
  %acc = arith.constant dense<0.0> : {d}
  %y_empty = tensor.empty() : {yk}
  %ys_empty = tensor.empty() : {ysk}
  %yk = linalg.transpose ins(%y : {yt}) outs(%y_empty : {yk}) permutation = [1, 0]
  %ysk = linalg.transpose ins(%ys : {yst}) outs(%ys_empty : {ysk}) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yk, %ysk, %acc : {xt}, {xst}, {yk}, {ysk}, {d}
  return %d : {d}
}}
"""
