//===- Passes.td - Passes that recognise products ----------*- tablegen -*-===//
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
  let summary = "recognise block-scaled products in upstream dialects";
  let description = [{
    Rewrites contractions of decoded operands to `mma_scaled`, or to
    `dequantize` and a matmul, if one of them is numbers. The contraction
    is a `linalg.generic`, `linalg.matmul`, `linalg.batch_matmul`,
    `linalg.contract` or another structured op that adds products to an f32
    accumulator, or a `vector.contract`. In its products are two matrices of
    the element types of `mma_scaled`, and their scales:

    * `arith.scaling_extf` of a matrix and its scales, or `arith.mulf` of
      `arith.extf`s in any order, on whole tensors or vectors or in a body;
    * scales repeated along K: `linalg.broadcast`, `vector.broadcast`, reshapes,
      transposes, structured ops, or an indexing map with `k floordiv 32`;
    * K as one loop, or as one over blocks and one inside of them;
    * any order of operands and of their dimensions. What is not stored as
      `mma_scaled` takes it gets a transpose or a reshape of the codes, which
      lowerings read through or which moves no data, respectively;
    * one scale that is a constant or missing: it becomes a constant.

    Ops between a code and the contraction are not matched one by one. They say
    which element is read, and the index is what is compared.

    What is meant by it:

    * Sums of contractions have no order upstream, so no fast-math flag is
      needed. `mma_scaled` adds in f64, or as an instruction does.
    * `arith.scaling_extf` is raised with `f8E8M0FNU` scales only: upstream
      rounds wider ones to that type and gives others no meaning.
    * An element times its scale is exact in f32, subnormal results included,
      except where it exceeds f32: scales of 2^113 and more for `f8E5M2`, of 2^126
      and more for fp4. There the upstream form has infinity, and may get NaN
      from it, and `mma_scaled` has the product. The product of both operands
      can likewise leave f32 for infinity or zero upstream only. A program that
      relies on that infinity should not be raised.
    * bf16 has all bits of one element times its scale, so that decoding to it
      is decoding to f32, but for results below 2^-133, which it rounds. A
      product of more factors that is rounded to bf16 is not raised.
    * One f32 for a whole tensor beside `f8E4M3FN` scales, wherever it is
      multiplied, multiplies the result of an `mma_scaled` with a zero
      accumulator, and the accumulator is added after it. Results differ by the
      roundings that the upstream form has in every product. It is taken to be
      finite: infinity times a sum is not the sum of infinities.
    * `mma_scaled` ignores the sign of `f8E4M3FN` scales, and `arith.extf` does
      not. They are raised where no scale is negative: constants, `math.absf`,
      a bit mask, or anything with `assume-positive-scales`.
    * Dynamic sizes are taken to be at least 1. K must be known to be a multiple
      of B: it is the size of blocks that were collapsed, or there are two loops.

    Where one operand is codes with scales, and the other numbers of bf16 or
    f16, a contraction in linalg becomes `dequantize` and a `linalg.matmul` or
    `linalg.batch_matmul`. The decoded numbers are rounded and may be infinite
    as the program says, so that the order of its ops counts: code times scale,
    times a scale for the whole tensor, rounded once to the type of the other
    operand. What is rounded in another way is not raised.

    A contraction that has a scaled operand and is not raised gets a remark with
    the reason, and stays as it is.

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
           "Take scales of type f8E4M3FN to be positive where that is not "
           "known">,
    Option<"reportOnly", "report-only", "bool", "false",
           "Change nothing; a remark names what would be raised, and why "
           "something would not">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::blockscale::BlockScaleDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_RAISE_PASSES_TD
