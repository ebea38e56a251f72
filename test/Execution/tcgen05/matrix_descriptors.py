"""Descriptors of matrices, for tcgen05.mma and tcgen05.cp.

Sources: PTX ISA, tcgen05, "Instruction descriptor" (tables for kinds with and without block scaling)
and "Shared memory descriptor".
"""

from operand_types import ELEMENTS
from shared_images import PAIRS

SWIZZLE_FIELDS = {0: 0, PAIRS: 1, 128: 2, 64: 4, 32: 6}
D_FIELDS = {"f16": 0, "f32": 1, "s32": 2}


def shared_descriptor(leading, stride, swizzle, continues=False):
    """A shared memory descriptor without its start address; strides in bytes. If the matrix `continues` at
    another address, that replaces the leading byte offset."""
    return (
        leading >> 4 << 16 | stride >> 4 << 32 | 0b001 << 46 | continues << 52 | SWIZZLE_FIELDS[swizzle] << 61
    )


def _type_field(config, name):
    return 1 if config.packed else ELEMENTS[name].field


def _common(config):
    """The fields that all kinds share."""
    return (
        _type_field(config, config.a_type) << 7
        | _type_field(config, config.b_type) << 10
        | config.negate_a << 13
        | config.negate_b << 14
        | (config.a_memory == "shared" and config.a.major == "MN") << 15
        | (config.b.major == "MN") << 16
        | config.n >> 3 << 17
    )


def instruction_descriptor(config, factor=0):
    """The instruction descriptor; `factor` counts scale factors of a row before the instruction's."""
    if not config.scaled:
        return (
            _common(config) | config.saturate << 3 | D_FIELDS[config.d_type] << 4 | config.m >> 4 << 24
        )
    byte = factor % 4
    return (
        _common(config)
        | config.sparse << 2
        | byte << 4
        | (config.scale == "ue8m0") << 23
        | config.m >> 7 << 27
        | byte << 29
        | (config.a_step == 96) << 31
    )
