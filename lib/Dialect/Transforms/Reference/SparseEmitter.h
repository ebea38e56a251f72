//===- SparseEmitter.h - Arithmetic on metadata -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code for what blockscale/Support/SparseMetadata.h defines: fields, positions
// and indices, of values that are known at run time only.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_SPARSEEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_SPARSEEMITTER_H

#include "Utils/ArithEmitter.h"
#include "blockscale/Support/SparseMetadata.h"

namespace mlir::blockscale {

/// Integers are i32, indices are of type index.
class SparseEmitter : public ArithEmitter {
public:
  SparseEmitter(OpBuilder &b, Location loc, const GranularityInfo &units)
      : ArithEmitter(b, loc), units(units) {}

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  /// The code, an i32, of an element that is a narrow float, and the reverse.
  Value toCode(Value element);
  Value toElement(Value code, Type type);
  /// Whether a code of `format` is +0 or -0.
  Value isZero(Value code, Format format);

  //===--------------------------------------------------------------------===//
  // Indices along K
  //===--------------------------------------------------------------------===//

  /// `expr` of the index `k`.
  Value apply(AffineExpr expr, ValueRange indices);
  /// The chunk of the logical index `k`, its unit in the chunk, and its element
  /// in the unit.
  Value getChunk(Value k);
  Value getUnit(Value k);
  Value getInUnit(Value k);
  /// The same for an index of a kept element; the unit is 0 or 1.
  Value getKeptChunk(Value index);
  Value getKeptUnit(Value index);
  /// An index from its parts: `chunk`, `unit` and `inUnit` in chunks of
  /// `unitsOfChunk` units.
  Value join(Value chunk, Value unit, Value inUnit, int64_t unitsOfChunk);

  //===--------------------------------------------------------------------===//
  // Fields
  //===--------------------------------------------------------------------===//

  /// The field of `chunk` in its byte, an i8.
  Value getField(Value byte, Value chunk);
  /// The position, an i32, of the kept unit `kept`, an index or a constant.
  Value getPosition(Value field, Value kept);
  Value getPosition(Value field, unsigned kept);
  /// Whether a field is legal, where `isZero` says whether what it keeps is
  /// zero.
  Value isLegal(Value field, Value isZero);
  /// The field for a mask of non-zero units, and whether there is one.
  Value getFieldOfMask(Value nonZeros);
  Value hasField(Value nonZeros);

  void expect(Value condition, Operation *op, const Twine &expectation);
  /// Expects a legal field, where `isZero` says whether what it keeps is zero.
  void expectLegal(Value field, Value isZero, Operation *op);

  Value toIndex(Value integer);
  Value toInteger(Value index);

private:
  const GranularityInfo &units;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_SPARSEEMITTER_H
