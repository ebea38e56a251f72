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

/// How `barrier.red` reduces the predicates of all threads.
enum class Reduction : uint8_t { None, PopCount, And, Or };

/// A warp that waits at a barrier, and the destination of its reduction: a
/// register (PopCount) or a predicate (And, Or).
struct BarrierWaiter {
  unsigned warp;
  Slot destination = kNoSlot;
};

struct BlockBarrier {
  /// Threads that the current phase expects; 0 before the first arrival.
  uint32_t expected = 0;
  /// It expects all warps that have not exited, as no count was given.
  bool expectsAll = false;
  uint32_t arrived = 0;
  /// Bit i: warp i is among those that have arrived.
  uint32_t warps = 0;
  Reduction reduction = Reduction::None;
  uint32_t numTrue = 0;
  /// Threads whose predicates have been counted.
  uint32_t numCounted = 0;
  std::vector<BarrierWaiter> waiting;
  /// For race detection: the merged clocks of the warps that have arrived.
  Clocks clocks;
};

inline constexpr unsigned kNumBarriers = 16;

class BlockBarriers final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::BlockBarriers;

  explicit BlockBarriers(BlockGroup &group);

  BlockBarrier &get(const Block &block, unsigned number);
  /// Wakes the warps that wait at a barrier if enough threads have arrived.
  void completeIfDue(Block &block, BlockBarrier &barrier);

  std::optional<std::string> describeWait(const Warp &warp) override;
  /// Wakes warps that waited for this warp.
  void endWarp(Warp &warp) override;

private:
  /// By number of the block.
  std::vector<std::array<BlockBarrier, kNumBarriers>> barriers;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_BLOCKBARRIERS_H
