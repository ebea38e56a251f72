//===- RaiseCoarse.h - Operands with coarse scales --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scales of f32, and scales for more elements than block-scaled instructions
// know: each operand has a block of its own, of rows and of K.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISECOARSE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISECOARSE_H

#include "Raise/RaiseBlocks.h"

namespace mlir::blockscale {

/// Why a contraction has no coarse scales.
struct CoarseFailure {
  std::string reason;
  /// A scale is read in blocks that `mma_scaled` does not have.
  bool isAboutBlock = false;
};

/// `factor` as one scale for the whole tensor; nullopt if it varies.
std::optional<TensorScale> getTensorScale(const Factor &factor);

/// Finds the blocks of both operands among those of `ScaleBlocks.h`, and the
/// operands with them. `tensorScales` belong to operands without other scales.
std::optional<RaiseMatch> matchCoarse(const Contraction &contraction,
                                      SideFactors x, SideFactors y,
                                      ArrayRef<const Factor *> tensorScales,
                                      CoarseFailure &failure);

/// Creates the scales of `side` beside its elements `matrix`, where one scale
/// is that of all elements.
Value createScaleOfAll(OpBuilder &builder, Location loc, const RaisedSide &side,
                       Value matrix);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISECOARSE_H
