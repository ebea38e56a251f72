//===- BlockCpAsync.cpp - cp.async in a block -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where cp.async copies complete, and what the search for races and the tracker
// of proxies are told then. Races.h says what a copy counts as.
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

RaceDetector::Access Block::makeAccess(const PendingCopy &copy,
                                       const Warp &warp) const {
  RaceDetector::Access access = {};
  access.warp = warp.number;
  access.lane = copy.lane;
  access.line = copy.line;
  access.address = getByteNumber(copy.destination);
  access.size = copy.totalSize;
  access.kind = AccessKind::Store;
  access.isAsync = true;
  return access;
}

bool Block::isUnderWay(const PendingCopy &copy) const {
  return llvm::any_of(
      warps, [&](const Warp &warp) { return warp.copies.contains(copy); });
}

/// The bytes of a cp.async are those of its thread.
void Block::noteStore(const PendingCopy &copy, const Warp &warp) {
  if (group.proxies)
    group.proxies->store(warp.number * kLanes + copy.lane,
                         getByteNumber(copy.destination), copy.totalSize);
}

void Block::waitCopies(Warp &warp, std::optional<uint64_t> keep) {
  auto onComplete = [&](const PendingCopy &copy) {
    noteStore(copy, warp);
    if (group.races)
      group.checkRace(warp, makeAccess(copy, warp));
  };
  if (keep)
    warp.copies.waitGroups(warp.active, *keep, onComplete);
  else
    warp.copies.waitAll(warp.active, onComplete);
}

bool Block::completeArrival(Warp &warp, uint32_t offset) {
  std::optional<CopyQueue::Arrival> arrival =
      warp.copies.takeArrival(offset, [&](const PendingCopy &copy) {
        noteStore(copy, warp);
        if (group.races)
          group.races->complete(makeAccess(copy, warp), getByteNumber(offset),
                                mbarriers.at(offset).clocks);
      });
  if (!arrival)
    return false;
  if (!arrive(warp, arrival->lane, offset, /*count=*/1)) {
    warp.failure.line = arrival->line;
    group.failed = &warp;
  }
  return true;
}
