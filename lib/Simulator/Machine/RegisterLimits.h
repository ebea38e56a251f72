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
// makes the next one before all have made the last; and the registers of all
// warps of a block, together with those that are free, are as many as it began
// with.
//
// Source: PTX ISA, section 9.7.20.5 "setmaxnreg".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_REGISTERLIMITS_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_REGISTERLIMITS_H

#include "Machine/AsyncUnit.h"
#include "Machine/Lanes.h"

#include <array>
#include <cstdint>

namespace mlir::blockscale::sim {

inline constexpr unsigned kWarpsOfGroup = 4;
/// Warps get registers in units of so many for each thread, and no more than
/// that.
inline constexpr uint32_t kRegisterUnit = 8, kMostRegisters = 256;

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

/// The registers of a block, in registers of a thread: a warp that has `n` of
/// them takes 32 * n.
class RegisterPool {
public:
  /// Of `numWarps` warps, which have `count` registers at first.
  RegisterPool(uint32_t count, unsigned numWarps) : counts(numWarps, count) {}

  /// Gives a warp so many registers; false if fewer are free than it lacks.
  bool resize(unsigned warp, uint32_t count);
  /// A warp has ended.
  void release(unsigned warp) { resize(warp, 0); }

  uint32_t getCount(unsigned warp) const { return counts[warp]; }
  /// What a warp lacks to have so many, and what is free, of all threads.
  uint32_t getLack(unsigned warp, uint32_t count) const;
  uint32_t getNumFree() const { return numFree * kLanes; }

private:
  std::vector<uint32_t> counts;
  uint32_t numFree = 0;
};

/// Registers of a thread when a block of so many warps begins: those that its
/// kernel declares, and as many as there is room for if that is fewer or
/// unknown.
uint32_t getFirstRegisters(std::optional<uint32_t> declared, unsigned numWarps);

/// Those of all blocks of a group.
class RegisterLimitUnit final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::RegisterLimits;

  explicit RegisterLimitUnit(BlockGroup &group);

  /// A warp makes a change, or waits until there are enough registers for it.
  void change(Warp &warp, const RegisterLimits::Change &next);

  std::optional<std::string> describeWait(const Warp &warp) override;
  /// Its registers are free.
  void endWarp(Warp &warp) override;
  /// Changes must have been made by all warps of a warpgroup.
  bool endBlock(Block &block) override;

private:
  bool checkUse(Warp &warp, const RegisterLimits::Change &next);
  void wakeWaiters(Block &block);

  /// By number of the block.
  std::vector<RegisterLimits> limits;
  std::vector<RegisterPool> pools;
  /// By number of the warp: how many registers it waits for, else 0.
  std::vector<uint32_t> awaited;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_REGISTERLIMITS_H
