//===- ScaledProduct.cpp - Parts of decomposed products -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/ScaledProduct.h"

#include "Utils/BlockMap.h"
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

/// The integer code, in 8 bits, of an element that is a narrow float.
static Value getCode(OpBuilder &builder, Location loc, Value element) {
  unsigned width = element.getType().getIntOrFloatBitWidth();
  Value code = arith::BitcastOp::create(builder, loc,
                                        builder.getIntegerType(width), element);
  if (width == 8)
    return code;
  return arith::ExtUIOp::create(builder, loc, builder.getI8Type(), code);
}

/// The sizes of the accumulator.
static SmallVector<OpFoldResult> getSumSizes(OpBuilder &builder, Location loc,
                                             Value acc) {
  auto type = cast<ShapedType>(acc.getType());
  if (isa<TensorType>(type))
    return tensor::getMixedSizes(builder, loc, acc);
  return getAsIndexOpFoldResult(builder.getContext(), type.getShape());
}

/// The accumulator as a tensor of f64.
static Value extendAcc(OpBuilder &builder, Location loc, Value acc,
                       ArrayRef<OpFoldResult> sizes) {
  Type f64 = builder.getF64Type();
  Value sum = tensor::EmptyOp::create(builder, loc, sizes, f64);
  if (isZeroSplat(acc)) {
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0.0));
    return linalg::FillOp::create(builder, loc, zero, sum).getResult(0);
  }
  Value tensor = convertToTensor(builder, loc, acc);
  return computeElements(
      builder, loc, tensor, builder.getMultiDimIdentityMap(sizes.size()), sum,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
        return arith::ExtFOp::create(b, bodyLoc, f64, args[0]);
      });
}

/// The sum, a tensor of f64, rounded to the elements of `type`.
static Value roundSum(OpBuilder &builder, Location loc, Value sum,
                      ArrayRef<OpFoldResult> sizes, Type type) {
  // The result has its own destination. If it were written into acc, a chain
  // of ops would be one alias set, for which bufferization takes cubic time.
  Type element = getElementTypeOrSelf(type);
  Value destination = tensor::EmptyOp::create(builder, loc, sizes, element);
  Value result = computeElements(
      builder, loc, sum, builder.getMultiDimIdentityMap(sizes.size()),
      destination,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
        return arith::TruncFOp::create(b, bodyLoc, element, args[0]);
      });
  return convertFromTensor(builder, loc, result, type);
}

ScaledProduct::ScaledProduct(PatternRewriter &rewriter, Operation *op,
                             Value acc)
    : rewriter(rewriter), op(op), loc(op->getLoc()),
      sizes(getSumSizes(rewriter, loc, acc)), m(sizes.size() - 2),
      k(sizes.size() - 1), n(sizes.size()),
      sum(extendAcc(rewriter, loc, acc, sizes)) {}

Value ScaledProduct::decode(Value operand, Value scale, unsigned kDim,
                            int64_t block) {
  OperandView matrix = getOperandView(rewriter, loc, operand);
  OperandView scales = getOperandView(rewriter, loc, scale);
  auto type = cast<ShapedType>(operand.getType());
  AffineMap scaleMap = scales.map.compose(
      getBlockMap(rewriter.getContext(), type.getRank(), block, kDim));

  Value empty = tensor::EmptyOp::create(
      rewriter, loc, getOperandSizes(rewriter, loc, operand, matrix),
      rewriter.getF64Type());
  Format format = *getElementFormat(type.getElementType());
  Format scaleFormat = *getScaleFormat(getElementTypeOrSelf(scale.getType()));
  Value decoded = computeElements(
      rewriter, loc, {matrix.tensor, scales.tensor}, {matrix.map, scaleMap},
      empty, [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
        Value element =
            emitDecode(b, bodyLoc, getCode(b, bodyLoc, args[0]), format);
        Value factor =
            emitDecode(b, bodyLoc, getCode(b, bodyLoc, args[1]), scaleFormat);
        return arith::MulFOp::create(b, bodyLoc, element, factor);
      });
  return broadcastBatch(decoded);
}

Value ScaledProduct::broadcastBatch(Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  if (type.getRank() != 3 || !type.isDynamicDim(0))
    return matrix;
  SmallVector<OpFoldResult> matrixSizes =
      tensor::getMixedSizes(rewriter, loc, matrix);
  OpFoldResult matrixBatch = matrixSizes[0];
  matrixSizes[0] = sizes[0];
  Value empty = tensor::EmptyOp::create(rewriter, loc, matrixSizes,
                                        type.getElementType());
  return computeElements(
      rewriter, loc, {}, {}, empty,
      [&](OpBuilder &b, Location bodyLoc, ValueRange) -> Value {
        SmallVector<Value> indices = getLoopIndices(b, bodyLoc, type.getRank());
        // Modulo: an index is below the batch, or the batch is 1.
        AffineExpr d0, d1;
        bindDims(b.getContext(), d0, d1);
        indices[0] = getValueOrCreateConstantIndexOp(
            b, bodyLoc,
            affine::makeComposedFoldedAffineMin(
                b, bodyLoc, AffineMap::get(2, 0, {d0, d1 - 1}, b.getContext()),
                {OpFoldResult(indices[0]), matrixBatch}));
        return tensor::ExtractOp::create(b, bodyLoc, matrix, indices);
      });
}

AffineMap ScaledProduct::getMap(Value matrix, unsigned row, unsigned column) {
  auto type = cast<ShapedType>(matrix.getType());
  SmallVector<AffineExpr> exprs;
  if (type.getRank() == 3)
    exprs.push_back(type.getDimSize(0) == 1 ? rewriter.getAffineConstantExpr(0)
                                            : rewriter.getAffineDimExpr(0));
  exprs.push_back(rewriter.getAffineDimExpr(row));
  exprs.push_back(rewriter.getAffineDimExpr(column));
  return AffineMap::get(n + 1, 0, exprs, rewriter.getContext());
}

void ScaledProduct::replace(ValueRange inputs, ArrayRef<AffineMap> maps,
                            Multiply multiply) {
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(rewriter.getMultiDimIdentityMap(n + 1).dropResult(k));
  SmallVector<utils::IteratorType> iterators(n + 1,
                                             utils::IteratorType::parallel);
  iterators[k] = utils::IteratorType::reduction;
  auto products = linalg::GenericOp::create(
      rewriter, loc, sum.getType(), inputs, sum, allMaps, iterators,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
        Value product = multiply(b, bodyLoc, args);
        Value next = arith::AddFOp::create(b, bodyLoc, args.back(), product);
        linalg::YieldOp::create(b, bodyLoc, next);
      });
  rewriter.replaceOp(op, roundSum(rewriter, loc, products.getResult(0), sizes,
                                  op->getResult(0).getType()));
}
