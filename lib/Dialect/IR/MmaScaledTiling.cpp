//===- MmaScaledTiling.cpp - Tiling of mma_scaled -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration domain is ([batch,] M, N, K). K is in elements, and is a
// reduction into the accumulator.
//
//===----------------------------------------------------------------------===//

#include "ScaleBlockRules.h"
#include "Tiling.h"
#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

SmallVector<utils::IteratorType> MmaScaledOp::getLoopIteratorTypes() {
  return getProductLoops(getAcc());
}

/// The size of K: static if x or y has it static.
static OpFoldResult getK(OpBuilder &builder, MmaScaledOp op) {
  for (Side side : {Side::X, Side::Y}) {
    ShapedType type = op.getMatrixType(side);
    unsigned dim = MmaScaledOp::getKDim(side, type.getRank());
    if (!type.isDynamicDim(dim))
      return builder.getIndexAttr(type.getDimSize(dim));
  }
  unsigned rank = op.getMatrixType(Side::X).getRank();
  return tensor::getMixedSize(builder, op.getLoc(), op.getX(),
                              MmaScaledOp::getKDim(Side::X, rank));
}

SmallVector<Range> MmaScaledOp::getIterationDomain(OpBuilder &builder) {
  SmallVector<OpFoldResult> sizes = getSizes(builder, getLoc(), getAcc());
  sizes.push_back(getK(builder, *this));
  return getDomain(builder, sizes);
}

/// Describes a size or offset along K that may not be a multiple of the block:
/// a constant, or the size of the last tile of a loop.
static std::string describeUnknownMultiple(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return std::to_string(*constant);
  if (auto min = cast<Value>(value).getDefiningOp<affine::AffineMinOp>())
    for (AffineExpr result : min.getMap().getResults())
      if (auto constant = dyn_cast<AffineConstantExpr>(result))
        return std::to_string(constant.getValue()) +
               ", or what the last tile has left";
  return "one that is not known to be";
}

/// Whether `size` is K of `op`, as a size of x or y.
static bool isOwnK(Value size, MmaScaledOp op) {
  auto isKOf = [&](Side side, Value matrix) {
    return isSizeOf(
        size, matrix,
        MmaScaledOp::getKDim(side, op.getMatrixType(side).getRank()));
  };
  return isKOf(Side::X, op.getX()) || isKOf(Side::Y, op.getY());
}

/// Whether `value` is known to be a multiple of `block`, of which K of `op` is
/// a multiple. Follows affine arithmetic, loops (bounds and steps) and
/// constants.
static bool isKnownBlockMultiple(OpFoldResult value, int64_t block,
                                 MmaScaledOp op) {
  return isKnownMultiple(value, block, [&](Value size, int64_t divisor) {
    return block % divisor == 0 && isOwnK(size, op);
  });
}

/// The licence of a tile that starts at `offset` along K; null without one.
static AccumulateAttr getAccumulateOfTile(MmaScaledOp op, OpFoldResult offset) {
  AccumulateAttr attr = op.getAccumulateAttr();
  return attr ? attr.getOfTile(offset) : attr;
}

/// The tile of an op with coarse scales: blocks stay what they are.
static FailureOr<TilingResult> tileCoarse(OpBuilder &builder, MmaScaledOp op,
                                          Sizes offsets, Sizes sizes) {
  Location loc = op.getLoc();
  ProductTile tile(builder, loc, op.getAcc(), offsets, sizes);
  TileRange k = {offsets.back(), sizes.back()};
  size_t m = offsets.size() - 3;
  auto slice = [&](Side side, Value scales) -> Value {
    bool isX = side == Side::X;
    TileRange rows = {offsets[isX ? m : m + 1], sizes[isX ? m : m + 1]};
    std::optional<ScaleRanges> ranges =
        getScaleRanges(builder, op, isX, scales, op.getBlockShape(side), rows,
                       k, isX ? "M" : "N");
    if (!ranges)
      return {};
    return tile.sliceScales(scales, /*isKLast=*/isX, ranges->rows, ranges->k);
  };
  Value xScale = slice(Side::X, op.getXScale());
  Value yScale = xScale ? slice(Side::Y, op.getYScale()) : Value();
  if (!yScale)
    return failure();
  SmallVector<Value> operands = {
      tile.sliceRows(op.getX(), /*perElement=*/1), xScale,
      tile.sliceColumns(op.getY(), /*perElement=*/1), yScale, tile.sliceAcc()};
  SmallVector<Operation *> slices = getSlices(operands);
  MLIRContext *context = builder.getContext();
  auto tiled = MmaScaledOp::create(
      builder, loc, operands[4].getType(), operands[0], operands[1],
      operands[2], operands[3], operands[4], IntegerAttr(),
      ScaleBlockAttr::get(context, op.getBlockShape(Side::X)),
      ScaleBlockAttr::get(context, op.getBlockShape(Side::Y)),
      getAccumulateOfTile(op, offsets.back()));
  tiled->setDiscardableAttrs(
      llvm::to_vector(op.getOperation()->getDiscardableAttrs()));
  return TilingResult{{tiled}, {tiled.getResult()}, slices};
}

FailureOr<TilingResult> MmaScaledOp::getTiledImplementation(OpBuilder &builder,
                                                            Sizes offsets,
                                                            Sizes sizes) {
  if (failed(verifyTensors(*this, hasTensorSemantics())))
    return failure();
  int64_t whole = getWholeBlock(*this);
  struct {
    StringRef name;
    OpFoldResult value;
  } rows[] = {{"size", sizes.back()}, {"offset", offsets.back()}};
  for (auto &row : rows) {
    if (isKnownBlockMultiple(row.value, whole, *this))
      continue;
    InFlightDiagnostic error =
        emitOpError("expected the ")
        << row.name << " of a tile along K to be a multiple of the block size, "
        << whole << ", got ";
    return error << describeUnknownMultiple(row.value);
  }
  if (hasCoarseScales())
    return tileCoarse(builder, *this, offsets, sizes);

  ProductTile tile(builder, getLoc(), getAcc(), offsets, sizes);
  SmallVector<Value> operands = {tile.sliceRows(getX(), /*perElement=*/1),
                                 tile.sliceRows(getXScale(), getBlock()),
                                 tile.sliceColumns(getY(), /*perElement=*/1),
                                 tile.sliceColumns(getYScale(), getBlock()),
                                 tile.sliceAcc()};
  SmallVector<Operation *> slices = getSlices(operands);
  // Tiles may have dynamic sizes, so the block size is always given.
  auto tiled = MmaScaledOp::create(builder, getLoc(), operands[0], operands[1],
                                   operands[2], operands[3], operands[4],
                                   builder.getI64IntegerAttr(getBlock()));
  tiled.setAccumulateAttr(getAccumulateOfTile(*this, offsets.back()));
  tiled->setDiscardableAttrs(
      llvm::to_vector(getOperation()->getDiscardableAttrs()));
  return TilingResult{{tiled}, {tiled.getResult()}, slices};
}

LogicalResult
MmaScaledOp::getResultTilePosition(OpBuilder &, unsigned, Sizes offsets,
                                   Sizes sizes,
                                   SmallVector<OpFoldResult> &resultOffsets,
                                   SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), std::prev(offsets.end()));
  resultSizes.assign(sizes.begin(), std::prev(sizes.end()));
  return success();
}

LogicalResult MmaScaledOp::getIterationDomainTileFromResultTile(
    OpBuilder &builder, unsigned, Sizes offsets, Sizes sizes,
    SmallVectorImpl<OpFoldResult> &iterDomainOffsets,
    SmallVectorImpl<OpFoldResult> &iterDomainSizes) {
  if (!hasTensorSemantics())
    return failure();
  iterDomainOffsets.assign(offsets.begin(), offsets.end());
  iterDomainOffsets.push_back(builder.getIndexAttr(0));
  iterDomainSizes.assign(sizes.begin(), sizes.end());
  iterDomainSizes.push_back(getK(builder, *this));
  return success();
}

FailureOr<TilingResult>
MmaScaledOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                     Sizes offsets, Sizes sizes) {
  return generateTile(builder, *this, resultNumber, offsets, sizes);
}
