//===- WgmmaChooser.h - What choosers for wgmma share -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits that the dense, the mixed-input and the GEMV kernel have in common,
// and when wgmma is the best path for an op.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WGMMACHOOSER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WGMMACHOOSER_H

#include "Kernels/Gemm/Mma/Wgmma/WgmmaShares.h"
#include "Kernels/Gemm/Schedule/WarpSpecializedChooser.h"

namespace mlir::blockscale {

class WgmmaChooser : public WarpSpecializedChooser {
public:
  LogicalResult verify(ScheduledProduct product, ScheduleInterface schedule,
                       EmitErrorFn emitError) const final;

protected:
  /// Limits of the kernel itself.
  virtual LogicalResult verifyKernel(ScheduledProduct product,
                                     WarpSpecializedScheduleAttr schedule,
                                     EmitErrorFn emitError) const = 0;
};

/// The schedules of mixed input and of GEMV that were measured to be the best
/// for `op` on `chip`; null if none was measured. Without a workspace,
/// schedules that need none.
WarpSpecializedScheduleAttr chooseMixedInputSchedule(ProductOpInterface op,
                                                     const Chip &chip,
                                                     bool hasWorkspace);
WarpSpecializedScheduleAttr
chooseGemvSchedule(ProductOpInterface op, const Chip &chip, bool hasWorkspace);

/// The schedules of mixed input for `op` of dynamic sizes, see KernelChooser.
SmallVector<AlternativeAttr> getMixedInputAlternatives(ProductOpInterface op,
                                                       const Chip &chip,
                                                       bool hasWorkspace);

/// Why the mainloop cannot dequantize y of `op` in registers; empty if it can.
std::string findMixedInputObstacle(ProductOpInterface op);

/// For which sizes of mixed input a schedule is chosen, for people.
std::string describeMixedInputSizes(const Chip &chip);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WGMMACHOOSER_H
