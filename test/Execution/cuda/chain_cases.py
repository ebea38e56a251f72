"""Values of dynamic sizes between ops: chains of elementwise ops around a product, and packed operands in blocks.

Where a kernel takes the chain over there is one; elsewhere the values are in the workspace, whose size
depends on the arguments.
"""

import numpy as np
from dynamic_cases import Sizes
from fusion_cases import Made, binary, halves
from gpu_cases import MIXED, MXFP4, Case, Expectation, swapped
from harness import Program, exact

# M, N and K; the tile of a kernel divides all, none; the least there is.
SIZES = [(128, 64, 128), (37, 22, 96), (1, 2, 32)]


class Chain:
    """A product of dynamic sizes, and what is made of it."""

    def __init__(self, m, n, k, zero_acc=False):
        self.data = exact(MIXED, m, n, k, 21, zero_acc=zero_acc)
        self.shape = (m, n)
        self.rng = np.random.default_rng([m, n, k])
        self.program = Program()
        self.sizes = Sizes(self.program, MIXED, "mnk")
        x, x_scale, y, y_scale, self.acc = self.data
        self.operands = [
            self.sizes.arg(x, MIXED.x, "mk"), self.sizes.arg(x_scale, MIXED.scale, "ms"),
            self.sizes.arg(y, MIXED.y, "kn"), self.sizes.arg(y_scale, MIXED.scale, "sn"),
        ]

    def matrix(self, array):
        return self.sizes.arg(array, "f32", "mn")

    def product(self, acc=None):
        acc = acc or self.matrix(self.acc)
        return self.program.mma(*self.operands, acc, block_size=MIXED.block)

    def empty(self, element="f32"):
        sizes = f"{self.sizes.get('m')}, {self.sizes.get('n')}"
        return self.program.op(f"tensor.empty({sizes}) : tensor<?x?x{element}>", (None, None), element)

    def broadcast(self, array, dimension):
        """A vector along the other dimension."""
        value, init = self.program.arg(array, "f32", [None]), self.empty()
        return self.program.op(
            f"linalg.broadcast ins({value.name} : {value.type}) outs({init.name} : {init.type}) "
            f"dimensions = [{dimension}]", (None, None), "f32",
        )

    def fill(self, number):
        scalar, init = self.program.op(f"arith.constant {number:.1f} : f32"), self.empty()
        return self.program.op(
            f"linalg.fill ins({scalar.name} : f32) outs({init.name} : {init.type}) -> {init.type}",
            (None, None), "f32",
        )

    def splat(self, number):
        scalar = self.program.scalar(np.float32(number), "f32")
        sizes = f"{self.sizes.get('m')}, {self.sizes.get('n')}"
        return self.program.op(
            f"tensor.splat {scalar.name}[{sizes}] : tensor<?x?xf32>", (None, None), "f32"
        )

    def binary(self, name, a, b):
        return binary(self.program, name, a, b)

    def result(self, value, make):
        self.program.result(value)
        return self.program, [Made(MIXED, self.data, make)]


def negated(*size):
    """negf, then maximumf with another matrix."""
    chain = Chain(*size)
    other = halves(chain.rng, chain.shape)
    value = chain.product()
    value = chain.program.op(f"arith.negf {value.name} : {value.type}", value.shape, "f32")
    value = chain.binary("maximumf", value, chain.matrix(other))
    return chain.result(value, lambda product: np.maximum(-product, other))


def relu(*size):
    """A bias along N, then relu."""
    chain = Chain(*size)
    bias = halves(chain.rng, chain.shape[1:])
    value = chain.binary("addf", chain.product(), chain.broadcast(bias, 0))
    value = chain.binary("maximumf", value, chain.fill(0))
    return chain.result(value, lambda product: np.maximum(product + bias, 0))


def scaled(*size):
    """A scalar times the product, then truncation."""
    chain = Chain(*size)
    value = chain.binary("mulf", chain.product(), chain.splat(0.5))
    kind = tensor_of(value, "f16")
    value = chain.program.op(
        f"arith.truncf {value.name} : {value.type} to {kind}", value.shape, "f16"
    )
    return chain.result(value, lambda product: np.float16(product / 2))


def tensor_of(value, element):
    return value._replace(element=element).type


def bias(*size):
    """A bias along M as the accumulator."""
    chain = Chain(*size, zero_acc=True)
    vector = halves(chain.rng, chain.shape[:1])
    value = chain.product(chain.broadcast(vector, 1))
    chain.data[4] = np.broadcast_to(vector[:, None], chain.shape)
    return chain.result(value, lambda product: product)


def several(*size):
    """Two values between kernels, one of which two ops use."""
    chain = Chain(*size)
    product = chain.product()
    twice = chain.binary("addf", product, product)
    value = chain.binary("subf", twice, chain.broadcast(halves(chain.rng, chain.shape[1:]), 0))
    chain.program.result(twice)
    column = chain.program.arrays[-1]
    program, made = chain.result(value, lambda p: 2 * p - column)
    return program, [Made(MIXED, chain.data, lambda p: 2 * p), *made]


def blocked(row, m, n, k):
    """Both operands with a dimension for blocks, M x K_s x B and N x K_s x B."""
    data = exact(row, m, n, k, 22)
    x, x_scale, y, y_scale, acc = data
    blocks = k // row.block
    program = Program()

    def collapsed(array, element):
        rows = array.shape[0]
        value = program.arg(
            array.reshape(rows, blocks, row.block), element, (None, blocks, row.block)
        )
        kind = f"tensor<?x{k}x{element}>"
        return program.op(
            f"tensor.collapse_shape {value.name} [[0], [1, 2]] : {value.type} into {kind}",
            (None, k), element,
        )

    x = collapsed(x, row.x)
    x_scale = program.arg(x_scale, row.scale, (None, blocks))
    y = program.transpose(collapsed(swapped(y), row.y))
    y_scale = program.transpose(program.arg(swapped(y_scale), row.scale, (None, blocks)))
    acc = program.arg(acc, "f32", (None, None))
    program.result(program.mma(x, x_scale, y, y_scale, acc))
    return program, [Expectation(row, data, True)]


def family(name, problems):
    """One compiled text for all sizes."""
    problems = list(problems)
    assert len({program.text() for program, _ in problems}) == 1, name
    (program, expectations), *others = problems
    return Case(name, program, expectations, variants=tuple(others))


def all_chains():
    for make in (negated, relu, scaled, bias, several):
        yield family(f"chain-{make.__name__}", (make(*size) for size in SIZES))
    for row in (MXFP4, MIXED):
        sizes = [(m, n, 256) for m, n, _ in SIZES]
        yield family(f"chain-blocked-{row}", (blocked(row, *size) for size in sizes))
