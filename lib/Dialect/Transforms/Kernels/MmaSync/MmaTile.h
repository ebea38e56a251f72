//===- MmaTile.h - The tile of a block --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_MMASYNC_MMATILE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_MMASYNC_MMATILE_H

#include "Kernels/KernelProblem.h"

namespace mlir::blockscale {

/// The tile of the result that a block of warps computes.
struct MmaTile {
  /// Shared memory, as bytes.
  Value shared;
  Value thread;
  /// The number of the matrix, and the first row and column of the tile.
  Value batch, row, column;
};

/// What `tile` takes to be computed, at `builder`. With `isGuarded`, it may
/// reach beyond the operands.
void buildMmaTile(OpBuilder &builder, gpu::GPUFuncOp kernel,
                  const KernelProblem &problem, const ProblemSizes &sizes,
                  const MmaTile &tile, bool isGuarded);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_MMASYNC_MMATILE_H
