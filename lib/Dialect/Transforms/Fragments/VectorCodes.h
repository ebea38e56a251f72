//===- VectorCodes.h - Codes of a vector operand ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTORCODES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTORCODES_H

#include "Utils/KnownAlignment.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::blockscale {

/// Where the codes of a vector operand come from.
struct CodeSource {
  /// Operand index -> index of the source vector, in codes of `bits`.
  AffineMap map;
  unsigned bits;
  /// The bits of a byte that are the code: fewer than 8 where it was cut out.
  unsigned codeMask;
  /// The size of the source vector along its last dimension.
  int64_t rowBytes;
  /// A read of memory, or a splat constant.
  vector::TransferReadOp read;
  std::optional<uint64_t> splat;
};

/// Follows `operand`, a vector of codes, to its source. Fails after an error at
/// the op that cannot be followed.
FailureOr<CodeSource> findCodeSource(Value operand);

/// Reads codes of a vector operand, at (row, k), where its source is: one by
/// one, or as many at once as memory has side by side.
class CodeReader {
public:
  /// `isTransposed`: the operand's index is (k, row).
  CodeReader(Location loc, const CodeSource &source, bool isTransposed)
      : loc(loc), source(source), isTransposed(isTransposed) {}

  Location getLoc() const { return loc; }
  const CodeSource &getSource() const { return source; }

  /// The code at (row, k) as i8.
  Value loadCode(OpBuilder &b, Value row, Value k) const;

  /// Whether each `count` codes along K, from a multiple of `count` on, are one
  /// load: side by side in memory, none of them beyond it unless all are, a
  /// power of two of bytes that is aligned to itself.
  bool hasRuns(unsigned count, IsMultipleFn isMultiple) const;

  /// Run number `run` along K of such codes, as an i32 whose lowest bits are
  /// the first one. It has two bytes or four.
  Value loadRun(OpBuilder &b, Value row, Value run, unsigned count) const;

  /// Codes in a row of ldmatrix, and whether runs of so many can be one.
  unsigned getMatrixColumns() const;
  bool hasMatrixRows(IsMultipleFn isMultiple) const;

  /// ldmatrix, to which the lane passes such a run as the row.
  Value loadMatrix(OpBuilder &b, VectorType type, Value row, Value run) const;

private:
  SmallVector<Value> getIndex(OpBuilder &b, Value row, Value k) const;
  SmallVector<Value> getRunIndex(OpBuilder &b, Value row, Value run,
                                 unsigned count) const;
  Value loadByte(OpBuilder &b, ArrayRef<Value> index) const;
  VectorTransferOpInterface getTransfer() const;

  Location loc;
  CodeSource source;
  bool isTransposed;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_VECTORCODES_H
