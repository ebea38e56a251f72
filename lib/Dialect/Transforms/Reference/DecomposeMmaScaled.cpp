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
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;
using utils::IteratorType;

/// Adds the products to `sum`. The loops are ([batch,] M, K, N), N innermost,
/// so that y and the sum are read along their rows.
static Value multiply(OpBuilder &builder, MmaScaledOp op, Value sum,
                      ArrayRef<OpFoldResult> sizes) {
  unsigned rank = sizes.size();
  MLIRContext *context = builder.getContext();
  unsigned m = rank - 2, k = rank - 1, n = rank;
  auto getMap = [&](ArrayRef<AffineExpr> batch, unsigned row, unsigned col) {
    SmallVector<AffineExpr> exprs(batch);
    exprs.push_back(getAffineDimExpr(row, context));
    exprs.push_back(getAffineDimExpr(col, context));
    return AffineMap::get(rank + 1, 0, exprs, context);
  };

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (Side side : {Side::X, Side::Y}) {
    bool isX = side == Side::X;
    Value input = decodeScaled(
        builder, op.getLoc(), isX ? op.getX() : op.getY(),
        isX ? op.getXScale() : op.getYScale(),
        MmaScaledOp::getKDim(side, op.getMatrixType(side).getRank()),
        op.getBlock());
    SmallVector<AffineExpr> batch;
    if (op.getMatrixType(side).getRank() == 3) {
      int64_t size = op.getMatrixType(side).getDimSize(0);
      if (ShapedType::isDynamic(size))
        input = broadcastBatch(builder, op.getLoc(), input, sizes[0]);
      batch.push_back(size == 1 ? getAffineConstantExpr(0, context)
                                : getAffineDimExpr(0, context));
    }
    inputs.push_back(input);
    maps.push_back(side == Side::X ? getMap(batch, m, k) : getMap(batch, k, n));
  }
  SmallVector<AffineExpr> batch;
  if (rank == 3)
    batch.push_back(getAffineDimExpr(0, context));
  maps.push_back(getMap(batch, m, n));

  SmallVector<IteratorType> iterators(rank + 1, IteratorType::parallel);
  iterators[k] = IteratorType::reduction;
  return linalg::GenericOp::create(
             builder, op.getLoc(), sum.getType(), inputs, sum, maps, iterators,
             [](OpBuilder &b, Location loc, ValueRange args) {
               Value product = arith::MulFOp::create(b, loc, args[0], args[1]);
               Value next = arith::AddFOp::create(b, loc, args[2], product);
               linalg::YieldOp::create(b, loc, next);
             })
      .getResult(0);
}

static LogicalResult decomposeMmaScaled(MmaScaledOp op,
                                        PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = getSumSizes(rewriter, loc, op.getAcc());
  Value sum = extendAcc(rewriter, loc, op.getAcc(), sizes);
  sum = multiply(rewriter, op, sum, sizes);
  rewriter.replaceOp(op, roundSum(rewriter, loc, sum, sizes, op.getType()));
  return success();
}

void blockscale::populateDecomposeMmaScaledPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decomposeMmaScaled);
}
