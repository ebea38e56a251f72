"""Changes of one term of the PTX of a pipeline: operands of instructions that copy, multiply, wait and
read sums, and the tile that each role starts with.
"""

import re
from collections import Counter

from warp_specialized_mutants import Change, changed, label, landmark

# Fields of instruction descriptors, by a mask to exclusive-or; N is added for each kernel.
INSTRUCTION = {
    "sparse": 1 << 2, "b scale id": 1 << 4, "b scale id high": 1 << 5, "a type": 1 << 7,
    "b type": 1 << 10, "negate a": 1 << 13, "negate b": 1 << 14, "transpose a": 1 << 15,
    "transpose b": 1 << 16, "scale type": 1 << 23, "m": 3 << 27, "a scale id": 1 << 29,
    "a scale id high": 1 << 30, "k": 1 << 31, "reserved 0": 1, "reserved 6": 1 << 6,
    "reserved 24": 1 << 24,
}
# Fields of descriptors of shared memory.
MATRIX = {
    "start + 32": 2, "start + 1024": 64, "leading": 8 << 16, "stride": 8 << 32, "version": 1 << 46,
    "base offset": 1 << 49, "mode": 1 << 52, "fixed zero": 1 << 53, "swizzle": 6 << 61,
    "swizzle reserved": 1 << 61,
}
# Addresses of tensor memory: lanes are in the upper half.
TENSOR = {"column": 1, "four columns": 4, "lane": 1 << 16, "window": 32 << 16}
# What is changed in every multiplication; all else is in the second one.
OF_EACH_MMA = {
    "a scale id", "b scale id", "a start + 32", "b start + 32", "d four columns",
    "a scales four columns", "b scales four columns", "metadata column", "accumulate",
}
# The same for copies of scales.
OF_EACH_CP = {"to four columns", "start + 512"}
BARRIER_BYTES = 8
REGISTERS = "\t.reg .b32 %flipr; .reg .b64 %flipd; .reg .pred %flipp;"


def flip(lines, i, operand, step):
    """Line `i` with a register that `step` makes of `operand`, a register or a number."""
    kind = re.search(r"\.(?:pred|[a-z]\d+)", step)[0]
    name = "%flipp" if kind == ".pred" else "%flipd" if kind.endswith("64") else "%flipr"
    line = re.sub(rf"(?<![\w%-]){re.escape(operand)}(?!\d)", name, lines[i], count=1)
    assert line != lines[i], f"expected {operand} in {lines[i]}"
    return with_registers(lines, i, [f"\t{step.format(to=name, of=operand)};", line])


def with_registers(lines, i, new):
    """Line `i` becomes `new`, which uses registers of its own, at the start of the kernel's body."""
    entry = max(j for j in range(i) if ".maxntid" in lines[j])
    start = lines.index("{", entry) + 1
    return "\n".join([*lines[:start], REGISTERS, *lines[start:i], *new, *lines[i + 1:]])


def exclusive_or(mask, bits=32):
    return f"xor.b{bits} {{to}}, {{of}}, {mask if bits == 32 else mask & (1 << 64) - 1}"


def add(number, bits=32):
    return f"add.s{bits} {{to}}, {{of}}, {number}"


def further(lines, i, address, distance):
    """Line `i` with a number added to the offset of an address, `[%rd1+8]`."""
    base, offset = re.fullmatch(r"\[(%\w+|\w+)((?:\+-?\d+)?)\]", address).groups()
    moved = f"[{base}+{int(offset[1:] or 0) + distance}]"
    return changed(lines, i, [lines[i].replace(address, moved)])


def operands(line):
    """Between commas, with brackets and braces kept whole."""
    text = re.match(r"\s*(?:@!?%p\d+\s+)?\S+\s+(.*);", line)[1]
    return re.findall(r"\[[^\]]*\]|\{[^}]*\}|[^,\s]+", text)


def of_mma(lines, i, n):
    """The operands of tcgen05.mma: [d], a, b, with a sparse A [metadata], descriptor, [scales], [scales], predicate."""
    d, a, b, *metadata, descriptor, a_scales, b_scales, accumulate = operands(lines[i])
    fields = {**INSTRUCTION, "smaller n": (n // 8 ^ n // 16) << 17}
    for name, mask in fields.items():
        yield name, flip(lines, i, descriptor, exclusive_or(mask))
    for name, operand in (("a", a), ("b", b)):
        for field, mask in MATRIX.items():
            yield f"{name} {field}", flip(lines, i, operand, exclusive_or(mask, 64))
    in_tensor_memory = [("d", d), ("a scales", a_scales), ("b scales", b_scales), *(("metadata", e) for e in metadata)]
    for name, operand in in_tensor_memory:
        for what, number in TENSOR.items():
            yield f"{name} {what}", flip(lines, i, operand[1:-1], add(number))
    if accumulate == "-1":
        yield "accumulate", changed(lines, i, [lines[i].replace(", -1;", ", 0;")])
    else:
        yield "accumulate", flip(lines, i, accumulate, "not.pred {to}, {of}")


def of_cp(lines, i):
    to, descriptor = operands(lines[i])
    for name, number in TENSOR.items():
        yield f"to {name}", flip(lines, i, to[1:-1], add(number))
    for name, mask in {**MATRIX, "start + 16": 1, "start + 512": 32}.items():
        yield name, flip(lines, i, descriptor, exclusive_or(mask, 64))


def of_ld(lines, i):
    address = operands(lines[i])[-1]
    for name, number in {**TENSOR, "half a window": 16 << 16}.items():
        yield name, flip(lines, i, address[1:-1], add(number))


def of_wait(lines, i):
    _, barrier, parity, _ = operands(lines[i])
    yield "parity", flip(lines, i, parity, exclusive_or(1))
    # That of the next stage would do: it is complete later. Pipelines have two stages.
    yield "barrier", further(lines, i, barrier, 2 * BARRIER_BYTES)


def of_copy(lines, i):
    to, source, barrier, *_ = operands(lines[i])
    yield "barrier", further(lines, i, barrier, BARRIER_BYTES)
    for distance in (16, 1024):
        yield f"to + {distance}", further(lines, i, to, distance)
    head, coordinates, tail = re.match(r"(.*\{)(.*?)(\}.*)", lines[i]).groups()
    coordinates = re.split(r"\s*,\s*", coordinates.strip())
    for number, coordinate in enumerate(coordinates):
        # Scales start with the first byte of an atom.
        if not coordinate.startswith("%"):
            continue
        others = [*coordinates[:number], "%flipr", *coordinates[number + 1:]]
        new = [f"\tadd.s32 %flipr, {coordinate}, 1;", f"{head}{', '.join(others)}{tail}"]
        yield f"coordinate {number}", with_registers(lines, i, new)


def of_arrival(lines, i):
    barrier = next(operand for operand in operands(lines[i]) if operand.startswith("["))
    yield "barrier", further(lines, i, barrier, BARRIER_BYTES)
    if "expect_tx" in lines[i]:
        for bytes_ in (-16, 16):
            yield f"bytes {bytes_:+}", flip(lines, i, operands(lines[i])[-1], add(bytes_))


def of_init(lines, i):
    barrier, count = operands(lines[i])
    yield "count", flip(lines, i, count, add(1))
    yield "barrier", further(lines, i, barrier, BARRIER_BYTES)


def of_tile(lines, i, what):
    """Which tile a role starts with, and how far the next one is: by a whole cluster, which divides that."""
    register = re.search(r"%r\d+", lines[i])[0]
    distance = 4 if what == "nctaid" else 1
    yield "further", changed(lines, i, [lines[i], f"\tadd.s32 {register}, {register}, {distance};"])


KINDS = {
    "cp": of_cp, "ld": of_ld, "wait": of_wait, "copy": of_copy, "arrive": of_arrival,
    "expect_tx": of_arrival, "commit": of_arrival, "init": of_init,
}


def flips(text, n):
    """Each change, for instructions with N = `n`."""
    lines = text.split("\n")
    seen = Counter()
    for i, line in enumerate(lines):
        what = landmark(line)
        seen[what] += 1
        if what == "mma":
            for name, new in of_mma(lines, i, n):
                if seen[what] == 2 or name in OF_EACH_MMA:
                    yield Change(f"mma: {name}", i + 1, new)
        elif what in KINDS:
            for name, new in KINDS[what](lines, i):
                if what != "cp" or seen[what] <= 2 or name in OF_EACH_CP:
                    yield Change(f"{label(lines, i, what)}: {name}", i + 1, new)
        elif match := re.search(r"%(n?ctaid)\.x", line):
            for name, new in of_tile(lines, i, match[1]):
                yield Change(f"{label(lines, i, match[1])}: {name}", i + 1, new)
