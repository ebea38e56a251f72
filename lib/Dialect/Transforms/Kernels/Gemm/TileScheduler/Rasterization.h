//===- Rasterization.h - The order of tiles ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rasterization: which tile has which number. Tiles with neighbouring numbers
// form groups of a few tiles along M by as many along N as fit, not long rows,
// so that blocks that run at the same time share operands in the L2 cache.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_RASTERIZATION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_RASTERIZATION_H

#include "Kernels/Gemm/Problem/Alignment.h"

namespace mlir::blockscale {

/// The number of tiles along M, along N, and of one matrix of the batch.
struct TileCount {
  Value m, n, perMatrix;
};
TileCount emitTileCount(OpBuilder &b, Location loc, const ProblemSizes &sizes,
                        const TileShape &shape);

/// The position of the tile `number` of a matrix, along M and N, in tiles.
/// Rasterization groups have `groupSize` tiles along M.
std::pair<Value, Value> emitTilePosition(OpBuilder &b, Location loc,
                                         Value number, const TileCount &count,
                                         int64_t groupSize);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_RASTERIZATION_H
