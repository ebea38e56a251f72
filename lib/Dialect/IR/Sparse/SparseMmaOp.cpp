//===- SparseMmaOp.cpp - Verification of sparse_mma_scaled ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledProductRules.h"
#include "Sparse/SparseShapes.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

const GranularityInfo &SparseMmaScaledOp::getUnits() {
  return getGranularityInfo(getGranularity().getValue());
}

TypeCombination SparseMmaScaledOp::getTypes() {
  auto getElement = [](Value value) {
    return getElementTypeOrSelf(value.getType());
  };
  return {*getElementFormat(getElement(getX())),
          *getElementFormat(getElement(getY())),
          *getScaleFormat(getElement(getXScale())),
          static_cast<unsigned>(getBlock()), getUnits().granularity};
}

bool SparseMmaScaledOp::hasTensorSemantics() {
  return isa<TensorType>(getAcc().getType());
}

MutableOperandRange SparseMmaScaledOp::getDpsInitsMutable() {
  if (hasTensorSemantics())
    return getAccMutable();
  return MutableOperandRange(getOperation(), /*start=*/0, /*length=*/0);
}

void SparseMmaScaledOp::build(OpBuilder &builder, OperationState &state,
                              Value x, Value metadata, Value xScale, Value y,
                              Value yScale, Value acc, Granularity granularity,
                              int64_t blockSize) {
  build(builder, state, acc.getType(), x, metadata, xScale, y, yScale, acc,
        GranularityAttr::get(builder.getContext(), granularity),
        blockSize == 0 ? IntegerAttr() : builder.getI64IntegerAttr(blockSize),
        UnitAttr());
}

LogicalResult SparseMmaScaledOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!hasTensorSemantics())
    return failure();
  reifiedReturnShapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getAcc()));
  return success();
}

static ScaledProduct getProduct(SparseMmaScaledOp op) {
  return {{{{"x", op.getX()}, kUnitsPerChunk / kKeptUnits},
           {{"metadata", op.getMetadata()}, op.getUnits().elementsPerByte()}},
          {"x_scale", op.getXScale()},
          {"y", op.getY()},
          {"y_scale", op.getYScale()},
          {"acc", op.getAcc()},
          op.getBlockSizeAttr(),
          getLegalSparseBlockSizes};
}

int64_t SparseMmaScaledOp::getLogicalK() { return getProduct(*this).getK(); }

int64_t SparseMmaScaledOp::getBlock() { return getProduct(*this).getBlock(); }

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// (X11): else they would be unknown attributes, which mean nothing.
static LogicalResult verifyNoScaleBlocks(SparseMmaScaledOp op) {
  for (StringRef name : {"x_scale_block", "y_scale_block"})
    if (Attribute attr = op->getAttr(name))
      return op.emitOpError("expected no '")
             << name << "', since sparse products have no coarse scales, got "
             << attr;
  return success();
}

LogicalResult SparseMmaScaledOp::verify() {
  if (failed(verifyNoScaleBlocks(*this)))
    return failure();
  // Later checks rely on earlier ones: ranks before dimensions, and no size of
  // 0 before a division.
  ScaledProduct product = getProduct(*this);
  if (failed(verifySameKind(*this, product.getOperands())) ||
      failed(verifyRanks(*this, product)) ||
      failed(verifyNoZeroSize(*this, product.getOperands())) ||
      failed(verifySizes(*this, getSizeRelations(product))) ||
      failed(verifyBatch(*this, product)) ||
      failed(verifyScaleTypes(*this, product)))
    return failure();
  return verifyBlock(*this, product);
}

void SparseMmaScaledOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  if (hasStaticShapes(getOperation()))
    return; // Fields of metadata are checked where they are read.
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);
  checkScaledProduct(check, getProduct(*this));
}
