//===- GroupedTiling.cpp - Tiling of grouped products ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration domain is (T, N, K), with K in elements and a reduction into
// the accumulator. A tile of rows keeps all of y: its offsets are those of the
// whole, as seen from its first row. So no slice depends on data.
//
//===----------------------------------------------------------------------===//

#include "Grouped/GroupedRules.h"
#include "ScaleBlockRules.h"
#include "Tiling.h"
#include "blockscale/Dialect/IR/KnownMultiple.h"

using namespace mlir;
using namespace mlir::blockscale;

/// `offsets` as seen from row `first` of a tile of `count` rows.
static Value makeOffsets(OpBuilder &builder, Location loc, Value offsets,
                         OpFoldResult first, OpFoldResult count) {
  auto type = cast<RankedTensorType>(offsets.getType());
  SmallVector<Value> groups;
  if (!type.hasStaticShape())
    groups.push_back(tensor::DimOp::create(builder, loc, offsets, 0));
  // No offset reaches rows from 2^31 on.
  Value most = arith::ConstantIndexOp::create(
      builder, loc, std::numeric_limits<int32_t>::max());
  auto splat = [&](OpFoldResult size) -> Value {
    Value known = builder.createOrFold<arith::MinSIOp>(
        loc, getValueOrCreateConstantIndexOp(builder, loc, size), most);
    Value word =
        arith::IndexCastOp::create(builder, loc, type.getElementType(), known);
    return tensor::SplatOp::create(builder, loc, type, word, groups);
  };
  // Offsets may be wrong: the difference must not wrap.
  Value start = splat(first);
  Value value = arith::MaxSIOp::create(builder, loc, offsets, start);
  value = arith::SubIOp::create(builder, loc, value, start);
  return arith::MinSIOp::create(builder, loc, value, splat(count));
}

namespace {
/// A tile of the domain of a grouped product, and the slices that it needs.
class GroupedTile {
public:
  GroupedTile(OpBuilder &builder, Location loc, Sizes offsets, Sizes sizes)
      : builder(builder), loc(loc), offsets(offsets), sizes(sizes) {}

  OpFoldResult all(Value source, unsigned dim) {
    return tensor::getMixedSize(builder, loc, source, dim);
  }
  /// A slice of `source` at `starts`, of `lengths`.
  Value slice(Value source, Sizes starts, Sizes lengths) {
    if (!source)
      return source;
    Value tile = extractTile(builder, loc, source, starts, lengths);
    slices.push_back(tile.getDefiningOp());
    return tile;
  }
  OpFoldResult zero() { return builder.getIndexAttr(0); }
  OpFoldResult kStart(int64_t perElement) {
    return scaleSize(builder, loc, offsets[2], 1, perElement);
  }
  OpFoldResult kSize(int64_t perElement) {
    return scaleSize(builder, loc, sizes[2], 1, perElement);
  }

  /// x or its scales: all rows where `rows` names them, else those of the tile.
  Value sliceX(Value x, bool hasRows, int64_t perElement) {
    OpFoldResult start = hasRows ? zero() : offsets[0];
    OpFoldResult count = hasRows ? all(x, 0) : sizes[0];
    return slice(x, {start, kStart(perElement)}, {count, kSize(perElement)});
  }
  Value sliceY(Value y, int64_t perElement) {
    return slice(y, {zero(), kStart(perElement), offsets[1]},
                 {all(y, 0), kSize(perElement), sizes[1]});
  }
  /// Coarse scales of x or of y; null, with an error, if the tile cuts a block.
  Value sliceScales(GroupedMmaScaledOp op, MmaScaledOp::Side side) {
    bool isX = side == MmaScaledOp::Side::X;
    Value scales = isX ? op.getXScale() : op.getYScale();
    ScaleBlock block = op.getBlockShape(side);
    TileRange rows = {offsets[isX ? 0 : 1], sizes[isX ? 0 : 1]};
    if (isX && op.getRows())
      rows = {zero(), all(op.getX(), 0)};
    std::optional<ScaleRanges> ranges =
        getScaleRanges(builder, op, isX, scales, block, rows,
                       {offsets[2], sizes[2]}, isX ? "T" : "N");
    if (!ranges)
      return {};
    if (isX)
      return slice(scales, {ranges->rows.offset, ranges->k.offset},
                   {ranges->rows.size, ranges->k.size});
    return slice(scales, {zero(), ranges->k.offset, ranges->rows.offset},
                 {all(scales, 0), ranges->k.size, ranges->rows.size});
  }
  Value sliceAcc(Value acc) {
    return slice(acc, {offsets[0], offsets[1]}, {sizes[0], sizes[1]});
  }
  Value sliceRows(Value rows) { return slice(rows, offsets[0], sizes[0]); }
  Value sliceBias(Value bias) {
    if (!bias)
      return bias;
    return slice(bias, {zero(), offsets[1]}, {all(bias, 0), sizes[1]});
  }
  Value getOffsets(Value of) {
    return makeOffsets(builder, loc, of, offsets[0], sizes[0]);
  }

  SmallVector<Operation *> slices;

private:
  OpBuilder &builder;
  Location loc;
  Sizes offsets, sizes;
};
} // namespace

/// What a tile along K has to be a multiple of.
static int64_t getUnitOfK(GroupedMmaScaledOp op) { return getWholeBlock(op); }
static int64_t getUnitOfK(GroupedMatmulOp) { return 1; }

template <typename Op>
static OpFoldResult getK(OpBuilder &builder, Op op) {
  return tensor::getMixedSize(builder, op.getLoc(), op.getX(), 1);
}

/// A tile along K is of whole blocks. What is done with sums is done once, so
/// with a factor or a bias there is one tile.
template <typename Op>
static LogicalResult verifyTileOfK(OpBuilder &builder, Op op, Sizes offsets,
                                   Sizes sizes) {
  int64_t unit = getUnitOfK(op);
  auto isWhole = [&](Value value, int64_t by) {
    return unit % by == 0 && isSizeOf(value, op.getX(), 1);
  };
  for (OpFoldResult value : {offsets[2], sizes[2]})
    if (!isKnownMultiple(value, unit, isWhole))
      return op.emitOpError("expected the offset and the size of a tile along "
                            "K to be multiples of the block size, ")
             << unit;
  if (!op.getGroupScale() && !op.getBias())
    return success();
  std::optional<int64_t> size = getConstantIntValue(sizes[2]);
  int64_t k = cast<ShapedType>(op.getX().getType()).getDimSize(1);
  bool isAll =
      (size && *size == k) ||
      (isa<Value>(sizes[2]) && isSizeOf(cast<Value>(sizes[2]), op.getX(), 1));
  if (!isAll)
    return op.emitOpError("expected a tile of all of K with a group_scale or a "
                          "bias");
  return success();
}

static Operation *createTile(OpBuilder &builder, GroupedMmaScaledOp op,
                             GroupedTile &tile) {
  using Side = MmaScaledOp::Side;
  AccumulateAttr accumulate = op.getAccumulateAttr();
  OpFoldResult k = tile.kStart(/*perElement=*/1);
  bool hasRows = bool(op.getRows()), isCoarse = op.hasCoarseScales();
  Value x = tile.sliceX(op.getX(), hasRows, 1), y = tile.sliceY(op.getY(), 1),
        xScale, yScale;
  IntegerAttr blockSize;
  ScaleBlockAttr xBlock, yBlock;
  // Tiles may have dynamic sizes, so that blocks are always given.
  if (isCoarse) {
    auto getBlock = [&](Side side) {
      return ScaleBlockAttr::get(op.getContext(), op.getBlockShape(side));
    };
    xBlock = getBlock(Side::X);
    yBlock = getBlock(Side::Y);
    xScale = tile.sliceScales(op, Side::X);
    yScale = xScale ? tile.sliceScales(op, Side::Y) : Value();
    if (!yScale)
      return nullptr;
  } else {
    blockSize = builder.getI64IntegerAttr(op.getBlock());
    xScale = tile.sliceX(op.getXScale(), hasRows, op.getBlock());
    yScale = tile.sliceY(op.getYScale(), op.getBlock());
  }
  Value offsets = tile.getOffsets(op.getOffsets()),
        acc = tile.sliceAcc(op.getAcc()), rows = tile.sliceRows(op.getRows()),
        bias = tile.sliceBias(op.getBias());
  return GroupedMmaScaledOp::create(
      builder, op.getLoc(), acc.getType(), x, xScale, y, yScale, offsets, acc,
      rows, op.getGroupScale(), bias, blockSize, xBlock, yBlock,
      op.getLegalGroupsAttr(),
      accumulate ? accumulate.getOfTile(k) : accumulate);
}

static Operation *createTile(OpBuilder &builder, GroupedMatmulOp op,
                             GroupedTile &tile) {
  Value x = tile.sliceX(op.getX(), bool(op.getRows()), 1),
        y = tile.sliceY(op.getY(), 1),
        offsets = tile.getOffsets(op.getOffsets()),
        acc = tile.sliceAcc(op.getAcc()), rows = tile.sliceRows(op.getRows()),
        bias = tile.sliceBias(op.getBias());
  return GroupedMatmulOp::create(builder, op.getLoc(), acc.getType(), x, y,
                                 offsets, acc, rows, op.getGroupScale(), bias,
                                 op.getLegalGroupsAttr());
}

template <typename Op>
static FailureOr<TilingResult> tile(OpBuilder &builder, Op op, Sizes offsets,
                                    Sizes sizes) {
  if (failed(verifyTileOfK(builder, op, offsets, sizes)))
    return failure();
  GroupedTile tile(builder, op.getLoc(), offsets, sizes);
  Operation *tiled = createTile(builder, op, tile);
  if (!tiled)
    return failure();
  tiled->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  return TilingResult{
      {tiled}, llvm::to_vector_of<Value>(tiled->getResults()), tile.slices};
}

// The interface has one method for each of these on each op.
#define BLOCKSCALE_DEFINE_TILING(Op)                                           \
  SmallVector<utils::IteratorType> Op::getLoopIteratorTypes() {                \
    return getProductLoops(getAcc());                                          \
  }                                                                            \
  SmallVector<Range> Op::getIterationDomain(OpBuilder &builder) {              \
    SmallVector<OpFoldResult> sizes = getSizes(builder, getLoc(), getAcc());   \
    sizes.push_back(getK(builder, *this));                                     \
    return getDomain(builder, sizes);                                          \
  }                                                                            \
  FailureOr<TilingResult> Op::getTiledImplementation(                          \
      OpBuilder &builder, Sizes offsets, Sizes sizes) {                        \
    return tile(builder, *this, offsets, sizes);                               \
  }                                                                            \
  LogicalResult Op::getResultTilePosition(                                     \
      OpBuilder &, unsigned, Sizes offsets, Sizes sizes,                       \
      SmallVector<OpFoldResult> &resultOffsets,                                \
      SmallVector<OpFoldResult> &resultSizes) {                                \
    resultOffsets.assign(offsets.begin(), std::prev(offsets.end()));           \
    resultSizes.assign(sizes.begin(), std::prev(sizes.end()));                 \
    return success();                                                          \
  }                                                                            \
  LogicalResult Op::getIterationDomainTileFromResultTile(                      \
      OpBuilder &builder, unsigned, Sizes offsets, Sizes sizes,                \
      SmallVectorImpl<OpFoldResult> &iterDomainOffsets,                        \
      SmallVectorImpl<OpFoldResult> &iterDomainSizes) {                        \
    iterDomainOffsets.assign(offsets.begin(), offsets.end());                  \
    iterDomainOffsets.push_back(builder.getIndexAttr(0));                      \
    iterDomainSizes.assign(sizes.begin(), sizes.end());                        \
    iterDomainSizes.push_back(getK(builder, *this));                           \
    return success();                                                          \
  }                                                                            \
  FailureOr<TilingResult> Op::generateResultTileValue(                         \
      OpBuilder &builder, unsigned resultNumber, Sizes offsets, Sizes sizes) { \
    return generateTile(builder, *this, resultNumber, offsets, sizes);         \
  }

BLOCKSCALE_DEFINE_TILING(GroupedMmaScaledOp)
BLOCKSCALE_DEFINE_TILING(GroupedMatmulOp)
#undef BLOCKSCALE_DEFINE_TILING
