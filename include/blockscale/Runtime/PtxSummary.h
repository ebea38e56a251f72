//===- PtxSummary.h - What a PTX text says of itself ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the directives of a PTX text that a launcher needs for its checks and
// messages. No validation: what is wrong with a text is for those to say who
// compile it, and a summary of such a text may lack parts.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_PTXSUMMARY_H
#define BLOCKSCALE_RUNTIME_PTXSUMMARY_H

#include "blockscale/Runtime/LaunchPlan.h"

#include <optional>

namespace mlir::blockscale {

struct PtxEntry {
  std::string name;
  /// The bytes of each parameter; nothing where the list was not understood.
  std::optional<std::vector<uint64_t>> paramSizes;
};

struct PtxSummary {
  /// Such as "8.7" and "sm_120a"; empty where there is no such directive.
  std::string version;
  std::string target;
  std::vector<PtxEntry> entries;

  /// Null if there is no such entry.
  const PtxEntry *lookup(std::string_view name) const;
};

PtxSummary summarizePtx(std::string_view text);

/// Whether `image` is machine code, which is an ELF file, and no PTX text.
bool isCubin(std::string_view image);

/// Holds the number and sizes of a kernel's parameters against the entry of
/// its name; success where nothing is known of that.
Error checkParams(const PtxSummary &ptx, const PlannedKernel &kernel);

/// The name of a chip, such as "sm_90a", in its parts.
struct ChipName {
  explicit ChipName(std::string_view name);

  /// 90; of another name it is 0.
  unsigned number = 0;
  /// What code for it may use: the instructions of all chips (0), those of a
  /// family ("f", 1), those of one chip ("a", 2).
  unsigned letter = 0;
};

/// Whether code for `target` ("sm_90", "sm_90a", "sm_100f") can run on a card
/// of this compute capability (90 is 9.0); true where `target` is none.
bool isTargetOfCard(std::string_view target, unsigned capability);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_PTXSUMMARY_H
