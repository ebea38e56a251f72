"""One term of a correct kernel at a time is changed: the simulator must notice, or D must change.

Not mutated, because nothing could show it:
  * the leading byte offset of a swizzled K-major matrix, which is not used (PTX ISA, "Strides"), and that
    of a copy of 32x128b, which has one unit of 16 bytes in a line,
  * the sparsity selector of an instruction that is not sparse,
  * an N that is larger: columns beside those that are compared are computed as well,
  * lanes of scale factors by 32: all four groups of lanes hold the same.
"""

from dataclasses import replace

import mma_data
import mma_launch
import numpy as np
import pytest
import tiers
from mma_cases import ACROSS, K_MAJOR, MN_MAJOR, mxf4, mxf8f6f4, nvf4
from mma_config import Config
from mma_kernels import kernel
from mma_plan import make_plan

# Fields of instruction descriptors: (name, mask to exclusive-or).
SCALED_FIELDS = (
    ("sparse", 1 << 2), ("b scale id", 1 << 4), ("b scale id high", 1 << 5), ("a type", 1 << 7),
    ("b type", 1 << 10), ("negate a", 1 << 13), ("negate b", 1 << 14), ("transpose a", 1 << 15),
    ("transpose b", 1 << 16), ("smaller n", 12 << 17), ("scale type", 1 << 23),
    ("m", 3 << 27), ("a scale id", 1 << 29), ("a scale id high", 1 << 30), ("reserved or k", 1 << 31),
    ("reserved 0", 1), ("reserved 6", 1 << 6), ("reserved 24", 1 << 24),
)
PAIR_FIELDS = (("smaller n", 12 << 17), ("m", 3 << 27), ("a scale id", 1 << 29), ("b scale id", 1 << 4))
K96_FIELDS = (*PAIR_FIELDS[2:], ("k", 1 << 31), ("a scale id high", 1 << 30), ("b scale id high", 1 << 5))
PLAIN_FIELDS = (
    ("sparse", 1 << 2), ("d type", 1 << 4), ("a type", 1 << 7), ("b type", 1 << 10),
    ("negate a", 1 << 13), ("negate b", 1 << 14), ("transpose a", 1 << 15), ("transpose b", 1 << 16),
    ("smaller n", 12 << 17), ("m", 12 << 24), ("reserved 6", 1 << 6), ("reserved 23", 1 << 23),
)
# Fields of shared memory descriptors.
STRIDE, LEADING = 1 << 32, 1 << 16
MATRIX_FIELDS = (
    ("stride", 8 * STRIDE), ("version", 1 << 46), ("swizzle", 6 << 61), ("swizzle reserved", 1 << 61),
    ("fixed zero", 1 << 53),
)
LEADING_FIELD = (("leading", 8 * LEADING),)


def _edit(plan, number, **changes):
    """The plan with one instruction changed; a change is a function of the old value."""
    mmas = list(plan.mmas)
    old = mmas[number]
    mmas[number] = old._replace(**{name: change(getattr(old, name)) for name, change in changes.items()})
    return replace(plan, mmas=mmas)


def _xor(mask):
    return lambda value: value ^ mask


def _add(number):
    return lambda value: value + number


def _descriptors(plan, fields, a_extra, b_extra):
    """Fields of the last instruction's descriptor and of the second one's matrices; `a_extra` and `b_extra`
    are further fields of A and B that mean something."""
    last = len(plan.mmas) - 1
    for name, mask in fields:
        yield f"instruction {name}", _edit(plan, last, instruction=_xor(mask))
    operands = [("b", b_extra)] + [("a", a_extra)] * (plan.config.a_memory == "shared")
    for operand, extra in operands:
        for distance in (16, 1024):
            yield f"{operand} start + {distance}", _edit(plan, 1, **{operand: _add(distance)})
        for name, mask in (*MATRIX_FIELDS, *extra):
            yield f"{operand} {name}", _edit(plan, 1, **{f"{operand}_descriptor": _xor(mask)})


def _addresses(plan):
    """Columns and lanes (bits 16 up) of operands in tensor memory."""
    last = len(plan.mmas) - 1
    names = ["d"] + ["a"] * (plan.config.a_memory == "tensor")
    names += ["a_scale", "b_scale"] * plan.config.scaled + ["metadata"] * plan.config.sparse
    for name in names:
        for what, number in (("column", 1), ("four columns", 4), ("lane", 1 << 16)):
            yield f"{name} {what}", _edit(plan, last, **{name: _add(number)})
    yield "d not accumulated", _edit(plan, last, accumulates=lambda _: False)
    yield "read one column further", replace(plan, d_column=plan.d_column + 1)


def _copies(plan):
    """Offsets of every copy of scale factors, and the descriptor of the first."""
    for i, copy in enumerate(plan.copies):
        changes = [
            ("offset", copy._replace(offset=copy.offset + 16)),
            ("column", copy._replace(column=copy.column + 1)),
        ]
        if i == 0:
            changes += [
                ("lane", copy._replace(column=copy.column + (1 << 16))),
                ("stride", copy._replace(descriptor=copy.descriptor + 8 * STRIDE)),
                ("swizzle", copy._replace(descriptor=copy.descriptor ^ 2 << 61)),
                ("version", copy._replace(descriptor=copy.descriptor ^ 1 << 46)),
            ]
        for name, changed in changes:
            copies = [*plan.copies[:i], changed, *plan.copies[i + 1 :]]
            yield f"copy {i} {name}", replace(plan, copies=copies)


def _data(config, data):
    """One scale factor of each operand, one element, and one place in metadata."""
    for name in ("a_scale", "b_scale"):
        if config.scaled:
            codes = getattr(data, name).copy()
            codes[-1, -1] ^= 8
            yield f"data {name}", data._replace(**{name: codes})
    codes = data.a.copy()
    codes[5, -1] ^= 1 << 2
    yield "data a", data._replace(a=codes)
    if config.sparse:
        fields = data.fields.copy()
        fields[6, -1] = 0b1110 if fields[6, -1] != 0b1110 else 0b0100
        yield "data metadata", data._replace(fields=fields)


def _continuations(plan):
    """The third instruction is the first whose rows continue in another panel."""
    for operand in "ab":
        name = f"{operand}_next"
        yield name, _edit(plan, 2, **{name: _add(1024)})
        yield f"{name} mode", _edit(plan, 2, **{f"{operand}_descriptor": _xor(1 << 52)})


def _pair(plan):
    """What belongs to one CTA of a pair is given to the other."""
    yield "shared memory of the other CTA", replace(plan, shared=plan.shared[::-1])
    fills = [fill._replace(words=fill.words[::-1]) for fill in plan.fills]
    yield "tensor memory of the other CTA", replace(plan, fills=fills)


def mutants(plan, data, fields, a_extra, b_extra):
    """(what was changed, the changed plan)."""
    yield from _descriptors(plan, fields, a_extra, b_extra)
    yield from _addresses(plan)
    yield from _copies(plan)
    if plan.config.ctas == 2:
        yield from _pair(plan)
    if plan.config.b.across:
        yield from _continuations(plan)
    for name, changed in _data(plan.config, data):
        yield name, make_plan(plan.config, changed)


BASES = (
    (mxf8f6f4(n=64), SCALED_FIELDS, (), ()),
    (mxf8f6f4(n=64, a=K_MAJOR[0], b=MN_MAJOR[0], a_type="e3m2", b_type="e5m2"), SCALED_FIELDS,
     LEADING_FIELD, LEADING_FIELD),
    (nvf4(n=72, a_memory="tensor"), SCALED_FIELDS, (), ()),
    (mxf4(n=64, b=K_MAJOR[1], scales_by="st"), SCALED_FIELDS, (), LEADING_FIELD),
    (mxf8f6f4(n=64, m=256, ctas=2), PAIR_FIELDS, (), ()),
    (mxf8f6f4(n=64, sparse=True), SCALED_FIELDS, (), ()),
    (nvf4(n=64, m=256, ctas=2, scales_by="st", sparse=True), PAIR_FIELDS, (), ()),
    (mxf4(n=64, steps=6, step_k=96, target="sm_103a", a=ACROSS, b=ACROSS), K96_FIELDS, (), ()),
    (Config("f16", "f16", "bf16", n=64, a=MN_MAJOR[6]), PLAIN_FIELDS, LEADING_FIELD, ()),
)


@pytest.mark.parametrize("base", tiers.first(BASES, 1), ids=lambda base: base[0].label)
def test_each_term_matters(base, tmp_path):
    config, fields, a_extra, b_extra = base
    data = mma_data.exact(config)
    plan = make_plan(config, data)
    correct = mma_launch.run(tmp_path, plan)
    assert (correct == mma_data.expected(config, data)).all()
    unnoticed = []
    for name, mutant in mutants(plan, data, fields, a_extra, b_extra):
        code, result, _ = mma_launch.launch_text(tmp_path, mutant, kernel(mutant))
        assert code in (0, 1), f"{name}: exit code {code}"
        if code == 0 and np.array_equal(result, correct):
            unnoticed.append(name)
    assert not unnoticed
