//===- ElementIntervals.h - Intervals of scalar ops -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a device may make of one element is an interval. These functions emit
// how an op on scalars carries intervals on: one row of a table per op.
//
// The ends of an interval are numbers that the device may have, inclusive:
//
//   float    two f64, so that every type's numbers are exact. Both NaN: it is
//            NaN. -infinity and infinity: it may be anything, NaN included.
//   i1       whether it is true for certain, and whether it may be
//
// Arithmetic is rounded to nearest by hosts and devices alike, and rounding is
// monotonic: the op itself, on the ends, has the ends of its result, and no
// rounding error is ever added.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_ERRORBOUNDS_ELEMENTINTERVALS_H
#define BLOCKSCALE_LIB_ERRORBOUNDS_ELEMENTINTERVALS_H

#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// The ends of an interval, scalars or tensors; null for an exact value.
struct Interval {
  Value low, high;
  explicit operator bool() const { return low != nullptr; }
};

/// The type that holds an end of an interval of `type`, a scalar; null where
/// there are no intervals.
Type getEndType(Type type);

/// An operand: its interval or, where it is exact, its value.
struct IntervalOperand {
  Value value;
  Interval interval;
};

/// Whether a device's result differs from the host's even if all operands are
/// equal (see MathErrors.h).
bool isApproximated(Operation *op);

/// Emits the interval of the result of `op`, one of whose operands is inexact
/// or which is approximated. Fails if there is no rule for it.
FailureOr<Interval> emitInterval(OpBuilder &builder, Operation *op,
                                 ArrayRef<IntervalOperand> operands);

/// A number that is exact, as f64.
Value emitWidened(OpBuilder &builder, Location loc, Value value);
/// The interval that holds all of these ends, which are as `getEndType` has
/// them. Anything, where some but not all are NaN.
Interval emitHull(OpBuilder &builder, Location loc, ValueRange ends);
/// Of the magnitudes of an interval's numbers.
Interval emitMagnitude(OpBuilder &builder, Location loc, Interval interval);
/// Whether an interval of floats is that of anything.
Value emitIsAnything(OpBuilder &builder, Location loc, Interval interval);
/// `interval`, or that of anything if `condition` holds.
Interval emitAnythingIf(OpBuilder &builder, Location loc, Value condition,
                        Interval interval);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_ELEMENTINTERVALS_H
