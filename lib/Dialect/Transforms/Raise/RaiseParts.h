//===- RaiseParts.h - Dimensions by their indices ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEPARTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEPARTS_H

#include "Raise/RaiseOperand.h"

namespace mlir::blockscale {

/// `expr`, simplified, where a loop of one step is 0.
AffineExpr normalize(AffineExpr expr, ArrayRef<int64_t> extents);

/// Finds the dimensions of an operand, which are read at `parts` (normalized),
/// in those of `form`. Neighbours in row-major order may be one part. Sets
/// `isPartial` if the form would match, but may have more elements than the
/// loops of `extents` read.
std::optional<OperandForm> matchParts(const Access &form,
                                      ArrayRef<AffineExpr> parts,
                                      ArrayRef<int64_t> extents,
                                      bool &isPartial);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEPARTS_H
