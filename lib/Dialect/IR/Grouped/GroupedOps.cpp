//===- GroupedOps.cpp - Products of groups of rows ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grouped/GroupedRules.h"
#include "ScaleBlockRules.h"
#include "ScaledProductRules.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// grouped_mma_scaled
//===----------------------------------------------------------------------===//

/// Its types and blocks are those of mma_scaled.
static ScaledProduct getScaled(GroupedMmaScaledOp op) {
  return {{{{"x", op.getX()}}}, {"x_scale", op.getXScale()},
          {"y", op.getY()},     {"y_scale", op.getYScale()},
          {"acc", op.getAcc()}, op.getBlockSizeAttr(),
          getLegalBlockSizes,   op.hasCoarseScales()};
}

using Side = MmaScaledOp::Side;

static CoarseOperand getCoarseOperand(GroupedMmaScaledOp op, Side side) {
  return makeCoarseOperand(op, side, /*rowsOfX=*/"R", /*startsAnywhere=*/true);
}

ShapedType GroupedMmaScaledOp::getMatrixType(Side side) {
  return cast<ShapedType>((side == Side::X ? getX() : getY()).getType());
}

ShapedType GroupedMmaScaledOp::getScaleType(Side side) {
  return cast<ShapedType>(
      (side == Side::X ? getXScale() : getYScale()).getType());
}

bool GroupedMmaScaledOp::hasCoarseScales() { return areScalesCoarse(*this); }

ScaleBlock GroupedMmaScaledOp::getBlockShape(Side side) {
  if (hasCoarseScales())
    return blockscale::getScaleBlock(getCoarseOperand(*this, side));
  return {/*rows=*/1, getBlock()};
}

TypeCombination GroupedMmaScaledOp::getTypes() {
  Format x = *getElementFormat(getElementTypeOrSelf(getX())),
         y = *getElementFormat(getElementTypeOrSelf(getY()));
  // No instruction computes coarse scales.
  if (hasCoarseScales())
    return {x, y, Format::None, /*blockSize=*/0};
  return {x, y, *getScaleFormat(getElementTypeOrSelf(getXScale())),
          static_cast<unsigned>(getBlock())};
}

int64_t GroupedMmaScaledOp::getBlock() { return getScaled(*this).getBlock(); }

LogicalResult GroupedMmaScaledOp::verify() {
  ScaledProduct product = getScaled(*this);
  if (failed(verifyGrouped(*this, GroupedProduct(*this))))
    return failure();
  if (product.hasCoarseScales)
    return verifyCoarseScales(*this, getBlockSizeAttr(),
                              getCoarseOperand(*this, Side::X),
                              getCoarseOperand(*this, Side::Y));
  if (failed(verifyScaleTypes(*this, product)))
    return failure();
  return verifyBlock(*this, product);
}

/// Blocks that block-scaled instructions have, as `block_size`.
static LogicalResult canonicalizeScaleBlocks(GroupedMmaScaledOp op,
                                             PatternRewriter &rewriter) {
  return replaceScaleBlocks(rewriter, op, getCoarseOperand);
}

void GroupedMmaScaledOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(canonicalizeScaleBlocks);
}

LogicalResult GroupedMmaScaledOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  reifiedReturnShapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getAcc()));
  return success();
}

void GroupedMmaScaledOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  checkGrouped(builder, loc, *this, generateErrorMessage,
               GroupedProduct(*this));
  SizeChecker check(builder, loc, *this, generateErrorMessage);
  if (hasCoarseScales()) {
    for (Side side : {Side::X, Side::Y})
      checkScaleBlock(check, getCoarseOperand(*this, side));
    return;
  }
  if (!isDynamic(getX(), 1) && !isDynamic(getXScale(), 1))
    return;
  Value k = check.getSize(getX(), 1), blocks = check.getSize(getXScale(), 1);
  check.expect(check.isEqual(check.multiply(blocks, getBlock()), k),
               "K to be K_s times the block size, " + Twine(getBlock()));
}

//===----------------------------------------------------------------------===//
// grouped_matmul
//===----------------------------------------------------------------------===//

TypeCombination GroupedMatmulOp::getTypes() {
  auto getFormat = [](Value value) {
    return *getHighPrecisionFormat(getElementTypeOrSelf(value));
  };
  return {getFormat(getX()), getFormat(getY()), Format::None, 1};
}

LogicalResult GroupedMatmulOp::verify() {
  if (failed(verifyGrouped(*this, GroupedProduct(*this))))
    return failure();
  Type x = getElementTypeOrSelf(getX().getType());
  Type y = getElementTypeOrSelf(getY().getType());
  if (x == y)
    return success();
  return emitOpError("expected x and y to have one element type, got ")
         << x << " and " << y;
}

LogicalResult GroupedMatmulOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  reifiedReturnShapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getAcc()));
  return success();
}

void GroupedMatmulOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  checkGrouped(builder, loc, *this, generateErrorMessage,
               GroupedProduct(*this));
}
