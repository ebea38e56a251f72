//===- DequantizedProduct.h - GEMMs behind dequantize kernels ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dequantize, then a bf16 GEMM. Some tensor cores take no block-scaled
// operands, and a large GEMM reads each element often. So kernels in front
// write the operands to memory as bf16. They also set per-block inexact flags
// where bf16 does not hold a value; an exact recomputation follows then
// (FormKernels/ExactRecomputation.h).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_DEQUANTIZEDPRODUCT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_DEQUANTIZEDPRODUCT_H

#include "Kernels/Gemm/GemmKernel.h"
#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

struct DequantizedProduct {
  /// The GEMM on bf16 or f16 values.
  HostProblem product;
  /// Per-block inexact flags of x and of y. One of them is not 0 if bf16 does
  /// not hold a dequantized value. Null for an operand that the mainloop
  /// dequantizes in registers: that kernel sets one of the other operand. With
  /// groups of rows, those of x have one for each group behind those of blocks;
  /// that kernel sets the one of the group.
  std::array<Value, 2> skipConditions = {};

  /// Those of the operand that a kernel in front dequantizes; of x, if both are
  /// or none is.
  Value &getFlags() {
    return skipConditions[0] || !skipConditions[1] ? skipConditions[0]
                                                   : skipConditions[1];
  }
  bool isToBeChecked() const {
    return llvm::any_of(skipConditions,
                        [](Value inexactFlags) { return bool(inexactFlags); });
  }
};

/// The problem `host` of `op`, with its operands dequantized (or permuted, if
/// they are bf16 already) by kernels that are launched at `builder`. Operands
/// that the mainloop dequantizes in registers stay; that kernel sets
/// an inexact flag of the other operand. The kernels are launched if
/// `condition`, an i1, is null or true.
DequantizedProduct
formDequantizedProduct(OpBuilder &builder, SymbolTableCollection &symbols,
                       ProductOpInterface op, const HostProblem &host,
                       OperandTransforms transforms, Value condition = {});

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_DEQUANTIZEDPRODUCT_H
