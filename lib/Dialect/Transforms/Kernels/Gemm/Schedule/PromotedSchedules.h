//===- PromotedSchedules.h - Schedules of promoted sums ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What promotion asks of schedules: registers for a second accumulator, and
// steps along K that fit the interval.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_PROMOTEDSCHEDULES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_PROMOTEDSCHEDULES_H

#include "Kernels/Gemm/Schedule/KernelChooser.h"

namespace mlir::blockscale {

/// The dense kernel of wgmma: null if an interval is no whole number of its
/// steps.
WarpSpecializedScheduleAttr choosePromotedWgmma(ScheduledProduct product);
SmallVector<ScheduleInterface>
getPromotedWgmmaCandidates(ScheduledProduct product);
/// For few rows, if their number is dynamic.
SmallVector<AlternativeAttr>
getPromotedWgmmaAlternatives(ScheduledProduct product);
LogicalResult verifyPromotedWgmma(ScheduledProduct product,
                                  WarpSpecializedScheduleAttr schedule,
                                  KernelChooser::EmitErrorFn emitError);

/// The multistage kernel, whose stages are whole intervals.
MultistageScheduleAttr choosePromotedMultistage(ScheduledProduct product);
/// For groups of few rows, if their number is dynamic.
SmallVector<AlternativeAttr>
getPromotedGroupAlternatives(ScheduledProduct product);
SmallVector<ScheduleInterface>
getPromotedMultistageCandidates(ScheduledProduct product);
LogicalResult verifyPromotedMultistage(ScheduledProduct product,
                                       MultistageScheduleAttr schedule,
                                       KernelChooser::EmitErrorFn emitError);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_PROMOTEDSCHEDULES_H
