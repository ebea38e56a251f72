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

/// The GEMM kernel: a problem without accumulator, whose result has one partial
/// result for each of `split.ranges` ranges of K (or as many as K has units).
/// Sizes are created at `builder`.
HostProblem getPartialProducts(OpBuilder &builder, Location loc,
                               const HostProblem &host,
                               const SplitKRule &split);

/// The reduction kernel: the rest of `host`, which adds up `partial`, the
/// result of the GEMM kernel. It has no parameters for operands.
HostProblem getSplitKReduction(const HostProblem &host, Value partial);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_SPLITKPROBLEM_H
