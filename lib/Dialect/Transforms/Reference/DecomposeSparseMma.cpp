//===- DecomposeSparseMma.cpp - sparse_mma_scaled as arithmetic -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference semantics of sparse_mma_scaled. Each kept element looks up its
// logical index along K, and multiplies that row of y. Elements of y that are
// not named are not read, so that NaN does not come out of them.
//
// A block of x has half as many kept elements, and a chunk does not span
// blocks, so x is dequantized like a dense matrix of K / 2 columns.
//
//===----------------------------------------------------------------------===//

#include "Reference/ScaledProduct.h"
#include "Reference/SparseEmitter.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "blockscale/Dialect/Transforms/Reference/Sparse.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;
using utils::IteratorType;

static constexpr int64_t kLogicalPerKept = kUnitsPerChunk / kKeptUnits;

/// The logical index along K, an i64, of each kept element of x. Checks the
/// fields.
static Value findLogicalIndices(OpBuilder &builder, SparseMmaScaledOp op) {
  Location loc = op.getLoc();
  const GranularityInfo &units = op.getUnits();
  OperandView x = getOperandView(builder, loc, op.getX());
  OperandView metadata = getOperandView(builder, loc, op.getMetadata());
  SmallVector<OpFoldResult> sizes = getOperandSizes(builder, loc, op.getX(), x);
  unsigned rank = sizes.size();
  AffineMap bytes = metadata.map.compose(getPerElementMap(
      builder.getContext(), rank, units.elementsPerByte() / kLogicalPerKept));
  Format format = *getElementFormat(getElementTypeOrSelf(op.getX().getType()));
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, builder.getI64Type());
  return computeElements(
      builder, loc, {x.tensor, metadata.tensor}, {x.map, bytes}, empty,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
        SparseEmitter emit(b, bodyLoc, units);
        Value index = getLoopIndices(b, bodyLoc, rank).back();
        Value chunk = emit.getKeptChunk(index);
        Value field = emit.getField(args[1], chunk);
        emit.expect(
            emit.isLegal(field, emit.isZero(emit.toCode(args[0]), format)), op,
            "fields of metadata whose two positions ascend, or 0000 where both "
            "kept units are zeros");
        Value position = emit.getPosition(field, emit.getKeptUnit(index));
        Value k = emit.join(chunk, emit.toIndex(position),
                            emit.getInUnit(index), kUnitsPerChunk);
        return arith::IndexCastOp::create(b, bodyLoc, b.getI64Type(), k);
      });
}

/// Adds the products to `sum`. The loops are ([batch,] M, K / 2, N), N
/// innermost, so that y and the sum are read along their rows.
static Value multiply(OpBuilder &builder, SparseMmaScaledOp op, Value sum,
                      ArrayRef<OpFoldResult> sizes) {
  Location loc = op.getLoc();
  MLIRContext *context = builder.getContext();
  auto xType = cast<ShapedType>(op.getX().getType());
  auto yType = cast<ShapedType>(op.getY().getType());
  unsigned rank = sizes.size();
  unsigned m = rank - 2, k = rank - 1, n = rank;
  bool hasBatch = rank == 3;

  Value x = decodeScaled(builder, loc, op.getX(), op.getXScale(),
                         xType.getRank() - 1, op.getBlock() / kLogicalPerKept);
  Value indices = findLogicalIndices(builder, op);
  Value y = decodeScaled(builder, loc, op.getY(), op.getYScale(),
                         yType.getRank() - 2, op.getBlock());
  auto isDynamicBatch = [](ShapedType type) {
    return type.getRank() == 3 && type.isDynamicDim(0);
  };
  if (isDynamicBatch(xType)) {
    x = broadcastBatch(builder, loc, x, sizes[0]);
    indices = broadcastBatch(builder, loc, indices, sizes[0]);
  }
  if (isDynamicBatch(yType))
    y = broadcastBatch(builder, loc, y, sizes[0]);

  auto getMap = [&](bool isBatched, bool isOne, unsigned row, unsigned column) {
    SmallVector<AffineExpr> exprs;
    if (isBatched)
      exprs.push_back(isOne ? getAffineConstantExpr(0, context)
                            : getAffineDimExpr(0, context));
    exprs.push_back(getAffineDimExpr(row, context));
    exprs.push_back(getAffineDimExpr(column, context));
    return AffineMap::get(rank + 1, 0, exprs, context);
  };
  AffineMap xMap = getMap(xType.getRank() == 3, xType.getDimSize(0) == 1, m, k);
  AffineMap sumMap = getMap(hasBatch, /*isOne=*/false, m, n);
  SmallVector<IteratorType> iterators(rank + 1, IteratorType::parallel);
  iterators[k] = IteratorType::reduction;
  return linalg::GenericOp::create(
             builder, loc, sum.getType(), ValueRange{x, indices}, sum,
             ArrayRef<AffineMap>{xMap, xMap, sumMap}, iterators,
             [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
               SmallVector<Value> loops = getLoopIndices(b, bodyLoc, rank + 1);
               SmallVector<Value> at;
               if (yType.getRank() == 3)
                 at.push_back(
                     yType.getDimSize(0) == 1
                         ? arith::ConstantIndexOp::create(b, bodyLoc, 0)
                               .getResult()
                         : loops[0]);
               at.push_back(arith::IndexCastOp::create(
                   b, bodyLoc, b.getIndexType(), args[1]));
               at.push_back(loops[n]);
               Value other = tensor::ExtractOp::create(b, bodyLoc, y, at);
               Value product =
                   arith::MulFOp::create(b, bodyLoc, args[0], other);
               Value next = arith::AddFOp::create(b, bodyLoc, args[2], product);
               linalg::YieldOp::create(b, bodyLoc, next);
             })
      .getResult(0);
}

static LogicalResult decomposeSparseMma(SparseMmaScaledOp op,
                                        PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = getSumSizes(rewriter, loc, op.getAcc());
  Value sum = extendAcc(rewriter, loc, op.getAcc(), sizes);
  sum = multiply(rewriter, op, sum, sizes);
  rewriter.replaceOp(op, roundSum(rewriter, loc, sum, sizes, op.getType()));
  return success();
}

void blockscale::populateDecomposeSparseMmaPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decomposeSparseMma);
}
