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

namespace {
/// The indices of a block along one dimension.
struct BlockSpan {
  unsigned dim;
  Value first, count;
};
} // namespace

static Value applyMap(OpBuilder &b, Location loc, AffineExpr expr,
                      ArrayRef<Value> values) {
  return getValueOrCreateConstantIndexOp(
      b, loc,
      affine::makeComposedFoldedAffineApply(b, loc, expr,
                                            getAsOpFoldResult(values)));
}

/// The block at `index`, of `block` elements of `size`, or of all.
static BlockSpan getBlockRange(OpBuilder &b, Location loc, unsigned dim,
                               Value index, OpFoldResult size, int64_t block,
                               bool mayEnd) {
  if (block == ScaleBlock::kAll)
    return {dim, arith::ConstantIndexOp::create(b, loc, 0),
            getValueOrCreateConstantIndexOp(b, loc, size)};
  Value first = applyMap(b, loc, b.getAffineDimExpr(0) * block, index);
  Value count = arith::ConstantIndexOp::create(b, loc, block);
  if (mayEnd)
    count = arith::MinSIOp::create(
        b, loc, count,
        arith::SubIOp::create(
            b, loc, getValueOrCreateConstantIndexOp(b, loc, size), first));
  return {dim, first, count};
}

/// The largest magnitude of the block at the current index of the loops.
static Value emitLargest(OpBuilder &b, Location loc, const OperandView &x,
                         ArrayRef<OpFoldResult> sizes, const ScaleBlock &block,
                         bool mayEnd) {
  unsigned rank = x.map.getNumDims();
  SmallVector<Value> position = getLoopIndices(b, loc, rank);
  SmallVector<BlockSpan> ranges;
  if (block.rows != 1)
    ranges.push_back(getBlockRange(b, loc, rank - 2, position[rank - 2],
                                   sizes[rank - 2], block.rows, mayEnd));
  ranges.push_back(getBlockRange(b, loc, rank - 1, position[rank - 1],
                                 sizes[rank - 1], block.k, mayEnd));
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  SmallVector<Value> starts(ranges.size(), zero), steps(ranges.size(), one);
  auto counts = llvm::map_to_vector(
      ranges, [](const BlockSpan &range) { return range.count; });
  scf::LoopNest nest = scf::buildLoopNest(
      b, loc, starts, counts, steps, none,
      [&](OpBuilder &inner, Location, ValueRange ivs, ValueRange args) {
        AffineExpr d0, d1;
        bindDims(inner.getContext(), d0, d1);
        for (auto [range, iv] : llvm::zip_equal(ranges, ivs))
          position[range.dim] =
              applyMap(inner, loc, d0 + d1, {range.first, iv});
        SmallVector<Value> at;
        for (AffineExpr expr : x.map.getResults())
          at.push_back(applyMap(inner, loc, expr, position));
        BlockArithmetic arithmetic(inner, loc);
        Value element = tensor::ExtractOp::create(inner, loc, x.tensor, at);
        Value magnitude = arithmetic.getMagnitude(arithmetic.toF32(element));
        return scf::ValueVector{arithmetic.getLargest(args.front(), magnitude)};
      });
  return nest.results.front();
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

namespace {
/// The arithmetic of one op: the scale of a block, from its largest magnitude,
/// and the quantized elements.
class ElementQuantizer {
public:
  ElementQuantizer(QuantizeOp op)
      : scaleType(getElementTypeOrSelf(op.getScales().getType())),
        elementType(getElementTypeOrSelf(op.getElements().getType())),
        tensorScale(op.getTensorScale()), loc(op.getLoc()) {
    format.element = op.getElementFormat();
    format.rule = op.getScaleRule();
    format.type = elementType;
    if (!scaleType.isF32())
      format.scale = op.getScaleFormat();
  }

  Value emitScale(OpBuilder &b, Value largest) const {
    BlockArithmetic arithmetic(b, loc);
    if (scaleType.isF32())
      return arithmetic.emitF32Scale(format.element, format.rule, largest);
    return toElement(b, loc, arithmetic.emitScale(format, largest, tensorScale),
                     scaleType);
  }

  Value emitElement(OpBuilder &b, Value value, Value scale) const {
    BlockArithmetic arithmetic(b, loc);
    Value code;
    if (scaleType.isF32()) {
      code = arithmetic.emitF32Code(format.element, arithmetic.toF32(value),
                                    scale);
    } else {
      BlockFactor factor =
          arithmetic.emitFactor(format, toCode(b, loc, scale), tensorScale);
      code = arithmetic.emitCode(format, arithmetic.toF32(value), factor);
    }
    return toElement(b, loc, code, elementType);
  }

  const Type scaleType, elementType;

private:
  BlockFormat format = {};
  Value tensorScale;
  Location loc;
};
} // namespace

static LogicalResult decomposeQuantize(QuantizeOp op,
                                       PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  MLIRContext *context = rewriter.getContext();
  OperandView x = getOperandView(rewriter, loc, op.getX());
  SmallVector<OpFoldResult> sizes =
      getOperandSizes(rewriter, loc, op.getX(), x);
  auto rank = static_cast<unsigned>(sizes.size());
  ScaleBlock block = op.getBlockShape();
  SmallVector<OpFoldResult> scaleSizes =
      op.hasCoarseScales() ? getCoarseScaleSizes(rewriter, loc, sizes, block)
                           : getScaleSizes(rewriter, loc, sizes, block.k);

  bool mayEnd = op.getPad() || op.hasCoarseScales();
  Value largest =
      generate(rewriter, loc, scaleSizes, rewriter.getI32Type(), {}, {},
               [&](OpBuilder &b, ValueRange) {
                 return emitLargest(b, loc, x, sizes, block, mayEnd);
               });
  ElementQuantizer quantizer(op);
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  Value scales =
      generate(rewriter, loc, scaleSizes, quantizer.scaleType, largest,
               identity, [&](OpBuilder &b, ValueRange args) {
                 return quantizer.emitScale(b, args[0]);
               });
  AffineMap blocks = getScaleBlockMap(context, rank, block);
  Value elements =
      generate(rewriter, loc, sizes, quantizer.elementType, {x.tensor, scales},
               {x.map, blocks}, [&](OpBuilder &b, ValueRange args) {
                 return quantizer.emitElement(b, args[0], args[1]);
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
  AffineMap blocks = scales.map.compose(getScaleBlockMap(
      rewriter.getContext(), sizes.size(), op.getBlockShape()));
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
        Value scale = args[1];
        if (!scale.getType().isF32())
          scale =
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
