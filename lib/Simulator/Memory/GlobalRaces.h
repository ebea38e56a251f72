//===- GlobalRaces.h - Data races in global memory --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds pairs of accesses to a byte of global memory that nothing orders, at
// least one of them a store: by lanes of a group of blocks, which barriers
// order, and by two groups, which nothing does but atomic, volatile and ordered
// accesses.
//
// What is found is a race; not every race is found:
//   * stores of the same value are none, as the outcome is one
//   * a load beside an atomic, volatile or ordered store, and such a load
//   beside
//     a store are none, as flags and bounds are looked at that way
//   * between groups, such an access of a location that somebody has written
//     that way tells of all that anybody did before, with or without fences
//   * of the loads of a byte since the last store two are known
//
// Kernels whose groups cannot talk run them side by side: then each group notes
// what it accesses, and groups are compared in the order of their numbers when
// they have ended, so that what is found does not depend on who came first.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MEMORY_GLOBALRACES_H
#define BLOCKSCALE_LIB_SIMULATOR_MEMORY_GLOBALRACES_H

#include "Memory/Races.h"

#include "llvm/ADT/DenseMap.h"

#include <array>
#include <memory>

namespace mlir::blockscale::sim {

/// What one instruction of a warp did, between two arrivals of the warp.
struct GlobalEvent {
  uint32_t line = 0;
  /// In the group, and the clock and the epoch of the warp.
  uint16_t warp = 0;
  uint32_t clock = 0, epoch = 0;
  AccessKind kind = AccessKind::Load;
  bool isStrong = false, isAsync = false;
  /// The group, its block (x, y, z) and the warp in that, and when it was.
  uint64_t group = 0, time = 0;
  std::array<uint32_t, 3> block = {};
  unsigned warpOfBlock = 0;
};

/// An event and a lane; 0 is none.
using AccessRef = uint32_t;

/// What is known of a kilobyte of memory, in cells of 8, 4, 2 or 1 bytes: as
/// small as the smallest access.
struct ShadowPage {
  static constexpr uint64_t kBytes = 1024;

  /// Of the bytes of a cell.
  unsigned log = 3;
  /// By number of the cell; empty while there is none.
  /// The last weak store, the last other one, and two loads since the first.
  std::vector<AccessRef> stores, strongStores, loads, otherLoads;
  /// What the weak store wrote, of those that have a value.
  std::vector<uint64_t> values;

  void refine(unsigned newLog);
  unsigned countCells() const { return kBytes >> log; }
};

/// Two sides of a race.
struct GlobalRace {
  uint64_t address;
  GlobalEvent event, other;
  unsigned lane, otherLane;
};

/// Accesses of a group, or of all of them.
class GlobalAccesses {
public:
  using IsOrdered =
      llvm::function_ref<bool(const GlobalEvent &event, unsigned lane,
                              const GlobalEvent &toEvent, unsigned toLane)>;

  /// Gives a number to what an instruction does; 0 where there are none left.
  AccessRef begin(const GlobalEvent &event);
  /// Notes an access of a lane; `bytes` is what it has stored, if that is
  /// known.
  std::optional<GlobalRace> access(AccessRef event, unsigned lane,
                                   uint64_t address, uint64_t size,
                                   const uint8_t *bytes, IsOrdered isOrdered);
  /// Notes what another group did, of which nothing is ordered with what is
  /// here.
  std::optional<GlobalRace> merge(const GlobalAccesses &group);

private:
  struct Cell {
    uint64_t address;
    bool hasValue;
    uint64_t value;
  };
  ShadowPage &getPage(uint64_t number);
  std::optional<GlobalRace> visit(ShadowPage &page, unsigned index,
                                  const Cell &cell, AccessRef ref,
                                  IsOrdered isOrdered);
  const GlobalEvent &getEvent(AccessRef ref) const;

  std::vector<GlobalEvent> events;
  /// By group, warp and line: the last event of an instruction.
  llvm::DenseMap<std::pair<uint64_t, uint64_t>, AccessRef> lastEvents;
  llvm::DenseMap<uint64_t, std::unique_ptr<ShadowPage>> pages;
  uint64_t lastNumber = ~uint64_t(0);
  ShadowPage *lastPage = nullptr;
};

/// Those of all groups of a kernel.
class GridAccesses {
public:
  /// Accesses of a group that runs in turns with others.
  AccessRef begin(GlobalEvent event) {
    event.time = now;
    return accesses.begin(event);
  }
  std::optional<GlobalRace> access(AccessRef event, unsigned lane,
                                   uint64_t address, uint64_t size,
                                   const uint8_t *bytes);
  /// A group writes to, or reads, a location through which groups talk.
  void synchronize(uint64_t group, uint64_t location, AccessKind kind);
  /// What a group did that has ended.
  std::optional<GlobalRace> merge(const GlobalAccesses &group) {
    return accesses.merge(group);
  }

private:
  GlobalAccesses accesses;
  uint64_t now = 1;
  /// When a location was last written to; up to when a group knows all.
  llvm::DenseMap<uint64_t, uint64_t> written, known;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_GLOBALRACES_H
