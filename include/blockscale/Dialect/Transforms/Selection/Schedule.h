//===- Schedule.h - Choosing a schedule ------------------------ -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_SCHEDULE_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_SCHEDULE_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// The attribute of an `mma_scaled`, or of its function, with a schedule.
inline constexpr StringLiteral kScheduleAttrName = "blockscale.schedule";

/// The numbers of `tile=128x128x128,warps=2x2,stages=3`.
struct ScheduleText {
  std::array<int64_t, 3> tile;
  std::array<int64_t, 2> warps;
  int64_t stages;
};

/// Reads all of `text`; nullopt if it has another form.
std::optional<ScheduleText> parseSchedule(StringRef text);
inline constexpr StringLiteral kScheduleForm = "tile=MxNxK,warps=MxN,stages=S";

/// The bytes of shared memory that a kernel for `row` needs.
int64_t getSharedBytes(const OpRow &row, ScheduleAttr schedule);

/// Checks that `chip` can run a kernel for `row` with `schedule`: shared memory
/// and registers. `emitError` starts the error.
LogicalResult verifySchedule(const OpRow &row, ScheduleAttr schedule,
                             const Chip &chip,
                             function_ref<InFlightDiagnostic()> emitError);

/// The schedule for an op on tensors whose path is mma_sync:
///
/// * a block has 2 x 2 warps and computes 128 x 128 results, or fewer along a
///   dimension that has fewer: 64 or 32;
/// * where that makes too few blocks to fill a chip, the longer side of the
///   tile is halved, down to 64;
/// * rows of 128 bytes along K, or less where K ends before;
/// * as many stages, up to 4, as K has steps and shared memory has room for.
///
/// Dynamic sizes count as large ones.
ScheduleAttr chooseSchedule(MmaScaledOp op, const Chip &chip);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_SCHEDULE_H
