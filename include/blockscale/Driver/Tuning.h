//===- Tuning.h - Schedules measured on a card ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule that a product gets is chosen by estimates and tables; here it
// is measured against others, on the card and with the sizes that count.
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
  /// With one, a schedule whose results are not the default's, but within their
  /// bounds, may be the fastest, too. May be null.
  const Reference *reference = nullptr;
};

/// Runs `entry` of `program`, which is consumed, on the first CUDA card: for
/// each product whose kernels have schedules, with each of its candidates, all
/// others as they are. `print` gets a table for each product, a row as soon as
/// it is known, and behind it what to write for the fastest schedule. Fails
/// after an error has been emitted: where there is no such product, or the
/// program as it is does not run.
LogicalResult tuneSchedules(Program &program, func::FuncOp entry,
                            std::vector<NpyArray> arguments,
                            const TuneOptions &options,
                            std::function<Error(const std::string &)> print);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_TUNING_H
