"""Kernels of mma.sp with one operand flipped, or without one line that synchronises: an error or wrong sums must show it."""

import re
import subprocess

import harness
import numpy as np
import pytest
from sparse_cases import product_data, product_program
from sparse_oracle import batched_product

COMPILE, SIMULATOR = (harness.RUN.parent / f"blockscale-{name}" for name in ("compile", "sim"))
ROW = (("f8E4M3FN", "f8E5M2", "f8E8M0FNU"), 64, "2:4")
# Three steps in two stages; two tiles of 16 rows and of 8 columns in a warp.
SIZES, SCHEDULE = (64, 32, 768), "tile=64x32x256,warps=2x2,stages=2"
# Of fp8 with scales, and of bf16.
CHIPS = {"native": "sm_120a", "dequantized": "sm_80"}
SEEDS = range(4)

INSTRUCTION = re.compile(
    r"\t(mma\.sp::\S+)\n\s*\{(?P<d>[^}]*)\},\n\s*\{(?P<a>[^}]*)\},\n\s*\{(?P<b>[^}]*)\},\n\s*\{(?P<c>[^}]*)\},\n"
    r"\s*(?P<e>%r\d+),\n\s*(?P<selector>[01])(?P<scales>(?:,\n\s*%r\d+, \{[^}]*\})*);"
)


def instruction(match, before="", **changed):
    """The instruction with other operands, with lines in front that may use the registers %n0 to %n2."""
    part = {**match.groupdict(), **changed}
    return (
        f"\t{{ .reg .b32 %n<3>;\n{before}\n\t{match[1]} {{{part['d']}}}, {{{part['a']}}}, {{{part['b']}}}, {{{part['c']}}},"
        f" {part['e']}, {part['selector']}{part['scales']};\n\t}}"
    )


def reorder(registers, order):
    names = registers.split(", ")
    return ", ".join(names[i] for i in order)


def shuffled(match, distance):
    """With the metadata of another lane."""
    return instruction(match, f"shfl.sync.bfly.b32 %n0, {match['e']}, {distance}, 31, -1;", e="%n0")


def with_nibbles_swapped(match):
    return instruction(
        match,
        f"and.b32 %n0, {match['e']}, 0x0f0f0f0f; shl.b32 %n0, %n0, 4; shr.u32 %n1, {match['e']}, 4;"
        " and.b32 %n1, %n1, 0x0f0f0f0f; or.b32 %n2, %n0, %n1;",
        e="%n2",
    )


FLIPS = {
    "other row of metadata": lambda match: shuffled(match, 1),
    "other half of metadata": lambda match: shuffled(match, 2),
    "nibbles of metadata": with_nibbles_swapped,
    "halves of K of B": lambda match: instruction(match, b=reorder(match["b"], (2, 3, 0, 1))),
    "registers of B": lambda match: instruction(match, b=reorder(match["b"], (1, 0, 3, 2))),
    "registers of A": lambda match: instruction(match, a=reorder(match["a"], (0, 2, 1, 3))),
}
LINES = r"bar\.sync|cp\.async\.wait_group|cp\.async\.commit_group"


class Kernel:
    """A compiled product, its arguments and its result."""

    def __init__(self, folder, chip):
        self.folder = folder
        data = product_data(*ROW, *SIZES, seed=1)
        self.expected = batched_product(*data, *ROW)
        source = folder / "program.mlir"
        # Only the kernel of the product.
        text = product_program([a.shape for a in data], *ROW).replace("granularity =", "legal_metadata, granularity =")
        source.write_text(text)
        subprocess.run(
            [COMPILE, source, f"--target={chip}", f"--schedule={SCHEDULE}", "-o", folder / "kernel.ptx",
             f"--launch-info={folder / 'info.json'}"], check=True,
        )
        self.text = (folder / "kernel.ptx").read_text()
        self.arguments = []
        for i, array in enumerate(data):
            np.save(folder / f"in{i}.npy", array)
            self.arguments.append(f"in:{folder / f'in{i}.npy'}")
        self.arguments.append(f"out:{folder / 'out.npy'}:f4:{'x'.join(map(str, self.expected.shape))}")

    def show(self, text, seeds=SEEDS):
        """What shows under some seed that the kernel is wrong: "sums", or what the simulator says; else None."""
        path = self.folder / "changed.ptx"
        path.write_text(text)
        for seed in seeds:
            done = subprocess.run(
                [SIMULATOR, path, f"--launch-info={self.folder / 'info.json'}", "--check=race,strict", "--allow-edited-ptx",
                 f"--seed={seed}", *self.arguments], capture_output=True, text=True, timeout=harness.TIMEOUT_S,
            )
            if done.returncode:
                return done.stderr
            if not np.array_equal(np.load(self.folder / "out.npy"), self.expected):
                return "sums"
        return None


@pytest.fixture(scope="module", params=CHIPS)
def kernel(request, tmp_path_factory):
    return Kernel(tmp_path_factory.mktemp("sparse"), CHIPS[request.param])


def test_correct(kernel):
    assert len(INSTRUCTION.findall(kernel.text)) == kernel.text.count("mma.sp::") > 0
    assert kernel.show(kernel.text) is None
    # Written anew without a change.
    assert kernel.show(INSTRUCTION.sub(instruction, kernel.text), seeds=[0]) is None


@pytest.mark.parametrize("flip", FLIPS.values(), ids=FLIPS)
def test_each_operand_matters(flip, kernel):
    assert kernel.show(INSTRUCTION.sub(flip, kernel.text, count=1), seeds=[0]) == "sums"


def test_selector_matters(kernel):
    """The metadata that another instruction of bf16 reads; with 32 lanes there is one selector."""
    if {match["selector"] for match in INSTRUCTION.finditer(kernel.text)} == {"0"}:
        return
    changed = INSTRUCTION.sub(lambda match: instruction(match, selector=1 - int(match["selector"])), kernel.text, count=1)
    assert kernel.show(changed, seeds=[0]) == "sums"


def test_metadata_is_that_of_its_tile(kernel):
    """With the metadata that another instruction has."""
    words = list(dict.fromkeys(match["e"] for match in INSTRUCTION.finditer(kernel.text)))
    assert len(words) > 1
    first = next(INSTRUCTION.finditer(kernel.text))
    # One that is loaded before the first instruction.
    other = next(word for word in words if word != first["e"] and kernel.text.index(f"{word},") < first.start())
    changed = INSTRUCTION.sub(lambda match: instruction(match, e=other), kernel.text, count=1)
    assert kernel.show(changed, seeds=[0]) == "sums"


def test_each_line_is_needed(kernel):
    lines = kernel.text.splitlines()
    found = [i for i, line in enumerate(lines) if re.match(rf"\s*(?:{LINES})", line)]
    assert len(found) > 2
    for i in found:
        shown = kernel.show("\n".join([*lines[:i], *lines[i + 1 :]]) + "\n")
        assert shown is not None and re.search("sums|race|asynchronous copy", shown), f"{lines[i]}: {shown}"
