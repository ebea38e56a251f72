//===- Warp.cpp - A warp --------------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interpreter's loop, and what steps need of a warp: divergence and
// reconvergence, calls and returns, waits and failures.
//
//===----------------------------------------------------------------------===//

#include "Machine/Warp.h"

#include "Machine/BlockGroup.h"
#include "Machine/SpecialRegisters.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr unsigned kMaxCallDepth = 1024;
/// The most registers and predicates of all frames in a block; they take up to
/// some 1.3 GB. A kernel of 32 warps may have 2^17.
static constexpr uint64_t kMaxBlockRegisters = uint64_t(1) << 22;

Warp::Warp(Block &block, unsigned index, unsigned numThreads)
    : block(block), index(index),
      number(block.number * block.launch.getNumWarps() + index),
      existing(numThreads == kLanes ? kAllLanes
                                    : (LaneMask(1) << numThreads) - 1),
      watchers(block.group.getStepWatchers()) {}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

static uint64_t getNumRegisters(const Code &code) {
  return uint64_t(code.numRegisters) + code.numPredicates;
}

void Warp::enter(const Code &code, LaneMask lanes, const Step *caller) {
  if (frames.size() == kMaxCallDepth)
    return fail(__builtin_ctz(lanes), "expected at most " +
                                          llvm::Twine(kMaxCallDepth) +
                                          " nested calls");
  Frame frame;
  frame.code = &code;
  frame.caller = caller;
  frame.entered = lanes;
  uint64_t most = 0;
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    frame.localBefore[lane] = local[lane].size();
    most = std::max(most, frame.localBefore[lane]);
  }
  if (!frames.empty())
    frame.localBase = llvm::alignTo(most + kVariableGap, code.localAlignment);
  uint64_t localSize = frame.localBase + code.localSize;
  if (localSize > kMaxLocalBytes)
    return fail(__builtin_ctz(lanes),
                "expected at most " + llvm::Twine(kMaxLocalBytes) +
                    " bytes of local memory for a thread, got " +
                    llvm::Twine(localSize));
  uint64_t numRegisters = getNumRegisters(code);
  if (block.numRegisters + numRegisters > kMaxBlockRegisters)
    return fail(__builtin_ctz(lanes),
                "expected at most " + llvm::Twine(kMaxBlockRegisters) +
                    " registers in the active functions of a block, got " +
                    llvm::Twine(block.numRegisters + numRegisters));
  block.numRegisters += numRegisters;
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    local[lane].resize(localSize);
    std::vector<uint8_t> &states = localStates[lane];
    states.resize(localSize, ByteUnmapped);
    for (auto [begin, end] : code.localVariables)
      std::fill(states.begin() + frame.localBase + begin,
                states.begin() + frame.localBase + end, ByteUndefined);
  }
  Lanes undefined;
  undefined.value.fill(0);
  undefined.undefinedBytes.fill(0xFF);
  undefined.undefinedLanes = kAllLanes;
  frame.registers.assign(code.numRegisters, undefined);
  frame.predicates.resize(code.numPredicates);
  // Lanes that leave the function reconverge at its end.
  uint32_t end = code.steps.size();
  frame.stack.push_back({/*pc=*/0, /*reconverge=*/end, lanes});
  fillSlots(frame);
  if (block.group.statistics)
    frame.counts = block.group.statistics->getStepCounts(code).data();
  frames.push_back(std::move(frame));
  bindFrame();
}

void Warp::fillSlots(Frame &frame) {
  for (const FilledSlot &filled : frame.code->filled) {
    Lanes &lanes = frame.registers[filled.slot];
    lanes.undefinedLanes = 0;
    switch (filled.kind) {
    case FilledSlot::Kind::Constant:
      lanes.value.fill(filled.value);
      break;
    case FilledSlot::Kind::Special:
      readSpecial(SpecialValue::decode(filled.value), *this, lanes);
      break;
    case FilledSlot::Kind::LocalOffset:
      lanes.value.fill(frame.localBase + filled.value);
      break;
    case FilledSlot::Kind::LocalAddress:
      lanes.value.fill(getRegionBase(kLocalRegion) + frame.localBase +
                       filled.value);
      break;
    case FilledSlot::Kind::SharedAddress:
      lanes.value.fill(block.getSharedBase() + filled.value);
      break;
    case FilledSlot::Kind::DynamicSharedAddress:
      lanes.value.fill(block.getSharedBase() +
                       block.launch.kernel->staticShared + filled.value);
      break;
    }
  }
}

void Warp::bindFrame() {
  registers = frames.back().registers.data();
  predicates = frames.back().predicates.data();
}

inline bool Warp::tellWatchers(const Step &step) {
  for (AsyncUnit *unit : watchers)
    if (!unit->beginStep(*this, step))
      return false;
  return true;
}

void Warp::popFrame() {
  const Step *caller = frames.back().caller;
  for (AsyncUnit *unit : watchers)
    if (!unit->endFunction(*this))
      return;
  if (!caller) {
    state = WarpState::Done;
    return;
  }
  // Results are copied while both frames are there.
  finishCall(*this, *caller);
  block.numRegisters -= getNumRegisters(*frames.back().code);
  std::array<uint64_t, kLanes> localBefore = frames.back().localBefore;
  frames.pop_back();
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    local[lane].resize(localBefore[lane]);
    localStates[lane].resize(localBefore[lane]);
  }
  bindFrame();
  // The call has written its results just now.
  for (AsyncUnit *unit : watchers)
    if (!unit->endCall(*this, *caller))
      return;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

uint64_t Warp::run(uint64_t count) {
  uint64_t executed = 0;
  beginTurn();
  while (executed != count && state == WarpState::Ready) {
    LaneSet &lanes = top();
    if (lanes.lanes == 0 || lanes.pc == lanes.reconverge) {
      Frame &frame = frames.back();
      if (frame.stack.size() > 1) {
        frame.stack.pop_back();
        settle();
      } else {
        popFrame();
      }
      continue;
    }
    Frame &frame = frames.back();
    if (frame.counts)
      ++frame.counts[lanes.pc];
    const Step &step = frame.code->steps[lanes.pc++];
    current = &step;
    active = lanes.lanes;
    ++executed;
    if (step.guard != kNoSlot) {
      const Predicate &guard = predicates[step.guard];
      if (LaneMask undefined = guard.undefined & active) {
        unsigned lane = __builtin_ctz(undefined);
        fail(lane, "the guard is undefined" +
                       describeOrigin(step.guard, /*isPredicate=*/true, lane));
        break;
      }
      active &= step.isGuardNegated ? ~guard.value : guard.value;
      if (!active)
        continue;
      if (!checkUniformGuard(step))
        break;
    }
    if (!tellWatchers(step))
      break;
    step.execute(*this, step);
  }
  return executed;
}

void Warp::branch(uint32_t pc, uint32_t reconverge, bool othersFirst) {
  LaneSet &lanes = top();
  uint32_t next = lanes.pc;
  LaneMask taken = active, others = lanes.lanes & ~active;
  if (!others || pc == next) {
    lanes.pc = pc;
    return;
  }
  // The set that diverges waits at the point of reconvergence. If that is also
  // its own point of reconvergence, the set below already waits there, and no
  // new entry is needed: so a loop that lanes leave one by one does not grow
  // the stack.
  std::vector<LaneSet> &stack = frames.back().stack;
  if (lanes.reconverge == reconverge)
    stack.pop_back();
  else
    lanes.pc = reconverge;
  LaneSet sets[] = {{next, reconverge, others}, {pc, reconverge, taken}};
  if (othersFirst)
    std::swap(sets[0], sets[1]);
  for (const LaneSet &set : sets)
    if (set.pc != reconverge)
      stack.push_back(set);
}

void Warp::branch(llvm::ArrayRef<uint32_t> pcs, uint32_t reconverge) {
  // One target after the other: the lanes that have not branched yet stay at
  // this step, and execute it again with fewer lanes.
  uint32_t pc = pcs[__builtin_ctz(active)];
  LaneMask same = 0;
  forEachLane(active, [&](unsigned lane) {
    if (pcs[lane] == pc)
      same |= LaneMask(1) << lane;
  });
  if (same != active)
    --top().pc;
  active = same;
  branch(pc, reconverge);
}

/// All lanes that reach a step with `.uni` must execute it.
bool Warp::checkUniformGuard(const Step &step) {
  LaneMask others = top().lanes & ~active;
  if (!step.isUniform || !others)
    return true;
  return error(__builtin_ctz(others),
               step.name +
                   ".uni expected the same guard in all lanes, but it holds "
                   "in lane " +
                   llvm::Twine(__builtin_ctz(active)) + " and not in this one");
}

void Warp::dropLanes(LaneMask lanes) {
  exited |= lanes;
  for (Frame &frame : frames)
    for (LaneSet &set : frame.stack) {
      set.lanes &= ~lanes;
      // The set may be complete now.
      if (set.state == LaneSet::State::Meeting)
        set.state = LaneSet::State::Ready;
    }
}

void Warp::exit() { dropLanes(active); }

void Warp::leave() {
  if (frames.size() == 1)
    return exit();
  uint32_t end = frames.back().code->steps.size();
  branch(end, end);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void Warp::fail(unsigned lane, const llvm::Twine &text) {
  if (state == WarpState::Failed)
    return;
  state = WarpState::Failed;
  // A kernel that cannot be entered has no current step.
  failure = {current ? current->line
                     : block.launch.kernel->function->location.line,
             lane, text.str()};
}

void Warp::warn(unsigned lane, const llvm::Twine &text) {
  block.group.warn(*this, {current->line, lane, text.str()});
}

bool Warp::requireWholeWarp(llvm::StringRef what) {
  LaneMask missing = ~active;
  if (!missing)
    return true;
  bool mayCome = !(missing & (~existing | exited));
  Meeting meeting = mayCome ? meet(missing) : Meeting::Never;
  if (meeting != Meeting::Never)
    return meeting == Meeting::Complete;
  unsigned lane = __builtin_ctz(missing);
  LaneMask bit = LaneMask(1) << lane;
  return error(lane, what + " expected all lanes of the warp, but lane " +
                         llvm::Twine(lane) +
                         (!(existing & bit) ? " has no thread"
                          : exited & bit    ? " has exited"
                                            : " does not take part"));
}

bool Warp::requireDefined(Slot slot, LaneMask lanes, llvm::StringRef use) {
  LaneMask undefined = reg(slot).undefinedLanes & lanes;
  if (!undefined)
    return true;
  unsigned lane = __builtin_ctz(undefined);
  return error(lane, use + " is undefined" +
                         describeOrigin(slot, /*isPredicate=*/false, lane));
}

std::optional<uint64_t> Warp::getUniform(Slot slot, llvm::StringRef use) {
  if (!requireDefined(slot, active, use))
    return std::nullopt;
  const Lanes &lanes = reg(slot);
  unsigned first = __builtin_ctz(active);
  for (unsigned lane = first; lane != kLanes; ++lane)
    if ((active >> lane & 1) && lanes.value[lane] != lanes.value[first])
      return error(lane, use + " differs between lanes: " +
                             llvm::Twine(lanes.value[first]) + " in lane " +
                             llvm::Twine(first) + ", " +
                             llvm::Twine(lanes.value[lane]) + " here");
  return lanes.value[first];
}
