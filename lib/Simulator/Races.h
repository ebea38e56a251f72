//===- Races.h - Data races in shared memory --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds pairs of accesses to a byte of shared memory by two lanes, at least one
// of them a store, that nothing orders. Order comes from barriers: each warp
// has a clock, which moves on when it takes part in one, and knows how far the
// clocks of the others had come when it last heard of them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SIMULATOR_RACES_H
#define BLOCKSCALE_SIMULATOR_RACES_H

#include "MemoryAccess.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>
#include <vector>

namespace mlir::blockscale::sim {

class RaceDetector {
public:
  RaceDetector(uint64_t sharedBytes, unsigned numWarps);

  /// The other side of a race.
  struct Conflict {
    uint64_t address;
    AccessKind kind;
    unsigned warp, lane;
    uint32_t line;
  };
  /// Notes an access; nothing if everything before is ordered before it.
  std::optional<Conflict> access(unsigned warp, unsigned lane, uint32_t line,
                                 uint64_t address, unsigned size,
                                 AccessKind kind);

  /// A barrier orders what these warps did before what they do after.
  void joinWarps(llvm::ArrayRef<unsigned> warps);
  /// `bar.warp.sync` orders the lanes of a warp.
  void joinLanes(unsigned warp) { ++clocks[warp][warp]; }
  /// A warp arrives at an mbarrier object; others see that when they have
  /// waited for it.
  void release(unsigned warp, uint32_t mbarrier);
  void acquire(unsigned warp, uint32_t mbarrier);

private:
  using Clock = uint32_t;
  struct Event {
    Clock clock;
    uint32_t line;
    uint8_t warp, lane;
    AccessKind kind;
    /// More than one lane of the warp did the same, with this clock.
    bool isManyLanes;
  };
  struct Byte {
    std::optional<Event> store;
    /// The last load of each warp that has one since.
    llvm::SmallVector<Event, 1> loads;
  };

  bool isOrdered(const Event &event, unsigned warp, unsigned lane) const;

  std::vector<Byte> bytes;
  /// By warp: how far it knows the clock of each warp.
  std::vector<std::vector<Clock>> clocks;
  std::map<uint32_t, std::vector<Clock>> released;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_SIMULATOR_RACES_H
