//===- TileScheduler.h - Which tile a block computes next -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tile scheduler. A block of a kernel asks it for one tile after the other
// and does not know how they are given out: one tile for each block of a
// three-dimensional grid, a list of tiles for each block of a linear grid, a
// persistent grid of at most one block for each SM, the tiles of a cluster
// (2-CTA included), or split-K ranges. A new order of tiles goes in here.
// Mainloops and epilogues take a WorkTile: they change only for work whose
// bounds or operands differ from tile to tile.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_TILESCHEDULER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_TILESCHEDULER_H

#include "Kernels/Gemm/TileScheduler/BlockCluster.h"
#include "Kernels/Gemm/TileScheduler/GroupTile.h"
#include "Kernels/Gemm/TileScheduler/WorkTile.h"

namespace mlir::blockscale {

/// The order that `schedule` asks for. A number of split-K ranges that only the
/// launch knows would cost divisions in each block.
inline BlockOrder getBlockOrder(WarpSpecializedScheduleAttr schedule,
                                const KernelProblem &problem) {
  if (schedule.getPersistent())
    return BlockOrder::Persistent;
  return ShapedType::isDynamic(problem.splitK) ? BlockOrder::PerMatrix
                                               : BlockOrder::Linear;
}

/// How tiles are given out.
struct TileSchedule {
  BlockOrder order = BlockOrder::Grid;
  /// Tiles along M of a rasterization group.
  int64_t rasterGroup = kTileGroup;
  /// Blocks of a cluster take neighbouring tiles at the same time. Some of
  /// these may be outside of the result.
  BlockCluster cluster = {};
};

class TileScheduler {
public:
  TileScheduler(gpu::GPUFuncOp kernel, const KernelProblem &problem,
                const ProblemSizes &sizes, const TileShape &shape,
                const TileSchedule &schedule)
      : loc(kernel.getLoc()), kernel(kernel), problem(problem), sizes(sizes),
        shape(shape), schedule(schedule) {}

  /// Whether a block may get a second tile, before which the memory of the
  /// first one has to be free again.
  bool hasNextTile() const { return schedule.order == BlockOrder::Persistent; }

  /// Next tile: calls `body` for each tile of this block. `values` are carried
  /// from one tile to the next; returns the last ones. All roles of a block see
  /// the same tiles in the same order. Tiles are guarded; a caller that knows
  /// that a tile is inside clears `isGuarded`.
  using EmitTile = function_ref<SmallVector<Value>(OpBuilder &, WorkTile,
                                                   ValueRange values)>;
  SmallVector<Value> forEachTile(OpBuilder &b, ValueRange values,
                                 EmitTile body) const;

private:
  /// The tile of a block in a three-dimensional grid.
  WorkTile emitTileOfGrid(OpBuilder &b) const;
  /// From the tile of a cluster to that of this block.
  void moveInCluster(OpBuilder &b, WorkTile &tile) const;
  /// The tile with this number.
  struct LinearTiles;
  LinearTiles emitLinearTiles(OpBuilder &b) const;
  TileCount emitTileCount(OpBuilder &b, const TileShape &of) const;
  WorkTile emitNumberedTile(OpBuilder &b, Value number,
                            const LinearTiles &tiles) const;
  /// The tile of a group of rows with this number, if there is one, found in
  /// `state`, which is updated; and a bound of how many there are.
  GroupSearch makeSearch(const LinearTiles &tiles) const;
  SmallVector<Value> emitGroupedTile(OpBuilder &b, Value number,
                                     const LinearTiles &tiles,
                                     SmallVector<Value> &state,
                                     ValueRange values, EmitTile body) const;
  Value emitMostGroupedTiles(OpBuilder &b, const LinearTiles &tiles) const;

  Location loc;
  gpu::GPUFuncOp kernel;
  const KernelProblem &problem;
  const ProblemSizes &sizes;
  TileShape shape;
  TileSchedule schedule;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_TILESCHEDULER_H
