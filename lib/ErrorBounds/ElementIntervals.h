//===- ElementIntervals.h - Intervals of scalar ops -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The possible results of a device for an element are an interval. These
// functions emit interval arithmetic for ops on scalars: one row of a table per
// op.
//
// The ends of an interval are possible results, inclusive:
//
//   float    two f64, which represent the values of every type exactly. Both
//            NaN: the result is NaN. -infinity and infinity: it is unbounded
//            and may be NaN.
//   i1       whether it is certainly true, and whether it may be true
//
// Hosts and devices round arithmetic to nearest alike, and rounding is
// monotonic. So the op itself, applied to the ends, gives the ends of the
// result, and no rounding error is added.
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

/// The type of the ends of an interval of the scalar `type`; null if it has no
/// intervals.
Type getEndType(Type type);

/// An operand: its interval or, if it is exact, its value.
struct IntervalOperand {
  Value value;
  Interval interval;
};

/// Whether a device's result differs from the host's even if all operands are
/// equal (see MathErrors.h).
bool isApproximated(Operation *op);

/// Emits the interval of the result of `op`, which has an inexact operand or is
/// approximated. Fails if there is no rule for it.
FailureOr<Interval> emitInterval(OpBuilder &builder, Operation *op,
                                 ArrayRef<IntervalOperand> operands);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_ERRORBOUNDS_ELEMENTINTERVALS_H
