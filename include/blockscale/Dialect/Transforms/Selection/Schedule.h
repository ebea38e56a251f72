//===- Schedule.h - Schedules as text ---------------------------*- C++ -*-===//
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

/// The attribute of a function of sizes that are not known, with the name of a
/// row of TunedRows.h: for how many rows of the result its kernels are.
inline constexpr StringLiteral kRowsAttrName = "blockscale.rows";

/// Whether some path has schedules of the form of `text`, such as
/// `tile=128x128x128,warps=2x2,stages=3`.
bool isScheduleText(StringRef text);

/// The forms that there are.
std::string describeScheduleForms();

/// What fields of `text` were called before, with their names of today, for the
/// end of an error; empty if there are none.
std::string describeRenamedFields(StringRef text);

/// `schedule` in its form.
std::string getScheduleText(ScheduleInterface schedule);

/// What may be tried for `op`, which blockscale-select-schedule has given a
/// schedule for `chip`: that one first, then those of its path and, for a
/// product with scales, of the other paths of the chip. All of them are legal;
/// each is there once.
SmallVector<ScheduleInterface> getScheduleCandidates(ProductOpInterface op,
                                                     const Chip &chip,
                                                     bool hasWorkspace);

/// The row of TunedRows.cpp that would choose `schedule`, one of these, as it
/// is written there; empty where an estimate chooses. `benchmark` has found it.
std::string printTunedRow(ProductOpInterface op, ScheduleInterface schedule,
                          const Chip &chip, StringRef benchmark);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_SCHEDULE_H
