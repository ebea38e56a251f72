//===- ExactRecomputation.h - Where bf16 is not exact -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact recomputation: if bf16 does not hold a dequantized value exactly,
// another kernel computes the result anew. It runs only if an inexact flag is
// set.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_EXACTRECOMPUTATION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_EXACTRECOMPUTATION_H

#include "Kernels/Gemm/Frontend/DequantizedProduct.h"

namespace mlir::blockscale {

/// The kernel that computes the result anew: one of the next path of the chip
/// that has an instruction for it.
struct ExactRecomputation {
  const GemmKernel *gemm;
  InstructionAttr instruction;
  ScheduleInterface schedule;
};
ExactRecomputation getExactRecomputation(ProductOpInterface op,
                                         const Chip &chip);

/// What it computes.
HostProblem getExactProblem(OpBuilder &builder, ProductOpInterface op,
                            const DequantizedProduct &decoded,
                            const ExactRecomputation &kernel);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_EXACTRECOMPUTATION_H
