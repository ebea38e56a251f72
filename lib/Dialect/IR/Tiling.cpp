//===- Tiling.cpp - What tilings of several ops share ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiling.h"
#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

static int64_t getRank(Value value) {
  return cast<ShapedType>(value.getType()).getRank();
}

SmallVector<utils::IteratorType> blockscale::getParallelLoops(Value value) {
  return SmallVector<utils::IteratorType>(getRank(value),
                                          utils::IteratorType::parallel);
}

SmallVector<Range> blockscale::getDomain(OpBuilder &builder, Sizes sizes) {
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) {
    return Range{builder.getIndexAttr(0), size, builder.getIndexAttr(1)};
  });
}

SmallVector<OpFoldResult> blockscale::getSizes(OpBuilder &builder, Location loc,
                                               Value value) {
  if (isa<TensorType>(value.getType()))
    return tensor::getMixedSizes(builder, loc, value);
  return getAsIndexOpFoldResult(builder.getContext(),
                                cast<ShapedType>(value.getType()).getShape());
}

LogicalResult blockscale::verifyTensors(Operation *op, bool isTensor) {
  if (isTensor)
    return success();
  return op->emitOpError("expected tensors to tile, got vectors");
}

bool blockscale::isSizeOf(Value size, Value value, int64_t dim) {
  auto op = size.getDefiningOp<tensor::DimOp>();
  return op && op.getSource() == value && op.getConstantIndex() == dim;
}

OpFoldResult blockscale::scaleSize(OpBuilder &builder, Location loc,
                                   OpFoldResult value, int64_t factor,
                                   int64_t divisor) {
  if (factor == divisor)
    return value;
  AffineExpr d0 = builder.getAffineDimExpr(0);
  return affine::makeComposedFoldedAffineApply(
      builder, loc, (d0 * factor).floorDiv(divisor), {value});
}

Value blockscale::extractTile(OpBuilder &builder, Location loc, Value source,
                              Sizes offsets, Sizes sizes) {
  SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, source, offsets, sizes,
                                        strides);
}

SmallVector<Operation *> blockscale::getSlices(ValueRange tiles) {
  return llvm::map_to_vector(tiles,
                             [](Value tile) { return tile.getDefiningOp(); });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> blockscale::getProductLoops(Value acc) {
  SmallVector<utils::IteratorType> loops = getParallelLoops(acc);
  loops.push_back(utils::IteratorType::reduction);
  return loops;
}

/// The most elements that a tile of `size` has, if that is known.
static std::optional<int64_t> getMostElements(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return constant;
  std::optional<int64_t> most;
  if (auto min = cast<Value>(size).getDefiningOp<affine::AffineMinOp>())
    for (AffineExpr result : min.getMap().getResults())
      if (auto constant = dyn_cast<AffineConstantExpr>(result))
        most =
            std::min(most.value_or(constant.getValue()), constant.getValue());
  return most;
}

/// The scales of a tile along one dimension, in which `block` elements share
/// one. A tile that starts at a block has blocks as a whole matrix does, and a
/// tile inside a block has one scale; for others, blocks cannot be described.
static std::optional<TileRange> getScaleRange(OpBuilder &builder, Location loc,
                                              const TileRange &tile,
                                              int64_t block) {
  if (block == ScaleBlock::kAll)
    return TileRange{builder.getIndexAttr(0), builder.getIndexAttr(1)};
  AffineExpr d0 = builder.getAffineDimExpr(0);
  auto apply = [&](AffineExpr expr, OpFoldResult value) {
    return affine::makeComposedFoldedAffineApply(builder, loc, expr, {value});
  };
  OpFoldResult first = apply(d0.floorDiv(block), tile.offset);
  if (isKnownMultiple(tile.offset, block))
    return TileRange{first, apply(d0.ceilDiv(block), tile.size)};
  // Offsets are multiples of `part`, which divides the block.
  std::optional<int64_t> most = getMostElements(tile.size);
  for (int64_t part = block / 2; part >= 1; part /= 2)
    if (isKnownMultiple(tile.offset, part)) {
      if (most && *most <= part)
        return TileRange{first, builder.getIndexAttr(1)};
      break;
    }
  return std::nullopt;
}

std::optional<ScaleRanges>
blockscale::getScaleRanges(OpBuilder &builder, Operation *op, bool isX,
                           Value scales, const ScaleBlock &block,
                           const TileRange &rows, const TileRange &k,
                           StringRef rowName) {
  auto type = cast<ShapedType>(scales.getType());
  int64_t rank = type.getRank();
  auto get = [&](const TileRange &tile, int64_t size, int64_t fromEnd,
                 StringRef dim) -> std::optional<TileRange> {
    // All tiles share a single scale.
    bool isOne = type.getDimSize(rank - fromEnd) == 1 && size != 1;
    std::optional<TileRange> range = getScaleRange(
        builder, op->getLoc(), tile, isOne ? ScaleBlock::kAll : size);
    if (!range)
      op->emitOpError("expected tiles along ")
          << dim << " to start at a multiple of " << size
          << ", which share a scale of " << (isX ? "x" : "y")
          << ", or to be parts of such a block";
    return range;
  };
  std::optional<TileRange> ofRows = get(rows, block.rows, isX ? 2 : 1, rowName);
  if (!ofRows)
    return std::nullopt;
  std::optional<TileRange> ofK = get(k, block.k, isX ? 1 : 2, "K");
  if (!ofK)
    return std::nullopt;
  return ScaleRanges{*ofRows, *ofK};
}

Value ProductTile::sliceRows(Value source, int64_t perElement) {
  return slice(source, /*rowDim=*/getRank(acc) - 2, /*isKLast=*/true,
               perElement);
}

Value ProductTile::sliceColumns(Value source, int64_t perElement) {
  return slice(source, /*rowDim=*/getRank(acc) - 1, /*isKLast=*/false,
               perElement);
}

Value ProductTile::sliceAcc() {
  return extractTile(builder, loc, acc, offsets.drop_back(), sizes.drop_back());
}

Value ProductTile::slice(Value source, int64_t rowDim, bool isKLast,
                         int64_t perElement) {
  return sliceScales(source, isKLast, {offsets[rowDim], sizes[rowDim]},
                     {scaleSize(builder, loc, offsets.back(), 1, perElement),
                      scaleSize(builder, loc, sizes.back(), 1, perElement)});
}

Value ProductTile::sliceScales(Value source, bool isKLast,
                               const TileRange &rows, const TileRange &k) {
  int64_t sourceRank = getRank(source);
  SmallVector<OpFoldResult> sourceOffsets(sourceRank), sourceSizes(sourceRank);
  if (sourceRank == 3)
    std::tie(sourceOffsets[0], sourceSizes[0]) = getBatch(source);
  int64_t kDim = sourceRank - (isKLast ? 1 : 2);
  int64_t row = sourceRank - (isKLast ? 2 : 1);
  sourceOffsets[row] = rows.offset;
  sourceSizes[row] = rows.size;
  sourceOffsets[kDim] = k.offset;
  sourceSizes[kDim] = k.size;
  return extractTile(builder, loc, source, sourceOffsets, sourceSizes);
}

// A batch of 1 is broadcast: every tile reads all of it. If it is not known
// whether the batch is 1 or that of the result, one formula works for both,
// because an offset is below the batch and a size is at most the batch.
std::pair<OpFoldResult, OpFoldResult> ProductTile::getBatch(Value source) {
  int64_t batch = cast<ShapedType>(source.getType()).getDimSize(0);
  if (batch == 1)
    return {builder.getIndexAttr(0), builder.getIndexAttr(1)};
  if (!ShapedType::isDynamic(batch))
    return {offsets[0], sizes[0]};
  OpFoldResult size = tensor::getMixedSize(builder, loc, source, 0);
  AffineExpr d0, d1;
  bindDims(builder.getContext(), d0, d1);
  auto min = [&](AffineExpr other, OpFoldResult value) {
    return affine::makeComposedFoldedAffineMin(
        builder, loc, AffineMap::get(2, 0, {d0, other}, builder.getContext()),
        {value, size});
  };
  return {min(d1 - 1, offsets[0]), min(d1, sizes[0])};
}
