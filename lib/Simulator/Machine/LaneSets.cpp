//===- LaneSets.cpp - Lanes of a warp that have parted --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which set of lanes runs: the one on top of the stack does, until it waits for
// lanes of another one, asks for something in vain or goes in circles. What the
// ISA leaves to independent scheduling is here: lanes of one warp may wait for
// each other, and come to a collective at different times.
//
// Source: PTX ISA, sections 3.1 "A Set of SIMT Multiprocessors", 9.7.13.2
// "bar.warp.sync".
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Turns before a place is looked at the first time, and visits of it before
/// registers are kept.
static constexpr uint64_t kFirstLook = 16;
static constexpr unsigned kVisits = 4;
/// Turns after which another set that is ready runs, and after which lanes that
/// have not come to a place again have left their circle.
static constexpr uint64_t kTurnsOfSet = 64;

//===----------------------------------------------------------------------===//
// Circles
//===----------------------------------------------------------------------===//

void CircleWatch::look(const LaneSet &set, size_t newDepth) {
  pc = set.pc;
  lanes = set.lanes;
  depth = newDepth;
  numVisits = 0;
}

void CircleWatch::leave() {
  numLeft += isCircling;
  isCircling = false;
  lanes = 0;
}

void CircleWatch::forget() {
  uint64_t left = numLeft;
  *this = CircleWatch();
  numLeft = left;
}

bool CircleWatch::begin(const LaneSet &set, size_t newDepth,
                        const std::vector<Lanes> &newRegisters,
                        const std::vector<Predicate> &newPredicates) {
  if (++numTurns < kFirstLook)
    return false;
  if (isCircling && numTurns - lastRound > kTurnsOfSet)
    leave();
  if (!isCircling && llvm::isPowerOf2_64(numTurns)) {
    look(set, newDepth);
    return false;
  }
  if (!isHere(set, newDepth) || ++numVisits < kVisits)
    return false;
  auto isSame = [](const auto &lhs, const auto &rhs) {
    return lhs.value == rhs.value;
  };
  if (numVisits == kVisits) {
    registers = newRegisters;
    predicates = newPredicates;
    return false;
  }
  if (!llvm::equal(registers, newRegisters, isSame) ||
      !llvm::equal(predicates, newPredicates, isSame)) {
    if (isCircling)
      leave();
    return false;
  }
  // A turn that has only been put off is no round.
  bool isRound = !isCircling || numTurns != lastRound + 1 || !wasRound;
  isCircling = true;
  lastRound = numTurns;
  wasRound = isRound;
  return isRound;
}

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

//===----------------------------------------------------------------------===//
// Lanes that meet
//===----------------------------------------------------------------------===//

/// Those who wait at a step for the active lanes take part in it.
void Warp::joinAt(uint32_t pc) {
  std::vector<LaneSet> &stack = frames.back().stack;
  LaneSet *running = &stack.back();
  for (LaneSet &set : llvm::drop_end(stack)) {
    if (set.state != LaneSet::State::Meeting || set.pc != pc)
      continue;
    active |= set.meeting;
    set.state = LaneSet::State::Ready;
    ++set.pc;
    // Those that meet in the same place anyway go on together.
    if (set.reconverge == running->reconverge)
      running->lanes |= std::exchange(set.lanes, 0);
  }
  pruneSets();
}

Meeting Warp::meet(LaneMask missing) {
  std::vector<LaneSet> &stack = frames.back().stack;
  // Lanes of the same set do not fulfil the guard.
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
  if (runAnother() || (wakeAsked() && runAnother())) {
    if (frames.back().counts)
      --frames.back().counts[pc];
    return Meeting::Later;
  }
  top().state = LaneSet::State::Ready;
  return Meeting::Never;
}

/// Operands of a step, with those of other sets in their lanes, are put into
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

  /// Copies operands of the lanes of `from` in; results out.
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
    to.value[lane] = from.value[lane];
    to.setUndefined(lane, from.getUndefined(lane));
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

/// Lanes that wait at other instances of the current step, and the active ones,
/// carry it out together, if those are all that are missing.
bool Warp::meetElsewhere(LaneMask missing) {
  std::vector<LaneSet> &stack = frames.back().stack;
  const std::vector<Step> &steps = frames.back().code->steps;
  const Step &step = *current;
  llvm::SmallVector<LaneSet *, 4> others;
  LaneMask there = 0;
  for (LaneSet &set : stack) {
    const Gathering *gathering = steps[set.pc].gathering;
    if (set.state != LaneSet::State::Meeting || !(set.meeting & missing) ||
        !gathering || gathering->name != step.gathering->name)
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
