"""Pieces of PTX that all kernels with tcgen05 instructions share.

A kernel is a list of lines. A line that synchronises ends in a comment `// sync: NAME`, so that a test
can leave it out. Registers and their meaning:

    %thread %warp %base    thread, warp, first byte of the dynamic shared memory (aligned to 1024)
    %bar %tmem %mine    mbarrier object, tensor memory, and the same with the lanes of the warp
    %r<>, %w<>          numbers, words of data
"""

import math

CHUNKS = (128, 64, 32, 16, 8, 4, 2, 1)  # columns that one 32x32b instruction moves


def sync(line, name):
    """A line that a test may leave out."""
    return f"    {line}  // sync: {name}"


def chunks(count, largest=64):
    """`count` columns as powers of two: [(first column, number)]."""
    parts, first = [], 0
    for size in CHUNKS:
        while size <= largest and count - first >= size:
            parts.append((first, size))
            first += size
    return parts


def words(count, first=0):
    """A braced list of registers with data."""
    return "{" + ", ".join(f"%w{first + i}" for i in range(count)) + "}"


def _vector(count):
    """(qualifier, registers at a time) of an access to words of global memory."""
    return {1: ("", 1), 2: (".v2", 2)}.get(count, (".v4", 4))


def from_global(count, offset):
    """Words 0.. from [%d0 + 4 * offset]; `count` is 1, 2 or a multiple of 4."""
    vector, step = _vector(math.gcd(count, offset))
    return [
        f"    ld.global{vector}.b32 {words(step, i)}, [%d0+{4 * (offset + i)}];"
        for i in range(0, count, step)
    ]


def to_global(count, offset, guard=""):
    """Words 0.. to [%d0 + 4 * offset]."""
    vector, step = _vector(count)
    return [
        f"    {guard}st.global{vector}.b32 [%d0+{4 * (offset + i)}], {words(step, i)};"
        for i in range(0, count, step)
    ]


def lane_pointer(param, lane_words):
    """%d0: this thread's row of a parameter that is uint32 (ctas, 128, lane_words)."""
    return [
        *pointer(param, "%d0", 128 * lane_words * 4),
        f"    mad.wide.u32 %d0, %thread, {lane_words * 4}, %d0;",
    ]


def fill_columns(column, count, offset):
    """Each thread stores `count` words from its row, `offset` words on, to its lane."""
    lines = []
    for first, size in chunks(count):
        lines += [
            *from_global(size, offset + first),
            f"    add.u32 %r0, %mine, {column + first};",
            f"    tcgen05.st.sync.aligned.32x32b.x{size}.b32 [%r0], {words(size)};",
        ]
    return lines


def read_columns(column, count, guard=""):
    """Each thread stores `count` words of its lane to its row."""
    lines = []
    for first, size in chunks(count):
        lines += [
            f"    add.u32 %r0, %mine, {column + first};",
            f"    tcgen05.ld.sync.aligned.32x32b.x{size}.b32 {words(size)}, [%r0];",
            sync("tcgen05.wait::ld.sync.aligned;", "wait::ld"),
            *to_global(size, first, guard),
        ]
    return lines


def commit(ctas=1):
    """The mbarrier object gets an arrival when all that this thread has issued is done."""
    name = f"tcgen05.commit.cta_group::{ctas}.mbarrier::arrive::one.shared::cluster"
    if ctas == 1:
        return [sync(f"{name}.b64 [%bar];", "commit")]
    return ["    mov.b16 %h0, 3;", sync(f"{name}.multicast::cluster.b64 [%bar], %h0;", "commit")]


def module(target, name, params, body, ctas=1):
    """A module with one kernel of 128 threads, whose parameters are pointers."""
    declared = ",\n".join(f"    .param .u64 {param}" for param in params)
    return "\n".join([
        ".version 8.8", f".target {target}", ".address_size 64", "",
        ".extern .shared .align 1024 .b8 dynamic[];", "",
        f".visible .entry {name}(", declared, ")", ".reqntid 128, 1, 1", "{",
        "    .reg .pred %p<8>;", "    .reg .b16 %h<2>;", "    .reg .b32 %r<16>, %w<256>;",
        "    .reg .b32 %thread, %warp, %base, %bar, %tmem, %mine, %rank;", "    .reg .b64 %d<16>;",
        "    .shared .align 16 .b8 control[32];  // two mbarrier objects, then addresses",
        *prologue(ctas), *body, "    ret;", "}", "",
    ])


def prologue(ctas):
    """Fixed registers; the shared memory that a program may use starts at a multiple of 1024."""
    return [
        "    mov.u32 %thread, %tid.x;",
        "    shr.u32 %warp, %thread, 5;",
        "    mov.u32 %base, dynamic;",
        "    add.u32 %base, %base, 1023;",
        "    and.b32 %base, %base, 0xFFFFFC00;",
        "    mov.u32 %bar, control;",
        "    mov.u32 %rank, %cluster_ctarank;" if ctas == 2 else "    mov.u32 %rank, 0;",
        "    setp.eq.u32 %p0, %thread, 0;",
        "    setp.ne.u32 %p1, %warp, 0;",
    ]


def pointer(param, register, bytes_per_cta):
    """The address of a parameter's part for this CTA."""
    return [
        f"    ld.param.u64 {register}, [{param}];",
        f"    cvta.to.global.u64 {register}, {register};",
        f"    mad.wide.u32 {register}, %rank, {bytes_per_cta}, {register};",
    ]


def copy_to_shared(param, size):
    """All threads copy `size` bytes (a multiple of 16) to the start of shared memory."""
    return [
        *pointer(param, "%d0", size),
        "    shl.b32 %r0, %thread, 4;",
        "COPY:",
        f"    setp.ge.u32 %p2, %r0, {size};",
        "    @%p2 bra COPIED;",
        "    cvt.u64.u32 %d1, %r0;",
        "    add.u64 %d1, %d0, %d1;",
        "    add.u32 %r1, %base, %r0;",
        "    ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%d1];",
        "    st.shared.v4.b32 [%r1], {%w0, %w1, %w2, %w3};",
        "    add.u32 %r0, %r0, 2048;",
        "    bra COPY;",
        "COPIED:",
        sync("fence.proxy.async.shared::cta;", "fence.proxy.async"),
    ]


def allocate(columns, ctas=1, barriers=1):
    """Warp 0 allocates tensor memory, thread 0 makes mbarrier objects, everybody learns of both."""
    return [
        "    @%p1 bra ALLOCATED;",
        f"    tcgen05.alloc.cta_group::{ctas}.sync.aligned.shared::cta.b32 [control+24], {columns};",
        f"    tcgen05.relinquish_alloc_permit.cta_group::{ctas}.sync.aligned;",
        "ALLOCATED:",
        *(
            sync(f"@%p0 mbarrier.init.shared::cta.b64 [%bar+{8 * i}], 1;", "mbarrier.init")
            for i in range(barriers)
        ),
        sync("@%p0 fence.mbarrier_init.release.cluster;", "fence.mbarrier_init"),
        *block_barrier("setup"),
        "    ld.shared.b32 %tmem, [control+24];",
        "    shl.b32 %mine, %warp, 21;",
        "    add.u32 %mine, %mine, %tmem;",
    ]


def block_barrier(name):
    """A barrier of the CTA that orders tcgen05 instructions before it and after it."""
    return [
        sync("tcgen05.fence::before_thread_sync;", f"fence before {name}"),
        sync("bar.sync 0;", f"barrier {name}"),
        sync("tcgen05.fence::after_thread_sync;", f"fence after {name}"),
    ]


def cluster_barrier(name):
    """The same for all CTAs of a cluster."""
    return [
        sync("tcgen05.fence::before_thread_sync;", f"fence before {name}"),
        sync(
            "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;",
            f"barrier {name}",
        ),
        sync("tcgen05.fence::after_thread_sync;", f"fence after {name}"),
    ]


def await_phase(parity, label="WAIT", barrier="[%bar]"):
    """Waits until a phase of an mbarrier object is complete."""
    wait = f"mbarrier.try_wait.parity.shared::cta.b64 %p3, {barrier}, {parity};"
    return [
        sync(f"{label}: {wait} @!%p3 bra {label};", f"wait {label}"),
        sync("tcgen05.fence::after_thread_sync;", f"fence after {label}"),
    ]


def _address_field(register, offset, base):
    """The 14 bits that descriptors have of an address."""
    return [
        f"    add.u32 %r0, {base}, {offset};",
        "    and.b32 %r0, %r0, 0x3FFFF;",
        "    shr.u32 %r0, %r0, 4;",
        f"    cvt.u64.u32 {register}, %r0;",
    ]


def matrix_descriptor(register, start, constant, base="%base", following=None):
    """The descriptor of a matrix that starts `start` bytes after `base`, and continues, if `following` is
    a number, that many bytes after it."""
    lines = [*_address_field(register, start, base), f"    or.b64 {register}, {register}, {constant:#x};"]
    if following is None:
        return lines
    return [
        *lines, *_address_field("%d8", following, base),
        "    shl.b64 %d8, %d8, 16;",
        f"    or.b64 {register}, {register}, %d8;",
    ]


def release(columns, ctas=1):
    """Frees tensor memory when all warps are done with it."""
    barrier = cluster_barrier if ctas == 2 else block_barrier
    return [
        *barrier("release")[:2],  # dealloc needs no fence after the barrier
        "    @%p1 bra DONE;",
        f"    tcgen05.dealloc.cta_group::{ctas}.sync.aligned.b32 %tmem, {columns};",
        "DONE:",
    ]
