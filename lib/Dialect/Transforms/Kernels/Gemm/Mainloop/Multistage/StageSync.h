//===- StageSync.h - When a stage is full or empty --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Synchronization of the multistage pipeline: cp.async groups and block
// barriers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGESYNC_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGESYNC_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// Commits all uncommitted cp.async as a group; returns its token.
Value createCopyGroup(OpBuilder &b, Location loc);

/// cp.async groups, which each thread waits for, and barriers of the block.
/// Without cp.async, barriers are enough.
class StageSync {
public:
  StageSync(Location loc, bool hasAsyncCopies)
      : loc(loc), hasAsyncCopies(hasAsyncCopies) {}

  /// Emitted behind the copies of one stage.
  void commit(OpBuilder &b);
  /// Waits until all but the last `left` stages that were committed are full,
  /// and all threads are done with what they read before.
  void wait(OpBuilder &b, int64_t left);
  /// Waits until all threads are done with what they read.
  void release(OpBuilder &b) { gpu::BarrierOp::create(b, loc); }

private:
  Location loc;
  bool hasAsyncCopies;
  /// The token of the last group; null if there is none to wait for.
  Value token;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGESYNC_H
