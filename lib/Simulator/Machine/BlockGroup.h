//===- BlockGroup.h - Blocks that run at the same time ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks of a cluster see each other's shared memory, and blocks of one
// multiprocessor share its tensor memory. A group has all blocks that may see
// each other, and runs their warps in turns whose order and length are drawn
// from a seed. Without clusters and tensor memory, a block is a group.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCKGROUP_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCKGROUP_H

#include "Copies/BulkCopies.h"
#include "Machine/Block.h"
#include "Memory/ProxyTracker.h"
#include "Synchronization/ClusterBarrier.h"
#include "Tcgen05/TensorEngine.h"

#include <deque>
#include <map>

namespace mlir::blockscale::sim {

struct Warning {
  LocatedMessage message;
  const Warp *warp;
};

/// What is kept for each line: texts have addresses in them, of which a loop
/// has any number.
inline constexpr size_t kMaxWarningsOfLine = 16;
struct LineWarnings {
  std::vector<Warning> first;
  bool areMore = false;
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

class BlockGroup {
public:
  /// How many groups a launch has.
  static uint64_t count(const LaunchedKernel &launch);

  BlockGroup(const LaunchedKernel &launch, uint64_t number);

  /// Runs to the end, or to the first failure; false then. More steps than
  /// `maxSteps` are one.
  bool run(uint64_t maxSteps);

  void warn(const Warp &warp, LocatedMessage message);
  /// Notes that something happened that may let a warp go on that waits.
  void noteProgress() { ++progress; }
  /// The warp with a number, and what messages call it.
  Warp &getWarp(unsigned number);
  /// A number below `bound` that the seed tells.
  uint64_t draw(uint64_t bound) { return random.below(bound); }
  /// Lets warps try again that wait for columns of tensor memory.
  void wakeAllocations();
  std::string describeWarp(unsigned number);

  /// Begins a copy of the current step; fails where it races with what others
  /// did before.
  void begin(Warp &warp, BulkCopy copy);
  void waitBulkCopies(Warp &warp, unsigned lane, uint64_t keep, bool onlyReads);
  /// The block whose shared memory has these bytes; null if none has.
  Block *findBlock(const Span &span);
  /// The barrier of the cluster that a block belongs to.
  ClusterBarrier &getClusterBarrier(const Block &block) {
    return clusterBarriers[block.number / clusterSize];
  }
  /// Fails where an access of shared memory races with one before.
  void checkRace(Warp &warp, const RaceDetector::Access &access);

  const LaunchedKernel &launch;
  std::deque<Block> blocks;
  /// The blocks of a cluster, which follow one another.
  const unsigned clusterSize;
  BulkCopies bulkCopies;
  /// Null where nothing goes through the async proxy.
  std::unique_ptr<ProxyTracker> proxies;
  /// Null where nobody asked for them.
  std::unique_ptr<Statistics> statistics;
  std::unique_ptr<RaceDetector> races;
  /// Null where the kernel has no use for it.
  std::unique_ptr<TensorEngine> tensor;
  /// By line.
  std::map<uint32_t, LineWarnings> warnings;
  /// The warp whose failure ended the run.
  const Warp *failed = nullptr;
  /// Steps executed, which is also what clocks show; without those of the turn
  /// that failed.
  uint64_t numSteps = 0;

private:
  void addCluster(uint64_t number);
  void checkSource(const BulkCopy &copy, const Block &from);
  void checkProxy(const BulkCopy &copy, const Span &span, const Block &block,
                  llvm::StringRef what);
  void checkProxies(const BulkCopy &copy, Block *from, Block *to);
  std::string describeConflict(const RaceDetector::Conflict &conflict);
  bool completeBulkCopy(SharedPlace mbarrier);
  bool completeNext(SharedPlace mbarrier);
  bool completeAwaited();
  bool goOnWithoutReady(unsigned &numTries);
  bool reportDeadlock();
  std::string describeWait(Warp &warp);

  template <typename Body>
  void forEachWarp(Body body) {
    for (Block &block : blocks)
      for (Warp &warp : block.warps)
        body(warp);
  }

  std::vector<ClusterBarrier> clusterBarriers;
  Random random;
  /// Counts what may let a warp go on that waits.
  uint64_t progress = 0;
  /// The same when warps last asked in vain.
  uint64_t lastTryProgress = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCKGROUP_H
