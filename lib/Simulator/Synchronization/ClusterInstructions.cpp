//===- ClusterInstructions.cpp - barrier.cluster, mapa, getctarank --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The instructions that only make sense in a cluster: its barrier, and
// addresses in the memory of its blocks.
//
// Source: PTX ISA, sections 9.7.13.3 "barrier.cluster", 9.7.9.22 "mapa",
// 9.7.9.23 "getctarank".
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"
#include "Memory/MemoryOperands.h"
#include "Synchronization/BarrierInstructions.h"
#include "Synchronization/ClusterBarriers.h"
#include "Translation/OpcodeTable.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// barrier.cluster
//===----------------------------------------------------------------------===//

namespace {
struct ClusterBarrierForm {
  bool isAligned, waits, releases;
};
} // namespace

static void executeClusterBarrier(Warp &warp, const Step &step) {
  const auto &form = step.getForm<ClusterBarrierForm>();
  if (!requireConverged(warp, form.isAligned))
    return;
  ClusterBarrier &barrier =
      warp.block.group.get<ClusterBarriers>().get(warp.block);
  if (form.waits)
    return barrier.wait(warp);
  if (form.releases)
    warp.block.publishMBarriers(warp, warp.active);
  barrier.arrive(warp, form.releases);
}

void sim::translateClusterBarrier(Translator &t, Modifiers &modifiers) {
  std::optional<unsigned> kind = modifiers.takeOneOf({"arrive", "wait"});
  if (!kind)
    return t.fail("expected .arrive or .wait behind barrier.cluster");
  ClusterBarrierForm form = {};
  form.waits = kind == 1u;
  form.isAligned = modifiers.take("aligned");
  form.releases = !form.waits && !modifiers.take("relaxed");
  if (form.waits)
    modifiers.take("acquire");
  else if (form.releases)
    modifiers.take("release");
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(executeClusterBarrier, StepClass::Synchronization, {}, t.keep(form));
}

//===----------------------------------------------------------------------===//
// Addresses of other blocks
//===----------------------------------------------------------------------===//

namespace {
struct ClusterAddressForm {
  bool isGeneric;
};
} // namespace

/// The shared::cluster address of a lane's operand; fails if it is not an
/// address of shared memory.
static std::optional<uint64_t>
getClusterAddress(Warp &warp, const Step &step, unsigned lane, uint64_t value) {
  bool isGeneric = step.getForm<ClusterAddressForm>().isGeneric;
  bool isShared = !isGeneric || getRegion(value) == kSharedRegion;
  uint64_t address = isGeneric ? getRegionOffset(value) : value;
  if (isShared && warp.block.findOwner(address))
    return address;
  return warp.error(lane, step.name + " expected " +
                              (isGeneric ? "a generic" : "an") +
                              " address of shared memory of the cluster, got " +
                              printHex(value));
}

/// Operands: the result, the address and the rank.
static void executeMapAddress(Warp &warp, const Step &step) {
  const Lanes &from = warp.reg(step.operands[1]);
  const Lanes &ranks = warp.reg(step.operands[2]);
  Lanes &to = warp.reg(step.operands[0]);
  unsigned clusterSize = warp.block.group.clusterSize;
  forEachLane(warp.active, [&](unsigned lane) {
    // An undefined operand only makes the result undefined.
    uint64_t value = from.value[lane], rank = ranks.value[lane];
    if (from.isUndefined(lane) || ranks.isUndefined(lane) ||
        rank >= clusterSize)
      return to.setUndefined(lane, 0xFF);
    std::optional<uint64_t> address =
        getClusterAddress(warp, step, lane, value);
    if (!address)
      return;
    // The window, and the offset in the memory of a block.
    to.set(lane,
           (value - *address) | rank << kSharedOffsetBits |
               getSharedOffset(*address),
           0);
  });
}

/// Operands: the result and the address.
static void executeGetRank(Warp &warp, const Step &step) {
  const Lanes &from = warp.reg(step.operands[1]);
  Lanes &to = warp.reg(step.operands[0]);
  forEachLane(warp.active, [&](unsigned lane) {
    if (from.isUndefined(lane))
      return to.setUndefined(lane, 0xFF);
    if (std::optional<uint64_t> address =
            getClusterAddress(warp, step, lane, from.value[lane])) {
      to.set(lane, *address >> kSharedOffsetBits, 0);
    }
  });
}

/// The space and the type of an address; nothing after an error.
static std::optional<Type> takeAddressType(Translator &t, Modifiers &modifiers,
                                           ClusterAddressForm &form) {
  AddressSpace space = takeSpace(modifiers);
  std::optional<Type> type = modifiers.takeType();
  form.isGeneric = space == AddressSpace::Generic;
  if ((!form.isGeneric && space != AddressSpace::SharedCluster) ||
      (type != Type::U32 && type != Type::U64))
    return t.error(
        "expected .shared::cluster or no state space, and .u32 or .u64, "
        "behind " +
        llvm::Twine(t.current->opcode));
  if (form.isGeneric && type == Type::U32)
    return t.error("not supported in this version: addresses of 32 bits");
  return type;
}

static void translateMapAddress(Translator &t, Modifiers &modifiers) {
  ClusterAddressForm form;
  std::optional<Type> type = takeAddressType(t, modifiers, form);
  if (!type || !t.finish(modifiers) || !t.expectOperands(3))
    return;
  Slot slots[] = {t.destination(t.current->operands[0], *type),
                  t.source(t.current->operands[1], *type),
                  t.source(t.current->operands[2], Type::U32)};
  t.emit(executeMapAddress, StepClass::Arithmetic, slots, t.keep(form));
}

static void translateGetRank(Translator &t, Modifiers &modifiers) {
  ClusterAddressForm form;
  std::optional<Type> type = takeAddressType(t, modifiers, form);
  if (!type || !t.finish(modifiers) || !t.expectOperands(2))
    return;
  Slot slots[] = {t.destination(t.current->operands[0], Type::U32),
                  t.source(t.current->operands[1], *type)};
  t.emit(executeGetRank, StepClass::Arithmetic, slots, t.keep(form));
}

void sim::addClusterInstructions(OpcodeTable &table) {
  table["mapa"] = translateMapAddress;
  table["getctarank"] = translateGetRank;
}
