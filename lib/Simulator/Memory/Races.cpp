//===- Races.cpp - Data races in shared memory ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks: an access races with the last ones of its bytes unless its
// warp knows of them.
//
//===----------------------------------------------------------------------===//

#include "Memory/Races.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Learns what `from` knows.
static void merge(Clocks &into, const Clocks &from) {
  if (into.size() < from.size())
    into.resize(from.size());
  for (size_t i = 0; i != from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

/// Learns of a time, unless a later one is known.
static void note(Clocks &clocks, const AgentTime &time) {
  if (clocks.size() <= time.agent)
    clocks.resize(time.agent + 1);
  clocks[time.agent] = std::max(clocks[time.agent], time.clock);
}

RaceDetector::RaceDetector(uint64_t sharedBytes, unsigned numWarps)
    : bytes(sharedBytes), clocks(numWarps, Clocks(numWarps)), fenced(numWarps),
      epochs(numWarps), fencedTensor(numWarps) {
  // What a warp does first is later than all that others know of it.
  for (unsigned warp = 0; warp != numWarps; ++warp)
    clocks[warp][warp] = 1;
}

RaceDetector::Event RaceDetector::makeEvent(const Access &access) {
  Event event = {};
  event.number = numStores += access.kind != AccessKind::Load;
  event.clock = clocks[access.warp][access.warp];
  event.epoch = epochs[access.warp];
  event.line = access.line;
  event.agent = access.warp;
  event.warp = access.warp;
  event.lane = access.lane;
  event.kind = access.kind;
  event.isManyLanes = access.isCollective;
  event.isAsync = access.isAsync;
  if (access.time) {
    event.agent = access.time->agent;
    event.clock = access.time->clock;
  }
  return event;
}

bool RaceDetector::isOrdered(const Event &event, const Access &access) const {
  if (event.agent == access.warp) {
    bool isSameLane =
        event.lane == access.lane && !event.isManyLanes && !access.isCollective;
    return isSameLane || event.epoch < epochs[access.warp];
  }
  const Clocks &known = clocks[access.warp];
  return event.agent < known.size() && event.clock <= known[event.agent];
}

void RaceDetector::noteLoad(Byte &byte, const Event &event) {
  auto *own = llvm::find_if(
      byte.loads, [&](const Event &load) { return load.agent == event.agent; });
  if (own == byte.loads.end()) {
    byte.loads.push_back(event);
    return;
  }
  bool isManyLanes =
      event.isManyLanes || (own->epoch == event.epoch &&
                            (own->lane != event.lane || own->isManyLanes));
  // Warps of a warpgroup come to a multiplication one after another.
  uint32_t clock = std::max(own->clock, event.clock);
  *own = event;
  own->clock = clock;
  own->isManyLanes = isManyLanes;
}

std::optional<RaceDetector::Conflict>
RaceDetector::access(const Access &access) {
  Event event = makeEvent(access);
  std::optional<Conflict> conflict;
  auto check = [&](const Event &other, uint64_t at) {
    bool areAtomic =
        access.kind == AccessKind::Atomic && other.kind == AccessKind::Atomic;
    if (!conflict && !areAtomic && !isOrdered(other, access))
      conflict = {at,         other.kind, other.isAsync,
                  other.warp, other.lane, other.line};
  };
  for (uint64_t at = access.address; at != access.address + access.size; ++at) {
    Byte &byte = bytes[at];
    if (byte.store)
      check(*byte.store, at);
    if (access.kind == AccessKind::Load) {
      noteLoad(byte, event);
      continue;
    }
    for (const Event &load : byte.loads)
      check(load, at);
    byte.loads.clear();
    byte.store = event;
  }
  return conflict;
}

void RaceDetector::complete(const Access &access, uint32_t mbarrier,
                            Clocks &arrived) {
  AgentTime &copies =
      copyAgents.try_emplace(mbarrier, makeAgent()).first->second;
  Event event = makeEvent(access);
  event.agent = copies.agent;
  event.clock = ++copies.clock;
  for (uint64_t at = access.address; at != access.address + access.size; ++at) {
    Byte &byte = bytes[at];
    if (access.kind == AccessKind::Load) {
      noteLoad(byte, event);
      continue;
    }
    byte.loads.clear();
    byte.store = event;
  }
  note(arrived, copies);
}

AgentTime RaceDetector::makeAgent() const {
  size_t number = getGridEnd().agent + 1 + copyAgents.size() +
                  tensorAgents.size() + warpgroupAgents.size();
  return {static_cast<uint16_t>(number), 0};
}

void RaceDetector::waitForGrid(unsigned warp) {
  note(clocks[warp], getGridEnd());
}

AgentTime &RaceDetector::getTensorAgent(unsigned thread) {
  return tensorAgents.try_emplace(thread, makeAgent()).first->second;
}

AgentTime RaceDetector::getMultiplication(unsigned warpgroup, uint64_t number) {
  uint16_t agent =
      warpgroupAgents.try_emplace(warpgroup, makeAgent()).first->second.agent;
  return {agent, static_cast<uint32_t>(number + 1)};
}

void RaceDetector::learn(unsigned warp, const AgentTime &time) {
  note(clocks[warp], time);
}

void RaceDetector::arriveTensor(unsigned thread, Clocks &arrived) {
  note(arrived, getTensorAgent(thread));
}

bool RaceDetector::isKnown(unsigned to, const AgentTime &time,
                           bool isFenced) const {
  const Clocks &known = isFenced ? fencedTensor[to] : clocks[to];
  return time.agent == to ||
         (time.agent < known.size() && time.clock <= known[time.agent]);
}

std::optional<RaceDetector::Conflict>
RaceDetector::findStore(uint64_t address, uint64_t size,
                        uint64_t numBefore) const {
  for (uint64_t at = address; at != address + size; ++at)
    if (const std::optional<Event> &store = bytes[at].store)
      if (store->number > numBefore)
        return Conflict{at,          store->kind, store->isAsync,
                        store->warp, store->lane, store->line};
  return std::nullopt;
}

void RaceDetector::release(unsigned warp, Clocks &arrived) {
  merge(arrived, clocks[warp]);
  ++clocks[warp][warp];
}

void RaceDetector::releaseFenced(unsigned warp, Clocks &arrived) {
  merge(arrived, fenced[warp]);
}

void RaceDetector::fence(unsigned warp) {
  fenced[warp] = clocks[warp];
  ++clocks[warp][warp];
}

void RaceDetector::acquire(unsigned warp, const Clocks &arrived) {
  merge(clocks[warp], arrived);
  // Lanes that waited are ordered with those that arrived.
  ++epochs[warp];
}
