//===- PackedElements.h - Packed elements in memory -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_PACKEDELEMENTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_PACKEDELEMENTS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// Evaluates `map` at `operands`, none of which is negative.
SmallVector<Value> applyMap(OpBuilder &builder, Location loc, AffineMap map,
                            ValueRange operands);

/// An operand as it is stored: element i is the one of `tensor` at `map(i)`.
/// Elements have a byte each, or are a bit stream of `bits` bits per element
/// along the last dimension of `tensor` (in which `map` then counts elements).
struct StoredView {
  Value tensor;
  AffineMap map;
  /// 8 if an element has a byte of its own.
  unsigned bits;
};

/// The view of the tensor `operand`, with transposes, `unswizzle_scales` and
/// `unpack` folded into it.
StoredView getStoredView(OpBuilder &builder, Location loc, Value operand);

/// The code `index`, as i8, of a row of `rowBytes` bytes that is a bit stream
/// of `bits` bits per code. `loadByte` returns a byte of the row as i8.
Value emitUnpackCode(OpBuilder &builder, Location loc, Value index,
                     unsigned bits, OpFoldResult rowBytes,
                     function_ref<Value(Value byteIndex)> loadByte);

/// The code, as i8, at `position` of `memory`, a memref of bytes with `bits`
/// per code; the last index of `position` counts elements.
Value emitLoadCode(OpBuilder &builder, Location loc, Value memory,
                   unsigned bits, ArrayRef<Value> position);

/// `load()` if `condition` (null for always), else `otherwise`.
Value emitLoadIf(OpBuilder &b, Location loc, Value condition,
                 function_ref<Value(OpBuilder &)> load, Value otherwise);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_PACKEDELEMENTS_H
