//===- GridDependency.cpp - Kernels that start early ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// griddepcontrol. The previous kernel is one more agent of race detection:
// barriers pass on that a warp has waited for its end.
//
// Source: PTX ISA, section 9.7.13.14 "griddepcontrol".
//
//===----------------------------------------------------------------------===//

#include "Synchronization/GridDependency.h"

#include "Machine/BlockGroup.h"
#include "Translation/OpcodeTable.h"
#include "Translation/Translator.h"

#include "llvm/ADT/bit.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

bool GridDependency::isWatched() const {
  return group.launch.isProgrammatic && group.races;
}

void GridDependency::wait(Warp &warp) {
  if (!isWatched())
    return;
  group.races->waitForGrid(warp.number);
  waited.insert(warp.block.number);
}

void GridDependency::startNext(Warp &warp) {
  if (isWatched() && !group.races->knowsGrid(warp.number))
    group.launch.memory->startsNextEarly.store(true, std::memory_order_relaxed);
}

void GridDependency::access(Warp &warp, const WarpAccess &access) {
  if (!group.races)
    return;
  GlobalMemory &memory = *group.launch.memory;
  bool isLoad = access.kind == AccessKind::Load;
  if (!isLoad)
    forEachLane(access.lanes, [&](unsigned lane) {
      uint64_t address = access.addresses[lane];
      if (auto *of = memory.lookup(address))
        of->noteWriter(address, access.size, group.launch.number);
    });
  if (!isWatched() || group.races->knowsGrid(warp.number))
    return;
  // What only kernels have stored that have ended may be read without a wait.
  LaneMask early = 0;
  forEachLane(access.lanes, [&](unsigned lane) {
    uint64_t address = access.addresses[lane];
    auto *of = memory.lookup(address);
    uint32_t writer = of ? of->getLastWriter(address, access.size) : 0;
    if (!isLoad || writer > group.launch.settled)
      early |= LaneMask(1) << lane;
  });
  if (early != 0)
    warp.fail(llvm::countr_zero(early),
              "race: this access of global memory may come before the previous "
              "kernel has ended: expected griddepcontrol.wait before it");
}

bool GridDependency::endBlock(Block &block) {
  if (!isWatched() || waited.count(block.number))
    return true;
  return group.failAt(
      block.warps.front(),
      {group.launch.kernel->function->location.line, 0,
       "race: the block ends without griddepcontrol.wait, so that later "
       "kernels may start before the previous one has ended"});
}

static void executeWait(Warp &warp, const Step &) {
  warp.block.group.get<GridDependency>().wait(warp);
}

static void executeLaunch(Warp &warp, const Step &) {
  warp.block.group.get<GridDependency>().startNext(warp);
}

static void translateGridControl(Translator &t, Modifiers &modifiers) {
  static constexpr Step::Execute execute[] = {executeLaunch, executeWait};
  std::optional<unsigned> kind =
      modifiers.takeOneOf({"launch_dependents", "wait"});
  if (!kind)
    return t.fail("expected .launch_dependents or .wait behind griddepcontrol");
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(execute[*kind], StepClass::Synchronization, {});
}

void sim::addGridInstructions(OpcodeTable &table) {
  table["griddepcontrol"] = translateGridControl;
}
