//===- WorkTile.h - The unit of work of a block -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tile scheduler hands out: a tile of the result, and the steps along
// K that are to be added up for it.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_WORKTILE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_WORKTILE_H

#include "Kernels/Gemm/TileScheduler/Rasterization.h"

namespace mlir::blockscale {

/// The group of rows of a tile, of a grouped product.
struct RowGroup {
  /// Its number, or that of the last group for rows of nobody; and whether the
  /// rows are nobody's.
  Value number, isNobody;
  /// Its first row, and the first one behind it.
  Value first, end;
};

/// A tile of the result.
struct BlockTile {
  Value thread;
  /// The number of the matrix of the result, and the first row and column.
  Value batch, row, column;
  /// Whether it may reach beyond the operands.
  bool isGuarded = true;
  /// Whether rows of the result are known to be multiples of the runs that are
  /// stored, of 8 elements or 2.
  bool hasAlignedRows = false;
  std::optional<RowGroup> group = {};

  /// The first row behind those that are stored, of a result of `m` rows.
  Value getEndRow(Value m) const { return group ? group->end : m; }
};

/// The steps along K of a tile: all of them, or a split-K range.
struct KRange {
  /// The matrix of the operands.
  Value matrix;
  /// The first step, null for 0, and how many there are.
  Value firstStep, steps;
};

struct WorkTile : BlockTile, KRange {};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_WORKTILE_H
