//===- SizeChecker.h - Assertions about sizes -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the implementations of `generateRuntimeVerification` share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_SIZECHECKER_H
#define BLOCKSCALE_LIB_DIALECT_IR_SIZECHECKER_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blockscale {

/// Emits assertions about sizes of one op.
class SizeChecker {
public:
  SizeChecker(OpBuilder &builder, Location loc, Operation *op,
              function_ref<std::string(Operation *, StringRef)> getMessage)
      : builder(builder), loc(loc), op(op), getMessage(getMessage) {}

  Value getSize(Value value, int64_t dim) {
    return getValueOrCreateConstantIndexOp(
        builder, loc, tensor::getMixedSize(builder, loc, value, dim));
  }
  Value getConstant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value isEqual(Value lhs, Value rhs) {
    return compare(arith::CmpIPredicate::eq, lhs, rhs);
  }
  Value isAtMost(Value size, int64_t most) {
    return compare(arith::CmpIPredicate::sle, size, getConstant(most));
  }
  Value isAtLeast(Value size, int64_t least) {
    return compare(arith::CmpIPredicate::sgt, size, getConstant(least - 1));
  }
  Value isPositive(Value size) { return isAtLeast(size, 1); }
  Value isMultiple(Value size, int64_t divisor) {
    return isEqual(apply(getAffineDimExpr(0, loc.getContext()) % divisor,
                         {OpFoldResult(size)}),
                   getConstant(0));
  }
  Value isEither(Value lhs, Value rhs) {
    return builder.createOrFold<arith::OrIOp>(loc, lhs, rhs);
  }
  Value multiply(Value size, int64_t factor) {
    if (factor == 1)
      return size;
    return apply(getAffineDimExpr(0, loc.getContext()) * factor,
                 {OpFoldResult(size)});
  }
  Value apply(AffineExpr expr, ArrayRef<OpFoldResult> operands) {
    return getValueOrCreateConstantIndexOp(
        builder, loc,
        affine::makeComposedFoldedAffineApply(builder, loc, expr, operands));
  }
  void expect(Value condition, const Twine &expectation) {
    cf::AssertOp::create(builder, loc, condition,
                         getMessage(op, ("expected " + expectation).str()));
  }

private:
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, lhs, rhs);
  }

  OpBuilder &builder;
  Location loc;
  Operation *op;
  function_ref<std::string(Operation *, StringRef)> getMessage;
};

inline bool isDynamic(Value value, int64_t dim) {
  return cast<ShapedType>(value.getType()).isDynamicDim(dim);
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_SIZECHECKER_H
