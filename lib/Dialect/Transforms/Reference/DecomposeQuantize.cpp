//===- DecomposeQuantize.cpp - quantize and dequantize as loops -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference semantics of quantize and dequantize in upstream ops: largest
// magnitudes of blocks, then scales, then quantized elements.
//
//===----------------------------------------------------------------------===//

#include "Quantize/BlockArithmetic.h"
#include "Utils/BlockMap.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;
using utils::IteratorType;

/// `code`, an i32, as an element of `type`.
static Value toElement(OpBuilder &b, Location loc, Value code, Type type) {
  Value narrow = arith::TruncIOp::create(
      b, loc, b.getIntegerType(type.getIntOrFloatBitWidth()), code);
  return arith::BitcastOp::create(b, loc, type, narrow);
}

static Value toCode(OpBuilder &b, Location loc, Value element) {
  Value bits = arith::BitcastOp::create(
      b, loc, b.getIntegerType(element.getType().getIntOrFloatBitWidth()),
      element);
  return arith::ExtUIOp::create(b, loc, b.getI32Type(), bits);
}

/// A tensor of `element` whose elements `body` computes from those of `inputs`.
static Value generate(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,
                      Type element, ValueRange inputs, ArrayRef<AffineMap> maps,
                      function_ref<Value(OpBuilder &, ValueRange)> body) {
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  return computeElements(b, loc, inputs, maps, empty,
                         [&](OpBuilder &inner, Location, ValueRange args) {
                           return body(inner, args);
                         });
}

/// The largest magnitude of the block at the current index of the loops.
static Value emitLargest(OpBuilder &b, Location loc, const OperandView &x,
                         OpFoldResult columns, const BlockFormat &format,
                         bool mayEnd) {
  SmallVector<Value> position = getLoopIndices(b, loc, x.map.getNumDims());
  auto apply = [&](OpBuilder &at, AffineExpr expr, ArrayRef<Value> values) {
    return getValueOrCreateConstantIndexOp(
        at, loc,
        affine::makeComposedFoldedAffineApply(at, loc, expr,
                                              getAsOpFoldResult(values)));
  };
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  Value first = apply(b, d0 * format.blockSize, position.back());
  Value count = arith::ConstantIndexOp::create(b, loc, format.blockSize);
  if (mayEnd)
    count = arith::MinSIOp::create(
        b, loc, count,
        arith::SubIOp::create(
            b, loc, getValueOrCreateConstantIndexOp(b, loc, columns), first));
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  auto loop = scf::ForOp::create(b, loc, zero, count, one, none);
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  position.back() = apply(inner, d0 + d1, {first, loop.getInductionVar()});
  SmallVector<Value> at;
  for (AffineExpr expr : x.map.getResults())
    at.push_back(apply(inner, expr, position));
  BlockArithmetic arithmetic(inner, loc);
  Value element = tensor::ExtractOp::create(inner, loc, x.tensor, at);
  Value magnitude = arithmetic.getMagnitude(arithmetic.toF32(element));
  Value next =
      arithmetic.getLargest(loop.getRegionIterArgs().front(), magnitude);
  scf::YieldOp::create(inner, loc, next);
  return loop.getResult(0);
}

static Value emitLargestOfAll(OpBuilder &b, Location loc, Value largest,
                              Type type) {
  auto rank =
      static_cast<unsigned>(cast<ShapedType>(largest.getType()).getRank());
  MLIRContext *context = b.getContext();
  Value zero = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(RankedTensorType::get({}, b.getI32Type()), 0));
  Value all =
      linalg::GenericOp::create(
          b, loc, zero.getType(), largest, zero,
          ArrayRef<AffineMap>{b.getMultiDimIdentityMap(rank),
                              AffineMap::get(rank, 0, context)},
          SmallVector<IteratorType>(rank, IteratorType::reduction),
          [](OpBuilder &inner, Location bodyLoc, ValueRange args) {
            Value joined =
                BlockArithmetic(inner, bodyLoc).getLargest(args[0], args[1]);
            linalg::YieldOp::create(inner, bodyLoc, joined);
          })
          .getResult(0);
  Value result =
      generate(b, loc, {}, b.getF32Type(), all, AffineMap::get(0, 0, context),
               [&](OpBuilder &inner, ValueRange args) {
                 return BlockArithmetic(inner, loc).fromMagnitude(args[0]);
               });
  if (isa<TensorType>(type))
    return result;
  return tensor::ExtractOp::create(b, loc, result, ValueRange());
}

static LogicalResult decomposeQuantize(QuantizeOp op,
                                       PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  MLIRContext *context = rewriter.getContext();
  BlockFormat format = BlockFormat::get(op);
  OperandView x = getOperandView(rewriter, loc, op.getX());
  SmallVector<OpFoldResult> sizes =
      getOperandSizes(rewriter, loc, op.getX(), x);
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<OpFoldResult> scaleSizes =
      getScaleSizes(rewriter, loc, sizes, format.blockSize);

  Value largest = generate(rewriter, loc, scaleSizes, rewriter.getI32Type(), {},
                           {}, [&](OpBuilder &b, ValueRange) {
                             return emitLargest(b, loc, x, sizes.back(), format,
                                                op.getPad());
                           });
  Type scaleType = getElementTypeOrSelf(op.getScales().getType());
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  Value scales = generate(rewriter, loc, scaleSizes, scaleType, largest,
                          identity, [&](OpBuilder &b, ValueRange args) {
                            Value code = BlockArithmetic(b, loc).emitScale(
                                format, args[0], op.getTensorScale());
                            return toElement(b, loc, code, scaleType);
                          });
  Type codeType = getElementTypeOrSelf(op.getElements().getType());
  AffineMap blocks = getBlockMap(context, rank, format.blockSize);
  Value elements =
      generate(rewriter, loc, sizes, codeType, {x.tensor, scales},
               {x.map, blocks}, [&](OpBuilder &b, ValueRange args) {
                 BlockArithmetic arithmetic(b, loc);
                 BlockFactor factor = arithmetic.emitFactor(
                     format, toCode(b, loc, args[1]), op.getTensorScale());
                 Value code = arithmetic.emitCode(
                     format, arithmetic.toF32(args[0]), factor);
                 return toElement(b, loc, code, codeType);
               });
  SmallVector<Value> results = {
      convertFromTensor(rewriter, loc, elements, op.getElements().getType()),
      convertFromTensor(rewriter, loc, scales, op.getScales().getType())};
  if (op.getAmax())
    results.push_back(
        emitLargestOfAll(rewriter, loc, largest, op.getAmax().getType()));
  rewriter.replaceOp(op, results);
  return success();
}

/// A scalar that is an element of a tensor. On a GPU the loops that need it
/// load it, because the host cannot.
namespace {
struct ScalarOperand {
  Value tensor;
  AffineMap map;

  /// For ops with `numLoops` loops; null for other scalars.
  ScalarOperand(Value scalar, unsigned numLoops) {
    auto extract = scalar ? scalar.getDefiningOp<tensor::ExtractOp>()
                          : tensor::ExtractOp();
    if (!extract)
      return;
    SmallVector<AffineExpr> index;
    for (Value each : extract.getIndices()) {
      std::optional<int64_t> constant = getConstantIntValue(each);
      if (!constant)
        return;
      index.push_back(getAffineConstantExpr(*constant, scalar.getContext()));
    }
    tensor = extract.getTensor();
    map = AffineMap::get(numLoops, 0, index, scalar.getContext());
  }
};
} // namespace

static LogicalResult decomposeDequantize(DequantizeOp op,
                                         PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  OperandView codes = getOperandView(rewriter, loc, op.getElements());
  OperandView scales = getOperandView(rewriter, loc, op.getScales());
  SmallVector<OpFoldResult> sizes =
      getOperandSizes(rewriter, loc, op.getElements(), codes);
  AffineMap blocks = scales.map.compose(
      getBlockMap(rewriter.getContext(), sizes.size(), op.getBlock()));
  Type type = getElementTypeOrSelf(op.getResult().getType());
  SmallVector<Value> inputs = {codes.tensor, scales.tensor};
  SmallVector<AffineMap> maps = {codes.map, blocks};
  ScalarOperand factor(op.getTensorScale(), sizes.size());
  if (factor.tensor) {
    inputs.push_back(factor.tensor);
    maps.push_back(factor.map);
  }
  Value result = generate(
      rewriter, loc, sizes, type, inputs, maps,
      [&](OpBuilder &b, ValueRange args) -> Value {
        BlockArithmetic arithmetic(b, loc);
        Value element =
            arithmetic.decode(op.getElementFormat(), toCode(b, loc, args[0]));
        Value scale =
            arithmetic.decode(op.getScaleFormat(), toCode(b, loc, args[1]));
        Value number = arith::MulFOp::create(b, loc, element, scale);
        if (op.getTensorScale())
          number = arith::MulFOp::create(
              b, loc, number, factor.tensor ? args[2] : op.getTensorScale());
        if (type == number.getType())
          return number;
        return arith::TruncFOp::create(b, loc, type, number);
      });
  rewriter.replaceOp(
      op, convertFromTensor(rewriter, loc, result, op.getResult().getType()));
  return success();
}

void blockscale::populateDecomposeQuantizePatterns(
    RewritePatternSet &patterns) {
  patterns.add(decomposeQuantize).add(decomposeDequantize);
}
