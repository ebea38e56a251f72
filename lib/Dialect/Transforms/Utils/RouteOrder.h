//===- RouteOrder.h - The order of logits -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `route` takes logits by size, and equal ones by column. A key, an i64, has
// both: of two logits of a row, that with the larger key comes first. Keys are
// unsigned; none is 0 or has all bits set.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ROUTEORDER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ROUTEORDER_H

#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// The f32 of a logit.
Value extendLogit(OpBuilder &b, Location loc, Value logit);

/// A key before all others.
Value emitFirstKey(OpBuilder &b, Location loc);

/// The largest key below `previous` of columns `first`, `first + step`, ... of
/// a row that ends at `end`; 0 if there is none. `load` gives the f32 of a
/// column.
Value emitNextKey(OpBuilder &b, Location loc, Value previous, Value first,
                  Value end, Value step,
                  function_ref<Value(OpBuilder &, Value column)> load);

/// The column of a key, an i32, and its f32: +0 for -0, and one NaN for all.
Value emitColumnOfKey(OpBuilder &b, Location loc, Value key);
Value emitLogitOfKey(OpBuilder &b, Location loc, Value key);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ROUTEORDER_H
