//===- ScaledProduct.cpp - Parts of decomposed products -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/ScaledProduct.h"

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

Value blockscale::broadcastBatch(OpBuilder &builder, Location loc, Value source,
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

Value blockscale::decodeScaled(OpBuilder &builder, Location loc, Value operand,
                               Value scale, unsigned kDim, int64_t block) {
  OperandView matrix = getOperandView(builder, loc, operand);
  OperandView scales = getOperandView(builder, loc, scale);

  // Scales are indexed by blocks of K.
  auto type = cast<ShapedType>(operand.getType());
  unsigned rank = type.getRank();
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> perBlock;
  for (unsigned dim = 0; dim != rank; ++dim) {
    AffineExpr expr = getAffineDimExpr(dim, context);
    perBlock.push_back(dim == kDim ? expr.floorDiv(block) : expr);
  }
  AffineMap scaleMap =
      scales.map.compose(AffineMap::get(rank, 0, perBlock, context));

  Value empty = tensor::EmptyOp::create(
      builder, loc, getOperandSizes(builder, loc, operand, matrix),
      builder.getF64Type());
  Format format = *getElementFormat(type.getElementType());
  Format scaleFormat = *getScaleFormat(getElementTypeOrSelf(scale.getType()));
  return computeElements(
      builder, loc, {matrix.tensor, scales.tensor}, {matrix.map, scaleMap},
      empty, [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
        Value element =
            emitDecode(b, bodyLoc, getCode(b, bodyLoc, args[0]), format);
        Value factor =
            emitDecode(b, bodyLoc, getCode(b, bodyLoc, args[1]), scaleFormat);
        return arith::MulFOp::create(b, bodyLoc, element, factor);
      });
}

SmallVector<OpFoldResult> blockscale::getSumSizes(OpBuilder &builder,
                                                  Location loc, Value acc) {
  auto type = cast<ShapedType>(acc.getType());
  if (isa<TensorType>(type))
    return tensor::getMixedSizes(builder, loc, acc);
  return getAsIndexOpFoldResult(builder.getContext(), type.getShape());
}

Value blockscale::extendAcc(OpBuilder &builder, Location loc, Value acc,
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

Value blockscale::roundSum(OpBuilder &builder, Location loc, Value sum,
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
