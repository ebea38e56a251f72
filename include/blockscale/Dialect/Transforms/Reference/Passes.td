//===- Passes.td - Passes to reference semantics -----------*- tablegen -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_PASSES_TD
#define BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposePass : Pass<"blockscale-decompose"> {
  let summary = "give the tile-level ops their meaning in upstream dialects";
  let description = [{
    Rewrites `mma_scaled`, `swizzle_scales`, `unswizzle_scales`, `quantize`,
    `dequantize` and the ops on sparse operands into `linalg.generic` loops over
    scalar arithmetic:

    * x and y are dequantized to f64, which holds every product of an element
      and a scale exactly;
    * the products are added in f64 to the accumulator, and the sum is rounded
      once to f32. A zero splat accumulator is not loaded.

    A transpose (`linalg.transpose`, `vector.transpose`) or `unswizzle_scales`
    that feeds an operand becomes an indexing map, not a copy. Vectors are
    converted to tensors, so that their code is loops, too.

    Elements are decoded with integer arithmetic on an `arith.bitcast` of them,
    because upstream's expansions of these types are not exact at the ends of
    the formats. The element types stay; later,
    `blockscale-narrow-floats-to-bytes` turns them into bytes.

    Before:

    ```mlir
    func.func @scales(%s: tensor<4x2xf8E8M0FNU>)
        -> tensor<1x1x32x16xf8E8M0FNU> {
      %t = blockscale.swizzle_scales %s
           : tensor<4x2xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
      return %t : tensor<1x1x32x16xf8E8M0FNU>
    }
    ```

    After, in short:

    ```
    %e = tensor.empty() : tensor<1x1x32x16xf8E8M0FNU>
    %t = linalg.generic ... outs(%e) {
      // %m and %k from the 32x4x4 layout
      %s_mk = tensor.extract %s[%m, %k]
      %b = arith.select %inside, %s_mk, %zero
      linalg.yield %b
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"
  ];
}

def DecomposeSoftmaxPass
    : Pass<"blockscale-decompose-softmax", "::mlir::func::FuncOp"> {
  let summary = "decompose linalg.softmax";
  let description = [{
    A `linalg.softmax` on tensors of f64, f32, f16 or bf16 becomes, as upstream
    decomposes it, the maximum, exp of the differences to it, their sum, and the
    quotients. f16 and bf16 are extended to f32 first, and the quotients are
    rounded once.

    With `keep-rows`, a softmax along the last dimension of f32, f16 or bf16
    stays: `blockscale-form-kernels` makes a row-wise kernel of it.

    Before:

    ```mlir
    func.func @f(%x: tensor<4x64xf32>, %out: tensor<4x64xf32>)
        -> tensor<4x64xf32> {
      %y = linalg.softmax dimension(1) ins(%x : tensor<4x64xf32>)
           outs(%out : tensor<4x64xf32>) -> tensor<4x64xf32>
      return %y : tensor<4x64xf32>
    }
    ```

    After, in short:

    ```
    %most = linalg.generic ... {arith.maxnumf} // over dimension 1
    %exps = linalg.generic ... ins(%x, %most) {arith.subf, math.exp}
    %sum = linalg.generic ... ins(%exps) {arith.addf}
    %y = linalg.generic ... ins(%exps, %sum) {arith.divf}
    ```
  }];
  let options = [
    Option<"keepRows", "keep-rows", "bool", /*default=*/"false",
           "keep the ops that get a kernel of their own">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_PASSES_TD
