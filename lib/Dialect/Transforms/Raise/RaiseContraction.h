//===- RaiseContraction.h - Sums of products --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
  /// Why the op does not have this form, or empty. If it does not, `inputs` are
  /// the values that it reads.
  std::string problem;

  /// The extent of `loop`, which may be dynamic.
  int64_t getExtent(AffineExpr loop) const {
    return loops.extents[cast<AffineDimExpr>(loop).getPosition()];
  }
  unsigned getRank() const { return accIndex.size(); }
  /// The loop over M, which is the row of x, or N. Acc has at least rank 2.
  AffineExpr getRow(MmaScaledOp::Side side) const {
    return accIndex[getRank() - (side == MmaScaledOp::Side::X ? 2 : 1)];
  }
};

/// Describes the contraction `op`; nullopt if it is no contraction of two or
/// more values.
std::optional<Contraction> describeContraction(Operation *op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISECONTRACTION_H
