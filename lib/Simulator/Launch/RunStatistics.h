//===- RunStatistics.h - The statistics of a run ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The JSON of --stats for all kernels of a plan.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_LAUNCH_RUNSTATISTICS_H
#define BLOCKSCALE_LIB_SIMULATOR_LAUNCH_RUNSTATISTICS_H

#include "Machine/Statistics.h"
#include "Trace/KernelTrace.h"
#include "Translation/TranslatedModule.h"
#include "blockscale/Runtime/LaunchPlan.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir::blockscale::sim {

/// A kernel of a plan that has run, with its statistics.
struct CountedKernel {
  const Kernel *kernel;
  PlannedKernel planned;
  std::unique_ptr<Statistics> statistics;
};

/// The JSON of a run; `traces` are those of the same kernels.
std::string printStatistics(const std::vector<CountedKernel> &kernels,
                            const std::vector<KernelTrace> &traces);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_LAUNCH_RUNSTATISTICS_H
