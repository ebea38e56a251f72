//===- ScaleLines.h - Lines of scales as expressions ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `kScaleLineTerms` and `kScaleRowTerms` of SharedLayout.h, split for code
// generation: an affine expression of the row, and an exclusive or with a value
// that depends on the part.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_SCALELINES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_SCALELINES_H

#include "mlir/IR/AffineExpr.h"

namespace mlir::blockscale {

/// The line, in part 0, of `row` of a group of 32.
AffineExpr getScaleLineExpr(AffineExpr row);

/// The row of a group in `line` of part 0.
AffineExpr getScaleRowExpr(AffineExpr line);

/// The value whose exclusive or with a line of part 0 is the line of `part`.
AffineExpr getScaleSkewExpr(AffineExpr part);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_SCALELINES_H
