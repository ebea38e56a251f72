//===- DequantizedProduct.h - Products of decoded operands ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where tensor cores take plain numbers only, and a product reads each of them
// often, kernels in front make numbers of bf16 of codes and scales. They find
// out which of them bf16 does not hold; if there are any, the product is
// computed once more, by the kernel that loses nothing.

//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_DEQUANTIZEDPRODUCT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_DEQUANTIZEDPRODUCT_H

#include "Kernels/Gemm/GemmKernel.h"
#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

struct DequantizedProduct {
  /// Of numbers of bf16.
  HostProblem product;
  /// Words of which one is not 0 where bf16 does not hold what was decoded, for
  /// x and for y; null for an operand whose codes the product takes, until it
  /// has words of its own.
  std::array<Value, 2> skipConditions = {};

  bool isToBeChecked() const {
    return llvm::any_of(skipConditions,
                        [](Value words) { return bool(words); });
  }
};

/// The product of `host`, which is that of `op`, with its operands decoded (or
/// placed, if they are numbers) by kernels that are launched where `builder`
/// stands, but for those whose codes it takes; it finds out about these itself.
DequantizedProduct formDequantized(OpBuilder &builder,
                                   SymbolTableCollection &symbols,
                                   ProductOpInterface op,
                                   const HostProblem &host,
                                   OperandTransforms transforms);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_DEQUANTIZEDPRODUCT_H
