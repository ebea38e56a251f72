//===- KernelTrace.h - Estimated times of a kernel --------------*- C++ -*-===//
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

/// The replay of one kernel of a plan.
struct KernelTrace {
  std::string name;
  Timing timing;
  ReplayShape shape;
  std::vector<Recording> recordings;
  /// Nothing if there is no estimate; then `problem` says why.
  std::optional<ReplayResult> result;
  std::string problem;
  /// Empty if no trace was requested.
  std::vector<TraceSlice> slices;

  double getMicroseconds(double clocks) const {
    return clocks / timing.megahertz;
  }
};

/// The stride of recorded groups: the groups of large grids mostly do the same.
uint64_t getRecordingStride(const LaunchedKernel &launch);

/// The most groups that may be recorded.
uint64_t countRecordings(const LaunchedKernel &launch);

/// Plays recordings, of the groups 0, stride, 2 * stride and so on.
KernelTrace traceKernel(const LaunchedKernel &launch,
                        std::vector<Recording> recordings);

/// The attribute "estimate" of a kernel in statistics.
void writeEstimate(llvm::json::OStream &json, const KernelTrace &trace);

/// The JSON of all kernels, one after another, in Trace Event Format, which
/// chrome://tracing and Perfetto open.
std::string printTrace(const std::vector<KernelTrace> &kernels);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_KERNELTRACE_H
