//===- Races.h - Data races in shared memory --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds pairs of accesses to a byte of shared memory by two lanes, at least one
// of them a store, that nothing orders. Order comes from barriers only: `bar`
// and `barrier`, also of a cluster, mbarrier objects, and `bar.warp.sync`
// within a warp. Shuffles and votes order nothing. Two stores of the same value
// are no race, as the outcome is the same. Atomic, volatile and ordered
// accesses do not race with each other. They order other accesses if the ISA
// says so: with .release and .acquire, or with a fence (a barrier counts as
// one) before the access that writes and after the one that reads.
//
// Accesses of tensor memory have clocks of their own, as relaxed barriers also
// order what comes before a tcgen05.fence::before_thread_sync.
//
// The method is vector clocks. Each warp has a clock, which advances when the
// warp arrives at a barrier, and keeps the clocks of the others up to which it
// is ordered behind them. An epoch tells the accesses of its lanes apart; it
// advances when the lanes wait together. A barrier is assumed to order all
// lanes of a warp that reaches it, even if only one of them arrives at an
// mbarrier object: some races are not found, but everything that is found is a
// race.
//
// An asynchronous copy accesses shared memory twice: when it begins (earlier
// accesses of others must be ordered before it) and when it completes (later
// accesses must be ordered behind a wait for it). Between the two, its
// destination is pending and must not be accessed, and its source must not be
// written.
//
//   cp.async    completes as an access of its lane, at the lane's wait
//   mbarrier    completes as an access that is ordered only before waits for
//               the phase (of cp.async.mbarrier.arrive, too)
//   bulk group  has read its source at the lane's wait
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MEMORY_RACES_H
#define BLOCKSCALE_LIB_SIMULATOR_MEMORY_RACES_H

#include "Memory/WarpAccess.h"

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <map>
#include <optional>
#include <vector>

namespace mlir::blockscale::sim {

/// A vector clock: a time for each agent. Agents are the warps, the previous
/// kernel, and then the copies that signal at mbarrier objects, the tensor
/// cores, and the warps as those that load and store tensor memory. Missing
/// entries are 0.
using Clocks = std::vector<uint32_t>;

struct AgentTime {
  uint16_t agent = 0;
  uint32_t clock = 0;
};

class RaceDetector {
public:
  RaceDetector(uint64_t sharedBytes, unsigned numWarps);

  struct Access {
    unsigned warp, lane;
    uint32_t line;
    uint64_t address, size;
    AccessKind kind;
    /// The bytes also count as accessed by the other lanes of the warp
    /// (ldmatrix).
    bool isCollective = false;
    /// Part of an asynchronous copy.
    bool isAsync = false;
    /// The time of the access if another agent than the warp makes it.
    std::optional<AgentTime> time;
    MemoryOrder order = MemoryOrder::Weak;
    /// The stored bytes, if they are known.
    const uint8_t *bytes = nullptr;
  };
  /// The other side of a race.
  struct Conflict {
    uint64_t address;
    AccessKind kind;
    bool isAsync;
    unsigned warp, lane;
    uint32_t line;
  };
  /// Notes an access; nothing if all earlier accesses are ordered before it.
  std::optional<Conflict> access(const Access &access);

  /// Notes the access of a copy that signals at an mbarrier object; `arrived`
  /// are the clocks of the current phase.
  void complete(const Access &access, uint32_t mbarrier, Clocks &arrived);

  /// How many stores have been noted.
  uint64_t getNumStores() const { return numStores; }
  /// The first store to a range after the first `numBefore` stores.
  std::optional<Conflict> findStore(uint64_t address, uint64_t size,
                                    uint64_t numBefore) const;

  /// Whether an access of a lane, at this clock and epoch of its warp, is
  /// ordered before the current access of another lane.
  bool isOrdered(unsigned warp, unsigned lane, uint32_t clock, uint32_t epoch,
                 unsigned toWarp, unsigned toLane) const {
    if (warp == toWarp)
      return lane == toLane || epoch < epochs[warp];
    return clock <= clocks[toWarp][warp];
  }
  uint32_t getEpoch(unsigned warp) const { return epochs[warp]; }
  /// A warp writes or reads a location with which threads synchronize.
  void synchronize(unsigned warp, uint64_t location, AccessKind kind,
                   MemoryOrder order);

  /// `bar.warp.sync` orders the lanes of a warp.
  void joinLanes(unsigned warp) { ++epochs[warp]; }
  /// A warp arrives at a barrier, and merges its clocks into `arrived`; warps
  /// that wait for the barrier merge those.
  void release(unsigned warp, Clocks &arrived);
  /// The same for a relaxed arrival, which orders only what came before the
  /// warp's last fence, and accesses of tensor memory before its last
  /// tcgen05.fence::before_thread_sync.
  void releaseFenced(unsigned warp, Clocks &arrived);
  void fence(unsigned warp);
  /// The clock of a warp, and whether another warp (or itself) is ordered
  /// behind a time of it.
  uint32_t getClock(unsigned warp) const { return clocks[warp][warp]; }
  bool isKnown(unsigned to, unsigned warp, uint32_t clock) const {
    return to == warp || clock <= clocks[to][warp];
  }
  void acquire(unsigned warp, const Clocks &arrived);

  /// The kernel before a programmatic launch is also an agent: a warp has
  /// waited for its end, or is ordered behind a warp that has.
  void waitForGrid(unsigned warp);
  bool knowsGrid(unsigned warp) const {
    return isKnown(warp, getGridEnd(), /*isFenced=*/false);
  }

  /// The tensor core has executed what a thread issued before a commit. The
  /// commit arrives at a barrier with the clocks `arrived`, so that warps that
  /// wait there are ordered behind it.
  void commitTensor(unsigned thread) { ++getTensorAgent(thread).clock; }
  void arriveTensor(unsigned thread, Clocks &arrived);
  /// The time at the next commit of a thread, and the current time of a warp.
  AgentTime getNextCommit(unsigned thread) {
    const AgentTime &last = getTensorAgent(thread);
    return {last.agent, last.clock + 1};
  }
  /// The time when a warpgroup's multiplication with a number is complete, and
  /// a wait of a warp for it: the warp is then ordered behind all four warps.
  AgentTime getMultiplication(unsigned warpgroup, uint64_t number);
  void learn(unsigned warp, const AgentTime &time);
  /// The time of a tcgen05.ld or st of a warp, or of a wait for it.
  AgentTime accessTensor(unsigned warp);
  /// Whether a warp is ordered behind a time; with `isFenced`, whether it was
  /// at its last tcgen05.fence::after_thread_sync.
  bool isKnown(unsigned to, const AgentTime &time, bool isFenced) const;
  /// tcgen05.fence::before_thread_sync and ::after_thread_sync.
  void fenceTensorBefore(unsigned warp) { beforeSync[warp] = clocks[warp]; }
  void fenceTensorAfter(unsigned warp) { afterSync[warp] = clocks[warp]; }

private:
  struct Event {
    uint64_t number;
    uint32_t clock, epoch;
    uint32_t line;
    /// The agent of the clock.
    uint16_t agent;
    uint16_t warp;
    uint8_t lane;
    AccessKind kind;
    /// Several lanes of the warp made the same access in this epoch.
    bool isManyLanes;
    bool isAsync;
    /// Atomic, volatile or ordered.
    bool isStrong;
  };
  /// The largest cell.
  static constexpr unsigned kMaxCellLog = 4;
  /// Bytes with the same accesses.
  struct Cell {
    std::optional<Event> store;
    /// The stored value, if it is known.
    bool hasValue = false;
    std::array<uint8_t, 1 << kMaxCellLog> value = {};
    /// The last load of each agent since the store.
    llvm::SmallVector<Event, 2> loads;
  };
  /// A range of bytes in cells of the smallest alignment of its accesses.
  struct Segment {
    static constexpr uint64_t kBytes = 128;
    /// log2 of the bytes of a cell.
    unsigned log = kMaxCellLog;
    /// Empty before the first access.
    std::vector<Cell> cells;

    void refine(unsigned newLog);
  };
  /// Calls `body(cell, address, log)` for cells of 1 << log bytes that cover
  /// exactly a range.
  template <typename Body>
  void forEachCell(uint64_t address, uint64_t size, Body body);
  AgentTime getGridEnd() const {
    return {static_cast<uint16_t>(clocks.size()), 1};
  }
  AgentTime makeAgent() const;
  AgentTime &getTensorAgent(unsigned thread);
  void mergeTensor(Clocks &into, const Clocks &from) const;
  Event makeEvent(const Access &access);
  static void noteLoad(Cell &cell, const Event &event);
  static void setStore(Cell &cell, const Event &event, const uint8_t *bytes,
                       size_t size);
  bool isOrdered(const Event &event, const Access &access) const;
  void applyAcquired(unsigned warp);
  void advance(unsigned warp);
  const AgentTime *findTensorWarp(unsigned warp) const;

  std::vector<Segment> segments;
  /// The vector clock of each warp.
  std::vector<Clocks> clocks;
  /// The same at the last fence of each warp.
  std::vector<Clocks> fenced;
  std::vector<uint32_t> epochs;
  /// `released`: the clocks that a relaxed write of a warp releases, which are
  /// those at its last fence or barrier. `acquired`: the clocks that its
  /// relaxed reads have acquired; they count from its next fence or barrier on.
  std::vector<Clocks> released, acquired;
  /// The clocks that writes of a location have released, and those of tensor
  /// memory before a tcgen05.fence::before_thread_sync.
  struct Location {
    Clocks released, tensor;
  };
  std::map<uint64_t, Location> locations;
  /// The vector clocks at the last tcgen05.fence of each kind of each warp.
  std::vector<Clocks> beforeSync, afterSync;
  /// The agents of the copies that signal at one mbarrier object, of the tensor
  /// core operations of one thread, of the tcgen05.ld and st of a warp, and of
  /// the multiplications of a warpgroup.
  std::map<uint32_t, AgentTime> copyAgents, tensorAgents, tensorWarps,
      warpgroupAgents;
  /// The clock of a warp in `tensorWarps` when its own clock advanced last.
  std::vector<uint32_t> advancedTensor;
  uint64_t numStores = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_RACES_H
