//===- DecomposeAtoms.cpp - Layouts in atoms as loops ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts of scales (32x4x4) and of metadata as gathers, so that no size is
// a special case.
//
//===----------------------------------------------------------------------===//

#include "Utils/ArithEmitter.h"
#include "Utils/MetadataLayout.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "blockscale/Dialect/Transforms/Reference/Sparse.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The byte of `source`, of `sizes`, that `toRowMajor` has for the current
/// position of the loops, or `padding`.
static Value emitByte(OpBuilder &b, Location loc, const OperandView &source,
                      ArrayRef<OpFoldResult> sizes, AffineMap toRowMajor,
                      uint8_t padding) {
  unsigned rank = sizes.size();
  auto apply = [&](AffineExpr expr, ArrayRef<Value> operands) {
    return getValueOrCreateConstantIndexOp(
        b, loc,
        affine::makeComposedFoldedAffineApply(b, loc, expr,
                                              getAsOpFoldResult(operands)));
  };
  SmallVector<Value> position = getLoopIndices(b, loc, rank + 2);

  // Padding loads an arbitrary existing byte, and drops it.
  ArithEmitter emit(b, loc);
  SmallVector<Value> logical;
  Value isInside = emit.flag(true);
  for (unsigned dim = 0; dim != rank; ++dim) {
    Value index = apply(toRowMajor.getResult(dim), position);
    if (dim + 2 >= rank) {
      Value size = getValueOrCreateConstantIndexOp(b, loc, sizes[dim]);
      Value below = emit.is(ArithEmitter::IP::ult, index, size);
      isInside = emit.bitAnd(isInside, below);
      index = emit.select(below, index, emit.index(0));
    }
    logical.push_back(index);
  }
  SmallVector<Value> physical;
  for (AffineExpr expr : source.map.getResults())
    physical.push_back(apply(expr, logical));
  Value byte = tensor::ExtractOp::create(b, loc, source.tensor, physical);

  // Not a float constant: e8m0 has no zero, and its byte 0x00 is 2^-127.
  Value code = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(padding));
  return emit.select(
      isInside, byte,
      b.createOrFold<arith::BitcastOp>(loc, byte.getType(), code));
}

/// Every byte of the result looks up its source, or is `padding`.
template <typename Op>
static LogicalResult decomposeToAtoms(Op op, PatternRewriter &rewriter,
                                      decltype(getUnswizzleMap) getMap,
                                      decltype(getSwizzledSizes) getSizes,
                                      uint8_t padding) {
  Location loc = op.getLoc();
  auto type = cast<ShapedType>(op.getSource().getType());
  AffineMap toRowMajor = getMap(rewriter.getContext(), type.getRank());
  OperandView source = getOperandView(rewriter, loc, op.getSource());
  SmallVector<OpFoldResult> sizes =
      getOperandSizes(rewriter, loc, op.getSource(), source);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, getSizes(rewriter, loc, sizes), type.getElementType());
  Value result = computeElements(
      rewriter, loc, {}, {}, empty,
      [&](OpBuilder &b, Location bodyLoc, ValueRange) {
        return emitByte(b, bodyLoc, source, sizes, toRowMajor, padding);
      });
  rewriter.replaceOp(op,
                     convertFromTensor(rewriter, loc, result, op.getType()));
  return success();
}

/// Every byte of the result looks up its place; no padding is read.
template <typename Op>
static LogicalResult decomposeFromAtoms(Op op, PatternRewriter &rewriter,
                                        decltype(getSwizzleMap) getMap) {
  Location loc = op.getLoc();
  auto type = cast<ShapedType>(op.getType());
  OperandView source = getOperandView(rewriter, loc, op.getSource());
  AffineMap map =
      source.map.compose(getMap(rewriter.getContext(), type.getRank()));
  Value empty = tensor::EmptyOp::create(rewriter, loc, op.getMixedSizes(),
                                        type.getElementType());
  Value result = computeElements(
      rewriter, loc, source.tensor, map, empty,
      [](OpBuilder &, Location, ValueRange args) { return args[0]; });
  rewriter.replaceOp(op,
                     convertFromTensor(rewriter, loc, result, op.getType()));
  return success();
}

static LogicalResult decomposeSwizzle(SwizzleScalesOp op,
                                      PatternRewriter &rewriter) {
  return decomposeToAtoms(op, rewriter, getUnswizzleMap, getSwizzledSizes,
                          /*padding=*/0);
}

static LogicalResult decomposeUnswizzle(UnswizzleScalesOp op,
                                        PatternRewriter &rewriter) {
  return decomposeFromAtoms(op, rewriter, getSwizzleMap);
}

static LogicalResult decomposeTile(TileMetadataOp op,
                                   PatternRewriter &rewriter) {
  return decomposeToAtoms(op, rewriter, getUntileMetadataMap,
                          getTiledMetadataSizes, kPaddingMetadata);
}

static LogicalResult decomposeUntile(UntileMetadataOp op,
                                     PatternRewriter &rewriter) {
  return decomposeFromAtoms(op, rewriter, getTileMetadataMap);
}

void blockscale::populateDecomposeSwizzlePatterns(RewritePatternSet &patterns) {
  patterns.add(decomposeSwizzle).add(decomposeUnswizzle);
}

void blockscale::populateDecomposeMetadataPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decomposeTile).add(decomposeUntile);
}
