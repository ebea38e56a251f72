//===- BlockBarriers.h - Barriers of a block --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 16 barriers of each block, which `bar` and `barrier` name.
//
// Source: PTX ISA, section 9.7.13.1 "bar, barrier".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_BLOCKBARRIERS_H
#define BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_BLOCKBARRIERS_H

#include "Machine/AsyncUnit.h"
#include "Translation/Code.h"

#include <array>

namespace mlir::blockscale::sim {

/// What `barrier.red` makes of the predicates of all threads.
enum class Reduction : uint8_t { None, PopCount, And, Or };

/// A warp that waits at a barrier, and where it wants the result of a
/// reduction: a register (PopCount) or a predicate (And, Or).
struct BarrierWaiter {
  unsigned warp;
  Slot destination = kNoSlot;
};

struct BlockBarrier {
  /// Threads that the current phase takes; 0 before the first arrival.
  uint32_t expected = 0;
  /// It takes all warps that have not exited: no count was given.
  bool takesAll = false;
  uint32_t arrived = 0;
  /// Bit i: warp i is among those that have arrived.
  uint32_t warps = 0;
  Reduction reduction = Reduction::None;
  uint32_t numTrue = 0;
  /// Threads whose predicates have been counted.
  uint32_t numCounted = 0;
  std::vector<BarrierWaiter> waiting;
  /// For the search for races: the clocks of those who have arrived.
  Clocks clocks;
};

inline constexpr unsigned kNumBarriers = 16;

class BlockBarriers final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::BlockBarriers;

  explicit BlockBarriers(BlockGroup &group);

  BlockBarrier &get(const Block &block, unsigned number);
  /// Lets go those who wait at a barrier, if enough threads have arrived.
  void completeIfDue(Block &block, BlockBarrier &barrier);

  std::optional<std::string> describeWait(const Warp &warp) override;
  /// Lets go those who wait for warps that have ended.
  void endWarp(Warp &warp) override;

private:
  /// By number of the block.
  std::vector<std::array<BlockBarrier, kNumBarriers>> barriers;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_BLOCKBARRIERS_H
