"""What a configuration of wgmma.mma_async is, and those that are executed."""

from typing import NamedTuple

from operand_types import ELEMENTS

STEP_BYTES = 32  # of K, of each instruction


class Storage(NamedTuple):
    """An operand in shared memory: "K" or "MN" is contiguous, in patterns of `swizzle` bytes (0: none).

    `inner` is what follows an atom without swizzle, `gap` are bytes between atoms.
    """

    major: str = "K"
    swizzle: int = 128
    inner: str = "K"
    gap: int = 0
    across: bool = False  # for shared_images


class Config(NamedTuple):
    """D (64, n) += A (64, k) B (k, n) in `steps` instructions, `group` of which are committed together."""

    d_type: str
    a_type: str
    b_type: str
    n: int = 64
    steps: int = 4
    group: int = 2
    a: Storage = Storage()  # None: in registers
    b: Storage = Storage()
    negate_a: bool = False
    negate_b: bool = False
    # scale-d of the first instruction: the text of the operand, and whether it is true.
    scale_d: tuple = ("1", True)
    saturates: bool = False
    # Of a sparse A: which lanes have its metadata; None if A is dense.
    selector: int | None = None

    @property
    def kept_step(self):
        """Elements of a row of A of each instruction: all of a dense one."""
        return STEP_BYTES * 8 // ELEMENTS[self.a_type].bits

    @property
    def k_step(self):
        return self.kept_step * (1 if self.selector is None else 2)

    @property
    def k(self):
        return self.steps * self.k_step

    @property
    def has_signs(self):
        return self.d_type != "s32"

    @property
    def has_transposes(self):
        return self.a_type in ("f16", "bf16")

    @property
    def registers(self):
        """Of D."""
        return self.n // (4 if self.d_type == "f16" else 2)

    @property
    def shape(self):
        return f"m64n{self.n}k{self.k_step}"

    @property
    def label(self):
        def describe(storage):
            if not storage:
                return "registers"
            gap = f"{storage.inner}{storage.gap}" if storage.gap or storage.inner != "K" else ""
            return f"{storage.major}{storage.swizzle}{gap}"

        flags = "-na" * self.negate_a + "-nb" * self.negate_b + "-sat" * self.saturates
        flags += "" if self.selector is None else f"-sparse{self.selector}"
        scale = "" if self.scale_d == ("1", True) else f"-scale{self.scale_d[0].strip('%')}"
        return (
            f"{self.shape}.{self.d_type}.{self.a_type}.{self.b_type}-A{describe(self.a)}-B{describe(self.b)}"
            f"-{self.steps}by{self.group}{flags}{scale}".replace("!%", "not-")
        )


FLOATS = [
    ("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"),
    *((d, a, b) for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
]
INTEGERS = [("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")]
SIZES = (8, 24, 64, 128, 256)
SWIZZLES = (0, 32, 64, 128)
# The operand, and whether it is true; %flag is set and %clear is not.
SCALES = [("0", False), ("%flag", True), ("!%flag", False), ("%clear", False), ("!%clear", True)]


def majors():
    """MN-major operands: patterns that N fills."""
    for types in FLOATS[:3]:
        for swizzle in SWIZZLES:
            mn = Storage("MN", swizzle)
            yield Config(*types, a=mn)
            yield Config(*types, b=mn)
            yield Config(*types, a=None, b=mn)
            yield Config(*types, n=128, a=mn, b=mn)
        yield Config(*types, n=24, b=Storage("MN", 0, "MN", 16))
        yield Config(*types, n=8, b=Storage("MN", 0))
        yield Config(*types, n=256, a=Storage("MN", 64), b=Storage("MN", 128))


def sparse_configs():
    """A row of B of an instruction has 64 bytes, which a pattern of 32 has not."""
    for types in FLOATS[:3]:
        for selector in (0, 1):
            for a in (Storage(), None):
                for n in SIZES[:-1]:
                    yield Config(*types, n=n, a=a, selector=selector)
                # Two steps: the bytes of four would be too many for variables.
                yield Config(*types, n=256, steps=2, a=a and Storage("K", 64), selector=selector)
                yield Config(*types, n=16, a=a, negate_a=True, selector=selector)
                yield Config(*types, n=16, a=a, b=Storage("K", 64), selector=selector)
                yield Config(*types, n=16, a=a, b=Storage("K", 0), selector=selector)
                yield Config(*types, a=a, b=Storage("MN", 128), selector=selector)
            yield Config(*types, n=24, a=Storage("K", 32), selector=selector)
            yield Config(*types, n=24, a=Storage("MN", 64), selector=selector)


def all_configs():
    configs = []
    for types in (*FLOATS, *INTEGERS):
        for n in SIZES:
            configs += [Config(*types, n=n), Config(*types, n=n, a=None)]
        for swizzle in SWIZZLES:
            configs.append(Config(*types, n=24, a=Storage("K", swizzle), b=Storage("K", swizzle)))
        configs.append(Config(*types, a=Storage("K", 0, "MN", 16), b=Storage("K", 64, "K", 512)))
        configs.append(Config(*types, n=32, steps=6, group=1, a=Storage("K", 32), b=Storage("K", 0)))
        configs += [Config(*types, n=8, scale_d=scale) for scale in SCALES]
    for types in FLOATS:
        for negate in ((True, False), (False, True), (True, True)):
            for a in (Storage(), None):
                configs.append(Config(*types, n=16, a=a, negate_a=negate[0], negate_b=negate[1]))
    configs += [Config(*types, n=48, saturates=True) for types in INTEGERS]
    return list(dict.fromkeys([*configs, *majors(), *sparse_configs()]))
