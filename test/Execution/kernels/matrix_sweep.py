#!/usr/bin/python3
"""Every mma.sync and mma.sp that sm_90 has, on registers of random small values.

usage: matrix_sweep.py run FOLDER --launcher=PROGRAM [--only=TEXT] [-- FLAG...]
       matrix_sweep.py compare FOLDER FOLDER
       matrix_sweep.py digest FOLDER

As sweep.py, for matrix instructions: fragments, metadata and sparsity selectors are those of the
machine, as nothing here knows where an element is. Sums are exact, so that results must be the same
bit for bit.
"""

import sys
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parent))
import conftest  # noqa: E402, F401
import numpy as np  # noqa: E402
from cases import BITS, RANGES, Sweep, pack, to_codes  # noqa: E402
from launch import dispatch, launch  # noqa: E402
from stream import Stream  # noqa: E402

TIMES = 8


class Form(NamedTuple):
    text: str
    a: int
    b: int
    # Registers of C and D.
    c: int
    kinds: tuple
    is_sparse: bool = False
    selectors: int = 1


def form(k, a_regs, kinds, acc, prefix="", is_sparse=False, selectors=1):
    a_kind, b_kind = kinds
    b_regs = a_regs if is_sparse else a_regs // 2
    text = f"mma{prefix}.sync.aligned.m16n8k{k}.row.col.{acc}.{a_kind}.{b_kind}.{acc}"
    c_regs = 2 if acc == "f16" else 4
    return Form(text, a_regs, b_regs, c_regs, (*kinds, acc), is_sparse, selectors)


def same(*kinds):
    return [(kind, kind) for kind in kinds]


def mixed(*kinds):
    return [(a, b) for a in kinds for b in kinds]


def dense_forms():
    for kinds, k, accs in [
        *[(pair, 8, ("f32", "f16")) for pair in same("f16")],
        *[(pair, 8, ("f32",)) for pair in same("bf16")],
        *[(pair, 4, ("f32",)) for pair in same("tf32")],
        *[(pair, 16, ("s32",)) for pair in mixed("s8", "u8")],
        *[(pair, 32, ("s32",)) for pair in mixed("s4", "u4")],
    ]:
        for acc in accs:
            yield form(k, 2, kinds, acc)
            yield form(2 * k, 4, kinds, acc)
    for kinds in mixed("e4m3", "e5m2"):
        for acc in ("f32", "f16"):
            yield form(16, 2, kinds, acc)
            yield form(32, 4, kinds, acc)


def sparse_forms(prefix):
    for kinds, k, selectors, accs in [
        *[(pair, 16, 4, ("f32", "f16")) for pair in same("f16")],
        *[(pair, 16, 4, ("f32",)) for pair in same("bf16")],
        *[(pair, 8, 4, ("f32",)) for pair in same("tf32")],
        *[(pair, 32, 2, ("s32",)) for pair in mixed("s8", "u8")],
        *[(pair, 64, 2, ("s32",)) for pair in mixed("s4", "u4")],
    ]:
        for acc in accs:
            yield form(k, 2, kinds, acc, prefix, is_sparse=True, selectors=selectors)
            yield form(2 * k, 4, kinds, acc, prefix, is_sparse=True, selectors=selectors // 2)
    for kinds in mixed("e4m3", "e5m2"):
        yield form(64, 4, kinds, "f32", prefix, is_sparse=True)


def all_forms():
    yield from dense_forms()
    yield from sparse_forms(".sp")
    yield from sparse_forms(".sp::ordered_metadata")


def registers(stream, kind, count):
    """Registers of small values: TIMES x count x 32."""
    smallest, largest = RANGES.get(kind, (-4, 4))
    bits = BITS[kind]
    values = stream.integers(smallest, largest, (TIMES, count, 32, 32 // bits))
    return pack(to_codes(values, kind), bits)[..., 0]


def accumulators(stream, kind, count):
    values = stream.integers(-20, 20, (TIMES, count, 32, 2))
    if kind == "f16":
        return pack(to_codes(values, "f16"), 16)[..., 0]
    return values[..., 0].astype(np.int32 if kind == "s32" else np.float32).view(np.uint32)


def metadata(stream, kind):
    fields = np.array([4, 14] if kind == "tf32" else [4, 8, 9, 12, 13, 14])
    return pack(stream.choice(fields, (TIMES, 1, 32, 8)), 4)[..., 0]


def names(first, count):
    return "{" + ", ".join(f"%x{i}" for i in range(first, first + count)) + "}"


def make_case(form):
    stream = Stream(form.text)
    a_kind, b_kind, acc = form.kinds
    parts = [
        registers(stream, a_kind, form.a), registers(stream, b_kind, form.b),
        accumulators(stream, acc, form.c),
    ]
    if form.is_sparse:
        parts.append(metadata(stream, a_kind))
    data = np.concatenate(parts, axis=1)
    count, results = data.shape[1], form.selectors * form.c
    b, c, d = form.a, form.a + form.b, count
    lines = [
        ".version 8.7", ".target sm_90", ".address_size 64",
        ".visible .entry k(.param .u64 in, .param .u64 out) {",
        f".reg .b32 %x<{count + form.c}>; .reg .b64 %t<4>; .reg .b32 %i, %j, %l;",
        "ld.param.u64 %t0, [in]; ld.param.u64 %t1, [out];",
        "mov.u32 %i, %ctaid.x; mov.u32 %l, %tid.x;",
        f"mad.lo.u32 %j, %i, {count * 32}, %l; mul.wide.u32 %t2, %j, 4; add.u64 %t0, %t0, %t2;",
        f"mad.lo.u32 %j, %i, {results * 32}, %l; mul.wide.u32 %t2, %j, 4; add.u64 %t1, %t1, %t2;",
    ]
    lines += [f"ld.global.b32 %x{i}, [%t0 + {128 * i}];" for i in range(count)]
    for selector in range(form.selectors):
        operands = [names(d, form.c), names(0, form.a), names(b, form.b), names(c, form.c)]
        if form.is_sparse:
            operands += [f"%x{count - 1}", f"0x{selector}"]
        lines.append(f"{form.text} {', '.join(operands)};")
        for i in range(form.c):
            lines.append(f"st.global.b32 [%t1 + {128 * (selector * form.c + i)}], %x{d + i};")
    lines += ["ret;", "}"]
    out = np.zeros((TIMES, results, 32), np.uint32)
    name = form.text.replace(".sync.aligned", "").replace(".row.col", "").replace("::", "-")
    return Sweep("\n".join(lines) + "\n", "k", (TIMES,), (32,), [data, out], {1: None}, (), name)


def cases():
    return [make_case(form) for form in all_forms()]


def run(folder, launcher, only, flags):
    wrong = 0
    chosen = [case for case in cases() if only in case.name]
    for case in chosen:
        try:
            launch(case, folder, launcher, flags)
        except AssertionError as error:
            wrong += 1
            print(f"{case.name}: {error}")
    print(f"{len(chosen) - wrong} of {len(chosen)} instructions ran")
    return wrong


def compare(folder, other):
    wrong = 0
    for case in cases():
        first, second = (np.load(path / f"{case.name}.1.npy") for path in (folder, other))
        if not np.array_equal(first, second):
            wrong += 1
            print(f"{case.name}: {(first != second).sum()} of {first.size} words differ")
    print(f"{len(cases()) - wrong} of {len(cases())} instructions agree")
    return wrong


def digest(folder):
    """A number for each instruction's results."""
    return {
        case.name: crc32(np.load(folder / f"{case.name}.1.npy").tobytes()) for case in cases()
    }


if __name__ == "__main__":
    sys.exit(dispatch(__doc__, run, compare, digest))
