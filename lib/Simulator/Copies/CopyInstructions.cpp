//===- CopyInstructions.cpp - cp.async ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async and its groups; CopyInstructions.h says where the bulk copies are.
//
// Source: PTX ISA, section 9.7.9.25 "Data Movement and Conversion Instructions:
// Asynchronous copy".
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyInstructions.h"

#include "Copies/CpAsyncUnit.h"
#include "Machine/BlockGroup.h"
#include "Synchronization/MBarrierLocations.h"
#include "Trace/Recorder.h"
#include "Translation/OpcodeTable.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the destination, the source, the size in the source, and the
/// predicate that ignores the source; kNoSlot where there is none.
struct CopyForm {
  int64_t destinationOffset, sourceOffset;
  unsigned size;
  bool isNegated;
};
} // namespace

static void failFull(Warp &warp, unsigned lane) {
  warp.fail(lane, "expected at most " + llvm::Twine(kMaxCopiesInFlight) +
                      " copies and arrivals of a warp in flight: expected a "
                      "wait for some before");
}

/// The bytes that a lane copies from its source; nothing after a failure.
static std::optional<unsigned> getSourceSize(Warp &warp, const Step &step,
                                             unsigned lane) {
  const auto &form = step.getForm<CopyForm>();
  LaneMask bit = LaneMask(1) << lane;
  if (Slot slot = step.operands[3]; slot != kNoSlot) {
    const Predicate &ignores = warp.pred(slot);
    if (ignores.undefined & bit)
      return warp.error(lane,
                        "the predicate that ignores the source of a copy is "
                        "undefined");
    bool isIgnored = ((ignores.value & bit) != 0) != form.isNegated;
    return isIgnored ? 0 : form.size;
  }
  Slot slot = step.operands[2];
  if (slot == kNoSlot)
    return form.size;
  if (!warp.requireDefined(slot, bit, "the size of the source of a copy"))
    return std::nullopt;
  uint64_t size = warp.reg(slot).value[lane];
  if (size <= form.size)
    return size;
  return warp.error(lane,
                    "expected the size of the source of a copy to be at most " +
                        llvm::Twine(form.size) + ", got " + llvm::Twine(size));
}

/// Finds the source and the destination of a lane's copy. A source of size 0
/// need not be mapped. Addresses become those of the state spaces.
static bool resolveCopy(Warp &warp, const CopyForm &form, unsigned lane,
                        uint64_t &destination, uint64_t &source,
                        PendingCopy &copy) {
  AddressSpace space = AddressSpace::Global;
  if (copy.size && (!warp.resolve(lane, space, source, copy.size, form.size,
                                  /*isStore=*/false, copy.source) ||
                    !warp.checkReadable(lane, copy.source, copy.size)))
    return false;
  // Repeating an identical copy changes nothing, although the destination is
  // pending.
  Storage &shared = warp.block.shared;
  uint64_t offset = destination - warp.block.getSharedBase();
  if (offset < shared.size()) {
    copy.destination = {shared.data() + offset, shared.states() + offset,
                        &shared};
    if ((*copy.destination.states & BytePending) &&
        getCpAsync(warp).isInFlight(warp.block, copy))
      return true;
  }
  space = AddressSpace::Shared;
  return warp.resolve(lane, space, destination, form.size, form.size,
                      /*isStore=*/true, copy.destination);
}

static void executeCopy(Warp &warp, const Step &step) {
  const auto &form = step.getForm<CopyForm>();
  WarpAccess to, from;
  if (!getAddresses(warp, AddressSpace::Shared, step.operands[0],
                    form.destinationOffset, to))
    return;
  warp.act();
  from.space = AddressSpace::Global;
  from.kind = AccessKind::Load;
  to.kind = AccessKind::Store;
  from.isAsync = to.isAsync = true;
  from.size = to.size = form.size;
  const Lanes &sources = warp.reg(step.operands[1]);
  forEachLane(warp.active, [&](unsigned lane) {
    LaneMask bit = LaneMask(1) << lane;
    std::optional<unsigned> size = getSourceSize(warp, step, lane);
    if (!size ||
        (*size && !warp.requireDefined(step.operands[1], bit, "an address")))
      return;
    PendingCopy copy;
    copy.size = *size;
    copy.totalSize = form.size;
    copy.lane = lane;
    copy.line = step.line;
    from.addresses[lane] = sources.value[lane] + form.sourceOffset;
    if (!resolveCopy(warp, form, lane, to.addresses[lane], from.addresses[lane],
                     copy))
      return;
    if (*size)
      from.lanes |= bit;
    CpAsyncQueue &queue = getCpAsync(warp).getQueue(warp);
    if (queue.isFull())
      return failFull(warp, lane);
    queue.begin(copy);
  });
  if (warp.state == WarpState::Failed)
    return;
  warp.block.observe(warp, from);
  warp.block.observe(warp, to);
}

/// The fourth operand: a size, or a predicate that ignores the source.
static void addSourceSize(Translator &t, const PtxOperand &operand,
                          CopyForm &form, llvm::SmallVectorImpl<Slot> &slots) {
  bool isPredicate = operand.kind == PtxOperand::Kind::Register &&
                     t.function.registers[operand.index].type == Type::Pred;
  slots.push_back(isPredicate ? kNoSlot : t.source(operand, Type::U32));
  slots.push_back(isPredicate ? t.predicateSource(operand, &form.isNegated)
                              : kNoSlot);
}

static void translateCopy(Translator &t, Modifiers &modifiers) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  std::optional<unsigned> cache = modifiers.takeOneOf({"ca", "cg"});
  if (!cache || !modifiers.takeOneOf({"shared", "shared::cta"}) ||
      !modifiers.take("global"))
    return t.fail("expected cp.async.ca.shared.global or "
                  "cp.async.cg.shared.global");
  bool hasCachePolicy = modifiers.take("L2::cache_hint");
  modifiers.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  if (!t.finish(modifiers) ||
      !t.expectOperands(3 + hasCachePolicy, 4 + hasCachePolicy))
    return;
  if (hasCachePolicy) {
    t.source(operands.back(), Type::B64);
    operands = operands.drop_back();
  }
  int64_t size = t.constant(operands[2], "the size of a copy");
  if (size != 16 && (cache == 1u || (size != 4 && size != 8)))
    return t.fail(operands[2].location,
                  llvm::Twine("expected a copy of ") +
                      (cache == 1u ? "16 bytes" : "4, 8 or 16 bytes") +
                      ", got " + llvm::Twine(size));
  CopyForm form = {0, 0, static_cast<unsigned>(size), false};
  llvm::SmallVector<Slot, 4> slots = {
      t.addressIn(AddressSpace::Shared, operands[0], form.destinationOffset),
      t.addressIn(AddressSpace::Global, operands[1], form.sourceOffset)};
  if (operands.size() == 4)
    addSourceSize(t, operands[3], form, slots);
  else
    slots.append({kNoSlot, kNoSlot});
  t.emit(executeCopy, StepClass::Memory, slots, t.keep(form));
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static void executeCommit(Warp &warp, const Step &step) {
  CpAsyncQueue &queue = getCpAsync(warp).getQueue(warp);
  if (Recorder *recorder = warp.block.group.recorder.get())
    recorder->commit(warp, TraceUnit::ThreadCopies);
  forEachLane(warp.active, [&](unsigned lane) { queue.commit(lane); });
}

static void executeWaitGroup(Warp &warp, const Step &step) {
  getCpAsync(warp).wait(warp, step.getForm<uint64_t>());
}

static void executeWaitAll(Warp &warp, const Step &step) {
  getCpAsync(warp).wait(warp, std::nullopt);
}

uint64_t sim::takeNumGroups(Translator &t) {
  if (!t.expectOperands(1))
    return 0;
  const PtxOperand &operand = t.current->operands[0];
  int64_t count = t.constant(operand, "the number of groups");
  if (count < 0)
    t.fail(operand.location,
           "expected a number of groups from 0 on, got " + llvm::Twine(count));
  return count;
}

static void translateWaitGroup(Translator &t, Modifiers &modifiers) {
  if (t.finish(modifiers))
    t.emit(executeWaitGroup, StepClass::Synchronization, {},
           t.keep(takeNumGroups(t)));
}

static void translateWithoutOperands(Translator &t, Modifiers &modifiers,
                                     Step::Execute execute) {
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(execute, StepClass::Synchronization, {});
}

//===----------------------------------------------------------------------===//
// cp.async.mbarrier.arrive
//===----------------------------------------------------------------------===//

namespace {
struct ArrivalForm {
  AddressSpace space;
  int64_t offset;
  /// Without `.noinc`: the phase waits for one more arrival, which is this one.
  bool isCounted;
};
} // namespace

static void executeArrival(Warp &warp, const Step &step) {
  const auto &form = step.getForm<ArrivalForm>();
  forEachMBarrier(
      warp, form.space, step.operands[0], form.offset,
      [&](unsigned lane, SharedLocation location) {
        if (!requireOwn(warp, lane, location))
          return;
        MBarrier *mbarrier =
            warp.block.findMBarrier(warp, lane, location.offset);
        if (!mbarrier)
          return;
        if (form.isCounted && mbarrier->pending == kMaxMBarrierCount)
          return warp.fail(lane, "expected at most " +
                                     llvm::Twine(kMaxMBarrierCount) +
                                     " arrivals that an mbarrier object waits "
                                     "for, got one more");
        CpAsyncQueue &queue = getCpAsync(warp).getQueue(warp);
        if (queue.isFull())
          return failFull(warp, lane);
        mbarrier->pending += form.isCounted;
        Recorder *recorder = warp.block.group.recorder.get();
        queue.addArrival({lane, location.offset, step.line,
                          recorder
                              ? recorder->getLast(warp, TraceUnit::ThreadCopies)
                              : kNoOperation});
      });
}

static void translateArrival(Translator &t, Modifiers &modifiers) {
  ArrivalForm form = {};
  form.isCounted = !modifiers.take("noinc");
  form.space = takeSpace(modifiers);
  if (!modifiers.take("arrive") || !modifiers.take("b64"))
    return t.fail("expected cp.async.mbarrier.arrive.b64");
  if (!t.finish(modifiers) || !t.expectOperands(1))
    return;
  Slot base = t.address(t.current->operands[0], form.space, form.offset);
  t.emit(executeArrival, StepClass::Synchronization, base, t.keep(form));
}

//===----------------------------------------------------------------------===//
// The opcode
//===----------------------------------------------------------------------===//

static void translateCp(Translator &t, Modifiers &modifiers) {
  bool isReduction = modifiers.take("reduce");
  if (!modifiers.take("async"))
    return t.fail("expected cp.async or cp.reduce.async");
  if (isReduction)
    return translateBulkReduction(t, modifiers);
  if (modifiers.take("bulk"))
    return translateBulk(t, modifiers);
  if (modifiers.take("commit_group"))
    return translateWithoutOperands(t, modifiers, executeCommit);
  if (modifiers.take("wait_all"))
    return translateWithoutOperands(t, modifiers, executeWaitAll);
  if (modifiers.take("wait_group"))
    return translateWaitGroup(t, modifiers);
  if (modifiers.take("mbarrier"))
    return translateArrival(t, modifiers);
  translateCopy(t, modifiers);
}

void sim::addCopyInstructions(OpcodeTable &table) {
  table["cp"] = translateCp;
  table["tensormap"] = translateTensorMap;
}
