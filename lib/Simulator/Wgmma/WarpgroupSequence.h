//===- WarpgroupSequence.h - wgmma of four warps ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The four warps of a warpgroup must execute the same wgmma instructions. In
// the simulator each warp executes its part alone, and a peer is checked when
// it reaches the same instruction.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPSEQUENCE_H
#define BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPSEQUENCE_H

#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <deque>

namespace mlir::blockscale::sim {

class Warp;

inline constexpr unsigned kWarpsOfWarpgroup = 4;

/// The properties that must be the same in all four warps; A is 0 if it is in
/// registers.
struct WarpgroupStep {
  uint32_t line;
  uint64_t a, b;
  bool addsD;
};

/// The sequence of one warpgroup.
class WarpgroupSequence {
public:
  /// A warp executes its next instruction; false after a failure.
  bool note(Warp &warp, const WarpgroupStep &instruction);
  /// The number of the instruction that a warp executes next.
  uint64_t getNext(const Warp &warp) const;
  /// Whether all four warps have executed the instruction with a number, and
  /// the first warp of the block that has not.
  bool haveAll(uint64_t number) const;
  unsigned findMissing(const Warp &warp, uint64_t number) const;
  /// A warp ends: it must not have executed fewer than its peers.
  bool end(Warp &warp);

private:
  /// Instructions that some warp has executed and another has not; `first` is
  /// the number of the first of them.
  std::deque<WarpgroupStep> instructions;
  uint64_t first = 0;
  /// By warp: how many it has executed, and whether it has ended.
  std::array<uint64_t, kWarpsOfWarpgroup> counts = {};
  std::array<bool, kWarpsOfWarpgroup> hasEnded = {};
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPSEQUENCE_H
