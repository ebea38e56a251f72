//===- DecomposeSwizzle.cpp - Swizzles as loops ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The 32x4x4 layout as a gather, so that no size is a special case.
//
//===----------------------------------------------------------------------===//

#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

static Value applyExpr(OpBuilder &builder, Location loc, AffineExpr expr,
                       ArrayRef<Value> operands) {
  return getValueOrCreateConstantIndexOp(
      builder, loc,
      affine::makeComposedFoldedAffineApply(builder, loc, expr,
                                            getAsOpFoldResult(operands)));
}

/// The scale at the current index of the loops, or 0x00 in the padding.
static Value emitByte(OpBuilder &b, Location loc, const OperandView &source,
                      ArrayRef<OpFoldResult> sizes, ShapedType type) {
  unsigned rank = sizes.size();
  SmallVector<Value> position = getLoopIndices(b, loc, rank + 2);

  // Padding loads an arbitrary existing scale, and drops it.
  AffineMap unswizzle = getUnswizzleMap(b.getContext(), rank);
  SmallVector<Value> logical;
  Value isInside = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  for (unsigned dim = 0; dim != rank; ++dim) {
    Value index = applyExpr(b, loc, unswizzle.getResult(dim), position);
    if (dim + 2 >= rank) {
      Value size = getValueOrCreateConstantIndexOp(b, loc, sizes[dim]);
      Value below =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, size);
      isInside = arith::AndIOp::create(b, loc, isInside, below);
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      index = arith::SelectOp::create(b, loc, below, index, zero);
    }
    logical.push_back(index);
  }
  SmallVector<Value> physical;
  for (AffineExpr expr : source.map.getResults())
    physical.push_back(applyExpr(b, loc, expr, logical));
  Value scale = tensor::ExtractOp::create(b, loc, source.tensor, physical);

  // Not a float constant: e8m0 has no zero, and its byte 0x00 is 2^-127.
  Value zeroCode = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
  Value padding =
      arith::BitcastOp::create(b, loc, type.getElementType(), zeroCode);
  return arith::SelectOp::create(b, loc, isInside, scale, padding);
}

/// Every byte of the result looks up its scale, or is padding.
static LogicalResult decomposeSwizzle(SwizzleScalesOp op,
                                      PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  auto type = cast<ShapedType>(op.getSource().getType());
  OperandView source = getOperandView(rewriter, loc, op.getSource());
  // The sizes of the scales, which may differ from those of the viewed
  // tensor.
  SmallVector<OpFoldResult> scaleSizes =
      isa<TensorType>(type)
          ? tensor::getMixedSizes(rewriter, loc, op.getSource())
          : getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());

  SmallVector<OpFoldResult> resultSizes =
      getSwizzledSizes(rewriter, loc, scaleSizes);
  Value empty = tensor::EmptyOp::create(rewriter, loc, resultSizes,
                                        type.getElementType());
  Value result =
      computeElements(rewriter, loc, {}, {}, empty,
                      [&](OpBuilder &b, Location bodyLoc, ValueRange) {
                        return emitByte(b, bodyLoc, source, scaleSizes, type);
                      });
  rewriter.replaceOp(op,
                     convertFromTensor(rewriter, loc, result, op.getType()));
  return success();
}

/// Every scale looks up its byte; no padding is read.
static LogicalResult decomposeUnswizzle(UnswizzleScalesOp op,
                                        PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  auto type = cast<ShapedType>(op.getType());
  OperandView source = getOperandView(rewriter, loc, op.getSource());
  AffineMap map =
      source.map.compose(getSwizzleMap(rewriter.getContext(), type.getRank()));
  Value empty = tensor::EmptyOp::create(rewriter, loc, op.getMixedSizes(),
                                        type.getElementType());
  Value result = computeElements(
      rewriter, loc, source.tensor, map, empty,
      [](OpBuilder &, Location, ValueRange args) { return args[0]; });
  rewriter.replaceOp(op,
                     convertFromTensor(rewriter, loc, result, op.getType()));
  return success();
}

void blockscale::populateDecomposeSwizzlePatterns(RewritePatternSet &patterns) {
  patterns.add(decomposeSwizzle).add(decomposeUnswizzle);
}
