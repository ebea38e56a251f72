//===- OperandMap.cpp - Operands as matrices in memory --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Affine maps from (batch, row, column) to dimensions.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/OperandMap.h"

#include "Utils/OperandView.h"

using namespace mlir;
using namespace mlir::blockscale;

AffineMap blockscale::getOperandMap(MLIRContext *context, unsigned rank,
                                    unsigned rowDim, int64_t batchSize) {
  AffineExpr batch, row, column;
  bindDims(context, batch, row, column);
  SmallVector<AffineExpr> exprs = {row, column};
  if (rowDim != rank - 2)
    std::swap(exprs[0], exprs[1]);
  if (rank == 3)
    exprs.insert(exprs.begin(),
                 batchSize == 1 ? getAffineConstantExpr(0, context) : batch);
  return AffineMap::get(3, 0, exprs, context);
}

Contiguity blockscale::getContiguity(AffineMap map, unsigned rank) {
  MLIRContext *context = map.getContext();
  AffineExpr batch, row, column;
  bindDims(context, batch, row, column);
  if (map.getNumResults() == rank + 2) {
    SmallVector<AffineExpr> index = {row, column};
    if (rank == 3)
      index.insert(index.begin(), map.getResult(0));
    AffineMap swizzle = getSwizzleMap(context, rank)
                            .compose(AffineMap::get(3, 0, index, context));
    return simplifyAffineMap(swizzle) == simplifyAffineMap(map)
               ? Contiguity::Atoms
               : Contiguity::Other;
  }
  AffineExpr last = map.getResults().back();
  if (last == row)
    return Contiguity::Rows;
  return last == column ? Contiguity::Columns : Contiguity::Other;
}
