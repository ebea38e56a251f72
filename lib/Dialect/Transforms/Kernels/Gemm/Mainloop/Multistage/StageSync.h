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

class StageSync {
public:
  virtual ~StageSync() = default;

  /// Emitted behind the copies of one stage.
  virtual void commit(OpBuilder &b) = 0;
  /// Waits until all but the last `left` stages that were committed are full,
  /// and all threads are done with what they read before.
  virtual void wait(OpBuilder &b, int64_t left) = 0;
  /// Waits until all threads are done with what they read.
  virtual void release(OpBuilder &b) = 0;
};

/// cp.async groups, which each thread waits for, and barriers of the block.
/// Without cp.async, barriers are enough.
class GroupSync final : public StageSync {
public:
  GroupSync(Location loc, bool hasAsyncCopies)
      : loc(loc), hasAsyncCopies(hasAsyncCopies) {}

  void commit(OpBuilder &b) override;
  void wait(OpBuilder &b, int64_t left) override;
  void release(OpBuilder &b) override;

private:
  Location loc;
  bool hasAsyncCopies;
  /// The token of the last group; null if there is none to wait for.
  Value token;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGESYNC_H
