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

#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;
using utils::IteratorType;

/// The integer code, in 8 bits, of an element that is a narrow float.
static Value getCode(OpBuilder &builder, Location loc, Value element) {
  unsigned width = element.getType().getIntOrFloatBitWidth();
  Value code = arith::BitcastOp::create(builder, loc,
                                        builder.getIntegerType(width), element);
  if (width == 8)
    return code;
  return arith::ExtUIOp::create(builder, loc, builder.getI8Type(), code);
}

/// Broadcasts the batch of `source`, which is 1 or `batch`, to `batch`, if it
/// is known only at run time which of them it is.
static Value broadcastBatch(OpBuilder &builder, Location loc, Value source,
                            OpFoldResult batch) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, source);
  OpFoldResult sourceBatch = sizes[0];
  sizes[0] = batch;
  auto type = cast<RankedTensorType>(source.getType());
  Value empty =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return computeElements(
      builder, loc, {}, {}, empty,
      [&](OpBuilder &b, Location bodyLoc, ValueRange) -> Value {
        SmallVector<Value> indices = getLoopIndices(b, bodyLoc, type.getRank());
        // Modulo: an index is below the batch, or the batch is 1.
        AffineExpr d0, d1;
        bindDims(b.getContext(), d0, d1);
        indices[0] = getValueOrCreateConstantIndexOp(
            b, bodyLoc,
            affine::makeComposedFoldedAffineMin(
                b, bodyLoc, AffineMap::get(2, 0, {d0, d1 - 1}, b.getContext()),
                {OpFoldResult(indices[0]), sourceBatch}));
        return tensor::ExtractOp::create(b, bodyLoc, source, indices);
      });
}

/// Dequantizes x or y to f64, in the shape of the matrix. Every product is
/// exact: it has at most 6 bits of significand, and an exponent well inside
/// f64's range.
static Value decodeScaled(OpBuilder &builder, MmaScaledOp op, Side side) {
  Location loc = op.getLoc();
  Value operand = side == Side::X ? op.getX() : op.getY();
  OperandView matrix = getOperandView(builder, loc, operand);
  OperandView scales = getOperandView(
      builder, loc, side == Side::X ? op.getXScale() : op.getYScale());

  // Scales are indexed by blocks of K.
  unsigned rank = op.getMatrixType(side).getRank();
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> perBlock;
  for (unsigned dim = 0; dim != rank; ++dim) {
    AffineExpr expr = getAffineDimExpr(dim, context);
    bool isK = dim == MmaScaledOp::getKDim(side, rank);
    perBlock.push_back(isK ? expr.floorDiv(op.getBlock()) : expr);
  }
  AffineMap scaleMap =
      scales.map.compose(AffineMap::get(rank, 0, perBlock, context));

  Value empty = tensor::EmptyOp::create(
      builder, loc, getOperandSizes(builder, loc, operand, matrix),
      builder.getF64Type());
  Format format = *getElementFormat(op.getMatrixType(side).getElementType());
  Format scaleFormat = *getScaleFormat(op.getScaleType(side).getElementType());
  return computeElements(
      builder, loc, {matrix.tensor, scales.tensor}, {matrix.map, scaleMap},
      empty, [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
        Value element =
            emitDecode(b, bodyLoc, getCode(b, bodyLoc, args[0]), format);
        Value scale =
            emitDecode(b, bodyLoc, getCode(b, bodyLoc, args[1]), scaleFormat);
        return arith::MulFOp::create(b, bodyLoc, element, scale);
      });
}

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
    Value input = decodeScaled(builder, op, side);
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
  Type f64 = rewriter.getF64Type();
  auto accType = cast<ShapedType>(op.getAcc().getType());

  SmallVector<OpFoldResult> sizes =
      op.hasTensorSemantics()
          ? tensor::getMixedSizes(rewriter, loc, op.getAcc())
          : getAsIndexOpFoldResult(rewriter.getContext(), accType.getShape());
  Value sum = tensor::EmptyOp::create(rewriter, loc, sizes, f64);
  if (isZeroSplat(op.getAcc())) {
    Value zero =
        arith::ConstantOp::create(rewriter, loc, rewriter.getF64FloatAttr(0.0));
    sum = linalg::FillOp::create(rewriter, loc, zero, sum).getResult(0);
  } else {
    Value acc = convertToTensor(rewriter, loc, op.getAcc());
    sum = computeElements(
        rewriter, loc, acc, rewriter.getMultiDimIdentityMap(sizes.size()), sum,
        [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
          return arith::ExtFOp::create(b, bodyLoc, f64, args[0]);
        });
  }

  sum = multiply(rewriter, op, sum, sizes);
  // The result has its own destination. If it were written into acc, a chain
  // of ops would be one alias set, for which bufferization takes cubic time.
  Value destination =
      tensor::EmptyOp::create(rewriter, loc, sizes, accType.getElementType());
  Value result = computeElements(
      rewriter, loc, sum, rewriter.getMultiDimIdentityMap(sizes.size()),
      destination,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
        return arith::TruncFOp::create(b, bodyLoc, accType.getElementType(),
                                       args[0]);
      });
  rewriter.replaceOp(op,
                     convertFromTensor(rewriter, loc, result, op.getType()));
  return success();
}

void blockscale::populateDecomposeMmaScaledPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decomposeMmaScaled);
}
