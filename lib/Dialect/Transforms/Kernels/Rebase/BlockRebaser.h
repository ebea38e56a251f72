//===- BlockRebaser.h - Elements of a block as fp8 --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_REBASE_BLOCKREBASER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_REBASE_BLOCKREBASER_H

#include "Fragments/Dequantize/WordEmitter.h"

namespace mlir::blockscale {

/// Emits what makes fp8 of the elements of one block, for chips with
/// conversions of fp8.
class BlockRebaser {
public:
  BlockRebaser(OpBuilder &b, Location loc, Format format);

  /// Words as `rebase` takes them, of `words` with elements of `bits` each that
  /// follow each other: four elements in bytes, or eight of 4 bits as they are.
  SmallVector<Value> unpack(ArrayRef<Value> words, unsigned bits);

  /// The rebased elements, four in a word, of a block whose scale has a code
  /// that is `difference` (an i32, at most 0) more than that of the row.
  SmallVector<Value> rebase(ArrayRef<Value> words, bool arePacked,
                            Value difference);

private:
  /// Powers of two as pairs of f16 that multiply elements one after the other.
  SmallVector<Value> makePowers(Value difference);
  /// Four elements of the rebased format, times powers.
  Value multiply(Value word, ArrayRef<Value> powers);
  /// `word`, but codes of `original` where that is NaN or infinity.
  Value keepSpecials(Value original, Value word);

  OpBuilder &b;
  Location loc;
  WordEmitter emit;
  Format format, rebasedFormat;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_REBASE_BLOCKREBASER_H
