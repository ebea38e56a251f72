"""Elementwise ops around an mma_scaled, fused into its kernel: one kernel, and the same results."""

from typing import NamedTuple

import blockscale
import numpy as np
from gpu_cases import MIXED, NVFP4, Case, add_problem
from harness import Program, assert_bit_equal, exact


class Made(NamedTuple):
    """A result that numpy makes of the product."""

    row: object
    operands: list
    make: object

    @property
    def shape(self):
        return self.operands[4].shape

    def check(self, result):
        product = blockscale.mma_scaled(*self.operands, **self.row.types)
        expected = self.make(product)
        assert_bit_equal(result.view(expected.dtype).astype(np.float32), expected.astype(np.float32))


def tensor(shape, element):
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def broadcast(program, value, shape, dimensions):
    init = program.op(f"tensor.empty() : {tensor(shape, value.element)}", shape, value.element)
    return program.op(
        f"linalg.broadcast ins({value.name} : {value.type}) outs({init.name} : {init.type}) "
        f"dimensions = {dimensions}", shape, value.element,
    )


def binary(program, name, a, b):
    return program.op(f"arith.{name} {a.name}, {b.name} : {a.type}", a.shape, a.element)


def truncate(program, value, element):
    kind = tensor(value.shape, element)
    return program.op(f"arith.truncf {value.name} : {value.type} to {kind}", value.shape, element)


def halves(rng, shape):
    """Multiples of 1/2 whose sums with the products are exact."""
    return np.float32(rng.integers(-64, 65, shape) / 2)


def product_of(program, row, data, acc):
    """mma_scaled on arguments of its own, and this accumulator."""
    x, x_scale, y, y_scale, _ = data
    return program.mma(
        program.arg(x, row.x), program.arg(x_scale, row.scale), program.arg(y, row.y),
        program.arg(y_scale, row.scale), acc,
    )


def biased(row, m, n, k):
    """Bias along N as the accumulator; alpha, bias along M, relu and a residual; then f16."""
    rng = np.random.default_rng([m, n])
    data = exact(row, m, n, k, 1, zero_acc=True)
    bias, column, residual = halves(rng, (n,)), halves(rng, (m,)), halves(rng, (m, n))
    program = Program()
    acc = broadcast(program, program.arg(bias, "f32"), (m, n), [0])
    value = product_of(program, row, data, acc)
    value = binary(program, "mulf", value, program.constant(0.5, (m, n), "f32"))
    value = binary(program, "addf", value, broadcast(program, program.arg(column, "f32"), (m, n), [1]))
    value = binary(program, "maximumf", value, program.constant(0.0, (m, n), "f32"))
    value = binary(program, "addf", value, program.arg(residual, "f32"))
    program.result(truncate(program, value, "f16"))
    data[4] = np.broadcast_to(bias, (m, n))

    def make(product):
        return np.float16(np.maximum(product / 2 + column[:, None], 0) + residual)

    return Case(f"{row}-fused-{m}x{n}", program, [Made(row, data, make)])


def scaled(row, m, n, k):
    """alpha times the product plus beta times C, both scalars of the function."""
    data = exact(row, m, n, k, 6)
    program = Program()
    alpha, beta = (program.scalar(np.float32(value), "f32") for value in (0.5, 2.0))
    c = program.arg(data[4], "f32")

    def splat(value):
        return program.op(f"tensor.splat {value.name} : {c.type}", c.shape, "f32")

    zero = program.constant(0.0, c.shape, "f32")
    value = binary(program, "mulf", product_of(program, row, data, zero), splat(alpha))
    program.result(binary(program, "addf", value, binary(program, "mulf", c, splat(beta))))
    factor = data[4] * 2
    data[4] = np.zeros_like(data[4])
    return Case(
        f"{row}-fused-scaled-{m}x{n}", program, [Made(row, data, lambda p: p / 2 + factor)]
    )


def batched(row, m, n, k):
    """A batch: beta times C as the accumulator, a bias for each matrix, truncation to bf16."""
    rng = np.random.default_rng([m, n, 1])
    data = exact(row, m, n, k, 2, x_batch=(2,), y_batch=(2,))
    bias = halves(rng, (2, n))
    program = Program()
    c = program.arg(data[4], "f32")
    acc = binary(program, "mulf", c, program.constant(2.0, c.shape, "f32"))
    value = product_of(program, row, data, acc)
    value = binary(program, "addf", value, broadcast(program, program.arg(bias, "f32"), c.shape, [1]))
    program.result(truncate(program, value, "bf16"))
    data[4] = data[4] * 2

    def make(product):
        value = np.float32(product) + bias[:, None, :]
        bits = value.view(np.uint32)
        return np.uint16((bits + 0x7FFF + (bits >> 16 & 1)) >> 16)

    return Case(f"{row}-fused-batch-{m}x{n}", program, [Made(row, data, make)])


def filled(row, m, n, k):
    """An accumulator that is filled with a number, and a product that two ops use."""
    data = exact(row, m, n, k, 3, zero_acc=True)
    program = Program()
    value = product_of(program, row, data, program.constant(1.5, (m, n), "f32"))
    program.result(value)
    program.result(binary(program, "addf", value, value))
    data[4] = np.full((m, n), 1.5, np.float32)
    return Case(
        f"{row}-filled-{m}x{n}", program,
        [Made(row, data, lambda product: product), Made(row, data, lambda product: product * 2)],
    )


def two_products(row):
    """Two products in a function: two kernels, the second of which needs the first's result."""
    first, second = exact(row, 20, 12, 64, 4), exact(row, 20, 12, 96, 5)
    program = Program()
    value = add_problem(program, row, first)
    program.result(product_of(program, row, second, value))
    second[4] = blockscale.mma_scaled(*first, **row.types)
    return Case(f"{row}-two-products", program, [Made(row, second, lambda product: product)])


def all_fusions():
    for row in (MIXED, NVFP4):
        for m, n, k in ((64, 128, 256), (37, 22, 96)):
            yield biased(row, m, n, k)
            yield scaled(row, m, n, k)
            yield batched(row, m, n, k)
            yield filled(row, m, n, k)
        yield two_products(row)
