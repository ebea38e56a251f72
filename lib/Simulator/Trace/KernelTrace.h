//===- KernelTrace.h - What a kernel would take on a chip -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The recordings of a kernel's groups, played with the rates of its target: the
// estimate of `--stats`, and the events of `--trace`.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRACE_KERNELTRACE_H
#define BLOCKSCALE_LIB_SIMULATOR_TRACE_KERNELTRACE_H

#include "Machine/LaunchedKernel.h"
#include "Trace/Replay.h"

#include "llvm/Support/JSON.h"

namespace mlir::blockscale::sim {

/// Of one kernel of a plan.
struct KernelTrace {
  std::string name;
  Timing timing;
  ReplayShape shape;
  std::vector<Recording> recordings;
  /// Nothing where there is no estimate; why is in `problem`.
  std::optional<ReplayResult> result;
  std::string problem;
  /// Where somebody asked for them.
  std::vector<TraceSlice> slices;

  double getMicroseconds(double clocks) const {
    return clocks / timing.megahertz;
  }
};

/// Every so many groups of a launch are recorded: those of large grids do the
/// same, mostly.
uint64_t getRecordingStride(const LaunchedKernel &launch);

/// How many groups may be recorded, at most.
uint64_t countRecordings(const LaunchedKernel &launch);

/// Plays recordings, of the groups 0, stride, 2 * stride and so on.
KernelTrace traceKernel(const LaunchedKernel &launch,
                        std::vector<Recording> recordings);

/// The attribute "estimate" of a kernel in statistics.
void writeEstimate(llvm::json::OStream &json, const KernelTrace &trace);

/// The JSON of all kernels, one behind the other: Trace Event Format, as
/// chrome://tracing and Perfetto open it.
std::string printTrace(const std::vector<KernelTrace> &kernels);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_KERNELTRACE_H
