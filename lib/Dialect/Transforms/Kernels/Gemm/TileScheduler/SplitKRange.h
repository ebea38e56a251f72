//===- SplitKRange.h - The range of K of a split-K tile ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Split-K (Frontend/SplitKProblem.h): the result of the GEMM kernel has a
// matrix for each range of K, and a tile of it covers one range.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_SPLITKRANGE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_SPLITKRANGE_H

#include "Kernels/Gemm/TileScheduler/WorkTile.h"

namespace mlir::blockscale {

/// The range of matrix number `batch` of a result with `matrices`, in steps of
/// `k` elements; `matrices` may be null without split-K. The lengths of ranges
/// differ by at most one step.
KRange emitSplitKRange(OpBuilder &b, Location loc, const KernelProblem &problem,
                       const ProblemSizes &sizes, int64_t k, Value batch,
                       Value matrices);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_SPLITKRANGE_H
