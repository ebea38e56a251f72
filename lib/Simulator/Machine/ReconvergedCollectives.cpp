//===- ReconvergedCollectives.cpp - Collectives of diverged lanes ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Diverged lanes may reach a collective at different times, and some
// collectives at different instructions. The first lanes wait; the last ones
// execute the step for all.
//
// Source: PTX ISA, section 9.7.13.2 "bar.warp.sync".
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"
#include "Trace/Recorder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Lanes that wait at a step for the active lanes take part in it.
void Warp::joinAt(uint32_t pc) {
  std::vector<LaneSet> &stack = frames.back().stack;
  LaneSet *running = &stack.back();
  for (LaneSet &set : llvm::drop_end(stack)) {
    if (set.state != LaneSet::State::Meeting || set.pc != pc)
      continue;
    active |= set.meeting;
    set.state = LaneSet::State::Ready;
    ++set.pc;
    // Sets with the same point of reconvergence go on together.
    if (set.reconverge == running->reconverge)
      running->lanes |= std::exchange(set.lanes, 0);
  }
  pruneSets();
}

Meeting Warp::meet(LaneMask missing) {
  std::vector<LaneSet> &stack = frames.back().stack;
  // Missing lanes of the same set are excluded by the guard.
  if (top().lanes & missing)
    return Meeting::Never;
  uint32_t pc = top().pc - 1;
  LaneMask there = 0;
  for (const LaneSet &set : stack)
    if (set.state == LaneSet::State::Meeting && set.pc == pc)
      there |= set.meeting;
  if (!(missing & ~there)) {
    joinAt(pc);
    return Meeting::Complete;
  }
  if (current->gathering && meetElsewhere(missing))
    return Meeting::Later;
  top().pc = pc;
  top().state = LaneSet::State::Meeting;
  top().meeting = active;
  if (runAnother() || (wakePolled() && runAnother())) {
    if (frames.back().counts)
      --frames.back().counts[pc];
    if (block.group.recorder)
      block.group.recorder->undoStep(*this);
    return Meeting::Later;
  }
  top().state = LaneSet::State::Ready;
  return Meeting::Never;
}

/// Gathers the operands of a step from several sets of lanes into extra
/// registers behind those of the function.
class Warp::Gathered {
public:
  Gathered(Warp &warp, const Step &step) : warp(warp), step(step) {
    Frame &frame = warp.frames.back();
    frame.registers.resize(frame.code->numRegisters + step.operands.size());
    frame.predicates.resize(frame.code->numPredicates + step.operands.size());
    warp.bindFrame();
    for (size_t i = 0; i != step.operands.size(); ++i)
      slots.push_back(step.operands[i] == kNoSlot ? kNoSlot
                      : isPredicate(i) ? frame.code->numPredicates + i
                                       : frame.code->numRegisters + i);
  }

  /// Copies operands of lanes in from `from`, and results out.
  void copyIn(const Step &from, LaneMask lanes) { copy(from, lanes, false); }
  void copyOut(const Step &to, LaneMask lanes) { copy(to, lanes, true); }

  void execute() {
    Step gathered = step;
    gathered.operands = slots;
    step.execute(warp, gathered);
  }

private:
  bool isPredicate(size_t i) const {
    return step.gathering->predicates >> i & 1;
  }
  void copy(const Step &other, LaneMask lanes, bool isOut);

  Warp &warp;
  const Step &step;
  llvm::SmallVector<Slot, 6> slots;
};

static void copyLanes(Predicate &to, const Predicate &from, LaneMask lanes) {
  to.value = (to.value & ~lanes) | (from.value & lanes);
  to.undefined = (to.undefined & ~lanes) | (from.undefined & lanes);
}

static void copyLanes(Lanes &to, const Lanes &from, LaneMask lanes) {
  forEachLane(lanes, [&](unsigned lane) {
    to.set(lane, from.value[lane], from.getUndefined(lane));
  });
}

void Warp::Gathered::copy(const Step &other, LaneMask lanes, bool isOut) {
  for (size_t i = 0; i != slots.size(); ++i) {
    Slot inner = slots[i], outer = other.operands[i];
    if (inner == kNoSlot || outer == kNoSlot ||
        (isOut && !(step.gathering->results >> i & 1)))
      continue;
    if (isOut)
      std::swap(inner, outer);
    if (isPredicate(i))
      copyLanes(warp.pred(inner), warp.pred(outer), lanes);
    else
      copyLanes(warp.reg(inner), warp.reg(outer), lanes);
  }
}

/// If all missing lanes wait at other instances of the current step, executes
/// it for them and the active lanes together.
bool Warp::meetElsewhere(LaneMask missing) {
  std::vector<LaneSet> &stack = frames.back().stack;
  const std::vector<Step> &steps = frames.back().code->steps;
  const Step &step = *current;
  llvm::SmallVector<LaneSet *, 4> others;
  LaneMask there = 0;
  for (LaneSet &set : stack) {
    // Another set may be at the end of the function.
    if (set.state != LaneSet::State::Meeting || !(set.meeting & missing))
      continue;
    const Gathering *gathering = steps[set.pc].gathering;
    if (!gathering || gathering->name != step.gathering->name)
      continue;
    others.push_back(&set);
    there |= set.meeting;
  }
  if (missing & ~there)
    return false;
  Gathered gathered(*this, step);
  LaneMask own = active;
  gathered.copyIn(step, own);
  for (LaneSet *set : others)
    gathered.copyIn(steps[set->pc], set->meeting);
  active |= there;
  gathered.execute();
  gathered.copyOut(step, own);
  for (LaneSet *set : others) {
    gathered.copyOut(steps[set->pc], set->meeting);
    set->state = LaneSet::State::Ready;
    ++set->pc;
  }
  return true;
}
