//===- LivelockDetector.h - Livelock detector -------------------*- C++ -*-===//
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

/// A livelock detector: finds sets of lanes that loop without progress. Lanes
/// that come back to an instruction with the same registers stay in the loop
/// until another thread changes memory.
class LivelockDetector {
public:
  /// Begins a turn of a set of lanes in the innermost of `depth` functions.
  /// Returns whether the set has completed a loop without progress since the
  /// previous turn.
  bool begin(const LaneSet &set, size_t depth,
             const std::vector<Lanes> &registers,
             const std::vector<Predicate> &predicates);
  /// Another set of lanes runs: starts from scratch.
  void forget();
  /// The lanes have changed something that their registers do not show.
  void interrupt() { leave(); }
  uint64_t getNumTurns() const { return numTurns; }
  /// How many loops without progress lanes have left.
  uint64_t getNumLeft() const { return numLeft; }

private:
  bool isHere(const LaneSet &set, size_t depth) const {
    return set.pc == pc && set.lanes == lanes && depth == this->depth;
  }
  void look(const LaneSet &set, size_t depth);
  void leave();

  /// Turns since the last `forget`. At powers of two another instruction is
  /// watched, so that loops of any length are found.
  uint64_t numTurns = 0;
  uint64_t numLeft = 0;
  /// The watched instruction; there is none if `lanes` is 0.
  uint32_t pc = 0;
  LaneMask lanes = 0;
  size_t depth = 0;
  /// How often the set has come to that instruction. Registers are kept only
  /// after several visits, as there may be many.
  unsigned numVisits = 0;
  std::vector<Lanes> registers;
  std::vector<Predicate> predicates;
  bool isLooping = false;
  /// The turn that last began at the watched instruction of a loop, and whether
  /// a livelock was reported: then the lanes have not moved since.
  uint64_t lastRound = 0;
  bool wasReported = false;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_LIVELOCKDETECTOR_H
