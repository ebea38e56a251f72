//===- IndexExpressions.h - Indices of bounded loops ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Affine expressions whose dimensions are loops from 0 to a size, which may be
// dynamic. With known sizes, more divisions can be simplified than upstream
// does: with j < 32, (32 * i + j) floordiv 32 is i.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_INDEXEXPRESSIONS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_INDEXEXPRESSIONS_H

#include "mlir/IR/AffineExpr.h"
#include <optional>

namespace mlir::blockscale {

/// The largest value of `index` over loops of `extents`; nullopt if it is
/// unknown, or if `index` might be negative.
std::optional<int64_t> getLargestIndex(AffineExpr index,
                                       ArrayRef<int64_t> extents);

/// Simplifies the divisions in `index` that `extents` decide.
AffineExpr simplifyIndex(AffineExpr index, ArrayRef<int64_t> extents);

/// Whether `index` has at most `limit` nodes, counted as a tree.
bool isSmall(AffineExpr index, unsigned limit);

/// The position in row-major order of element `indices` of `shape`. Only the
/// outermost size may be dynamic, sizes of 1 aside; nullopt if others are.
std::optional<AffineExpr> linearize(MLIRContext *context,
                                    ArrayRef<AffineExpr> indices,
                                    ArrayRef<int64_t> shape);

/// The inverse: the element of `shape` at `position`.
std::optional<SmallVector<AffineExpr>> delinearize(AffineExpr position,
                                                   ArrayRef<int64_t> shape);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_INDEXEXPRESSIONS_H
