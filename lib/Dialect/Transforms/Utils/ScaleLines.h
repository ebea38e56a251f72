//===- ScaleLines.h - Lines of scales as expressions ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `kScaleLineTerms` and `kScaleRowTerms` of SharedLayout.h, in the parts that
// code is made of: affine in the row, and an exclusive or with what the part
// gives.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_SCALELINES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_SCALELINES_H

#include "mlir/IR/AffineExpr.h"

namespace mlir::blockscale {

/// The line, in part 0, of `row` of a group of 32.
AffineExpr getScaleLineExpr(AffineExpr row);

/// The row of a group that `line` of part 0 holds.
AffineExpr getScaleRowExpr(AffineExpr line);

/// What lines of `part` differ by, by exclusive or, from those of part 0.
AffineExpr getScaleSkewExpr(AffineExpr part);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_SCALELINES_H
