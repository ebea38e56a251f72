//===- PtxSummary.h - Versions, targets and entries of PTX ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the directives of a PTX text that a launcher needs for its checks and
// messages. It does not validate the text, which is left to its compiler: the
// summary of an invalid text may be incomplete.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_PTXSUMMARY_H
#define BLOCKSCALE_RUNTIME_PTXSUMMARY_H

#include "blockscale/Runtime/LaunchPlan.h"

#include <optional>

namespace mlir::blockscale {

struct PtxEntry {
  std::string name;
  /// The bytes of each parameter; nullopt if the list was not understood.
  std::optional<std::vector<uint64_t>> paramSizes;
};

struct PtxSummary {
  /// Such as "8.7" and "sm_120a"; empty if there is no such directive.
  std::string version;
  std::string target;
  std::vector<PtxEntry> entries;

  /// Null if there is no such entry.
  const PtxEntry *lookup(std::string_view name) const;
};

PtxSummary summarizePtx(std::string_view text);

/// Whether `image` is machine code, an ELF file, and not PTX text.
bool isCubin(std::string_view image);

/// Checks the number and sizes of a kernel's parameters against the entry of
/// its name; success if the entry is unknown.
Error checkParams(const PtxSummary &ptx, const PlannedKernel &kernel);

/// The parts of a chip name such as "sm_90a".
struct ChipName {
  explicit ChipName(std::string_view name);

  /// 90; 0 for other names.
  unsigned number = 0;
  /// Which instructions its code may use: those of all chips (0), of a family
  /// ("f", 1), or of one chip ("a", 2).
  unsigned letter = 0;
};

/// Whether code for `target` ("sm_90", "sm_90a", "sm_100f") can run on a card
/// of this compute capability (90 is 9.0); true if `target` is not a chip.
bool isTargetOfCard(std::string_view target, unsigned capability);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_PTXSUMMARY_H
