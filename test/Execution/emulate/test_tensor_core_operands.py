"""Operands that kernels give to a tensor core in software, with one bit changed on the way: what the lowering
writes into descriptors and addresses shows, as an error or in wrong sums.
"""

import re

import blockscale
import emulated_cases
import pytest
import warp_specialized_cases
import warp_specialized_kernels
import tiers
from warp_specialized_cases import E4M3, FP6, MXFP4_16, NVFP4

MMA, COPY = "emulated_tcgen05_mma_", "emulated_tcgen05_cp_"
# Numbers of parameters.
D, A, B, INSTRUCTION, A_SCALES, B_SCALES, ACCUMULATE = range(7)
TO, FROM = range(2)

# name: function, parameter, bits of which one at a time changes.
MATRIX = {
    "start": (0, 3, 6, 10), "stride": (34, 38), "version": (46, 47), "base": (49, 51), "mode": (52,),
    "zeros": (53, 60), "swizzle": (61, 62, 63),
}
OPERANDS = {
    "a": (MMA, A, MATRIX), "b": (MMA, B, MATRIX),
    "copy": (COPY, FROM, {"start": (0, 3, 5), "stride": (35,), "version": (46,), "swizzle": (61, 62)}),
    "instruction": (MMA, INSTRUCTION, {
        "sparse": (2,), "b id": (4, 5), "a format": (7, 9), "b format": (10, 12), "negate a": (13,),
        "negate b": (14,), "transpose a": (15,), "transpose b": (16,), "n": (18, 19), "scale type": (23,),
        "m": (27, 28), "a id": (29, 30), "k": (31,), "unused": (0, 3, 6, 24),
    }),
    "d": (MMA, D, {"column": (0, 4), "lane": (16, 21)}),
    "a scales": (MMA, A_SCALES, {"column": (0, 2), "lane": (16,)}),
    "b scales": (MMA, B_SCALES, {"column": (0, 2), "lane": (16,)}),
    "to": (COPY, TO, {"column": (0, 2), "lane": (16, 21)}),
    "accumulate": (MMA, ACCUMULATE, {"": (0,)}),
}
FLIPS = [
    pytest.param(operand, bit, id=f"{operand}-{field}-{bit}")
    for operand, (_, _, fields) in OPERANDS.items() for field, bits in fields.items() for bit in bits
]
SEEDS = range(1)
# Software takes more than a tensor core.
STEPS = 50 * warp_specialized_kernels.STEPS

# Several instructions along K, and K of two stages; A and B by copies, in two layouts. N is as large as an
# instruction's, so that all of it is stored.
KERNELS = {
    "mxfp8": (E4M3, (120, 48, 256), emulated_cases.BY_MAPS, "tile=128x48x128"),
    "mxfp8-mn": (E4M3, (112, 48, 256), emulated_cases.ALONG_MN, "tile=128x48x128"),
    "nvfp4": (NVFP4, (120, 48, 512), emulated_cases.BY_MAPS, "tile=128x48x256"),
    "mxfp4-16": (MXFP4_16, (120, 48, 512), emulated_cases.BY_MAPS, "tile=128x48x256"),
    "fp6": (FP6, (120, 48, 256), emulated_cases.BY_MAPS, "tile=128x48x128"),
}


def build(name, folder):
    row, sizes, layout, tile = KERNELS[name]
    flags = (f"--schedule={tile},stages=2,accumulators=2,persistent=1", "--emulate-on=sm_90a")
    case = warp_specialized_cases.case(name, row, [(*sizes, layout, ())], flags)
    [expectation] = case.expectations
    expected = blockscale.mma_scaled(*expectation.operands, **row.types)
    kernel = warp_specialized_kernels.prepare(case, folder, "sm_100a", expected)
    few = f"--max-steps={warp_specialized_kernels.STEPS}"
    return kernel._replace(arguments=[a.replace(few, f"--max-steps={STEPS}") for a in kernel.arguments])


@pytest.fixture(scope="module", params=[
    name if name == "mxfp8" else tiers.full(name) for name in KERNELS
])
def kernel(request, tmp_path_factory):
    return build(request.param, tmp_path_factory.mktemp(request.param))


CALL = re.compile(r"\{[^{}]*?call\.uni (emulated_tcgen05_\w+)[^{}]*?\}")


def flip(text, function, parameter, bit):
    """`text` with a bit of a parameter changed at each call of a function."""
    changed = 0

    def change(match):
        nonlocal changed
        if not match[1].startswith(function):
            return match[0]
        store = re.search(rf"st\.param\.b(\d+)\s+\[param{parameter}\], (\S+);", match[0])
        bits, value = store.groups()
        changed += 1
        new = (
            f".reg .b{bits} %changed;\nxor.b{bits} %changed, {value}, {1 << bit};\n"
            f"st.param.b{bits} [param{parameter}], %changed;"
        )
        return match[0].replace(store[0], new)

    text = CALL.sub(change, text)
    assert changed
    return text


def test_correct(kernel):
    assert kernel.shows(kernel.text, range(3)) is None


# Where there is no swizzle, nothing has a base offset.
FREE = {("mxfp8-mn", "b", 49), ("mxfp8-mn", "b", 51)}


@pytest.mark.parametrize("operand, bit", FLIPS)
def test_each_bit_matters(kernel, operand, bit):
    function, parameter, _ = OPERANDS[operand]
    shown = kernel.shows(flip(kernel.text, function, parameter, bit), SEEDS)
    assert (shown is None) == ((kernel.name, operand, bit) in FREE)


def test_leading_distance(kernel):
    """A matrix of several columns has one, here B along N; others do not use it."""
    shown = [kernel.shows(flip(kernel.text, MMA, of, 20), SEEDS) is not None for of in (A, B)]
    assert shown == [False, kernel.name == "mxfp8-mn"]
