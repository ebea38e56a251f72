//===- LaneSets.cpp - Diverged lanes of a warp ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the set of lanes that runs: the one on top of the stack, until it
// waits for lanes of another set (ReconvergedCollectives.cpp), polls without
// success, or is in a livelock. So lanes of one warp may wait for each other.
//
// Source: PTX ISA, section 3.1 "A Set of SIMT Multiprocessors".
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"
#include "Trace/Recorder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Turns after which another set that is ready runs.
static constexpr uint64_t kTurnsOfSet = 64;

void Warp::beginTurn() {
  Frame &frame = frames.back();
  if (livelock.begin(top(), frames.size(), frame.registers, frame.predicates)) {
    waitReason = "for memory to change";
    if (!pollLater(/*releases=*/true))
      state = WarpState::Polling;
    return;
  }
  awaited.clear();
  if (frame.stack.size() > 1 && livelock.getNumTurns() % kTurnsOfSet == 0) {
    wakePolled();
    runAnother();
  }
}

//===----------------------------------------------------------------------===//
// Which set runs
//===----------------------------------------------------------------------===//

/// Drops sets that have reached their point of reconvergence or have no lanes
/// left.
void Warp::pruneSets() {
  std::vector<LaneSet> &stack = frames.back().stack;
  LaneSet last = stack.back();
  llvm::erase_if(stack, [](const LaneSet &set) {
    return !set.lanes || set.pc == set.reconverge;
  });
  // Keeps the last set, as its end is the end of the function.
  if (stack.empty())
    stack.push_back(last);
}

bool Warp::wakePolled() {
  bool isAny = false;
  for (LaneSet &set : frames.back().stack)
    if (set.state == LaneSet::State::Polled) {
      set.state = LaneSet::State::Ready;
      isAny = true;
    }
  return isAny;
}

/// Moves another set that can run to the top: the one that has not run for
/// longest, merged with sets at the same instruction. False if there is no
/// other.
bool Warp::runAnother() {
  std::vector<LaneSet> &stack = frames.back().stack;
  std::optional<size_t> found;
  LaneMask above = 0;
  for (size_t i = stack.size(); i-- != 0;) {
    const LaneSet &set = stack[i];
    bool isFree = !(set.lanes & above);
    above |= set.lanes;
    if (isFree && i + 1 != stack.size() && set.lanes &&
        set.pc != set.reconverge && set.state == LaneSet::State::Ready)
      found = i;
  }
  if (!found)
    return false;
  std::rotate(stack.begin() + *found, stack.begin() + *found + 1, stack.end());
  livelock.forget();
  return true;
}

void Warp::settle() {
  if (top().state == LaneSet::State::Ready || runAnother())
    return;
  if (wakePolled() && (top().state == LaneSet::State::Ready || runAnother()))
    return;
  // The set runs again and reports what is missing.
  top().state = LaneSet::State::Ready;
}

/// The set on top has polled without success; returns whether other sets go on.
/// `releases`: also sets that wait for it at a point of reconvergence.
bool Warp::pollLater(bool releases) {
  top().state = LaneSet::State::Polled;
  if (runAnother() || (releases && releaseJoins()))
    return true;
  wakePolled();
  return false;
}

bool Warp::releaseJoins() {
  pruneSets();
  std::vector<LaneSet> &stack = frames.back().stack;
  std::vector<LaneSet> released;
  LaneMask above = 0;
  for (LaneSet &set : llvm::reverse(stack)) {
    LaneMask arrived = set.lanes & ~above;
    above |= set.lanes;
    if (!arrived || arrived == set.lanes)
      continue;
    released.push_back({set.pc, set.reconverge, arrived});
    set.lanes &= ~arrived;
  }
  llvm::append_range(stack, released);
  if (!released.empty())
    livelock.forget();
  return !released.empty();
}

void Warp::wait(std::string reason, bool retries,
                llvm::ArrayRef<uint32_t> phases) {
  waitReason = std::move(reason);
  if (!retries) {
    state = WarpState::Waiting;
    awaited.clear();
    return;
  }
  --top().pc;
  if (block.group.recorder)
    block.group.recorder->undoStep(*this);
  bool isAlone = frames.back().stack.size() == 1;
  poll(phases);
  if (isAlone)
    state = WarpState::Waiting;
}

void Warp::poll(llvm::ArrayRef<uint32_t> phases) {
  for (uint32_t phase : phases)
    if (!llvm::is_contained(awaited, phase))
      awaited.push_back(phase);
  if (!pollLater(/*releases=*/false))
    state = WarpState::Polling;
}
