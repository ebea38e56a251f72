//===- LaneSets.cpp - Lanes of a warp that have parted --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which set of lanes runs: the one on top of the stack does, until it waits for
// lanes of another one (ReconvergedCollectives.cpp), asks for something in vain
// or goes in circles. So lanes of one warp may wait for each other.
//
// Source: PTX ISA, section 3.1 "A Set of SIMT Sms".
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
  if (circles.begin(top(), frames.size(), frame.registers, frame.predicates)) {
    waitReason = "for memory to change";
    if (!askLater(/*releases=*/true))
      state = WarpState::Polling;
    return;
  }
  awaited.clear();
  if (frame.stack.size() > 1 && circles.getNumTurns() % kTurnsOfSet == 0) {
    wakeAsked();
    runAnother();
  }
}

//===----------------------------------------------------------------------===//
// Which set runs
//===----------------------------------------------------------------------===//

/// Drops sets that have come to where they meet others, or have no lanes left.
void Warp::pruneSets() {
  std::vector<LaneSet> &stack = frames.back().stack;
  LaneSet last = stack.back();
  llvm::erase_if(stack, [](const LaneSet &set) {
    return !set.lanes || set.pc == set.reconverge;
  });
  // The last one says that the function is over.
  if (stack.empty())
    stack.push_back(last);
}

bool Warp::wakeAsked() {
  bool isAny = false;
  for (LaneSet &set : frames.back().stack)
    if (set.state == LaneSet::State::Asked) {
      set.state = LaneSet::State::Ready;
      isAny = true;
    }
  return isAny;
}

/// Puts a set on top that can run, the one that has not run for longest, with
/// those that are at the same place; false if there is none but the one that is
/// there.
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
  circles.forget();
  return true;
}

void Warp::settle() {
  if (top().state == LaneSet::State::Ready || runAnother())
    return;
  if (wakeAsked() && (top().state == LaneSet::State::Ready || runAnother()))
    return;
  // It says itself what is missing.
  top().state = LaneSet::State::Ready;
}

/// The set on top has asked in vain; whether others go on. `releases`: even
/// those that wait for it.
bool Warp::askLater(bool releases) {
  top().state = LaneSet::State::Asked;
  if (runAnother() || (releases && releaseJoins()))
    return true;
  wakeAsked();
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
    circles.forget();
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
  if (!askLater(/*releases=*/false))
    state = WarpState::Polling;
}
