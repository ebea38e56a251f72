//===- BlockGroup.cpp - Blocks that run at the same time ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

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

//===----------------------------------------------------------------------===//
// The blocks
//===----------------------------------------------------------------------===//

static uint64_t getVolume(const Extents &extents) {
  return uint64_t(extents[0]) * extents[1] * extents[2];
}

/// The place with a number, x fastest.
static Extents getPlace(uint64_t number, const Extents &extents) {
  return {static_cast<uint32_t>(number % extents[0]),
          static_cast<uint32_t>(number / extents[0] % extents[1]),
          static_cast<uint32_t>(number / extents[0] / extents[1])};
}

static Extents getNumClusters(const LaunchedKernel &launch) {
  Extents clusters;
  for (unsigned i = 0; i != 3; ++i)
    clusters[i] = launch.grid[i] / launch.cluster[i];
  return clusters;
}

/// Blocks of one multiprocessor compete for its tensor memory: two clusters
/// run side by side where there is room for both.
static unsigned getClustersOfGroup(const LaunchedKernel &launch) {
  constexpr uint64_t sharedOfSm = 228 << 10, reserved = 1 << 10;
  constexpr unsigned threadsOfSm = 2048;
  uint64_t bytes = launch.kernel->sharedVariableBytes() + launch.dynamicShared;
  bool hasRoom = 2 * (bytes + reserved) <= sharedOfSm &&
                 2 * launch.getNumThreads() <= threadsOfSm;
  return launch.kernel->hasTensorMemory && hasRoom ? 2 : 1;
}

uint64_t BlockGroup::count(const LaunchedKernel &launch) {
  return llvm::divideCeil(getVolume(getNumClusters(launch)),
                          getClustersOfGroup(launch));
}

void BlockGroup::addCluster(uint64_t number) {
  Extents cluster = getPlace(number, getNumClusters(launch));
  unsigned numWarps = launch.getNumWarps();
  clusterBarriers.emplace_back(*this, blocks.size() * numWarps,
                               clusterSize * numWarps);
  for (unsigned rank = 0; rank != clusterSize; ++rank) {
    Extents index = getPlace(rank, launch.cluster);
    for (unsigned i = 0; i != 3; ++i)
      index[i] += cluster[i] * launch.cluster[i];
    blocks.emplace_back(*this, index, blocks.size(), rank);
  }
}

static uint64_t getSeed(const LaunchedKernel &launch, uint64_t number) {
  Extents cluster =
      getPlace(number * getClustersOfGroup(launch), getNumClusters(launch));
  return launch.seed ^ (uint64_t(cluster[2]) << 42) ^
         (uint64_t(cluster[1]) << 21) ^ cluster[0];
}

BlockGroup::BlockGroup(const LaunchedKernel &launch, uint64_t number)
    : launch(launch), clusterSize(getVolume(launch.cluster)),
      random(getSeed(launch, number)) {
  if (launch.options->wantsStatistics)
    statistics = std::make_unique<Statistics>();
  unsigned most = getClustersOfGroup(launch);
  uint64_t sharedBytes = most * clusterSize * launch.getSharedBytes();
  unsigned numWarps = most * clusterSize * launch.getNumWarps();
  if (launch.options->checkRace)
    races = std::make_unique<RaceDetector>(sharedBytes, numWarps);
  if (launch.kernel->hasAsyncProxy)
    proxies = std::make_unique<ProxyTracker>(sharedBytes, numWarps * kLanes);
  if (launch.kernel->hasTensorMemory)
    tensor = std::make_unique<TensorEngine>(*this, clusterSize, numWarps);
  uint64_t first = number * most;
  uint64_t last = std::min(first + most, getVolume(getNumClusters(launch)));
  for (uint64_t cluster = first; cluster != last; ++cluster)
    addCluster(cluster);
}

Warp &BlockGroup::getWarp(unsigned number) {
  unsigned numWarps = launch.getNumWarps();
  return blocks[number / numWarps].warps[number % numWarps];
}

void BlockGroup::wakeAllocations() {
  forEachWarp([](Warp &warp) {
    if (warp.state == WarpState::Waiting && warp.awaitsColumns)
      warp.state = WarpState::Ready;
  });
}

std::string BlockGroup::describeWarp(unsigned number) {
  const Warp &warp = getWarp(number);
  std::string text = "warp " + std::to_string(warp.index);
  if (blocks.size() != 1)
    text += " of block " + print(warp.block.index);
  return text;
}

Block *BlockGroup::findBlock(const Span &span) {
  for (Block &block : blocks)
    if (span.storage == &block.shared)
      return &block;
  return nullptr;
}

void BlockGroup::warn(const Warp &warp, LocatedMessage message) {
  // One for each place and text says enough.
  LineWarnings &line = warnings[message.line];
  for (const Warning &warning : line.first)
    if (warning.message.text == message.text)
      return;
  if (line.first.size() == kMaxWarningsOfLine)
    line.areMore = true;
  else
    line.first.push_back({std::move(message), &warp});
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

bool BlockGroup::run(uint64_t maxSteps) {
  llvm::SmallVector<Warp *, 32> ready;
  // Turns since asynchronous operations were completed, and vain tries to go on
  // since anything happened.
  unsigned numTurns = 0, numTries = 0;
  forEachWarp([&](Warp &warp) {
    if (warp.state == WarpState::Failed && !failed)
      failed = &warp;
  });
  while (!failed) {
    ready.clear();
    bool isDone = true, canRun = false;
    forEachWarp([&](Warp &warp) {
      canRun |= warp.state == WarpState::Ready;
      if (warp.state == WarpState::Ready || warp.state == WarpState::Polling)
        ready.push_back(&warp);
      isDone &= warp.state == WarpState::Done;
    });
    if (isDone) {
      if (statistics && tensor)
        statistics->noteTensorColumns(tensor->getMostUsed());
      bulkCopies.completeAll();
      return true;
    }
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
      warp.block.releaseBarriers();
      if (warp.block.isDone() && !warp.block.checkEnd())
        return false;
    }
    if (warp.state != WarpState::Failed && (numSteps += executed) > maxSteps)
      warp.fail(__builtin_ctz(warp.existing),
                "the run takes more steps than --max-steps allows");
    if (warp.state == WarpState::Failed)
      failed = &warp;
  }
  return false;
}
