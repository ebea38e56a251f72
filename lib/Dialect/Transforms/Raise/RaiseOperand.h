//===- RaiseOperand.h - Factors as operands of mma_scaled -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEOPERAND_H

#include "Raise/RaiseFactors.h"
#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// K as a loop over blocks and a loop over the elements of a block. If the
/// contraction has one loop over K, these are two new loops.
struct Blocking {
  int64_t size;
  AffineExpr outer;
  AffineExpr inner;
  /// Each loop of the contraction as an expression of the loops of `extents`.
  SmallVector<AffineExpr> loops;
  SmallVector<int64_t> extents;
};

/// The indices of an operand of `mma_scaled`.
struct OperandDims {
  MmaScaledOp::Side side;
  bool isScale;
  /// Null if the operand has no batch.
  AffineExpr batch;
  AffineExpr row;
};

/// A value that holds an operand: its dimensions are collapsed by `groups`,
/// then permuted, then dimensions of size 1 are inserted at `units`. Each step
/// may do nothing.
struct OperandForm {
  Value value;
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> permutation;
  SmallVector<int64_t> units;

  bool isOperand() const;
  unsigned getOperandRank() const { return permutation.size() + units.size(); }
};

/// The form of `factor` that equals the operand, if there is one; else the form
/// from which the fewest ops lead to it. Sets `isPartial` if a form would match
/// but may have more elements than the loops read.
std::optional<OperandForm> findOperandForm(const Factor &factor,
                                           const OperandDims &dims,
                                           const Blocking &blocking,
                                           bool &isPartial);

/// `value`, a tensor or a vector, with the dimensions in the order
/// `permutation`.
Value transpose(OpBuilder &builder, Location loc, Value value,
                ArrayRef<int64_t> permutation);

/// Creates the operand.
Value createOperand(OpBuilder &builder, Location loc, const OperandForm &form);

/// Creates the scales of `operand`, which is x or y, if all of them are
/// `scale`.
Value createSplatScales(OpBuilder &builder, Location loc, Value operand,
                        MmaScaledOp::Side side, int64_t block, FloatAttr scale);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEOPERAND_H
