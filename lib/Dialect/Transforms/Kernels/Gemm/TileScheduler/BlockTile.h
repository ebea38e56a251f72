//===- BlockTile.h - The tile of a block ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which part of the result a block computes, and whether it may reach beyond
// it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_BLOCKTILE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_BLOCKTILE_H

#include "Kernels/Gemm/Problem/KernelProblem.h"
#include "Kernels/Gemm/TileScheduler/BlockCluster.h"

namespace mlir::blockscale {

/// The tile of the result that a block computes.
struct BlockTile {
  Value thread;
  /// The number of the matrix, and the first row and column of the tile.
  Value batch, row, column;
  /// Whether it may reach beyond the operands.
  bool isGuarded;
};

/// The extents of a tile of the result, and along K.
struct TileShape {
  int64_t m, n, k;
};

/// How many tiles there are along M, and for one matrix of the batch.
struct TileCount {
  Value m, n, perMatrix;
};
TileCount emitTileCount(OpBuilder &b, Location loc, const ProblemSizes &sizes,
                        const TileShape &shape);

/// The tile number `number` of a matrix, along M and N, as numbers of tiles.
/// Neighboring numbers take `groupSize` tiles along M by as many along N as it
/// takes, not a long row of tiles, so that blocks that run at the same time
/// share operands in the L2 cache.
std::pair<Value, Value> emitTilePosition(OpBuilder &b, Location loc,
                                         Value number, const TileCount &count,
                                         int64_t groupSize);

/// The tile of this block, by its number, so, in groups of kTileGroup.
std::pair<Value, Value> emitRasterization(OpBuilder &b, Location loc,
                                          const ProblemSizes &sizes,
                                          const TileShape &shape);

/// Tiles of blocks that take one after the other, all blocks along x, in groups
/// of `groupSize`; blocks of a cluster take neighbouring ones in the same
/// round, of which some may be outside of the result. Calls `body` for each
/// tile of the block, of which `isGuarded` and `thread` are the caller's to
/// know; `matrices` is how many the result has, null for one. `values` go from
/// tile to tile.
void forEachTileOfBlock(
    OpBuilder &b, gpu::GPUFuncOp kernel, const KernelProblem &problem,
    const ProblemSizes &sizes, const TileShape &shape, int64_t groupSize,
    const BlockCluster &cluster, ValueRange values,
    function_ref<SmallVector<Value>(OpBuilder &, const BlockTile &,
                                    Value matrices, ValueRange values)>
        body);

/// What is known of a problem on one of the paths that its blocks may take.
struct KnownProblem {
  KernelProblem problem;
  /// Whether tiles may reach beyond the operands.
  bool isGuarded;
};

/// The paths of a kernel, the best first: for blocks that do not reach beyond
/// the operands, where dynamic sizes are multiples of those of the tile; of few
/// rows, for such N and K; and for all sizes.
SmallVector<KnownProblem, 3> getKnownProblems(const KernelProblem &problem,
                                              const TileShape &shape);

/// Emits `build` for each path, behind branches that all blocks take together
/// where only the launch knows.
void forEachAlignment(
    OpBuilder &b, Location loc, const KernelProblem &problem,
    const ProblemSizes &sizes, const TileShape &shape,
    function_ref<void(OpBuilder &, const KernelProblem &, bool isGuarded)>
        build);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_BLOCKTILE_H
