//===- Recording.h - Recording of a group of blocks -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recording of the warps of a group: steps, accesses of memory, asynchronous
// operations, the phases of barriers, and the dependences between them. It does
// not have the order in which warps took turns: a replay computes when things
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

/// Units that work asynchronously to the steps of warps.
enum class TraceUnit : uint8_t {
  BulkLoads,
  BulkStores,
  ThreadCopies,
  TensorCore,
  Tcgen05Loads,
  Tcgen05Stores,
  Warpgroups,
};
inline constexpr unsigned kNumTraceUnits = 7;

/// Its name in traces and statistics.
llvm::StringRef getName(TraceUnit unit);

/// An index into Recording::operations.
using OperationId = uint32_t;
inline constexpr OperationId kNoOperation = ~OperationId(0);

/// The work of one operation of a unit.
struct TraceOperation {
  TraceUnit unit;
  /// The first block of the group whose SM executes it, and how many blocks.
  uint32_t block = 0, numBlocks = 1;
  /// The line of the PTX text.
  uint32_t line = 0;
  /// Floating-point operations on each of the SMs, and the figure for how many
  /// there are in a clock.
  uint64_t flops = 0;
  RateFigure rate = nullptr;
  /// See ChipRates::sparseFactor.
  bool isSparse = false;
  /// Bytes from or to the L2 cache, shared memory and tensor memory.
  uint64_t l2Bytes = 0, sharedBytes = 0, tensorMemoryBytes = 0;
  /// Bytes of global memory that the group accesses for the first time.
  uint64_t newBytes = 0;
};

/// An event of a step of a warp.
struct TraceEvent {
  enum class Kind : uint8_t {
    /// `number` wavefronts of shared memory.
    SharedAccess,
    /// `number` sectors of 32 bytes of global memory, of which the group
    /// accesses `newSectors` for the first time.
    GlobalLoad,
    GlobalStore,
    /// The operation with a number begins.
    Begin,
    /// An arrival at the phase with a number.
    Arrive,
    /// The step ends when the phase, or the operation, is complete.
    AwaitPhase,
    AwaitOperation,
    /// Has tested whether the phase is complete, to wait for it later.
    PeekPhase,
  };
  /// The index of the step in the warp.
  uint32_t step;
  Kind kind;
  /// At most the sectors of 32 lanes.
  uint16_t newSectors;
  uint32_t number;

  /// Whether it is an access of memory by the warp itself.
  bool isAccess() const { return kind <= Kind::GlobalStore; }
};

/// A run of consecutive steps in a function.
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

/// A phase of a barrier: complete when so many warps or operations have
/// arrived.
struct TracePhase {
  /// An index into Recording::barriers.
  uint32_t barrier;
  uint32_t numArrivals = 0;
};

struct Recording {
  /// By number of the warp in the group.
  std::vector<WarpRecording> warps;
  std::vector<TraceOperation> operations;
  /// Operations and the phases at which they arrive when they are complete.
  std::vector<std::pair<OperationId, uint32_t>> arrivals;
  std::vector<TracePhase> phases;
  std::vector<TraceBarrier> barriers;
  /// The indices of the blocks in the grid.
  std::vector<std::string> blocks;
  /// Whether the recording was cut off at the limit.
  bool isCut = false;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_RECORDING_H
