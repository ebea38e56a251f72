//===- GroupTile.h - The tile of a group of rows ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of rows of a grouped product: those of the first group, then those of
// the second one, and so on, and at last those of rows of nobody. Each starts
// at the first row of its group, or a multiple of its rows behind it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_GROUPTILE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_GROUPTILE_H

#include "Kernels/Gemm/TileScheduler/WorkTile.h"

namespace mlir::blockscale {

struct GroupTile {
  /// Whether there is such a tile; else the others have any value.
  Value isTile;
  Value row;
  RowGroup group;
};

/// How tiles of groups are numbered.
enum class GroupNumbering {
  /// One after the other, those of nobody behind all others.
  Dense,
  /// Those of a group from `getFirstPaddedTile` on; nobody has those in
  /// between.
  Padded,
};

/// Searches groups for tiles of `tileRows` rows, whose numbers ascend. Lanes of
/// a warp have 32 neighboring groups at a time, and keep them from one tile to
/// the next: the warp reads `offsets`, an i32 memref of inclusive ends, once.
/// One that is less than an end before it, or more than the `m` rows of the
/// result, counts as that. Whole warps run this together.
class GroupSearch {
public:
  GroupSearch(Location loc, Value offsets, int64_t tileRows, Value m,
              GroupNumbering numbering = GroupNumbering::Dense)
      : loc(loc), offsets(offsets), tileRows(tileRows), m(m),
        numbering(numbering) {}

  /// The state in front of the first tile.
  SmallVector<Value> emitFirst(OpBuilder &b) const;
  /// Tile `number` (an index); `state` is updated.
  GroupTile emitTile(OpBuilder &b, Value number,
                     SmallVector<Value> &state) const;

private:
  /// The groups of lanes from `base` on, behind groups that end at row `end`
  /// and have `tiles` tiles.
  SmallVector<Value> emitGroups(OpBuilder &b, Value base, Value end,
                                Value tiles) const;
  Value emitCount(OpBuilder &b) const;

  Location loc;
  Value offsets;
  int64_t tileRows;
  Value m;
  GroupNumbering numbering;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_GROUPTILE_H
