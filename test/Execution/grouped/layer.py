"""A layer of experts in which both products read quantized rows: its program, its operands, and what it should give."""

from typing import NamedTuple

import blockscale
import numpy as np
from devices import READ, STORE

# Element, scale, block; with ue4m3 scales, the scales of both quantize and the groups' are arguments.
FORMATS = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32), "mxfp6": ("f6E2M3FN", "f8E8M0FNU", 32),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32), "halves": ("f4E2M1FN", "f8E8M0FNU", 16),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16),
}
# What the gates and the values beside them become. Of the second one, the last bits of exp are the device's.
BODIES = {
    "difference": """    %twice = arith.addf %second, %second : f32
    %value = arith.subf %gate, %twice : f32
""",
    "silu": """    %one = arith.constant 1.0 : f32
    %minus = arith.negf %gate : f32
    %power = math.exp %minus : f32
    %sum = arith.addf %power, %one : f32
    %silu = arith.divf %gate, %sum : f32
    %value = arith.mulf %silu, %second : f32
""",
}


class Layer(NamedTuple):
    """Sizes of the groups, S tokens with two experts each, H columns of x and I of the second product's."""

    format: str
    tokens: int
    groups: int
    hidden: int
    inner: int
    # The type of what is quantized before the second product.
    element: str = "bf16"
    activation: str = "difference"
    # Ids that are nobody's among the others.
    has_nobody: bool = True
    seed: int = 0

    @property
    def is_scaled(self):
        return FORMATS[self.format][1] == "f8E4M3FN"


def ids_of(layer):
    """Some groups are empty: the first, the last, and some in the middle."""
    rng = np.random.default_rng(layer.seed)
    used = np.arange(1, max(layer.groups - 1, 2))[::2]
    ids = rng.choice(used, (layer.tokens, 2)).astype(np.int32)
    if layer.has_nobody:
        ids[::5, 1] = layer.groups
    return ids


def operands_of(layer):
    """Arrays by the names of arguments. All sums are exact: elements are few, and scales near 1."""
    element, scale, block = FORMATS[layer.format]
    rng = np.random.default_rng(layer.seed + 1)
    values = blockscale.decode(np.arange(1 << blockscale.FORMATS[element].bits, dtype=np.uint8), element)
    few = np.flatnonzero(np.isin(np.abs(values), [0, 1, 2])).astype(np.uint8)
    offsets, rows, positions = blockscale.sort_routes(ids_of(layer), layer.groups)
    result = dict(
        x=rng.integers(-4, 5, (layer.tokens, layer.hidden)).astype(np.float32), offsets=offsets, rows=rows,
        positions=positions, weights=rng.choice(np.float32([0.5, 0.25, 1]), (layer.tokens, 2)),
    )
    for name, n, k in (("up", 2 * layer.inner, layer.hidden), ("down", layer.hidden, layer.inner)):
        result[name] = rng.choice(few, (layer.groups, n, k))
        scales = [126, 127] if scale == "f8E8M0FNU" else [0x30, 0x38]
        result[f"{name}_scales"] = rng.choice(np.uint8(scales), (layer.groups, n, k // block))
        if layer.is_scaled:
            result[f"{name}_factors"] = rng.choice(np.float32([0.5, 1, 2]), layer.groups)
        result[f"{name}_bias"] = rng.integers(-8, 9, (layer.groups, n)).astype(np.float32)
    if layer.is_scaled:
        result.update(g_x=np.float32(0.5), g_h=np.float32(4))
    return result


def reference(layer, operands):
    """f32 of S x H with "difference", and the second product's x: elements and scales."""
    element, scale, block = FORMATS[layer.format]

    def quantize(values, name):
        return blockscale.quantize(values, element, scale, block, tensor_scale=operands.get(name))

    def multiply(codes, scales, name, rows=None):
        return blockscale.grouped_mma_scaled(
            codes, scales, operands[name].transpose(0, 2, 1), operands[f"{name}_scales"].transpose(0, 2, 1),
            operands["offsets"], np.zeros((operands["rows"].size, operands[name].shape[1]), np.float32), rows=rows,
            group_scale=operands.get(f"{name}_factors"), bias=operands[f"{name}_bias"], x_type=element, y_type=element,
            scale_type=scale, block_size=block,
        )

    sums = multiply(*quantize(operands["x"], "g_x"), "up", operands["rows"])
    pairs = sums.reshape(len(sums), -1, 2, 8)
    gate, up = (pairs[:, :, half].reshape(len(sums), -1) for half in (0, 1))
    inner = STORE[layer.element](gate - (up + up))
    codes, scales = quantize(READ[layer.element](inner).astype(np.float32), "g_h")
    product = multiply(codes, scales, "down")
    return blockscale.combine_rows(product, operands["positions"], operands["weights"]), (codes, scales)


def tensor(element, *sizes):
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


class Program:
    """The text of a layer; `dynamic` has letters of the sizes that are not known: S, T, G, H, I.

    With `shows`, elements and scales of the second product's x are results, too. With `fuses` false, what it is made of
    is one, so that the quantize behind it is a kernel of its own.
    """

    def __init__(self, layer, dynamic="", shows=False, fuses=True):
        self.layer = layer
        self.element, self.scale, self.block = FORMATS[layer.format]
        self.dynamic, self.shows, self.fuses = dynamic, shows, fuses

    def sized(self, letter, size):
        return "?" if letter in self.dynamic else size

    def text(self):
        layer = self.layer
        s, g = self.sized("S", layer.tokens), self.sized("G", layer.groups)
        t = self.sized("T", 2 * layer.tokens)
        h, i, i2, blocks = (self.sized(letter, size) for letter, size in (
            ("H", layer.hidden), ("I", layer.inner), ("I", 2 * layer.inner), ("I", layer.inner // 8)))
        x, positions = tensor("f32", s, h), tensor("i32", s, 2)
        scalars = ", %g_x: f32, %g_h: f32" if layer.is_scaled else ""
        lines = [f"""\
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %t = tensor.dim %rows, %c0 : {tensor("i32", t)}
  %h = tensor.dim %x, %c1 : {x}"""]
        arguments = [f"%x: {x}{self.whole('H')}", f"%offsets: {tensor('i32', g)}", f"%rows: {tensor('i32', t)}",
                     f"%positions: {positions}", f"%weights: {tensor('f32', s, 2)}"]
        for name, n, k in (("up", i2, h), ("down", h, i)):
            whole = self.whole("H" if name == "up" else "I", 3)
            arguments.append(f"%{name}: {tensor(self.element, g, n, k)}{whole}")
            arguments.append(f"%{name}_scales: {tensor(self.scale, g, n, self.blocks_of(k))}")
            if layer.is_scaled:
                arguments.append(f"%{name}_factors: {tensor('f32', g)}")
            arguments.append(f"%{name}_bias: {tensor('f32', g, n)}")
        lines.append(self.quantize("x", s, h, "f32", "g_x"))
        lines.append(self.product("up", "x", s, t, g, i2, h, f" rows(%rows : {tensor('i32', t)})"))
        lines.append(self.gate(t, i2, blocks, i))
        lines.append(self.quantize("inner", t, i, layer.element, "g_h"))
        lines.append(self.product("down", "inner", t, t, g, h, i))
        sums, result = tensor("f32", t, h), tensor("f32", s, h)
        lines.append(f"""\
  %r = blockscale.combine_rows %down_d, %positions, %weights
      : {sums}, {positions}, {tensor("f32", s, 2)} to {result}""")
        shown = [("%r", result)]
        if self.shows:
            shown += [("%inner_c", tensor(self.element, t, i)),
                      ("%inner_s", tensor(self.scale, t, self.blocks_of(i)))]
        if not self.fuses:
            shown.append(("%inner", tensor(layer.element, t, i)))
        return "\n".join([
            f"func.func @main({', '.join(arguments)}{scalars}) -> ({', '.join(type for _, type in shown)}) {{", *lines,
            f"  return {', '.join(name for name, _ in shown)} : {', '.join(type for _, type in shown)}", "}", "",
        ])

    def whole(self, letter, rank=2):
        """What a dynamic K is a multiple of."""
        ones = "1, " * (rank - 1)
        return f" {{blockscale.multiples = array<i64: {ones}{self.block}>}}" if letter in self.dynamic else ""

    def blocks_of(self, k):
        return "?" if k == "?" else k // self.block

    def quantize(self, name, rows, k, element, scalar):
        scalar, type = (f" tensor_scale(%{scalar})", ", f32") if self.layer.is_scaled else ("", "")
        return f"""\
  %{name}_c, %{name}_s = blockscale.quantize %{name}{scalar} {{block_size = {self.block} : i64}}
      : {tensor(element, rows, k)}{type}
      to {tensor(self.element, rows, k)}, {tensor(self.scale, rows, self.blocks_of(k))}"""

    def transpose(self, name, element, g, n, k):
        source, target = tensor(element, g, n, k), tensor(element, g, k, n)
        sizes = ", ".join(f"%{name}_{i}" for i, size in ((0, g), (2, k), (1, n)) if size == "?")
        dims = "".join(f"  %{name}_c{i} = arith.constant {i} : index\n"
                       f"  %{name}_{i} = tensor.dim %{name}, %{name}_c{i} : {source}\n" for i in range(3))
        return f"""{dims}\
  %{name}_e = tensor.empty({sizes}) : {target}
  %{name}_t = linalg.transpose ins(%{name} : {source}) outs(%{name}_e : {target}) permutation = [0, 2, 1]"""

    def product(self, name, x, rows, t, g, n, k, gathered=""):
        factors = f"\n      group_scale(%{name}_factors : {tensor('f32', g)})" if self.layer.is_scaled else ""
        acc = tensor("f32", t, n)
        sizes = ", ".join(size for size, known in (("%t", t), (f"%{name}_1", n)) if known == "?")
        blocks = self.blocks_of(k)
        return "\n".join([
            self.transpose(name, self.element, g, n, k), self.transpose(f"{name}_scales", self.scale, g, n, blocks),
            f"""\
  %{name}_z = tensor.empty({sizes}) : {acc}
  %{name}_acc = linalg.fill ins(%zero : f32) outs(%{name}_z : {acc}) -> {acc}
  %{name}_d = blockscale.grouped_mma_scaled
      %{x}_c, %{x}_s, %{name}_t, %{name}_scales_t, %offsets, %{name}_acc{gathered}{factors}
      bias(%{name}_bias : {tensor("f32", g, n)}) {{block_size = {self.block}, legal_groups}}
      : {tensor(self.element, rows, k)}, {tensor(self.scale, rows, blocks)}, {tensor(self.element, g, k, n)},
        {tensor(self.scale, g, blocks, n)}, {tensor("i32", g)}, {acc}"""])

    def gate(self, t, n, blocks, i):
        layer = self.layer
        element = layer.element
        pairs, halves = tensor("f32", t, blocks, 2, 8), tensor(element, t, blocks, 8)
        sizes = "%t" if t == "?" else t, "%pair_blocks" if blocks == "?" else blocks
        value, narrow = ("%value", "") if element == "f32" else (
            "%rounded", f"    %rounded = arith.truncf %value : f32 to {element}\n")
        return f"""\
  %pair_blocks = arith.divui %up_1, %c16 : index
  %pairs = tensor.expand_shape %up_d [[0], [1, 2, 3]] output_shape [{sizes[0]}, {sizes[1]}, 2, 8]
      : {tensor("f32", t, n)} into {pairs}
  %halves_e = tensor.empty({", ".join(size for size in sizes if isinstance(size, str))}) : {halves}
  %halves = linalg.generic {{
      indexing_maps = [affine_map<(t, b, c) -> (t, b, 0, c)>, affine_map<(t, b, c) -> (t, b, 1, c)>,
                       affine_map<(t, b, c) -> (t, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%pairs, %pairs : {pairs}, {pairs}) outs(%halves_e : {halves}) {{
  ^bb0(%gate: f32, %second: f32, %old: {element}):
{BODIES[layer.activation]}{narrow}    linalg.yield {value} : {element}
  }} -> {halves}
  %inner = tensor.collapse_shape %halves [[0], [1, 2]] : {halves} into {tensor(element, t, i)}"""
