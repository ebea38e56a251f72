//===- Tcgen05ScheduleChoice.h - Which schedule tcgen05 gets ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Enumerates the schedules that a chip can run, and takes the one with the
// smallest estimate.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_TCGEN05SCHEDULECHOICE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_TCGEN05SCHEDULECHOICE_H

#include "Kernels/Gemm/Schedule/Tcgen05ScheduleEstimate.h"

namespace mlir::blockscale {

/// Tiles start at multiples of this along N, unless there is one tile only:
/// scales of B come in atoms of 128 rows, and an instruction may start only
/// with an atom or in its middle.
inline constexpr int64_t kTileUnit = 64;

struct ScheduleCandidate {
  WarpSpecializedScheduleAttr schedule;
  ScheduleEstimate estimate;
};

/// The best schedule for each N of tiles, narrow ones first. The smallest
/// estimate is best. If memory is the bound of several schedules, the one that
/// needs least of the other units is; then the one with more stages, then the
/// one with more accumulators. Split-K is considered if K is static, and has to
/// be better than all schedules without it by more than a sixteenth. The same
/// schedules with swap-AB follow, for results of up to 256 rows; among equal
/// ones, the one without swap-AB is better. There is at least one.
SmallVector<ScheduleCandidate>
getScheduleCandidates(MLIRContext *context, const EstimatedProblem &problem,
                      const Instruction &instruction, const Chip &chip);

/// The best of them, by the same rule; the first among equal ones.
ScheduleCandidate chooseSchedule(ArrayRef<ScheduleCandidate> candidates);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_TCGEN05SCHEDULECHOICE_H
