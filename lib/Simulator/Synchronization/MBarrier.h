//===- MBarrier.h - mbarrier objects ----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mbarrier objects in shared memory.
//
// Source: PTX ISA, section 9.7.13.15 "mbarrier".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_MBARRIER_H
#define BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_MBARRIER_H

#include "Memory/Races.h"

#include <map>

namespace mlir::blockscale::sim {

class Block;

/// A location in the shared memory of a block.
struct SharedLocation {
  Block *block;
  uint32_t offset;

  bool operator==(const SharedLocation &other) const {
    return block == other.block && offset == other.offset;
  }
};

/// One mbarrier object.
struct MBarrier {
  /// Arrivals that complete a phase.
  uint32_t expected;
  /// Arrivals that the current phase still needs.
  uint32_t pending;
  /// The tx-count: bytes that the current phase still expects; may be negative.
  int64_t transactions = 0;
  /// How many phases are complete.
  uint64_t phase = 0;
  /// The thread of its block that has initialized it, and whether a fence or
  /// barrier has followed, so that asynchronous operations may use it.
  unsigned initializer = 0;
  bool isPublished = false;
  /// For race detection: the clock of the initializer's warp at that time, the
  /// merged clocks of the threads that have arrived, and those of the last
  /// completed phase.
  uint32_t initialClock = 0;
  Clocks clocks, completeClocks;

  bool tryComplete() {
    if (pending != 0 || transactions != 0)
      return false;
    pending = expected;
    ++phase;
    return true;
  }
};

/// The largest counts of an mbarrier object (PTX ISA, section 9.7.13.15.2).
inline constexpr int64_t kMaxMBarrierCount = (1 << 20) - 1;
inline constexpr uint32_t kMBarrierBytes = 8;

/// mbarrier objects by their offsets in the shared memory of their block.
using MBarriers = std::map<uint32_t, MBarrier>;

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_MBARRIER_H
