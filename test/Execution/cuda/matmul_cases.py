"""Products of linalg of bf16 and f16 elements: orders, sizes, what is around them, and schedules.

Several problems to a function, each with a schedule of its own; each value of a factor meets each value
of every other one over the cases (`cover`).
"""

from typing import NamedTuple

import numpy as np
from gpu_cases import Case, Same, swapped
from harness import Program, assert_bit_equal
from warp_specialized_cases import cover

ELEMENTS = ("bf16", "f16")
# As it is; transposed by linalg.transpose in front; by the indexing map of the product.
ORDERS = ("plain", "transposed", "map")
M = (1, 7, 63, 64, 65, 200, 300)
N = (1, 7, 24, 63, 65, 128, 200, 300)
K = (1, 7, 63, 64, 65, 200, 300)
BATCHES = (None, 1, 3)
ACCS = ("zero", "argument", "filled", "bias", "twice")
ENDS = ("", "relu", "residual", "bf16", "f16")
DYNAMIC = ("", "m", "n", "k", "b", "mn", "bmnk")


class Schedule(NamedTuple):
    m: int
    n: int
    stages: int
    persistent: int
    group: int
    split_k: int
    cluster: str = ""
    accumulators: int = 1
    swap_ab: int = 0
    two_cta: int = 0


class Multistage(NamedTuple):
    """The schedule of mma.sync; the one above is for wgmma and tcgen05."""

    m: int
    n: int
    k: int
    warps: tuple
    stages: int
    split_k: int = 1


# None is the default. Rows of 64, of 128 and of more bytes; one step or several for a stage; warps of one
# instruction, of several, and of a number that is no power of two.
MULTISTAGE = (
    None, Multistage(64, 64, 64, (2, 2), 2), Multistage(16, 8, 32, (1, 1), 1), Multistage(128, 256, 64, (2, 4), 3),
    Multistage(256, 128, 32, (4, 2), 4), Multistage(32, 96, 128, (2, 1), 3), Multistage(16, 128, 64, (1, 4), 4),
    Multistage(96, 16, 32, (1, 1), 5), Multistage(32, 32, 256, (1, 2), 2), Multistage(64, 32, 32, (1, 1), 16),
)


# For factors, by path. Tiles of tcgen05 that are no multiple of 64 along N are those of `narrow_tiles`.
SCHEDULES = {
    "wgmma": (
        None, (64, 64, 1, 0, 8, 1), (64, 256, 2, 1, 8, 1), (128, 128, 3, 1, 2, 1), (128, 256, 2, 0, 1, 1),
        (192, 128, 2, 1, 8, 1), (256, 128, 3, 0, 3, 1), (64, 8, 4, 1, 8, 1), (128, 24, 4, 0, 8, 1),
        (64, 136, 1, 1, 8, 1), (256, 24, 2, 1, 1, 1), (192, 8, 1, 0, 8, 1),
    ),
    "tcgen05": (
        None, (128, 64, 1, 0, 8, 1), (128, 64, 2, 1, 8, 1, "", 2), (128, 128, 3, 1, 2, 1, "", 2),
        (128, 256, 3, 1, 1, 1, "", 2), (128, 192, 2, 0, 3, 1), (128, 64, 2, 1, 8, 1, "", 2, 1),
        (128, 128, 3, 0, 8, 1, "", 1, 1), (128, 64, 2, 1, 2, 1, "2x1", 2, 0, 1), (128, 256, 3, 1, 8, 1, "2x1", 2, 0, 1),
        (128, 192, 2, 0, 1, 1, "2x1", 1, 0, 1), (128, 64, 3, 1, 8, 1, "2x1", 1, 1, 1),
        (64, 256, 2, 1, 3, 1, "2x1", 2, 0, 1), (64, 256, 3, 1, 8, 1, "2x1", 1, 1, 1),
    ),
    "dequant_mma": MULTISTAGE,
}


class Problem(NamedTuple):
    element: str
    m: int
    n: int
    k: int
    x_order: str = "plain"
    y_order: str = "plain"
    batch: int = None
    acc: str = "zero"
    end: str = ""
    dynamic: str = ""
    schedule: tuple = None
    is_exact: bool = True


# Values


def to_bf16(values):
    """The bits of float32 values, rounded to nearest even."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def to_element(values, element):
    return to_bf16(values) if element == "bf16" else np.asarray(values, np.float16)


def from_element(array, element):
    if element == "bf16":
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32)


def draw_values(rng, shape, is_exact, most=60):
    """Integers whose products add up exactly, the more of them negative; else of a normal distribution."""
    if is_exact:
        return rng.integers(-most * 3 // 2, most + 1, shape).astype(np.float32)
    return rng.standard_normal(shape).astype(np.float32)


class Near(NamedTuple):
    """A result within the bound that docs/Numerics.md has for products; what is behind the product is
    done to both ends.
    """

    low: np.ndarray
    high: np.ndarray
    element: str

    @property
    def shape(self):
        return self.low.shape

    def check(self, result):
        result = from_element(result, self.element) if self.element != "f32" else result
        outside = ~((self.low <= result) & (result <= self.high))
        assert not outside.any(), (
            f"{outside.sum()} of {outside.size} outside: {result[outside][:3]}, expected "
            f"{self.low[outside][:3]} to {self.high[outside][:3]}, first at {np.argwhere(outside)[0]}"
        )


class Equal(NamedTuple):
    expected: np.ndarray
    element: str

    @property
    def shape(self):
        return self.expected.shape

    def check(self, result):
        if self.element == "f32":
            assert_bit_equal(result, self.expected)
            return
        got, expected = (from_element(array, self.element) for array in (result, self.expected))
        assert_bit_equal(got, expected)


# Programs


def sizes_of(problem, array, letters):
    """`letters` without "b" where there is no batch, and the type's sizes."""
    letters = letters if problem.batch else letters.replace("b", "")
    return [None if c in problem.dynamic else n for c, n in zip(letters, array.shape)]


class Builder:
    """The ops of one problem."""

    def __init__(self, program, problem, seed):
        self.program, self.problem = program, problem
        self.rng = np.random.default_rng([seed, problem.m, problem.n, problem.k])
        self.lead = () if problem.batch is None else (problem.batch,)

    def data(self, *shape):
        # Sums that f16 has.
        most = 4 if self.problem.end == "f16" else 60
        return draw_values(self.rng, (*self.lead, *shape), self.problem.is_exact, most)

    def operand(self, values, order, letters):
        """The value, and the loops of its dimensions."""
        array = to_element(values, self.problem.element)
        if order != "plain":
            array, letters = swapped(array), letters[::-1]
        letters = "b" * bool(self.lead) + letters
        value = self.program.arg(array, self.problem.element, sizes_of(self.problem, array, letters))
        if order != "transposed":
            return value, letters
        return self.program.transpose(value), letters[:-2] + letters[:-3:-1]

    def size_names(self, like):
        return [self.program.dim(like, d) for d, n in enumerate(like.shape) if n is None]

    def empty(self, like, element):
        kind = like._replace(element=element).type
        return self.program.op(f"tensor.empty({', '.join(self.size_names(like))}) : {kind}", like.shape, element)

    def filled(self, like, number):
        scalar = self.program.op(f"arith.constant {number:.1f} : f32").name
        init = self.empty(like, "f32")
        return self.program.op(
            f"linalg.fill ins({scalar} : f32) outs({init.name} : {init.type}) -> {init.type}",
            init.shape, "f32",
        )

    def generic(self, body, inputs, like, element):
        """An elementwise op of `inputs`, pairs of a value and the last dimensions that it has."""
        rank = len(like.shape)
        init = self.empty(like, element)
        dims = [f"d{i}" for i in range(rank)]
        maps = [f"affine_map<({', '.join(dims)}) -> ({', '.join(dims[rank - n:])})>" for _, n in inputs]
        maps.append(f"affine_map<({', '.join(dims)}) -> ({', '.join(dims)})>")
        names = ", ".join(value.name for value, _ in inputs)
        types = ", ".join(value.type for value, _ in inputs)
        blocks = ", ".join(f"%in{i}: {value.element}" for i, (value, _) in enumerate(inputs))
        iterators = ", ".join(['"parallel"'] * rank)
        return self.program.op(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}}\n"
            f"    ins({names} : {types}) outs({init.name} : {init.type}) {{\n"
            f"  ^bb0({blocks}, %out: {element}):\n    {body}\n  }} -> {init.type}", init.shape, element,
        )

    def like(self):
        """A name for the sizes of the result: those of an argument of its shape."""
        array = np.zeros((*self.lead, self.problem.m, self.problem.n), np.float32)
        return self.program.arg(array, "f32", sizes_of(self.problem, array, "bmn"))

    def acc(self, kind, values):
        """What the product is added to."""
        if kind == "argument":
            self.program.arrays[-1][...] = values  # Of like().
            return self.program.args[-1]
        like = self.program.args[-1]
        if kind == "bias":
            bias = self.program.arg(values, "f32", sizes_of(self.problem._replace(batch=None), values, "n"))
            return self.generic("linalg.yield %in0 : f32", [(bias, 1)], like, "f32")
        if kind == "twice":
            self.program.arrays[-1][...] = values / 2
            return self.generic(
                "%s = arith.addf %in0, %in0 : f32\n    linalg.yield %s : f32", [(like, len(like.shape))], like, "f32",
            )
        return self.filled(like, 1.5 if kind == "filled" else 0.0)

    def end(self, product, values):
        """What is behind the product."""
        kind, rank = self.problem.end, len(product.shape)
        if kind == "":
            return product
        if kind == "relu":
            body = "%z = arith.constant 0.0 : f32\n    %r = arith.maximumf %in0, %z : f32\n    linalg.yield %r : f32"
            return self.generic(body, [(product, rank)], product, "f32")
        if kind == "residual":
            residual = self.program.arg(values, "f32", sizes_of(self.problem, values, "bmn"))
            body = "%r = arith.addf %in0, %in1 : f32\n    linalg.yield %r : f32"
            return self.generic(body, [(product, rank), (residual, rank)], product, "f32")
        body = f"%r = arith.truncf %in0 : f32 to {kind}\n    linalg.yield %r : {kind}"
        return self.generic(body, [(product, rank)], product, kind)

    def attributes(self, letters):
        maps = []
        loops = "b" * bool(self.lead) + "mnk"
        if "map" in (self.problem.x_order, self.problem.y_order):
            each = [f"affine_map<({', '.join(loops)}) -> ({', '.join(of)})>" for of in (*letters, loops[:-1])]
            maps = [f"indexing_maps = [{', '.join(each)}]"]
        return " ".join(maps)


def add_problem(program, problem, seed):
    """Adds one product; its result and what is expected."""
    b = Builder(program, problem, seed)
    m, n, k = problem.m, problem.n, problem.k
    x, y = (from_element(to_element(values, problem.element), problem.element)
            for values in (b.data(m, k), b.data(k, n)))
    x_value, x_letters = b.operand(x, problem.x_order, "mk")
    y_value, y_letters = b.operand(y, problem.y_order, "kn")
    like = b.like()
    acc = {
        "zero": np.float32(0), "filled": np.float32(1.5), "argument": b.data(m, n), "twice": 2 * b.data(m, n),
        "bias": draw_values(b.rng, (n,), problem.is_exact),
    }[problem.acc]
    residual = b.data(m, n)
    acc_value = b.acc(problem.acc, acc)
    name = "batch_matmul" if b.lead else "matmul"
    schedule = "" if problem.schedule is None else f" {{blockscale.schedule = {attribute(problem.schedule)}}}"
    maps = b.attributes((x_letters, y_letters))
    product = program.op(
        f"linalg.{name} {maps}{schedule} ins({x_value.name}, {y_value.name} : {x_value.type}, {y_value.type}) "
        f"outs({acc_value.name} : {acc_value.type}) -> {acc_value.type}", like.shape, "f32",
    )
    program.result(b.end(product, residual))
    return expect(problem, x, y, acc, residual)


def attribute(schedule):
    if isinstance(schedule, Multistage):
        m, n, k, (rows, columns), stages, split_k = schedule
        text = f"tile = [{m}, {n}, {k}], warps = [{rows}, {columns}], stages = {stages}"
        text += f", split_k = {split_k}" * (split_k != 1)
        return f"#blockscale.multistage_schedule<{text}>"
    s = Schedule(*schedule)
    text = f"tile = [{s.m}, {s.n}, 64], stages = {s.stages}, accumulators = {s.accumulators}"
    text += f", persistent = {str(bool(s.persistent)).lower()}" + f", raster_group = {s.group}" * (s.group != 8)
    text += ", swap_ab = true" * s.swap_ab + f", split_k = {s.split_k}" * (s.split_k != 1)
    text += f", cluster = {s.cluster}" * bool(s.cluster) + ", two_cta = true" * s.two_cta
    return f"#blockscale.warp_specialized_schedule<{text}>"


def finish(problem, product, residual):
    """The epilogue, on values that are rounded to f32."""
    value = np.asarray(product, np.float32)
    if problem.end == "relu":
        return np.maximum(value, np.float32(0))
    if problem.end == "residual":
        return value + residual
    return to_element(value, problem.end) if problem.end else value


def expect(problem, x, y, acc, residual):
    element = problem.end if problem.end in ELEMENTS else "f32"
    product = x.astype(np.float64) @ y.astype(np.float64) + acc
    if problem.is_exact:
        return Equal(finish(problem, product, residual), element)
    # Adding the accumulator rounds once more.
    magnitude = np.abs(x.astype(np.float64)) @ np.abs(y.astype(np.float64)) + np.abs(acc)
    bound = problem.k * 2.0**-22 * magnitude + 2.0**-122 + (problem.acc != "zero") * magnitude * 2.0**-23
    ends = [finish(problem, product + sign * bound, residual) for sign in (-1, 1)]
    if element != "f32":
        ends = [from_element(end, element) for end in ends]
    return Near(*ends, element)


def case(name, problems, flags=()):
    program = Program()
    expectations = [add_problem(program, problem, number) for number, problem in enumerate(problems)]
    return Case(name, program, expectations, flags)


def in_fours(name, problems, flags=()):
    for first in range(0, len(problems), 4):
        yield case(f"{name}-{first // 4}", problems[first:first + 4], flags)


def limit(problem):
    """A batch only where the result is small, and a dynamic batch only where there is one."""
    if problem.m * problem.n > 20000:
        problem = problem._replace(batch=None)
    if problem.batch is None:
        problem = problem._replace(dynamic=problem.dynamic.replace("b", ""))
    return problem


def factors(path="wgmma"):
    """Pairs of all factors."""
    values = [ELEMENTS, M, N, K, ORDERS, ORDERS, BATCHES, ACCS, ENDS, DYNAMIC, SCHEDULES[path], (True, False)]
    # Sizes of one tile and less are cheap, so these come first.
    problems = [limit(Problem(*choice)) for choice in cover(values, 2, seed=5)]
    return list(in_fours("matmul-factors", sorted(problems, key=lambda p: p.m * p.n * p.k * (p.batch or 1))))


# M and N of tiles; and behind them the cluster, accumulators, swap-AB and 2-CTA.
SPLIT_TILES = {
    "wgmma": ((64, 64), (128, 24), (192, 128), (128, 256)),
    "tcgen05": ((128, 64, "", 2), (128, 256), (128, 64, "", 1, 1), (128, 128, "2x1", 2, 0, 1),
                (128, 64, "2x1", 2, 1, 1)),
    "dequant_mma": ((64, 64), (16, 128), (128, 32), (32, 32)),
}


def divided_schedule(path, tile, parts, other):
    """A schedule with so many ranges; `other` chooses between two of them."""
    m, n, *more = tile
    if path == "dequant_mma":
        return Multistage(m, n, 32 if other else 64, (1, 2) if m == 16 else (2, 2), 2, parts)
    return (m, n, 2, other, 8, parts, *more)


def split_k(path="wgmma"):
    """Parts of K that other blocks multiply."""
    sizes = ((7, 65, 200), (130, 24, 300), (65, 200, 192), (64, 64, 128))
    tiles = SPLIT_TILES[path]
    values = [ELEMENTS, sizes, ORDERS, ORDERS, (None, 2), ACCS, ENDS, ("", "k", "bmnk"), tiles, (2, 3), (0, 1),
              (True, False)]
    problems = []
    for element, size, x, y, batch, acc, end, dynamic, tile, parts, other, is_exact in cover(values, 2, seed=6):
        parts = 2 if size[2] == 128 else parts
        schedule = divided_schedule(path, tile, parts, other)
        problems.append(limit(Problem(element, *size, x, y, batch, acc, end, dynamic, schedule, is_exact)))
    return list(in_fours("matmul-split-k", sorted(problems, key=lambda p: p.m * p.n * p.k * (p.batch or 1))))


CLUSTERS = ("2x1", "1x2", "2x2", "4x1", "1x4")


# M and N of tiles, clusters, and for each of these whether blocks are pairs.
CLUSTER_TILES = {
    "wgmma": ((64, 64), (128, 32), (192, 64), (256, 96)),
    "tcgen05": ((128, 64), (128, 128), (128, 192)),
}
SHARED_BY = {
    "wgmma": tuple((cluster, 1, 0, 0) for cluster in CLUSTERS),
    "tcgen05": (*((cluster, 2, swaps, 0) for swaps, cluster in enumerate(("2x1", "1x2"))), ("2x2", 1, 0, 0),
                ("2x2", 2, 0, 1), ("4x1", 2, 0, 1), ("2x2", 1, 1, 1), ("2x1", 1, 0, 1)),
}


def clusters(path="wgmma"):
    """Blocks that share tiles: one tile of a cluster, several rounds, tiles outside of the result, split-K."""
    sizes = ((7, 7, 65), (300, 200, 200), (520, 96, 300), (64, 520, 64), (130, 300, 296), (256, 128, 512))
    values = [ELEMENTS, sizes, ORDERS, ORDERS, (None, 3), ACCS, ENDS, ("", "m", "mn", "bmnk"), CLUSTER_TILES[path],
              (1, 2, 3), (0, 1), (1, 2, 8), (1, 2), SHARED_BY[path], (True, False)]
    problems = []
    for (element, size, x, y, batch, acc, end, dynamic, tile, stages, persistent, group, parts, sharing,
         is_exact) in cover(values, 2, seed=7):
        parts = 1 if size[2] <= 64 else parts
        schedule = (*tile, stages, persistent, group, parts, *sharing)
        problems.append(limit(Problem(element, *size, x, y, batch, acc, end, dynamic, schedule, is_exact)))
    return list(in_fours("matmul-clusters", sorted(problems, key=lambda p: p.m * p.n * p.k * (p.batch or 1))))


def narrow_tiles():
    """Each N that an instruction of tcgen05 may have, for results of one tile along it: with operands along K, M
    and N, and swizzle rows of 16, 32, 64 and 128 bytes.
    """
    tiles = (8, 16, 24, 32, 48, 96, 136, 160, 240)
    problems = []
    for n, (x, y), is_pair, swaps_ab in cover(
        [tiles, (("plain", "plain"), ("plain", "transposed"), ("transposed", "plain")), (0, 1), (0, 1)], 2, seed=8
    ):
        n += n % 16 * is_pair
        schedule = (128, n, 2, 1, 8, 1, "2x1" if is_pair else "", 2, swaps_ab, is_pair)
        m, columns = (n - n // 9, 200) if swaps_ab else (200, n - n // 9)
        problems.append(Problem("bf16", m, columns, 104, x, y, acc="argument", schedule=schedule))
    return list(in_fours("matmul-narrow", problems))


def dynamic_sizes(schedule=(64, 64, 2, 1, 8, 1)):
    """One program, run with several sizes, some of them smaller than a tile, and none at all."""
    for x, y in (("plain", "plain"), ("transposed", "map")):
        for batch in (None, 2):
            sizes = [(65, 72, 200), (128, 128, 64), (1, 1, 1), (130, 24, 63)]
            programs = []
            for size in sizes:
                program = Program()
                problem = Problem("bf16", *size, x, y, batch, "argument", "relu", "bmnk", schedule)
                programs.append((program, [add_problem(program, problem, 3)]))
            assert len({program.text() for program, _ in programs}) == 1
            (program, expectations), *others = programs
            yield Case(f"matmul-dynamic-{x}-{y}-{batch}", program, expectations, (), tuple(others))


ROUNDS = {
    "wgmma": (
        (700, 300, (64, 64, 3, 1, 3, 1)), (800, 130, (192, 24, 4, 1, 2, 1)), (600, 300, (256, 64, 2, 1, 8, 2)),
        (520, 600, (128, 128, 2, 1, 1, 1)),
    ),
    "tcgen05": (
        (700, 300, (128, 64, 3, 1, 3, 1, "", 2)), (900, 200, (128, 64, 3, 1, 1, 1, "2x1", 2, 0, 1)),
        (600, 300, (128, 64, 2, 1, 8, 2, "", 1, 1)), (520, 600, (128, 128, 2, 1, 1, 1)),
    ),
}


def persistent(path="wgmma"):
    """Tiles of several rounds of four SMs, in the order of rasterization groups, of steps that are no multiple
    of the stages.
    """
    for m, n, schedule in ROUNDS[path]:
        problems = [
            Problem("bf16", m, n, 300, y_order="transposed", schedule=schedule),
            Problem("f16", m, n, 130, "transposed", acc="argument", dynamic="mnk", schedule=schedule),
        ]
        yield case(f"matmul-persistent-{m}x{n}", problems)


def constants():
    """Operands that are constants: a splat, and rows of values."""
    rng = np.random.default_rng(9)
    x, y = draw_values(rng, (20, 40), True), draw_values(rng, (40, 30), True)
    for element in ELEMENTS:
        program = Program()
        x_value = program.arg(to_element(x, element), element)
        acc = program.arg(np.zeros((20, 30), np.float32), "f32")
        rows = ", ".join(f"[{', '.join(f'{n:.1f}' for n in row)}]" for row in y)
        dense = program.op(f"arith.constant dense<[{rows}]> : tensor<40x30x{element}>", (40, 30), element)
        splat = program.constant(2.0, (20, 40), element)
        for a, b in ((x_value, dense), (splat, dense)):
            program.result(program.op(
                f"linalg.matmul ins({a.name}, {b.name} : {a.type}, {b.type}) outs({acc.name} : {acc.type}) "
                f"-> {acc.type}", (20, 30), "f32",
            ))
        yield Case(f"matmul-constants-{element}", program, [Same(x @ y), Same(np.full_like(x, 2) @ y)])


def chained():
    """The result of a product, rounded, is an operand of the next one; both in one function."""
    rng = np.random.default_rng(10)
    x, y, z = (np.float32(rng.integers(-2, 3, shape)) for shape in ((70, 40), (40, 72), (72, 65)))
    for element in ELEMENTS:
        program = Program()
        values = [program.arg(to_element(array, element), element) for array in (x, y, z)]

        def multiply(a, b):
            zero = program.constant(0.0, (a.shape[0], b.shape[1]), "f32")
            return program.op(
                f"linalg.matmul ins({a.name}, {b.name} : {a.type}, {b.type}) outs({zero.name} : {zero.type}) "
                f"-> {zero.type}", zero.shape, "f32",
            )

        first = multiply(values[0], values[1])
        kind = first._replace(element=element).type
        rounded = program.op(f"arith.truncf {first.name} : {first.type} to {kind}", first.shape, element)
        program.result(multiply(rounded, values[2]))
        program.result(multiply(values[0], values[1]))
        yield Case(f"matmul-chained-{element}", program, [Same(x @ y @ z), Same(x @ y)])
