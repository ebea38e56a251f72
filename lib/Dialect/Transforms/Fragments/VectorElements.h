//===- VectorElements.h - Elements of a vector operand ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTORELEMENTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTORELEMENTS_H

#include "Utils/KnownAlignment.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::blockscale {

/// Where the elements of a vector operand come from.
struct ElementSource {
  /// Operand index -> index of the source vector, in elements of `bits` bits.
  AffineMap map;
  unsigned bits;
  /// The bits of a byte that belong to the code: fewer than 8 after a
  /// truncation.
  unsigned codeMask;
  /// The size of the source vector along its last dimension.
  int64_t rowBytes;
  /// A read of memory, or a splat constant.
  vector::TransferReadOp read;
  std::optional<uint64_t> splat;
};

/// Follows `operand`, a vector of quantized elements or scales, to its source.
/// Emits an error at an op that it cannot follow.
FailureOr<ElementSource> findElementSource(Value operand);

/// Reads elements of a vector operand, at (row, k), from its source: one by
/// one, or several that are contiguous in memory at once.
class ElementReader {
public:
  /// `isTransposed`: the operand's index is (k, row).
  ElementReader(Location loc, const ElementSource &source, bool isTransposed)
      : loc(loc), source(source), isTransposed(isTransposed) {}

  Location getLoc() const { return loc; }
  const ElementSource &getSource() const { return source; }

  /// The code of the element at (row, k), as i8.
  Value loadElement(OpBuilder &b, Value row, Value k) const;

  /// Whether one load can read any run of `count` elements along K that starts
  /// at a multiple of `count`: they are contiguous in memory, all or none of
  /// them are in bounds, and a run has a power of two of bytes and is aligned
  /// to it.
  bool hasRuns(unsigned count, IsMultipleFn isMultiple) const;

  /// Run `run` along K of `count` elements, as an i32 whose lowest bits are the
  /// first element. A run has two bytes or four.
  Value loadRun(OpBuilder &b, Value row, Value run, unsigned count) const;

  /// The number of elements in a row of ldmatrix, and whether ldmatrix can read
  /// runs of as many elements.
  unsigned getMatrixColumns() const;
  bool hasMatrixRows(IsMultipleFn isMultiple) const;

  /// Emits ldmatrix; the lane passes run `run` of row `row`.
  Value loadMatrix(OpBuilder &b, VectorType type, Value row, Value run) const;

private:
  SmallVector<Value> getIndex(OpBuilder &b, Value row, Value k) const;
  SmallVector<Value> getRunIndex(OpBuilder &b, Value row, Value run,
                                 unsigned count) const;
  Value loadByte(OpBuilder &b, ArrayRef<Value> index) const;
  VectorTransferOpInterface getTransfer() const;

  Location loc;
  ElementSource source;
  bool isTransposed;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTORELEMENTS_H
