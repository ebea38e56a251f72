//===- Emitter.h - Arithmetic on ends of intervals --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for scalar ops, and a helper for loops over all elements of
// tensors, so that rules read like formulas.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_ERRORBOUNDS_EMITTER_H
#define BLOCKSCALE_LIB_ERRORBOUNDS_EMITTER_H

#include "ElementIntervals.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

namespace mlir::blockscale {

/// Arithmetic on ends.
struct Emitter {
  OpBuilder &builder;
  Location loc;

  Value number(double value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF64FloatAttr(value));
  }
  Value boolean(bool value) {
    return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value));
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(builder, loc, condition, ifTrue, ifFalse);
  }
  Value both(Value a, Value b) {
    return arith::AndIOp::create(builder, loc, a, b);
  }
  Value either(Value a, Value b) {
    return arith::OrIOp::create(builder, loc, a, b);
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  Value subtract(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value multiply(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value divide(Value a, Value b) {
    return arith::DivFOp::create(builder, loc, a, b);
  }
  Value magnitude(Value a) { return math::AbsFOp::create(builder, loc, a); }
  Value isNaN(Value a) { return compare(arith::CmpFPredicate::UNO, a, a); }
  Value isNumber(Value a) { return compare(arith::CmpFPredicate::ORD, a, a); }
  Value isFinite(Value a) {
    return compare(arith::CmpFPredicate::OLT, magnitude(a),
                   number(std::numeric_limits<double>::infinity()));
  }

  /// Whether the interval contains 0.
  Value hasZero(Interval ends) {
    Value zero = number(0);
    return both(compare(arith::CmpFPredicate::OLE, ends.low, zero),
                compare(arith::CmpFPredicate::OGE, ends.high, zero));
  }

  /// `end` converted to `type`. This is exact, except for sums and functions,
  /// which are computed in f64 and rounded here, as on the device.
  Value narrow(Value end, Type type) {
    auto floatType = dyn_cast<FloatType>(type);
    if (!floatType || floatType.isF64())
      return end;
    Value value =
        arith::TruncFOp::create(builder, loc, builder.getF32Type(), end);
    if (floatType.isF32())
      return value;
    return arith::TruncFOp::create(builder, loc, type, value);
  }
  Value widen(Value value) {
    auto floatType = dyn_cast<FloatType>(value.getType());
    if (!floatType || floatType.isF64())
      return value;
    return arith::ExtFOp::create(builder, loc, builder.getF64Type(), value);
  }

  /// The smallest interval with all of these ends, which have the type of
  /// `getEndType`. Unbounded if some but not all are NaN.
  Interval hull(ValueRange ends);
  /// The interval of the magnitudes of an interval.
  Interval magnitude(Interval interval);
  /// Whether an interval of floats is unbounded.
  Value isAnything(Interval interval);
  /// `interval`, or the unbounded one if `condition` (null for never) holds.
  Interval anythingIf(Value condition, Interval interval);
};

/// The results of a loop's body.
using BodyBuilder = function_ref<SmallVector<Value>(Emitter, ValueRange)>;

/// Makes a tensor with the sizes of `like` for each of the types `elements`.
/// `body` computes its elements from those of `inputs`. There is a map for each
/// input, or no map if all inputs have these sizes.
ValueRange mapElements(OpBuilder &builder, Value like, TypeRange elements,
                       ValueRange inputs, BodyBuilder body,
                       ArrayRef<AffineMap> maps = {});

/// The same for the two ends of an interval of f64.
Interval mapToEnds(OpBuilder &builder, Value like, ValueRange inputs,
                   function_ref<Interval(Emitter, ValueRange)> body,
                   ArrayRef<AffineMap> maps = {});

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_EMITTER_H
