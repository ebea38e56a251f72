//===- RegisterLimits.h - Rules of setmaxnreg -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `setmaxnreg` moves registers between the warps of a block. A simulated warp
// always has the registers that it declares, so only the rules are checked
// here. The four warps of a warpgroup make the same changes in the same order,
// and none makes the next change before all have made the last. The registers
// of all warps of a block plus the free ones are as many as the block began
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
/// The unit in which warps get registers for each thread, and the most that a
/// thread gets.
inline constexpr uint32_t kRegisterUnit = 8, kMostRegisters = 256;

class RegisterLimits {
public:
  struct Change {
    bool isIncrease;
    uint32_t count;
    uint32_t line;
  };

  /// For `numWarps` warps, which have `declared` registers at first, if that is
  /// known.
  RegisterLimits(std::optional<uint32_t> declared, unsigned numWarps)
      : declared(declared), numWarps(numWarps) {}

  struct Problem {
    std::string text;
    /// The problem is that warps of one warpgroup differ, as they do in some
    /// shipped kernels.
    bool isDifference;
  };
  /// A warp makes a change; returns a problem, or nothing.
  std::optional<Problem> change(unsigned warp, const Change &next);
  /// From here on, the warps of this warp's warpgroup may make different
  /// changes.
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
    /// How many changes each warp has made.
    std::array<size_t, kWarpsOfGroup> numMade = {};
    bool mayDiffer = false;
  };

  std::optional<uint32_t> declared;
  unsigned numWarps;
  /// A warpgroup is added with its first change.
  std::vector<Warpgroup> groups;
};

/// The registers of a block. Counts are per thread: a warp with `n` registers
/// takes 32 * n.
class RegisterPool {
public:
  /// For `numWarps` warps, which have `count` registers at first.
  RegisterPool(uint32_t count, unsigned numWarps) : counts(numWarps, count) {}

  /// Gives a warp so many registers; false if not enough are free.
  bool resize(unsigned warp, uint32_t count);
  /// Frees the registers of a warp that has ended.
  void release(unsigned warp) { resize(warp, 0); }

  uint32_t getCount(unsigned warp) const { return counts[warp]; }
  /// How many registers a warp lacks to have `count`, and how many are free,
  /// summed over threads.
  uint32_t getLack(unsigned warp, uint32_t count) const;
  uint32_t getNumFree() const { return numFree * kLanes; }

private:
  std::vector<uint32_t> counts;
  uint32_t numFree = 0;
};

/// Registers of a thread when a block of so many warps begins: the declared
/// number, or the most that fit if that is less or nothing is declared.
uint32_t getFirstRegisters(std::optional<uint32_t> declared, unsigned numWarps);

/// The register limits of all blocks of a group.
class RegisterLimitUnit final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::RegisterLimits;

  explicit RegisterLimitUnit(BlockGroup &group);

  /// A warp makes a change, or waits until there are enough registers for it.
  void change(Warp &warp, const RegisterLimits::Change &next);

  std::optional<std::string> describeWait(const Warp &warp) override;
  /// Frees its registers.
  void endWarp(Warp &warp) override;
  /// Fails if a change was not made by all warps of a warpgroup.
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
