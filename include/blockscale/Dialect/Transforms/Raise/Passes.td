//===- Passes.td - Passes that recognise matmuls -----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_RAISE_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_RAISE_PASSES_TD

include "mlir/Pass/PassBase.td"

def RaisePass : Pass<"blockscale-raise"> {
  let summary = "recognise block-scaled matmuls in upstream dialects";
  let description = [{
    Rewrites contractions of dequantized operands to `mma_scaled`, or to
    `dequantize` and a matmul if one operand is not quantized (mixed input). The
    contraction is a `linalg.generic`, `linalg.matmul`, `linalg.batch_matmul`,
    `linalg.contract` or another structured op that adds products to an f32
    accumulator, or a `vector.contract`. It multiplies two matrices of the
    element types of `mma_scaled`, and their scales:

    * `arith.scaling_extf` of a matrix and its scales, or `arith.mulf` of
      `arith.extf`s in any order, on whole tensors or vectors or in a body;
    * scales repeated along K: `linalg.broadcast`, `vector.broadcast`, reshapes,
      transposes, structured ops, or an indexing map with `k floordiv 32`;
    * K as one loop, or as one over blocks and one inside of them;
    * any order of operands and of their dimensions. Operands with another
      order than that of `mma_scaled` get a transpose of the quantized elements,
      which lowerings fold into their loads, or a reshape, which moves no data;
    * one scale that is a constant or missing: it becomes a constant.

    Ops between an element and the contraction are not matched one by one. The
    pass computes the index of the element that they read, and compares indices.

    Semantics:

    * Sums of contractions have no order upstream, so no fast-math flag is
      needed. `mma_scaled` adds in f64, or as an instruction does.
    * `arith.scaling_extf` is raised with `f8E8M0FNU` scales only: upstream
      rounds wider ones to that type and gives others no meaning.
    * An element times its scale is exact in f32, subnormal results included,
      unless it exceeds f32: for scales of 2^113 and more with `f8E5M2`, of
      2^126 and more with fp4. Then the upstream form has infinity, and may get
      NaN from it, while `mma_scaled` has the product. The product of both
      operands can likewise become infinity or zero in f32, upstream only. A
      program that relies on that infinity should not be raised.
    * bf16 has all bits of one element times its scale. So dequantizing to bf16
      equals dequantizing to f32, except for results below 2^-133, which bf16
      rounds. A product of more factors that is rounded to bf16 is not raised.
    * An f32 scale for a whole tensor, with `f8E4M3FN` scales, becomes a factor
      of the result of an `mma_scaled` with a zero accumulator, and the
      accumulator is added afterwards; the upstream form may multiply by it
      anywhere. Results differ by the roundings that the upstream form has in
      every product. The scale is assumed to be finite: infinity times a sum is
      not the sum of infinities.
    * `mma_scaled` ignores the sign of `f8E4M3FN` scales, and `arith.extf` does
      not. The pass raises only if no scale is negative: constants, `math.absf`,
      a bit mask, or anything with `assume-positive-scales`.
    * Dynamic sizes are assumed to be at least 1. K must be known to be a
      multiple of B: because blocks were collapsed, or because there are two
      loops.

    Operands without a common block get a block each, `x_scale_block` and
    `y_scale_block`: scales of f32 or `f8E8M0FNU` for 1, 128 or all rows and 16,
    32, 64, 128 or all elements along K. The last one may be partial. Such a
    product multiplies sums by both scales, so results differ by the roundings
    of products with f32 scales upstream; products that leave f32 are infinite
    or zero upstream only. Scales are assumed to be finite.

    If one operand has quantized elements with scales, and the other one bf16 or
    f16 values, a contraction in linalg becomes `dequantize` and a
    `linalg.matmul` or `linalg.batch_matmul`. The program defines how the
    dequantized values are rounded and where they are infinite, so the order of
    its ops matters: element times scale, times a scale for the whole tensor,
    rounded once to the type of the other operand. A contraction that rounds in
    another way is not raised.

    A `mma_scaled` whose x is made by `decompress`, or whose y is the transpose
    of such a tensor, becomes `sparse_mma_scaled`, if the other operand has
    neither NaN nor infinity and some chip has a sparse instruction for it; in
    the second case it is the transposed product. A remark says why another one
    stays dense.

    Mixtures of experts become grouped products:

    * An `scf.for` over groups, which multiplies a slice of rows of x, from the
      inclusive end of the group before to that of the group, by a slice of y,
      and inserts the product into a tensor that it carries, becomes
      `grouped_matmul` or `grouped_mma_scaled`. Its product is `mma_scaled` (also
      a contraction that is raised to that) or a contraction of bf16 or f16, and
      starts with zeros, if the loop does, or with the rows that it adds to. It
      may be truncated if it starts with zeros. Rows of no group keep what the
      loop starts with. Ends that descend or are too large make slices out of
      bounds, which have no meaning; the op takes them for an error.
    * A `linalg.generic` that multiplies rows of x by the matrices of y that rows
      name, which `tensor.extract` reads in the body, becomes `sort_routes`,
      `grouped_matmul` or, of block-scaled operands, `grouped_mma_scaled`, and
      `combine_rows`. Its accumulator is zeros, so that `combine_rows`, which
      starts with +0, does not change a sum. A row that names a matrix that y
      does not have becomes zeros.

    A form of these that is not raised stays unchanged, and a remark gives the
    reason.

    Before:

    ```mlir
    func.func @product(%x: tensor<16x64xf8E4M3FN>,
                       %x_scale: tensor<16x2xf8E8M0FNU>,
                       %y: tensor<64x8xf4E2M1FN>,
                       %y_scale: tensor<2x8xf8E8M0FNU>,
                       %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = linalg.generic {
             indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                              affine_map<(m, n, k) -> (m, k floordiv 32)>,
                              affine_map<(m, n, k) -> (k, n)>,
                              affine_map<(m, n, k) -> (k floordiv 32, n)>,
                              affine_map<(m, n, k) -> (m, n)>],
             iterator_types = ["parallel", "parallel", "reduction"]}
           ins(%x, %x_scale, %y, %y_scale
               : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
                 tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>)
           outs(%acc : tensor<16x8xf32>) {
      ^bb0(%a: f8E4M3FN, %sa: f8E8M0FNU, %b: f4E2M1FN, %sb: f8E8M0FNU, %c: f32):
        %0 = arith.scaling_extf %a, %sa : f8E4M3FN, f8E8M0FNU to f32
        %1 = arith.scaling_extf %b, %sb : f4E2M1FN, f8E8M0FNU to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %c, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<16x8xf32>
      return %d : tensor<16x8xf32>
    }
    ```

    After:

    ```mlir
    func.func @product(%x: tensor<16x64xf8E4M3FN>,
                       %x_scale: tensor<16x2xf8E8M0FNU>,
                       %y: tensor<64x8xf4E2M1FN>,
                       %y_scale: tensor<2x8xf8E8M0FNU>,
                       %acc: tensor<16x8xf32>) -> tensor<16x8xf32> {
      %d = blockscale.mma_scaled %x, %x_scale, %y, %y_scale, %acc
           : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
             tensor<64x8xf4E2M1FN>, tensor<2x8xf8E8M0FNU>, tensor<16x8xf32>
      return %d : tensor<16x8xf32>
    }
    ```
  }];
  let options = [
    Option<"assumePositiveScales", "assume-positive-scales", "bool", "false",
           "Assume that scales of type f8E4M3FN are positive where that is not "
           "known">,
    Option<"reportOnly", "report-only", "bool", "false",
           "Change nothing; remarks say what would be raised, and why other "
           "contractions would not">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::blockscale::BlockScaleDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_RAISE_PASSES_TD
