//===- Recording.h - What a group of blocks did -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the warps of a group did in a run, and what waited for what: steps,
// accesses of memory, asynchronous operations, and the phases of barriers. The
// order in which warps took turns is not in it: a replay finds out when things
// would happen on a chip.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRACE_RECORDING_H
#define BLOCKSCALE_LIB_SIMULATOR_TRACE_RECORDING_H

#include "Translation/Code.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::blockscale {
struct ChipRates;
} // namespace mlir::blockscale

namespace mlir::blockscale::sim {

/// A figure of Support/Rates.h.
using RateFigure = std::optional<int64_t> ChipRates::*;

/// Units that have work under way apart from the steps of warps.
enum class TraceUnit : uint8_t {
  BulkLoads,
  BulkStores,
  ThreadCopies,
  Tcgen05Core,
  Tcgen05Loads,
  Tcgen05Stores,
  Warpgroups,
};
inline constexpr unsigned kNumTraceUnits = 7;

/// What traces and statistics call it.
llvm::StringRef getName(TraceUnit unit);

/// By number, in Recording::operations.
using OperationId = uint32_t;
inline constexpr OperationId kNoOperation = ~OperationId(0);

/// One operation of a unit: what it has to do.
struct TraceOperation {
  TraceUnit unit;
  /// The first block of the group whose SM does it, and how many.
  uint32_t block = 0, numBlocks = 1;
  /// In the PTX text.
  uint32_t line = 0;
  /// Floating point operations on each of the SMs, and the figure
  /// that says how many there are in a clock.
  uint64_t flops = 0;
  RateFigure rate = nullptr;
  /// Bytes that come from the L2 cache or go there, that shared memory gives or
  /// takes, and that tensor memory does.
  uint64_t l2Bytes = 0, sharedBytes = 0, tensorMemoryBytes = 0;
  /// Bytes of global memory that the group had not touched before.
  uint64_t newBytes = 0;
};

/// Something that came with a step of a warp.
struct TraceEvent {
  enum class Kind : uint8_t {
    /// `number` wavefronts of shared memory.
    SharedAccess,
    /// `number` sectors of 32 bytes of global memory, of which the group had
    /// not touched `newSectors` before.
    GlobalLoad,
    GlobalStore,
    /// The operation with a number begins.
    Begin,
    /// An arrival at the phase with a number.
    Arrive,
    /// The step is over when the phase, or the operation, is.
    AwaitPhase,
    AwaitOperation,
    /// Has looked whether the phase is over, to wait for it later.
    PeekPhase,
  };
  /// The step: those of the warp are counted from 0 on.
  uint32_t step;
  Kind kind;
  /// At most those of 32 lanes.
  uint16_t newSectors;
  uint32_t number;

  /// Of memory, by the warp itself.
  bool isAccess() const { return kind <= Kind::GlobalStore; }
};

/// Steps that follow one another in a function.
struct StepRun {
  const Code *code;
  uint32_t first, count;
};

struct WarpRecording {
  std::vector<StepRun> runs;
  /// In the order of steps.
  std::vector<TraceEvent> events;
  uint32_t numSteps = 0;
};

struct TraceBarrier {
  std::string name;
  bool isMBarrier;
};

/// A phase of a barrier: complete when so many have arrived, warps or
/// operations.
struct TracePhase {
  /// In Recording::barriers.
  uint32_t barrier;
  uint32_t numArrivals = 0;
};

struct Recording {
  /// By number of the warp in the group.
  std::vector<WarpRecording> warps;
  std::vector<TraceOperation> operations;
  /// Of each operation: the phases that it arrives at when it is complete.
  std::vector<std::pair<OperationId, uint32_t>> arrivals;
  std::vector<TracePhase> phases;
  std::vector<TraceBarrier> barriers;
  /// Places of the blocks in the grid.
  std::vector<std::string> blocks;
  /// There was more than is kept.
  bool isCut = false;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_RECORDING_H
