//===- BlockGroup.h - Blocks that run at the same time ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks of a cluster see each other's shared memory, and blocks of one
// SM share its tensor memory. A group has all blocks that may see
// each other, and runs their warps in turns whose order and length are drawn
// from a seed. Without clusters and tensor memory, a block is a group.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCKGROUP_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCKGROUP_H

#include "Machine/AsyncUnit.h"
#include "Machine/Block.h"
#include "Machine/Statistics.h"
#include "Memory/ProxyTracker.h"
#include "Memory/Races.h"

#include <deque>
#include <map>
#include <set>

namespace mlir::blockscale::sim {

class PendingClusters;
class Recorder;

/// A line of the PTX text, and the text of a warning without its numbers:
/// addresses, warps and blocks, of which there may be any number.
using WarningKind = std::pair<uint32_t, std::string>;

/// Hashes of the different texts of one kind; no more than that are counted.
inline constexpr size_t kMostTexts = 1000;
using WarningTexts = std::set<uint64_t>;

struct Warning {
  /// The first one.
  LocatedMessage message;
  const Warp *warp;
  WarningTexts texts;
};

/// Numbers drawn from a seed; small state, so that each group has its own.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// From 0 to `bound` - 1.
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

std::string describeKind(AccessKind kind, bool isAsync);
/// What is wrong with two accesses, from the side of the first one.
std::string describeRace(const GlobalRace &race, GlobalMemory &memory);

/// What kernels print, at most; CUDA's default size of the buffer.
inline constexpr size_t kMaxOutputBytes = 1 << 20;

class BlockGroup {
public:
  /// How many groups a launch has.
  static uint64_t count(const LaunchedKernel &launch);

  /// `pending` has those clusters that may still begin, and is null where all
  /// of them may: where some of the group were taken, it has fewer blocks.
  BlockGroup(const LaunchedKernel &launch, uint64_t number, UnitMaker makeUnits,
             PendingClusters *pending = nullptr);
  ~BlockGroup();

  enum class End : uint8_t {
    Done,
    Failed,
    /// All warps wait, which other groups may change; or these are to run.
    Stuck,
  };
  /// Runs to the end, or to the first failure. More steps than `maxSteps` are
  /// one, and so is a deadlock, unless others may help.
  End run(uint64_t maxSteps, bool othersMayHelp);
  /// Counts what has happened but vain tries to go on.
  uint64_t countEvents();
  /// Nobody helps: fails.
  void reportDeadlock();

  void warn(const Warp &warp, LocatedMessage message);
  /// Notes that something happened that may let a warp go on that waits.
  void noteProgress() { ++progress; }
  /// Lets other groups run for a while, if there are any.
  void letOthersRun() { hasYielded = true; }
  /// The warp with a number, and what messages call it.
  Warp &getWarp(unsigned number);
  /// A number below `bound` that the seed tells.
  uint64_t draw(uint64_t bound) { return random.below(bound); }
  std::string describeWarp(unsigned number);

  /// A unit, where the kernel has a use for it.
  template <typename Unit>
  Unit &get() {
    return static_cast<Unit &>(*units[static_cast<unsigned>(Unit::kKind)]);
  }
  /// Those that watch the steps of warps.
  llvm::ArrayRef<AsyncUnit *> getStepWatchers() const { return stepWatchers; }
  /// Reports an error of a line that is not in the step of a warp; false.
  bool failAt(Warp &warp, LocatedMessage message);
  /// The block whose shared memory has these bytes; null if none has.
  Block *findBlock(const Span &span);
  /// Fails where an access of shared memory races with one before.
  void checkRace(Warp &warp, const RaceDetector::Access &access);
  std::string describeConflict(const RaceDetector::Conflict &conflict);
  /// The same for an access of global memory, by lanes of the group or by
  /// another one.
  void checkGlobalRaces(Warp &warp, const WarpAccess &access);

  const LaunchedKernel &launch;
  /// Of the groups of the launch.
  const uint64_t number;
  /// Null where nothing takes clusters.
  PendingClusters *const pending;
  std::deque<Block> blocks;
  /// The blocks of a cluster, which follow one another.
  const unsigned clusterSize;
  /// Blocks of a group, at most.
  const unsigned maxBlocks;
  /// Null where nothing goes through the async proxy.
  std::unique_ptr<ProxyTracker> proxies;
  /// Null where nobody asked for them.
  std::unique_ptr<Statistics> statistics;
  std::unique_ptr<RaceDetector> races;
  /// What its lanes access in global memory, for the search for races.
  GlobalAccesses globalAccesses;
  /// Null where nobody wants to know what waits for what.
  std::unique_ptr<Recorder> recorder;
  std::map<WarningKind, Warning> warnings;
  /// What lanes have printed. One byte more than kMaxOutputBytes says that
  /// there was more.
  std::string output;
  /// The warp whose failure ended the run.
  const Warp *failed = nullptr;
  /// Steps executed, which is also what clocks show; without those of the turn
  /// that failed.
  uint64_t numSteps = 0;

private:
  void addCluster(uint64_t number);
  void makeObservers(uint64_t number, UnitMaker makeUnits);
  bool endBlock(Block &block);
  bool runTurn(llvm::ArrayRef<Warp *> ready, uint64_t maxSteps);
  bool completeNext(SharedPlace mbarrier);
  bool completeAwaited();
  bool goOnWithoutReady(unsigned maxTries);
  bool releaseJoins();
  bool areAllDone();
  std::string describeWaits();
  std::string describeWait(Warp &warp);

  template <typename Body>
  void forEachWarp(Body body) {
    for (Block &block : blocks)
      for (Warp &warp : block.warps)
        body(warp);
  }

  template <typename Body>
  void forEachUnit(Body body) {
    for (const std::unique_ptr<AsyncUnit> &unit : units)
      if (unit)
        body(*unit);
  }

  /// By kind; null where the kernel has no use for one.
  UnitList units;
  std::vector<AsyncUnit *> stepWatchers;
  Random random;
  /// After so many turns, asynchronous operations complete that warps wait for,
  /// though others could run.
  unsigned turnsBeforeCopies;
  /// Turns since they were completed.
  unsigned numTurns = 0;
  bool hasYielded = false;
  /// Counts what may let a warp go on that waits.
  uint64_t progress = 0;
  /// The same when warps last asked in vain, and how often they have since.
  uint64_t lastTryProgress = 0;
  unsigned numTries = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCKGROUP_H
