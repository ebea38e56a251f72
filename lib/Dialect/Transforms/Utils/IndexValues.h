//===- IndexValues.h - Arithmetic on indices --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_INDEXVALUES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_INDEXVALUES_H

#include "Utils/PackedElements.h"

namespace mlir::blockscale {

/// Evaluates `exprs` at `values`, none of which is negative.
SmallVector<Value> applyExprs(OpBuilder &b, Location loc,
                              ArrayRef<AffineExpr> exprs, ValueRange values);

/// The same for one expression.
Value applyExpr(OpBuilder &b, Location loc, AffineExpr expr, ValueRange values);

/// `value + constant`, without an op for 0.
Value addConstant(OpBuilder &b, Location loc, Value value, int64_t constant);

/// `value + other` as one expression; `other` is null for 0.
Value addIndices(OpBuilder &b, Location loc, Value value, Value other);

/// `value + constant` as one expression.
Value addIndex(OpBuilder &b, Location loc, Value value, int64_t constant);

/// A constant index, and a constant i32.
Value makeIndex(OpBuilder &b, Location loc, int64_t value);
Value makeWord(OpBuilder &b, Location loc, int64_t value);

/// Whether `value` is below `limit`, as unsigned integers, and whether `x` and
/// `y` are equal.
Value isBelow(OpBuilder &b, Location loc, Value value, Value limit);
Value isEqual(OpBuilder &b, Location loc, Value x, Value y);

/// The conjunction of two conditions, either of which may be null for true.
Value emitBoth(OpBuilder &b, Location loc, Value first, Value second);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_INDEXVALUES_H
