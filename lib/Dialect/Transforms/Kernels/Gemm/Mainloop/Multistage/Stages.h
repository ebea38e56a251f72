//===- Stages.h - Shared memory of multistage kernels -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shared-memory plan of the multistage pipeline: one stage after the other,
// each with the tiles of all operands.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGES_H

#include "Kernels/Gemm/Mainloop/Multistage/SharedTile.h"
#include "Kernels/Gemm/Problem/GemmOperand.h"

namespace mlir::blockscale {

class Stages {
public:
  Stages(const PerOperand<SharedTile> &tiles, int64_t numStages);

  const SharedTile &getTile(GemmOperand operand) const {
    return tiles[operand];
  }
  int64_t getNumStages() const { return numStages; }
  int64_t getStageBytes() const { return stageBytes; }
  int64_t getNumBytes() const { return numStages * stageBytes; }

  /// The tile of an operand in the stage at byte `offset` of `shared`, as
  /// bytes.
  Value getMemory(OpBuilder &b, Location loc, Value shared, Value offset,
                  GemmOperand operand) const {
    return getMemory(b, loc, shared, offset, operand, b.getI8Type());
  }
  /// The same as elements of `type`, which has one byte or more.
  Value getMemory(OpBuilder &b, Location loc, Value shared, Value offset,
                  GemmOperand operand, Type type) const;

  /// The stage after the one at byte `offset`, with wrap-around.
  Value advance(OpBuilder &b, Location loc, Value offset) const;

private:
  PerOperand<SharedTile> tiles;
  /// The first byte of each tile in its stage.
  PerOperand<int64_t> offsets;
  int64_t stageBytes = 0, numStages;
};

/// Shared memory of `bytes` for `kernel`, which has `others` bytes besides:
/// static or, if that is more than every chip allows, dynamic.
Value makeSharedMemory(OpBuilder &b, gpu::GPUFuncOp kernel, int64_t bytes,
                       int64_t others = 0);

/// The dynamic shared memory of a launch for `bytes`; 0 if they are static.
int64_t getDynamicBytes(int64_t bytes, int64_t others = 0);

/// Adds a workgroup array of `count` elements.
Value addSharedArray(gpu::GPUFuncOp kernel, Type element, int64_t count);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGES_H
