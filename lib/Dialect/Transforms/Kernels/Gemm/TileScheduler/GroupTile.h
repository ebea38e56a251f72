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
  /// Those of a group from `getFirstPaddedTile` on; nobody has those in between.
  Padded,
};

/// Tile `number` of rows (an index), of tiles of `tileRows` rows. `offsets` is
/// an i32 memref of inclusive ends; one that is less than an end before it, or
/// more than the `m` rows of the result, counts as that. Whole warps run this
/// together.
GroupTile emitGroupTile(OpBuilder &b, Location loc, Value offsets, Value number,
                        int64_t tileRows, Value m,
                        GroupNumbering numbering = GroupNumbering::Dense);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_GROUPTILE_H
