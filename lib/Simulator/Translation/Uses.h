//===- Uses.h - Functions and variables of kernels --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds what a kernel uses. A module may have many kernels; a launch needs one
// of them, with the functions that it may call and their shared variables.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_USES_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_USES_H

#include "Ptx/Ast.h"

#include "llvm/ADT/BitVector.h"

#include <optional>

namespace mlir::blockscale::sim {

struct Uses {
  /// By index in the module.
  llvm::BitVector functions, sharedVariables;
  /// Whether %reserved_smem_offset_1 is read.
  bool groupScratch = false;
};

/// Finds what functions of a module use.
class UseFinder {
public:
  explicit UseFinder(const Module &module) : module(module) {}

  /// What a function uses, including itself. An indirect call may call all
  /// functions whose addresses are taken anywhere.
  Uses find(Index function);

private:
  struct Search;
  void note(const PtxOperand &operand, Search &search) const;
  void noteRelocations(Index variable, Search &search) const;
  const std::vector<Index> &getAddressed();

  const Module &module;
  /// The functions whose addresses are taken, once they are known.
  std::optional<std::vector<Index>> addressed;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_USES_H
