"""Changes of the PTX of a pipeline: a line that synchronises is removed, or an operand is flipped.

A change has a name without numbers, made of the line and of the next landmarks behind it, which tell
the role that the line belongs to: "after > wait > cp".
"""

import re
from typing import NamedTuple

# What synchronises, by the name that a change of it gets.
SYNC = {
    "fence.mbarrier_init": r"fence\.mbarrier_init",
    "fence.proxy": r"fence\.proxy\.async",
    "before": r"tcgen05\.fence::before_thread_sync",
    "after": r"tcgen05\.fence::after_thread_sync",
    "wait::ld": r"tcgen05\.wait::ld",
    "bar.sync": r"bar\.sync",
    "bar.warp.sync": r"bar\.warp\.sync",
    "wait": r"mbarrier\.try_wait",
    "expect_tx": r"mbarrier\.arrive\.expect_tx",
    "arrive": r"mbarrier\.arrive\.shared\.",
    "arrive at all": r"mbarrier\.arrive\.(?:release\.cluster\.)?shared::cluster",
    "cluster arrive": r"barrier\.cluster\.arrive",
    "cluster wait": r"barrier\.cluster\.wait",
    "commit": r"tcgen05\.commit",
    "grid": r"griddepcontrol\.wait",
    "wait_group": r"cp\.async\.wait_(?:group|all)",
    "wgmma.fence": r"wgmma\.fence",
    "wgmma.commit_group": r"wgmma\.commit_group",
    "wgmma.wait_group": r"wgmma\.wait_group",
}
LANDMARKS = {
    **SYNC,
    "init": r"mbarrier\.init", "alloc": r"tcgen05\.alloc", "dealloc": r"tcgen05\.dealloc",
    "ld": r"tcgen05\.ld", "cp": r"tcgen05\.cp", "mma": r"tcgen05\.mma", "copy": r"cp\.async\.bulk",
    "wgmma": r"\{\.reg \.pred p; .*wgmma\.mma_async",
    "cp.async": r"cp\.async\.c[ag]", "address": r"ld\.shared\.b32", "ld.shared": r"ld\.shared\.v",
    "st.shared": r"st\.shared", "ld.global": r"ld\.global", "st.global": r"st\.global",
    "end": r"ret;",
}


# A wait may come back without the phase being complete, and goes round then.
WAIT = re.compile(
    r"(\w+): \n\s*mbarrier\.try_wait\.parity\.(?:acquire\.cluster\.shared::cta|shared)\.b64 P1, .*\n"
    r"\s*@P1 bra\.uni DONE; \n\s*bra\.uni +\1;"
)


class Change(NamedTuple):
    name: str
    line: int
    text: str


def landmark(line, among=LANDMARKS):
    for name, pattern in among.items():
        if re.match(rf"\s*(?:@!?%p\d+\s+)?{pattern}", line):
            return name
    return None


def label(lines, i, what):
    """`what`, and the next two landmarks behind line `i`; fences behind waits are left out."""
    behind = (landmark(line) for line in lines[i + 1:])
    behind = (name for name in behind if name not in (None, "after"))
    names = [what, next(behind)]
    # These say enough, and what is behind them depends on the order of roles.
    if names[1] not in ("address", "dealloc"):
        names.append(next(behind, "end"))
    return " > ".join(names)


def changed(lines, i, new):
    return "\n".join([*lines[:i], *new, *lines[i + 1:]])


def removals(text):
    """Each line that synchronises is left out, of a wait all of its loop."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        what = landmark(line, SYNC)
        if what is None:
            continue
        name = label(lines, i, what)
        if what == "wait":
            # What goes on once the phase is complete is all that is left.
            again = [*lines[:i], *lines[i + 3:]]
            assert WAIT.search("\n".join(lines[i - 1:i + 4])), "expected a wait in a loop"
            yield Change(name, i + 1, "\n".join(again))
            continue
        yield Change(name, i + 1, changed(lines, i, []))
        if what == "expect_tx":
            plain = re.sub(r"\.expect_tx(.*), \d+;", r"\1;", line)
            yield Change(f"no bytes in {name}", i + 1, changed(lines, i, [plain]))


def is_among(name, reasons):
    return any(name.startswith(start) for start in reasons)


def try_removals(pipeline, text, seeds, few_seeds, reasons):
    """The names of lines of `text`, a part of a pipeline's, that nothing shows to be missing, and of those that
    something does; few seeds do for lines that have reasons.
    """
    assert pipeline.text.count(text) == 1
    unnoticed, noticed = set(), set()
    for change in removals(text):
        shown = pipeline.shows(pipeline.text.replace(text, change.text), few_seeds if is_among(change.name, reasons) else seeds)
        (unnoticed if shown is None else noticed).add(change.name)
    return unnoticed, noticed
