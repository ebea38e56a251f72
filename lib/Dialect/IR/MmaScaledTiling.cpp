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

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

SmallVector<utils::IteratorType> MmaScaledOp::getLoopIteratorTypes() {
  SmallVector<utils::IteratorType> types(
      cast<ShapedType>(getAcc().getType()).getRank(),
      utils::IteratorType::parallel);
  types.push_back(utils::IteratorType::reduction);
  return types;
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
  SmallVector<OpFoldResult> sizes =
      hasTensorSemantics()
          ? tensor::getMixedSizes(builder, getLoc(), getAcc())
          : getAsIndexOpFoldResult(
                getContext(), cast<ShapedType>(getAcc().getType()).getShape());
  sizes.push_back(getK(builder, *this));
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) {
    return Range{builder.getIndexAttr(0), size, builder.getIndexAttr(1)};
  });
}

namespace {
/// A tile of the iteration domain, and the slices of operands that it needs.
class Tile {
public:
  Tile(OpBuilder &builder, MmaScaledOp op, ArrayRef<OpFoldResult> offsets,
       ArrayRef<OpFoldResult> sizes)
      : builder(builder), op(op), offsets(offsets), sizes(sizes),
        rank(cast<ShapedType>(op.getAcc().getType()).getRank()) {}

  /// The slice of x or y, or (with `perBlock`) of its scales.
  Value slice(Side side, Value source, bool perBlock) {
    unsigned sourceRank = cast<ShapedType>(source.getType()).getRank();
    SmallVector<OpFoldResult> sourceOffsets(sourceRank);
    SmallVector<OpFoldResult> sourceSizes(sourceRank);
    if (sourceRank == 3)
      std::tie(sourceOffsets[0], sourceSizes[0]) = getBatch(source);

    unsigned rowDim = MmaScaledOp::getRowDim(side, sourceRank);
    unsigned domainRow = MmaScaledOp::getRowDim(side, rank);
    sourceOffsets[rowDim] = offsets[domainRow];
    sourceSizes[rowDim] = sizes[domainRow];

    unsigned kDim = MmaScaledOp::getKDim(side, sourceRank);
    sourceOffsets[kDim] = perBlock ? toBlocks(offsets.back()) : offsets.back();
    sourceSizes[kDim] = perBlock ? toBlocks(sizes.back()) : sizes.back();
    return extract(source, sourceOffsets, sourceSizes);
  }

  Value sliceAcc() {
    return extract(op.getAcc(), offsets.drop_back(), sizes.drop_back());
  }

private:
  /// A batch of 1 is broadcast: every tile reads all of it. If it is not known
  /// whether the batch is 1 or that of the result, one formula works for both,
  /// because an offset is below the batch and a size is at most the batch.
  std::pair<OpFoldResult, OpFoldResult> getBatch(Value source) {
    int64_t batch = cast<ShapedType>(source.getType()).getDimSize(0);
    if (batch == 1)
      return {builder.getIndexAttr(0), builder.getIndexAttr(1)};
    if (!ShapedType::isDynamic(batch))
      return {offsets[0], sizes[0]};
    OpFoldResult size = tensor::getMixedSize(builder, op.getLoc(), source, 0);
    AffineExpr d0, d1;
    bindDims(builder.getContext(), d0, d1);
    auto min = [&](AffineExpr other, OpFoldResult value) {
      return affine::makeComposedFoldedAffineMin(
          builder, op.getLoc(),
          AffineMap::get(2, 0, {d0, other}, builder.getContext()),
          {value, size});
    };
    return {min(d1 - 1, offsets[0]), min(d1, sizes[0])};
  }

  OpFoldResult toBlocks(OpFoldResult elements) {
    AffineExpr d0 = builder.getAffineDimExpr(0);
    return affine::makeComposedFoldedAffineApply(
        builder, op.getLoc(), d0.floorDiv(op.getBlock()), {elements});
  }

  Value extract(Value source, ArrayRef<OpFoldResult> sourceOffsets,
                ArrayRef<OpFoldResult> sourceSizes) {
    SmallVector<OpFoldResult> strides(sourceOffsets.size(),
                                      builder.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(builder, op.getLoc(), source,
                                          sourceOffsets, sourceSizes, strides);
  }

  OpBuilder &builder;
  MmaScaledOp op;
  ArrayRef<OpFoldResult> offsets;
  ArrayRef<OpFoldResult> sizes;
  unsigned rank;
};
} // namespace

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

/// Whether `dim` is K of `op`, as a size of x or y.
static bool isOwnK(tensor::DimOp dim, MmaScaledOp op) {
  std::optional<int64_t> index = dim.getConstantIndex();
  auto isKOf = [&](Side side, Value matrix) {
    return dim.getSource() == matrix && index &&
           *index ==
               MmaScaledOp::getKDim(side, op.getMatrixType(side).getRank());
  };
  return isKOf(Side::X, op.getX()) || isKOf(Side::Y, op.getY());
}

/// Whether `value` is known to be a multiple of the block size of `op`. Follows
/// affine arithmetic, loops (bounds and steps) and constants, and assumes (C9)
/// of `op`: its K is a multiple.
static bool isKnownBlockMultiple(OpFoldResult value, MmaScaledOp op) {
  return isKnownMultiple(
      value, op.getBlock(), [&](Value size, int64_t divisor) {
        auto dim = size.getDefiningOp<tensor::DimOp>();
        return dim && op.getBlock() % divisor == 0 && isOwnK(dim, op);
      });
}

FailureOr<TilingResult>
MmaScaledOp::getTiledImplementation(OpBuilder &builder,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  // Vectors have a domain, as the interface requires, but cannot be sliced.
  if (!hasTensorSemantics())
    return emitOpError("expected tensors to tile, got vectors");
  struct {
    StringRef name;
    OpFoldResult value;
  } rows[] = {{"size", sizes.back()}, {"offset", offsets.back()}};
  for (auto &row : rows) {
    if (isKnownBlockMultiple(row.value, *this))
      continue;
    InFlightDiagnostic error =
        emitOpError("expected the ")
        << row.name << " of a tile along K to be a multiple of the block size, "
        << getBlock() << ", got ";
    return error << describeUnknownMultiple(row.value);
  }

  Tile tile(builder, *this, offsets, sizes);
  SmallVector<Value> operands = {
      tile.slice(Side::X, getX(), /*perBlock=*/false),
      tile.slice(Side::X, getXScale(), /*perBlock=*/true),
      tile.slice(Side::Y, getY(), /*perBlock=*/false),
      tile.slice(Side::Y, getYScale(), /*perBlock=*/true), tile.sliceAcc()};
  SmallVector<Operation *> slices = llvm::map_to_vector(
      operands, [](Value slice) { return slice.getDefiningOp(); });
  // Tiles may have dynamic sizes, so the block size is always given.
  auto tiled = MmaScaledOp::create(builder, getLoc(), operands[0], operands[1],
                                   operands[2], operands[3], operands[4],
                                   builder.getI64IntegerAttr(getBlock()));
  tiled->setDiscardableAttrs(
      llvm::to_vector(getOperation()->getDiscardableAttrs()));
  return TilingResult{{tiled}, {tiled.getResult()}, slices};
}

LogicalResult MmaScaledOp::getResultTilePosition(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), std::prev(offsets.end()));
  resultSizes.assign(sizes.begin(), std::prev(sizes.end()));
  return success();
}

LogicalResult MmaScaledOp::getIterationDomainTileFromResultTile(
    OpBuilder &builder, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes,
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
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (failed(getIterationDomainTileFromResultTile(
          builder, resultNumber, offsets, sizes, domainOffsets, domainSizes)))
    return failure();
  return getTiledImplementation(builder, domainOffsets, domainSizes);
}
