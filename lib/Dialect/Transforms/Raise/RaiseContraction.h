//===- RaiseContraction.h - Sums of products --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contractions of linalg and of vector in one form.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISECONTRACTION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISECONTRACTION_H

#include "Raise/RaiseAccess.h"
#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// result[accIndex] = acc[accIndex] + sum over the reductions of the product of
/// `inputs`.
struct Contraction {
  Loops loops;
  SmallVector<unsigned> reductions;
  Value acc;
  SmallVector<AffineExpr> accIndex;
  SmallVector<Access> inputs;
  /// Why it is not of this form after all, or empty. Then `inputs` are what it
  /// reads.
  std::string problem;

  /// How many steps `loop` has, which may be dynamic.
  int64_t getExtent(AffineExpr loop) const {
    return loops.extents[cast<AffineDimExpr>(loop).getPosition()];
  }
  unsigned getRank() const { return accIndex.size(); }
  /// The loop over M, which is the row of x, or N. Acc has at least rank 2.
  AffineExpr getRow(MmaScaledOp::Side side) const {
    return accIndex[getRank() - (side == MmaScaledOp::Side::X ? 2 : 1)];
  }
};

/// What `op` adds up; nullopt if it is no contraction of two values or more.
std::optional<Contraction> describeContraction(Operation *op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISECONTRACTION_H
