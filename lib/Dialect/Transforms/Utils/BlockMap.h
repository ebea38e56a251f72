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
#include "mlir/IR/BuiltinTypes.h"

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

/// The index of a block of `size` elements, or of all of them.
inline AffineExpr getBlockIndex(AffineExpr index, int64_t size) {
  return size == ScaleBlock::kAll ? getAffineConstantExpr(0, index.getContext())
                                  : index.floorDiv(size);
}

/// The same map for scales with a block of rows, too.
inline AffineMap getScaleBlockMap(MLIRContext *context, unsigned rank,
                                  const ScaleBlock &block, unsigned rowDim,
                                  unsigned kDim) {
  AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, context);
  SmallVector<AffineExpr> exprs(identity.getResults());
  exprs[rowDim] = getBlockIndex(exprs[rowDim], block.rows);
  exprs[kDim] = getBlockIndex(exprs[kDim], block.k);
  return AffineMap::get(rank, 0, exprs, context);
}

/// The same for rows and columns that are the last two dimensions. With blocks
/// of one row, there may be one dimension.
inline AffineMap getScaleBlockMap(MLIRContext *context, unsigned rank,
                                  const ScaleBlock &block) {
  if (rank == 1)
    return getBlockMap(context, rank, block.k);
  return getScaleBlockMap(context, rank, block, rank - 2, rank - 1);
}

/// The map from ([batch,] M, N) to the scale of a row of x, or of a column of
/// y, where `scales` have one along K. A batch of 1 is broadcast.
inline AffineMap getRowScaleMap(unsigned rank, ShapedType scales, bool isX,
                                const ScaleBlock &block) {
  MLIRContext *context = scales.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context);
  AffineExpr row = getBlockIndex(
      getAffineDimExpr(rank - (isX ? 2 : 1), context), block.rows);
  SmallVector<AffineExpr> exprs = {row, zero};
  if (!isX)
    std::swap(exprs[0], exprs[1]);
  if (scales.getRank() == 3)
    exprs.insert(exprs.begin(), scales.getDimSize(0) == 1
                                    ? zero
                                    : getAffineDimExpr(0, context));
  return AffineMap::get(rank, 0, exprs, context);
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_BLOCKMAP_H
