//===- Races.cpp - Data races in shared memory ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Race detection with vector clocks: an access races with the last accesses of
// its bytes unless its warp is ordered behind them.
//
//===----------------------------------------------------------------------===//

#include "Memory/Races.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Merges the clocks of `from`.
static void merge(Clocks &into, const Clocks &from) {
  if (into.size() < from.size())
    into.resize(from.size());
  for (size_t i = 0; i != from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

/// Raises a clock to a time, unless it is later already.
static void note(Clocks &clocks, const AgentTime &time) {
  if (clocks.size() <= time.agent)
    clocks.resize(time.agent + 1);
  clocks[time.agent] = std::max(clocks[time.agent], time.clock);
}

RaceDetector::RaceDetector(uint64_t sharedBytes, unsigned numWarps)
    : segments(llvm::divideCeil(sharedBytes, Segment::kBytes)),
      clocks(numWarps, Clocks(numWarps)), fenced(numWarps), epochs(numWarps),
      released(numWarps), acquired(numWarps), beforeSync(numWarps),
      afterSync(numWarps), advancedTensor(numWarps) {
  // The first accesses of a warp are later than the clocks that others have of
  // it.
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
  event.isStrong =
      access.kind == AccessKind::Atomic || access.order != MemoryOrder::Weak;
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

void RaceDetector::Segment::refine(unsigned newLog) {
  if (cells.empty())
    cells.resize(kBytes >> log);
  if (newLog >= log)
    return;
  std::vector<Cell> smaller;
  smaller.reserve(kBytes >> newLog);
  size_t parts = size_t(1) << (log - newLog), newBytes = size_t(1) << newLog;
  for (const Cell &cell : cells)
    for (size_t part = 0; part != parts; ++part) {
      Cell &own = smaller.emplace_back(cell);
      std::memcpy(own.value.data(), cell.value.data() + part * newBytes,
                  newBytes);
    }
  cells = std::move(smaller);
  log = newLog;
}

template <typename Body>
void RaceDetector::forEachCell(uint64_t address, uint64_t size, Body body) {
  if (size == 0)
    return;
  unsigned log = llvm::countr_zero(address | size);
  for (uint64_t at = address, end = address + size; at != end;) {
    Segment &segment = segments[at / Segment::kBytes];
    segment.refine(log);
    uint64_t segmentEnd =
        std::min(end, (at / Segment::kBytes + 1) * Segment::kBytes);
    for (; at != segmentEnd; at += uint64_t(1) << segment.log)
      body(segment.cells[at % Segment::kBytes >> segment.log], at, segment.log);
  }
}

void RaceDetector::noteLoad(Cell &cell, const Event &event) {
  auto *own = llvm::find_if(
      cell.loads, [&](const Event &load) { return load.agent == event.agent; });
  if (own == cell.loads.end()) {
    cell.loads.push_back(event);
    return;
  }
  bool isManyLanes =
      event.isManyLanes || (own->epoch == event.epoch &&
                            (own->lane != event.lane || own->isManyLanes));
  // The warps of a warpgroup reach a multiplication one after another.
  uint32_t clock = std::max(own->clock, event.clock);
  *own = event;
  own->clock = clock;
  own->isManyLanes = isManyLanes;
}

void RaceDetector::setStore(Cell &cell, const Event &event,
                            const uint8_t *bytes, size_t size) {
  cell.loads.clear();
  cell.store = event;
  cell.hasValue = bytes != nullptr;
  if (bytes)
    std::memcpy(cell.value.data(), bytes, size);
}

std::optional<RaceDetector::Conflict>
RaceDetector::access(const Access &access) {
  Event event = makeEvent(access);
  std::optional<Conflict> conflict;
  auto check = [&](const Event &other, uint64_t at) {
    bool areStrong = event.isStrong && other.isStrong;
    if (!conflict && !areStrong && !isOrdered(other, access))
      conflict = {at,         other.kind, other.isAsync,
                  other.warp, other.lane, other.line};
  };
  forEachCell(
      access.address, access.size, [&](Cell &cell, uint64_t at, unsigned log) {
        const uint8_t *bytes =
            access.bytes ? access.bytes + (at - access.address) : nullptr;
        size_t size = size_t(1) << log;
        bool isSameValue = bytes && cell.hasValue &&
                           std::memcmp(bytes, cell.value.data(), size) == 0;
        if (cell.store && !isSameValue)
          check(*cell.store, at);
        if (access.kind == AccessKind::Load)
          return noteLoad(cell, event);
        for (const Event &load : cell.loads)
          check(load, at);
        setStore(cell, event, bytes, size);
      });
  return conflict;
}

void RaceDetector::complete(const Access &access, uint32_t mbarrier,
                            Clocks &arrived) {
  AgentTime &copies =
      copyAgents.try_emplace(mbarrier, makeAgent()).first->second;
  Event event = makeEvent(access);
  event.agent = copies.agent;
  event.clock = ++copies.clock;
  forEachCell(access.address, access.size, [&](Cell &cell, uint64_t, unsigned) {
    if (access.kind == AccessKind::Load)
      return noteLoad(cell, event);
    setStore(cell, event, /*bytes=*/nullptr, 0);
  });
  note(arrived, copies);
}

AgentTime RaceDetector::makeAgent() const {
  size_t number = getGridEnd().agent + 1 + copyAgents.size() +
                  tensorAgents.size() + tensorWarps.size() +
                  warpgroupAgents.size();
  return {static_cast<uint16_t>(number), 0};
}

void RaceDetector::waitForGrid(unsigned warp) {
  note(clocks[warp], getGridEnd());
}

AgentTime &RaceDetector::getTensorAgent(unsigned thread) {
  return tensorAgents.try_emplace(thread, makeAgent()).first->second;
}

AgentTime RaceDetector::accessTensor(unsigned warp) {
  AgentTime &time = tensorWarps.try_emplace(warp, makeAgent()).first->second;
  ++time.clock;
  note(clocks[warp], time);
  return time;
}

/// The agent of a warp's tcgen05.ld and st, if there have been any.
const AgentTime *RaceDetector::findTensorWarp(unsigned warp) const {
  auto found = tensorWarps.find(warp);
  return found == tensorWarps.end() ? nullptr : &found->second;
}

/// Merges the clocks of what accesses tensor memory.
void RaceDetector::mergeTensor(Clocks &into, const Clocks &from) const {
  for (const auto *agents : {&tensorAgents, &tensorWarps})
    for (const auto &[owner, agent] : *agents)
      if (agent.agent < from.size())
        note(into, {agent.agent, from[agent.agent]});
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
  const AgentTime *own = findTensorWarp(to);
  if (own && time.agent == own->agent)
    return true;
  const Clocks &known = isFenced ? afterSync[to] : clocks[to];
  return time.agent < known.size() && time.clock <= known[time.agent];
}

std::optional<RaceDetector::Conflict>
RaceDetector::findStore(uint64_t address, uint64_t size,
                        uint64_t numBefore) const {
  for (uint64_t at = address; at < address + size;) {
    const Segment &segment = segments[at / Segment::kBytes];
    if (segment.cells.empty()) {
      at = (at / Segment::kBytes + 1) * Segment::kBytes;
      continue;
    }
    const std::optional<Event> &store =
        segment.cells[at % Segment::kBytes >> segment.log].store;
    if (store && store->number > numBefore)
      return Conflict{at,          store->kind, store->isAsync,
                      store->warp, store->lane, store->line};
    // Advances to the next cell.
    at = ((at >> segment.log) + 1) << segment.log;
  }
  return std::nullopt;
}

void RaceDetector::applyAcquired(unsigned warp) {
  if (acquired[warp].empty())
    return;
  merge(clocks[warp], acquired[warp]);
  acquired[warp].clear();
  ++epochs[warp];
}

void RaceDetector::synchronize(unsigned warp, uint64_t location,
                               AccessKind kind, MemoryOrder order) {
  Location &known = locations[location];
  bool acquires =
      order == MemoryOrder::Acquire || order == MemoryOrder::AcquireRelease;
  bool releases =
      order == MemoryOrder::Release || order == MemoryOrder::AcquireRelease;
  if (kind != AccessKind::Store && !known.released.empty()) {
    merge(clocks[warp], known.tensor);
    merge(acquired[warp], known.released);
    if (acquires)
      applyAcquired(warp);
  }
  if (kind == AccessKind::Load)
    return;
  merge(known.released, releases ? clocks[warp] : released[warp]);
  mergeTensor(known.tensor, beforeSync[warp]);
  if (releases)
    advance(warp);
}

void RaceDetector::advance(unsigned warp) {
  ++clocks[warp][warp];
  if (const AgentTime *tensor = findTensorWarp(warp))
    advancedTensor[warp] = tensor->clock;
}

void RaceDetector::release(unsigned warp, Clocks &arrived) {
  applyAcquired(warp);
  merge(arrived, clocks[warp]);
  advance(warp);
}

void RaceDetector::releaseFenced(unsigned warp, Clocks &arrived) {
  merge(arrived, fenced[warp]);
  mergeTensor(arrived, beforeSync[warp]);
}

void RaceDetector::fence(unsigned warp) {
  applyAcquired(warp);
  fenced[warp] = released[warp] = clocks[warp];
  advance(warp);
}

void RaceDetector::acquire(unsigned warp, const Clocks &arrived) {
  merge(clocks[warp], arrived);
  // Lanes that waited are ordered behind those that arrived.
  ++epochs[warp];
  // What the warp itself did since it arrived is not released yet.
  released[warp] = clocks[warp];
  --released[warp][warp];
  if (const AgentTime *tensor = findTensorWarp(warp))
    released[warp][tensor->agent] = advancedTensor[warp];
}
