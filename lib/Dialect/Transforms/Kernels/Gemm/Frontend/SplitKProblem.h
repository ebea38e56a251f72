//===- SplitKProblem.h - The two problems of split-K ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Split-K: the GEMM kernel computes one partial result for each range of K, and
// a reduction kernel (Epilogue/SplitKReduction.cpp) adds them to C and does the
// fused epilogue.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_SPLITKPROBLEM_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_SPLITKPROBLEM_H

#include "Kernels/Gemm/GemmKernel.h"
#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// The number of ranges of `k`: at most as many as it has units, and at least
/// one.
OpFoldResult getRanges(OpBuilder &builder, Location loc, OpFoldResult k,
                       const SplitKRule &split);

/// The GEMM kernel: a problem without accumulator, whose result has one partial
/// result for each of `ranges` ranges of K. `splitK` is their number as the
/// kernel knows it. Sizes are created at `builder`.
HostProblem getPartialProducts(OpBuilder &builder, Location loc,
                               const HostProblem &host, OpFoldResult ranges,
                               int64_t splitK);

/// The reduction kernel: the rest of `host`, which adds up `partial`, the
/// result of the GEMM kernel. It has no parameters for operands.
HostProblem getSplitKReduction(const HostProblem &host, Value partial);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_SPLITKPROBLEM_H
