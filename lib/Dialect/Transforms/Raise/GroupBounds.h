//===- GroupBounds.h - Groups that a loop goes through -------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop over groups of rows computes where the rows of its group start and end
// from the inclusive ends of all groups. The forms of these numbers are here.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_GROUPBOUNDS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_GROUPBOUNDS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::blockscale {

/// The integer that `value` is converted from without a change; `value` itself
/// if it is not converted.
Value stripIndexCasts(Value value);

/// What a number is in the step of a loop for group g. The loop goes from 0 on
/// in steps of 1, and `ends` has the inclusive ends of groups.
class GroupBounds {
public:
  GroupBounds(scf::ForOp loop, Value ends) : loop(loop), ends(ends) {}

  /// The bounds of a loop in which a slice has `size` rows, the difference of
  /// an end and a start; nullopt if `size` has another form.
  static std::optional<GroupBounds> find(scf::ForOp loop, OpFoldResult size);

  Value getEnds() const { return ends; }

  /// Whether `number` is g.
  static bool isGroup(scf::ForOp loop, OpFoldResult number);
  bool isGroup(OpFoldResult number) const { return isGroup(loop, number); }
  /// Whether it is `ends[g]`.
  bool isEnd(OpFoldResult number) const;
  /// Whether it is `ends[g - 1]`, or 0 for the first group.
  bool isStart(OpFoldResult number) const;
  /// Whether it is the difference of both.
  bool isSize(OpFoldResult number) const;

private:
  /// Whether `number` is g - 1 in all groups but the first one. There, it may
  /// be anything.
  bool isPrevious(Value number) const;
  /// Whether it is `ends[g - 1]` in all groups but the first one.
  bool isEndOfPrevious(Value number) const;
  /// Whether it is carried from step to step: 0, and then the end of each
  /// group.
  bool isCarriedEnd(Value number) const;

  scf::ForOp loop;
  Value ends;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_GROUPBOUNDS_H
