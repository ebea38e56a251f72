//===- BlockWaits.cpp - mbarrier objects and those who wait ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mbarrier objects as a block sees them, and what happens when no warp can run:
// asynchronous operations that somebody waits for complete, then waits with a
// time limit come back empty-handed, and if that changes nothing, it is a
// deadlock.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// How often warps may ask in vain while nothing else happens.
static constexpr unsigned kMaxVainTries = 1000;

static std::string describe(uint32_t mbarrier) {
  return "the mbarrier object at " + printHex(mbarrier);
}

//===----------------------------------------------------------------------===//
// mbarrier objects
//===----------------------------------------------------------------------===//

MBarrier *Block::findMBarrier(Warp &warp, unsigned lane, uint32_t address) {
  auto found = mbarriers.find(address);
  if (found != mbarriers.end())
    return &found->second;
  warp.fail(lane, "expected an mbarrier object at " + printHex(address) +
                      ", got none: there is no mbarrier.init before");
  return nullptr;
}

bool Block::arrive(Warp &warp, unsigned lane, uint32_t address,
                   uint32_t count) {
  MBarrier *mbarrier = findMBarrier(warp, lane, address);
  if (!mbarrier)
    return false;
  if (count > mbarrier->pending) {
    warp.fail(lane, describe(address) + " expected at most " +
                        llvm::Twine(mbarrier->pending) +
                        " more arrivals in this phase, got " +
                        llvm::Twine(count));
    return false;
  }
  mbarrier->pending -= count;
  ++progress;
  completeIfDue(address);
  return true;
}

bool Block::addTransactions(Warp &warp, unsigned lane, uint32_t address,
                            int64_t bytes) {
  MBarrier *mbarrier = findMBarrier(warp, lane, address);
  if (!mbarrier)
    return false;
  mbarrier->transactions += bytes;
  ++progress;
  if (std::abs(mbarrier->transactions) <= kMaxMBarrierCount)
    return true;
  warp.fail(lane, describe(address) + " expected a transaction count from -" +
                      llvm::Twine(kMaxMBarrierCount) + " to " +
                      llvm::Twine(kMaxMBarrierCount) + ", got " +
                      llvm::Twine(mbarrier->transactions));
  return false;
}

void Block::completeIfDue(uint32_t address) {
  MBarrier &mbarrier = mbarriers.at(address);
  if (!mbarrier.tryComplete())
    return;
  mbarrier.completeClocks = mbarrier.clocks;
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

void Block::reportProxy(Warp &warp, unsigned lane, const llvm::Twine &text) {
  if (launch.options->checkProxy)
    warp.fail(lane, text);
  else
    warp.warn(lane, text);
}

//===----------------------------------------------------------------------===//
// When nothing can run
//===----------------------------------------------------------------------===//

/// Completes the next asynchronous operation that an mbarrier object is told
/// of; false if there is none.
bool Block::completeNext(uint32_t address) {
  return completeBulkCopy(address) || llvm::any_of(warps, [&](Warp &warp) {
           return completeArrival(warp, address);
         });
}

/// Completes asynchronous operations until the phases that warps wait for are
/// complete, or nothing is left; whether there was anything.
bool Block::completeAwaited() {
  bool hasChanged = false;
  for (Warp &warp : warps) {
    if (warp.state != WarpState::Waiting && warp.state != WarpState::Polling)
      continue;
    // A phase that completes clears the list.
    llvm::SmallVector<uint32_t, 2> awaited = warp.awaited;
    for (uint32_t address : awaited) {
      auto found = mbarriers.find(address);
      if (found == mbarriers.end())
        continue;
      uint64_t phase = found->second.phase;
      while (!failed && found->second.phase == phase && completeNext(address))
        hasChanged = true;
    }
  }
  return hasChanged;
}

bool Block::goOnWithoutReady(unsigned &numTries) {
  uint64_t before = progress;
  if (completeAwaited() || failed) {
    numTries = 0;
    return !failed;
  }
  if (lastTryProgress != before) {
    lastTryProgress = before;
    numTries = 0;
  }
  bool mayGoOn = false;
  if (++numTries <= kMaxVainTries)
    for (Warp &warp : warps) {
      if (warp.state == WarpState::Waiting && !warp.awaited.empty()) {
        warp.hasTimedOut = true;
      } else if (warp.state != WarpState::Polling) {
        continue;
      }
      warp.awaited.clear();
      warp.state = WarpState::Ready;
      mayGoOn = true;
    }
  return mayGoOn || reportDeadlock();
}

/// What a warp waits for, as it is now.
static std::string describeWait(const Block &block, const Warp &warp) {
  for (auto [i, barrier] : llvm::enumerate(block.barriers))
    for (const BarrierWaiter &waiter : barrier.waiting)
      if (waiter.warp == warp.index)
        return "at barrier " + std::to_string(i) + " (" +
               std::to_string(barrier.arrived) + " of " +
               std::to_string(barrier.expected) + " threads have come)";
  if (warp.awaited.empty())
    return warp.waitReason;
  uint32_t address = warp.awaited.front();
  std::string text = "for " + describe(address);
  auto found = block.mbarriers.find(address);
  if (found != block.mbarriers.end())
    text += " (its phase " + std::to_string(found->second.phase) +
            " is short of " + std::to_string(found->second.pending) +
            " arrivals and " + std::to_string(found->second.transactions) +
            " bytes)";
  return text;
}

bool Block::reportDeadlock() {
  std::string reasons;
  for (Warp &warp : warps) {
    if (warp.state != WarpState::Waiting && warp.state != WarpState::Polling)
      continue;
    if (!reasons.empty())
      reasons += "; ";
    else
      failed = &warp;
    reasons += "warp " + std::to_string(warp.index) + " waits " +
               describeWait(*this, warp) + " in line " +
               std::to_string(warp.current->line);
  }
  Warp &warp = warps[failed->index];
  warp.fail(__builtin_ctz(warp.existing & ~warp.exited),
            "deadlock: " + reasons);
  return false;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

/// All warps have ended: copies must not need the block's shared memory any
/// more. Those to global memory complete.
bool Block::finishCopies() {
  for (const BulkCopy &copy : bulkCopies.getCopies()) {
    Warp &warp = warps[copy.warp];
    if (copy.mbarrier) {
      warn(warp, {copy.line, copy.lane,
                  "the block ends before this copy into its shared memory is "
                  "complete: expected a wait for " +
                      describe(*copy.mbarrier)});
    } else if (!copy.isRead) {
      warp.state = WarpState::Failed;
      warp.failure = {copy.line, copy.lane,
                      "the block ends before this copy has read its shared "
                      "memory: expected cp.async.bulk.wait_group before"};
      failed = &warp;
      return false;
    }
  }
  bulkCopies.completeAll();
  return true;
}
