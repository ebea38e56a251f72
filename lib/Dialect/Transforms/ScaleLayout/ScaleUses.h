//===- ScaleUses.h - What an argument is used as ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SCALEUSES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SCALEUSES_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blockscale {

/// What is found out about the uses of an argument.
struct ScaleUses {
  /// Whether they hold scales that are wanted swizzled.
  bool holdsScales = false;
  /// Whether they take the argument with its rows last, and first.
  bool rowsLast = false, rowsFirst = false;
  /// What does not let it be swizzled, the first that was found, and why.
  Operation *obstacle = nullptr;
  std::string reason;

  void setObstacle(Operation *op, std::string why) {
    if (obstacle)
      return;
    obstacle = op;
    reason = std::move(why);
  }
};

/// Follows a tensor of rank 2 or 3 to its uses as scales, through transposes,
/// slices that keep atoms whole, and swizzles. `wantsSwizzled` tells of an
/// `mma_scaled` whether its scales are wanted swizzled; `getCallOrder`, of an
/// operand of a call, whether the callee takes it with its rows last, and
/// nullopt if the callee does not take it swizzled.
ScaleUses inspectScaleUses(
    BlockArgument argument, function_ref<bool(MmaScaledOp)> wantsSwizzled,
    function_ref<std::optional<bool>(func::CallOp, unsigned)> getCallOrder);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SCALEUSES_H
