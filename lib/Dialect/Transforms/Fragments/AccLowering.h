//===- AccLowering.h - Accumulators in lanes --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How accumulators of one layout are lowered. Patterns of ops on accumulators
// only use this interface; a new layout is a new implementation and an entry in
// the table of AccLowering.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_ACCLOWERING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_ACCLOWERING_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// How lanes hold blocks of consecutive elements of a row.
struct AccBlocks {
  /// The part of each block that a lane holds: the indices of the first
  /// elements of its runs, along the row.
  SmallVector<SmallVector<int64_t>> parts;
  /// Lanes whose indices differ in these bits share a block.
  SmallVector<int64_t> sharers;
  /// Not 0 if runs are single elements, alternately of two rows. Then two lanes
  /// that differ in this bit hold neighbouring elements. The members above
  /// describe the state after these lanes have exchanged elements, so that each
  /// has pairs of one row.
  int64_t pairLane = 0;
};

/// How lanes hold pairs of a column and the one `kPairDistance` columns behind
/// it, in blocks of twice as many columns.
struct AccPairs {
  /// Indices of two elements of a lane.
  SmallVector<std::pair<int64_t, int64_t>> elements;
  /// So many of them are neighbors along the row: `run` columns from a multiple
  /// of that on.
  int64_t run = 1;
  /// 0 if they are a pair. Else two lanes that differ in this bit have the
  /// first and the second elements of two pairs. Once they have exchanged
  /// elements, the lane without the bit has the pair whose first element it had
  /// as its first one, and the other one the pair whose second element it had
  /// as its second one.
  int64_t pairLane = 0;
};
inline constexpr int64_t kPairDistance = 8;

class AccLowering {
public:
  virtual ~AccLowering() = default;

  /// The number of elements that one lane holds.
  virtual int64_t getNumElements(AccType type) const = 0;

  /// The length of a run: consecutive elements of a row that a lane holds. A
  /// run starts at a multiple of its length.
  virtual int64_t getRunLength(AccType type) const = 0;

  /// Calls `body` for each run of `lane`, with the index and the position in
  /// the tile of its first element.
  virtual void
  forEachRun(OpBuilder &b, Location loc, AccType type, Value lane,
             function_ref<void(int64_t index, Value row, Value column)> body)
      const = 0;

  /// How lanes hold the blocks of `size` columns of a tile that starts at a
  /// multiple of `size`; nullopt if a block is not within one warp.
  virtual std::optional<AccBlocks> getBlocks(AccType type,
                                             int64_t size) const = 0;

  /// How lanes hold pairs of columns of a tile that starts at a multiple of
  /// twice their distance; nullopt if they are in different warps.
  virtual std::optional<AccPairs> getPairs(AccType type) const {
    return std::nullopt;
  }

  /// How lanes hold the blocks of `size` values, one for each pair of columns,
  /// of a tile that starts at a multiple of twice `size`. Indices are those of
  /// the pairs, and runs have the length of `AccPairs`. nullopt if a block is
  /// not within one warp.
  virtual std::optional<AccBlocks> getPairBlocks(AccType type,
                                                 int64_t size) const {
    return std::nullopt;
  }

  /// Returns the elements `acc` plus the product of `op`.
  virtual SmallVector<Value> emitTileMma(OpBuilder &b, TileMmaOp op,
                                         ValueRange acc, Value lane) const = 0;

  /// Returns the elements that `op` loads. The caller emits the wait for them.
  virtual SmallVector<Value> emitRead(OpBuilder &b, AccReadOp op) const = 0;
};

/// How many of the remaining `left` columns of tensor memory one load reads.
int64_t getTmemLoadColumns(int64_t left);

/// The lowering of the type's layout; null if there is none.
const AccLowering *lookupAccLowering(AccType type);

/// The same, for a layout that has one.
const AccLowering &getAccLowering(Type type);

/// The lowerings of `#blockscale.warps`, `lane_columns` and `warp_columns`.
const AccLowering &getWarpsLowering();
const AccLowering &getLaneColumnsLowering();
const AccLowering &getWarpColumnsLowering();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_ACCLOWERING_H
