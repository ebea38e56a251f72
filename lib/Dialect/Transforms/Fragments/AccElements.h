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
#include "Utils/LaneOps.h"
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

/// Calls `body` for each pair of columns that the lane holds, in the order of
/// `AccPairs`: with both elements, the position of the first one, and whether
/// that is inside (null for always).
template <typename Op>
void forEachPair(
    OpBuilder &b, Op op, AccType type, ValueRange elements, Value lane,
    function_ref<void(ArrayRef<Value>, Value, Value, Value)> body) {
  Location loc = op.getLoc();
  SmallVector<std::array<Value, 3>> positions(elements.size());
  forEachElement(b, op, type, lane,
                 [&](int64_t index, Value row, Value column, Value inside) {
                   positions[index] = {row, column, inside};
                 });
  std::optional<AccPairs> pairs = getAccLowering(type).getPairs(type);
  Value isSecond;
  if (pairs->pairLane != 0)
    isSecond = isEqual(
        b, loc,
        applyExpr(b, loc, b.getAffineDimExpr(0).floorDiv(pairs->pairLane) % 2,
                  lane),
        makeIndex(b, loc, 1));
  auto select = [&](Value ifSecond, Value ifFirst) -> Value {
    return b.createOrFold<arith::SelectOp>(loc, isSecond, ifSecond, ifFirst);
  };
  for (auto [first, second] : pairs->elements) {
    auto [row, column, inside] = positions[first];
    Value x = elements[first], y = elements[second];
    if (isSecond) {
      Value got = emitShuffle(b, loc, select(x, y), pairs->pairLane);
      x = select(got, x);
      y = select(y, got);
      row = select(positions[second][0], row);
      column = select(addIndex(b, loc, positions[second][1], -kPairDistance),
                      column);
      if (inside)
        inside = emitBoth(b, loc, isBelow(b, loc, row, op.getRows()),
                          isBelow(b, loc, column, op.getColumns()));
    }
    body({x, y}, row, column, inside);
  }
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
