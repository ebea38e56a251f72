//===- Races.cpp - Data races in shared memory ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Races.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

RaceDetector::RaceDetector(uint64_t sharedBytes, unsigned numWarps)
    : bytes(sharedBytes), clocks(numWarps, std::vector<Clock>(numWarps, 0)) {
  // What a warp does first is later than all that others know of it.
  for (unsigned warp = 0; warp != numWarps; ++warp)
    clocks[warp][warp] = 1;
}

bool RaceDetector::isOrdered(const Event &event, unsigned warp,
                             unsigned lane) const {
  if (event.warp == warp && event.lane == lane && !event.isManyLanes)
    return true;
  Clock known = clocks[warp][event.warp];
  return event.warp == warp ? event.clock < known : event.clock <= known;
}

std::optional<RaceDetector::Conflict>
RaceDetector::access(unsigned warp, unsigned lane, uint32_t line,
                     uint64_t address, unsigned size, AccessKind kind) {
  Event event = {clocks[warp][warp],         line, static_cast<uint8_t>(warp),
                 static_cast<uint8_t>(lane), kind, false};
  std::optional<Conflict> conflict;
  auto check = [&](const Event &other, uint64_t at) {
    bool areAtomic =
        kind == AccessKind::Atomic && other.kind == AccessKind::Atomic;
    if (!conflict && !areAtomic && !isOrdered(other, warp, lane))
      conflict = {at, other.kind, other.warp, other.lane, other.line};
  };
  for (uint64_t at = address; at != address + size; ++at) {
    Byte &byte = bytes[at];
    if (byte.store)
      check(*byte.store, at);
    if (kind == AccessKind::Load) {
      auto *own = llvm::find_if(
          byte.loads, [&](const Event &load) { return load.warp == warp; });
      if (own == byte.loads.end()) {
        byte.loads.push_back(event);
      } else {
        bool isSame = own->clock == event.clock &&
                      (own->lane != lane || own->isManyLanes);
        *own = event;
        own->isManyLanes = isSame;
      }
      continue;
    }
    for (const Event &load : byte.loads)
      check(load, at);
    byte.loads.clear();
    byte.store = event;
  }
  return conflict;
}

void RaceDetector::joinWarps(llvm::ArrayRef<unsigned> warps) {
  std::vector<Clock> joined(clocks.size());
  for (unsigned warp : warps)
    for (size_t i = 0; i != joined.size(); ++i)
      joined[i] = std::max(joined[i], clocks[warp][i]);
  for (unsigned warp : warps) {
    clocks[warp] = joined;
    ++clocks[warp][warp];
  }
}

void RaceDetector::release(unsigned warp, uint32_t mbarrier) {
  std::vector<Clock> &known = released[mbarrier];
  known.resize(clocks.size());
  for (size_t i = 0; i != known.size(); ++i)
    known[i] = std::max(known[i], clocks[warp][i]);
  ++clocks[warp][warp];
}

void RaceDetector::acquire(unsigned warp, uint32_t mbarrier) {
  std::vector<Clock> &known = released[mbarrier];
  known.resize(clocks.size());
  for (size_t i = 0; i != known.size(); ++i)
    if (i != warp)
      clocks[warp][i] = std::max(clocks[warp][i], known[i]);
  // Lanes that waited on the barrier are ordered with those that arrived.
  ++clocks[warp][warp];
}
