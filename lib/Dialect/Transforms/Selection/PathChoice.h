//===- PathChoice.h - Which path computes a product -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_PATHCHOICE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_PATHCHOICE_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// Chooses among the paths of a chip. It changes and reports nothing.
struct PathChooser {
  const Chip &chip;
  /// The chip that runs the code instead; null if `chip` does.
  const Chip *emulatedOn;
  /// Whether kernels may need memory beside arguments and results.
  bool hasWorkspace;

  /// How the first path that can take `op` and is the best for it computes it,
  /// or else the first one whose kernels are the best where a schedule of
  /// another path is asked for; nullopt if there is none.
  std::optional<InstructionChoice> choose(MmaScaledOp op) const;

  /// Of the paths that have an instruction for `op`, without scales and in the
  /// plain form, the one that is `wanted`, or else whose schedule the program
  /// asks for, or else the first that is the best; nullopt if there is none.
  std::optional<Path> choosePlain(ProductOpInterface op, PathAttr wanted) const;

  /// Whether the chip that runs the code has `choice`, or software has: for
  /// instructions of others than those of scales there is none.
  bool isExecuted(const InstructionChoice &choice) const;

  /// Why no block-scaled instruction computes `op`, and what would satisfy it,
  /// if that is not another chip.
  std::string explainFallback(MmaScaledOp op) const;

  /// The names of the chips that have a block-scaled instruction for `op`,
  /// where `chip` has none; empty where it has one.
  std::string listNativeChips(MmaScaledOp op) const;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_PATHCHOICE_H
