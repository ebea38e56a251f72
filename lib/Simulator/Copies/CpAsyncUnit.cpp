//===- CpAsyncUnit.cpp - cp.async of a group of blocks --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Completes cp.async copies, and reports their accesses to race detection and
// to the proxy tracker. Races.h describes which accesses a copy counts as.
//
//===----------------------------------------------------------------------===//

#include "Copies/CpAsyncUnit.h"

#include "Machine/BlockGroup.h"
#include "Trace/Recorder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

CpAsyncUnit::CpAsyncUnit(BlockGroup &group)
    : group(group), queues(group.maxBlocks * group.launch.getNumWarps()) {}

CpAsyncUnit &sim::getCpAsync(const Warp &warp) {
  return warp.block.group.get<CpAsyncUnit>();
}

CpAsyncQueue &CpAsyncUnit::getQueue(const Warp &warp) {
  return queues[warp.number];
}

static RaceDetector::Access makeAccess(const PendingCopy &copy,
                                       const Warp &warp) {
  RaceDetector::Access access = {};
  access.warp = warp.number;
  access.lane = copy.lane;
  access.line = copy.line;
  access.address = warp.block.getByteNumber(copy.destination);
  access.size = copy.totalSize;
  access.kind = AccessKind::Store;
  access.isAsync = true;
  return access;
}

bool CpAsyncUnit::isInFlight(const Block &block, const PendingCopy &copy) {
  return llvm::any_of(block.warps, [&](const Warp &warp) {
    return getQueue(warp).contains(copy);
  });
}

void CpAsyncUnit::noteStore(const PendingCopy &copy, const Warp &warp) {
  if (group.proxies)
    group.proxies->store(warp.number * kLanes + copy.lane,
                         warp.block.getByteNumber(copy.destination),
                         copy.totalSize);
}

void CpAsyncUnit::wait(Warp &warp, std::optional<uint64_t> keep) {
  auto onComplete = [&](const PendingCopy &copy) {
    noteStore(copy, warp);
    if (group.races)
      group.checkRace(warp, makeAccess(copy, warp));
  };
  if (Recorder *recorder = group.recorder.get()) {
    if (keep)
      recorder->awaitGroups(warp, TraceUnit::ThreadCopies, *keep);
    else
      recorder->awaitAll(warp, TraceUnit::ThreadCopies);
  }
  if (keep)
    getQueue(warp).waitGroups(warp.active, *keep, onComplete);
  else
    getQueue(warp).waitAll(warp.active, onComplete);
}

/// Completes the oldest arrival of a warp at an mbarrier object; false if there
/// is none.
bool CpAsyncUnit::completeArrival(Warp &warp, uint32_t offset) {
  Block &block = warp.block;
  std::optional<CpAsyncQueue::Arrival> arrival =
      getQueue(warp).takeArrival(offset, [&](const PendingCopy &copy) {
        noteStore(copy, warp);
        if (group.races)
          group.races->complete(makeAccess(copy, warp),
                                block.getByteNumber(offset),
                                block.mbarriers.at(offset).clocks);
      });
  if (!arrival)
    return false;
  if (group.recorder)
    group.recorder->arrive(arrival->operationId,
                           Recorder::getBarrier({&block, offset}));
  if (!block.arrive(warp, arrival->lane, offset, /*count=*/1)) {
    warp.failure.line = arrival->line;
    group.failed = &warp;
  }
  return true;
}

bool CpAsyncUnit::completeNext(SharedLocation mbarrier) {
  return llvm::any_of(mbarrier.block->warps, [&](Warp &warp) {
    return completeArrival(warp, mbarrier.offset);
  });
}
