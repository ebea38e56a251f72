//===- BlockMBarriers.cpp - mbarrier objects of a block -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of a block on its mbarrier objects.
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"
#include "Trace/Recorder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::string Block::describeMBarrier(uint32_t offset) const {
  return "the mbarrier object at " + printHex(getSharedBase() + offset);
}

MBarrier *Block::findMBarrier(Warp &warp, unsigned lane, uint32_t address) {
  auto found = mbarriers.find(address);
  if (found != mbarriers.end()) {
    MBarrier &mbarrier = found->second;
    unsigned initializer =
        number * warps.size() + mbarrier.initializer / kLanes;
    if (!group.races ||
        group.races->isKnown(warp.number, initializer, mbarrier.initialClock))
      return &mbarrier;
    return warp.error(lane, "race: this use of " + describeMBarrier(address) +
                                " and its mbarrier.init by lane " +
                                llvm::Twine(mbarrier.initializer % kLanes) +
                                " of " + group.describeWarp(initializer) +
                                " have no barrier between");
  }
  return warp.error(lane, "expected an mbarrier object at " +
                              printHex(getSharedBase() + address) +
                              ", got none: there is no mbarrier.init before");
}

bool Block::arrive(Warp &warp, unsigned lane, uint32_t address,
                   uint32_t count) {
  MBarrier *mbarrier = findMBarrier(warp, lane, address);
  if (!mbarrier)
    return false;
  if (count > mbarrier->pending)
    return warp.error(lane, describeMBarrier(address) + " expected at most " +
                                llvm::Twine(mbarrier->pending) +
                                " more arrivals in this phase, got " +
                                llvm::Twine(count));
  mbarrier->pending -= count;
  group.noteProgress();
  completeIfDue(address);
  return true;
}

bool Block::addTransactions(Warp &warp, unsigned lane, uint32_t address,
                            int64_t bytes) {
  MBarrier *mbarrier = findMBarrier(warp, lane, address);
  if (!mbarrier)
    return false;
  mbarrier->transactions += bytes;
  group.noteProgress();
  if (std::abs(mbarrier->transactions) <= kMaxMBarrierCount)
    return true;
  return warp.error(lane, describeMBarrier(address) +
                              " expected a transaction count from -" +
                              llvm::Twine(kMaxMBarrierCount) + " to " +
                              llvm::Twine(kMaxMBarrierCount) + ", got " +
                              llvm::Twine(mbarrier->transactions));
}

void Block::completeIfDue(uint32_t address) {
  MBarrier &mbarrier = mbarriers.at(address);
  if (!mbarrier.tryComplete())
    return;
  mbarrier.completeClocks = mbarrier.clocks;
  if (group.recorder)
    group.recorder->complete({this, address});
  wakeWaiters(address);
}

void Block::wakeWaiters(uint32_t mbarrier) {
  for (Warp &warp : warps)
    if (warp.state == WarpState::Waiting &&
        llvm::is_contained(warp.awaited, mbarrier)) {
      warp.state = WarpState::Ready;
      warp.awaited.clear();
    }
}

void Block::publishMBarriers(const Warp &warp, LaneMask lanes) {
  for (auto &[address, mbarrier] : mbarriers)
    if (mbarrier.initializer / kLanes == warp.index &&
        (lanes >> mbarrier.initializer % kLanes & 1))
      mbarrier.isPublished = true;
}

void Block::publishKnownMBarriers(const Warp &warp) {
  for (auto &[address, mbarrier] : mbarriers) {
    unsigned initializer =
        number * warps.size() + mbarrier.initializer / kLanes;
    mbarrier.isPublished |=
        !group.races ||
        group.races->isKnown(warp.number, initializer, mbarrier.initialClock);
  }
}

void Block::reportProxy(Warp &warp, unsigned lane,
                        const llvm::Twine &text) const {
  if (launch.options->checkProxy)
    warp.fail(lane, text);
  else
    warp.warn(lane, text);
}

bool Block::reportStrict(Warp &warp, unsigned lane, const llvm::Twine &text,
                         llvm::StringRef source) const {
  std::string message = (text + " (" + source + ")").str();
  if (launch.options->checkStrict)
    warp.fail(lane, message);
  else
    warp.warn(lane, message);
  return !launch.options->checkStrict;
}

void Block::checkPublished(Warp &warp, unsigned lane, uint32_t offset) const {
  if (!mbarriers.at(offset).isPublished)
    reportProxy(warp, lane,
                "the async proxy uses " + describeMBarrier(offset) +
                    ", which no fence has followed since its mbarrier.init: "
                    "expected fence.mbarrier_init, fence.proxy.async or a "
                    "barrier of the cluster between (one of the block does "
                    "not tell the async proxy)");
}
