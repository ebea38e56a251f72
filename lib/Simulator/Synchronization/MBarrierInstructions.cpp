//===- MBarrierInstructions.cpp - mbarrier objects ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state that mbarrier.arrive returns is opaque in PTX. Here its fields are,
// from the lowest bit on, the pending count (20 bits), the address of the
// object divided by 8 (16 bits) and the phase (28 bits).
//
// Source: PTX ISA, section 9.7.13.15 "mbarrier".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/Lanewise.h"
#include "Machine/BlockGroup.h"
#include "Synchronization/MBarrierLocations.h"
#include "Trace/Recorder.h"
#include "Translation/OpcodeTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr unsigned kPendingBits = 20, kAddressBits = 16, kPhaseBits = 28;

static uint64_t packState(uint32_t address, const MBarrier &mbarrier) {
  return mbarrier.pending | uint64_t(address / kMBarrierBytes) << kPendingBits |
         mbarrier.phase << (kPendingBits + kAddressBits);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {
enum class Kind : uint8_t {
  Init,
  Invalidate,
  Arrive,
  ArriveDrop,
  ExpectTx,
  CompleteTx,
};

/// Operands: the address, a count, bytes and the destination; kNoSlot where
/// there is none.
struct UpdateForm {
  Kind kind;
  AddressSpace space;
  int64_t offset;
  bool mayComplete;
};

/// Operands: the address, the state or parity, and the destination.
struct WaitForm {
  AddressSpace space;
  int64_t offset;
  bool isParity, blocks;
};
} // namespace

/// A lane's count of arrivals (from 1 on) or bytes (from 0 on).
static std::optional<uint32_t> getCount(Warp &warp, Slot slot, unsigned lane,
                                        uint64_t least, llvm::StringRef what) {
  if (!warp.requireDefined(slot, LaneMask(1) << lane, what))
    return std::nullopt;
  uint64_t count = warp.reg(slot).value[lane];
  if (count >= least && count <= uint64_t(kMaxMBarrierCount))
    return count;
  return warp.error(lane, "expected " + what + " from " + llvm::Twine(least) +
                              " to " + llvm::Twine(kMaxMBarrierCount) +
                              ", got " + llvm::Twine(count));
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

static void setStates(Block &block, uint32_t offset, uint8_t state) {
  std::memset(block.shared.states() + offset, state, kMBarrierBytes);
}

static void initialize(Warp &warp, unsigned lane, uint32_t offset,
                       Slot countSlot) {
  Block &block = warp.block;
  uint64_t address = block.getSharedBase() + offset;
  std::optional<uint32_t> count = getCount(warp, countSlot, lane, /*least=*/1,
                                           "the count of an mbarrier object");
  if (!count)
    return;
  if (block.mbarriers.count(offset))
    return warp.fail(lane, "there is an mbarrier object at " +
                               printHex(address) +
                               " already: expected mbarrier.inval before");
  AddressSpace space = AddressSpace::Shared;
  Span span;
  if (!warp.resolve(lane, space, address, kMBarrierBytes, kMBarrierBytes,
                    /*isStore=*/true, span))
    return;
  MBarrier mbarrier = {};
  mbarrier.expected = mbarrier.pending = *count;
  mbarrier.initializer = warp.index * kLanes + lane;
  if (block.group.races)
    mbarrier.initialClock = block.group.races->getClock(warp.number);
  block.mbarriers[offset] = mbarrier;
  if (Recorder *recorder = block.group.recorder.get())
    recorder->beginMBarrier(Recorder::getBarrier({&block, offset}),
                            "mbarrier " + printHex(address) + " of block " +
                                print(block.index));
  setStates(block, offset, ByteMBarrier);
}

static void arrive(Warp &warp, unsigned lane, SharedLocation location,
                   const Step &step) {
  const auto &form = step.getForm<UpdateForm>();
  auto [owner, offset] = location;
  Block &block = *owner;
  Slot countSlot = step.operands[1], bytes = step.operands[2];
  if (&block != &warp.block && step.operands[3] != kNoSlot)
    return warp.fail(lane, "expected '_' for the state of an mbarrier object "
                           "of another block");
  std::optional<uint32_t> count = 1;
  if (countSlot != kNoSlot)
    count =
        getCount(warp, countSlot, lane, /*least=*/1, "the count of an arrival");
  MBarrier *mbarrier = block.findMBarrier(warp, lane, offset);
  if (!count || !mbarrier)
    return;
  uint64_t state = packState(offset, *mbarrier);
  if (bytes != kNoSlot) {
    std::optional<uint32_t> added =
        getCount(warp, bytes, lane, /*least=*/0, "the bytes of a transaction");
    if (!added || !block.addTransactions(warp, lane, offset, *added))
      return;
  }
  if (form.kind == Kind::ArriveDrop) {
    if (*count > mbarrier->expected)
      return warp.fail(lane, block.describeMBarrier(offset) +
                                 " expected to drop at most " +
                                 llvm::Twine(mbarrier->expected) +
                                 " participants, got " + llvm::Twine(*count));
    mbarrier->expected -= *count;
  }
  if (!form.mayComplete && *count == mbarrier->pending &&
      mbarrier->transactions == 0)
    return warp.fail(lane, "mbarrier.arrive.noComplete expected that arrivals "
                           "are left in this phase of " +
                               block.describeMBarrier(offset) +
                               ", got the last one");
  if (block.group.races)
    block.group.races->release(warp.number, mbarrier->clocks);
  if (block.group.recorder)
    block.group.recorder->arrive(warp, Recorder::getBarrier(location));
  if (!block.arrive(warp, lane, offset, *count) || step.operands[3] == kNoSlot)
    return;
  warp.reg(step.operands[3]).set(lane, state, 0);
}

static void executeUpdate(Warp &warp, const Step &step) {
  warp.act();
  const auto &form = step.getForm<UpdateForm>();
  Slot bytes = step.operands[2];
  forEachMBarrier(
      warp, form.space, step.operands[0], form.offset,
      [&](unsigned lane, SharedLocation location) {
        auto [owner, offset] = location;
        Block &block = *owner;
        std::optional<uint32_t> count;
        switch (form.kind) {
        case Kind::Init:
          if (!requireOwn(warp, lane, location))
            return;
          return initialize(warp, lane, offset, step.operands[1]);
        case Kind::Invalidate:
          if (!requireOwn(warp, lane, location) ||
              !block.findMBarrier(warp, lane, offset))
            return;
          block.mbarriers.erase(offset);
          return setStates(block, offset, ByteUndefined);
        case Kind::Arrive:
        case Kind::ArriveDrop:
          return arrive(warp, lane, location, step);
        case Kind::ExpectTx:
        case Kind::CompleteTx:
          count = getCount(warp, bytes, lane, /*least=*/0,
                           "the bytes of a transaction");
          if (!count)
            return;
          if (form.kind == Kind::ExpectTx) {
            block.addTransactions(warp, lane, offset, *count);
            return;
          }
          if (!block.addTransactions(warp, lane, offset, -int64_t(*count)))
            return;
          // complete_tx is relaxed: it orders only what came before the last
          // fence.
          if (block.group.races)
            block.group.races->releaseFenced(warp.number,
                                             block.mbarriers.at(offset).clocks);
          if (block.group.recorder)
            block.group.recorder->arrive(warp, Recorder::getBarrier(location));
          block.completeIfDue(offset);
          return;
        }
      });
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// Whether the phase that a lane tests is complete; nothing after a failure.
static std::optional<bool> isComplete(Warp &warp, unsigned lane,
                                      uint32_t offset, Slot slot,
                                      bool isParity) {
  const Block &block = warp.block;
  MBarrier *mbarrier = warp.block.findMBarrier(warp, lane, offset);
  if (!mbarrier ||
      !warp.requireDefined(slot, LaneMask(1) << lane,
                           isParity ? "the parity of a phase"
                                    : "the state of an mbarrier object"))
    return std::nullopt;
  uint64_t value = warp.reg(slot).value[lane];
  if (isParity) {
    if (value <= 1)
      return mbarrier->phase % 2 != value;
    return warp.error(lane,
                      "expected the parity of a phase to be 0 or 1, got " +
                          llvm::Twine(value));
  }
  uint64_t of =
      (value >> kPendingBits & llvm::maskTrailingOnes<uint64_t>(kAddressBits)) *
      kMBarrierBytes;
  if (of != offset)
    return warp.error(lane, "expected a state of " +
                                block.describeMBarrier(offset) +
                                ", got one of that at " +
                                printHex(block.getSharedBase() + of));
  uint64_t phase = value >> (kPendingBits + kAddressBits);
  uint64_t now = mbarrier->phase & llvm::maskTrailingOnes<uint64_t>(kPhaseBits);
  if (phase == now || phase + 1 == now)
    return phase != now;
  return warp.error(lane, "expected the state of phase " + llvm::Twine(now) +
                              " of " + block.describeMBarrier(offset) +
                              " or of the phase before, got that of phase " +
                              llvm::Twine(phase));
}

/// Whether a test only peeks: the next branch behind it does not depend on the
/// result. CUTLASS's pipelines peek at the next stage before they process the
/// current one.
static bool isPeek(const Step &step) {
  // The registers and predicates that depend on the result.
  llvm::SmallSet<std::pair<bool, Slot>, 4> dependent;
  dependent.insert({true, step.operands[2]});
  constexpr unsigned most = 16;
  // There is always a next step: the last one ends the function.
  for (const Step *next = &step + 1; next != &step + 1 + most; ++next) {
    if (next->kind == StepClass::Control)
      return !dependent.count({true, next->guard});
    bool isDependent = dependent.count({true, next->guard});
    auto getOperand = [&](unsigned i) {
      bool isPredicate = i < 32 && (next->predicates >> i & 1);
      return std::pair<bool, Slot>(isPredicate, next->operands[i]);
    };
    unsigned end = next->firstResult + next->numResults;
    for (unsigned i = 0; i != next->operands.size(); ++i)
      if (i < next->firstResult || i >= end)
        isDependent |= dependent.count(getOperand(i)) != 0;
    for (unsigned i = next->firstResult; isDependent && i != end; ++i)
      dependent.insert(getOperand(i));
  }
  return true;
}

static void executeWait(Warp &warp, const Step &step) {
  const auto &form = step.getForm<WaitForm>();
  LaneMask complete = 0;
  llvm::SmallVector<uint32_t, 2> awaited;
  forEachMBarrier(
      warp, form.space, step.operands[0], form.offset,
      [&](unsigned lane, SharedLocation location) {
        auto [owner, offset] = location;
        if (!requireOwn(warp, lane, location))
          return;
        std::optional<bool> result =
            isComplete(warp, lane, offset, step.operands[1], form.isParity);
        if (result && *result) {
          complete |= LaneMask(1) << lane;
          if (owner->group.races)
            owner->group.races->acquire(
                warp.number, owner->mbarriers.at(offset).completeClocks);
          if (owner->group.recorder)
            owner->group.recorder->awaitLast(
                warp, Recorder::getBarrier(location), isPeek(step));
        } else if (!llvm::is_contained(awaited, offset)) {
          awaited.push_back(offset);
        }
      });
  if (warp.state == WarpState::Failed)
    return;
  // Lanes whose phases are complete need not wait for those of others.
  if (!complete && form.blocks && !warp.hasTimedOut) {
    warp.wait("for an mbarrier object", /*retries=*/true, awaited);
    return;
  }
  warp.hasTimedOut = false;
  Predicate &result = warp.pred(step.operands[2]);
  result.value = (result.value & ~warp.active) | complete;
  result.undefined &= ~warp.active;
  if (!complete && warp.block.group.recorder)
    warp.block.group.recorder->noteFailedTest(warp);
  if (!complete && !form.blocks)
    warp.poll(awaited);
}

static void executePendingCount(Warp &warp, const Step &step) {
  Lanes &result = warp.reg(step.operands[0]);
  const Lanes &state = warp.reg(step.operands[1]);
  forEachLane(warp.active, [&](unsigned lane) {
    bool isUndefined = state.isUndefined(lane);
    result.set(lane,
               state.value[lane] &
                   llvm::maskTrailingOnes<uint64_t>(kPendingBits),
               isUndefined ? 0xF : 0);
  });
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Takes out the space (shared or generic), semantics, scope and type.
static bool takeQualifiers(Translator &t, Modifiers &modifiers,
                           AddressSpace &space, bool mayBeRemote) {
  space = takeSpace(modifiers);
  bool isCluster = mayBeRemote && space == AddressSpace::SharedCluster;
  if (space != AddressSpace::Generic && space != AddressSpace::Shared &&
      !isCluster)
    t.fail("expected .shared::cta" +
           llvm::Twine(mayBeRemote ? ", .shared::cluster" : "") +
           " or no state space behind this mbarrier instruction");
  modifiers.takeOneOf({"release", "acquire", "relaxed"});
  modifiers.takeOneOf({"cta", "cluster"});
  if (!modifiers.take("b64"))
    t.fail("expected .b64 behind mbarrier");
  return t.finish(modifiers);
}

static void emitUpdate(Translator &t, UpdateForm form,
                       const PtxOperand &operand, llvm::ArrayRef<Slot> others) {
  llvm::SmallVector<Slot> slots = {t.address(operand, form.space, form.offset)};
  slots.append(others.begin(), others.end());
  t.emit(executeUpdate, StepClass::Synchronization, slots, t.keep(form));
}

/// mbarrier.arrive and .arrive_drop.
static void translateArrival(Translator &t, Modifiers &modifiers, Kind kind) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  UpdateForm form = {};
  form.kind = kind;
  form.mayComplete = !modifiers.take("noComplete");
  bool hasBytes = modifiers.take("expect_tx");
  if (hasBytes && !form.mayComplete)
    return t.fail("expected .expect_tx or .noComplete, got both");
  bool needsThird = hasBytes || !form.mayComplete;
  if (!takeQualifiers(t, modifiers, form.space, /*mayBeRemote=*/true) ||
      !t.expectOperands(needsThird ? 3 : 2, 3))
    return;
  bool isCluster = form.space == AddressSpace::SharedCluster;
  if (isCluster && operands[0].kind != PtxOperand::Kind::Sink)
    return t.fail(operands[0].location,
                  "expected '_' for the state of an mbarrier object of "
                  ".shared::cluster");
  if (isCluster && !form.mayComplete)
    return t.fail("expected .shared::cta for .noComplete");
  Slot third =
      operands.size() == 3 ? t.source(operands[2], Type::U32) : kNoSlot;
  Slot state = operands[0].kind == PtxOperand::Kind::Sink
                   ? kNoSlot
                   : t.destination(operands[0], Type::B64);
  emitUpdate(t, form, operands[1],
             {hasBytes ? kNoSlot : third, hasBytes ? third : kNoSlot, state});
}

static void translateWait(Translator &t, Modifiers &modifiers, bool blocks) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  WaitForm form = {};
  form.blocks = blocks;
  form.isParity = modifiers.take("parity");
  // The time limit, which the simulator ignores.
  if (!takeQualifiers(t, modifiers, form.space, /*mayBeRemote=*/false) ||
      !t.expectOperands(3, blocks ? 4 : 3))
    return;
  Slot base = t.address(operands[1], form.space, form.offset);
  if (operands.size() == 4)
    t.source(operands[3], Type::U32);
  Slot slots[] = {base,
                  t.source(operands[2], form.isParity ? Type::U32 : Type::B64),
                  t.predicateDestination(operands[0])};
  t.emit(executeWait, StepClass::Synchronization, slots, t.keep(form));
}

static void translateMBarrier(Translator &t, Modifiers &modifiers) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  if (modifiers.take("pending_count")) {
    if (!modifiers.take("b64"))
      t.fail("expected .b64 behind mbarrier");
    t.emit(executePendingCount, StepClass::Synchronization,
           takeOperands(t, modifiers, Type::U32, {Type::B64}));
    return;
  }
  if (modifiers.take("test_wait"))
    return translateWait(t, modifiers, /*blocks=*/false);
  if (modifiers.take("try_wait"))
    return translateWait(t, modifiers, /*blocks=*/true);
  if (modifiers.take("arrive"))
    return translateArrival(t, modifiers, Kind::Arrive);
  if (modifiers.take("arrive_drop"))
    return translateArrival(t, modifiers, Kind::ArriveDrop);
  static constexpr Kind kinds[] = {Kind::Init, Kind::Invalidate, Kind::ExpectTx,
                                   Kind::CompleteTx};
  std::optional<unsigned> row =
      modifiers.takeOneOf({"init", "inval", "expect_tx", "complete_tx"});
  if (!row)
    return t.fail("expected an operation behind mbarrier, such as .init or "
                  ".arrive");
  UpdateForm form = {};
  form.kind = kinds[*row];
  bool isInvalidation = form.kind == Kind::Invalidate;
  bool isInit = form.kind == Kind::Init;
  if (!takeQualifiers(t, modifiers, form.space,
                      /*mayBeRemote=*/!isInit && !isInvalidation) ||
      !t.expectOperands(isInvalidation ? 1 : 2))
    return;
  Slot value = isInvalidation ? kNoSlot : t.source(operands[1], Type::U32);
  emitUpdate(t, form, operands[0],
             {isInit ? value : kNoSlot, isInit ? kNoSlot : value, kNoSlot});
}

void sim::addMBarrierInstructions(OpcodeTable &table) {
  table["mbarrier"] = translateMBarrier;
}
