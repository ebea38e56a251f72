//===- WarpSpecializedSchedules.h - Rules of pipeline schedules ----------------
//-*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What schedules of kernels with roles have in common; choice and limits are
// those of a path.

//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WARPSPECIALIZEDSCHEDULES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WARPSPECIALIZEDSCHEDULES_H

#include "Kernels/Gemm/Backend.h"

namespace mlir::blockscale {

class WarpSpecializedScheduleRules : public ScheduleRules {
public:
  SmallVector<const ScheduleText *> getTexts() const override {
    return {&getRingScheduleText()};
  }

protected:
  /// What all paths ask of `schedule`: that K of the tile is a line of
  /// elements, that stages fit into shared memory, and that K has as many parts
  /// as it is divided into; a dynamic one has.
  static LogicalResult verifyStages(ProductOpInterface op,
                                    InstructionAttr instruction,
                                    WarpSpecializedScheduleAttr schedule,
                                    const Chip &chip, EmitErrorFn emitError);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_WARPSPECIALIZEDSCHEDULES_H
