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
#include "Utils/BlockMap.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "blockscale/Dialect/Transforms/Reference/Sparse.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

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
  AffineMap bytes = metadata.map.compose(getBlockMap(
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
        emit.expectLegal(field, emit.isZero(emit.toCode(args[0]), format), op);
        Value position = emit.getPosition(field, emit.getKeptUnit(index));
        Value k = emit.join(chunk, emit.toIndex(position),
                            emit.getInUnit(index), kUnitsPerChunk);
        return arith::IndexCastOp::create(b, bodyLoc, b.getI64Type(), k);
      });
}

static LogicalResult decomposeSparseMma(SparseMmaScaledOp op,
                                        PatternRewriter &rewriter) {
  ScaledProduct product(rewriter, op, op.getAcc());
  auto getRank = [](Value value) {
    return cast<ShapedType>(value.getType()).getRank();
  };
  Value x = product.decode(op.getX(), op.getXScale(), getRank(op.getX()) - 1,
                           op.getBlock() / kLogicalPerKept);
  Value indices = product.broadcastBatch(findLogicalIndices(rewriter, op));
  Value y = product.decode(op.getY(), op.getYScale(), getRank(op.getY()) - 2,
                           op.getBlock());
  AffineMap xMap = product.getXMap(x), yMap = product.getYMap(y);
  product.replace(
      {x, indices}, {xMap, xMap},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        SmallVector<Value> loops = getLoopIndices(b, loc, yMap.getNumDims());
        SmallVector<Value> at;
        if (getRank(y) == 3)
          at.push_back(
              isa<AffineConstantExpr>(yMap.getResult(0))
                  ? arith::ConstantIndexOp::create(b, loc, 0).getResult()
                  : loops[0]);
        at.push_back(
            arith::IndexCastOp::create(b, loc, b.getIndexType(), args[1]));
        at.push_back(loops.back());
        Value other = tensor::ExtractOp::create(b, loc, y, at);
        return arith::MulFOp::create(b, loc, args[0], other);
      });
  return success();
}

void blockscale::populateDecomposeSparseMmaPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decomposeSparseMma);
}
