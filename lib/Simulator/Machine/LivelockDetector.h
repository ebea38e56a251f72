//===- LivelockDetector.h - Lanes that go in circles ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_LIVELOCKDETECTOR_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_LIVELOCKDETECTOR_H

#include "Machine/LaneSets.h"

#include <cstddef>
#include <vector>

namespace mlir::blockscale::sim {

/// Finds lanes that go in circles: at the same place with the same registers as
/// before, they come there again until somebody else changes memory.
class LivelockDetector {
public:
  /// A turn of the warp begins with a set of lanes in the innermost of `depth`
  /// functions; whether it has gone round since the turn before.
  bool begin(const LaneSet &set, size_t depth,
             const std::vector<Lanes> &registers,
             const std::vector<Predicate> &predicates);
  /// Other lanes go on: what is known is of no use.
  void forget();
  /// The lanes have changed something that registers do not show.
  void interrupt() { leave(); }
  uint64_t getNumTurns() const { return numTurns; }
  /// How many circles have been left.
  uint64_t getNumLeft() const { return numLeft; }

private:
  bool isHere(const LaneSet &set, size_t depth) const {
    return set.pc == pc && set.lanes == lanes && depth == this->depth;
  }
  void look(const LaneSet &set, size_t depth);
  void leave();

  /// Turns since the last `forget`; at powers of two a new place is looked at,
  /// so that circles of any length are found.
  uint64_t numTurns = 0;
  uint64_t numLeft = 0;
  /// The place; no lanes where there is none.
  uint32_t pc = 0;
  LaneMask lanes = 0;
  size_t depth = 0;
  /// How often the set has come to that place; only where it often does are
  /// registers kept, of which there may be many.
  unsigned numVisits = 0;
  std::vector<Lanes> registers;
  std::vector<Predicate> predicates;
  bool isCircling = false;
  /// The turn that last began at the place of a circle, and whether that was
  /// told: then the lanes have not moved since.
  uint64_t lastRound = 0;
  bool wasTold = false;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_LIVELOCKDETECTOR_H
