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
#include "mlir/Dialect/SCF/IR/SCF.h"
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

Value blockscale::decodeScale(OpBuilder &b, Location loc, Value scale) {
  if (scale.getType().isF32())
    return arith::ExtFOp::create(b, loc, b.getF64Type(), scale);
  return emitDecode(b, loc, getCode(b, loc, scale),
                    *getScaleFormat(scale.getType()));
}

Value ScaledProduct::decodeProduct(Value operand, Value scale,
                                   AffineMap blocks) {
  OperandView matrix = getOperandView(rewriter, loc, operand);
  OperandView scales = getOperandView(rewriter, loc, scale);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, getOperandSizes(rewriter, loc, operand, matrix),
      rewriter.getF64Type());
  Format format = *getElementFormat(getElementTypeOrSelf(operand.getType()));
  Value decoded = computeElements(
      rewriter, loc, {matrix.tensor, scales.tensor},
      {matrix.map, scales.map.compose(blocks)}, empty,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
        Value element =
            emitDecode(b, bodyLoc, getCode(b, bodyLoc, args[0]), format);
        Value factor = decodeScale(b, bodyLoc, args[1]);
        return arith::MulFOp::create(b, bodyLoc, element, factor);
      });
  return broadcastBatch(decoded);
}

Value ScaledProduct::decode(Value operand, Value scale, unsigned kDim,
                            int64_t block) {
  auto rank = cast<ShapedType>(operand.getType()).getRank();
  return decodeProduct(operand, scale,
                       getBlockMap(rewriter.getContext(), rank, block, kDim));
}

Value ScaledProduct::decode(Value operand, Value scale, unsigned rowDim,
                            unsigned kDim, const ScaleBlock &block) {
  auto rank = cast<ShapedType>(operand.getType()).getRank();
  return decodeProduct(
      operand, scale,
      getScaleBlockMap(rewriter.getContext(), rank, block, rowDim, kDim));
}

Value ScaledProduct::decodeAt(
    Value operand, function_ref<Value(OpBuilder &, Location, Value)> decode) {
  OperandView view = getOperandView(rewriter, loc, operand);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, getOperandSizes(rewriter, loc, operand, view),
      rewriter.getF64Type());
  return broadcastBatch(computeElements(
      rewriter, loc, view.tensor, view.map, empty,
      [&](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
        return decode(b, bodyLoc, args[0]);
      }));
}

Value ScaledProduct::decodeElements(Value operand) {
  Format format = *getElementFormat(getElementTypeOrSelf(operand.getType()));
  return decodeAt(operand, [&](OpBuilder &b, Location bodyLoc, Value element) {
    return emitDecode(b, bodyLoc, getCode(b, bodyLoc, element), format);
  });
}

Value ScaledProduct::decodeScales(Value scale) {
  return decodeAt(scale, decodeScale);
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

Value ScaledProduct::multiply(ValueRange inputs, ArrayRef<AffineMap> maps,
                              Value into, Multiply multiply) {
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(rewriter.getMultiDimIdentityMap(n + 1).dropResult(k));
  SmallVector<utils::IteratorType> iterators(n + 1,
                                             utils::IteratorType::parallel);
  iterators[k] = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             rewriter, loc, into.getType(), inputs, into, allMaps, iterators,
             [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
               Value product = multiply(b, bodyLoc, args);
               Value next =
                   arith::AddFOp::create(b, bodyLoc, args.back(), product);
               linalg::YieldOp::create(b, bodyLoc, next);
             })
      .getResult(0);
}

Operation *ScaledProduct::replace(ValueRange inputs, ArrayRef<AffineMap> maps,
                                  Multiply multiply) {
  Value products = this->multiply(inputs, maps, sum, multiply);
  rewriter.replaceOp(
      op, roundSum(rewriter, loc, products, sizes, op->getResult(0).getType()));
  return products.getDefiningOp();
}

Operation *ScaledProduct::replaceByTerms(Value x, Value y, ValueRange others,
                                         ArrayRef<AffineMap> otherMaps) {
  SmallVector<Value> inputs = {x, y};
  SmallVector<AffineMap> maps = {getXMap(x), getYMap(y)};
  llvm::append_range(inputs, others);
  llvm::append_range(maps, otherMaps);
  return replace(inputs, maps,
                 [](OpBuilder &b, Location loc, ValueRange args) -> Value {
                   return arith::MulFOp::create(b, loc, args[0], args[1]);
                 });
}

//===----------------------------------------------------------------------===//
// Coarse scales
//===----------------------------------------------------------------------===//

/// The part of a decoded operand, or of its scales, from `offset` on along K.
Value ScaledProduct::sliceK(OpBuilder &b, Value matrix, bool isX,
                            OpFoldResult offset, OpFoldResult size) {
  SmallVector<OpFoldResult> sliceSizes = tensor::getMixedSizes(b, loc, matrix);
  SmallVector<OpFoldResult> offsets(sliceSizes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sliceSizes.size(), b.getIndexAttr(1));
  size_t dim = sliceSizes.size() - (isX ? 1 : 2);
  offsets[dim] = offset;
  sliceSizes[dim] = size;
  return tensor::ExtractSliceOp::create(b, loc, matrix, offsets, sliceSizes,
                                        strides);
}

/// Adds the sums of the block at `k`, times its scales, to `into`. The product
/// of two scales is exact: it has at most 48 bits.
Value ScaledProduct::addScaled(OpBuilder &b, Value sums, const BlockOperand &x,
                               const BlockOperand &y, OpFoldResult k,
                               Value into) {
  auto slice = [&](const BlockOperand &operand, bool isX) {
    OpFoldResult block = b.getIndexAttr(0);
    if (operand.block.k != ScaleBlock::kAll)
      block = affine::makeComposedFoldedAffineApply(
          b, loc, b.getAffineDimExpr(0).floorDiv(operand.block.k), {k});
    return sliceK(b, operand.scales, isX, block, b.getIndexAttr(1));
  };
  auto getScaleMap = [&](const BlockOperand &operand, bool isX) {
    auto type = cast<ShapedType>(operand.scales.getType());
    return getRowScaleMap(n, type, isX, operand.block);
  };
  AffineMap identity = b.getMultiDimIdentityMap(n);
  SmallVector<utils::IteratorType> iterators(n, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, into.getType(),
             ValueRange{sums, slice(x, /*isX=*/true), slice(y, /*isX=*/false)},
             into,
             ArrayRef<AffineMap>{identity, getScaleMap(x, /*isX=*/true),
                                 getScaleMap(y, /*isX=*/false), identity},
             iterators,
             [](OpBuilder &inner, Location bodyLoc, ValueRange args) {
               Value scale =
                   arith::MulFOp::create(inner, bodyLoc, args[1], args[2]);
               Value scaled =
                   arith::MulFOp::create(inner, bodyLoc, args[0], scale);
               Value next =
                   arith::AddFOp::create(inner, bodyLoc, args[3], scaled);
               linalg::YieldOp::create(inner, bodyLoc, next);
             })
      .getResult(0);
}

void ScaledProduct::replaceByBlocks(const BlockOperand &x,
                                    const BlockOperand &y) {
  auto rank = cast<ShapedType>(x.matrix.getType()).getRank();
  OpFoldResult kSize = tensor::getMixedSize(rewriter, loc, x.matrix, rank - 1);
  int64_t block = getFinerBlock(x.block.k, y.block.k);
  OpFoldResult stepSize =
      block == ScaleBlock::kAll ? kSize : rewriter.getIndexAttr(block);
  auto toValue = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(rewriter, loc, value);
  };
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getF64FloatAttr(0.0));
  auto loop =
      scf::ForOp::create(rewriter, loc, toValue(rewriter.getIndexAttr(0)),
                         toValue(kSize), toValue(stepSize), sum);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  OpFoldResult start = loop.getInductionVar();
  AffineExpr d0, d1;
  bindDims(rewriter.getContext(), d0, d1);
  OpFoldResult count = kSize;
  if (block != ScaleBlock::kAll)
    count = affine::makeComposedFoldedAffineMin(
        rewriter, loc,
        AffineMap::get(2, 0, {rewriter.getAffineConstantExpr(block), d1 - d0},
                       rewriter.getContext()),
        {start, kSize});
  Value xPart = sliceK(rewriter, x.matrix, /*isX=*/true, start, count);
  Value yPart = sliceK(rewriter, y.matrix, /*isX=*/false, start, count);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, sizes, rewriter.getF64Type());
  Value sums =
      multiply({xPart, yPart}, {getXMap(xPart), getYMap(yPart)},
               linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0),
               [](OpBuilder &b, Location bodyLoc, ValueRange args) -> Value {
                 return arith::MulFOp::create(b, bodyLoc, args[0], args[1]);
               });
  Value next =
      addScaled(rewriter, sums, x, y, start, loop.getRegionIterArgs().front());
  scf::YieldOp::create(rewriter, loc, next);
  rewriter.setInsertionPointAfter(loop);
  rewriter.replaceOp(op, roundSum(rewriter, loc, loop.getResult(0), sizes,
                                  op->getResult(0).getType()));
}
