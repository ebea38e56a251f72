//===- CpAsyncQueue.h - cp.async in flight ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cp.async` and bulk copies are carried out, reads and writes alike, at the
// last moment that the PTX ISA allows: when a thread waits for them. Until then
// the bytes of the destination are pending, and no load may read them.
//
// Source: PTX ISA, section 9.7.9.25 "Data Movement and Conversion Instructions:
// Asynchronous copy".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_CPASYNCQUEUE_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_CPASYNCQUEUE_H

#include "Machine/AsyncUnit.h"
#include "Machine/Lanes.h"
#include "Memory/Storage.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace mlir::blockscale::sim {

/// One copy: `size` bytes of the source, then zeros up to `totalSize`.
struct PendingCopy {
  Span source, destination;
  uint64_t size = 0;
  uint64_t totalSize = 0;
  unsigned lane = 0;
  uint32_t line = 0;

  /// Marks the destination as pending.
  void begin();
  void complete();
  /// Whether both copies write the same bytes to the same destination.
  bool isSame(const PendingCopy &other) const;
};

/// The copies that the lanes of a warp have begun and not waited for. Each lane
/// counts its groups from 0.
class CpAsyncQueue {
public:
  using OnComplete = llvm::function_ref<void(const PendingCopy &)>;

  void begin(PendingCopy copy);
  struct Arrival {
    unsigned lane;
    uint32_t mbarrier;
    uint32_t line;
    /// The id, in recordings, of the last copy before it.
    uint32_t operationId;
  };
  /// Adds an arrival at an mbarrier object that happens when the copies before
  /// it are complete.
  void addArrival(const Arrival &arrival);
  /// Whether nothing more can be added.
  bool isFull() const { return entries.size() >= kMaxCopiesInFlight; }
  /// Whether the same copy is under way already.
  bool contains(const PendingCopy &copy) const;

  /// Closes the current group of a lane.
  void commit(unsigned lane) { ++numCommitted[lane]; }
  /// Completes all groups of some lanes but the `keep` most recent ones.
  void waitGroups(LaneMask lanes, uint64_t keep, OnComplete onComplete);
  /// Completes all copies of some lanes, committed or not.
  void waitAll(LaneMask lanes, OnComplete onComplete);

  /// Removes the oldest arrival at `mbarrier`, after completing the copies that
  /// its lane began before it.
  std::optional<Arrival> takeArrival(uint32_t mbarrier, OnComplete onComplete);

private:
  struct Entry {
    /// In the order of the program.
    uint64_t number;
    uint64_t group;
    /// Either a copy or an arrival.
    std::optional<PendingCopy> copy;
    Arrival arrival;
  };
  template <typename Predicate>
  void completeIf(Predicate predicate, OnComplete onComplete);

  std::vector<Entry> entries;
  uint64_t numEntries = 0;
  std::array<uint64_t, kLanes> numCommitted = {};
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_CPASYNCQUEUE_H
