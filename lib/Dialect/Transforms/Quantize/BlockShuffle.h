//===- BlockShuffle.h - Blocks to lanes -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transposes blocks within four lanes. Before, each lane has pairs of elements
// of four blocks, as in an accumulator row of mma.sync. After, each lane has
// one whole block, which it stores at once.
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

  /// `words` has this lane's part of each block: i32s with `pairs` pairs of
  /// elements of `codeBits` bits, from the low bits on. Pair j of lane l (of
  /// the four) is pair 4 j + l of the block. Returns the block with the index
  /// of this lane, in order.
  SmallVector<Value> emit(ArrayRef<SmallVector<Value>> words, int64_t pairs,
                          unsigned codeBits);

private:
  Value permute(Value low, Value high, uint32_t selector);
  /// Returns the parts of this lane's block from lanes 0 to 3.
  SmallVector<Value> transpose(ArrayRef<Value> words);

  /// The bits of this lane's index among the four.
  Value isOdd, isUpper;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_BLOCKSHUFFLE_H
