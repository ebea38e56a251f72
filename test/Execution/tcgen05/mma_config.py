"""One configuration of tcgen05.mma, and the sizes that follow from it.

Sources: PTX ISA, tcgen05.mma ("Kinds", "Shapes", "Block scaling", "Sparse matrices").
"""

from dataclasses import dataclass
from typing import NamedTuple

from operand_types import PACKED_KINDS, unit_elements

# Bytes of a row that one instruction reads, except for K = 96, which reads 48. If A is sparse, these are
# its kept elements, and B has twice as many.
STEP_BYTES = 32


class Storage(NamedTuple):
    """How an operand lies in shared memory.

    major    "K" or "MN": the dimension that is contiguous in units of 16 bytes
    swizzle  bytes of the swizzle pattern: 0 (none), 32, 64 or 128, or shared_images.PAIRS
    inner    "K" or "MN": the dimension along which atoms follow each other
    gap      bytes left between atoms along the other dimension's stride (multiple of 16 without
             swizzle, of 1024 with it)
    across   K-major, 128: steps of 48 bytes follow each other without a gap, so that some continue in
             the next pattern's panel, whose address their descriptor has (sm_103a)
    """

    major: str = "K"
    swizzle: int = 128
    inner: str = "MN"
    gap: int = 0
    across: bool = False

    def __str__(self):
        return f"{self.major}{self.swizzle}{self.inner}{self.gap or ''}{'across' * self.across}"


@dataclass(frozen=True)
class Config:
    """A tile D (m, n) = A (m, k) * B (n, k)^T + C for one CTA, or for a pair of CTAs.

    scale and block are "" and 0 for kinds without scales; `spelling` is the qualifier as written. `a`
    of "tensor" puts A in tensor memory. `accumulate` loads C before the first instruction. `sparse`: of
    four elements along K (of four pairs in packed kinds) A keeps two; K counts all of them, and `block`
    the kept ones.
    """

    kind: str = "mxf8f6f4"
    a_type: str = "e4m3"
    b_type: str = "e5m2"
    d_type: str = "f32"
    scale: str = ""
    block: int = 0
    spelling: str = ""
    m: int = 128
    n: int = 64
    steps: int = 5
    step_k: int = 0  # elements of K of an instruction; 0: the usual number
    ctas: int = 1
    a_memory: str = "shared"
    a: Storage = Storage()
    b: Storage = Storage()
    scales_by: str = "cp"
    accumulate: bool = True
    negate_a: bool = False
    negate_b: bool = False
    saturate: bool = False
    sparse: bool = False
    target: str = "sm_100a"

    @property
    def scaled(self):
        return self.kind.startswith("mx")

    @property
    def packed(self):
        return self.kind in PACKED_KINDS

    @property
    def a_step(self):
        """Elements of a row of A that an instruction reads."""
        return self.step_k or STEP_BYTES // 16 * unit_elements(self.kind, self.a_type)

    @property
    def k_step(self):
        """Elements of K of an instruction, and of a row of B that it reads."""
        return self.a_step * (2 if self.sparse else 1)

    @property
    def k(self):
        return self.k_step * self.steps

    @property
    def a_k(self):
        """Elements of a row of A."""
        return self.a_step * self.steps

    @property
    def chunk(self):
        """Elements of K that a field of metadata describes."""
        return 8 if self.packed else 4

    @property
    def step_factors(self):
        """Scale factors of a row that an instruction uses."""
        return self.a_step // self.block

    @property
    def scale_words(self):
        """Words of four scale factors that a row has."""
        return -(-self.a_k // self.block // 4)

    @property
    def split(self):
        """Whether D is in "layout B": two CTAs with 64 rows each, columns in two halves."""
        return self.ctas == 2 and self.m == 128

    @property
    def a_rows(self):
        """Rows of A in each CTA."""
        return self.m // self.ctas

    @property
    def b_rows(self):
        """Rows of B, which are columns of D, in each CTA's shared memory."""
        return self.n // self.ctas

    @property
    def d_columns(self):
        return self.n // 2 if self.split else self.n

    @property
    def label(self):
        """A name for tests, made of what differs from the defaults."""
        parts = [self.kind, self.a_type, self.b_type]
        if self.scaled:
            parts += [self.scale, str(self.block), self.spelling.replace(".", "").replace("::", "")]
        parts += [f"m{self.m}n{self.n}k{self.k}", f"a{self.a}", f"b{self.b}"]
        default = Config()
        for name in (
            "d_type", "ctas", "a_memory", "scales_by", "accumulate", "negate_a", "negate_b", "saturate",
            "sparse", "target",
        ):
            if getattr(self, name) != getattr(default, name):
                parts.append(f"{name}={getattr(self, name)}")
        return "-".join(part for part in parts if part)
