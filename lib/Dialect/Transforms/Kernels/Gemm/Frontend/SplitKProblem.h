//===- SplitKProblem.h - Two kernels for one product ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where K is divided, a kernel computes the sums of each part for themselves,
// and another one adds them, in their order, to the accumulator and makes of
// them what is made of the result.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_SPLITKPROBLEM_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_SPLITKPROBLEM_H

#include "Kernels/Gemm/GemmKernel.h"
#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// The products of `split.parts` parts of K, or as many as K has units: a
/// problem without accumulator, the result of which has all their sums. Sizes
/// are created at `builder`.
HostProblem getPartialProducts(OpBuilder &builder, Location loc,
                               const HostProblem &host,
                               const SplitKRule &split);

/// What is left of `host`: to add `partial`, the result of these. Of its
/// operands there are no parameters.
HostProblem getSumOfParts(const HostProblem &host, Value partial);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_SPLITKPROBLEM_H
