//===- Tuning.h - Schedules measured on a card ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates and tables choose the schedule of a matmul. This measures it and
// others, on the card and with the actual sizes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_TUNING_H
#define BLOCKSCALE_DRIVER_TUNING_H

#include "blockscale/Driver/Comparison.h"
#include "blockscale/Driver/GpuRun.h"

#include <functional>

namespace mlir::blockscale {

struct TuneOptions {
  GpuRunOptions gpu;
  bool checksMemory = false;
  /// If there is a reference, the fastest schedule may have results that differ
  /// from those of the default within their bounds. May be null.
  const Reference *reference = nullptr;
};

/// Runs `entry` of `program`, which is consumed, on the first CUDA card: for
/// each matmul whose kernels have schedules, with each of its candidates, while
/// all others keep their schedules. Calls `print` with a table for each matmul,
/// row by row, and then with the text to select the fastest schedule. Emits an
/// error if there is no such matmul, or if the program does not run.
LogicalResult tuneSchedules(Program &program, func::FuncOp entry,
                            std::vector<NpyArray> arguments,
                            const TuneOptions &options,
                            std::function<Error(const std::string &)> print);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_TUNING_H
