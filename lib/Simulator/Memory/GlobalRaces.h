//===- GlobalRaces.h - Data races in global memory --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds pairs of accesses to a byte of global memory that nothing orders, at
// least one of them a store. Barriers order the lanes of a group of blocks;
// only atomic, volatile and ordered accesses order two groups.
//
// Everything that is found is a race, but not every race is found:
//   * stores of the same value are no race, as the outcome is the same
//   * a load and an atomic, volatile or ordered store are no race, nor are such
//     a load and a store, because kernels read flags and bounds in this way
//   * between groups, such an access of a location that was written by such an
//     access orders everything before the write, with or without fences
//   * only two loads of a byte since the last store are kept
//
// Groups that cannot synchronize with each other run side by side. Then each
// group notes its accesses, and groups are compared in the order of their
// numbers when they have ended, so that the result does not depend on which
// group ran first.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MEMORY_GLOBALRACES_H
#define BLOCKSCALE_LIB_SIMULATOR_MEMORY_GLOBALRACES_H

#include "Memory/Races.h"

#include "llvm/ADT/DenseMap.h"

#include <array>
#include <memory>

namespace mlir::blockscale::sim {

/// An access by one instruction of a warp, between two arrivals of the warp.
struct GlobalEvent {
  uint32_t line = 0;
  /// The warp in the group, its clock and its epoch.
  uint16_t warp = 0;
  uint32_t clock = 0, epoch = 0;
  AccessKind kind = AccessKind::Load;
  bool isStrong = false, isAsync = false;
  /// The group, its block (x, y, z), the warp in the block, and the time.
  uint64_t group = 0, time = 0;
  std::array<uint32_t, 3> block = {};
  unsigned warpOfBlock = 0;
};

/// An event and a lane; 0 is none.
using AccessRef = uint32_t;

/// The shadow of a kilobyte of memory, in cells of 8, 4, 2 or 1 bytes: as small
/// as the smallest access.
struct ShadowPage {
  static constexpr uint64_t kBytes = 1024;

  /// log2 of the bytes of a cell.
  unsigned log = 3;
  /// By number of the cell; empty until the first one. The last weak store, the
  /// last strong store, and two loads since the last weak store.
  std::vector<AccessRef> stores, strongStores, loads, otherLoads;
  /// The value that the weak store wrote, if it is known.
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

  /// Gives a number to an event; 0 if there are none left.
  AccessRef begin(const GlobalEvent &event);
  /// Notes an access of a lane; `bytes` are the stored bytes, if they are
  /// known.
  std::optional<GlobalRace> access(AccessRef event, unsigned lane,
                                   uint64_t address, uint64_t size,
                                   const uint8_t *bytes, IsOrdered isOrdered);
  /// Notes the accesses of another group, none of which is ordered with those
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

/// The accesses of all groups of a kernel.
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
  /// A group writes or reads a location with which groups synchronize.
  void synchronize(uint64_t group, uint64_t location, AccessKind kind);
  /// Adds the accesses of a group that has ended.
  std::optional<GlobalRace> merge(const GlobalAccesses &group) {
    return accesses.merge(group);
  }

private:
  GlobalAccesses accesses;
  uint64_t now = 1;
  /// The time when a location was last written; the time up to which a group is
  /// ordered behind all others.
  llvm::DenseMap<uint64_t, uint64_t> written, known;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_GLOBALRACES_H
