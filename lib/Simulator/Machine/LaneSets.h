//===- LaneSets.h - Diverged lanes of a warp --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Since sm_70 the threads of a warp make progress independently: lanes may wait
// for others of their warp. A warp keeps its lanes in sets that execute
// together, one set at a time.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_LANESETS_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_LANESETS_H

#include "Machine/Lanes.h"

namespace mlir::blockscale::sim {

/// A predicate register: a bit for each lane.
struct Predicate {
  LaneMask value = 0;
  LaneMask undefined = kAllLanes;
};

/// Lanes that execute from `pc` until they reach `reconverge`. In a stack of
/// sets, a set waits for the sets above that share lanes with it: they
/// reconverge to it.
struct LaneSet {
  enum class State : uint8_t {
    Ready,
    /// The lanes of `meeting` wait at an instruction that needs other lanes,
    /// too.
    Meeting,
    /// Has polled without success for something that other lanes or warps do.
    Polled,
  };
  uint32_t pc;
  uint32_t reconverge;
  LaneMask lanes;
  State state = State::Ready;
  LaneMask meeting = 0;
};

/// The result of `Warp::meet`.
enum class Meeting : uint8_t {
  /// All lanes are there, and active.
  Complete,
  /// The step is executed later, or has been executed: there is nothing to do
  /// now.
  Later,
  /// The missing lanes cannot reach the instruction.
  Never,
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_LANESETS_H
