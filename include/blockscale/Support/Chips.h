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

#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// The way in which a chip multiplies block-scaled matrices in hardware.
enum class Path : unsigned char {
  /// No block-scaled instruction: only decomposition into plain arithmetic.
  None,
  /// Warp-level `mma.sync ... block_scale`, operands in registers.
  MmaSync,
  /// Fifth-generation tensor core, `tcgen05.mma ... block_scale`.
  Tcgen05,
};

inline constexpr unsigned kNumPaths = 3;

/// Whether this version lowers to the instructions of `path`.
bool hasLowering(Path path);

/// Whether the instructions of `path` are best fed with scales in the 32x4x4
/// layout.
bool wantsSwizzledScales(Path path);

/// "decompose", "mma_sync" or "tcgen05".
std::string_view stringifyPath(Path path);

struct Chip {
  /// The name of the target as LLVM, ptxas and `--target` take it.
  std::string_view name;
  /// The compute capability times ten: 120 for sm_120a and sm_120f.
  unsigned capability;
  Path path;
  /// The lowest PTX version that has this target, `88` for 8.8; 0 for the CPU.
  unsigned lowestPtx;
  /// Opt-in maximum of shared memory per block, in KiB.
  unsigned sharedMemoryKiB;

  bool isCpu() const { return capability == 0; }
};

/// All targets, the CPU first, then by compute capability.
const std::vector<Chip> &getChips();

/// The row of `name`, or null.
const Chip *lookupChip(std::string_view name);

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
