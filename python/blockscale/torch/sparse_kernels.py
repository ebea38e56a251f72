"""Writes the functions of sparse.bundle, as MLIR:

    sparse_kernels.py sparse.mlir
    blockscale-compile sparse.mlir --bundle=sparse.bundle --target=sm_80,sm_90a,sm_100a,sm_120a

Needs no torch. All sizes are dynamic. As in kernels.py, M is the number of rows of x, N that of the weights, and g are
tensor scales. FORMAT is a key of SPARSE_FORMATS; formats without a tensor scale have no g.

    decompress_FORMAT(codes, metadata, scales) -> codes, scales     of the dense format: each scale is there twice
    legal_metadata_FORMAT(codes, metadata) -> metadata              with 0100 for 0000; checks all fields
    sparse_mma_scaled_FORMAT(codes, metadata, scales, x M x K of bf16[, g of x, g of the weights], bias N of bf16)
        -> M x N of bf16                                            of legal metadata without 0000

The weights are the sparse operand, which is the left one, so a function computes the transposed product. It quantizes x
itself: what has just been quantized has no NaN among its elements, and needs no product that looks for them.
"""

import sys

if __package__:
    from .kernels import SPARSE_FORMATS, make_end
else:  # a script, which has its folder on the path
    from kernels import SPARSE_FORMATS, make_end

DECOMPRESS = """
func.func @decompress_{format}(%y: {quantized}, %metadata: tensor<?x?xi8>, %ys: {scales}) -> ({quantized}, {scales}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %dense = blockscale.decompress %y, %metadata {{granularity = #blockscale.granularity<{granularity}>}}
      : {quantized}, tensor<?x?xi8> to {quantized}
  %n = tensor.dim %ys, %c0 : {scales}
  %blocks = tensor.dim %ys, %c1 : {scales}
  %e = tensor.empty(%n, %blocks) : tensor<?x?x2x{scale}>
  %twice = linalg.broadcast ins(%ys : {scales}) outs(%e : tensor<?x?x2x{scale}>) dimensions = [2]
  %s = tensor.collapse_shape %twice [[0], [1, 2]] : tensor<?x?x2x{scale}> into {scales}
  return %dense, %s : {quantized}, {scales}
}}
"""

SAME = "affine_map<(i, j) -> (i, j)>"

LEGAL_METADATA = """
func.func @legal_metadata_{format}(%y: {quantized}, %metadata: tensor<?x?xi8>) -> tensor<?x?xi8> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %metadata, %c0 : tensor<?x?xi8>
  %bytes = tensor.dim %metadata, %c1 : tensor<?x?xi8>
  %empty = tensor.empty(%rows, %bytes) : tensor<?x?xi8>
  %legal = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = ["parallel", "parallel"]}}
      ins(%metadata : tensor<?x?xi8>) outs(%empty : tensor<?x?xi8>) {{
  ^bb0(%byte: i8, %out: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0 : i8{fields}
    %all = arith.ori %legal0, %legal1 : i8
    linalg.yield %all : i8
  }} -> tensor<?x?xi8>
  return %legal : tensor<?x?xi8>
}}
"""

# A bit for each of sparse_metadata.FIELDS, and its EMPTY_FIELD.
LEGAL_FIELDS = 0x7310
EMPTY_FIELD = 0b0100

# What a field keeps is only read where it is not legal.
FIELD = """
    %mask{f} = arith.constant {mask} : i8
    %field{f} = arith.andi %byte, %mask{f} : i8
    %shift{f} = arith.constant {shift} : i8
    %number{f} = arith.shrui %field{f}, %shift{f} : i8
    %set{f} = arith.constant {set} : i16
    %at{f} = arith.extui %number{f} : i8 to i16
    %shifted{f} = arith.shrui %set{f}, %at{f} : i16
    %isLegal{f} = arith.trunci %shifted{f} : i16 to i1
    %true{f} = arith.constant true
    %isOther{f} = arith.xori %isLegal{f}, %true{f} : i1
    %isEmpty{f} = arith.cmpi eq, %field{f}, %none : i8
    scf.if %isOther{f} {{{kept}
      cf.assert %ok{f}_{count}, "expected fields of metadata whose two positions ascend, or 0000 where zeros are kept"
    }}
    %first{f} = arith.constant {first} : i8
    %added{f} = arith.select %isEmpty{f}, %first{f}, %none : i8
    %legal{f} = arith.ori %field{f}, %added{f} : i8"""

KEPT = """
      %at{f}_{e} = affine.apply affine_map<(j) -> (j * {of_byte} + {at})>(%j)
      %kept{f}_{e} = tensor.extract %y[%i, %at{f}_{e}] : {quantized}
      %value{f}_{e} = arith.extf %kept{f}_{e} : {element} to f32
      %isZero{f}_{e} = arith.cmpf oeq, %value{f}_{e}, %zero : f32
      %ok{f}_{next} = arith.andi %{before}, %isZero{f}_{e} : i1"""

# The epilogue is that of the transposed product, of N x M, so that the kernel of the product does it.
SPARSE_MMA_SCALED = """
func.func @sparse_mma_scaled_{format}(%y: {quantized}, %metadata: tensor<?x?xi8>, %ys: {scales},
                                      %x: tensor<?x?xbf16>{arguments}) -> tensor<?x?xbf16> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %k = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %n = tensor.dim %y, %c0 : {quantized}
  %blocks = tensor.dim %ys, %c1 : {scales}{g}
  %xq, %xs = blockscale.quantize %x{g_operand} {{block_size = {block} : i64}}
      : tensor<?x?xbf16>{g_type} to {quantized}, {scales}
  %xe = tensor.empty(%k, %m) : {quantized}
  %xt = linalg.transpose ins(%xq : {quantized}) outs(%xe : {quantized}) permutation = [1, 0]
  %xse = tensor.empty(%blocks, %m) : {scales}
  %xst = linalg.transpose ins(%xs : {scales}) outs(%xse : {scales}) permutation = [1, 0]
  %empty = tensor.empty(%n, %m) : tensor<?x?xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = blockscale.sparse_mma_scaled %y, %metadata, %ys, %xt, %xst, %acc
      {{block_size = {block}, legal_metadata, granularity = #blockscale.granularity<{granularity}>}}
      : {quantized}, tensor<?x?xi8>, {scales}, {quantized}, {scales}, tensor<?x?xf32>{end}
  %te = tensor.empty(%m, %n) : tensor<?x?xbf16>
  %t = linalg.transpose ins(%r : tensor<?x?xbf16>) outs(%te : tensor<?x?xbf16>) permutation = [1, 0]
  return %t : tensor<?x?xbf16>
}}
"""


def make_fields(granularity, **names):
    """Both fields of a byte of metadata, the even one in the low bits."""
    kept = 4 if granularity == "pairs" else 2
    for f in range(2):
        yield FIELD.format(
            f=f, mask=15 << 4 * f, shift=4 * f, set=LEGAL_FIELDS, first=EMPTY_FIELD << 4 * f,
            count=kept, kept="".join(
                KEPT.format(
                    f=f, e=e, next=e + 1, before=f"ok{f}_{e}" if e else f"isEmpty{f}",
                    of_byte=2 * kept, at=f * kept + e, **names,
                ) for e in range(kept)
            ),
        )


def make_format(format):
    element, scale, block, is_scaled, granularity = SPARSE_FORMATS[format]
    names = dict(
        format=format, block=block, scale=scale, granularity=granularity, quantized=f"tensor<?x?x{element}>",
        scales=f"tensor<?x?x{scale}>",
    )
    yield DECOMPRESS.format(**names)
    yield LEGAL_METADATA.format(fields="".join(make_fields(element=element, **names)), same=SAME, **names)
    arguments, end = make_end(2 if is_scaled else 0, is_transposed=True)
    # Arguments are numbered from the last one: g_1 is that of x.
    yield SPARSE_MMA_SCALED.format(
        arguments=arguments, end=end, g="\n  %g = tensor.extract %g_1[] : tensor<f32>" * is_scaled,
        g_operand=" tensor_scale(%g)" * is_scaled, g_type=", f32" * is_scaled, **names,
    )


def make_program():
    return "".join(text for format in SPARSE_FORMATS for text in make_format(format)).lstrip("\n")


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(make_program())
