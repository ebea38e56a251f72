//===- Block.h - A block of threads -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block has shared memory, barriers and warps, and runs the warps in turns
// whose order and length are drawn from a seed.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SIMULATOR_BLOCK_H
#define BLOCKSCALE_SIMULATOR_BLOCK_H

#include "Barriers.h"
#include "BulkCopies.h"
#include "Program.h"
#include "ProxyTracker.h"
#include "Races.h"
#include "Statistics.h"
#include "Warp.h"

#include <deque>
#include <map>

namespace mlir::blockscale::sim {

/// A kernel with its extents and parameters.
struct Launch {
  const Kernel *kernel;
  std::array<uint32_t, 3> grid, block, cluster;
  uint32_t dynamicShared;
  GlobalMemory *memory;
  /// The bytes of the parameters, which nothing writes.
  Storage *parameters;
  const Options *options;
  uint64_t seed;
};

struct Warning {
  LocatedMessage message;
  unsigned warp;
};

/// What is kept for each line: texts have addresses in them, of which a loop
/// has any number.
inline constexpr size_t kMaxWarningsOfLine = 16;
struct LineWarnings {
  std::vector<Warning> first;
  bool areMore = false;
};

/// Numbers drawn from a seed; small state, so that each block has its own.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// From 0 to `bound` - 1.
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

class Block {
public:
  Block(const Launch &launch, std::array<uint32_t, 3> index);

  /// Runs to the end, or to the first failure; false then. More steps than
  /// `maxSteps` are one.
  bool run(uint64_t maxSteps);

  /// Lets go those who wait at a barrier, if enough threads have arrived.
  void completeIfDue(BlockBarrier &barrier);
  /// Lets go those who wait for the mbarrier object at an address.
  void wakeWaiters(uint32_t mbarrier);
  /// Counts arrivals at an mbarrier object; fails where it takes fewer.
  bool arrive(Warp &warp, unsigned lane, uint32_t mbarrier, uint32_t count);
  /// Adds to the bytes that the current phase waits for; fails out of range.
  bool addTransactions(Warp &warp, unsigned lane, uint32_t mbarrier,
                       int64_t bytes);
  /// Completes the phase of an mbarrier object if nothing is missing.
  void completeIfDue(uint32_t mbarrier);
  /// Begins a copy of the current step; fails where it races with what others
  /// did before.
  void begin(Warp &warp, BulkCopy copy);
  /// Whether the same copy is under way already, so that its destination may be
  /// pending.
  bool isUnderWay(const PendingCopy &copy) const;
  /// Completes the copies of the active lanes but those of the `keep` most
  /// recent groups; without a number, all of them.
  void waitCopies(Warp &warp, std::optional<uint64_t> keep);
  void waitBulkCopies(Warp &warp, unsigned lane, uint64_t keep, bool onlyReads);
  /// The mbarrier object at an address; null after a failure.
  MBarrier *findMBarrier(Warp &warp, unsigned lane, uint32_t address);
  /// What threads of a warp have initialized is visible to others from here on.
  void publishMBarriers(const Warp &warp, LaneMask lanes);
  /// Reports a missing proxy fence: an error with --check=proxy, else a
  /// warning.
  void reportProxy(Warp &warp, unsigned lane, const llvm::Twine &text);
  void warn(const Warp &warp, LocatedMessage message);
  /// Tells statistics and the search for races of an access.
  void observe(Warp &warp, const WarpAccess &access) {
    if (isObserved)
      notify(warp, access);
  }

  unsigned numThreads() const {
    return launch.block[0] * launch.block[1] * launch.block[2];
  }

  const Launch &launch;
  const std::array<uint32_t, 3> index;
  Storage shared;
  BlockBarriers barriers;
  MBarriers mbarriers;
  BulkCopies bulkCopies;
  /// Null where nothing goes through the async proxy.
  std::unique_ptr<ProxyTracker> proxies;
  std::deque<Warp> warps;
  /// By line.
  std::map<uint32_t, LineWarnings> warnings;
  /// The warp whose failure ended the run.
  const Warp *failed = nullptr;
  /// Null where nobody asked for them.
  std::unique_ptr<Statistics> statistics;
  std::unique_ptr<RaceDetector> races;
  /// Steps executed, which is also what clocks show; without those of the turn
  /// that failed.
  uint64_t numSteps = 0;
  /// Registers and predicates of all functions that warps are in.
  uint64_t numRegisters = 0;

private:
  void mapShared();
  void notify(Warp &warp, const WarpAccess &access);
  void checkRace(Warp &warp, const RaceDetector::Access &access);
  void checkSource(Warp &warp, const BulkCopy &copy);
  void checkProxy(Warp &warp, const BulkCopy &copy, const Span &span,
                  llvm::StringRef what);
  bool isShared(const Span &span) const { return span.storage == &shared; }
  RaceDetector::Access makeAccess(const PendingCopy &copy, unsigned warp) const;
  RaceDetector::Access makeAccess(const BulkCopy &copy, AccessKind kind) const;
  bool completeBulkCopy(uint32_t mbarrier);
  bool completeArrival(Warp &warp, uint32_t mbarrier);
  void releaseBarriers();
  bool reportDeadlock();
  bool goOnWithoutReady(unsigned &numTries);
  bool completeAwaited();
  bool completeNext(uint32_t mbarrier);
  bool finishCopies();

  Random random;
  bool isObserved = false;
  /// Counts what may let a warp go on that waits.
  uint64_t progress = 0;
  /// The same when warps last asked in vain.
  uint64_t lastTryProgress = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_SIMULATOR_BLOCK_H
