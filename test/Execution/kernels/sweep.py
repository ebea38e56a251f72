#!/usr/bin/python3
"""Single instructions on many values: the simulator against a card of sm_90 or later.

usage: sweep.py run FOLDER --launcher=PROGRAM [--only=TEXT] [-- FLAG...]
       sweep.py compare FOLDER FOLDER
       sweep.py digest FOLDER

`run` makes one kernel for each class of sources, with every instruction of the class, launches it with
PROGRAM (blockscale-sim or blockscale-launch) and stores what came out. `compare` holds two such
folders against each other: bit for bit, but for approximations, whose largest distance in units in
the last place is printed and must be at most that of the row. Sources are the ends of each format
and random codes. `digest` prints a number for each instruction, as cards.json has them. It prints each instruction that differs, and exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parent))
import conftest  # noqa: E402, F401
import numpy as np  # noqa: E402
from cases import Sweep  # noqa: E402
from launch import dispatch, launch  # noqa: E402
from stream import Stream  # noqa: E402

N = 4096


class Row(NamedTuple):
    """%d is the result of `bits` (1 for a predicate); %a, %b, %c are the sources."""

    text: str
    bits: int
    # Units in the last place; None is bit for bit.
    tolerance: float = None


class Class(NamedTuple):
    bits: int
    rows: list
    special: list


# Rows


def expand(template, bits, **choices):
    """A row for each combination: expand("add{r}.f32", 32, r=["", ".rz"])."""
    texts = [template]
    for name, values in choices.items():
        texts = [text.replace("{" + name + "}", value) for text in texts for value in values]
    return [Row(text, bits) for text in texts]


COMPARISONS = [".eq", ".ne", ".lt", ".le", ".gt", ".ge"]
FLOAT_COMPARISONS = [*COMPARISONS, ".equ", ".neu", ".ltu", ".leu", ".gtu", ".geu", ".num", ".nan"]
ROUNDINGS = [".rn", ".rz", ".rm", ".rp"]
INTEGRAL = [".rni", ".rzi", ".rmi", ".rpi"]


def saturating_rows(w):
    """cvt.sat is for what need not be in the range of the result."""

    def ends(kind, bits):
        return (0, 2**bits - 1) if kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    for to in ("u8", "s8", "u16", "s16", "u32", "s32"):
        for kind in "us":
            (low, high), (least, most) = ends(kind, w), ends(to[0], int(to[1:]))
            if low < least or high > most:
                yield Row(f"cvt.sat.{to}.{kind}{w} %d, %a;", 64)


def integer_rows(w):
    u, s, b = f".u{w}", f".s{w}", f".b{w}"
    both = [u, s]
    odd = f".reg {b} t; or{b} t, %b, 1;"
    rows = [
        *expand("add{t} %d, %a, %b;", w, t=both),
        *expand("sub{t} %d, %a, %b;", w, t=both),
        *expand("mul{h}{t} %d, %a, %b;", w, h=[".lo", ".hi"], t=both),
        *expand("mad{h}{t} %d, %a, %b, %c;", w, h=[".lo", ".hi"], t=both),
        *expand(odd + "{o}{t} %d, %a, t;", w, o=["div", "rem"], t=both),
        *expand("{o}{t} %d, %a, %b;", w, o=["min", "max"], t=both),
        *expand("{o}{t} %d, %a;", w, o=["abs", "neg"], t=[s]),
        *expand("sad{t} %d, %a, %b, %c;", w, t=both),
        *expand("{o}{t} %d, %a, %b;", w, o=["and", "or", "xor"], t=[b]),
        *expand("{o}{t} %d, %a;", w, o=["not", "cnot"], t=[b]),
        *expand("shl{t} %d, %a, %n;", w, t=[b]),
        *expand("shr{t} %d, %a, %n;", w, t=[b, u, s]),
        *expand("setp{c}{t} %d, %a, %b;", 1, c=COMPARISONS, t=both),
        *expand("setp{c}{m}{t} %d, %a, %b, %p;", 1, c=[".lt", ".ne"], m=[".and", ".or", ".xor"], t=[s]),
        *expand("set{c}.u32{t} %d, %a, %b;", 32, c=[".lt", ".eq"], t=both),
        Row(f"selp{b} %d, %a, %b, %p;", w),
        *expand("slct{t}.s32 %d, %a, %b, %n;", w, t=[u]),
        *expand("cvt.{o}{t} %d, %a;", 64, o=["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"], t=both),
        *saturating_rows(w),
        *expand("cvt{r}.f32{t} %d, %a;", 32, r=ROUNDINGS, t=both),
        *expand("cvt{r}.f64{t} %d, %a;", 64, r=ROUNDINGS, t=both),
        *expand("cvt{r}.f16{t} %d, %a;", 16, r=ROUNDINGS, t=both),
        *expand("cvt{r}.bf16{t} %d, %a;", 16, r=ROUNDINGS, t=both),
    ]
    if w != 64:
        rows += expand("mul.wide{t} %d, %a, %b;", 2 * w, t=both)
    if w != 16:
        rows += [
            *expand("{o}{t} %d, %a;", 32, o=["popc", "clz"], t=[b]),
            *expand("bfind{m}{t} %d, %a;", 32, m=["", ".shiftamt"], t=both),
            *expand("brev{t} %d, %a;", w, t=[b]),
            *expand("bfe{t} %d, %a, %m, %n;", w, t=both),
            *expand("bfi{t} %d, %a, %b, %m, %n;", w, t=[b]),
            Row(f".reg {b} t; add.cc{u} t, %a, %b; addc{u} %d, %c, 0;", w),
            Row(f".reg {b} t; sub.cc{u} t, %a, %b; subc{u} %d, %c, 0;", w),
            Row(f".reg {b} t; mad.lo.cc{u} t, %a, %b, %c; madc.hi{u} %d, %a, %b, 0;", w),
        ]
    return rows


def word_rows():
    luts = ["0x96", "0xE8", "0x1B", "0xFE", "0x80", "0x3A"]
    modes = ["", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"]
    return [
        *integer_rows(32),
        *expand("{o}.sat.s32 %d, %a, %b;", 32, o=["add", "sub"]),
        *expand("mad.hi.sat.s32 %d, %a, %b, %c;", 32),
        *expand("shf{s}{m}.b32 %d, %a, %b, %n;", 32, s=[".l", ".r"], m=[".clamp", ".wrap"]),
        *expand("lop3.b32 %d, %a, %b, %c, {l};", 32, l=luts),
        *expand("prmt.b32{m} %d, %a, %b, %c;", 32, m=modes),
        *expand("bmsk{m}.b32 %d, %m, %n;", 32, m=[".clamp", ".wrap"]),
        *expand("szext{m}{t} %d, %a, %n;", 32, m=[".clamp", ".wrap"], t=[".u32", ".s32"]),
        *expand("mul24{h}{t} %d, %a, %b;", 32, h=[".lo", ".hi"], t=[".u32", ".s32"]),
        *expand("mad24{h}{t} %d, %a, %b, %c;", 32, h=[".lo", ".hi"], t=[".u32", ".s32"]),
        *expand("dp4a{t}{s} %d, %a, %b, %c;", 32, t=[".u32", ".s32"], s=[".u32", ".s32"]),
        *expand("dp2a{h}{t}{s} %d, %a, %b, %c;", 32, h=[".lo", ".hi"], t=[".u32", ".s32"], s=[".u32", ".s32"]),
        *expand("add{t} %d, %a, %b;", 32, t=[".u16x2", ".s16x2"]),
        *expand("{o}{t} %d, %a, %b;", 32, o=["min", "max"], t=[".u16x2", ".s16x2"]),
        *expand("{o}.relu{t} %d, %a, %b;", 32, o=["min", "max"], t=[".s32", ".s16x2"]),
        Row(".reg .b32 m; and.b32 m, %b, 31; fns.b32 %d, %a, m, 2;", 32),
        Row(".reg .b32 m; and.b32 m, %b, 31; fns.b32 %d, %a, m, -3;", 32),
    ]


def single_rows():
    ftz = ["", ".ftz"]
    return [
        *expand("{o}{r}{f}{s}.f32 %d, %a, %b;", 32, o=["add", "sub", "mul"], r=ROUNDINGS, f=ftz, s=["", ".sat"]),
        *expand("fma{r}{f}{s}.f32 %d, %a, %b, %c;", 32, r=ROUNDINGS, f=ftz, s=["", ".sat"]),
        *expand("div{r}{f}.f32 %d, %a, %b;", 32, r=ROUNDINGS, f=ftz),
        *expand("{o}{r}{f}.f32 %d, %a;", 32, o=["rcp", "sqrt"], r=ROUNDINGS, f=ftz),
        *expand("{o}{f}{n}{x}.f32 %d, %a, %b;", 32, o=["min", "max"], f=ftz, n=["", ".NaN"], x=["", ".xorsign.abs"]),
        *expand("{o}{f}.f32 %d, %a;", 32, o=["abs", "neg"], f=ftz),
        *expand("copysign.f32 %d, %a, %b;", 32),
        *expand("setp{c}{f}.f32 %d, %a, %b;", 1, c=FLOAT_COMPARISONS, f=ftz),
        *expand("set{c}.f32.f32 %d, %a, %b;", 32, c=[".lt", ".neu"]),
        *expand("slct{f}.b32.f32 %d, %a, %b, %c;", 32, f=ftz),
        *expand("testp{c}.f32 %d, %a;", 1, c=[".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"]),
        *expand("cvt{r}{f}.{o}.f32 %d, %a;", 64, r=INTEGRAL, f=ftz, o=["u32", "s32", "u64", "s64", "u16", "s16"]),
        *expand("cvt{r}{f}.f32.f32 %d, %a;", 32, r=INTEGRAL, f=ftz),
        *expand("cvt{s}{f}.f32.f32 %d, %a;", 32, s=["", ".sat"], f=ftz),
        *expand("cvt{f}.f64.f32 %d, %a;", 64, f=ftz),
        *expand("cvt{r}.f16.f32 %d, %a;", 16, r=ROUNDINGS),
        *expand("cvt{r}{m}.{o}.f32 %d, %a;", 16, r=[".rn", ".rz"], m=["", ".relu"], o=["f16", "bf16"]),
        *expand("cvt{r}{m}.{o}.f32 %d, %a, %b;", 32, r=[".rn", ".rz"], m=["", ".relu"], o=["f16x2", "bf16x2"]),
        *expand("cvt{r}.tf32.f32 %d, %a;", 32, r=[".rn", ".rz"]),
        # Cards round the payload of a NaN away, so that infinity is left.
        Row("cvt.rna.tf32.f32 %d, %a;", 32, np.inf),
        *expand("cvt.rn.satfinite{m}.{o}.f32 %d, %a, %b;", 16, m=["", ".relu"], o=["e4m3x2", "e5m2x2"]),
        *[row._replace(tolerance=2) for row in [
            *expand("div{m}{f}.f32 %d, %a, %b;", 32, m=[".approx", ".full"], f=ftz),
            *expand("{o}.approx{f}.f32 %d, %a;", 32, o=["rcp", "sqrt", "rsqrt", "ex2"], f=ftz),
        ]],
        # Absolute errors, which are large in units of small results.
        *[row._replace(tolerance=np.inf) for row in
          expand("{o}.approx{f}.f32 %d, %a;", 32, o=["sin", "cos", "lg2"], f=ftz)],
        *[row._replace(tolerance=2**13) for row in expand("tanh.approx.f32 %d, %a;", 32)],
    ]


def double_rows():
    return [
        *expand("{o}{r}.f64 %d, %a, %b;", 64, o=["add", "sub", "mul", "div"], r=ROUNDINGS),
        *expand("fma{r}.f64 %d, %a, %b, %c;", 64, r=ROUNDINGS),
        *expand("{o}{r}.f64 %d, %a;", 64, o=["rcp", "sqrt"], r=ROUNDINGS),
        *expand("{o}.f64 %d, %a, %b;", 64, o=["min", "max", "copysign"]),
        *expand("{o}.f64 %d, %a;", 64, o=["abs", "neg"]),
        *expand("setp{c}.f64 %d, %a, %b;", 1, c=FLOAT_COMPARISONS),
        *expand("testp{c}.f64 %d, %a;", 1, c=[".normal", ".subnormal"]),
        *expand("cvt{r}.{o}.f64 %d, %a;", 64, r=INTEGRAL, o=["u32", "s32", "u64", "s64", "u16"]),
        *expand("cvt{r}{f}.f32.f64 %d, %a;", 32, r=ROUNDINGS, f=["", ".ftz"]),
        *expand("cvt{r}.f16.f64 %d, %a;", 16, r=ROUNDINGS),
        *expand("cvt{r}.f64.f64 %d, %a;", 64, r=INTEGRAL),
    ]


def half_rows(kind, is_pair):
    """Of .f16, .bf16 or a pair of them."""
    bits = 32 if is_pair else 16
    t = f".{kind}{'x2' if is_pair else ''}"
    is_f16 = kind == "f16"
    ftz = ["", ".ftz"] if is_f16 else [""]
    rows = [
        *expand("{o}{r}{f}" + t + " %d, %a, %b;", bits, o=["add", "sub", "mul"], r=["", ".rn"], f=ftz),
        *expand("fma.rn{f}{m}" + t + " %d, %a, %b, %c;", bits, f=ftz, m=["", ".relu"]),
        *expand("{o}{f}{n}{x}" + t + " %d, %a, %b;", bits, o=["min", "max"], f=ftz, n=["", ".NaN"], x=["", ".xorsign.abs"]),
        *expand("{o}{f}" + t + " %d, %a;", bits, o=["abs", "neg"], f=ftz),
    ]
    if is_f16:
        rows += expand("{o}{f}.sat" + t + " %d, %a, %b;", bits, o=["add", "sub", "mul"], f=ftz)
        rows += expand("fma.rn{f}.sat" + t + " %d, %a, %b, %c;", bits, f=ftz)
    if is_pair:
        rows += expand("set{c}" + t + t + " %d, %a, %b;", 32, c=FLOAT_COMPARISONS)
        rows += expand(
            ".reg .pred q; setp{c}" + t + " %d|q, %a, %b; @q setp.eq.u32 %d, 1, 1;", 1,
            c=FLOAT_COMPARISONS,
        )
        if is_f16:
            rows += expand("cvt.rn.satfinite{m}.{o}.f16x2 %d, %a;", 16, m=["", ".relu"], o=["e4m3x2", "e5m2x2"])
    else:
        rows += expand("setp{c}" + t + " %d, %a, %b;", 1, c=FLOAT_COMPARISONS)
        rows += expand("cvt.f32" + t + " %d, %a;", 32)
        for to in (16, 32, 64):
            rows += expand("cvt{r}.{o}" + t + " %d, %a;", to, r=INTEGRAL, o=[f"u{to}", f"s{to}"])
        rows += expand("cvt{r}" + t + t + " %d, %a;", 16, r=INTEGRAL)
    return [
        *rows,
        *[row._replace(tolerance=1) for row in [
            *expand("ex2.approx" + ("" if is_f16 else ".ftz") + t + " %d, %a;", bits),
            *expand("tanh.approx" + t + " %d, %a;", bits),
        ]],
    ]


def narrow_rows():
    return [
        *expand("cvt.rn{m}.f16x2.{o} %d, %a;", 32, m=["", ".relu"], o=["e4m3x2", "e5m2x2"]),
    ]


F32 = [0, 1, 0x007FFFFF, 0x00800000, 0x00800001, 0x00FFFFFF, 0x01000000, 0x3EFFFFFF, 0x33800000, 0x3F000000, 0x3F7FFFFE, 0x3F7FFFFF, 0x3F800000, 0x3F800001,
       0x40000000, 0x40490FDB, 0x477FE000, 0x4B000001, 0x4EFFFFFF, 0x4F000000, 0x4F800000, 0x5F000000,
       0x7F000000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF]
F64 = [0, 1, 0xFFFFFFFFFFFFF, 1 << 52, 0x3FE0000000000000, 0x3FF0000000000000, 0x3FF0000000000001,
       0x41DFFFFFFFC00000, 0x43E0000000000000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000,
       0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000]
F16 = [0, 1, 0x3FF, 0x400, 0x401, 0x7FF, 0x800, 0x37FF, 0x3800, 0x3BFF, 0x3C00, 0x3C01, 0x4000, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF]
BF16 = [0, 1, 0x7F, 0x80, 0x3F80, 0x3F81, 0x4000, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF]


def signed(codes, bits):
    return [*codes, *[code | 1 << bits - 1 for code in codes]]


def pairs(codes):
    return [low | high << 16 for low in codes for high in codes[::5]]


def ends(bits):
    return [0, 1, 2, 31, 32, (1 << bits) - 1, (1 << bits) - 2, 1 << bits - 1, (1 << bits - 1) - 1]


CLASSES = {
    "i16": Class(16, integer_rows(16), ends(16)),
    "i32": Class(32, word_rows(), ends(32)),
    "i64": Class(64, integer_rows(64), ends(64)),
    "f32": Class(32, single_rows(), signed(F32, 32)),
    "f64": Class(64, double_rows(), signed(F64, 64)),
    "f16": Class(16, half_rows("f16", False), signed(F16, 16)),
    "bf16": Class(16, half_rows("bf16", False), signed(BF16, 16)),
    "f16x2": Class(32, half_rows("f16", True), pairs(signed(F16, 16))),
    "bf16x2": Class(32, half_rows("bf16", True), pairs(signed(BF16, 16))),
    "fp8": Class(16, narrow_rows(), list(range(256))),
}


# Kernels


def make_ptx(cls):
    w = cls.bits
    lines = [
        ".version 8.6", ".target sm_90", ".address_size 64",
        ".visible .entry k(.param .u64 in, .param .u64 out) {",
        f".reg .b{w} %a, %b, %c;", ".reg .b64 %t<6>;", ".reg .b32 %m, %n, %i;", ".reg .pred %p;",
        "ld.param.u64 %t0, [in]; ld.param.u64 %t1, [out];",
        "mov.u32 %i, %ctaid.x; mov.u32 %m, %tid.x; mad.lo.u32 %i, %i, 128, %m;",
        "mul.wide.u32 %t2, %i, 8; add.u64 %t0, %t0, %t2; add.u64 %t1, %t1, %t2;",
    ]
    for i, name in enumerate("abc"):
        lines.append(f"ld.global.b{w} %{name}, [%t0 + {8 * N * i}];")
    # Positions, widths and amounts: mostly small.
    lines += [
        f"ld.global.u16 %m, [%t0 + {8 * N}]; ld.global.u16 %n, [%t0 + {16 * N}];",
        "and.b32 %m, %m, 63; and.b32 %n, %n, 127; setp.lt.u32 %p, %n, 64;",
    ]
    for i, row in enumerate(cls.rows):
        address = f"[%t1 + {8 * N * i}]"
        lines.append("{")
        if row.bits == 1:
            lines.append(".reg .pred %d; .reg .b32 %r;")
            lines.append(row.text)
            lines.append(f"selp.b32 %r, 1, 0, %d; st.global.b32 {address}, %r;")
        else:
            lines.append(f".reg .b{row.bits} %d;")
            lines.append(row.text)
            lines.append(f"st.global.b{row.bits} {address}, %d;")
        lines.append("}")
    lines += ["ret;", "}"]
    return "\n".join(lines) + "\n"


def make_sources(name, cls):
    """Pairs of special values, and random codes."""
    stream = Stream(name)
    mask = (1 << cls.bits) - 1
    sources = stream.words((3, N))
    special = np.array(cls.special, np.uint64)
    every = min(len(special) ** 2, N * 3 // 4)
    chosen = stream.integers(0, len(special) ** 2 - 1, every)
    sources[0, :every] = special[chosen // len(special)]
    sources[1, :every] = special[chosen % len(special)]
    sources[2, :every] = stream.choice(special, every)
    # Values near each other, so that sums cancel.
    half = N * 7 // 8
    sources[1, half:] = sources[0, half:] ^ (sources[1, half:] & np.uint64(mask >> cls.bits // 2))
    return sources & np.uint64(mask)


def make_case(name, cls):
    out = np.zeros((len(cls.rows), N), np.uint64)
    return Sweep(make_ptx(cls), "k", (N // 128,), (128,), [make_sources(name, cls), out], {1: None}, (), name)


def run(folder, launcher, only, flags):
    wrong = 0
    for name, cls in CLASSES.items():
        if only not in name:
            continue
        try:
            launch(make_case(name, cls), folder, launcher, flags)
            print(f"{name}: {len(cls.rows)} instructions ran")
        except AssertionError as error:
            wrong += 1
            print(f"{name}: {error}")
    return wrong


def to_values(codes, kind):
    """The values of f16, bf16, f32 or f64 codes."""
    if kind == "bf16":
        return (codes << np.uint64(16)).astype(np.uint32).view(np.float32)
    bits = int(kind[1:])
    return codes.astype(f"u{bits // 8}").view(f"f{bits // 8}")


def result_kind(row):
    """The format of a floating-point result; None for other results."""
    if row.bits == 1:
        return None
    opcode, *modifiers = row.text.split(";")[-2].split()[0].split(".")
    types = [m for m in modifiers if re.fullmatch(r"[usbf]\d+(x2)?|bf16(x2)?|tf32|e\dm\dx2", m)]
    kind = types[0].removesuffix("x2").replace("tf32", "f32") if types else None
    return kind if kind in FLOATS else None


FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def split(codes, kind, bits):
    """The codes of each element of a result."""
    width = FLOATS[kind]
    mask = np.uint64((1 << width) - 1)
    return np.stack([codes >> np.uint64(i) & mask for i in range(0, bits, width)])


def distance(first, second, kind):
    """Units in the last place between codes; infinity where one is special and not the other."""
    sign = np.uint64(1 << FLOATS[kind] - 1)

    def ordered(codes):
        magnitude = (codes & (sign - np.uint64(1))).astype(float)
        return np.where(codes & sign, -magnitude, magnitude)

    with np.errstate(invalid="ignore"):
        a, b = to_values(first, kind), to_values(second, kind)
        special = ~(np.isfinite(a) & np.isfinite(b))
        same = (np.isnan(a) & np.isnan(b)) | (a == b)
        return np.where(same, 0, np.where(special, np.inf, np.abs(ordered(first) - ordered(second))))


def digest(folder):
    """A number for each instruction's results, but for approximations; all NaNs count as one."""
    numbers = {}
    for name, cls in CLASSES.items():
        for row, codes in zip(cls.rows, np.load(folder / f"{name}.1.npy")):
            if row.tolerance is not None:
                continue
            kind = result_kind(row)
            if kind:
                parts = split(codes, kind, row.bits)
                nan = np.uint64((1 << FLOATS[kind]) - 1)
                codes = np.where(np.isnan(to_values(parts, kind)), nan, parts)
            numbers[f"{name}: {row.text}"] = crc32(codes.tobytes())
    return numbers


def show(name, row, sources, first, second, different):
    i = np.flatnonzero(different)[0]
    numbers = " ".join(f"{int(source[i]):#x}" for source in sources)
    print(
        f"{name}: {row.text}  {different.sum()} differ, such as of {numbers}: "
        f"{int(first[i]):#x} and {int(second[i]):#x}"
    )


def describe(row, apart):
    if row.tolerance == np.inf:
        return f"{(apart > 0).sum()} of {apart.size} differ"
    return f"at most {apart.max()} units apart"


def compare(folder, other):
    """Which NaN comes out is nobody's business: the ISA does not say."""
    wrong = total = nans = 0
    for name, cls in CLASSES.items():
        sources = make_sources(name, cls)
        first, second = np.load(folder / f"{name}.1.npy"), np.load(other / f"{name}.1.npy")
        for row, a, b in zip(cls.rows, first, second):
            total += 1
            different = a != b
            kind = result_kind(row)
            if kind and different.any():
                before = different.sum()
                apart = distance(split(a, kind, row.bits), split(b, kind, row.bits), kind)
                different &= (apart > 0).any(0) | (a == b)
                nans += before != different.sum()
                if row.tolerance is not None and different.any():
                    print(f"{name}: {row.text}  {describe(row, apart)}")
                    different = (apart > row.tolerance).any(0)
            if different.any():
                wrong += 1
                show(name, row, sources, a, b, different)
    print(f"{total - wrong} of {total} instructions agree ({nans} of them but for a NaN)")
    return wrong


if __name__ == "__main__":
    sys.exit(dispatch(__doc__, run, compare, digest))
