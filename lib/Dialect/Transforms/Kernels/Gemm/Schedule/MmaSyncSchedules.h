//===- MmaSyncSchedules.h - Schedules of the path mma_sync ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_MMASYNCSCHEDULES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_MMASYNCSCHEDULES_H

#include "Kernels/Gemm/Schedule/MultistageSchedules.h"

namespace mlir::blockscale {

/// Of both kernels: a block of warps that copy and multiply (`schedule`), and
/// one whose warps have roles (`warp_specialized_schedule`).
const ScheduleRules &getMmaSyncScheduleRules();

/// What is chosen for the first one. Its instructions leave little to do
/// between them: one block on a SM, with as many stages as there is
/// room for, keeps them busy.
inline constexpr MultistageScheduleLimits kMmaSyncLimits = {
    /*mostStages=*/4, /*wantedBlocks=*/1, /*mostK=*/1024};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_MMASYNCSCHEDULES_H
