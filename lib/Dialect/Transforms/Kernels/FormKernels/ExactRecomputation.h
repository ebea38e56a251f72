//===- ExactRecomputation.h - Recompute where bf16 is inexact ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact recomputation: bf16 does not hold every product of element and scale.
// If an inexact flag is set, another kernel of the same launch sequence
// computes the whole result again, exactly; if none is, its blocks return at
// once.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_EXACTRECOMPUTATION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_EXACTRECOMPUTATION_H

#include "Kernels/Gemm/Frontend/DequantizedProduct.h"

namespace mlir::blockscale {

/// The kernel that recomputes: one that dequantizes in registers, which is
/// exact.
struct ExactRecomputation {
  const GemmKernel *gemm;
  InstructionAttr instruction;
  ScheduleInterface schedule;
};
ExactRecomputation getExactRecomputation(ProductOpInterface op,
                                         const Chip &chip);

/// The problem of that kernel.
HostProblem getExactProblem(OpBuilder &builder, ProductOpInterface op,
                            const DequantizedProduct &dequantized,
                            const ExactRecomputation &kernel);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_EXACTRECOMPUTATION_H
