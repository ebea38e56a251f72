//===- MultistageSchedules.h - Schedules of blocks of warps -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text form, the choice and the limits of `#blockscale.schedule`, which the
// paths whose instructions are those of a warp share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_MULTISTAGESCHEDULES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_MULTISTAGESCHEDULES_H

#include "Kernels/Gemm/Backend.h"
#include "Kernels/Gemm/Mainloop/Multistage/StagePlan.h"

namespace mlir::blockscale {

/// What the block of a kernel with `schedule` takes of A and B.
StageExtents getStageExtents(MultistageScheduleAttr schedule);

/// In what the choices of paths differ.
struct MultistageScheduleLimits {
  /// The most stages that are chosen.
  int64_t mostStages;
  /// Blocks that shared memory of a SM should have room for.
  int64_t wantedBlocks;
  /// The most elements along K of a tile.
  int64_t mostK;
  /// Whether K is divided where a result of few rows or columns has too few
  /// tiles for the chip.
  bool dividesK = false;
};

std::unique_ptr<ScheduleRules>
makeMultistageScheduleRules(const MultistageScheduleLimits &limits);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_MULTISTAGESCHEDULES_H
