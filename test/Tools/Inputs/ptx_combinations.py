"""Compiles every combination and every instruction, and reads the PTX.

    ptx_combinations.py combinations [--ptxas]
    ptx_combinations.py instructions [--ptxas]

combinations: one program for each legal combination of the support matrix. Its PTX has the
instruction, as written down here from the PTX ISA, and no other mma. With --ptxas, every combination
is compiled for every native chip, and assembled. For sm_80 every combination has the instruction of
bf16 that operands are converted for.

instructions: a gpu.module with each of the 28 instructions under every selector, and with each sparse
one. The PTX has them all. With --ptxas, for every native chip, and assembled.

A combination or an instruction that is missing here or there is an error.
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice, product

import blockscale

# The lowest PTX version that has the target (PTX ISA, "Release Notes").
CHIPS = {"sm_120a": "8.7", "sm_120f": "8.8", "sm_121a": "8.8", "sm_121f": "8.8"}

# Chips that convert operands, and the instruction of all their combinations.
CONVERTING = {"sm_80": "7.0"}
CONVERTED = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"

PTX_NAMES = {
    "f8E4M3FN": "e4m3",
    "f8E5M2": "e5m2",
    "f6E3M2FN": "e3m2",
    "f6E2M3FN": "e2m3",
    "f4E2M1FN": "e2m1",
}

# PTX ISA, table 36: (kind, a, b, scale, scale_vec) -> K of the instruction.
INSTRUCTIONS = {
    ("mxf8f6f4", a, b, "ue8m0", 1): 32 for a, b in product(PTX_NAMES.values(), repeat=2)
} | {
    ("mxf4", "e2m1", "e2m1", "ue8m0", 2): 64,
    ("mxf4nvf4", "e2m1", "e2m1", "ue8m0", 2): 64,
    ("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4): 64,
}

# Combination -> its instruction. Where both operands are fp4, packed fp4 has twice the rate.
EXPECTED = {
    (x, y, "f8E8M0FNU", 32): ("mxf8f6f4", PTX_NAMES[x], PTX_NAMES[y], "ue8m0", 1)
    for x, y in product(PTX_NAMES, repeat=2)
}
MXFP4 = ("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32)
HALVED = ("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 16)
NVFP4 = ("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)
EXPECTED[MXFP4] = EXPECTED[HALVED] = ("mxf4", "e2m1", "e2m1", "ue8m0", 2)
EXPECTED[NVFP4] = ("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4)

# Table 37: byte selectors by scale_vec; thread selectors of A and of B.
BYTES = {1: (0, 1, 2, 3), 2: (0, 2), 4: (0,)}
A_THREADS, B_THREADS = (0, 1), (0, 1, 2, 3)


def require(condition, message):
    if not condition:
        raise SystemExit(f"error: {message}")


def get_opcode(instruction):
    kind, a, b, scale, scale_vec = instruction
    return (
        f"mma.sync.aligned.m16n8k{INSTRUCTIONS[instruction]}.row.col.kind::{kind}"
        f".block_scale.scale_vec::{scale_vec}X.f32.{a}.{b}.f32.{scale}"
    )


def run(command, text):
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    require(result.returncode == 0, f"{' '.join(command)}: {result.stderr}\n{text}")
    return result.stdout


def compile_and_read(text, chip):
    """The PTX of a program, and how many of each mma it has."""
    ptx = run(["blockscale-compile", "-", f"--target={chip}"], text)
    require(f"\n.target {chip}\n" in ptx, f"expected .target {chip} in\n{ptx[:200]}")
    version = {**CHIPS, **CONVERTING}[chip]
    require(f"\n.version {version}\n" in ptx, f"expected .version {version}\n{ptx[:200]}")
    return ptx, Counter(re.findall(r"\bw?g?mma[.:_]\S+", ptx))


def assemble(ptx, chip):
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    run([ptxas, f"-arch={chip}", "-o", os.devnull, "/dev/stdin"], ptx)


def run_all(function, arguments):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda a: function(*a), arguments))


# Combinations


def read_combinations():
    """The combinations that the compiler calls legal: of all chips the same ones."""
    combinations = {}
    matrix = run(["blockscale-compile", "--print-support-matrix"], "")
    for line in matrix.splitlines()[1:]:
        chip, lhs, rhs, scale, block, status = line.split()[:6]
        if status != "illegal" and "/" not in lhs:
            combinations.setdefault(chip, []).append((lhs, rhs, scale, int(block)))
    for chip in (*CHIPS, *CONVERTING):
        require(combinations[chip] == combinations["cpu"], f"the combinations of {chip} and cpu differ")
    return combinations["cpu"]


def make_program(combination, m, n, k, is_transposed):
    """A mma_scaled of the combination; y is stored as N x K if is_transposed."""
    lhs, rhs, scale, block = combination
    blocks = k // block
    y = f"tensor<{k}x{n}x{rhs}>"
    stored = f"tensor<{n}x{k}x{rhs}>" if is_transposed else y
    transpose = (
        f"""%init = tensor.empty() : {y}
            %y = linalg.transpose ins(%stored : {stored}) outs(%init : {y}) permutation = [1, 0]"""
        if is_transposed
        else ""
    )
    types = f"""tensor<{m}x{k}x{lhs}>, tensor<{m}x{blocks}x{scale}>, {y},
                tensor<{blocks}x{n}x{scale}>, tensor<{m}x{n}xf32>"""
    return f"""
      func.func @combination(%x: tensor<{m}x{k}x{lhs}>, %sx: tensor<{m}x{blocks}x{scale}>,
                     %stored: {stored}, %sy: tensor<{blocks}x{n}x{scale}>,
                     %c: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
        {transpose}
        %d = blockscale.mma_scaled %x, %sx, {"%y" if is_transposed else "%stored"}, %sy, %c
             {{block_size = {block} : i64}} : {types}
        return %d : tensor<{m}x{n}xf32>
      }}"""


PROGRAMS = ((16, 8, 64, False), (37, 19, 96, True))


def check_combination(combination, sizes, chip, with_ptxas):
    ptx, found = compile_and_read(make_program(combination, *sizes), chip)
    opcode = CONVERTED if chip in CONVERTING else get_opcode(EXPECTED[combination])
    require(list(found) == [opcode], f"{combination} on {chip}: expected {opcode} only, got {dict(found)}")
    if with_ptxas:
        assemble(ptx, chip)
    return (combination, sizes, chip), found[opcode]


def check_combinations(with_ptxas):
    combinations = read_combinations()
    require(len(combinations) == 27, f"expected 27 combinations, got {len(combinations)}")
    legal = sorted(blockscale.LEGAL_TYPE_COMBINATIONS)
    require(sorted(combinations) == legal, "expected the combinations of the reference")
    for combination in combinations:
        require(combination in EXPECTED, f"no check for {combination}")
    one_of_each_kind = (("f8E5M2", "f4E2M1FN", "f8E8M0FNU", 32), MXFP4, HALVED, NVFP4)
    if with_ptxas:
        cases = list(product(combinations, PROGRAMS[1:], (*CHIPS, *CONVERTING)))
    else:
        cases = list(product(combinations, PROGRAMS, ["sm_120a"]))
        cases += product(combinations, PROGRAMS[:1], ["sm_121f"])
        cases += product(one_of_each_kind, PROGRAMS[1:], ["sm_120f", "sm_121a"])
        cases += product(combinations, PROGRAMS[1:], CONVERTING)
    counts = dict(run_all(check_combination, [(*case, with_ptxas) for case in cases]))
    for (combination, sizes, chip), count in counts.items():
        if combination == HALVED and chip in CHIPS:
            once = counts[MXFP4, sizes, chip]
            require(count == 2 * once, f"{combination}: expected twice {once} instructions, got {count}")
    require({combination for combination, _, _ in counts} == set(combinations), "a combination was not compiled")
    return len(counts)


# Instructions


def is_for_families(instruction):
    """Whether sm_120f and sm_121f have its sparse form (ptxas 13.0): packed fp4 is for single chips."""
    return instruction[0] == "mxf8f6f4"


def get_sparse_opcode(instruction):
    """PTX ISA, "mma.sp": twice the K."""
    k = INSTRUCTIONS[instruction]
    dense = get_opcode(instruction).replace(f"m16n8k{k}.", f"m16n8k{2 * k}.")
    return dense.replace("mma.sync.", "mma.sp::ordered_metadata.sync.")


def get_selectors(instruction):
    """Each selector of A and each one of B at least once: (byte, thread) of A, then of B."""
    a = list(product(BYTES[instruction[-1]], A_THREADS))
    b = list(product(BYTES[instruction[-1]], B_THREADS))
    return [sa + sb for sa, sb in zip(islice(cycle(a), len(b)), b)]


def make_kernel(name, instruction, is_sparse):
    shape = f"16x8x{INSTRUCTIONS[instruction] * (1 + is_sparse)}"
    attribute = ", ".join(map(str, ("mma_sync", shape, *instruction)))
    op, operands = "mma_sync", "%a, %b, %d{}"
    if is_sparse:
        attribute += ", 2:4" if is_for_families(instruction) else ", pairs"
        # Any four registers for B, and one with fields.
        op, operands = "mma_sp", "%a, %a, %d{}, %sb"
    lines = [
        f"%d{i + 1} = blockscale.{op} <{attribute}> {operands.format(i)}, %sa[{p}, {q}], %sb[{r}, {s}]"
        for i, (p, q, r, s) in enumerate(get_selectors(instruction))
    ]
    newline = "\n          "
    return f"""
        gpu.func @{name}(%in: memref<32x8xi32>, %out: memref<32x4xf32>) kernel {{
          %lane = gpu.lane_id
          %c0 = arith.constant 0 : index
          %c4 = arith.constant 4 : index
          %c6 = arith.constant 6 : index
          %c7 = arith.constant 7 : index
          %a = vector.load %in[%lane, %c0] : memref<32x8xi32>, vector<4xi32>
          %b = vector.load %in[%lane, %c4] : memref<32x8xi32>, vector<2xi32>
          %sa = memref.load %in[%lane, %c6] : memref<32x8xi32>
          %sb = memref.load %in[%lane, %c7] : memref<32x8xi32>
          %d0 = arith.constant dense<0.0> : vector<4xf32>
          {newline.join(lines)}
          vector.store %d{len(lines)}, %out[%lane, %c0] : memref<32x4xf32>, vector<4xf32>
          gpu.return
        }}"""


def read_selectors(ptx):
    """{opcode: [selectors]}, in order; LLVM passes them in registers."""
    constants, selectors = {}, {}
    for line in ptx.replace("\n\t\t", " ").splitlines():
        if move := re.match(r"\s*mov\.b16\s+(%rs\d+), (-?\d+);", line):
            constants[move[1]] = int(move[2])
        elif line.strip().startswith(".visible"):
            constants = {}
        elif mma := re.match(r"\s*(mma\.s\S+)", line):
            pairs = re.findall(r"\{(%rs\d+), (%rs\d+)\}", line)
            require(len(pairs) == 2, f"expected two pairs of selectors: {line}")
            values = tuple(constants[name] for pair in pairs for name in pair)
            selectors.setdefault(mma[1], []).append(values)
    return selectors


def check_instructions_on(chip, is_sparse, with_ptxas):
    rows = [each for each in INSTRUCTIONS if not is_sparse or chip.endswith("a") or is_for_families(each)]
    kernels = [make_kernel(f"kernel_{i}", each, is_sparse) for i, each in enumerate(rows)]
    ptx, found = compile_and_read(f"gpu.module @kernels {{{''.join(kernels)}\n}}", chip)
    name = get_sparse_opcode if is_sparse else get_opcode
    expected = {name(each): get_selectors(each) for each in rows}
    count = 25 if is_sparse and chip.endswith("f") else 28
    require(len(expected) == count, f"expected {count} instructions, got {len(expected)}")
    require(set(found) == set(expected), f"{chip}: expected {set(expected)}, got {set(found)}")
    for opcode, selectors in read_selectors(ptx).items():
        require(
            selectors == expected[opcode],
            f"{opcode} on {chip}: expected the selectors {expected[opcode]}, got {selectors}",
        )
    if with_ptxas:
        assemble(ptx, chip)
    return len(expected)


def check_instructions(with_ptxas):
    chips = CHIPS if with_ptxas else ["sm_120a"]
    return sum(run_all(check_instructions_on, product(chips, (False, True), [with_ptxas])))


def main(what, *flags):
    check = {"combinations": check_combinations, "instructions": check_instructions}[what]
    require(flags in ((), ("--ptxas",)), f"unknown arguments {flags}")
    print(f"{check(bool(flags))} {what} checked")


main(*sys.argv[1:])
