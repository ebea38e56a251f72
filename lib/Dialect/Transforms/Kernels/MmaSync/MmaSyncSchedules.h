//===- MmaSyncSchedules.h - Schedules of the path mma_sync ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a schedule means for the memory of a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_MMASYNC_MMASYNCSCHEDULES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_MMASYNC_MMASYNCSCHEDULES_H

#include "Kernels/Backend.h"
#include "Kernels/Staging/StagePlan.h"

namespace mlir::blockscale {

/// What the block of a kernel with `schedule` takes of A and B.
StageExtents getStageExtents(MmaSyncScheduleAttr schedule);

const ScheduleRules &getMmaSyncScheduleRules();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_MMASYNC_MMASYNCSCHEDULES_H
