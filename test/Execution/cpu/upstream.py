"""Writes block-scaled products as other compilers do: decoded operands and a contraction.

Dimensions have letters: b (batch), m, n, k, and for K in two parts s (blocks) and i (inside a
block). An order such as "nk" says how a value is stored.
"""

import numpy as np
from harness import Program


def stored(array, order, canonical):
    """An array of dimensions `canonical` with its dimensions in `order`."""
    return np.ascontiguousarray(array.transpose([canonical.index(d) for d in order]))


class Upstream(Program):
    """A Program with the ops of arith, linalg, tensor and vector that decode and contract."""

    def like(self, text, value, shape=None, element=None):
        """An op whose operand is `value`; the result differs from it in shape or element."""
        shape = value.shape if shape is None else tuple(shape)
        element = element or value.element
        result = value._replace(shape=shape, element=element)
        return self.op(text.format(result=result.type), shape, element, value.container)

    # Elementwise

    def extf(self, value, element="f32"):
        return self.like(
            f"arith.extf {value.name} : {value.type} to {{result}}", value, None, element
        )

    def mulf(self, left, right):
        return self.like(f"arith.mulf {left.name}, {right.name} : {left.type}", left)

    def scaling_extf(self, value, scale):
        return self.like(
            f"arith.scaling_extf {value.name}, {scale.name} : {value.type}, {scale.type} "
            "to {result}", value, None, "f32",
        )

    def absf(self, value):
        return self.like(f"math.absf {value.name} : {value.type}", value)

    def clear_signs(self, value):
        """The same with integers."""
        code = self.like(
            f"arith.bitcast {value.name} : {value.type} to {{result}}", value, None, "i8"
        )
        mask = self.op(f"arith.constant dense<127> : {code.type}", *code[1:])
        code = self.like(f"arith.andi {code.name}, {mask.name} : {code.type}", code)
        return self.like(
            f"arith.bitcast {code.name} : {code.type} to {{result}}", code, None, value.element
        )

    # Shapes

    def empty_of(self, shape, element, sizes=()):
        kind = "x".join([*("?" if n is None else str(n) for n in shape), element])
        return self.op(f"tensor.empty({', '.join(sizes)}) : tensor<{kind}>", shape, element)

    def reshape(self, value, groups, shape):
        """Collapses or expands by `groups`, lists of dimensions."""
        if value.container == "vector":
            return self.like(
                f"vector.shape_cast {value.name} : {value.type} to {{result}}", value, shape
            )
        name, tail = "collapse_shape", ""
        if len(shape) > len(value.shape):
            name = "expand_shape"
            sizes = [self.dim(value, 0) if n is None else str(n) for n in shape]
            tail = f" output_shape [{', '.join(sizes)}]"
        return self.like(
            f"tensor.{name} {value.name} {groups}{tail} : {value.type} into {{result}}",
            value, shape,
        )

    def merge(self, value, dim):
        """Dimensions dim and dim + 1 as one."""
        groups = [[d] for d in range(dim)] + [[dim, dim + 1]]
        groups += [[d] for d in range(dim + 2, len(value.shape))]
        size = None if value.shape[dim] is None else value.shape[dim] * value.shape[dim + 1]
        return self.reshape(value, groups, (*value.shape[:dim], size, *value.shape[dim + 2:]))

    def split(self, value, dim, size):
        """Dimension dim as blocks of `size`."""
        groups = [[d] for d in range(dim)] + [[dim, dim + 1]]
        groups += [[d + 1] for d in range(dim + 1, len(value.shape))]
        blocks = (value.shape[dim] // size, size)
        return self.reshape(value, groups, (*value.shape[:dim], *blocks, *value.shape[dim + 1:]))

    def repeat(self, value, dim, size, how="broadcast"):
        """A new dimension `dim` of `size`, along which the value stays the same."""
        shape = (*value.shape[:dim], size, *value.shape[dim:])
        if value.container == "tensor":
            sizes = [self.dim(value, d) for d, n in enumerate(value.shape) if n is None]
            init = self.empty_of(shape, value.element, sizes)
            return self.op(
                f"linalg.broadcast ins({value.name} : {value.type}) "
                f"outs({init.name} : {init.type}) dimensions = [{dim}]",
                shape, value.element,
            )
        if how == "stretch":
            unit = self.reshape(value, None, (*value.shape[:dim], 1, *value.shape[dim:]))
            return self.like(
                f"vector.broadcast {unit.name} : {unit.type} to {{result}}", unit, shape
            )
        first = self.like(
            f"vector.broadcast {value.name} : {value.type} to {{result}}", value,
            (size, *value.shape),
        )
        order = [*range(1, dim + 1), 0, *range(dim + 1, len(shape))]
        return self.like(
            f"vector.transpose {first.name}, {order} : {first.type} to {{result}}", first, shape
        )

    def spread(self, scale, dim, block, how="broadcast"):
        """Scales in the shape of their elements."""
        if how != "floordiv":
            return self.merge(self.repeat(scale, dim + 1, block, how), dim)
        shape = [n * (block if d == dim else 1) for d, n in enumerate(scale.shape)]
        letters = [f"d{d}" for d in range(len(shape))]
        source = [f"{d} floordiv {block}" if i == dim else d for i, d in enumerate(letters)]
        init = self.empty_of(shape, scale.element)
        return self.generic(
            [scale], [source], init, letters, letters, ["parallel"] * len(shape),
            lambda args, _: args[0],
        )

    # Structured ops

    def generic(self, inputs, maps, init, out, loops, kinds, body):
        """linalg.generic; `body` gets the names of arguments and adds lines to self.body."""
        def affine(index):
            return f"affine_map<({', '.join(loops)}) -> ({', '.join(index)})>"

        args = [f"%in{i}_{self.values}" for i in range(len(inputs))]
        last = f"%out_{self.values}"
        typed = [f"{arg}: {v.element}" for arg, v in zip([*args, last], [*inputs, init])]
        outer, self.body = self.body, []
        yielded = body(args, last)
        lines, self.body = self.body, outer
        lines.append(f"linalg.yield {yielded} : {init.element}")
        ins = ", ".join(v.name for v in inputs) + " : " + ", ".join(v.type for v in inputs)
        quoted = ", ".join(f'"{kind}"' for kind in kinds)
        return self.op(
            f"linalg.generic {{indexing_maps = [{', '.join(map(affine, [*maps, out]))}], "
            f"iterator_types = [{quoted}]}} ins({ins}) outs({init.name} : {init.type}) {{\n"
            f"  ^bb0({', '.join(typed)}):\n    " + "\n    ".join(lines) + f"\n  }} -> {init.type}",
            init.shape, init.element,
        )

    def contract(self, name, x, y, acc, orders):
        """The contraction `name` of decoded values; `orders` of x, y and acc."""
        loops = "".join(d for d in "bmnksi" if any(d in order for order in orders))
        kinds = ["reduction" if d in "ksi" else "parallel" for d in loops]
        maps = ", ".join(
            f"affine_map<({', '.join(loops)}) -> ({', '.join(order)})>" for order in orders
        )
        if name == "vector.contract":
            quoted = ", ".join(f'"{kind}"' for kind in kinds)
            return self.op(
                f"vector.contract {{indexing_maps = [{maps}], iterator_types = [{quoted}], "
                f"kind = #vector.kind<add>}} {x.name}, {y.name}, {acc.name} "
                f": {x.type}, {y.type} into {acc.type}", *acc[1:],
            )
        if name == "linalg.generic":
            def body(args, out):
                product = self.op(f"arith.mulf {args[1]}, {args[0]} : f32").name
                return self.op(f"arith.addf {product}, {out} : f32").name
            return self.generic([x, y], orders[:2], acc, orders[2], loops, kinds, body)
        return self.op(
            f"{name} indexing_maps = [{maps}] ins({x.name}, {y.name} : {x.type}, {y.type}) "
            f"outs({acc.name} : {acc.type}) -> {acc.type}", *acc[1:],
        )
