"""Random programs around products whose operands the program makes itself.

A program has one product, or two in a chain. Each operand of it is an argument, or is made of arguments by a step of
`MAKERS`: joined, padded, cut out, inserted, selected, broadcast, gathered, transposed, reshaped, cast, quantized. Sizes
may be dynamic, and products and quotients of sizes; results are reshaped, added to and quantized.

What comes out of a product is exact in f32 by the choice of elements and scales, whatever the order of sums, but for
the second product of a chain.
"""

import blockscale
import numpy as np
from harness import COMBINATIONS, Program, Value

# What every element format holds; products and sums of them with SCALES are exact in f32.
ELEMENTS = [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0]
SCALES = [0.5, 1.0, 2.0]


def encode(rng, shape, element):
    """Random codes of an element or scale type, or f32."""
    values = rng.choice(SCALES if element in blockscale.SCALE_FORMATS else ELEMENTS, shape)
    if element == "f32":
        return np.float32(values)
    return blockscale.encode(values, blockscale.SCALE_FORMATS.get(element, element))


class Maker:
    """Makes operands of one program."""

    def __init__(self, rng, program, dynamic):
        self.rng, self.p, self.dynamic = rng, program, dynamic
        self.depth = 0

    def flip(self, probability=0.5):
        return self.rng.random() < probability

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def argument(self, shape, element):
        """An argument with random data, of dynamic sizes where the program has such."""
        sizes = [None if self.dynamic and self.flip(0.7) else n for n in shape]
        return self.p.arg(encode(self.rng, shape, element), element, sizes)

    def static(self, shape, element, unit=None):
        """An argument of static sizes or, where `unit` allows, what another step makes of some."""
        if unit is None or self.depth == 2 or self.flip(0.7):
            return self.p.arg(encode(self.rng, shape, element), element, shape)
        self.depth += 1
        step = self.pick(self.splat, self.packed, self.concat, self.pad, self.cut, self.insert, self.select, self.broadcast)
        value = step(tuple(shape), element, unit)
        self.depth -= 1
        return value

    def size(self, value, dimension):
        known = value.shape[dimension]
        return str(known) if known is not None else self.p.dim(value, dimension)

    def sizes(self, value):
        return ", ".join(self.size(value, i) for i in range(len(value.shape)))

    def empty(self, sizes, shape, element):
        """tensor.empty of `shape`, whose `?` are `sizes`."""
        kind = Value("", tuple(shape), element).type
        return self.p.op(f"tensor.empty({', '.join(sizes)}) : {kind}", shape, element)

    # Steps. Each gives a value of a shape.

    def plain(self, shape, element, unit):
        return self.argument(shape, element)

    def splat(self, shape, element, unit):
        """A constant of one value, which has no data."""
        value = self.rng.choice(SCALES if element in blockscale.SCALE_FORMATS else ELEMENTS)
        return self.p.constant(value, shape, element)

    def packed(self, shape, element, unit):
        """An argument that is a bit stream along its rows; of fp4, each is one."""
        is_stream = element.startswith("f6") and shape[-1] % 4 == 0
        return self.p.arg(encode(self.rng, shape, element), element, shape, packed=is_stream)

    def constant(self, shape, element, unit):
        codes = encode(self.rng, shape, element)
        digits = "".join(f"{int(code):02X}" for code in codes.reshape(-1))
        kind = Value("", tuple(shape), "i8").type
        as_bytes = self.p.op(f'arith.constant dense<"0x{digits}"> : {kind}', shape, "i8")
        return self.narrow(as_bytes, shape, element)

    def narrow(self, as_bytes, shape, element):
        """Bytes as codes."""
        bits = blockscale.FORMATS[blockscale.SCALE_FORMATS.get(element, element)].bits
        narrow = Value("", tuple(shape), f"i{bits}").type
        if bits != 8:
            as_bytes = self.p.op(f"arith.trunci {as_bytes.name} : {as_bytes.type} to {narrow}", shape, f"i{bits}")
        kind = Value("", tuple(shape), element).type
        return self.p.op(f"arith.bitcast {as_bytes.name} : {as_bytes.type} to {kind}", shape, element)

    def concat(self, shape, element, unit):
        dimension = int(self.rng.integers(len(shape)))
        step = unit if dimension == len(shape) - 1 else 1
        total = shape[dimension] // step
        if total < 2:
            return self.static(shape, element)
        first = int(self.rng.integers(1, total)) * step
        parts = []
        for size in (first, shape[dimension] - first):
            part = list(shape)
            part[dimension] = size
            parts.append(self.static(part, element, unit))
        kind = Value("", tuple(shape), element).type
        return self.p.op(
            f"tensor.concat dim({dimension}) {parts[0].name}, {parts[1].name} : ({parts[0].type}, {parts[1].type}) "
            f"-> {kind}", shape, element,
        )

    def pad(self, shape, element, unit):
        low, high = [0] * len(shape), [0] * len(shape)
        inner = list(shape)
        for i, size in enumerate(shape):
            step = unit if i == len(shape) - 1 else 1
            units = size // step
            if units > 1 and self.flip():
                low[i] = int(self.rng.integers(0, units)) * step
                high[i] = int(self.rng.integers(0, units - low[i] // step)) * step
                inner[i] = size - low[i] - high[i]
        source = self.static(inner, element, unit)
        value = self.p.op(f"arith.constant 1.0 : {element}").name
        dims = ", ".join(f"%p{self.p.values}_{i}: index" for i in range(len(shape)))
        kind = Value("", tuple(shape), element).type
        return self.p.op(
            f"tensor.pad {source.name} low{low} high{high} {{\n  ^bb0({dims}):\n    tensor.yield {value} : {element}\n"
            f"  }} : {source.type} to {kind}", shape, element,
        )

    def cut(self, shape, element, unit):
        """A slice; steps of more than one along rows."""
        steps = [self.pick(1, 1, 2) if i < len(shape) - 1 else 1 for i in range(len(shape))]
        offsets = [int(self.rng.integers(0, 3)) * (unit if i == len(shape) - 1 else 1) for i in range(len(shape))]
        outer = [o + (n - 1) * s + 1 for o, n, s in zip(offsets, shape, steps)]
        outer[-1] = offsets[-1] + shape[-1] + unit * int(self.rng.integers(0, 2))
        source = self.static(outer, element, unit)
        kind = Value("", tuple(shape), element).type
        return self.p.op(
            f"tensor.extract_slice {source.name}{offsets} {list(shape)} {steps} : {source.type} to {kind}", shape,
            element,
        )

    def insert(self, shape, element, unit):
        inner = list(shape)
        dimension = int(self.rng.integers(len(shape)))
        step = unit if dimension == len(shape) - 1 else 1
        units = shape[dimension] // step
        offsets = [0] * len(shape)
        if units > 1:
            size = int(self.rng.integers(1, units))
            offsets[dimension] = int(self.rng.integers(0, units - size + 1)) * step
            inner[dimension] = size * step
        source, dest = self.static(inner, element, unit), self.static(shape, element, unit)
        return self.p.op(
            f"tensor.insert_slice {source.name} into {dest.name}{offsets} {inner} {[1] * len(shape)} : {source.type} "
            f"into {dest.type}", shape, element,
        )

    def select(self, shape, element, unit):
        a, b = self.static(shape, element, unit), self.static(shape, element, unit)
        condition = self.p.scalar(np.uint8(self.rng.integers(2)), "i1")
        return self.p.op(f"arith.select {condition.name}, {a.name}, {b.name} : {a.type}", shape, element)

    def broadcast(self, shape, element, unit):
        dimension = int(self.rng.integers(len(shape)))
        if element == "f4E2M1FN" and dimension == len(shape) - 1 and (len(shape) == 1 or shape[-2] % 2):
            dimension = 0  # Rows of arguments end on a byte.
        if len(shape) == 1:
            return self.static(shape, element)
        inner = [n for i, n in enumerate(shape) if i != dimension]
        source = self.static(inner, element, unit)
        init = self.empty([], shape, element)
        return self.p.op(
            f"linalg.broadcast ins({source.name} : {source.type}) outs({init.name} : {init.type}) dimensions = "
            f"[{dimension}]", shape, element,
        )

    def cast(self, shape, element, unit):
        source = self.argument(shape, "f32") if element not in blockscale.SCALE_FORMATS else None
        if source is None:
            data = np.float32(self.rng.choice(SCALES, shape))
            source = self.p.arg(data, "f32", shape)
        kind = Value("", source.shape, element).type
        return self.p.op(f"arith.truncf {source.name} : {source.type} to {kind}", source.shape, element)

    def gather(self, shape, element, unit):
        count = shape[-2] + int(self.rng.integers(1, 4))
        table = self.static([*shape[:-2], count, shape[-1]], element)
        rows = self.p.arg(np.int32(self.rng.integers(0, count, shape[-2])), "i32", (shape[-2],))
        init = self.empty([], shape, element)
        loops = [f"d{i}" for i in range(len(shape))]
        domain = ", ".join(loops)
        kinds = ", ".join(['"parallel"'] * len(shape))
        n = self.p.values
        at = [f"%i{n}_{i}" for i in range(len(shape))]
        lines = [f"{name} = linalg.index {i} : index" for i, name in enumerate(at)]
        at[-2] = f"%r{n}"
        body = "\n    ".join([
            f"^bb0(%v{n}: i32, %o{n}: {element}):", *lines, f"%r{n} = arith.index_cast %v{n} : i32 to index",
            f"%e{n} = tensor.extract {table.name}[{', '.join(at)}] : {table.type}", f"linalg.yield %e{n} : {element}",
        ])
        return self.p.op(
            f"linalg.generic {{indexing_maps = [affine_map<({domain}) -> ({loops[-2]})>, affine_map<({domain}) -> "
            f"({domain})>], iterator_types = [{kinds}]}} ins({rows.name} : {rows.type}) outs({init.name} : "
            f"{init.type}) {{\n    {body}\n  }} -> {init.type}", shape, element,
        )

    def transpose(self, shape, element, unit):
        """Of an argument, or of what another step has made."""
        inner = [*shape[:-2], shape[-1], shape[-2]]
        step = self.pick(self.plain, self.plain, self.concat, self.cut)
        if shape[-2] % 2:
            step = self.plain if element != "f4E2M1FN" else None
        if step is None:
            return self.plain(shape, element, unit)
        return self.p.transpose(step(inner, element, 2 if element == "f4E2M1FN" else 1))

    def collapse(self, shape, element, unit):
        """Of an argument with more dimensions, five at most."""
        dimension = int(self.rng.integers(len(shape)))
        step = unit if dimension == len(shape) - 1 else 1
        size = shape[dimension] // step
        parts, rest = [], size
        for _ in range(self.pick(1, 1, 5 - len(shape))):
            parts.append(self.pick(*(f for f in range(1, rest + 1) if rest % f == 0)))
            rest //= parts[-1]
        parts.append(rest * step)
        outer = [*shape[:dimension], *parts, *shape[dimension + 1:]]
        source = self.argument(outer, element)
        groups, at = [], 0
        for i in range(len(shape)):
            width = len(parts) if i == dimension else 1
            groups.append(list(range(at, at + width)))
            at += width
        known = []
        for group in groups:
            sizes = [source.shape[i] for i in group]
            known.append(None if None in sizes else int(np.prod(sizes)))
        kind = Value("", tuple(known), element).type
        return self.p.op(
            f"tensor.collapse_shape {source.name} {groups} : {source.type} into {kind}", known, element,
        )

    def expand(self, shape, element, unit):
        """Of an argument with one dimension less, which is a product of sizes."""
        source = self.argument([shape[0] * shape[1], *shape[2:]], element)
        groups = [[0, 1], *([i] for i in range(2, len(shape)))]
        kept = list(source.shape[1:])
        if source.shape[0] is None:
            # A quotient of sizes.
            first = self.p.scalar(np.int64(shape[0]), "index")
            total = self.p.dim(source, 0)
            second = self.p.op(f"arith.divui {total}, {first.name} : index").name
            outer, sizes = [None, None], [first.name, second]
        else:
            outer, sizes = list(shape[:2]), [str(n) for n in shape[:2]]
        sizes += [self.size(source, i) for i in range(1, len(source.shape))]
        known = [*outer, *kept]
        kind = Value("", tuple(known), element).type
        return self.p.op(
            f"tensor.expand_shape {source.name} {groups} output_shape [{', '.join(sizes)}] : {source.type} into {kind}",
            known, element,
        )

    def unswizzle(self, shape, element, unit):
        """Scales, whose rows are the last but one dimension, from atoms."""
        s = self.static(shape, element)
        return self.p.unswizzle(self.p.swizzle(s), shape)


STEPS = (
    "plain packed splat concat pad cut insert select broadcast cast gather transpose collapse expand constant".split()
)


def check_steps(value, shape):
    assert all(got in (None, n) for got, n in zip(value.shape, shape)) and len(value.shape) == len(shape)


class Case:
    """A program, by its number."""

    def __init__(self, number):
        self.rng = np.random.default_rng([41, number])
        rng = self.rng
        self.row = COMBINATIONS[number % len(COMBINATIONS)]
        self.p = Program()
        self.dynamic = rng.random() < 0.4
        self.make = Maker(rng, self.p, self.dynamic)
        self.steps = []
        self.build()
        self.tolerance = 1e-4 if self.is_chain else 0.0

    def operand(self, shape, element, step=None):
        """An operand of a shape, K last; `unit` keeps blocks and bytes whole."""
        unit = 1 if element in blockscale.SCALE_FORMATS or element == "f32" else self.row.block
        names = [s for s in STEPS if s != "constant" or element != "f32"]
        if element in blockscale.SCALE_FORMATS:
            names.append("unswizzle")
        step = step or self.make.pick(*names)
        if step == "gather" and len(shape) < 2:
            step = "plain"
        self.steps.append(f"{element}:{step}")
        value = getattr(self.make, step)(tuple(shape), element, unit)
        check_steps(value, shape)
        return value

    def quantized(self, rows, k, batch, element):
        """Elements and scales of one or two quantized parts."""
        p, row = self.p, self.row
        def quantize(count):
            x = self.make.static((*batch, count, k), "f32")
            shape = (*batch, count, k // row.block)
            types = f"{Value('', x.shape, element).type}, {Value('', shape, row.scale).type}"
            name = f"%q{p.values}"
            p.body.append(
                f"{name}:2 = blockscale.quantize {x.name} {{block_size = {row.block} : i64}} : {x.type} to {types}"
            )
            return Value(f"{name}#0", x.shape, element), Value(f"{name}#1", shape, row.scale)
        self.steps.append(f"{element}:quantized")
        if rows < 2 or self.make.flip():
            p.values += 1
            return quantize(rows)
        first = int(self.rng.integers(1, rows))
        p.values += 1
        parts = [quantize(first)]
        p.values += 1
        parts.append(quantize(rows - first))
        dimension = len(batch)
        joined = []
        for a, b in zip(*parts):
            shape = list(a.shape)
            shape[dimension] = rows
            kind = Value("", tuple(shape), a.element).type
            joined.append(p.op(
                f"tensor.concat dim({dimension}) {a.name}, {b.name} : ({a.type}, {b.type}) -> {kind}", shape, a.element
            ))
        return joined

    def side(self, rows, k, batch, element, is_y):
        """Elements and scales of x, or of y as the op takes it."""
        blocks = k // self.row.block
        if self.make.flip(0.2):
            pair = self.quantized(rows, k, batch, element)
            return [self.p.transpose(v) for v in pair] if is_y else pair
        transposed = is_y and self.make.flip(0.6)
        if is_y and not transposed:
            # Rows of memory are along N: what is packed ends on a byte there.
            shapes = ((*batch, k, rows), (*batch, blocks, rows))
            unit = 2
            values = []
            for shape, kind in zip(shapes, (element, self.row.scale)):
                names = [s for s in STEPS if s not in ("constant",)]
                step = self.make.pick(*names)
                self.steps.append(f"{kind}:kn:{step}")
                values.append(getattr(self.make, step)(shape, kind, unit if kind == element else 1))
            return values
        shapes = ((*batch, rows, k), (*batch, rows, blocks))
        values = [self.operand(shape, kind) for shape, kind in zip(shapes, (element, self.row.scale))]
        return [self.p.transpose(v) for v in values] if transposed else values

    def attribute(self):
        return f" {{block_size = {self.row.block}}}"

    def product(self, x, x_scale, y, y_scale, acc):
        values = (x, x_scale, y, y_scale, acc)
        return self.p.op(
            f"blockscale.mma_scaled {', '.join(v.name for v in values)}{self.attribute()} : "
            f"{', '.join(v.type for v in values)}", acc.shape, "f32",
        )

    def build(self):
        rng, make, row, p = self.rng, self.make, self.row, self.p
        m, n = int(rng.integers(1, 41)), 2 * int(rng.integers(1, 21))
        blocks = self.make.pick(1, 2, 4, 4, 8)
        if self.make.flip(0.15):
            m, n, blocks = 128 + 2 * int(rng.integers(0, 3)), 128, 8
        k = blocks * row.block
        batch = () if make.flip(0.75) else (int(rng.integers(1, 4)),)
        x, x_scale = self.side(m, k, batch, row.x, False)
        y, y_scale = self.side(n, k, batch, row.y, True)
        acc = self.accumulator(x, y, (*batch, m, n))
        result = self.product(x, x_scale, y, y_scale, acc)
        self.is_chain = False
        result = self.behind(result, (*batch, m, n))
        p.result(result)

    def accumulator(self, x, y, shape):
        """Zeros, an argument or what a step makes; of the sizes that x and y are known to have."""
        make, p = self.make, self.p
        known = list(shape)
        if self.dynamic and make.flip():
            known = [x.shape[-2], y.shape[-1]]
            if len(shape) == 3:
                known.insert(0, x.shape[0])
            dims = []
            for value, dimension, size in zip(
                [x, x, y][3 - len(shape):], [0, -2, -1][3 - len(shape):], known
            ):
                if size is None:
                    dims.append(p.dim(value, dimension % len(value.shape)))
            init = make.empty(dims, known, "f32")
            zero = p.op("arith.constant 0.0 : f32").name
            return p.op(f"linalg.fill ins({zero} : f32) outs({init.name} : {init.type}) -> {init.type}", known, "f32")
        step = make.pick("zero", "plain", "concat", "broadcast", "cut", "collapse", "expand")
        self.steps.append(f"acc:{step}")
        if step == "zero":
            return p.constant(0.0, shape, "f32")
        return getattr(make, step)(shape, "f32", 1)

    def behind(self, result, shape):
        """What is made of the result: reshaped, added to, a second product."""
        make, p = self.make, self.p
        kind = make.pick("none", "none", "add", "bias", "expand", "expand_add", "collapse", "quantize", "chain")
        self.steps.append(f"result:{kind}")
        is_static = None not in result.shape
        if kind == "add":
            other = p.arg(np.float32(self.rng.choice(ELEMENTS, shape)), "f32", result.shape)
            return p.op(f"arith.addf {result.name}, {other.name} : {result.type}", result.shape, "f32")
        if kind == "bias" and is_static:
            bias = make.broadcast(shape, "f32", 1)
            return p.op(f"arith.addf {result.name}, {bias.name} : {result.type}", shape, "f32")
        if kind in ("expand", "expand_add"):
            return self.expand_result(result, shape, kind == "expand_add")
        if kind == "collapse" and len(shape) == 3:
            groups = [[0, 1], [2]]
            both = result.shape[:2]
            known = [None if None in both else both[0] * both[1], result.shape[2]]
            kind = Value("", tuple(known), "f32").type
            return p.op(f"tensor.collapse_shape {result.name} {groups} : {result.type} into {kind}", known, "f32")
        if kind == "quantize" and is_static and shape[-1] % self.row.block == 0:
            return self.quantize_result(result, shape)[0]
        if kind == "chain" and is_static and shape[-1] % self.row.block == 0:
            return self.chain(result, shape)
        return result

    def expand_result(self, result, shape, adds):
        make, p = self.make, self.p
        m = shape[0]
        factor = make.pick(*[f for f in range(1, m + 1) if m % f == 0])
        if result.shape[0] is None:
            first = p.scalar(np.int64(factor), "index")
            total = p.dim(result, 0)
            second = p.op(f"arith.divui {total}, {first.name} : index").name
            outer, sizes = [None, None], [first.name, second]
        else:
            outer, sizes = [factor, m // factor], [str(factor), str(m // factor)]
        sizes += [make.size(result, i) for i in range(1, len(shape))]
        groups = [[0, 1], *([i] for i in range(2, len(shape) + 1))]
        known = [*outer, *result.shape[1:]]
        kind = Value("", tuple(known), "f32").type
        value = p.op(
            f"tensor.expand_shape {result.name} {groups} output_shape [{', '.join(sizes)}] : {result.type} into {kind}",
            known, "f32",
        )
        if not adds:
            return value
        data = np.float32(self.rng.choice(ELEMENTS, [factor, m // factor, *shape[1:]]))
        other = p.arg(data, "f32", known)
        return p.op(f"arith.addf {value.name}, {other.name} : {value.type}", known, "f32")

    def quantize_result(self, result, shape):
        p, row = self.p, self.row
        scales = (*shape[:-1], shape[-1] // row.block)
        types = f"{Value('', tuple(shape), row.x).type}, {Value('', scales, row.scale).type}"
        name = f"%q{p.values}"
        p.values += 1
        p.body.append(
            f"{name}:2 = blockscale.quantize {result.name} {{block_size = {row.block} : i64}} : {result.type} to {types}"
        )
        return Value(f"{name}#0", tuple(shape), row.x), Value(f"{name}#1", scales, row.scale)

    def chain(self, result, shape):
        """A second product, of the result and fresh weights."""
        self.is_chain = True
        x, x_scale = self.quantize_result(result, shape)
        n = 2 * int(self.rng.integers(1, 17))
        y, y_scale = self.side(n, shape[-1], (), self.row.y, True)
        acc = self.p.constant(0.0, (*shape[:-1], n), "f32")
        return self.product(x, x_scale, y, y_scale, acc)
