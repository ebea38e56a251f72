//===- BlockMap.h - Indices of blocks ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_BLOCKMAP_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_BLOCKMAP_H

#include "blockscale/Support/ScaleBlocks.h"
#include "mlir/IR/AffineMap.h"

namespace mlir::blockscale {

/// The map from an index of a matrix of `rank` dimensions to that of another
/// one, which has an element (a scale, a byte of metadata) for each `block`
/// elements along `dim`, the last dimension if it is not given.
inline AffineMap getBlockMap(MLIRContext *context, unsigned rank, int64_t block,
                             std::optional<unsigned> dim = std::nullopt) {
  AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, context);
  SmallVector<AffineExpr> exprs(identity.getResults());
  AffineExpr &expr = exprs[dim.value_or(rank - 1)];
  expr = expr.floorDiv(block);
  return AffineMap::get(rank, 0, exprs, context);
}

/// The same for scales with a block of rows and columns, which are the last two
/// dimensions.
inline AffineMap getScaleBlockMap(MLIRContext *context, unsigned rank,
                                  const ScaleBlock &block) {
  SmallVector<AffineExpr> exprs(
      AffineMap::getMultiDimIdentityMap(rank, context).getResults());
  auto divide = [&](AffineExpr &expr, int64_t size) {
    expr = size == ScaleBlock::kAll ? getAffineConstantExpr(0, context)
                                    : expr.floorDiv(size);
  };
  if (block.rows != 1)
    divide(exprs[rank - 2], block.rows);
  divide(exprs[rank - 1], block.k);
  return AffineMap::get(rank, 0, exprs, context);
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_BLOCKMAP_H
