//===- WarpSpecializedChooser.h - Limits of all such schedules --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the choosers of all warp-specialized kernels share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WARPSPECIALIZEDCHOOSER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WARPSPECIALIZEDCHOOSER_H

#include "Kernels/Gemm/Schedule/Choosers.h"

namespace mlir::blockscale {

class WarpSpecializedChooser : public KernelChooser {
public:
  const ScheduleText &getText() const override {
    return getWarpSpecializedScheduleText();
  }

protected:
  /// Checks that K of the tile of `schedule` is a swizzle row, that stages fit
  /// into shared memory, and that K has as many steps as there are split-K
  /// ranges. A dynamic K passes.
  static LogicalResult verifyStages(ScheduledProduct product,
                                    WarpSpecializedScheduleAttr schedule,
                                    EmitErrorFn emitError);
};

/// Whether TMA can read both operands of a product without scales where they
/// are, without copies in a workspace.
bool areReadInPlace(ProductOpInterface op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WARPSPECIALIZEDCHOOSER_H
