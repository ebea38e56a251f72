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

/// What tiles begin at multiples of along N, but for the only one: scales of B
/// come in atoms of 128 rows; in the middle of one, only the half is where an
/// instruction may start.
inline constexpr int64_t kTileUnit = 64;

struct ScheduleCandidate {
  WarpSpecializedScheduleAttr schedule;
  ScheduleEstimate estimate;
};

/// For each N that tiles may have, narrow ones first, the best schedule: the
/// smallest estimate; where memory is the bound of several, what needs least
/// besides; of equal ones that with more stages, then that with more
/// accumulators. With parts of K if K is known, and they are better than all
/// without by more than a sixteenth. Behind them the same with operands
/// swapAb, for results of up to 256 rows; of equal ones the plain one is
/// better. There is at least one.
SmallVector<ScheduleCandidate>
getScheduleCandidates(MLIRContext *context, const EstimatedProblem &problem,
                      const Instruction &instruction, const Chip &chip);

/// The best of them, by the same rule; of equal ones the first.
ScheduleCandidate chooseSchedule(ArrayRef<ScheduleCandidate> candidates);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_TCGEN05SCHEDULECHOICE_H
