"""Writes the functions of fp8.bundle, as MLIR:

    fp8_kernels.py fp8.mlir
    blockscale-compile fp8.mlir --bundle=fp8.bundle --target=sm_80,sm_90a,sm_100a,sm_120a

Needs no torch. All sizes are dynamic, and K is a multiple of MULTIPLE. As in kernels.py, M is the number of rows of x, N
that of the weights. FORMAT is a key of COARSE_FORMATS, and scales are f32, one for each block.

    quantize_FORMAT_TYPE(x M x K) -> codes, scales                  in the blocks of activations
    quantize_weight_FORMAT_TYPE(w N x K) -> codes, scales           in those of weights, if they are others
    mma_scaled_FORMAT(codes, scales, codes, scales, bias N of bf16) -> M x N of bf16
    mma_scaled_FORMAT_accumulate128(the same)                       with the licence for fp8 tensor cores
    dynamic_grouped_linear_FORMAT, dynamic_moe_FORMAT               as moe_kernels.py has them, without g
    dynamic_grouped_linear_FORMAT_accumulate128, dynamic_moe_FORMAT_accumulate128

and for the REBASED_FORMATS, whose other functions are in kernels.bundle:

    mma_scaled_FORMAT_accumulate128_rebase(the same)                with that licence, and the one to rebase
    mma_scaled_X_FORMAT_FORMAT_accumulate128_rebase(the same)       of an x that is quantized to one of MIXED_ACTIVATIONS

In the first product of `moe`, gates and what they are for alternate, so that rows that shared a scale do not stand
together: each row of its weight has scales of its own.
"""

import sys

if __package__:
    from .kernels import ANY, FORMATS, RETURN, START, VALUE_TYPES, WHOLE_BLOCKS, make_end
    from .moe_kernels import START_OF_PRODUCT, WEIGHTS, make_functions
else:  # a script, which has its folder on the path
    from kernels import ANY, FORMATS, RETURN, START, VALUE_TYPES, WHOLE_BLOCKS, make_end
    from moe_kernels import START_OF_PRODUCT, WEIGHTS, make_functions

ALL = "all"
# name: element, (rows, elements along K) that share a scale of a weight, and of x.
COARSE_FORMATS = {
    "fp8_block": ("f8E4M3FN", (128, 128), (1, 128)),
    "fp8_row": ("f8E4M3FN", (1, ALL), (1, ALL)),
}
# Rows of whole 32 elements: the products of whole rows are products of such blocks.
MULTIPLE = 32
# The licence that products may have (docs/Numerics.md).
CHUNK = 128
# name: element, block size. Their scales are powers of two, which rows may have one of.
E8M0 = "f8E8M0FNU"
REBASED_FORMATS = {name: (element, block) for name, (element, scale, block, _) in FORMATS.items() if scale == E8M0}
# Formats of weights: other formats that x may be quantized to, with these licences.
MIXED_ACTIVATIONS = {"mxfp4": ("mxfp8", "fp8_row")}

QUANTIZE = """
func.func @{name}_{format}_{type}(%x: tensor<?x?x{type}>{whole}) -> ({quantized}, {scales}) {{
  %codes, %scales = blockscale.quantize %x {{scale_block = {block}}} : tensor<?x?x{type}> to {quantized}, {scales}
  return %codes, %scales : {quantized}, {scales}
}}
"""

HEAD = """
func.func @{name}(%x: {x}{whole}, %xs: {x_scales}, %y: {quantized}{whole}, %ys: {y_scales}{arguments})
    -> tensor<?x?xbf16> {of_function}""" + START + """
  %k = tensor.dim %y, %c1 : {quantized}
  %ye = tensor.empty(%k, %n) : {quantized}
  %yt = linalg.transpose ins(%y : {quantized}) outs(%ye : {quantized}) permutation = [1, 0]"""

MMA_SCALED = HEAD + """
{transposed}
  %d = blockscale.mma_scaled %x, %xs, %yt, %yst, %acc {{x_scale_block = {x_block}, y_scale_block = {y_block}{licence}}}
      : {x}, {x_scales}, {quantized}, {transposed_scales}, tensor<?x?xf32>{end}
}}
"""
TRANSPOSED = """  %rows = tensor.dim %ys, %c0 : {y_scales}
  %blocks = tensor.dim %ys, %c1 : {y_scales}
  %yse = tensor.empty(%blocks, %rows) : {y_scales}
  %yst = linalg.transpose ins(%ys : {y_scales}) outs(%yse : {y_scales}) permutation = [1, 0]"""
# Of one column, that is a reshape.
TRANSPOSED_ROWS = """  %rows = tensor.dim %ys, %c0 : {y_scales}
  %flat = tensor.collapse_shape %ys [[0, 1]] : {y_scales} into tensor<?xf32>
  %yst = tensor.expand_shape %flat [[0, 1]] output_shape [1, %rows] : tensor<?xf32> into tensor<1x?xf32>"""

# Scales of whole rows are factors of the sums of a product whose scales are 1.
MMA_SCALED_ROWS = HEAD + """
  %c{block} = arith.constant {block} : index
  %blocks = arith.ceildivui %k, %c{block} : index
  %one = arith.constant 1.0 : f8E8M0FNU
  %xoe = tensor.empty(%m, %blocks) : {ones}
  %xo = linalg.fill ins(%one : f8E8M0FNU) outs(%xoe : {ones}) -> {ones}
  %yoe = tensor.empty(%blocks, %n) : {ones}
  %yo = linalg.fill ins(%one : f8E8M0FNU) outs(%yoe : {ones}) -> {ones}
  %d = blockscale.mma_scaled %x, %xo, %yt, %yo, %acc {{block_size = {block}}}
      : {quantized}, {ones}, {quantized}, {ones}, tensor<?x?xf32>
  %re = tensor.empty(%m, %n) : tensor<?x?xbf16>
  %r = linalg.generic {{
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, 0)>, affine_map<(m, n) -> (n, 0)>,
                       affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%d, %xs, %ys, %bias : tensor<?x?xf32>, {x_scales}, {y_scales}, tensor<?xbf16>)
      outs(%re : tensor<?x?xbf16>) {{
  ^bb0(%sum: f32, %of_x: f32, %of_y: f32, %bias_in: bf16, %old: bf16):
    %part = arith.mulf %sum, %of_x : f32
    %scaled = arith.mulf %part, %of_y : f32
    %bias_f32 = arith.extf %bias_in : bf16 to f32
    %biased = arith.addf %scaled, %bias_f32 : f32
    %rounded = arith.truncf %biased : f32 to bf16
    linalg.yield %rounded : bf16
  }} -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}}
"""


# A product of experts. The weights in memory are G x N x K.
PRODUCT_OF_EXPERTS = """
  %{x}_q, %{x}_s = blockscale.quantize %{x} {{scale_block = {x_block}}}
      : tensor<?x?xbf16> to tensor<?x?x{element}>, {x_scales}""" + START_OF_PRODUCT + """
  %ye_{id} = tensor.empty(%groups, %k_{id}, %n_{id}) : {quantized}
  %yt_{id} = linalg.transpose ins(%y_{id} : {quantized}) outs(%ye_{id} : {quantized}) permutation = [0, 2, 1]
{transposed}
  %d_{id} = blockscale.grouped_mma_scaled %{x}_q, %{x}_s, %yt_{id}, %yst_{id}, %offsets, %acc_{id}{rows}
      bias(%bias_{id} : tensor<?x?xf32>)
      {{x_scale_block = {x_block}, y_scale_block = {y_block}, legal_groups{licence}}}
      : tensor<?x?x{element}>, {x_scales}, {quantized}, {transposed_scales}, tensor<?xi32>, tensor<?x?xf32>"""
TRANSPOSED_OF_EXPERTS = """  %rows_{id} = tensor.dim %ys_{id}, %c1 : {scales}
  %blocks_{id} = tensor.dim %ys_{id}, %c2 : {scales}
  %yse_{id} = tensor.empty({sizes}) : {transposed_scales}
  %yst_{id} = linalg.transpose ins(%ys_{id} : {scales}) outs(%yse_{id} : {transposed_scales}) permutation = [0, 2, 1]"""


def make_block(block):
    rows, k = block
    return f"#blockscale.scale_block<rows = {rows}, k = {k}>"


def make_scales(block):
    """The type of the scales of a matrix."""
    return "tensor<" + "".join("1x" if size == ALL else "?x" for size in block) + "f32>"


def make_quantize(format):
    element, weight_block, x_block = COARSE_FORMATS[format]
    blocks = {"quantize": x_block}
    if weight_block != x_block:
        blocks["quantize_weight"] = weight_block
    for name, block in blocks.items():
        for type in VALUE_TYPES:
            yield QUANTIZE.format(
                name=name, format=format, type=type, whole=WHOLE_BLOCKS.format(MULTIPLE),
                quantized=f"tensor<?x?x{element}>", scales=make_scales(block), block=make_block(block),
            )


def product_name(format, accumulate=None, rebase=False, x_format=None):
    mixed = "" if x_format in (None, format) else f"{x_format}_"
    return f"mma_scaled_{mixed}{format}" + (f"_accumulate{accumulate}" if accumulate else "") + "_rebase" * rebase


def make_product(format, accumulate=None):
    element, weight_block, x_block = COARSE_FORMATS[format]
    arguments, end = make_end(0)
    quantized = f"tensor<?x?x{element}>"
    are_rows = weight_block == x_block == (1, ALL)
    y_scales = make_scales(weight_block)
    return (MMA_SCALED_ROWS if are_rows and not accumulate else MMA_SCALED).format(
        name=product_name(format, accumulate), x=quantized, quantized=quantized, x_scales=make_scales(x_block),
        y_scales=y_scales, x_block=make_block(x_block), y_block=make_block(weight_block), block=MULTIPLE,
        ones="tensor<?x?xf8E8M0FNU>", whole=WHOLE_BLOCKS.format(MULTIPLE), of_function=ANY, arguments=arguments,
        end=end + RETURN, transposed=(TRANSPOSED_ROWS if are_rows else TRANSPOSED).format(y_scales=y_scales),
        transposed_scales="tensor<1x?xf32>" if are_rows else y_scales,
        licence=f", accumulate = #blockscale.accumulate<chunk = {accumulate}>" if accumulate else "",
    )


def make_rebased_product(format, x_format=None):
    element, block = REBASED_FORMATS[format]
    x_format = x_format or format
    if x_format in REBASED_FORMATS:
        x_element, x_block = REBASED_FORMATS[x_format]
        x_block, x_scales = (1, x_block), f"tensor<?x?x{E8M0}>"
    else:
        x_element, _, x_block = COARSE_FORMATS[x_format]
        x_scales = make_scales(x_block)
    arguments, end = make_end(0)
    quantized, scales = f"tensor<?x?x{element}>", f"tensor<?x?x{E8M0}>"
    return MMA_SCALED.format(
        name=product_name(format, CHUNK, True, x_format), x=f"tensor<?x?x{x_element}>", quantized=quantized,
        x_scales=x_scales, y_scales=scales, x_block=make_block(x_block), y_block=make_block((1, block)),
        whole=WHOLE_BLOCKS.format(block), of_function=ANY, arguments=arguments, end=end + RETURN,
        transposed=TRANSPOSED.format(y_scales=scales), transposed_scales=scales,
        licence=f", accumulate = #blockscale.accumulate<chunk = {CHUNK}, rebase>",
    )


def experts_name(format, accumulate=None):
    """How names of functions of experts end."""
    return format + (f"_accumulate{accumulate}" if accumulate else "")


def make_experts(format, accumulate=None):
    element, weight_block, x_block = COARSE_FORMATS[format]
    are_whole = weight_block[1] == ALL
    scales, transposed_scales = ("tensor<?x?x1xf32>", "tensor<?x1x?xf32>") if are_whole else ("tensor<?x?x?xf32>",) * 2
    names = dict(
        prefix="dynamic_", format=experts_name(format, accumulate), quantized=f"tensor<?x?x?x{element}>", scales=scales,
        block=MULTIPLE, element=element, x_scales=make_scales(x_block), x_block=make_block(x_block),
        transposed_scales=transposed_scales,
        licence=f", accumulate = #blockscale.accumulate<chunk = {accumulate}>" if accumulate else "",
    )

    def make_product(id, x, rows=""):
        sizes = f"%groups, %rows_{id}" if are_whole else f"%groups, %blocks_{id}, %rows_{id}"
        transposed = TRANSPOSED_OF_EXPERTS.format(id=id, sizes=sizes, **names)
        # That of pairs has rows of x.
        y_block = make_block((1, weight_block[1]) if rows else weight_block)
        return PRODUCT_OF_EXPERTS.format(id=id, x=x, rows=rows, transposed=transposed, y_block=y_block, **names)

    def make_weights(id):
        return WEIGHTS.format(id=id, whole=f" {{blockscale.multiples = array<i64: 1, 1, {MULTIPLE}>}}", factor="", **names)

    return make_functions(names, make_product, make_weights)


def make_program():
    kinds = [(format, accumulate) for format in COARSE_FORMATS for accumulate in (None, CHUNK)]
    parts = [text for format in COARSE_FORMATS for text in make_quantize(format)]
    parts += [make_product(*kind) for kind in kinds]
    parts += map(make_rebased_product, REBASED_FORMATS)
    parts += [make_rebased_product(format, x) for format, others in MIXED_ACTIVATIONS.items() for x in others]
    parts += [text for kind in kinds for text in make_experts(*kind)]
    return "".join(parts).lstrip("\n")


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(make_program())
