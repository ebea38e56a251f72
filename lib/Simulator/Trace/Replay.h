//===- Replay.h - When things would happen on a chip ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plays recordings of blocks with the rates of a chip: warps issue their steps
// in order as operands are there, units do what they are asked one after
// another, and who waits goes on when what it waits for is complete. Blocks
// begin as SMs have room for them.
//
// What it leaves out: caches of the SMs, waits through global
// memory, instructions that ptxas adds or drops, and the launch of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRACE_REPLAY_H
#define BLOCKSCALE_LIB_SIMULATOR_TRACE_REPLAY_H

#include "Trace/StreamingMultiprocessor.h"

#include <map>
#include <optional>

namespace mlir::blockscale::sim {

/// How the groups of a launch fill a chip.
struct ReplayShape {
  uint64_t numGroups;
  /// Blocks of a cluster, which are on different SMs, and clusters
  /// of a group, which are on the same.
  unsigned clusterSize, clustersOfGroup;
  /// Groups that the same SMs have room for.
  unsigned groupsBesideEachOther;
  unsigned warpsOfBlock;
  /// Group i is recording i / stride.
  uint64_t stride;
};

/// Why somebody waited, or nothing was done.
enum class WaitCause : uint8_t { Warps, Copies, Tcgen05Core, Issue };
inline constexpr unsigned kNumWaitCauses = 4;
/// What statistics call it.
llvm::StringRef getName(WaitCause cause);

/// Something that took time, for those who look at it.
struct TraceSlice {
  enum class Kind : uint8_t { Run, Wait, Operation };
  Kind kind;
  /// The SM.
  uint32_t place;
  /// The group, and in it the warp that ran or began the operation.
  uint32_t group, warp;
  /// In clocks, from the start of the kernel on.
  double begin, end;
  /// Wait: the phase. Operation: its number.
  uint32_t number;
  /// Lines of the PTX text, and how many steps.
  uint32_t firstLine, lastLine, numSteps;
  /// Wait for an operation, not for a phase.
  bool isForOperation;
};

/// Slices that are kept, at most.
inline constexpr size_t kMaxSlices = size_t(1) << 20;

/// What a replay finds out.
struct ReplayResult {
  double clocks = 0;
  std::array<double, kNumBusyUnits> busy = {};
  /// Of the tensor core and the matrix pipes: shares of the time of all
  /// SMs in use in which they did nothing, by what the warp that
  /// asked next had waited for before.
  std::array<std::array<double, kNumWaitCauses>, kNumBusyUnits> idle = {};
  /// Shares of the time of all warps in which they waited.
  std::array<double, kNumWaitCauses> waits = {};
  unsigned sms = 0;
};

/// `recordings` is not empty; slices are kept where the pointer is not null.
/// Nothing where warps wait for what nobody does.
std::optional<ReplayResult> replay(const Timing &timing,
                                   const ReplayShape &shape,
                                   const std::vector<Recording> &recordings,
                                   std::vector<TraceSlice> *slices);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_REPLAY_H
