//===- QuantizedStores.h - Codes and scales to memory -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How kernels store what they have quantised, by whichever lanes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_QUANTIZEDSTORES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_QUANTIZEDSTORES_H

#include "Quantize/BlockArithmetic.h"
#include "Utils/LaneOps.h"

namespace mlir::blockscale {

/// A place in a matrix, or in a batch of them: `batch` is null in a matrix.
struct MatrixPlace {
  Value batch, row, column;
};

class QuantizedStores {
public:
  /// `codes` and `scales` are memrefs of bytes, of `rows` by `columns` numbers.
  /// The memory of scales in the 32x4x4 layout has two dimensions more.
  QuantizedStores(OpBuilder &b, Location loc, Value codes, Value scales,
                  unsigned codeBits, int64_t blockSize, Value rows,
                  Value columns);

  bool hasAtoms() const;
  /// Stores the codes of so many neighbours in a row, all bits of an integer or
  /// of a vector of i32.
  void storeCodes(const MatrixPlace &place, Value words, int64_t numbers);
  /// Stores the code, in an i32, of the scale of the block at `place`.
  /// Unless it is known that rows, or columns, fit, only where there is memory
  /// for it: the scale of padding is that of a block of zeros, which is 0.
  void storeScale(const MatrixPlace &place, Value code, bool fitsRows,
                  bool fitsColumns);

private:
  SmallVector<Value> getPosition(const MatrixPlace &place, Value column);

  OpBuilder &b;
  Location loc;
  Value codes, scales;
  unsigned codeBits;
  int64_t blockSize;
  Value rows, columns;
};

/// Joins the magnitudes of all lanes of a warp to the one in `memory`, an f32.
void emitJoinLargest(OpBuilder &b, Location loc, Value largest, Value memory);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_QUANTIZE_QUANTIZEDSTORES_H
