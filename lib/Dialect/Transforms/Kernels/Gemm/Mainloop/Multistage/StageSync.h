//===- StageSync.h - When a stage is full, and empty ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How those who fill stages and those who read them wait for one another.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGESYNC_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGESYNC_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// Makes a group of all asynchronous copies that are in none; its token.
Value createCopyGroup(OpBuilder &b, Location loc);

class StageSync {
public:
  virtual ~StageSync() = default;

  /// Behind the copies of one stage.
  virtual void commit(OpBuilder &b) = 0;
  /// Waits until all but the last `left` stages that were committed are full,
  /// and all threads are done with what they read before.
  virtual void wait(OpBuilder &b, int64_t left) = 0;
  /// Waits until all threads are done with what they read.
  virtual void release(OpBuilder &b) = 0;
};

/// Groups of asynchronous copies, which each thread waits for, and barriers of
/// the block. Without such copies, barriers are enough.
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
  /// Of the last group; null if there is none to wait for.
  Value token;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGESYNC_H
