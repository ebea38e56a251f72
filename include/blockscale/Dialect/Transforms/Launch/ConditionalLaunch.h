//===- ConditionalLaunch.h - Launches for some sizes ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function may have alternative kernels, of which sizes choose one at launch.
// A launch whose condition does not hold has no blocks in x:
//
//   %blocks = arith.select %condition, %some, %c0 : index
//   gpu.launch_func @kernels::@few blocks in (%blocks, %c1, %c1) ...
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_CONDITIONALLAUNCH_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_CONDITIONALLAUNCH_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::blockscale {

/// An i1 that has to be true, or false if it is negated.
struct LaunchCondition {
  Value value;
  bool isNegated;
};

/// The grid of a launch in x, apart from its conditions.
struct ConditionalGrid {
  Value blocks;
  /// All of them have to hold; empty for a launch for all sizes.
  SmallVector<LaunchCondition> conditions;
};

ConditionalGrid getConditionalGrid(gpu::LaunchFuncOp launch);

/// Whether `first` and `second` never run for the same sizes. False if that is
/// not evident.
bool excludeEachOther(gpu::LaunchFuncOp first, gpu::LaunchFuncOp second);

/// Whether `first` runs for all sizes for which `second` runs. False if that is
/// not evident.
bool runsWheneverOther(gpu::LaunchFuncOp first, gpu::LaunchFuncOp second);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_CONDITIONALLAUNCH_H
