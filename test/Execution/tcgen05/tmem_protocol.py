"""Kernels about the allocation of tensor memory, and kernels that break its rules.

Source: PTX ISA, tcgen05, "Allocation" and "Access restrictions".
"""

from typing import NamedTuple

from tcgen05_ptx import allocate, fill_columns, lane_pointer, module, read_columns, release, sync

COLUMNS = 32


def every_block_text():
    """Each CTA takes all of tensor memory, and stores and loads its rows of `pattern`.

    pattern and out are uint32 (CTAs, 128, COLUMNS).
    """
    where = ["    mov.u32 %rank, %ctaid.x;"]
    return module("sm_100a", "kernel", ("pattern", "out"), [
        *where, *allocate(512), *lane_pointer("pattern", COLUMNS), *fill_columns(0, COLUMNS, 0),
        sync("tcgen05.wait::st.sync.aligned;", "wait::st"), *lane_pointer("out", COLUMNS),
        *read_columns(0, COLUMNS), *release(512),
    ])


def two_allocations_text():
    """A CTA allocates twice, stores the pattern to the second part and then something else to the first.

    pattern and out are uint32 (128, COLUMNS).
    """
    first = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32"
    return module("sm_100a", "kernel", ("pattern", "out"), [
        "    @%p1 bra FIRST;",
        f"    {first} [control+16], 256;",
        "FIRST:",
        *allocate(128),
        *lane_pointer("pattern", COLUMNS), *fill_columns(0, COLUMNS, 0),
        "    ld.shared.b32 %r2, [control+16];",
        "    mov.b32 %r3, %mine;",
        "    sub.u32 %mine, %mine, %tmem;",
        "    add.u32 %mine, %mine, %r2;",
        *fill_columns(0, COLUMNS // 2, COLUMNS // 2),
        *fill_columns(256 - COLUMNS, COLUMNS // 2, 0),
        sync("tcgen05.wait::st.sync.aligned;", "wait::st"),
        "    mov.b32 %mine, %r3;",
        *lane_pointer("out", COLUMNS), *read_columns(0, COLUMNS),
        *release(128)[:-1],
        "    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 256;",
        "DONE:",
    ])


class Misuse(NamedTuple):
    """A change of `every_block_text` that is an error: text to replace, and what it becomes."""

    name: str
    old: str
    new: str


_DEALLOC = "    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, 512;\n"
_RELINQUISH = "    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
_LOAD = "    tcgen05.ld.sync.aligned"
_SECOND = "    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [control+16], 32;\n"

MISUSES = (
    Misuse("not freed", _DEALLOC, ""),
    Misuse("freed twice", _DEALLOC, _DEALLOC * 2),
    Misuse("freed in part", _DEALLOC, _DEALLOC.replace("512", "256")),
    Misuse("another address freed", _DEALLOC, "    add.u32 %tmem, %tmem, 32;\n" + _DEALLOC),
    Misuse("allocated after the permit was given up", _RELINQUISH, _RELINQUISH + _SECOND),
    Misuse("allocated beyond all columns", _RELINQUISH, _SECOND + _RELINQUISH),
    Misuse("lanes of another warp", _LOAD, f"    xor.b32 %r0, %r0, {32 << 16:#x};\n" + _LOAD),
    Misuse("lane inside a warp", _LOAD, f"    add.u32 %r0, %r0, {1 << 16:#x};\n" + _LOAD),
    Misuse("columns beyond all", _LOAD, "    add.u32 %r0, %r0, 496;\n" + _LOAD),
    Misuse("columns that nothing was stored to", _LOAD, "    add.u32 %r0, %r0, 64;\n" + _LOAD),
    Misuse("addresses that differ", _LOAD, "    add.u32 %r0, %r0, %thread;\n" + _LOAD),
    Misuse(
        "half a warp", _LOAD, "    and.b32 %r1, %thread, 16;\n    setp.eq.u32 %p6, %r1, 0;\n    @%p6 "
        + _LOAD.strip(),
    ),
    Misuse("loaded while stored", "    tcgen05.wait::st.sync.aligned;", "    // "),
)


def outside_text():
    """A load from columns that belong to nobody: 32 are allocated, and the next ones are read."""
    text = every_block_text()
    for old, new in ((" 512;", " 32;"), (_LOAD, "    add.u32 %r0, %r0, 32;\n" + _LOAD)):
        assert old in text
        text = text.replace(old, new)
    return text


def misuse_text(misuse):
    """The kernel that breaks the rule."""
    text = every_block_text()
    assert misuse.old in text, misuse.old
    return text.replace(misuse.old, misuse.new, 1)


def all_texts():
    """The PTX of every kernel of this module."""
    yield from (every_block_text(), two_allocations_text(), outside_text())
    yield from map(misuse_text, MISUSES)
