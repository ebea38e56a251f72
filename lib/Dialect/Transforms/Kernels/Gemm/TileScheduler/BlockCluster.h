//===- BlockCluster.h - The position of a block in its cluster --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Thread block clusters with TMA multicast. Blocks of a cluster compute
// neighbouring tiles at the same time: those in one row share rows of A, those
// in one column share rows of B, and each loads a part of what they share.
//
// With 2-CTA (cta_group::2), two blocks of a column, the ranks 2 i and 2 i + 1,
// multiply together. Each of them has half of the rows of B, which the blocks
// of other pairs share, and all scales of B. The block with the even rank
// leads: it alone starts MMAs, and it holds the mbarriers of what both do
// together.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_BLOCKCLUSTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_BLOCKCLUSTER_H

#include "Kernels/Gemm/Problem/GemmOperand.h"
#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// An operand that several blocks share by multicast: how many of them load a
/// part of it, which part this block loads, and the ranks of all receivers, as
/// an i16 mask. The values are null for a single block.
struct OperandSharing {
  int64_t parts = 1;
  Value part, ranks;
};

/// The position of a block in its cluster. Ranks count along M first. Values
/// are emitted once, in front of all roles; a cluster of one block has none.
class BlockCluster {
public:
  BlockCluster() = default;
  BlockCluster(OpBuilder &b, Location loc, ClusterSize size, bool hasPairs);

  ClusterSize getSize() const { return size; }
  bool hasOthers() const { return size.getBlocks() != 1; }
  bool hasPairs() const { return pairs; }

  /// The row and the column of the block, in tiles from the first one.
  Value getRow() const { return row; }
  Value getColumn() const { return column; }

  const OperandSharing &getSharing(GemmOperand operand) const {
    return sharing[operand];
  }
  /// How many blocks share an operand by multicast.
  static int64_t getParts(ClusterSize size, bool hasPairs, GemmOperand operand);

  /// The ranks (i32) of the blocks that share A or B with this one, itself
  /// included: they load to its stages, and it loads to theirs.
  ArrayRef<Value> getNeighbors() const { return neighbors; }
  /// The same ranks, and with 2-CTA those of the peer block, as an i16 mask;
  /// null for a single block.
  Value getNeighborRanks() const { return neighborRanks; }
  /// How many blocks (or 2-CTA pairs) read what this block loads: so many
  /// arrivals empty a stage.
  int64_t getNumReaders() const;

  /// With 2-CTA: the index of this block in its pair, the rank (i32) of the
  /// leader, whether this block leads, and the ranks of both as an i16 mask.
  Value getRankInPair() const { return rankInPair; }
  Value getLeader() const { return leader; }
  Value isLeader() const { return leads; }
  Value getPairRanks() const { return pairRanks; }

private:
  ClusterSize size;
  bool pairs = false;
  Value row, column, neighborRanks, rankInPair, leader, leads, pairRanks;
  PerOperand<OperandSharing> sharing;
  SmallVector<Value, 4> neighbors;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_TILESCHEDULER_BLOCKCLUSTER_H
