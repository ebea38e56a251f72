//===- GroupedOps.cpp - Products of groups of rows ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grouped/GroupedRules.h"
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
          getLegalBlockSizes};
}

TypeCombination GroupedMmaScaledOp::getTypes() {
  return {*getElementFormat(getElementTypeOrSelf(getX())),
          *getElementFormat(getElementTypeOrSelf(getY())),
          *getScaleFormat(getElementTypeOrSelf(getXScale())),
          static_cast<unsigned>(getBlock())};
}

int64_t GroupedMmaScaledOp::getBlock() { return getScaled(*this).getBlock(); }

LogicalResult GroupedMmaScaledOp::verify() {
  ScaledProduct product = getScaled(*this);
  if (failed(verifyGrouped(*this, GroupedProduct(*this))) ||
      failed(verifyScaleTypes(*this, product)))
    return failure();
  return verifyBlock(*this, product);
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
