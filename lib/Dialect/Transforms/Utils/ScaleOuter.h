//===- ScaleOuter.h - Outer indices of scales ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `kScaleOuterTerms` and `kScaleRowTerms` of SharedLayout.h, split for code
// generation: an affine expression of the row, and an exclusive or with a value
// that depends on the part.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_SCALEOUTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_SCALEOUTER_H

#include "mlir/IR/AffineExpr.h"

namespace mlir::blockscale {

/// The outer index, in part 0, of `row` of a group of 32.
AffineExpr getScaleOuterExpr(AffineExpr row);

/// The row of a group at `outer` of part 0.
AffineExpr getScaleRowExpr(AffineExpr outer);

/// The value whose exclusive or with an outer index of part 0 is that of
/// `part`.
AffineExpr getScaleSkewExpr(AffineExpr part);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_SCALEOUTER_H
