//===- Chips.h - The chip table ---------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that is known of a target by its name. A chip is a row; no chip
// name stands anywhere else.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_CHIPS_H
#define BLOCKSCALE_SUPPORT_CHIPS_H

#include "blockscale/Support/Formats.h"
#include "blockscale/Support/Paths.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

struct Chip {
  /// The name of the target as LLVM, ptxas and `--target` take it.
  std::string_view name;
  /// The compute capability times ten: 120 for sm_120a and sm_120f.
  unsigned capability;
  /// The paths that it has, the best one first. The last one computes
  /// everything.
  std::vector<Path> paths;
  /// The lowest PTX version that has this target, `88` for 8.8; 0 for the CPU.
  unsigned lowestPtx;
  /// Opt-in maximum of shared memory per block, in KiB.
  unsigned sharedMemoryKiB;

  bool isCpu() const { return capability == 0; }
  bool has(Path path) const;
};

/// All targets, the CPU first, then by compute capability.
const std::vector<Chip> &getChips();

/// The row of `name`, or null.
const Chip *lookupChip(std::string_view name);

/// Whether `chip` has mbarriers that count bytes, and bulk copies to shared
/// memory; and the lowest PTX version that has them.
bool hasBulkCopies(const Chip &chip);
inline constexpr unsigned kBulkCopyPtx = 80;

/// Whether a kernel on `chip` may start before the one in front has ended, and
/// wait for that itself (PTX ISA, "griddepcontrol").
bool hasDependentLaunches(const Chip &chip);

/// The lowest PTX version in which `chip` has conversions from f32 to pairs of
/// codes of `element`, that saturate; nullopt if it has none (PTX ISA, "cvt").
std::optional<unsigned> getConversionPtx(const Chip &chip, Format element);

/// Whether `chip` has instructions that take K = 96 of packed fp4.
bool hasWideInstructions(const Chip &chip);

/// What to tell a user who asked for the target `name`, which is no row of the
/// table. A name without its letter (`sm_120`) is answered with the letters
/// that exist, any other with the whole list.
std::string describeUnknownChip(std::string_view name);

/// Whether `version` (`88` for 8.8) is a PTX version that there is and that
/// the code generator can be asked for.
bool isKnownPtxVersion(unsigned version);

/// `88` -> "8.8".
std::string formatPtxVersion(unsigned version);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_CHIPS_H
