//===- BlockShuffle.h - Whole blocks of codes to lanes ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four lanes that have pairs of each of four blocks in turn, as those of a row
// of sums of mma.sync do, become lanes with a block each, which they store at
// once.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_BLOCKSHUFFLE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_BLOCKSHUFFLE_H

#include "Utils/ArithEmitter.h"

namespace mlir::blockscale {

class BlockShuffle : ArithEmitter {
public:
  static constexpr size_t kLanes = 4;

  BlockShuffle(OpBuilder &b, Location loc, Value lane);

  /// `words` holds what this lane has of each block: in i32s, all with as many
  /// `pairs` of codes of `codeBits`, from the low bits on. Pair j of lane l (of
  /// the four) is number 4 j + l of the block. Gives the block with the number
  /// of this lane, in order.
  SmallVector<Value> emit(ArrayRef<SmallVector<Value>> words, int64_t pairs,
                          unsigned codeBits);

private:
  Value permute(Value low, Value high, uint32_t selector);
  /// What lanes 0 to 3 have of this lane's block, of that in each.
  SmallVector<Value> transpose(ArrayRef<Value> words);

  /// The bits of this lane's number among the four.
  Value isOdd, isUpper;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_BLOCKSHUFFLE_H
