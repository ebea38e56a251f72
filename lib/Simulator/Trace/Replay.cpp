//===- Replay.cpp - Replay with the rates of a chip -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Processes events in the order of time: the warp that is furthest behind runs
// until another one is (PlayerSteps.cpp), so that units get their work in the
// right order.
//
//===----------------------------------------------------------------------===//

#include "Trace/Player.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

llvm::StringRef sim::getName(WaitCause cause) {
  static constexpr llvm::StringLiteral names[kNumWaitCauses] = {
      "warps", "copies", "tensor core", "issue"};
  return names[static_cast<unsigned>(cause)];
}

OperationArrivals::OperationArrivals(const Recording &recording)
    : first(recording.operations.size() + 1),
      phases(recording.arrivals.size()) {
  for (auto [operation, phase] : recording.arrivals)
    ++first[operation + 1];
  for (size_t i = 1; i < first.size(); ++i)
    first[i] += first[i - 1];
  std::vector<uint32_t> next(first.begin(), first.end());
  for (auto [operation, phase] : recording.arrivals)
    phases[next[operation]++] = phase;
}

static unsigned countSms(const Timing &timing, const ReplayShape &shape) {
  return std::max<unsigned>(timing.sms, shape.clusterSize);
}

Player::Player(const Timing &timing, const ReplayShape &shape,
               const std::vector<Recording> &recordings,
               std::vector<TraceSlice> *slices)
    : timing(timing), shape(shape), recordings(recordings), slices(slices),
      chip(timing, countSms(timing, shape)), numWarpsOf(chip.sms.size()) {
  for (const Recording &recording : recordings)
    arrivals.emplace_back(recording);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void Player::push(WarpState &warp) {
  heap.push({warp.time, numPushed++, &warp});
}

/// A new state, which reuses one that has ended.
template <typename State>
static State &reuse(std::deque<State> &all, std::vector<State *> &free) {
  if (free.empty())
    return all.emplace_back();
  State &state = *free.back();
  free.pop_back();
  return state = State();
}

/// Begins the next group, if there is one, on the SMs with this number.
void Player::beginGroup(uint32_t set, double time) {
  while (nextGroup != shape.numGroups) {
    GroupState &group = reuse(groups, freeGroups);
    group.number = nextGroup++;
    group.recording = &recordings[group.number / shape.stride];
    group.set = set;
    group.end = time;
    for (const TracePhase &phase : group.recording->phases)
      group.phases.emplace_back().missing = phase.numArrivals;
    group.done.resize(group.recording->operations.size());
    for (auto [i, recording] : llvm::enumerate(group.recording->warps)) {
      if (recording.numSteps == 0)
        continue;
      unsigned rank = i / shape.warpsOfBlock % shape.clusterSize;
      WarpState &warp = reuse(warps, freeWarps);
      warp.group = &group;
      warp.recording = &recording;
      warp.number = i;
      warp.sm = set * shape.clusterSize + rank;
      // Warps of all blocks are assigned to quarters in turn.
      warp.quarter = numWarpsOf[warp.sm]++ % kNumQuarters;
      warp.time = warp.segmentBegin = time;
      ++group.numWarps;
      push(warp);
    }
    if (group.numWarps)
      return;
    ++numEnded;
    freeGroups.push_back(&group);
  }
}

void Player::endWarp(WarpState &warp) {
  warp.time = std::max(warp.time, warp.lastIssue);
  endRun(warp, warp.time);
  GroupState &group = *warp.group;
  group.end = std::max(group.end, warp.time);
  result.clocks = std::max(result.clocks, warp.time);
  warp.ready.clear();
  freeWarps.push_back(&warp);
  if (--group.numWarps)
    return;
  ++numEnded;
  auto [set, end] = std::pair(group.set, group.end);
  group.phases.clear();
  group.done.clear();
  freeGroups.push_back(&group);
  beginGroup(set, end);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void Player::endWait(WarpState &warp, double end, WaitCause cause,
                     uint32_t number, bool isForOperation) {
  if (end <= warp.issued + 1)
    return;
  result.waits[static_cast<unsigned>(cause)] += end - warp.issued;
  endRun(warp, warp.issued);
  addSlice(TraceSlice::Kind::Wait, warp, warp.issued, end, number,
           isForOperation);
  warp.time = std::max(warp.time, end);
  warp.result = std::max(warp.result, end);
  warp.waitEnd = end;
  warp.cause = cause;
  warp.segmentBegin = end;
}

void Player::endRun(WarpState &warp, double end) {
  lifetime += end - warp.segmentBegin;
  if (warp.segmentSteps && end > warp.segmentBegin)
    addSlice(TraceSlice::Kind::Run, warp, warp.segmentBegin, end, 0, false);
  warp.segmentSteps = 0;
}

void Player::addSlice(TraceSlice::Kind kind, const WarpState &warp,
                      double begin, double end, uint32_t number,
                      bool isForOperation) {
  if (slices && slices->size() < kMaxSlices)
    slices->push_back({kind, warp.sm, warp.group->number, warp.number, begin,
                       end, number, warp.segmentLine, warp.lastLine,
                       warp.segmentSteps, isForOperation});
}

std::optional<ReplayResult> Player::run() {
  uint32_t numSets = chip.sms.size() / shape.clusterSize;
  // First one group for each set of SMs, then further groups beside them.
  for (unsigned i = 0; i != shape.groupsBesideEachOther; ++i)
    for (uint32_t set = 0; set != numSets; ++set)
      beginGroup(set, 0);
  while (!heap.empty()) {
    WarpState &warp = *heap.top().warp;
    heap.pop();
    advance(warp);
  }
  if (numEnded != shape.numGroups)
    return std::nullopt;
  double waited = 0;
  for (double clocks : result.waits)
    waited += clocks;
  for (double &clocks : result.waits)
    clocks = lifetime + waited ? clocks / (lifetime + waited) : 0;
  for (const StreamingMultiprocessor &of : chip.sms)
    result.sms += of.isUsed;
  for (auto &ofUnit : result.idle)
    for (double &clocks : ofUnit)
      clocks /= std::max(result.clocks * result.sms, 1.0);
  for (unsigned i = 0; i != kNumBusyUnits; ++i)
    result.busy[i] = chip.getBusyShare(BusyUnit(i), result.clocks);
  return result;
}

std::optional<ReplayResult>
sim::replay(const Timing &timing, const ReplayShape &shape,
            const std::vector<Recording> &recordings,
            std::vector<TraceSlice> *slices) {
  return Player(timing, shape, recordings, slices).run();
}
