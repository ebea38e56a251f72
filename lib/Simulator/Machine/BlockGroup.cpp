//===- BlockGroup.cpp - Blocks that run at the same time ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scheduler: which warp runs next and for how long is drawn from the seed,
// until all have ended or one has failed.
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"

#include "Machine/PendingClusters.h"
#include "Trace/KernelTrace.h"
#include "Trace/Recorder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The most steps in one turn of a warp.
static constexpr uint64_t kMaxTurn = 64;
/// Awaited asynchronous operations complete after some turns of other warps,
/// even if those can still run: the most turns, as log2 and as a number.
static constexpr unsigned kMaxLogTurns = 10;
static constexpr unsigned kMaxTurnsBeforeCopies = 1 << kMaxLogTurns;
/// How often warps may poll without other progress; the same if other groups of
/// blocks may run meanwhile.
static constexpr unsigned kMaxFailedPolls = 1000;
static constexpr unsigned kFailedPollsBesideOthers = 4;

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

uint64_t BlockGroup::count(const LaunchedKernel &launch) {
  return llvm::divideCeil(getVolume(launch.getNumClusters()),
                          launch.getClustersOfGroup());
}

void BlockGroup::addCluster(uint64_t number) {
  Extents cluster = getIndexOf(number, launch.getNumClusters());
  for (unsigned rank = 0; rank != clusterSize; ++rank) {
    Extents index = getIndexOf(rank, launch.cluster);
    for (unsigned i = 0; i != 3; ++i)
      index[i] += cluster[i] * launch.cluster[i];
    blocks.emplace_back(*this, index, blocks.size(), rank);
  }
}

static uint64_t getSeed(const LaunchedKernel &launch, uint64_t number) {
  Extents cluster =
      getIndexOf(number * launch.getClustersOfGroup(), launch.getNumClusters());
  // Mixes the seed and the group's number, so that small values of both give
  // different states.
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  return launch.seed * kOdd ^ (uint64_t(cluster[2]) << 42) ^
         (uint64_t(cluster[1]) << 21) ^ cluster[0];
}

/// Makes the observers of accesses, and the units.
void BlockGroup::makeObservers(uint64_t number, UnitMaker makeUnits) {
  uint64_t sharedBytes = maxBlocks * launch.getSharedBytes();
  unsigned numWarps = maxBlocks * launch.getNumWarps();
  if (launch.options->wantsStatistics)
    statistics = std::make_unique<Statistics>();
  if (launch.options->checkRace)
    races = std::make_unique<RaceDetector>(sharedBytes, numWarps);
  if (launch.uses(UsesAsyncProxy))
    proxies = std::make_unique<ProxyTracker>(sharedBytes, numWarps * kLanes);
  units = makeUnits(*this);
  forEachUnit([&](AsyncUnit &unit) {
    if (unit.watchesSteps())
      stepWatchers.push_back(&unit);
  });
  if (launch.options->wantsRecording() &&
      number % getRecordingStride(launch) == 0) {
    recorder = std::make_unique<Recorder>(*this);
    stepWatchers.push_back(recorder.get());
  }
}

BlockGroup::~BlockGroup() = default;

BlockGroup::BlockGroup(const LaunchedKernel &launch, uint64_t number,
                       UnitMaker makeUnits, PendingClusters *pending)
    : launch(launch), number(number), pending(pending),
      clusterSize(launch.getClusterSize()),
      maxBlocks(launch.getClustersOfGroup() * clusterSize),
      random(getSeed(launch, number)) {
  // With seed 0, asynchronous operations complete as late as possible.
  turnsBeforeCopies = launch.options->seed == 0
                          ? kMaxTurnsBeforeCopies
                          : 1 << random.below(kMaxLogTurns + 1);
  makeObservers(number, makeUnits);
  unsigned most = launch.getClustersOfGroup();
  uint64_t first = number * most;
  uint64_t last = std::min(first + most, getVolume(launch.getNumClusters()));
  for (uint64_t cluster = first; cluster != last; ++cluster)
    if (!pending || pending->remove(cluster))
      addCluster(cluster);
}

Warp &BlockGroup::getWarp(unsigned number) {
  unsigned numWarps = launch.getNumWarps();
  return blocks[number / numWarps].warps[number % numWarps];
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

bool BlockGroup::failAt(Warp &warp, LocatedMessage message) {
  warp.state = WarpState::Failed;
  warp.failure = std::move(message);
  failed = &warp;
  return false;
}

/// A text with each number replaced by #.
static std::string maskNumbers(llvm::StringRef text) {
  std::string masked;
  while (!text.empty()) {
    if (!llvm::isDigit(text.front())) {
      masked += text.front();
      text = text.drop_front();
      continue;
    }
    bool isHex = text.consume_front("0x");
    text = text.drop_while(isHex ? llvm::isHexDigit : llvm::isDigit);
    masked += '#';
  }
  return masked;
}

void BlockGroup::warn(const Warp &warp, LocatedMessage message) {
  uint64_t hash = llvm::xxh3_64bits(message.text);
  Warning &warning = warnings
                         .try_emplace({message.line, maskNumbers(message.text)},
                                      Warning{message, &warp, {}})
                         .first->second;
  if (warning.texts.size() != kMostTexts)
    warning.texts.insert(hash);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Runs one turn of one of the ready warps; false after a failure.
bool BlockGroup::runTurn(llvm::ArrayRef<Warp *> ready, uint64_t maxSteps) {
  Warp &warp = *ready[random.below(ready.size())];
  if (warp.state == WarpState::Polling)
    warp.state = WarpState::Ready;
  uint64_t executed = warp.run(1 + random.below(kMaxTurn));
  if (warp.state == WarpState::Done) {
    ++progress;
    forEachUnit([&](AsyncUnit &unit) { unit.endWarp(warp); });
    if (warp.block.isDone() && !endBlock(warp.block))
      return false;
  }
  if (warp.state != WarpState::Failed && (numSteps += executed) > maxSteps)
    warp.fail(__builtin_ctz(warp.existing),
              "the run takes more steps than --max-steps allows: " +
                  describeWaits());
  if (warp.state == WarpState::Failed)
    failed = &warp;
  return !failed;
}

bool BlockGroup::endBlock(Block &block) {
  for (const std::unique_ptr<AsyncUnit> &unit : units)
    if (unit && !unit->endBlock(block))
      return false;
  return true;
}

bool BlockGroup::areAllDone() {
  bool areDone = true;
  forEachWarp([&](Warp &warp) { areDone &= warp.state == WarpState::Done; });
  return areDone;
}

BlockGroup::End BlockGroup::run(uint64_t maxSteps, bool othersMayHelp) {
  llvm::SmallVector<Warp *, 32> ready;
  forEachWarp([&](Warp &warp) {
    if (warp.state == WarpState::Failed && !failed)
      failed = &warp;
  });
  numTries = 0;
  while (!failed) {
    ready.clear();
    bool canRun = false;
    forEachWarp([&](Warp &warp) {
      canRun |= warp.state == WarpState::Ready;
      if (warp.state == WarpState::Ready || warp.state == WarpState::Polling)
        ready.push_back(&warp);
    });
    if (!canRun) {
      if (areAllDone()) {
        forEachUnit([](AsyncUnit &unit) { unit.endGroup(); });
        return End::Done;
      }
      if (goOnWithoutReady(othersMayHelp ? kFailedPollsBesideOthers
                                         : kMaxFailedPolls))
        continue;
      if (othersMayHelp && !failed)
        return End::Stuck;
      reportDeadlock();
      break;
    }
    // A warp that spins may wait for one that waits for a copy.
    if (++numTurns == turnsBeforeCopies) {
      numTurns = 0;
      completeAwaited();
      if (failed)
        break;
    }
    if (!runTurn(ready, maxSteps))
      break;
    if (std::exchange(hasYielded, false) && othersMayHelp)
      return End::Stuck;
  }
  return End::Failed;
}
