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

/// The attribute of an op with an array of AlternativeAttr: other schedules,
/// which its sizes choose when it is launched.
inline constexpr StringLiteral kAlternativesAttrName =
    "blockscale.alternatives";

/// The attribute of a function of dynamic sizes, with a name of the table in
/// TunedRows.h: for how many rows of the result its kernels are tuned.
inline constexpr StringLiteral kRowsAttrName = "blockscale.rows";
/// Its value for functions that have kernels for any number of rows.
inline constexpr StringLiteral kAnyRows = "any";

/// Whether some path has schedules with the text form of `text`, such as
/// `tile=128x128x128,warps=2x2,stages=3`.
bool isScheduleText(StringRef text);

/// The text forms of all schedules.
std::string describeScheduleForms();

/// The end of an error message: fields of `text` that have been renamed, with
/// their new names. Empty if there are none.
std::string describeRenamedFields(StringRef text);

/// The text form of `schedule`.
std::string getScheduleText(ScheduleInterface schedule);

/// Candidates of schedules for `op`, for which blockscale-select-schedule has
/// chosen a schedule for `chip`: that one first, then those of its path and,
/// for a matmul with scales, of the other paths of the chip. All of them are
/// legal and different.
SmallVector<ScheduleInterface> getScheduleCandidates(ProductOpInterface op,
                                                     const Chip &chip,
                                                     bool hasWorkspace);

/// The text of a row for TunedRows.cpp that would choose `schedule`, one of the
/// candidates; empty if an estimate chooses. `benchmark` has measured it.
std::string printTunedRow(ProductOpInterface op, ScheduleInterface schedule,
                          const Chip &chip, StringRef benchmark);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_SCHEDULE_H
