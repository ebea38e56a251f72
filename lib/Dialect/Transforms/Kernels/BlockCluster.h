//===- BlockCluster.h - The cluster of a block ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks of a cluster compute neighbouring tiles at the same time: those in a
// row of them share rows of A, those in a column share rows of B.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_BLOCKCLUSTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_BLOCKCLUSTER_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// Where a block is in its cluster. Ranks count along M first. Values are made
/// once, in front of all roles; there are none for a cluster of one block.
class BlockCluster {
public:
  BlockCluster() = default;
  BlockCluster(OpBuilder &b, Location loc, ClusterSize size);

  ClusterSize getSize() const { return size; }
  bool hasOthers() const { return size.getBlocks() != 1; }

  /// The row and the column of the block, in tiles from the first one.
  Value getRow() const { return row; }
  Value getColumn() const { return column; }

  /// How many blocks share a tile of A, or of B, and which part of it this
  /// block loads; null where there is one.
  int64_t getParts(bool isA) const { return isA ? size.n : size.m; }
  Value getPart(bool isA) const { return isA ? column : row; }
  /// The ranks of those blocks, as bits of an i16; null where there is one.
  Value getSharers(bool isA) const { return isA ? rowRanks : columnRanks; }
  /// The ranks (i32) of the blocks that share A or B with this one, which is
  /// one of them: those that load to its stages, and those that it loads to.
  ArrayRef<Value> getNeighbors() const { return neighbors; }

private:
  ClusterSize size;
  Value row, column, rowRanks, columnRanks;
  SmallVector<Value, 4> neighbors;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_BLOCKCLUSTER_H
