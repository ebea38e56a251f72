//===- GroupWaits.cpp - Waits, livelocks, deadlocks -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What happens when no warp can run: first awaited asynchronous operations
// complete, then waits with a time limit return false, and if that changes
// nothing, it is a deadlock.
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Completes the next asynchronous operation that signals at an mbarrier
/// object; false if there is none.
bool BlockGroup::completeNext(SharedLocation mbarrier) {
  return llvm::any_of(units, [&](const std::unique_ptr<AsyncUnit> &unit) {
    return unit && unit->completeNext(mbarrier);
  });
}

/// Completes asynchronous operations until the phases that warps wait for are
/// complete, or nothing is left; whether there was anything.
bool BlockGroup::completeAwaited() {
  bool hasChanged = false;
  forEachWarp([&](Warp &warp) {
    if (warp.state != WarpState::Waiting && warp.state != WarpState::Polling)
      return;
    // A phase that completes clears the list.
    llvm::SmallVector<uint32_t, 2> awaited = warp.awaited;
    for (uint32_t offset : awaited) {
      auto found = warp.block.mbarriers.find(offset);
      if (found == warp.block.mbarriers.end())
        continue;
      uint64_t phase = found->second.phase;
      while (!failed && found->second.phase == phase &&
             completeNext({&warp.block, offset}))
        hasChanged = true;
    }
  });
  return hasChanged;
}

/// False if no warp can go on, and after a failure.
bool BlockGroup::goOnWithoutReady(unsigned maxTries) {
  uint64_t before = progress;
  if (completeAwaited() || failed) {
    numTries = 0;
    return !failed;
  }
  if (lastPollProgress != before) {
    lastPollProgress = before;
    numTries = 0;
  }
  bool mayGoOn = false;
  if (++numTries <= maxTries)
    forEachWarp([&](Warp &warp) {
      if (!warp.polls())
        return;
      warp.hasTimedOut = !warp.awaited.empty();
      warp.state = WarpState::Ready;
      mayGoOn = true;
    });
  return mayGoOn || releaseJoins();
}

/// Lets lanes go on that wait at a point of reconvergence for lanes that wait
/// for others: they may be those others. False if there are none.
bool BlockGroup::releaseJoins() {
  bool isAny = false;
  forEachWarp([&](Warp &warp) {
    if (!warp.polls() || !warp.releaseJoins())
      return;
    warp.state = WarpState::Ready;
    isAny = true;
  });
  return isAny;
}

/// Describes what a warp currently waits for.
std::string BlockGroup::describeWait(Warp &warp) {
  for (const std::unique_ptr<AsyncUnit> &unit : units)
    if (std::optional<std::string> wait =
            unit ? unit->describeWait(warp) : std::nullopt)
      return *wait;
  const Block &block = warp.block;
  if (warp.awaited.empty())
    return warp.waitReason;
  uint32_t offset = warp.awaited.front();
  std::string text = "for " + block.describeMBarrier(offset);
  auto found = block.mbarriers.find(offset);
  if (found == block.mbarriers.end())
    return text;
  const MBarrier &mbarrier = found->second;
  text += " (its phase " + std::to_string(mbarrier.phase) + " is short of " +
          std::to_string(mbarrier.pending) + " arrivals and ";
  if (mbarrier.transactions >= 0)
    return text + std::to_string(mbarrier.transactions) + " bytes)";
  // Copies have signaled more bytes than expect-tx operations have announced.
  return text + "has received " + std::to_string(-mbarrier.transactions) +
         " bytes more than were expected: too many transaction bytes, or "
         "too few in expect_tx)";
}

/// Describes what each warp that has not ended waits for.
std::string BlockGroup::describeWaits() {
  // In a large group, most warps wait for the same.
  constexpr unsigned kMost = 16;
  std::string text;
  unsigned count = 0;
  forEachWarp([&](Warp &warp) {
    if (warp.state == WarpState::Done || ++count > kMost)
      return;
    if (count != 1)
      text += "; ";
    text += describeWarp(warp.number);
    if (warp.state == WarpState::Waiting || warp.state == WarpState::Polling)
      text += " waits " + describeWait(warp) + " in line " +
              std::to_string(warp.current->line);
    else if (warp.current)
      text += " is in line " + std::to_string(warp.current->line);
    else
      text += " has not begun";
  });
  if (count == 0)
    return "all warps have ended";
  if (count > kMost)
    text += "; and " + std::to_string(count - kMost) + " more warps";
  return text;
}

void BlockGroup::reportDeadlock() {
  forEachWarp([&](Warp &warp) {
    if (failed || warp.state == WarpState::Done)
      return;
    warp.fail(__builtin_ctz(warp.existing & ~warp.exited),
              "deadlock: " + describeWaits());
    failed = &warp;
  });
}

uint64_t BlockGroup::countEvents() {
  uint64_t count = progress;
  forEachWarp([&](Warp &warp) { count += warp.getNumLoopsLeft(); });
  return count;
}
