//===- BlockGroup.h - Blocks that run at the same time ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group of blocks that are simulated together: blocks of a cluster access
// each other's shared memory, and blocks of one SM share its tensor memory. A
// group runs its warps in turns whose order and length are drawn from a seed.
// Without clusters and tensor memory, each block is a group.
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

/// A line of the PTX text, and the text of a warning without its numbers
/// (addresses, warps and blocks).
using WarningKind = std::pair<uint32_t, std::string>;

/// Different texts of one kind are counted by their hashes, up to this limit.
inline constexpr size_t kMostTexts = 1000;
using WarningTexts = std::set<uint64_t>;

struct Warning {
  /// The first one.
  LocatedMessage message;
  const Warp *warp;
  WarningTexts texts;
};

/// A generator of random numbers; its state is small, so that each group has
/// its own.
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
/// Describes a race, from the side of the first access.
std::string describeRace(const GlobalRace &race, GlobalMemory &memory);

/// The most bytes that kernels print; CUDA's default size of the buffer.
inline constexpr size_t kMaxOutputBytes = 1 << 20;

class BlockGroup {
public:
  /// How many groups a launch has.
  static uint64_t count(const LaunchedKernel &launch);

  /// `pending` has the clusters that may still begin; null if all of them may.
  /// A group has fewer blocks if some of its clusters were taken.
  BlockGroup(const LaunchedKernel &launch, uint64_t number, UnitMaker makeUnits,
             PendingClusters *pending = nullptr);
  ~BlockGroup();

  enum class End : uint8_t {
    Done,
    Failed,
    /// All warps wait for other groups, or let them run.
    Stuck,
  };
  /// Runs to the end, or to the first failure. More than `maxSteps` steps are a
  /// failure, and so is a deadlock, unless other groups may help.
  End run(uint64_t maxSteps, bool othersMayHelp);
  /// Counts all events but polls without success.
  uint64_t countEvents();
  /// Fails with a deadlock.
  void reportDeadlock();

  void warn(const Warp &warp, LocatedMessage message);
  /// Notes an event that may let a waiting warp go on.
  void noteProgress() { ++progress; }
  /// Lets other groups run for a while, if there are any.
  void letOthersRun() { hasYielded = true; }
  /// The warp with a number, and its name in messages.
  Warp &getWarp(unsigned number);
  /// A random number below `bound`, drawn from the seed.
  uint64_t draw(uint64_t bound) { return random.below(bound); }
  std::string describeWarp(unsigned number);

  /// A unit that the kernel needs.
  template <typename Unit>
  Unit &get() {
    return static_cast<Unit &>(*units[static_cast<unsigned>(Unit::kKind)]);
  }
  /// The units that watch the steps of warps.
  llvm::ArrayRef<AsyncUnit *> getStepWatchers() const { return stepWatchers; }
  /// Reports an error outside of a step of the warp, with its own line; returns
  /// false.
  bool failAt(Warp &warp, LocatedMessage message);
  /// The block whose shared memory has these bytes; null if there is none.
  Block *findBlock(const Span &span);
  /// Fails if an access of shared memory races with an earlier one.
  void checkRace(Warp &warp, const RaceDetector::Access &access);
  std::string describeConflict(const RaceDetector::Conflict &conflict);
  /// The same for an access of global memory, by lanes of the group or by
  /// another one.
  void checkGlobalRaces(Warp &warp, const WarpAccess &access);

  const LaunchedKernel &launch;
  /// The index of the group in the launch.
  const uint64_t number;
  /// Null if the kernel cannot take clusters.
  PendingClusters *const pending;
  std::deque<Block> blocks;
  /// Blocks of a cluster; their indices are consecutive.
  const unsigned clusterSize;
  /// The most blocks of a group.
  const unsigned maxBlocks;
  /// Null if the kernel does not use the async proxy.
  std::unique_ptr<ProxyTracker> proxies;
  /// Null if they were not requested.
  std::unique_ptr<Statistics> statistics;
  std::unique_ptr<RaceDetector> races;
  /// The accesses of its lanes to global memory, for race detection.
  GlobalAccesses globalAccesses;
  /// Null if no recording was requested.
  std::unique_ptr<Recorder> recorder;
  std::map<WarningKind, Warning> warnings;
  /// The output of its lanes; one byte more than kMaxOutputBytes if there was
  /// more.
  std::string output;
  /// The warp whose failure ended the run.
  const Warp *failed = nullptr;
  /// Steps executed, without those of a turn that failed. Clock registers show
  /// this number.
  uint64_t numSteps = 0;

private:
  void addCluster(uint64_t number);
  void makeObservers(uint64_t number, UnitMaker makeUnits);
  bool endBlock(Block &block);
  bool runTurn(llvm::ArrayRef<Warp *> ready, uint64_t maxSteps);
  bool completeNext(SharedLocation mbarrier);
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

  /// By kind; null if the kernel does not need the unit.
  UnitList units;
  std::vector<AsyncUnit *> stepWatchers;
  Random random;
  /// After so many turns, awaited asynchronous operations complete even if
  /// other warps could run.
  unsigned turnsBeforeCopies;
  /// Turns since they were completed.
  unsigned numTurns = 0;
  bool hasYielded = false;
  /// Counts events that may let a waiting warp go on.
  uint64_t progress = 0;
  /// `progress` at the last poll without success, and how many such polls there
  /// were since.
  uint64_t lastPollProgress = 0;
  unsigned numTries = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCKGROUP_H
