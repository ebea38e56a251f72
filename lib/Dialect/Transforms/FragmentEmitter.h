//===- FragmentEmitter.h - One lane's registers --------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Emits what one lane of a warp holds of an operand, and the instructions that
// multiply such fragments. Where an element is comes from FragmentLayout.h.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTEMITTER_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// Position in one tile of an operand, (row, column), of the lane's element in
/// slot `slot` of register `reg`.
std::pair<Value, Value> emitElementPosition(OpBuilder &builder, Location loc,
                                            const FragmentLayout &layout,
                                            Value lane, unsigned reg,
                                            unsigned slot);

/// The same where `laneMap` gives (lane, register, slot) for each lane.
std::pair<Value, Value> emitElementPosition(OpBuilder &builder, Location loc,
                                            const FragmentLayout &layout,
                                            Value lane, AffineMap laneMap);

/// The row of scales of which the lane holds words, in a group of tiles.
Value emitScaleRow(OpBuilder &builder, Location loc, Operand operand,
                   Value lane);

/// What the lane holds of A or B, of a warp's share of a tile.
struct OperandFragments {
  /// [tile along M or N][step along K]: vector<4xi32> or vector<2xi32>.
  SmallVector<SmallVector<Value>> registers;
  /// [group of tiles][word along K]: i32.
  SmallVector<SmallVector<Value>> scaleWords;
};

/// The numbers of tiles, steps, groups and words for `rows` x `k` elements.
struct FragmentCounts {
  FragmentCounts(const OpRow &row, Operand operand, int64_t rows, int64_t k);
  int64_t tiles, steps, groups, words;
};

/// Elements of an accumulator fragment that one lane holds of `m` x `n`, and
/// their order: tiles row-major, then registers.
int64_t getAccFragmentSize(int64_t m, int64_t n);

/// Emits the instructions that add a x b to `acc`, a vector with the elements
/// of getAccFragmentSize. Gives the new vector.
Value emitMmas(OpBuilder &builder, Location loc, const OpRow &row, Value lane,
               const OperandFragments &a, const OperandFragments &b, Value acc);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTEMITTER_H
