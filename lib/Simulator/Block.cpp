//===- Block.cpp - A block of threads -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Steps of one turn of a warp, at most.
static constexpr uint64_t kMaxTurn = 64;
/// Turns of warps after which asynchronous operations complete that somebody
/// waits for, although others can run.
static constexpr unsigned kMaxTurnsBeforeCopies = 1024;

// SplitMix64: passes through all states, and each bit of the result depends on
// all bits of the state.
uint64_t Random::next() {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

Block::Block(const Launch &launch, std::array<uint32_t, 3> index)
    : launch(launch), index(index),
      shared(launch.kernel->staticShared + launch.dynamicShared),
      random(launch.seed ^ (uint64_t(index[2]) << 42) ^
             (uint64_t(index[1]) << 21) ^ index[0]) {
  mapShared();
  unsigned threads = numThreads();
  if (launch.options->wantsStatistics)
    statistics = std::make_unique<Statistics>();
  if (launch.options->checkRace)
    races = std::make_unique<RaceDetector>(shared.size(),
                                           (threads + kLanes - 1) / kLanes);
  if (launch.kernel->hasBulkCopies)
    proxies = std::make_unique<ProxyTracker>(shared.size(), threads);
  isObserved = statistics || races || proxies;
  for (unsigned first = 0; first < threads; first += kLanes)
    warps.emplace_back(*this, warps.size(), std::min(kLanes, threads - first));
  for (Warp &warp : warps)
    warp.enter(*launch.kernel->code, warp.existing, /*caller=*/nullptr);
}

/// Nothing in shared memory is defined at first, and what lies between
/// variables is not there.
void Block::mapShared() {
  uint8_t *states = shared.ensureStates();
  std::memset(states, ByteUnmapped, shared.size());
  for (auto [begin, end] : launch.kernel->sharedVariables)
    std::memset(states + begin, ByteUndefined, end - begin);
  std::memset(states + launch.kernel->staticShared, ByteUndefined,
              launch.dynamicShared);
}

bool Block::run(uint64_t maxSteps) {
  llvm::SmallVector<Warp *, 32> ready;
  // Turns since asynchronous operations were completed, and vain tries to go on
  // since anything happened.
  unsigned numTurns = 0, numTries = 0;
  for (const Warp &warp : warps)
    if (warp.state == WarpState::Failed) {
      failed = &warp;
      return false;
    }
  while (true) {
    ready.clear();
    bool isDone = true, canRun = false;
    for (Warp &warp : warps) {
      canRun |= warp.state == WarpState::Ready;
      if (warp.state == WarpState::Ready || warp.state == WarpState::Polling)
        ready.push_back(&warp);
      isDone &= warp.state == WarpState::Done;
    }
    if (isDone)
      return finishCopies();
    if (!canRun) {
      if (!goOnWithoutReady(numTries))
        return false;
      continue;
    }
    // Somebody who spins may wait for one who waits for a copy.
    if (++numTurns == kMaxTurnsBeforeCopies) {
      numTurns = 0;
      completeAwaited();
      if (failed)
        return false;
    }
    Warp &warp = *ready[random.below(ready.size())];
    if (warp.state == WarpState::Polling) {
      warp.state = WarpState::Ready;
      warp.awaited.clear();
    }
    uint64_t executed = warp.run(1 + random.below(kMaxTurn));
    if (warp.state == WarpState::Done) {
      ++progress;
      releaseBarriers();
    }
    if (warp.state != WarpState::Failed && (numSteps += executed) > maxSteps)
      warp.fail(__builtin_ctz(warp.existing),
                "the run takes more steps than --max-steps allows");
    if (warp.state == WarpState::Failed) {
      failed = &warp;
      return false;
    }
  }
}

void Block::warn(const Warp &warp, LocatedMessage message) {
  // One for each place and text says enough.
  LineWarnings &line = warnings[message.line];
  for (const Warning &warning : line.first)
    if (warning.message.text == message.text)
      return;
  if (line.first.size() == kMaxWarningsOfLine)
    line.areMore = true;
  else
    line.first.push_back({std::move(message), warp.index});
}

void Block::notify(Warp &warp, const WarpAccess &access) {
  uint32_t line = warp.current->line;
  if (statistics)
    statistics->observe(line, access);
  if (access.space != AddressSpace::Shared)
    return;
  forEachLane(access.lanes, [&](unsigned lane) {
    uint64_t address = access.addresses[lane];
    if (proxies && access.kind != AccessKind::Load)
      proxies->store(warp.index * kLanes + lane, address, access.size);
    if (races)
      checkRace(warp, {warp.index, lane, line, address, access.size,
                       access.kind, access.isCollective, access.isAsync});
  });
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// Threads that a barrier without a count waits for: those of warps that have
/// not ended, or had arrived before. A warp counts as a whole one.
static uint32_t countThreads(const Block &block, const BlockBarrier &barrier) {
  return kLanes * llvm::count_if(block.warps, [&](const Warp &warp) {
           return warp.state != WarpState::Done ||
                  (barrier.warps >> warp.index & 1);
         });
}

void Block::completeIfDue(BlockBarrier &barrier) {
  if (barrier.arrived == 0)
    return;
  uint32_t expected =
      barrier.takesAll ? countThreads(*this, barrier) : barrier.expected;
  if (barrier.arrived < expected)
    return;
  ++progress;
  for (const BarrierWaiter &waiter : barrier.waiting) {
    Warp &warp = warps[waiter.warp];
    warp.state = WarpState::Ready;
    if (races)
      races->acquire(warp.index, barrier.clocks);
    bool isTrue = barrier.reduction == Reduction::And
                      ? barrier.numTrue == barrier.numCounted
                      : barrier.numTrue != 0;
    switch (barrier.reduction) {
    case Reduction::None:
      break;
    case Reduction::PopCount:
      warp.reg(waiter.destination).value.fill(barrier.numTrue);
      warp.reg(waiter.destination).undefinedLanes = 0;
      break;
    case Reduction::And:
    case Reduction::Or:
      warp.pred(waiter.destination) = {isTrue ? kAllLanes : 0, 0};
      break;
    }
  }
  barrier = BlockBarrier();
}

void Block::releaseBarriers() {
  for (BlockBarrier &barrier : barriers)
    completeIfDue(barrier);
}
