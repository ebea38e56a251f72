//===- MmaScaledOp.cpp - Verification of mma_scaled -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaleBlockRules.h"
#include "ScaledProductRules.h"
#include "blockscale/Support/InstructionTable.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

ShapedType MmaScaledOp::getMatrixType(Side side) {
  return cast<ShapedType>((side == Side::X ? getX() : getY()).getType());
}

ShapedType MmaScaledOp::getScaleType(Side side) {
  return cast<ShapedType>(
      (side == Side::X ? getXScale() : getYScale()).getType());
}

unsigned MmaScaledOp::getRowDim(Side side, unsigned rank) {
  return side == Side::X ? rank - 2 : rank - 1;
}

unsigned MmaScaledOp::getKDim(Side side, unsigned rank) {
  return side == Side::X ? rank - 1 : rank - 2;
}

bool MmaScaledOp::hasTensorSemantics() {
  return isa<TensorType>(getAcc().getType());
}

MutableOperandRange MmaScaledOp::getDpsInitsMutable() {
  if (hasTensorSemantics())
    return getAccMutable();
  return MutableOperandRange(getOperation(), /*start=*/0, /*length=*/0);
}

static ScaledProduct getProduct(MmaScaledOp op) {
  return {{{{"x", op.getX()}}}, {"x_scale", op.getXScale()},
          {"y", op.getY()},     {"y_scale", op.getYScale()},
          {"acc", op.getAcc()}, op.getBlockSizeAttr(),
          getLegalBlockSizes,   op.hasCoarseScales()};
}

static CoarseOperand getCoarseOperand(MmaScaledOp op, MmaScaledOp::Side side) {
  return makeCoarseOperand(op, side, /*rowsOfX=*/"M",
                           /*startsAnywhere=*/false);
}

bool MmaScaledOp::hasCoarseScales() { return areScalesCoarse(*this); }

ScaleBlock MmaScaledOp::getBlockShape(Side side) {
  if (hasCoarseScales())
    return blockscale::getScaleBlock(getCoarseOperand(*this, side));
  return {/*rows=*/1, getBlock()};
}

int64_t MmaScaledOp::getBlock() { return getProduct(*this).getBlock(); }

TypeCombination MmaScaledOp::getTypes() {
  // No instruction computes coarse scales.
  if (hasCoarseScales())
    return {*getElementFormat(getMatrixType(Side::X).getElementType()),
            *getElementFormat(getMatrixType(Side::Y).getElementType()),
            Format::None, /*blockSize=*/0};
  return {*getElementFormat(getMatrixType(Side::X).getElementType()),
          *getElementFormat(getMatrixType(Side::Y).getElementType()),
          *getScaleFormat(getScaleType(Side::X).getElementType()),
          static_cast<unsigned>(getBlock())};
}

/// Ops with dynamic sizes may fail at run time, so they stay where they are.
Speculation::Speculatability MmaScaledOp::getSpeculatability() {
  return hasStaticShapes(getOperation()) ? Speculation::Speculatable
                                         : Speculation::NotSpeculatable;
}

LogicalResult MmaScaledOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!hasTensorSemantics())
    return failure();
  reifiedReturnShapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getAcc()));
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

ArrayRef<NamedTile> MmaScaledOp::getTileOperands() {
  static constexpr NamedTile tiles[] = {{"x", TileType::Matrix},
                                        {"x_scale", TileType::ProductScales},
                                        {"y", TileType::Matrix},
                                        {"y_scale", TileType::ProductScales},
                                        {"acc", TileType::Accumulator}};
  return tiles;
}

NamedTile MmaScaledOp::getTileResult() {
  return {"the result", TileType::Accumulator};
}

static LogicalResult verifyC7Positive(MmaScaledOp op,
                                      const ScaledProduct &product) {
  for (const NamedShape &operand : product.getOperands())
    for (auto [dim, size] : llvm::enumerate(operand.type().getShape()))
      if (size == 0)
        return op.emitOpError("expected all sizes to be at least 1, got 0 in "
                              "dimension ")
               << dim << " of " << operand.name << " (" << operand.type()
               << ")";
  return success();
}

LogicalResult MmaScaledOp::verify() {
  // Later checks rely on earlier ones: ranks before dimensions, and no size of
  // 0 before a division.
  ScaledProduct product = getProduct(*this);
  if (failed(verifySameKind(*this, product.getOperands(), "all operands")) ||
      failed(verifyRanks(*this, product)) ||
      failed(verifyC7Positive(*this, product)) ||
      failed(verifySizes(*this, getSizeRelations(product))) ||
      failed(verifyBatch(*this, product)))
    return failure();
  if (product.hasCoarseScales)
    return verifyCoarseScales(*this, getBlockSizeAttr(),
                              getCoarseOperand(*this, Side::X),
                              getCoarseOperand(*this, Side::Y));
  if (failed(verifyScaleTypes(*this, product)))
    return failure();
  return verifyBlock(*this, product);
}

void MmaScaledOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  if (hasStaticShapes(getOperation()))
    return; // All sizes are static and have been verified.
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);
  checkScaledProduct(check, getProduct(*this));
  if (hasCoarseScales())
    for (Side side : {Side::X, Side::Y})
      checkScaleBlock(check, getCoarseOperand(*this, side));
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

/// Blocks that block-scaled instructions have, as `block_size`.
static LogicalResult canonicalizeScaleBlocks(MmaScaledOp op,
                                             PatternRewriter &rewriter) {
  return replaceScaleBlocks(rewriter, op, getCoarseOperand);
}

void MmaScaledOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *) {
  patterns.add(canonicalizeScaleBlocks);
}
