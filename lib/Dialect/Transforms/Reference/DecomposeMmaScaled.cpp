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
#include "blockscale/Dialect/Transforms/Reference/CoarseTerms.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Replaces the op by the sum of products of the scaled elements of x and y.
static void replaceByTerms(ScaledProduct &product, Value x, Value y) {
  product.replace({x, y}, {product.getXMap(x), product.getYMap(y)},
                  [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                    return arith::MulFOp::create(b, loc, args[0], args[1]);
                  });
}

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
  replaceByTerms(product, x, y);
  return success();
}

static LogicalResult decomposeCoarseTerms(MmaScaledOp op,
                                          PatternRewriter &rewriter) {
  if (!op.hasCoarseScales())
    return rewriter.notifyMatchFailure(op, "no coarse scales");
  ScaledProduct product(rewriter, op, op.getAcc());
  auto decode = [&](MmaScaledOp::Side side, Value matrix, Value scale) {
    unsigned rank = op.getMatrixType(side).getRank();
    return product.decode(matrix, scale, MmaScaledOp::getRowDim(side, rank),
                          MmaScaledOp::getKDim(side, rank),
                          op.getBlockShape(side));
  };
  Value x = decode(MmaScaledOp::Side::X, op.getX(), op.getXScale());
  Value y = decode(MmaScaledOp::Side::Y, op.getY(), op.getYScale());
  replaceByTerms(product, x, y);
  return success();
}

void blockscale::populateDecomposeCoarseTermsPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decomposeCoarseTerms, /*benefit=*/2);
}

void blockscale::populateDecomposeMmaScaledPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decomposeMmaScaled);
}
