//===- QuantizedStores.h - Stores of a quantizer ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_QUANTIZEDSTORES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_QUANTIZEDSTORES_H

#include "Quantize/BlockArithmetic.h"
#include "Utils/LaneOps.h"

namespace mlir::blockscale {

/// A position in a matrix, or in a batch of matrices (`batch` is null for a
/// matrix).
struct MatrixPosition {
  Value batch, row, column;
};

class QuantizedStores {
public:
  /// `elements` and `scales` are memrefs of bytes, for `rows` by `columns`
  /// elements. The memory of scales in the 32x4x4 layout has two dimensions
  /// more.
  QuantizedStores(OpBuilder &b, Location loc, Value elements, Value scales,
                  unsigned codeBits, int64_t blockSize, Value rows,
                  Value columns);

  bool hasAtoms() const;
  /// Stores `count` consecutive elements of a row: all bits of an integer or
  /// of a vector of i32.
  void storeElements(const MatrixPosition &position, Value words,
                     int64_t count);
  /// Stores the scale of the block at `position`: a code in an i32, or an f32.
  /// Checks that the block is in memory, unless rows, or columns, are known to
  /// fit. Padding gets the scale of a block of zeros, which is 0.
  void storeScale(const MatrixPosition &position, Value scale, bool fitsRows,
                  bool fitsColumns);

private:
  SmallVector<Value> getPosition(const MatrixPosition &position, Value column);

  OpBuilder &b;
  Location loc;
  Value elements, scales;
  unsigned codeBits;
  int64_t blockSize;
  Value rows, columns;
};

/// Updates the f32 at `indices` of `memory` to its maximum with the magnitudes
/// of all lanes of a warp.
void emitJoinLargest(OpBuilder &b, Location loc, Value largest, Value memory,
                     ValueRange indices = {});

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_QUANTIZEDSTORES_H
