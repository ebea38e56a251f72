//===- DecomposeMmaScaled.cpp - mma_scaled as arithmetic ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference semantics of mma_scaled in upstream ops, with which every other
// path is compared.
//
//===----------------------------------------------------------------------===//

#include "Reference/ScaledProduct.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::blockscale;

static LogicalResult decomposeMmaScaled(MmaScaledOp op,
                                        PatternRewriter &rewriter) {
  ScaledProduct product(rewriter, op, op.getAcc());
  if (op.hasCoarseScales()) {
    product.replaceByBlocks({product.decodeElements(op.getX()),
                             product.decodeScales(op.getXScale()),
                             op.getBlockShape(MmaScaledOp::Side::X)},
                            {product.decodeElements(op.getY()),
                             product.decodeScales(op.getYScale()),
                             op.getBlockShape(MmaScaledOp::Side::Y)});
    return success();
  }
  auto decode = [&](MmaScaledOp::Side side, Value matrix, Value scale) {
    unsigned rank = op.getMatrixType(side).getRank();
    return product.decode(matrix, scale, MmaScaledOp::getKDim(side, rank),
                          op.getBlock());
  };
  Value x = decode(MmaScaledOp::Side::X, op.getX(), op.getXScale());
  Value y = decode(MmaScaledOp::Side::Y, op.getY(), op.getYScale());
  product.replaceByTerms(x, y);
  return success();
}

void blockscale::populateDecomposeMmaScaledPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decomposeMmaScaled);
}
