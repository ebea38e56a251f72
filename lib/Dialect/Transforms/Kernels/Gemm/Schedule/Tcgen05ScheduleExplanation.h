//===- Tcgen05ScheduleExplanation.h - Texts of --explain --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What --explain prints: estimates as tables, and shared and tensor memory as
// pictures in text.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_TCGEN05SCHEDULEEXPLANATION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_TCGEN05SCHEDULEEXPLANATION_H

#include "Kernels/Gemm/Schedule/Tcgen05ScheduleChoice.h"

namespace mlir::blockscale {

/// The bound of each unit with the rate behind it, and the estimate.
void printScheduleEstimate(raw_ostream &os, const EstimatedProblem &problem,
                           const ScheduleEstimate &estimate,
                           const ScheduleRates &rates);

/// The candidates, with their estimates.
void printScheduleCandidates(raw_ostream &os,
                             ArrayRef<ScheduleCandidate> candidates);

/// A stage, and the pipeline of all of them with their mbarriers.
void drawStages(raw_ostream &os, const TmemPlan &plan);

/// The columns of tensor memory.
void drawTensorMemory(raw_ostream &os, const TmemPlan &plan);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_TCGEN05SCHEDULEEXPLANATION_H
