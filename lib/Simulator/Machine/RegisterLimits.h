//===- RegisterLimits.h - Registers that warps may have ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `setmaxnreg` moves registers between the warps of a block. A simulated warp
// has as many as it declares, so that only the rules of use are kept here: the
// four warps of a warpgroup make the same changes in the same order, and none
// makes the next one before all have made the last.
//
// Source: PTX ISA, section 9.7.20.5 "setmaxnreg".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_REGISTERLIMITS_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_REGISTERLIMITS_H

#include "Machine/AsyncUnit.h"

#include <array>
#include <cstdint>

namespace mlir::blockscale::sim {

inline constexpr unsigned kWarpsOfGroup = 4;

class RegisterLimits {
public:
  struct Change {
    bool isIncrease;
    uint32_t count;
    uint32_t line;
  };

  /// Of `numWarps` warps, which have `declared` registers at first, if that is
  /// known.
  RegisterLimits(std::optional<uint32_t> declared, unsigned numWarps)
      : declared(declared), numWarps(numWarps) {}

  struct Problem {
    std::string text;
    /// Warps of one warpgroup differ, as those of shipped kernels do.
    bool isDifference;
  };
  /// A warp makes a change; what is wrong with it, or nothing.
  std::optional<Problem> change(unsigned warp, const Change &next);
  /// From here on each warp of the warpgroup of a warp may have its own.
  void allowDifferences(unsigned warp) {
    groups[warp / kWarpsOfGroup].mayDiffer = true;
  }

  /// A warp that has not made a change that another one of its warpgroup has.
  struct Missing {
    unsigned warp;
    Change change;
  };
  std::optional<Missing> findMissing() const;

private:
  struct Warpgroup {
    std::vector<Change> changes;
    /// How many of them each warp has made.
    std::array<size_t, kWarpsOfGroup> numMade = {};
    bool mayDiffer = false;
  };

  std::optional<uint32_t> declared;
  unsigned numWarps;
  /// Those of a warpgroup come into being with its first change.
  std::vector<Warpgroup> groups;
};

/// Those of all blocks of a group.
class RegisterLimitUnit final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::RegisterLimits;

  explicit RegisterLimitUnit(BlockGroup &group);

  RegisterLimits &get(const Block &block);

  /// Changes must have been made by all warps of a warpgroup.
  bool endBlock(Block &block) override;

private:
  /// By number of the block.
  std::vector<RegisterLimits> limits;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_REGISTERLIMITS_H
