//===- GroupRaces.cpp - Races of the blocks of a group --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes accesses to race detection, and turns its findings into messages.
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::string sim::describeKind(AccessKind kind, bool isAsync) {
  static constexpr const char *names[] = {"load", "store", "atomic access"};
  std::string name = names[static_cast<unsigned>(kind)];
  return isAsync ? "asynchronous " + name : name;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

std::string
BlockGroup::describeConflict(const RaceDetector::Conflict &conflict) {
  return "the " + describeKind(conflict.kind, conflict.isAsync) + " in " +
         "line " + std::to_string(conflict.line) + " by lane " +
         std::to_string(conflict.lane) + " of " + describeWarp(conflict.warp);
}

void BlockGroup::checkRace(Warp &warp, const RaceDetector::Access &access) {
  std::optional<RaceDetector::Conflict> conflict = races->access(access);
  if (!conflict)
    return;
  uint64_t address = warp.block.getAddress(conflict->address);
  warp.fail(access.lane,
            "race: this " + describeKind(access.kind, access.isAsync) +
                " of the byte at " + printHex(address) + " in shared memory" +
                launch.nameSharedByte(getSharedOffset(address)) + " and " +
                describeConflict(*conflict) + " have no barrier between");
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

std::string sim::describeRace(const GlobalRace &race, GlobalMemory &memory) {
  const GlobalEvent &event = race.event, &other = race.other;
  std::string text = "race: this " + describeKind(event.kind, event.isAsync) +
                     " of the byte at " + printHex(race.address) +
                     " in global memory";
  if (GlobalMemory::Allocation *allocation = memory.lookup(race.address))
    text += " (byte " + std::to_string(race.address - allocation->address) +
            " of " + allocation->name + ")";
  text += " and the " + describeKind(other.kind, other.isAsync) + " in line " +
          std::to_string(other.line) + " by lane " +
          std::to_string(race.otherLane) + " of warp " +
          std::to_string(other.warpOfBlock);
  if (event.block == other.block)
    return text + " have no barrier between";
  return text + " of block " + print(other.block) +
         " have nothing between that orders the blocks";
}

/// Synchronization through memory is tracked at a granularity of 8 bytes.
static uint64_t getLocation(uint64_t address) { return address / 8; }

void BlockGroup::checkGlobalRaces(Warp &warp, const WarpAccess &access) {
  GlobalEvent event;
  event.line = warp.current->line;
  event.warp = warp.number;
  event.clock = races->getClock(warp.number);
  event.epoch = races->getEpoch(warp.number);
  event.kind = access.kind;
  event.isStrong =
      access.kind == AccessKind::Atomic || access.order != MemoryOrder::Weak;
  event.isAsync = access.isAsync || access.isBulk;
  event.group = number;
  event.block = warp.block.index;
  event.warpOfBlock = warp.index;
  // If other groups run at the same time, groups are compared when they have
  // ended.
  GridAccesses *grid =
      launch.uses(UsesGlobalSynchronization) ? launch.gridAccesses : nullptr;
  AccessRef ofGroup = globalAccesses.begin(event);
  AccessRef ofGrid = grid ? grid->begin(event) : 0;
  bool hasValue = access.kind != AccessKind::Load && !event.isAsync;
  forEachLane(access.lanes & ~access.repeated, [&](unsigned lane) {
    uint64_t address = access.addresses[lane];
    GlobalMemory::Allocation *allocation = launch.memory->lookup(address);
    const uint8_t *bytes = !hasValue       ? nullptr
                           : access.stored ? access.stored + lane * access.size
                           : allocation    ? allocation->storage.data() +
                                                 (address - allocation->address)
                                           : nullptr;
    std::optional<GlobalRace> race = globalAccesses.access(
        ofGroup, lane, address, access.size, bytes,
        [&](const GlobalEvent &event, unsigned lane, const GlobalEvent &toEvent,
            unsigned toLane) {
          return races->isOrdered(event.warp, lane, event.clock, event.epoch,
                                  toEvent.warp, toLane);
        });
    if (!race && grid)
      race = grid->access(ofGrid, lane, address, access.size, bytes);
    if (race)
      warp.fail(lane, describeRace(*race, *launch.memory));
  });
  if (!event.isStrong)
    return;
  uint64_t last = 0;
  forEachLane(access.lanes, [&](unsigned lane) {
    uint64_t location = getLocation(access.addresses[lane]);
    if (location == std::exchange(last, location))
      return;
    races->synchronize(warp.number, location, access.kind, access.order);
    if (grid)
      grid->synchronize(number, location, access.kind);
  });
}
