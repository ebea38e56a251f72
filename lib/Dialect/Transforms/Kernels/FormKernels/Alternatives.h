//===- Alternatives.h - Schedules that sizes choose -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of dynamic sizes may have several kernels. The host launches the
// one that is best for the sizes of a call: each launch has a condition.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_ALTERNATIVES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_ALTERNATIVES_H

#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// A schedule, and the i1 on the host that tells whether it is chosen.
struct ConditionalSchedule {
  ScheduleInterface schedule;
  Value condition;
  /// With more rows of the counted side, it is not.
  int64_t mostRows;
};

/// At most one condition is true.
struct Alternatives {
  /// Whether one of them is true, and the opposite.
  Value isAny, isNone;
  /// Schedules for all of K at once.
  SmallVector<ConditionalSchedule> whole;
  /// The same schedules with split-K, whether one of these is chosen, and the
  /// number of their ranges.
  SmallVector<ConditionalSchedule> divided;
  Value isDivided;
  OpFoldResult ranges;
};

/// The side whose rows alternatives of `op` are for: that of the activations,
/// if weights are quantized or sparse.
MmaScaledOp::Side getCountedSide(ProductOpInterface op);

/// The alternatives of `list` for a product of `sizes`, on a chip with `sms`
/// SMs; their rows are those of `side`. K has to be a positive multiple of
/// `unitOfK`. Alternatives that static sizes exclude are left out.
Alternatives makeAlternatives(OpBuilder &builder, Location loc,
                              ArrayRef<AlternativeAttr> list, HostSizes sizes,
                              MmaScaledOp::Side side, int64_t unitOfK,
                              int64_t sms);

/// Whether no size is computed in a way that might make it negative. Conditions
/// of a launch are computed with signs.
bool areNotNegative(const HostSizes &sizes);

/// Makes `problem` one whose K is a multiple of `unitOfK`.
void assumeUnitOfK(KernelProblem &problem, int64_t unitOfK);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_ALTERNATIVES_H
