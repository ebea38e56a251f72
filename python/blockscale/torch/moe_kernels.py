"""Writes the functions of moe.bundle, as MLIR:

    moe_kernels.py moe.mlir
    blockscale-compile moe.mlir --bundle=moe.bundle --target=sm_80,sm_90a,sm_100a,sm_120a

Needs no torch. All sizes are dynamic. S tokens have J experts each, of G; T is S * J. FORMAT is a key of FORMATS;
formats with a tensor scale have one for each expert, g.

    grouped_linear_FORMAT(x T x K of bf16, codes G x N x K, scales[, g], offsets G of i32, bias G x N of f32)
        -> T x N of bf16
    moe_FORMAT(x S x H of bf16, ids S x J of i64, weights S x J of f32,
               codes G x 2I x H, scales[, g], bias G x 2I of f32, codes G x H x I, scales[, g], bias G x H of f32,
               alpha, limit, shift)
        -> S x H of bf16
    dynamic_grouped_linear_FORMAT, dynamic_moe_FORMAT
        the same with x of both products quantized to the format, by one tensor scale for all rows if there are any
    route_SCORING_J_TYPE(logits S x G) -> ids S x J of i32, weights S x J of f32

In the first product of `moe`, columns of gates and of what they are for alternate in blocks of 8, so that the kernel that
multiplies has both in a thread: with gate and up, whose magnitude is at most `limit` and at most `limit` above,

    min(gate, limit) * sigmoid(alpha * min(gate, limit)) * (clamp(up, -limit, limit) + shift)

is the second one's x. With alpha 1, an infinite limit and shift 0, that is silu(gate) * up.
"""

import sys

if __package__:
    from .kernels import FIND_TENSOR_SCALE, FORMATS, MAKE_TENSOR_SCALE, WHOLE_BLOCKS
else:  # a script, which has its folder on the path
    from kernels import FIND_TENSOR_SCALE, FORMATS, MAKE_TENSOR_SCALE, WHOLE_BLOCKS

# The weights in memory are G x N x K.
START_OF_PRODUCT = """
  %n_{id} = tensor.dim %y_{id}, %c1 : {quantized}
  %k_{id} = tensor.dim %y_{id}, %c2 : {quantized}
  %e_{id} = tensor.empty(%t, %n_{id}) : tensor<?x?xf32>
  %acc_{id} = linalg.fill ins(%zero : f32) outs(%e_{id} : tensor<?x?xf32>) -> tensor<?x?xf32>"""

# x of bf16 times weights that are dequantized to it.
PRODUCT = START_OF_PRODUCT + """
  %w_{id} = blockscale.dequantize %y_{id}, %ys_{id} {{block_size = {block} : i64}}
      : {quantized}, {scales} to tensor<?x?x?xbf16>
  %we_{id} = tensor.empty(%groups, %k_{id}, %n_{id}) : tensor<?x?x?xbf16>
  %wt_{id} = linalg.transpose ins(%w_{id} : tensor<?x?x?xbf16>) outs(%we_{id} : tensor<?x?x?xbf16>)
      permutation = [0, 2, 1]
  %d_{id} = blockscale.grouped_matmul %{x}, %wt_{id}, %offsets, %acc_{id}{rows}{factors}
      bias(%bias_{id} : tensor<?x?xf32>) {{legal_groups}}
      : tensor<?x?xbf16>, tensor<?x?x?xbf16>, tensor<?xi32>, tensor<?x?xf32>"""

# x is quantized first.
DYNAMIC_PRODUCT = """{find_g}
  %{x}_q, %{x}_s = blockscale.quantize %{x}{g} {{block_size = {block} : i64}}
      : tensor<?x?xbf16>{g_type} to tensor<?x?x{element}>, tensor<?x?x{scale}>""" + START_OF_PRODUCT + """
  %blocks_{id} = tensor.dim %ys_{id}, %c2 : {scales}
  %ye_{id} = tensor.empty(%groups, %k_{id}, %n_{id}) : {quantized}
  %yt_{id} = linalg.transpose ins(%y_{id} : {quantized}) outs(%ye_{id} : {quantized}) permutation = [0, 2, 1]
  %yse_{id} = tensor.empty(%groups, %blocks_{id}, %n_{id}) : {scales}
  %yst_{id} = linalg.transpose ins(%ys_{id} : {scales}) outs(%yse_{id} : {scales}) permutation = [0, 2, 1]
  %d_{id} = blockscale.grouped_mma_scaled %{x}_q, %{x}_s, %yt_{id}, %yst_{id}, %offsets, %acc_{id}{rows}{factors}
      bias(%bias_{id} : tensor<?x?xf32>) {{block_size = {block}, legal_groups}}
      : tensor<?x?x{element}>, tensor<?x?x{scale}>, {quantized}, {scales}, tensor<?xi32>, tensor<?x?xf32>"""

# The tensor scale of x times those of the weights.
JOIN_FACTORS = """
  %fe_{id} = tensor.empty(%groups) : tensor<?xf32>
  %f_{id} = linalg.generic {{
      indexing_maps = [affine_map<(g) -> (g)>, affine_map<(g) -> ()>, affine_map<(g) -> (g)>],
      iterator_types = ["parallel"]}}
      ins(%g_{id}, %{x}_most : tensor<?xf32>, tensor<f32>) outs(%fe_{id} : tensor<?xf32>) {{
  ^bb0(%of_weight: f32, %in_amax: f32, %old: f32):""" + MAKE_TENSOR_SCALE.replace("{x}", "in") + """
    %joined = arith.mulf %of_weight, %in_g : f32
    linalg.yield %joined : f32
  }} -> tensor<?xf32>"""

# What a function gets of a product's weights.
WEIGHTS = "%y_{id}: {quantized}{whole}, %ys_{id}: {scales}{factor}, "

CONSTANTS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %groups = tensor.dim %y_1, %c0 : {quantized}"""

GROUPED_LINEAR = """
func.func @{prefix}grouped_linear_{format}(%x: tensor<?x?xbf16>{x_whole}, {weights_1}%offsets: tensor<?xi32>,
                                   %bias_1: tensor<?x?xf32>) -> tensor<?x?xbf16> {{{constants}
  %t = tensor.dim %x, %c0 : tensor<?x?xbf16>{product_1}
  %r = arith.truncf %d_1 : tensor<?x?xf32> to tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}}
"""

MOE = """
func.func @{prefix}moe_{format}(%x: tensor<?x?xbf16>{x_whole}, %ids: tensor<?x?xi64>, %weights: tensor<?x?xf32>,
                        {weights_1}%bias_1: tensor<?x?xf32>, {weights_2}%bias_2: tensor<?x?xf32>,
                        %alpha: f32, %limit: f32, %shift: f32) -> tensor<?x?xbf16> {{{constants}
  %c16 = arith.constant 16 : index
  %offsets, %rows, %positions = blockscale.sort_routes %ids, %groups
      : tensor<?x?xi64> to tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>
  %t = tensor.dim %rows, %c0 : tensor<?xi32>{product_1}
  %blocks = arith.divui %n_1, %c16 : index
  %pairs = tensor.expand_shape %d_1 [[0], [1, 2, 3]] output_shape [%t, %blocks, 2, 8]
      : tensor<?x?xf32> into tensor<?x?x2x8xf32>
  %he = tensor.empty(%t, %blocks) : tensor<?x?x8xbf16>
  %hb = linalg.generic {{
      indexing_maps = [affine_map<(t, b, c) -> (t, b, 0, c)>, affine_map<(t, b, c) -> (t, b, 1, c)>,
                       affine_map<(t, b, c) -> (t, b, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%pairs, %pairs : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) outs(%he : tensor<?x?x8xbf16>) {{
  ^bb0(%gate: f32, %up: f32, %old: bf16):
    %one = arith.constant 1.0 : f32
    %low = arith.negf %limit : f32
    %g = arith.minimumf %gate, %limit : f32
    %most = arith.minimumf %up, %limit : f32
    %clamped = arith.maximumf %most, %low : f32
    %shifted = arith.addf %clamped, %shift : f32
    %scaled = arith.mulf %g, %alpha : f32
    %negative = arith.negf %scaled : f32
    %exp = math.exp %negative : f32
    %divisor = arith.addf %exp, %one : f32
    %gated = arith.divf %g, %divisor : f32
    %v = arith.mulf %gated, %shifted : f32
    %rounded = arith.truncf %v : f32 to bf16
    linalg.yield %rounded : bf16
  }} -> tensor<?x?x8xbf16>
  %h = tensor.collapse_shape %hb [[0], [1, 2]] : tensor<?x?x8xbf16> into tensor<?x?xbf16>{product_2}
  %r = arith.truncf %d_2 : tensor<?x?xf32> to tensor<?x?xbf16>
  %combined = blockscale.combine_rows %r, %positions, %weights
      : tensor<?x?xbf16>, tensor<?x?xi32>, tensor<?x?xf32> to tensor<?x?xbf16>
  return %combined : tensor<?x?xbf16>
}}
"""

ROUTE = """
func.func @route_{scoring}_{count}_{type}(%logits: tensor<?x?x{type}>)
    -> (tensor<?x{count}xi32>, tensor<?x{count}xf32>) {{
  %ids, %weights = blockscale.route %logits {{top_k = {count} : i64, scoring = #blockscale.scoring<{scoring}>}}
      : tensor<?x?x{type}> to tensor<?x{count}xi32>, tensor<?x{count}xf32>
  return %ids, %weights : tensor<?x{count}xi32>, tensor<?x{count}xf32>
}}
"""

SCORINGS = ("softmax", "softmax_of_chosen")
COUNTS = (1, 2, 4, 6, 8)
LOGIT_TYPES = ("bf16", "f16", "f32")
# Columns of gates that stand beside each other.
PAIR_COLUMNS = 8


def make_format(format, is_dynamic):
    element, scale, block, is_scaled = FORMATS[format]
    quantized, scales = f"tensor<?x?x?x{element}>", f"tensor<?x?x?x{scale}>"
    names = dict(prefix="dynamic_" * is_dynamic, format=format, quantized=quantized, scales=scales, block=block,
                 element=element, scale=scale)
    whole = f" {{blockscale.multiples = array<i64: 1, 1, {block}>}}"

    def make_product(id, x, rows=""):
        factors = f"\n      group_scale(%{'f' if is_dynamic else 'g'}_{id} : tensor<?xf32>)" if is_scaled else ""
        find_g = FIND_TENSOR_SCALE.format(x=x, type="bf16") + JOIN_FACTORS.format(id=id, x=x) if is_scaled else ""
        g, g_type = (f" tensor_scale(%{x}_g)", ", f32") if is_scaled else ("", "")
        return (DYNAMIC_PRODUCT if is_dynamic else PRODUCT).format(
            id=id, x=x, rows=rows, factors=factors, find_g=find_g, g=g, g_type=g_type, **names
        )

    def make_weights(id):
        return WEIGHTS.format(id=id, whole=whole, factor=f", %g_{id}: tensor<?xf32>" * is_scaled, **names)

    return make_functions(names, make_product, make_weights)


def make_functions(names, make_product, make_weights):
    """grouped_linear and moe of a format. `names` has its prefix, format, quantized, scales and block; the others make a
    product of x, and what a function gets of its weights.
    """
    names = dict(names, x_whole=WHOLE_BLOCKS.format(names["block"]), constants=CONSTANTS.format(**names))
    yield GROUPED_LINEAR.format(product_1=make_product(1, "x"), weights_1=make_weights(1), **names)
    yield MOE.format(
        weights_1=make_weights(1), weights_2=make_weights(2),
        product_1=make_product(1, "x", " rows(%rows : tensor<?xi32>)"), product_2=make_product(2, "h"), **names,
    )


def make_program():
    parts = [text for is_dynamic in (False, True) for format in FORMATS for text in make_format(format, is_dynamic)]
    parts += [
        ROUTE.format(scoring=scoring, count=count, type=type)
        for scoring in SCORINGS for count in COUNTS for type in LOGIT_TYPES
    ]
    return "".join(parts).lstrip("\n")


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(make_program())
