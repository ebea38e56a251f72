//===- Player.h - The state of a replay -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replays recordings: warps step through them, with the phases and operations
// of their groups.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRACE_PLAYER_H
#define BLOCKSCALE_LIB_SIMULATOR_TRACE_PLAYER_H

#include "Trace/Replay.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <deque>
#include <queue>

namespace mlir::blockscale::sim {

struct GroupState;

/// The state of a warp in its recording.
struct WarpState {
  GroupState *group;
  const WarpRecording *recording;
  uint32_t number, sm, quarter;
  /// Its position: a run of steps, a step in it, the index of the step, and the
  /// next event.
  size_t run = 0, event = 0;
  uint32_t inRun = 0, step = 0;
  /// The earliest time at which it goes on.
  double time;
  /// When its last step was issued.
  double lastIssue = 0;
  /// The current step has been issued and waits.
  bool isIssued = false;
  double issued = 0, result = 0;
  /// By function: when registers, then predicates, have their values.
  llvm::SmallDenseMap<const Code *, std::vector<double>, 2> ready;
  const Code *code = nullptr;
  std::vector<double> *values = nullptr;
  /// When its last wait ended.
  double segmentBegin;
  uint32_t segmentLine = 0, segmentSteps = 0, lastLine = 0;
  /// The phase that it has peeked at, but not waited for.
  std::optional<uint32_t> peeked;
  double waitEnd = 0;
  WaitCause cause = WaitCause::Issue;
};

struct PhaseState {
  uint32_t missing;
  double time = 0;
  WaitCause cause = WaitCause::Warps;
  llvm::SmallVector<WarpState *, 4> waiting;
};

struct GroupState {
  const Recording *recording;
  uint32_t number, set;
  std::vector<PhaseState> phases;
  /// When operations are complete.
  std::vector<double> done;
  unsigned numWarps = 0;
  double end = 0;
};

/// The phases at which operations arrive: those of operation i are at
/// `first[i]` to `first[i + 1]`.
struct OperationArrivals {
  explicit OperationArrivals(const Recording &recording);
  std::vector<uint32_t> first, phases;
};

class Player {
public:
  Player(const Timing &timing, const ReplayShape &shape,
         const std::vector<Recording> &recordings,
         std::vector<TraceSlice> *slices);

  std::optional<ReplayResult> run();

private:
  void beginGroup(uint32_t set, double time);
  void push(WarpState &warp);
  /// Whether another warp is further behind than `time`.
  bool isBehind(double time) const {
    return !heap.empty() && heap.top().time < time;
  }
  void advance(WarpState &warp);
  double getReady(WarpState &warp, const Step &step);
  bool issue(WarpState &warp, const Step &step);
  void noteIdle(BusyUnit unit, const WarpState &warp, double free,
                double begin);
  bool handleEvents(WarpState &warp, const Step &step);
  void access(WarpState &warp, const TraceEvent &event);
  bool awaitPhase(WarpState &warp, uint32_t number);
  bool awaitPeeked(WarpState &warp);
  void beginOperation(WarpState &warp, uint32_t number);
  void contribute(GroupState &group, uint32_t phase, double time,
                  WaitCause cause);
  void endWait(WarpState &warp, double end, WaitCause cause, uint32_t number,
               bool isForOperation);
  void addSlice(TraceSlice::Kind kind, const WarpState &warp, double begin,
                double end, uint32_t number, bool isForOperation);
  void endRun(WarpState &warp, double end);
  void endWarp(WarpState &warp);

  struct Entry {
    double time;
    /// A sequence number that breaks ties, so that the order is deterministic.
    uint64_t order;
    WarpState *warp;
    bool operator<(const Entry &other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  const Timing &timing;
  const ReplayShape &shape;
  const std::vector<Recording> &recordings;
  std::vector<OperationArrivals> arrivals;
  std::vector<TraceSlice> *slices;
  Chip chip;
  std::priority_queue<Entry> heap;
  uint64_t numPushed = 0;
  /// Warps that have begun, by SM.
  std::vector<uint64_t> numWarpsOf;
  std::deque<GroupState> groups;
  std::deque<WarpState> warps;
  /// Groups that have ended.
  std::vector<GroupState *> freeGroups;
  std::vector<WarpState *> freeWarps;
  uint64_t nextGroup = 0, numEnded = 0;
  ReplayResult result;
  /// The sum over all warps.
  double lifetime = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_PLAYER_H
