//===- AsyncUnit.h - Interface of asynchronous units ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Barriers, asynchronous copies, tensor cores and the like are units of a group
// of blocks: their operations complete, or let warps go on, independently of
// the steps of a warp. The scheduler of the group asks all units in the same
// way.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_ASYNCUNIT_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_ASYNCUNIT_H

#include "Synchronization/MBarrier.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::blockscale::sim {

class BlockGroup;
class Warp;
struct Step;

/// The kinds of units, in the order in which the scheduler asks them.
enum class UnitKind : uint8_t {
  BlockBarriers,
  ClusterBarriers,
  BulkCopies,
  RegisterLimits,
  Tensor,
  CpAsync,
  Warpgroups,
  GridDependency,
  LaunchControl,
  Order,
};
inline constexpr unsigned kNumUnitKinds = 10;

/// The most asynchronous copies of a warp (or bulk copies of a block) in
/// flight. Shared memory is smaller than so many copies of 4 bytes.
inline constexpr size_t kMaxCopiesInFlight = 1 << 16;

/// The interface of a unit. A function that fails leaves the message in a warp,
/// as steps do, or outside of a step with BlockGroup::failAt.
class AsyncUnit {
public:
  virtual ~AsyncUnit() = default;

  /// Completes the next operation that signals at an mbarrier object; false if
  /// there is none in flight.
  virtual bool completeNext(SharedLocation mbarrier) { return false; }
  /// If a warp waits for this unit, what it waits for: the rest of "warp 0
  /// waits ...".
  virtual std::optional<std::string> describeWait(const Warp &warp) {
    return std::nullopt;
  }

  /// Called when all lanes of a warp have left the kernel.
  virtual void endWarp(Warp &warp) {}
  /// Called when all warps of a block have left it; its shared memory is gone
  /// then. False after a failure.
  virtual bool endBlock(Block &block) { return true; }
  /// Called when all blocks have ended: operations without a wait complete.
  virtual void endGroup() {}

  /// Whether the following functions are called for the steps of warps.
  virtual bool watchesSteps() const { return false; }
  /// Called before a warp executes a step; false after a failure.
  virtual bool beginStep(Warp &warp, const Step &step) { return true; }
  /// Called when a call has stored its results; by default, as before a step.
  virtual bool endCall(Warp &warp, const Step &step) {
    return beginStep(warp, step);
  }
  /// Called before a warp leaves its innermost function; false after a failure.
  virtual bool endFunction(Warp &warp) { return true; }
};

/// The units of a group by kind, and a function that makes them; a unit that
/// the kernel does not need is null.
using UnitList = std::vector<std::unique_ptr<AsyncUnit>>;
using UnitMaker = UnitList (*)(BlockGroup &group);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_ASYNCUNIT_H
