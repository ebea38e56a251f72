"""Tensor maps, which `cp.async.bulk.tensor` takes, in the form of a launch info.

The tables are the enums of cuda.h (CUtensorMapDataType and others), with the names of docs/Programs.md. Fields that
do not depend on the tensor are checked when a bundle is loaded. Sizes, strides and the address are checked when a
launch is planned: here as far as a wrong map could access other memory, the rest by the driver.
"""

from .errors import ArgumentError
from .expressions import INT64_MAX, read_expression

# In the order of cuda.h: the name, the bits of an element, and the alignment of strides and the address.
TYPES = {
    name: (number, bits, alignment)
    for number, (name, bits, alignment) in enumerate([
        ("u1", 8, 16), ("u2", 16, 16), ("u4", 32, 16), ("i4", 32, 16), ("u8", 64, 16), ("i8", 64, 16), ("f2", 16, 16),
        ("f4", 32, 16), ("f8", 64, 16), ("bf16", 16, 16), ("f4ftz", 32, 16), ("tf32", 32, 16), ("tf32ftz", 32, 16),
        ("u4x16_align8", 4, 16), ("u4x16_align16", 4, 32), ("u6x16_align16", 6, 32),
    ])
}
SWIZZLES = ("none", "32", "64", "128", "128-atom32", "128-atom32-flip8", "128-atom64")
FILLS, PROMOTIONS = ("zero", "nan"), ("none", "64", "128", "256")
MAX_RANK, MAX_BOX, MAX_ELEMENT_STRIDE = 5, 256, 8
MAX_SIZE, STRIDE_LIMIT = 2**32, 2**40
BYTES, ALIGNMENT = 128, 64


class TensorMap:
    """A tensor map of memory whose address is not known yet.

    `arguments` of cuTensorMapEncodeTiled are in the driver's order, the innermost dimension first.
    """

    def __init__(self, node):
        fields = node.fields(
            ("of", "dtype", "sizes", "strides", "box", "swizzle"), ("element_strides", "fill", "l2")
        )
        self.type, self.bits, self.alignment = TYPES[fields["dtype"].choice(TYPES)]
        box = fields["box"].elements(least=1)
        rank = self.rank = len(box)
        if rank > MAX_RANK:
            raise fields["box"].error(f"an array of 1 to {MAX_RANK}")
        self.box = [number.integer(1, MAX_BOX) for number in reversed(box)]
        self.element_strides = [1] * rank
        if "element_strides" in fields:
            self.element_strides = [
                number.integer(1, MAX_ELEMENT_STRIDE) for number in reversed(fields["element_strides"].elements(rank))
            ]
        self.sizes = [read_expression(size, 1, INT64_MAX) for size in reversed(fields["sizes"].elements(rank))]
        self.strides = [
            read_expression(stride, 0, INT64_MAX) for stride in reversed(fields["strides"].elements(rank - 1))
        ]
        self.swizzle = SWIZZLES.index(fields["swizzle"].choice(SWIZZLES))
        self.fill = FILLS.index(fields["fill"].choice(FILLS)) if "fill" in fields else 0
        self.promotion = PROMOTIONS.index(fields["l2"].choice(PROMOTIONS)) if "l2" in fields else 0

    @property
    def expressions(self):
        return [*self.sizes, *self.strides]

    def evaluate(self, shapes, multiprocessors, memory, offset):
        """Sizes in elements and strides in bytes of a tensor at `offset` in `memory` bytes.

        Raises ArgumentError if the driver would refuse them, or if the tensor exceeds its memory.
        """
        sizes = [size(shapes, multiprocessors) for size in self.sizes]
        strides = [stride(shapes, multiprocessors) for stride in self.strides]
        for size in sizes:
            if not 1 <= size <= MAX_SIZE:
                raise ArgumentError(f"expected a size from 1 to 2^32 of a tensor map, got {size}")
        for stride in strides:
            if stride % self.alignment or not 0 <= stride < STRIDE_LIMIT:
                raise ArgumentError(
                    f"expected a stride of a tensor map that is a multiple of {self.alignment} and less than 2^40 "
                    f"bytes, got {stride}"
                )
        if offset % self.alignment:
            raise ArgumentError(f"expected an offset of a tensor that is a multiple of {self.alignment}, got {offset}")
        needed = sizes[0] * self.bits // 8 + sum((size - 1) * stride for size, stride in zip(sizes[1:], strides))
        if needed > memory - offset:
            raise ArgumentError(
                f"expected a tensor of at most {memory - offset} bytes, as its memory has, got {needed}"
            )
        return sizes, strides
