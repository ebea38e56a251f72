//===- AsyncUnit.h - What a group has under way -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Barriers, asynchronous copies, tensor cores and the like are units of a group
// of blocks: what they have under way completes, or lets warps go on, apart
// from the steps of a warp. Whoever runs the group asks all units alike.
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

/// The units that there are, in the order in which they are asked.
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

/// Asynchronous copies of a warp (or bulk copies of a block) that nobody has
/// waited for, at most. Shared memory has room for fewer of 4 bytes.
inline constexpr size_t kMaxCopiesUnderWay = 1 << 16;

/// Those who fail leave the message in a warp, as steps do; outside of a step,
/// with BlockGroup::failAt.
class AsyncUnit {
public:
  virtual ~AsyncUnit() = default;

  /// Completes the next operation that an mbarrier object is told of; false if
  /// there is none under way.
  virtual bool completeNext(SharedPlace mbarrier) { return false; }
  /// What a warp that waits waits for, if that is in this unit: the rest of
  /// "warp 0 waits ...".
  virtual std::optional<std::string> describeWait(const Warp &warp) {
    return std::nullopt;
  }

  /// All lanes of a warp have left the kernel.
  virtual void endWarp(Warp &warp) {}
  /// All warps of a block have, and its shared memory is no longer there; false
  /// after a failure.
  virtual bool endBlock(Block &block) { return true; }
  /// All blocks have: what nobody waited for completes.
  virtual void endGroup() {}

  /// Whether it wants to hear of the steps of warps, as follows.
  virtual bool watchesSteps() const { return false; }
  /// A warp is about to execute a step; false after a failure.
  virtual bool beginStep(Warp &warp, const Step &step) { return true; }
  /// A call has stored its results: for most, as if it began.
  virtual bool endCall(Warp &warp, const Step &step) {
    return beginStep(warp, step);
  }
  /// A warp is about to leave its innermost function; false after a failure.
  virtual bool endFunction(Warp &warp) { return true; }
};

/// The units of a group by kind, and a function that makes them; a unit that
/// the kernel has no use for is null.
using UnitList = std::vector<std::unique_ptr<AsyncUnit>>;
using UnitMaker = UnitList (*)(BlockGroup &group);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_ASYNCUNIT_H
