//===- Recorder.h - Records what a group of blocks does ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records steps and accesses, as statistics do. Barriers and asynchronous units
// report arrivals, waits and operations in flight.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRACE_RECORDER_H
#define BLOCKSCALE_LIB_SIMULATOR_TRACE_RECORDER_H

#include "Machine/AsyncUnit.h"
#include "Memory/Storage.h"
#include "Memory/WarpAccess.h"
#include "Trace/Recording.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::blockscale::sim {

class Recorder final : public AsyncUnit {
public:
  explicit Recorder(BlockGroup &group);

  bool watchesSteps() const override { return true; }
  bool beginStep(Warp &warp, const Step &step) override;
  bool endCall(Warp &warp, const Step &step) override { return true; }
  /// Undoes the current step of a warp, which is executed again.
  void undoStep(const Warp &warp);
  /// The current step of a warp has tested a phase that is not complete. If it
  /// does so again with nothing in between, this counts as a wait from here on.
  void noteFailedTest(const Warp &warp);

  void observe(const Warp &warp, const WarpAccess &access);

  //===--------------------------------------------------------------------===//
  // Barriers
  //===--------------------------------------------------------------------===//

  /// A barrier of any kind: an object, and the number of the barrier in it.
  using Barrier = std::pair<const void *, uint32_t>;
  static Barrier getBarrier(const SharedLocation &mbarrier) {
    return {mbarrier.block, mbarrier.offset};
  }
  /// The number of a cluster's barrier.
  static constexpr uint32_t kOfCluster = ~uint32_t(0);
  /// A new mbarrier object begins, which has nothing to do with an earlier one
  /// at the same address. Other barriers need not begin.
  void beginMBarrier(Barrier barrier, std::string name);
  /// The current step of a warp, or an operation that is complete, arrives.
  void arrive(const Warp &warp, Barrier barrier);
  void arrive(OperationId operation, Barrier barrier);
  /// The current phase is complete.
  void complete(Barrier barrier);
  /// The current step of a warp has found the last phase complete, or waits for
  /// the current one. `isPeek`: it only tests the phase, and goes on in any
  /// case.
  void awaitLast(const Warp &warp, Barrier barrier, bool isPeek = false);
  void awaitCurrent(const Warp &warp, Barrier barrier);

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  /// Begins an operation with the current step of a warp, whose line it gets.
  OperationId begin(const Warp &warp, TraceOperation operation);
  /// The same, but one operation for all lanes of a step, with the bytes of all
  /// of them.
  OperationId beginOrAdd(const Warp &warp, const TraceOperation &operation);
  /// Whether the operation was begun by the current step.
  bool isOfCurrentStep(const Warp &warp, OperationId operation) const {
    return isAdded(warp, TraceEvent::Kind::Begin, operation);
  }
  /// Closes a group of operations of a unit; and waits for all groups of a warp
  /// but the `keep` most recent ones, or for all operations.
  void commit(const Warp &warp, TraceUnit unit);
  void awaitGroups(const Warp &warp, TraceUnit unit, uint64_t keep);
  void awaitAll(const Warp &warp, TraceUnit unit);
  /// The last operation of a warp; kNoOperation if there is none.
  OperationId getLast(const Warp &warp, TraceUnit unit);

  /// Returns how many bytes of global memory are accessed for the first time,
  /// and notes the access.
  uint64_t touch(const Span &span, uint64_t size);

  /// The recording; empty if it got too large.
  Recording take();

private:
  uint64_t touchLines(const Span &span, uint64_t size);
  /// The operations of one unit for a warp.
  struct Queue {
    OperationId last = kNoOperation;
    /// For each closed group, the last operation until then.
    std::vector<OperationId> groups;
  };
  struct Phases {
    uint32_t barrier;
    std::optional<uint32_t> current, last;
  };
  /// A test of a phase that was not complete.
  struct FailedTest {
    const Step *step = nullptr;
    uint32_t numSteps = 0;
    size_t numEvents = 0;
  };

  void addEvent(const Warp &warp, TraceEvent::Kind kind, uint32_t number,
                uint16_t newSectors = 0);
  bool isAdded(const Warp &warp, TraceEvent::Kind kind, uint32_t number) const;
  void truncate(unsigned warp, uint32_t numSteps);
  Phases &add(Barrier barrier, TraceBarrier description);
  uint32_t getCurrent(Barrier barrier);
  Queue &getQueue(const Warp &warp, TraceUnit unit);

  bool isFull() const { return numKept >= maxKept; }

  BlockGroup &group;
  const uint64_t maxKept;
  Recording recording;
  uint64_t numKept = 0;
  llvm::DenseMap<Barrier, Phases> phases;
  std::vector<FailedTest> failedTests;
  /// By warp and unit.
  std::vector<std::array<Queue, kNumTraceUnits>> queues;
  /// Cache lines of 128 bytes of an allocation.
  llvm::DenseSet<std::pair<const void *, uint64_t>> touched;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_RECORDER_H
