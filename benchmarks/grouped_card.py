#!/usr/bin/python3
"""Whether grouped products of all types are right on a CUDA card, to the bit.

usage: grouped_card.py build DIR [--target=sm_90a]... [--types=N] [--build=BUILD]
       grouped_card.py run DIR [--large]

`build` needs a build of this project; `run` needs a card and torch, but no LLVM: copy the folder and this
repository's benchmarks/ and python/. There is a program for each type combination and each option (rows, group
scale, bias, all), of dynamic T, R and G; it runs with 1 to 60 groups of sizes of all kinds. Sums are exact in f32, so
that each order of them gives the bits of numpy. Memory around the result has to stay as it is, also with wrong
offsets and rows where the program calls them legal; a second call has to give the same bits. `--large` adds products
whose weights, or results, have more than 2^31 elements, and compares rows of the last group.
"""

import argparse
import json
import os
import pathlib
import sys

import numpy as np

from gpu_programs import Card, compile_program

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import blockscale  # noqa: E402

MXFP8 = ("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32)
OPTIONS = [(), ("rows",), ("group_scale",), ("bias",), ("rows", "group_scale", "bias")]
K, N = 192, 72
# Groups, then rows of nobody.
SIZES = [
    ([7], 0), ([0, 5, 0, 3, 0], 2), ([1, 127, 0, 129, 1], 0), ([0, 0, 90, 0, 0], 0), ([0], 3), ("random", 32),
    ("random", 36), ("random", 60),
]
# Groups, N, K and rows of each group: (G - 1) N K and T N over 2^31.
LARGE = {"weights": (40, 8192, 8192, 2), "result": (4, 32768, 64, 17500)}
GUARD = 4096


def program(types, options, n=N, k=K, legal=False):
    x, y, scale, block = types
    kinds = dict(
        x=f"tensor<?x{k}x{x}>", xs=f"tensor<?x{k // block}x{scale}>", y=f"tensor<?x{k}x{n}x{y}>",
        ys=f"tensor<?x{k // block}x{n}x{scale}>", o="tensor<?xi32>", acc=f"tensor<?x{n}xf32>")
    chosen = {name: kind for name, kind in dict(
        rows="tensor<?xi32>", group_scale="tensor<?xf32>", bias=f"tensor<?x{n}xf32>").items() if name in options}
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in {**kinds, **chosen}.items())
    clauses = " ".join(f"{name}(%{name} : {kind})" for name, kind in chosen.items())
    return f"""func.func @main({arguments}) -> {kinds["acc"]} {{
  %d = blockscale.grouped_mma_scaled %x, %xs, %y, %ys, %o, %acc {clauses} {{{"legal_groups, " * legal}block_size = {block}}}
      : {", ".join(kinds.values())}
  return %d : {kinds["acc"]}
}}
"""


def build(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for target in options.targets or ["sm_90a"]:
        options.target = target
        for number, types in enumerate(blockscale.LEGAL_TYPE_COMBINATIONS[: options.types]):
            for kind, chosen in [*enumerate(OPTIONS), ("wrong", ("rows",))]:
                name = f"{target}-{number}-{kind}"
                compile_program(options, name, program(types, chosen, legal=kind == "wrong"), is_quiet=True)
                made[name] = [*types], chosen
        for large, (_, n, k, _) in LARGE.items():
            compile_program(options, f"{target}-{large}", program(MXFP8, (), n, k, legal=True), is_quiet=True)
    (options.folder / "cases.json").write_text(json.dumps(made))
    print(f"{len(made)} programs in {options.folder}")


def draw(rng, element, shape):
    """Codes of few values, with few bits each."""
    codes = np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8)
    size = np.abs(blockscale.decode(codes, element))
    return rng.choice(codes[(size == 0) | ((size >= 0.25) & (size <= 4))], shape)


def values(codes, scales, element, scale, block, axis):
    factors = np.repeat(blockscale.decode(scales, scale).astype(np.float64), block, axis)
    return blockscale.decode(codes, element).astype(np.float64) * factors


def pack(codes, element):
    """As a card has them: two elements of fp4 in a byte."""
    if blockscale.FORMATS[element].bits != 4:
        return codes
    return codes[..., 0::2] | (codes[..., 1::2] << 4)


class Case:
    def __init__(self, rng, types, options, sizes, rest):
        x, y, scale, block = types
        if sizes == "random":
            sizes, rest = list(rng.multinomial(200, rng.dirichlet(np.ones(rest)))), 3
        groups, t = len(sizes), sum(sizes) + rest
        scales = np.uint8([126, 127, 128] if scale == "f8E8M0FNU" else [0x30, 0x38, 0x40])
        self.x, self.y = draw(rng, x, (t, K)), draw(rng, y, (groups, K, N))
        self.xs, self.ys = rng.choice(scales, (t, K // block)), rng.choice(scales, (groups, K // block, N))
        self.types, self.ends = types, np.cumsum(sizes).astype(np.int32)
        self.acc = rng.integers(-8, 8, (t, N)).astype(np.float32)
        every = dict(rows=rng.integers(-1, t, t, np.int32), group_scale=rng.choice(np.float32([0.5, 3, -1, 0.1]), groups),
                     bias=rng.integers(-3, 3, (groups, N)).astype(np.float32))
        self.options = {name: every[name] for name in every if name in options}

    def arguments(self):
        """Arrays as a card has them, and their shapes in elements."""
        x, y, *_ = self.types
        plain = [self.x, self.xs, self.y, self.ys, self.ends, self.acc, *self.options.values()]
        return [pack(self.x, x), self.xs, pack(self.y, y), *plain[3:]], [array.shape for array in plain]

    def reference(self):
        x, y, scale, block = self.types
        of_x = values(self.x, self.xs, x, scale, block, 1)
        of_y = values(self.y, self.ys, y, scale, block, 1)
        result, first = self.acc.copy(), 0
        for g, end in enumerate(self.ends):
            rows = self.options.get("rows", np.arange(len(self.acc)))[first:end]
            kept = np.arange(first, end)[rows >= 0]
            total = of_x[rows[rows >= 0]] @ of_y[g]
            sums = (self.acc[kept] + total).astype(np.float32)
            if "group_scale" in self.options:
                sums = self.acc[kept] + total.astype(np.float32) * self.options["group_scale"][g]
            result[kept] = sums + self.options["bias"][g] if "bias" in self.options else sums
            first = end
        return result


def call(card, base, arrays, shapes, count):
    """`count` floats of the result, and whether the bytes around it are as before."""
    torch = card.torch
    tensors = [torch.from_numpy(np.ascontiguousarray(array)).cuda() for array in arrays]
    memory = torch.full((2 * GUARD + 4 * count,), 0xA5, dtype=torch.uint8, device="cuda")
    result = memory[GUARD: GUARD + 4 * count]
    card.load(base, shapes).bind(tensors, [result])()
    torch.cuda.synchronize()
    guards = torch.cat([memory[:GUARD], memory[GUARD + 4 * count:]])
    return result.cpu().numpy().view(np.float32), bool((guards == 0xA5).all())


def run_case(card, base, case):
    arrays, shapes = case.arguments()
    if len(case.acc) == 0:
        return True
    first, isKept = call(card, base, arrays, shapes, case.acc.size)
    again, _ = call(card, base, arrays, shapes, case.acc.size)
    expected = case.reference().reshape(-1).view(np.uint32)
    return isKept and all((result.view(np.uint32) == expected).all() for result in (first, again))


def run_wrong(card, base, rng, types):
    """Wrong offsets and rows: no byte outside of the result changes, and nothing fails."""
    kept = True
    for offsets in ([900, 3, -5], [-1, -1, -1], [2**31 - 1] * 3, [5, 2, 4]):
        case = Case(rng, types, ("rows",), [2, 2, 1], 0)
        case.ends[:] = offsets
        case.options["rows"][:] = [0, 2**31 - 1, -(2**31), 900, -1]
        arrays, shapes = case.arguments()
        kept &= call(card, base, arrays, shapes, case.acc.size)[1]
    return kept


def run_large(card, base, groups, n, k, rows):
    """Whether rows of the last group are right."""
    torch = card.torch
    t = groups * rows

    def codes(*shape):
        return torch.randint(0x30, 0x40, shape, dtype=torch.uint8, device="cuda")

    def scales(*shape):
        return torch.randint(126, 129, shape, dtype=torch.uint8, device="cuda")

    x, y, xs, ys = codes(t, k), codes(groups, k, n), scales(t, k // 32), scales(groups, k // 32, n)
    ends = torch.arange(1, groups + 1, dtype=torch.int32, device="cuda") * rows
    acc, result = torch.zeros(t, n, device="cuda"), torch.full((t, n), float("nan"), device="cuda")
    tensors = [x, xs, y, ys, ends, acc]
    card.load(base, [tuple(tensor.shape) for tensor in tensors]).bind(tensors, [result])()
    torch.cuda.synchronize()
    last = slice(t - min(rows, 16), t)

    def decoded(elements, factors, axis):
        values = elements.view(torch.float8_e4m3fn).float().double()
        return values * torch.exp2(factors.double() - 127).repeat_interleave(32, axis)

    expected = decoded(x[last], xs[last], 1) @ decoded(y[-1], ys[-1], 0)
    size = decoded(x[last], xs[last], 1).abs() @ decoded(y[-1], ys[-1], 0).abs()
    return bool(((result[last].double() - expected).abs() <= k * 2.0**-23 * size).all())


def run(options):
    import torch

    card = Card(torch)
    print(card.name)
    rng, right, wrong = np.random.default_rng(1), 0, []
    made = json.loads((options.folder / "cases.json").read_text())
    for name, (types, chosen) in made.items():
        base = options.folder / name
        if name.endswith("wrong"):
            results = {"wrong offsets": run_wrong(card, base, rng, types)}
        else:
            results = {str(sizes): run_case(card, base, Case(rng, types, chosen, *sizes)) for sizes in SIZES}
        right += sum(results.values())
        wrong += [f"{name} {types} {chosen} {sizes}" for sizes, isRight in results.items() if not isRight]
    if options.large:
        for target in {name.split("-")[0] for name in made}:
            for large, sizes in LARGE.items():
                isRight = run_large(card, options.folder / f"{target}-{large}", *sizes)
                right += isRight
                wrong += [] if isRight else [f"{target} {large}"]
    print("\n".join(wrong[:20]))
    print(f"{right} right, {len(wrong)} wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("build", "run"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--target", action="append", dest="targets", help="of build; sm_90a if there is none")
    parser.add_argument("--types", type=int, help="only so many type combinations")
    parser.add_argument("--build", type=pathlib.Path, default=os.environ.get("BLOCKSCALE_BUILD", ROOT / "build"))
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    options.build = pathlib.Path(options.build)
    return {"build": build, "run": run}[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
