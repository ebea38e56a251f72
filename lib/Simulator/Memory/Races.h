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
// are no race, as the outcome is one. Atomic, volatile and ordered
// accesses do not race with each other. They order what others do where the ISA
// says so: with .release and .acquire, or with a fence (for which a barrier
// counts) in front of the one that writes and behind the one that reads.
//
// Each warp has a clock, which moves on when it arrives somewhere, and knows
// how far the clocks of the others had come when it last heard of them. Its
// lanes are told apart by an epoch, which moves on when they wait together. A
// barrier is taken to order all lanes of a warp that comes to it, even if only
// one of them arrives at an mbarrier object: some races are not found, but what
// is found is one.
//
// An asynchronous copy accesses shared memory twice: where it begins, so that
// what others did before has to be ordered before it, and where it completes,
// so that what they do later has to be ordered behind a wait for it. Between
// the two, its destination is pending, which no access may touch, and nobody
// may store to its source.
//   cp.async          completes as an access of its lane, at the lane's wait
//   mbarrier          completes as an access that only those see who wait for
//                     the phase (of cp.async.mbarrier.arrive, too)
//   bulk group        has read its source at the lane's wait
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

/// How far the clock of each agent has come: those of warps, of the kernel in
/// front, and then those of the copies that mbarrier objects are told of and of
/// tensor cores. What is not there is 0.
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
    /// The bytes are those of other lanes of the warp, too (ldmatrix).
    bool isCollective = false;
    /// Part of an asynchronous copy.
    bool isAsync = false;
    /// When another agent than the warp does it.
    std::optional<AgentTime> time;
    MemoryOrder order = MemoryOrder::Weak;
    /// What is stored, if that is known.
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
  /// Notes an access; nothing if everything before is ordered before it.
  std::optional<Conflict> access(const Access &access);

  /// Notes what a copy did that an mbarrier object is told of; `arrived` are
  /// the clocks of the current phase.
  void complete(const Access &access, uint32_t mbarrier, Clocks &arrived);

  /// How many stores have been noted.
  uint64_t getNumStores() const { return numStores; }
  /// The first store to a range behind the first `numBefore` ones.
  std::optional<Conflict> findStore(uint64_t address, uint64_t size,
                                    uint64_t numBefore) const;

  /// Whether what a lane did when the clock and the epoch of its warp were
  /// these is ordered before what another one does now.
  bool isOrdered(unsigned warp, unsigned lane, uint32_t clock, uint32_t epoch,
                 unsigned toWarp, unsigned toLane) const {
    if (warp == toWarp)
      return lane == toLane || epoch < epochs[warp];
    return clock <= clocks[toWarp][warp];
  }
  uint32_t getEpoch(unsigned warp) const { return epochs[warp]; }
  /// A warp writes to, or reads, a location through which threads talk to each
  /// other.
  void synchronize(unsigned warp, uint64_t location, AccessKind kind,
                   MemoryOrder order);

  /// `bar.warp.sync` orders the lanes of a warp.
  void joinLanes(unsigned warp) { ++epochs[warp]; }
  /// A warp arrives at a barrier; others see that when they have waited for it.
  void release(unsigned warp, Clocks &arrived);
  /// The same for a relaxed arrival: others see what came before the warp's
  /// last fence.
  void releaseFenced(unsigned warp, Clocks &arrived);
  void fence(unsigned warp);
  /// What the clock of a warp shows, and whether another one (or itself) knows
  /// what it did then.
  uint32_t getClock(unsigned warp) const { return clocks[warp][warp]; }
  bool isKnown(unsigned to, unsigned warp, uint32_t clock) const {
    return to == warp || clock <= clocks[to][warp];
  }
  void acquire(unsigned warp, const Clocks &arrived);

  /// The kernel in front of a programmatic launch is an agent, too: a warp has
  /// waited for its end, or knows that somebody has.
  void waitForGrid(unsigned warp);
  bool knowsGrid(unsigned warp) const {
    return isKnown(warp, getGridEnd(), /*isFenced=*/false);
  }

  /// The tensor core has carried out what a thread issued before a commit, and
  /// the commit arrives where the clocks are `arrived`: those who wait for that
  /// know.
  void commitTensor(unsigned thread) { ++getTensorAgent(thread).clock; }
  void arriveTensor(unsigned thread, Clocks &arrived);
  /// The time at the next commit of a thread, and now in a warp itself.
  AgentTime getNextCommit(unsigned thread) {
    const AgentTime &last = getTensorAgent(thread);
    return {last.agent, last.clock + 1};
  }
  /// When a warpgroup's multiplication of a number is over, and a warp has
  /// waited for that: it knows then for all four warps.
  AgentTime getMultiplication(unsigned warpgroup, uint64_t number);
  void learn(unsigned warp, const AgentTime &time);
  AgentTime getTime(unsigned warp) const {
    return {static_cast<uint16_t>(warp), getClock(warp)};
  }
  /// Whether a warp knows what was done until then; with `isFenced`, whether it
  /// did at its last tcgen05.fence::after_thread_sync.
  bool isKnown(unsigned to, const AgentTime &time, bool isFenced) const;
  void fenceTensor(unsigned warp) { fencedTensor[warp] = clocks[warp]; }

private:
  struct Event {
    uint64_t number;
    uint32_t clock, epoch;
    uint32_t line;
    /// Whose clock it is.
    uint16_t agent;
    uint16_t warp;
    uint8_t lane;
    AccessKind kind;
    /// More than one lane of the warp did the same, in this epoch.
    bool isManyLanes;
    bool isAsync;
    /// Atomic, volatile or ordered.
    bool isStrong;
  };
  /// The largest cell.
  static constexpr unsigned kMaxCellLog = 4;
  /// Bytes that have all been accessed alike.
  struct Cell {
    std::optional<Event> store;
    /// What it has stored, if that is known.
    bool hasValue = false;
    std::array<uint8_t, 1 << kMaxCellLog> value = {};
    /// The last load of each agent that has one since.
    llvm::SmallVector<Event, 2> loads;
  };
  /// Bytes in cells that are as large as the smallest access was aligned.
  struct Line {
    static constexpr uint64_t kBytes = 128;
    /// Of the bytes of a cell.
    unsigned log = kMaxCellLog;
    /// Empty while nothing was accessed.
    std::vector<Cell> cells;

    void refine(unsigned newLog);
  };
  /// Calls `body(cell, address, log)` for the cells of a range, which it fills;
  /// each has 1 << log bytes.
  template <typename Body>
  void forEachCell(uint64_t address, uint64_t size, Body body);
  AgentTime getGridEnd() const {
    return {static_cast<uint16_t>(clocks.size()), 1};
  }
  AgentTime makeAgent() const;
  AgentTime &getTensorAgent(unsigned thread);
  Event makeEvent(const Access &access);
  static void noteLoad(Cell &cell, const Event &event);
  static void setStore(Cell &cell, const Event &event, const uint8_t *bytes,
                       size_t size);
  bool isOrdered(const Event &event, const Access &access) const;
  void learnHeard(unsigned warp);

  std::vector<Line> lines;
  /// By warp: how far it knows the clock of each agent.
  std::vector<Clocks> clocks;
  /// The same at its last fence.
  std::vector<Clocks> fenced;
  std::vector<uint32_t> epochs;
  /// What a relaxed write tells of: what a warp knew at its last fence, or had
  /// heard at its last barrier. What relaxed reads have told it of, which it
  /// knows from its next fence or barrier on. By location: what writes told.
  std::vector<Clocks> told, heard;
  std::map<uint64_t, Clocks> locations;
  /// The same at its last tcgen05.fence::after_thread_sync.
  std::vector<Clocks> fencedTensor;
  /// The copies that one mbarrier object is told of, what one thread has
  /// tensor cores do, and what a warpgroup has.
  std::map<uint32_t, AgentTime> copyAgents, tensorAgents, warpgroupAgents;
  uint64_t numStores = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_RACES_H
