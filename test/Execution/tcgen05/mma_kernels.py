"""The text of a kernel that executes a plan (mma_plan.py) on 128 threads of one CTA or of two.

    kernel(shared, tensor, out)
      shared  bytes of shared memory, (ctas, size)
      tensor  u32 that tcgen05.st writes, (ctas, 128, words)
      out     u32 of D's columns, (ctas, 128, columns)

Source of the protocol: PTX ISA, tcgen05, "Memory consistency model", and "Issue granularity".
"""

from tcgen05_ptx import (
    allocate, await_phase, block_barrier, cluster_barrier, commit, copy_to_shared, fill_columns,
    lane_pointer, matrix_descriptor, module, read_columns, release, sync,
)


def _fill(plan):
    """Each thread stores its lane's u32 to the columns of the fills."""
    if not plan.fills:
        return []
    lines = lane_pointer("tensor", plan.fill_words.shape[2])
    offset = 0
    for fill in plan.fills:
        count = fill.words.shape[2]
        lines += fill_columns(fill.column, count, offset)
        offset += count
    return [*lines, sync("tcgen05.wait::st.sync.aligned;", "wait::st")]


def _operands_barrier(plan):
    """Orders what all threads wrote before what the issuing thread reads."""
    if plan.config.ctas == 2:
        return cluster_barrier("operands")
    return block_barrier("operands") if plan.fills else []


def _copies(plan):
    lines = []
    for copy in plan.copies:
        lines += [
            *matrix_descriptor("%d2", copy.offset, copy.descriptor),
            f"    add.u32 %r1, %tmem, {copy.column};",
            f"    tcgen05.cp.cta_group::{plan.config.ctas}.{copy.shape} [%r1], %d2;",
        ]
    return lines


def _multiply(plan, mma):
    """One instruction."""
    config = plan.config
    lines = [f"    add.u32 %r1, %tmem, {mma.d};"]
    if config.a_memory == "tensor":
        lines.append(f"    add.u32 %r2, %tmem, {mma.a};")
        a = "[%r2]"
    else:
        lines += matrix_descriptor("%d2", mma.a, mma.a_descriptor, following=mma.a_next)
        a = "%d2"
    lines += matrix_descriptor("%d3", mma.b, mma.b_descriptor, following=mma.b_next)
    name = f"tcgen05.mma{'.sp' * config.sparse}.cta_group::{config.ctas}.kind::{config.kind}"
    operands = f"[%r1], {a}, %d3, "
    if config.sparse:
        operands += "[%r6], "
        lines.append(f"    add.u32 %r6, %tmem, {mma.metadata};")
    operands += "%r3, "
    if config.scaled:
        name += f".block_scale{config.spelling}"
        operands += "[%r4], [%r5], "
        lines += [f"    add.u32 %r4, %tmem, {mma.a_scale};", f"    add.u32 %r5, %tmem, {mma.b_scale};"]
    return [
        *lines,
        f"    mov.b32 %r3, {mma.instruction:#010x};",
        f"    setp.ne.u32 %p4, {int(mma.accumulates)}, 0;",
        f"    {name} {operands}%p4;",
    ]


def _store(plan):
    """Each thread stores its lane's words of D; lanes that hold none of D store nothing."""
    columns = plan.config.d_columns
    return [
        *lane_pointer("out", columns),
        "    and.b32 %r0, %thread, 31;",
        f"    setp.lt.u32 %p5, %r0, {16 if plan.config.m == 64 else 32};",
        *read_columns(plan.d_column, columns, "@%p5 "),
    ]


def kernel(plan):
    """The PTX of the kernel."""
    config = plan.config
    body = [
        *copy_to_shared("shared", plan.shared.shape[1]), *allocate(plan.columns, config.ctas),
        *_fill(plan), *_operands_barrier(plan),
        "    or.b32 %r0, %thread, %rank;",
        "    setp.ne.u32 %p2, %r0, 0;",
        "    @%p2 bra ISSUED;",
        *_copies(plan),
    ]
    for mma in plan.mmas:
        body += _multiply(plan, mma)
    body += [
        *commit(config.ctas), "ISSUED:", *await_phase(0), *_store(plan),
        *release(plan.columns, config.ctas),
    ]
    return module(config.target, "kernel", ("shared", "tensor", "out"), body, config.ctas)
