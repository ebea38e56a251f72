//===- Replay.h - Replay with the rates of a chip ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replays recordings of blocks with the rates of a chip: warps issue their
// steps in order when operands are ready, units process one thing after
// another, and a wait ends when what it waits for is complete. Blocks begin
// when an SM has the resources.
//
// The replay leaves out caches of the SMs, waits through global memory,
// instructions that ptxas adds or drops, and the launch of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRACE_REPLAY_H
#define BLOCKSCALE_LIB_SIMULATOR_TRACE_REPLAY_H

#include "Trace/StreamingMultiprocessor.h"

#include <optional>

namespace mlir::blockscale::sim {

/// How the groups of a launch fill a chip.
struct ReplayShape {
  uint64_t numGroups;
  /// Blocks of a cluster, which are on different SMs, and clusters of a group,
  /// which are on the same SMs.
  unsigned clusterSize, clustersOfGroup;
  /// How many groups the same SMs can hold.
  unsigned groupsBesideEachOther;
  unsigned warpsOfBlock;
  /// Group i is recording i / stride.
  uint64_t stride;
};

/// The cause of a wait of a warp, or of an idle unit.
enum class WaitCause : uint8_t { Warps, Copies, TensorCore, Issue };
inline constexpr unsigned kNumWaitCauses = 4;
/// Its name in statistics.
llvm::StringRef getName(WaitCause cause);

/// An interval of time in the trace.
struct TraceSlice {
  enum class Kind : uint8_t { Run, Wait, Operation };
  Kind kind;
  /// The SM.
  uint32_t sm;
  /// The group, and the warp in it that ran or began the operation.
  uint32_t group, warp;
  /// In clocks since the start of the kernel.
  double begin, end;
  /// The phase of a wait, or the number of an operation.
  uint32_t number;
  /// Lines of the PTX text, and the number of steps.
  uint32_t firstLine, lastLine, numSteps;
  /// Whether the wait is for an operation and not for a phase.
  bool isForOperation;
};

/// The most slices that are kept.
inline constexpr size_t kMaxSlices = size_t(1) << 20;

/// The result of a replay.
struct ReplayResult {
  double clocks = 0;
  std::array<double, kNumBusyUnits> busy = {};
  /// The shares of the time of all SMs in use in which the tensor core and the
  /// matrix pipes were idle, by what the warp that used them next had waited
  /// for.
  std::array<std::array<double, kNumWaitCauses>, kNumBusyUnits> idle = {};
  /// The shares of the time of all warps in which they waited.
  std::array<double, kNumWaitCauses> waits = {};
  unsigned sms = 0;
};

/// Replays `recordings`, which must not be empty; keeps slices if the pointer
/// is not null. Nothing if warps would wait forever.
std::optional<ReplayResult> replay(const Timing &timing,
                                   const ReplayShape &shape,
                                   const std::vector<Recording> &recordings,
                                   std::vector<TraceSlice> *slices);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_REPLAY_H
