//===- Chips.h - The chip table ---------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of targets, with one row for each chip. No other file names a chip.
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
  /// The name of the target for LLVM, ptxas and `--target`.
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
  /// Whether code for it runs on later chips of its family, too.
  bool isFamily() const { return name.back() == 'f'; }
  bool has(Path path) const;
  /// The best path that dequantizes operands there.
  std::optional<Path> findPath(Dequantization dequantization) const;
};

/// All targets, the CPU first, then by compute capability.
const std::vector<Chip> &getChips();

/// The row of `name`, or null.
const Chip *lookupChip(std::string_view name);

/// Whether `chip` has mbarriers that count bytes, and bulk copies to shared
/// memory; and the lowest PTX version that has them.
bool hasBulkCopies(const Chip &chip);
inline constexpr unsigned kBulkCopyPtx = 80;

/// Whether a kernel on `chip` may start before the previous one has ended, and
/// then wait for its end (PTX ISA, "griddepcontrol").
bool hasDependentLaunches(const Chip &chip);

/// The lowest PTX version in which `chip` has saturating conversions from f32
/// to pairs of `element`; nullopt if it has none (PTX ISA, "cvt").
std::optional<unsigned> getConversionPtx(const Chip &chip, Format element);

/// The message for a user who requests the target `name`, which is not in the
/// table. For a name without its letter (`sm_120`) it has the letters that
/// exist, for any other name the whole list.
std::string describeUnknownChip(std::string_view name);

/// Whether `version` (`88` for 8.8) is a PTX version that the code generator
/// supports.
bool isKnownPtxVersion(unsigned version);

/// `88` -> "8.8".
std::string formatPtxVersion(unsigned version);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_CHIPS_H
