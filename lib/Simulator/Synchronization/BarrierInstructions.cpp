//===- BarrierInstructions.cpp - bar, barrier, fences ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bar, barrier and fences: their operands, and what they report to race
// detection and to the proxy tracker.
//
// Source: PTX ISA, sections 9.7.13.1 "bar, barrier", 9.7.13.2 "bar.warp.sync",
// 9.7.13.4 "membar, fence".
//
//===----------------------------------------------------------------------===//

#include "Synchronization/BarrierInstructions.h"

#include "Collectives/CollectiveInstructions.h"
#include "Machine/BlockGroup.h"
#include "Synchronization/BlockBarriers.h"
#include "Trace/Recorder.h"
#include "Translation/OpcodeTable.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// bar and barrier
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the number, the count, the destination and the predicate; kNoSlot
/// where there is none.
struct BarrierForm {
  bool isAligned, waits;
  Reduction reduction;
  bool isNegated;
};
} // namespace

static llvm::StringRef getName(Reduction reduction) {
  switch (reduction) {
  case Reduction::None:
    return "no reduction";
  case Reduction::PopCount:
    return ".red.popc";
  case Reduction::And:
    return ".red.and";
  case Reduction::Or:
    return ".red.or";
  }
  return "";
}

bool sim::requireConverged(Warp &warp, bool isAligned) {
  LaneMask missing = warp.existing & ~warp.exited & ~warp.active;
  if (!missing)
    return true;
  Meeting meeting = warp.meet(missing);
  if (meeting != Meeting::Never)
    return meeting == Meeting::Complete;
  unsigned lane = __builtin_ctz(missing);
  return warp.error(
      lane,
      (isAligned ? "an aligned barrier expected all lanes of the warp that "
                   "have not exited, but lane "
                 : "not supported in this version: a barrier that lanes of a "
                   "warp reach at different times; lane ") +
          llvm::Twine(lane) + " does not take part");
}

/// How many threads a phase expects; 0 after a failure.
static uint32_t getCount(Warp &warp, Slot slot) {
  if (slot == kNoSlot)
    return kLanes * warp.block.warps.size();
  std::optional<uint64_t> count =
      warp.getUniform(slot, "the thread count of a barrier");
  if (!count)
    return 0;
  if (*count != 0 && *count % kLanes == 0)
    return *count;
  warp.fail(__builtin_ctz(warp.active),
            "expected the thread count of a barrier to be a positive multiple "
            "of 32, got " +
                llvm::Twine(*count));
  return 0;
}

/// Whether a warp may arrive at the phase of a barrier that others have begun.
static bool checkPhase(Warp &warp, const BlockBarrier &barrier, unsigned number,
                       uint32_t count, Reduction reduction) {
  unsigned lane = __builtin_ctz(warp.active);
  std::string start = "barrier " + std::to_string(number);
  if (barrier.expected != count)
    warp.fail(lane, start + " expected a count of " +
                        llvm::Twine(barrier.expected) +
                        " threads, as earlier arrivals have, got " +
                        llvm::Twine(count));
  else if (barrier.reduction != reduction)
    warp.fail(lane, start + " expected " + getName(barrier.reduction) +
                        ", as earlier arrivals have, got " +
                        getName(reduction));
  else if (barrier.warps >> warp.index & 1)
    warp.fail(lane, start + " expected other warps, but this warp arrives a "
                            "second time before the barrier is complete");
  return warp.state != WarpState::Failed;
}

static void executeBarrier(Warp &warp, const Step &step) {
  const auto &form = step.getForm<BarrierForm>();
  Slot destination = step.operands[2], predicate = step.operands[3];
  std::optional<uint64_t> number =
      warp.getUniform(step.operands[0], "the number of a barrier");
  if (!number || !requireConverged(warp, form.isAligned))
    return;
  if (*number >= kNumBarriers)
    return warp.fail(__builtin_ctz(warp.active),
                     "expected a barrier from 0 to 15, got " +
                         llvm::Twine(*number));
  uint32_t count = getCount(warp, step.operands[1]);
  if (count == 0)
    return;
  auto &barriers = warp.block.group.get<BlockBarriers>();
  BlockBarrier &barrier = barriers.get(warp.block, *number);
  if (barrier.arrived == 0) {
    barrier.expected = count;
    barrier.expectsAll = step.operands[1] == kNoSlot;
    barrier.reduction = form.reduction;
  } else if (!checkPhase(warp, barrier, *number, count, form.reduction)) {
    return;
  }
  if (form.reduction != Reduction::None) {
    const Predicate &source = warp.pred(predicate);
    if (LaneMask undefined = source.undefined & warp.active)
      return warp.fail(__builtin_ctz(undefined),
                       "the predicate of a barrier is undefined");
    LaneMask value = form.isNegated ? ~source.value : source.value;
    barrier.numTrue += llvm::popcount(value & warp.active);
    barrier.numCounted += llvm::popcount(warp.active);
  }
  barrier.arrived += kLanes;
  barrier.warps |= uint32_t(1) << warp.index;
  if (warp.block.group.races)
    warp.block.group.races->release(warp.number, barrier.clocks);
  if (Recorder *recorder = warp.block.group.recorder.get()) {
    recorder->arrive(warp, {&barrier, *number});
    if (form.waits)
      recorder->awaitCurrent(warp, {&barrier, *number});
  }
  if (form.waits) {
    barrier.waiting.push_back({warp.index, destination});
    warp.wait("at a barrier", /*retries=*/false);
  }
  barriers.completeIfDue(warp.block, barrier);
}

static void executeWarpBarrier(Warp &warp, const Step &step) {
  if (!requireMembers(warp, step.operands[0], "bar.warp.sync"))
    return;
  if (warp.block.group.races)
    warp.block.group.races->joinLanes(warp.number);
}

/// The operands of `bar.red` behind the barrier's number: an optional count and
/// a predicate.
static void translateReduction(Translator &t, BarrierForm &form,
                               Modifiers &modifiers, Slot (&slots)[4]) {
  static constexpr Reduction reductions[] = {Reduction::PopCount,
                                             Reduction::And, Reduction::Or};
  std::optional<unsigned> reduction =
      modifiers.takeOneOf({"popc", "and", "or"});
  bool isCount = reduction == 0u;
  if (!reduction || !modifiers.take(isCount ? "u32" : "pred"))
    return t.fail("expected .popc.u32, .and.pred or .or.pred behind " +
                  llvm::Twine(t.current->opcode) + ".red");
  if (!t.finish(modifiers) || !t.expectOperands(3, 4))
    return;
  form.reduction = reductions[*reduction];
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  slots[0] = t.source(operands[1], Type::U32);
  if (operands.size() == 4)
    slots[1] = t.source(operands[2], Type::U32);
  slots[2] = isCount ? t.destination(operands[0], Type::U32)
                     : t.predicateDestination(operands[0]);
  slots[3] = t.predicateSource(operands.back(), &form.isNegated);
}

static void translateBarrier(Translator &t, Modifiers &modifiers) {
  bool isBar = t.current->opcode == "bar";
  if (isBar && modifiers.take("warp")) {
    if (!modifiers.take("sync"))
      return t.fail("expected bar.warp.sync");
    if (t.finish(modifiers) && t.expectOperands(1))
      gather(t,
             t.emit(executeWarpBarrier, StepClass::Synchronization,
                    t.source(t.current->operands[0], Type::B32)),
             /*predicates=*/0, /*results=*/0);
    return;
  }
  if (!isBar && modifiers.take("cluster"))
    return translateClusterBarrier(t, modifiers);
  modifiers.take("cta");
  std::optional<unsigned> kind = modifiers.takeOneOf({"sync", "arrive", "red"});
  if (!kind)
    return t.fail("expected .sync, .arrive or .red behind " +
                  llvm::Twine(t.current->opcode));
  BarrierForm form = {};
  // bar is barrier.aligned.
  form.isAligned = (!isBar && modifiers.take("aligned")) || isBar;
  form.waits = kind != 1u;
  Slot slots[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  if (kind == 2u) {
    translateReduction(t, form, modifiers, slots);
  } else {
    // An arrival must have a thread count.
    if (!t.finish(modifiers) || !t.expectOperands(kind == 1u ? 2 : 1, 2))
      return;
    slots[0] = t.source(t.current->operands[0], Type::U32);
    if (t.current->operands.size() == 2)
      slots[1] = t.source(t.current->operands[1], Type::U32);
  }
  t.emit(executeBarrier, StepClass::Synchronization, slots, t.keep(form));
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

/// fence.mbarrier_init: publishes the mbarrier objects of the thread.
static void executeMBarrierFence(Warp &warp, const Step &step) {
  warp.block.publishMBarriers(warp, warp.active);
  if (warp.block.group.races)
    warp.block.group.races->fence(warp.number);
}

/// fence.proxy.async, except for global memory. It also publishes mbarrier
/// objects of other threads, as the thread that begins a copy may execute it.
static void executeProxyFence(Warp &warp, const Step &step) {
  warp.block.publishKnownMBarriers(warp);
  if (warp.block.group.proxies)
    forEachLane(warp.active, [&](unsigned lane) {
      warp.block.group.proxies->fence(warp.number * kLanes + lane);
    });
}

/// Memory accesses are always in order here; the fence only matters to a later
/// relaxed arrival.
static void executeFence(Warp &warp, const Step &step) {
  if (warp.block.group.races)
    warp.block.group.races->fence(warp.number);
}

static void translateFence(Translator &t, Modifiers &modifiers) {
  Step::Execute execute = executeFence;
  if (modifiers.take("mbarrier_init")) {
    execute = executeMBarrierFence;
  } else if (modifiers.take("proxy")) {
    std::optional<unsigned> proxy = modifiers.takeOneOf(
        {"async", "async::generic", "alias", "tensormap::generic"});
    if (!proxy)
      return t.fail("expected .async, .alias or .tensormap::generic behind " +
                    llvm::Twine(t.current->opcode) + ".proxy");
    execute = executeNothing;
    bool isGlobal = proxy == 0u && modifiers.take("global");
    if (*proxy <= 1 && !isGlobal)
      execute = executeProxyFence;
    modifiers.takeOneOf({"shared::cta", "shared::cluster"});
  }
  modifiers.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  modifiers.takeOneOf(
      {"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  modifiers.takeOneOf({"cta", "cluster", "gpu", "sys", "gl"});
  // fence.proxy.tensormap names the tensor map.
  if (t.finish(modifiers) && t.expectOperands(0, 2))
    t.emit(execute, StepClass::Synchronization, {});
}

void sim::addBarrierInstructions(OpcodeTable &table) {
  table["bar"] = translateBarrier;
  table["barrier"] = translateBarrier;
  table["fence"] = translateFence;
  table["membar"] = translateFence;
}
