"""Writes the functions of kernels.bundle, as MLIR:

    kernels.py kernels.mlir
    blockscale-compile kernels.mlir --bundle=kernels.bundle --target=sm_80,sm_90a,sm_100a,sm_120a

Needs no torch. All sizes are dynamic. M is the number of rows of x, N that of the weights (K-contiguous, as in torch).
Tensor scales, g, are in memory of the card, so that the host does not wait for them. FORMAT is a key of FORMATS;
formats without a tensor scale have no g.

    quantize_FORMAT_TYPE(x M x K[, g]) -> codes, scales              TYPE is bf16, f16 or f32
    tensor_scale_TYPE(x M x K) -> g                                  the largest magnitude / (448 * 6)
    linear_FORMAT(x M x K of bf16, codes, scales[, g], bias N of bf16) -> M x N of bf16
    mma_scaled_FORMAT(codes, scales, codes, scales[, g of x, g of y], bias N of bf16) -> M x N of bf16

There is always a bias, which may be zeros: this halves the code, and costs the reads of it. A product has kernels
for different numbers of rows, of which its launch info chooses one (docs/gpu/dynamic.md).
"""

import sys

# name: element, scale, block size, whether there is a tensor scale.
FORMATS = {
    "mxfp8": ("f8E4M3FN", "f8E8M0FNU", 32, False),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32, False),
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16, True),
}
# With 2:4 sparse weights: the same and the granularity. As in instructions, a scale is that of as many kept elements as
# it is of dense ones, so of a block of twice as many.
SPARSE_FORMATS = {
    format: (element, scale, 2 * block, is_scaled, "pairs" if element == "f4E2M1FN" else "2:4")
    for format, (element, scale, block, is_scaled) in FORMATS.items()
}
VALUE_TYPES = ("bf16", "f16", "f32")

# The product is for any number of rows.
ANY = 'attributes {blockscale.rows = "any"} '

QUANTIZE = """
func.func @quantize_{format}_{type}(%x: tensor<?x?x{type}>{g_argument}) -> ({quantized}, {scales}) {{{g}
  %codes, %scales = blockscale.quantize %x{g_operand} {{block_size = {block} : i64}}
      : tensor<?x?x{type}>{g_type} to {quantized}, {scales}
  return %codes, %scales : {quantized}, {scales}
}}
"""

# %{x}_most is the largest magnitude of %{x}.
FIND_MOST = """
  %{x}_elements, %{x}_of_blocks, %{x}_most = blockscale.quantize %{x} {{block_size = 16 : i64}}
      : tensor<?x?x{type}> to tensor<?x?xf4E2M1FN>, tensor<?x?xf8E4M3FN>, tensor<f32>"""

# %{x}_g is the tensor scale for %{x}_amax. 2688 = 448 * 6. Never 0, and 1 if that is NaN or infinity.
MAKE_TENSOR_SCALE = """
  %{x}_limit = arith.constant 2688.0 : f32
  %{x}_quotient = arith.divf %{x}_amax, %{x}_limit : f32
  %{x}_least = arith.constant 0x00800000 : f32
  %{x}_positive = arith.maximumf %{x}_quotient, %{x}_least : f32
  %{x}_one = arith.constant 1.0 : f32
  %{x}_infinity = arith.constant 0x7F800000 : f32
  %{x}_is_number = arith.cmpf olt, %{x}_positive, %{x}_infinity : f32
  %{x}_g = arith.select %{x}_is_number, %{x}_positive, %{x}_one : f32"""

FIND_TENSOR_SCALE = FIND_MOST + """
  %{x}_amax = tensor.extract %{x}_most[] : tensor<f32>""" + MAKE_TENSOR_SCALE

TENSOR_SCALE = """
func.func @tensor_scale_{type}(%x: tensor<?x?x{type}>) -> f32 {{""" + FIND_TENSOR_SCALE.replace("{x}", "x") + """
  return %x_g : f32
}}
"""

# Quantized elements and scales of y are read through the transposes, and the kernel's epilogue does the operations
# after the product.
START = """{{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : {x}
  %n = tensor.dim %y, %c0 : {quantized}
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>"""

# Without it, the kernel could not use TMA, which needs rows of a multiple of 16 bytes, and x would be copied first.
WHOLE_BLOCKS = " {{blockscale.multiples = array<i64: 1, {}>}}"

# Without g, elements times scales are exact in bf16 (docs/Quantization.md, "Weights alone"); g multiplies the sums,
# which is one rounding less than multiplying each weight.
LINEAR = """
func.func @linear_{format}(%x: {x}{whole}, %y: {quantized}{whole}, %ys: {scales}{arguments})
    -> tensor<?x?xbf16> {of_function}""" + START + """
  %w = blockscale.dequantize %y, %ys {{block_size = {block} : i64}} : {quantized}, {scales} to tensor<?x?xbf16>
  %d = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : {x}, tensor<?x?xbf16>) outs(%acc : tensor<?x?xf32>) -> tensor<?x?xf32>{end}
}}
"""

MMA_SCALED = """
func.func @mma_scaled_{format}(%x: {x}, %xs: {scales}, %y: {quantized}, %ys: {scales}{arguments})
    -> tensor<?x?xbf16> {of_function}""" + START + """
  %k = tensor.dim %y, %c1 : {quantized}
  %blocks = tensor.dim %ys, %c1 : {scales}
  %ye = tensor.empty(%k, %n) : {quantized}
  %yt = linalg.transpose ins(%y : {quantized}) outs(%ye : {quantized}) permutation = [1, 0]
  %yse = tensor.empty(%blocks, %n) : {scales}
  %yst = linalg.transpose ins(%ys : {scales}) outs(%yse : {scales}) permutation = [1, 0]
  %d = blockscale.mma_scaled %x, %xs, %yt, %yst, %acc {{block_size = {block}}}
      : {x}, {scales}, {quantized}, {scales}, tensor<?x?xf32>{end}
}}
"""

# The sums times each g plus bias, rounded to bf16. `sizes` are m, n, or in a transposed product n, m.
END = """
  %re = tensor.empty({values}) : tensor<?x?xbf16>
  %r = linalg.generic {{
      indexing_maps = [affine_map<({sizes}) -> ({sizes})>{maps}, affine_map<({sizes}) -> (n)>,
                       affine_map<({sizes}) -> ({sizes})>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%d{operands}, %bias : tensor<?x?xf32>{types}, tensor<?xbf16>) outs(%re : tensor<?x?xbf16>) {{
  ^bb0(%sum_{count}: f32{inner}, %bias_in: bf16, %old: bf16):{steps}
    %bias_f32 = arith.extf %bias_in : bf16 to f32
    %biased = arith.addf %sum_0, %bias_f32 : f32
    %rounded = arith.truncf %biased : f32 to bf16
    linalg.yield %rounded : bf16
  }} -> tensor<?x?xbf16>"""

RETURN = """
  return %r : tensor<?x?xbf16>"""


def make_end(count, is_transposed=False):
    """(arguments of the function after the operands, the text after the product, up to %r), for so many g."""
    each = list(reversed(range(count)))
    sizes = "nm" if is_transposed else "mn"
    return "".join(f", %g_{i}: tensor<f32>" for i in each) + ", %bias: tensor<?xbf16>", END.format(
        count=count, sizes=", ".join(sizes), values=", ".join(f"%{size}" for size in sizes),
        maps=f", affine_map<({', '.join(sizes)}) -> ()>" * count,
        operands="".join(f", %g_{i}" for i in each),
        types=", tensor<f32>" * count,
        inner="".join(f", %g_in_{i}: f32" for i in each),
        steps="".join(f"\n    %sum_{i} = arith.mulf %sum_{i + 1}, %g_in_{i} : f32" for i in each),
    )


def make_format(format):
    element, scale, block, is_scaled = FORMATS[format]
    quantized, scales = f"tensor<?x?x{element}>", f"tensor<?x?x{scale}>"
    names = dict(format=format, block=block, quantized=quantized, scales=scales)
    for type in VALUE_TYPES:
        yield QUANTIZE.format(
            type=type, g_argument=", %t: tensor<f32>" if is_scaled else "",
            g="\n  %g = tensor.extract %t[] : tensor<f32>" if is_scaled else "",
            g_operand=" tensor_scale(%g)" if is_scaled else "", g_type=", f32" if is_scaled else "", **names,
        )
    arguments, end = make_end(1 if is_scaled else 0)
    yield LINEAR.format(
        x="tensor<?x?xbf16>", whole=WHOLE_BLOCKS.format(block), of_function=ANY, arguments=arguments,
        end=end + RETURN, **names,
    )
    arguments, end = make_end(2 if is_scaled else 0)
    yield MMA_SCALED.format(x=quantized, of_function=ANY, arguments=arguments, end=end + RETURN, **names)


def make_program():
    parts = [TENSOR_SCALE.format(type=type) for type in VALUE_TYPES]
    for format in FORMATS:
        parts += make_format(format)
    return "".join(parts).lstrip("\n")


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(make_program())
