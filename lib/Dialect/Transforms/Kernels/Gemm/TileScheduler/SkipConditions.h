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

/// Whether any inexact flag in the skip conditions of `problem` is set, uniform
/// over the `numThreads` threads of the block; `thread` is the index of this
/// one.
Value emitIsNeeded(OpBuilder &b, gpu::GPUFuncOp kernel,
                   const KernelProblem &problem, Value thread,
                   int64_t numThreads);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_SKIPCONDITIONS_H
