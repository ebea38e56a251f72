//===- HostOperand.h - An operand of a kernel on the host -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks through transposes, layouts and packing to the tensor in memory, and
// says what has to be made of it before the kernel can read it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_HOSTOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_HOSTOPERAND_H

#include "Kernels/Gemm/GemmKernel.h"

namespace mlir::blockscale {

/// What a kernel reads as one of its operands: a tensor in memory.
struct OperandSource {
  GemmOperand id;
  Value value;
  /// From an index of the operand of the product to one of `value`; null if
  /// that is the operand itself.
  AffineMap map;
  /// The sizes of the matrix: rows, and columns. They may be dynamic.
  int64_t rows, columns;

  bool isScale() const { return getInfo(id).isScale; }
  MmaScaledOp::Side side() const {
    return getInfo(id).isA ? MmaScaledOp::Side::X : MmaScaledOp::Side::Y;
  }
};

/// The operand of the kernel, without the number of its parameter, and the
/// tensor that is passed.
struct HostOperand {
  KernelOperand operand;
  Value tensor;
};

/// How a kernel of `gemm` for `problem` reads `source` of `op`; types,
/// instruction and schedule of the problem are known by now. Copies, swizzles
/// or packs `source` first if the kernel needs that, with a remark about each
/// copy.
HostOperand makeHostOperand(OpBuilder &builder, ProductOpInterface op,
                            const GemmKernel &gemm,
                            const KernelProblem &problem,
                            const OperandSource &source);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_HOSTOPERAND_H
