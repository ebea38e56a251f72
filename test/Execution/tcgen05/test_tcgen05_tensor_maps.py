"""Operands of fp4 and fp6 that a tensor map pads on their way to shared memory.

Source: PTX ISA, "Tensor-map": packed types; tcgen05.mma, "Packing formats".
"""

import mma_data
import mma_launch
import numpy as np
import pytest
from harness import assert_bit_equal
from mma_cases import mxf8f6f4
from mma_kernels import kernel
from mma_plan import make_plan
from tensor_memory import d_positions

ROWS = STEP = 128  # of A, and elements of K: a row of the 128-byte swizzle
# Type: bits of an element, and the type of the tensor map.
TYPES = {"e2m1": (4, "u4x16_align16"), "e2m3": (6, "u6x16_align16"), "e3m2": (6, "u6x16_align16")}

LOAD = """    mbarrier.init.shared::cta.b64 [arrived], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [arrived], {bytes};
    mov.b64 %d4, map;
    cvta.param.u64 %d4, %d4;
    cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%base], [%d4, {{0, 0}}], [arrived];
LOADED:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [arrived], 0;
    @!%p2 bra LOADED;
"""


def pack(codes, bits):
    """Codes (rows, k) as a little-endian bit stream along k, bytes (rows, k * bits / 8)."""
    stream = codes[:, :, None] >> np.arange(bits, dtype=np.uint8) & 1
    return np.packbits(stream.reshape(len(codes), -1), axis=1, bitorder="little")


@pytest.mark.parametrize("a_type", TYPES)
def test_packed_operand(a_type, tmp_path):
    bits, map_type = TYPES[a_type]
    config = mxf8f6f4(n=64, a_type=a_type, b_type="e4m3", steps=4)
    data = mma_data.exact(config)
    plan = make_plan(config, data)
    np.save(tmp_path / "packed.npy", pack(data.a, bits))
    # A comes from the tensor map alone.
    image = plan.shared.copy()
    image[:, : ROWS * STEP] = 0x55
    text = kernel(plan)
    for old, new in (
        ("    .param .u64 shared,", "    .param .align 64 .b8 map[128],\n    .param .u64 shared,"),
        ("    .shared .align 16", "    .shared .align 8 .b64 arrived;\n    .shared .align 16"),
        ("    @%p2 bra ISSUED;\n", "    @%p2 bra ISSUED;\n" + LOAD.format(bytes=ROWS * STEP * bits // 8)),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    code, words, messages = mma_launch.launch(
        tmp_path, text, [image, plan.fill_words, np.zeros((1, ROWS, config.d_columns), np.uint32)],
        image.shape[1], flags=["--check=race,proxy,strict"],
        maps=[f"{tmp_path}/packed.npy:{map_type}:BOX={ROWS}x{STEP}:SWIZZLE=128"],
    )
    assert code == 0 and messages == "", f"exit code {code}\n{messages}"
    d = np.ascontiguousarray(words[d_positions(config)]).view(np.float32)
    assert_bit_equal(d, mma_data.expected(config, data))
