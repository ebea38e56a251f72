//===- Stages.h - Shared memory of a kernel ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tiles of all operands, once for each stage, one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGES_H

#include "Kernels/Gemm/Mainloop/Multistage/SharedTile.h"

namespace mlir::blockscale {

/// The operands of a product, in the order of `KernelProblem::getOperand`.
inline constexpr unsigned kNumOperands = 4;

class Stages {
public:
  Stages(ArrayRef<SharedTile> tiles, int64_t numStages);

  const SharedTile &getTile(unsigned i) const { return tiles[i]; }
  int64_t getNumStages() const { return numStages; }
  int64_t getStageBytes() const { return stageBytes; }
  int64_t getNumBytes() const { return numStages * stageBytes; }

  /// Tile number `i` of the stage at byte `offset` of `shared`, as bytes.
  Value getMemory(OpBuilder &b, Location loc, Value shared, Value offset,
                  unsigned i) const {
    return getMemory(b, loc, shared, offset, i, b.getI8Type());
  }
  /// The same as elements of `type`, which has one byte or more.
  Value getMemory(OpBuilder &b, Location loc, Value shared, Value offset,
                  unsigned i, Type type) const;

  /// The stage after the one at byte `offset`, in a circle.
  Value advance(OpBuilder &b, Location loc, Value offset) const;

private:
  SmallVector<SharedTile, kNumOperands> tiles;
  /// The first byte of each tile in its stage.
  SmallVector<int64_t, kNumOperands> offsets;
  int64_t stageBytes = 0, numStages;
};

/// Shared memory of `bytes` for `kernel`, which has `others` besides: its own
/// or, where that is more than every chip has, what the launch gives.
Value makeSharedMemory(OpBuilder &b, gpu::GPUFuncOp kernel, int64_t bytes,
                       int64_t others = 0);

/// The bytes that a launch must give for `bytes`; 0 if they are the kernel's
/// own.
int64_t getDynamicBytes(int64_t bytes, int64_t others = 0);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGES_H
