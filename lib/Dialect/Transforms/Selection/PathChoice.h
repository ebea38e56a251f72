//===- PathChoice.h - Choice of a path --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_PATHCHOICE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_PATHCHOICE_H

#include "blockscale/Dialect/IR/Sparse.h"

namespace mlir::blockscale {

/// Chooses among the paths of a chip. It changes and reports nothing.
struct PathChooser {
  const Chip &chip;
  /// The chip that runs the code, if it is not `chip`; else null.
  const Chip *emulatedOn;
  /// Whether kernels may use memory other than arguments and results.
  bool hasWorkspace;

  /// Chooses the first path that supports `op` and whose schedule the program
  /// requests, or that is the best for `op` if no schedule is requested.
  /// Without such a path, chooses the first one that is the best; nullopt if
  /// there is none.
  std::optional<InstructionChoice> choose(MmaScaledOp op) const;

  /// Chooses among the paths that have an instruction for `op`, a matmul
  /// without scales in canonical form: the one that is `wanted`, else the one
  /// whose schedule the program requests, else the first that is the best;
  /// nullopt if there is none.
  std::optional<Path> chooseUnscaled(ProductOpInterface op,
                                     PathAttr wanted) const;

  /// Chooses as `choose` does, among the paths whose kernels take `op`, a
  /// grouped product; nullopt if there is none, or none that is `wanted`.
  std::optional<InstructionChoice> chooseGrouped(ProductOpInterface op,
                                                 PathAttr wanted) const;

  /// Chooses the first path that has a sparse instruction for `op`, on tensors;
  /// nullopt if there is none.
  std::optional<Path> chooseSparse(SparseMmaScaledOp op) const;

  /// The instruction of wgmma that computes `op` with its metadata, if its
  /// kernel is the fastest one, or if the program requests its schedule; not if
  /// a path is `wanted`.
  std::optional<InstructionChoice> chooseSparseWgmma(SparseMmaScaledOp op,
                                                     PathAttr wanted) const;
  /// That one, or else the instruction of the path dequant_mma that computes
  /// `op` with its metadata, if it is faster than a dense product, if wgmma has
  /// kernels for the sizes of most launches, or if the path is `wanted` (null
  /// for any).
  std::optional<InstructionChoice>
  chooseDequantizedSparse(SparseMmaScaledOp op, PathAttr wanted) const;

  /// Kernels of wgmma that read the metadata of `op`, of dynamic sizes, for
  /// launches to choose beside its own; none if the program requests something.
  SmallVector<AlternativeAttr> getSparseAlternatives(SparseMmaScaledOp op,
                                                     PathAttr wanted) const;

  /// Whether the chip that runs the code has the instruction of `choice`, or
  /// can emulate it. Only block-scaled instructions can be emulated.
  bool isExecuted(const InstructionChoice &choice) const;

  /// Why no block-scaled instruction computes `op`, and what would change that,
  /// other than another chip.
  std::string explainFallback(ProductOpInterface op) const;

  /// The names of the chips that have a block-scaled instruction for `op`, if
  /// `chip` has none; empty if it has one.
  std::string listNativeChips(ProductOpInterface op) const;
  /// The same for a sparse instruction.
  static std::string listSparseChips(const TypeCombination &types);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_PATHCHOICE_H
