//===- AccLowering.h - Accumulators in lanes --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How accumulators of one layout are lowered. Ops on accumulators ask the row
// of the layout; a layout more is a row more.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_ACCLOWERING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_ACCLOWERING_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// How lanes hold blocks of neighbours in a row.
struct AccBlocks {
  /// What a lane has of each block: the numbers of the first elements of its
  /// runs, along the row.
  SmallVector<SmallVector<int64_t>> parts;
  /// Lanes whose numbers differ in these bits have a block together.
  SmallVector<int64_t> sharers;
  /// Not 0 where runs are single elements, those of two rows in turn: the lanes
  /// that differ in this bit have their neighbours, and what is above holds
  /// once the two have exchanged elements so that each has pairs of one row.
  int64_t pairLane = 0;
};

class AccLowering {
public:
  virtual ~AccLowering() = default;

  /// The sums that one lane has a hand on.
  virtual int64_t getNumElements(AccType type) const = 0;

  /// How many neighbours in a row come together, and start at a multiple of
  /// their number.
  virtual int64_t getRunLength(AccType type) const = 0;

  /// Calls `body` for each run of `lane`: with the number of its first element,
  /// and its position in the tile.
  virtual void
  forEachRun(OpBuilder &b, Location loc, AccType type, Value lane,
             function_ref<void(int64_t index, Value row, Value column)> body)
      const = 0;

  /// How lanes hold the blocks of `size` columns of a tile that starts at a
  /// multiple of that; nullopt if no warp has such by itself.
  virtual std::optional<AccBlocks> getBlocks(AccType type,
                                             int64_t size) const = 0;

  /// The elements `acc` with the product of `op` added.
  virtual SmallVector<Value> emitTileMma(OpBuilder &b, TileMmaOp op,
                                         ValueRange acc, Value lane) const = 0;

  /// The elements that `op` loads; the wait for them comes behind.
  virtual SmallVector<Value> emitRead(OpBuilder &b, AccReadOp op) const = 0;
};

/// How many of `left` columns of tensor memory one load takes.
int64_t getTmemLoadColumns(int64_t left);

/// The row of the type's layout; null if there is none.
const AccLowering *lookupAccLowering(AccType type);

/// The same; there is one.
const AccLowering &getAccLowering(Type type);

/// In the registers of warps, in columns, one for each thread, and transposed
/// in the registers of warps.
const AccLowering &getWarpsLowering();
const AccLowering &getLaneColumnsLowering();
const AccLowering &getWarpColumnsLowering();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_ACCLOWERING_H
