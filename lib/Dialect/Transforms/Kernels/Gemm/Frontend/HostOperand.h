//===- HostOperand.h - An operand of a kernel on the host -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The view of an operand through transposes, layouts and packing, and what has
// to be made of it first for the kernel to read it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_HOSTOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_HOSTOPERAND_H

#include "Kernels/Gemm/GemmKernel.h"

namespace mlir::blockscale {

/// What a kernel reads as one of its operands.
struct OperandSource {
  MmaScaledOp::Side side;
  bool isScale;
  Value value;
  /// From an index of the operand of the product to one of `value`; null where
  /// that is the operand itself.
  AffineMap map;
  /// The sizes of the matrix: rows, and columns or blocks along them. They may
  /// be dynamic.
  int64_t rows, columns;
};

/// The operand of the kernel, but for the number of its parameter, and the
/// tensor that is passed.
struct HostOperand {
  KernelOperand operand;
  Value tensor;
};

/// How a kernel of `gemm` for `problem`, the row, instruction and schedule
/// of which are known, reads `source` of `op`. What it needs copied, swizzled
/// or packed first, is, with a remark where that is a copy.
HostOperand makeHostOperand(OpBuilder &builder, ProductOpInterface op,
                            const GemmKernel &gemm,
                            const KernelProblem &problem,
                            const OperandSource &source);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_HOSTOPERAND_H
