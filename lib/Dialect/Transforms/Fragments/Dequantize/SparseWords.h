//===- SparseWords.h - Metadata of dequantized products ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPARSEWORDS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPARSEWORDS_H

#include "Fragments/Dequantize/ElementPairs.h"

namespace mlir::blockscale {

/// Loads a lane's metadata for mma.sp of bf16, from the rows of bytes of a tile
/// (T8). A step is 64 logical elements along K.
class SparseWords {
public:
  SparseWords(OpBuilder &b, TileMmaOp op, const WarpTile &tile, Value lane);

  /// The word of each 16 rows of the warp's share for `step`. Its chunks are in
  /// the order of PairLayout.h.
  SmallVector<Value> loadStep(const Step &step) const;

private:
  Value load(unsigned group, const Step &step) const;
  Value splitNibbles(Value word) const;

  WordEmitter emit;
  Value memory;
  bool isPairs;
  /// Groups of 8 rows, and how many of them are interleaved (WarpTile).
  int64_t groups, interleave;
  /// The lane's row of the first group, and its bytes in those of a step.
  Value row, byte;
  /// Selects the bytes of the two rows.
  Value selector;
};

using SparseWordsPtr = std::unique_ptr<SparseWords>;

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPARSEWORDS_H
