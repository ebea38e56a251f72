//===- AccElements.h - Elements of accumulators, one by one -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_ACCELEMENTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_ACCELEMENTS_H

#include "Fragments/AccLowering.h"
#include "Utils/IndexValues.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::blockscale {

/// Calls `body` for each element that the lane holds, with its index among the
/// lane's elements, its position, and whether it is inside (null for always).
template <typename Op>
void forEachElement(OpBuilder &b, Op op, AccType type, Value lane,
                    function_ref<void(int64_t, Value, Value, Value)> body) {
  Location loc = op.getLoc();
  const AccLowering &lowering = getAccLowering(type);
  int64_t run = lowering.getRunLength(type);
  lowering.forEachRun(
      b, loc, type, lane, [&](int64_t index, Value row, Value column) {
        row = addIndices(b, loc, row, op.getRow());
        column = addIndices(b, loc, column, op.getColumn());
        for (int64_t i = 0; i != run; ++i) {
          Value at = addIndex(b, loc, column, i);
          Value inside;
          if (!op.getInBounds()) {
            inside = isBelow(b, loc, row, op.getRows());
            inside =
                emitBoth(b, loc, inside, isBelow(b, loc, at, op.getColumns()));
          }
          body(index + i, row, at, inside);
        }
      });
}

/// Clones the body of `block` for `arguments` at `b`. Returns the operands of
/// its terminator.
inline SmallVector<Value> cloneBody(OpBuilder &b, Block &block,
                                    ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    b.clone(op, mapping);
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value v) { return mapping.lookupOrDefault(v); });
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_ACCELEMENTS_H
