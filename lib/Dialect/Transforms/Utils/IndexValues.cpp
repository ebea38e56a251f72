//===- IndexValues.cpp - Arithmetic on indices ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils/IndexValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

SmallVector<Value> blockscale::applyExprs(OpBuilder &b, Location loc,
                                          ArrayRef<AffineExpr> exprs,
                                          ValueRange values) {
  return applyMap(
      b, loc, AffineMap::get(values.size(), 0, exprs, b.getContext()), values);
}

Value blockscale::addConstant(OpBuilder &b, Location loc, Value value,
                              int64_t constant) {
  if (constant == 0)
    return value;
  return arith::AddIOp::create(
      b, loc, value, arith::ConstantIndexOp::create(b, loc, constant));
}

Value blockscale::applyExpr(OpBuilder &b, Location loc, AffineExpr expr,
                            ValueRange values) {
  return applyExprs(b, loc, expr, values)[0];
}

Value blockscale::addIndices(OpBuilder &b, Location loc, Value value,
                             Value other) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  if (!other)
    return applyExpr(b, loc, d0, value);
  return applyExpr(b, loc, d0 + d1, {value, other});
}

Value blockscale::addIndex(OpBuilder &b, Location loc, Value value,
                           int64_t constant) {
  return applyExpr(b, loc, b.getAffineDimExpr(0) + constant, value);
}

Value blockscale::emitBoth(OpBuilder &b, Location loc, Value first,
                           Value second) {
  if (!first || !second)
    return first ? first : second;
  return arith::AndIOp::create(b, loc, first, second);
}

Value blockscale::makeIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value blockscale::makeWord(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value blockscale::isBelow(OpBuilder &b, Location loc, Value value,
                          Value limit) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, value, limit);
}

Value blockscale::isEqual(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
}
