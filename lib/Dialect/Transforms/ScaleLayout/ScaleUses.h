//===- ScaleUses.h - Uses of scale arguments --------------------*- C++ -*-===//
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

/// A summary of the uses of an argument.
struct ScaleUses {
  /// Whether some are scales that should be swizzled.
  bool holdsScales = false;
  /// Whether uses have the rows last, and whether uses have them first.
  bool rowsLast = false, rowsFirst = false;
  /// The first op that prevents swizzling, and why.
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
/// slices that keep atoms whole, and swizzles. `wantsSwizzled` returns whether
/// the scales of an `mma_scaled` should be swizzled. `getCallOrder` returns
/// whether a callee has the rows of a swizzled operand last, and nullopt if its
/// argument is not swizzled.
ScaleUses inspectScaleUses(
    BlockArgument argument, function_ref<bool(MmaScaledOp)> wantsSwizzled,
    function_ref<std::optional<bool>(func::CallOp, unsigned)> getCallOrder);

/// Changes arguments of the functions of `module` to the 32x4x4 layout if they
/// are used only as scales of `mma_scaled` ops for which `wantsSwizzled` is
/// true, and changes their calls. A remark says why other arguments with scales
/// stay.
void swizzleArguments(ModuleOp module,
                      function_ref<bool(MmaScaledOp)> wantsSwizzled);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SCALEUSES_H
