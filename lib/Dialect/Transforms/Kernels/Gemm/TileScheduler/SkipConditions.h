//===- SkipConditions.h - Kernels that may have nothing to do ---*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Skip conditions: an exact recomputation runs only if an inexact flag of the
// kernels in front is set. Each block reads the flags first.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_SKIPCONDITIONS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_SKIPCONDITIONS_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// Whether any of the words of a condition of `problem` is not 0, for all of
/// the `numThreads` threads of the block; `thread` is the number of this one.
Value emitIsNeeded(OpBuilder &b, gpu::GPUFuncOp kernel,
                  const KernelProblem &problem, Value thread,
                  int64_t numThreads);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_SKIPCONDITIONS_H
