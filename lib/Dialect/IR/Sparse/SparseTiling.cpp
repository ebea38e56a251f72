//===- SparseTiling.cpp - Tiling of ops on sparse operands ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration domain of sparse_mma_scaled is ([batch,] M, N, K), that of the
// other ops the shape of the dense matrix. K counts logical elements; a tile
// of it has whole blocks, or whole bytes of metadata.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

using Sizes = ArrayRef<OpFoldResult>;

static SmallVector<Range> toRanges(OpBuilder &builder, Sizes sizes) {
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) {
    return Range{builder.getIndexAttr(0), size, builder.getIndexAttr(1)};
  });
}

/// The sizes of a tensor, or of a vector.
static SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Location loc,
                                          Value value) {
  if (isa<TensorType>(value.getType()))
    return tensor::getMixedSizes(builder, loc, value);
  return getAsIndexOpFoldResult(builder.getContext(),
                                cast<ShapedType>(value.getType()).getShape());
}

/// `value` times `factor`, over `divisor`.
static OpFoldResult scale(OpBuilder &builder, Location loc, OpFoldResult value,
                          int64_t factor, int64_t divisor) {
  AffineExpr d0 = builder.getAffineDimExpr(0);
  return affine::makeComposedFoldedAffineApply(
      builder, loc, (d0 * factor).floorDiv(divisor), {value});
}

static Value extract(OpBuilder &builder, Location loc, Value source,
                     Sizes offsets, Sizes sizes) {
  SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, source, offsets, sizes,
                                        strides);
}

static SmallVector<Operation *> getSlices(ValueRange values) {
  return llvm::map_to_vector(values,
                             [](Value value) { return value.getDefiningOp(); });
}

/// Whether `value` is the size of dimension `dim` of one of `sources`.
static bool isSizeOf(Value value, ArrayRef<std::pair<Value, int64_t>> sources) {
  auto dim = value.getDefiningOp<tensor::DimOp>();
  std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
  return index && llvm::is_contained(sources, std::pair<Value, int64_t>(
                                                  dim.getSource(), *index));
}

/// Checks that a tile of K is of whole units of `divisor` elements.
static LogicalResult
verifyTileOfK(Operation *op, OpFoldResult offset, OpFoldResult size,
              int64_t divisor, StringRef what,
              ArrayRef<std::pair<Value, int64_t>> wholeSizes) {
  auto isWhole = [&](Value value, int64_t by) {
    return divisor % by == 0 && isSizeOf(value, wholeSizes);
  };
  for (OpFoldResult value : {offset, size})
    if (!isKnownMultiple(value, divisor, isWhole))
      return op->emitOpError("expected the offset and the size of a tile along "
                             "K to be multiples of ")
             << what << ", " << divisor;
  return success();
}

static LogicalResult verifyTensors(Operation *op, bool isTensor) {
  if (isTensor)
    return success();
  // Vectors have a domain, as the interface requires, but cannot be sliced.
  return op->emitOpError("expected tensors to tile, got vectors");
}

/// The result `resultNumber` of `op` on a tile.
template <typename Op>
static FailureOr<TilingResult> generateTile(OpBuilder &builder, Op op,
                                            unsigned resultNumber,
                                            Sizes offsets, Sizes sizes) {
  SmallVector<OpFoldResult> domainOffsets, domainSizes;
  if (failed(op.getIterationDomainTileFromResultTile(
          builder, resultNumber, offsets, sizes, domainOffsets, domainSizes)))
    return failure();
  FailureOr<TilingResult> tiled =
      op.getTiledImplementation(builder, domainOffsets, domainSizes);
  if (succeeded(tiled))
    tiled->tiledValues = {tiled->tiledValues[resultNumber]};
  return tiled;
}

//===----------------------------------------------------------------------===//
// sparse_mma_scaled
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> SparseMmaScaledOp::getLoopIteratorTypes() {
  SmallVector<utils::IteratorType> types(
      cast<ShapedType>(getAcc().getType()).getRank(),
      utils::IteratorType::parallel);
  types.push_back(utils::IteratorType::reduction);
  return types;
}

static OpFoldResult getK(OpBuilder &builder, SparseMmaScaledOp op) {
  if (int64_t k = op.getLogicalK(); !ShapedType::isDynamic(k))
    return builder.getIndexAttr(k);
  int64_t rank = cast<ShapedType>(op.getY().getType()).getRank();
  return tensor::getMixedSize(builder, op.getLoc(), op.getY(), rank - 2);
}

SmallVector<Range> SparseMmaScaledOp::getIterationDomain(OpBuilder &builder) {
  SmallVector<OpFoldResult> sizes = getSizes(builder, getLoc(), getAcc());
  sizes.push_back(getK(builder, *this));
  return toRanges(builder, sizes);
}

namespace {
/// A tile of the iteration domain, and the slices of operands that it needs.
class ProductTile {
public:
  ProductTile(OpBuilder &builder, SparseMmaScaledOp op, Sizes offsets,
              Sizes sizes)
      : builder(builder), op(op), offsets(offsets), sizes(sizes),
        rank(cast<ShapedType>(op.getAcc().getType()).getRank()) {}

  /// The slice of x, its metadata or its scales, of which an element is
  /// `perElement` elements along K.
  Value sliceRows(Value source, int64_t perElement) {
    return slice(source, /*rowDim=*/rank - 2, /*isKLast=*/true, perElement);
  }
  /// The same of y and its scales.
  Value sliceColumns(Value source, int64_t perElement) {
    return slice(source, /*rowDim=*/rank - 1, /*isKLast=*/false, perElement);
  }
  Value sliceAcc() {
    return extract(builder, op.getLoc(), op.getAcc(), offsets.drop_back(),
                   sizes.drop_back());
  }

private:
  Value slice(Value source, int64_t rowDim, bool isKLast, int64_t perElement) {
    SmallVector<OpFoldResult> sourceOffsets, sourceSizes;
    if (cast<ShapedType>(source.getType()).getRank() == 3) {
      auto [offset, size] = getBatch(source);
      sourceOffsets.push_back(offset);
      sourceSizes.push_back(size);
    }
    auto add = [&](OpFoldResult offset, OpFoldResult size) {
      sourceOffsets.push_back(offset);
      sourceSizes.push_back(size);
    };
    auto addRows = [&]() { add(offsets[rowDim], sizes[rowDim]); };
    if (isKLast)
      addRows();
    add(scale(builder, op.getLoc(), offsets.back(), 1, perElement),
        scale(builder, op.getLoc(), sizes.back(), 1, perElement));
    if (!isKLast)
      addRows();
    return extract(builder, op.getLoc(), source, sourceOffsets, sourceSizes);
  }

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

  OpBuilder &builder;
  SparseMmaScaledOp op;
  Sizes offsets, sizes;
  int64_t rank;
};
} // namespace

FailureOr<TilingResult>
SparseMmaScaledOp::getTiledImplementation(OpBuilder &builder, Sizes offsets,
                                          Sizes sizes) {
  int64_t yRank = cast<ShapedType>(getY().getType()).getRank();
  if (failed(verifyTensors(*this, hasTensorSemantics())) ||
      failed(verifyTileOfK(*this, offsets.back(), sizes.back(), getBlock(),
                           "the block size", {{getY(), yRank - 2}})))
    return failure();
  ProductTile tile(builder, *this, offsets, sizes);
  SmallVector<Value> operands = {
      tile.sliceRows(getX(), kUnitsPerChunk / kKeptUnits),
      tile.sliceRows(getMetadata(), getUnits().elementsPerByte()),
      tile.sliceRows(getXScale(), getBlock()),
      tile.sliceColumns(getY(), /*perElement=*/1),
      tile.sliceColumns(getYScale(), getBlock()),
      tile.sliceAcc()};
  SmallVector<Operation *> slices = getSlices(operands);
  // Tiles may have dynamic sizes, so the block size is always given.
  auto tiled = SparseMmaScaledOp::create(
      builder, getLoc(), operands[0], operands[1], operands[2], operands[3],
      operands[4], operands[5], getGranularity().getValue(), getBlock());
  tiled->setDiscardableAttrs(
      llvm::to_vector(getOperation()->getDiscardableAttrs()));
  return TilingResult{{tiled}, {tiled.getResult()}, slices};
}

LogicalResult SparseMmaScaledOp::getResultTilePosition(
    OpBuilder &, unsigned, Sizes offsets, Sizes sizes,
    SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), std::prev(offsets.end()));
  resultSizes.assign(sizes.begin(), std::prev(sizes.end()));
  return success();
}

LogicalResult SparseMmaScaledOp::getIterationDomainTileFromResultTile(
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

FailureOr<TilingResult> SparseMmaScaledOp::generateResultTileValue(
    OpBuilder &builder, unsigned resultNumber, Sizes offsets, Sizes sizes) {
  return generateTile(builder, *this, resultNumber, offsets, sizes);
}

//===----------------------------------------------------------------------===//
// sparsify, compress and decompress
//===----------------------------------------------------------------------===//

/// The logical elements along K for each element of a result.
static int64_t getPerElement(SparsifyOp, unsigned) { return 1; }
static int64_t getPerElement(CompressOp op, unsigned resultNumber) {
  return resultNumber == 0 ? kUnitsPerChunk / kKeptUnits
                           : op.getUnits().elementsPerByte();
}
static int64_t getPerElement(DecompressOp, unsigned) { return 1; }

/// The sizes of the dense matrix.
static SmallVector<OpFoldResult> getDense(OpBuilder &builder, SparsifyOp op) {
  return getSizes(builder, op.getLoc(), op.getSource());
}
static SmallVector<OpFoldResult> getDense(OpBuilder &builder, CompressOp op) {
  return getSizes(builder, op.getLoc(), op.getSource());
}
static SmallVector<OpFoldResult> getDense(OpBuilder &builder, DecompressOp op) {
  SmallVector<OpFoldResult> sizes =
      getSizes(builder, op.getLoc(), op.getElements());
  sizes.back() =
      scale(builder, op.getLoc(), sizes.back(), kUnitsPerChunk, kKeptUnits);
  return sizes;
}

/// What a tile of K has to be a multiple of, and its name.
static std::pair<int64_t, StringRef> getDivisor(SparsifyOp op) {
  return {op.getUnits().chunk(), "the elements of a chunk"};
}
template <typename Op>
static std::pair<int64_t, StringRef> getDivisor(Op op) {
  return {op.getUnits().elementsPerByte(),
          "the elements of a byte of metadata"};
}

/// The op on a tile of its operands.
static Operation *createTile(OpBuilder &builder, SparsifyOp op, Sizes offsets,
                             Sizes sizes, SmallVectorImpl<Value> &slices) {
  slices.push_back(
      extract(builder, op.getLoc(), op.getSource(), offsets, sizes));
  return SparsifyOp::create(builder, op.getLoc(), slices[0].getType(),
                            slices[0], op.getGranularityAttr());
}
static Operation *createTile(OpBuilder &builder, CompressOp op, Sizes offsets,
                             Sizes sizes, SmallVectorImpl<Value> &slices) {
  slices.push_back(
      extract(builder, op.getLoc(), op.getSource(), offsets, sizes));
  return CompressOp::create(builder, op.getLoc(), slices[0],
                            op.getGranularity().getValue());
}
static Operation *createTile(OpBuilder &builder, DecompressOp op, Sizes offsets,
                             Sizes sizes, SmallVectorImpl<Value> &slices) {
  auto add = [&](Value source, int64_t perElement) {
    slices.push_back(
        extract(builder, op.getLoc(), source,
                scaleLastSize(builder, op.getLoc(), offsets, 1, perElement),
                scaleLastSize(builder, op.getLoc(), sizes, 1, perElement)));
  };
  add(op.getElements(), kUnitsPerChunk / kKeptUnits);
  add(op.getMetadata(), op.getUnits().elementsPerByte());
  return DecompressOp::create(builder, op.getLoc(), slices[0], slices[1],
                              op.getGranularity().getValue());
}

template <typename Op>
static FailureOr<TilingResult> tile(OpBuilder &builder, Op op, Sizes offsets,
                                    Sizes sizes) {
  auto [divisor, what] = getDivisor(op);
  Value whole = op->getOperand(0);
  int64_t last = cast<ShapedType>(whole.getType()).getRank() - 1;
  // K of the dense matrix is known to be a multiple; that of kept elements is
  // not K.
  SmallVector<std::pair<Value, int64_t>> wholeSizes;
  if (!isa<DecompressOp>(op.getOperation()))
    wholeSizes.push_back({whole, last});
  if (failed(verifyTensors(op, op.hasTensorSemantics())) ||
      failed(verifyTileOfK(op, offsets.back(), sizes.back(), divisor, what,
                           wholeSizes)))
    return failure();
  SmallVector<Value> slices;
  Operation *tiled = createTile(builder, op, offsets, sizes, slices);
  tiled->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  return TilingResult{{tiled},
                      llvm::to_vector_of<Value>(tiled->getResults()),
                      getSlices(slices)};
}

// The interface has one method for each of these on each op.
#define BLOCKSCALE_DEFINE_TILING(Op)                                           \
  SmallVector<utils::IteratorType> Op::getLoopIteratorTypes() {                \
    return SmallVector<utils::IteratorType>(                                   \
        cast<ShapedType>(getOperation()->getOperand(0).getType()).getRank(),   \
        utils::IteratorType::parallel);                                        \
  }                                                                            \
  SmallVector<Range> Op::getIterationDomain(OpBuilder &builder) {              \
    return toRanges(builder, getDense(builder, *this));                        \
  }                                                                            \
  FailureOr<TilingResult> Op::getTiledImplementation(                          \
      OpBuilder &builder, Sizes offsets, Sizes sizes) {                        \
    return tile(builder, *this, offsets, sizes);                               \
  }                                                                            \
  LogicalResult Op::getResultTilePosition(                                     \
      OpBuilder &builder, unsigned resultNumber, Sizes offsets, Sizes sizes,   \
      SmallVector<OpFoldResult> &resultOffsets,                                \
      SmallVector<OpFoldResult> &resultSizes) {                                \
    int64_t perElement = getPerElement(*this, resultNumber);                   \
    resultOffsets = scaleLastSize(builder, getLoc(), offsets, 1, perElement);  \
    resultSizes = scaleLastSize(builder, getLoc(), sizes, 1, perElement);      \
    return success();                                                          \
  }                                                                            \
  LogicalResult Op::getIterationDomainTileFromResultTile(                      \
      OpBuilder &builder, unsigned resultNumber, Sizes offsets, Sizes sizes,   \
      SmallVectorImpl<OpFoldResult> &iterDomainOffsets,                        \
      SmallVectorImpl<OpFoldResult> &iterDomainSizes) {                        \
    if (!hasTensorSemantics())                                                 \
      return failure();                                                        \
    int64_t perElement = getPerElement(*this, resultNumber);                   \
    iterDomainOffsets =                                                        \
        scaleLastSize(builder, getLoc(), offsets, perElement, 1);              \
    iterDomainSizes = scaleLastSize(builder, getLoc(), sizes, perElement, 1);  \
    return success();                                                          \
  }                                                                            \
  FailureOr<TilingResult> Op::generateResultTileValue(                         \
      OpBuilder &builder, unsigned resultNumber, Sizes offsets, Sizes sizes) { \
    return generateTile(builder, *this, resultNumber, offsets, sizes);         \
  }

BLOCKSCALE_DEFINE_TILING(SparsifyOp)
BLOCKSCALE_DEFINE_TILING(CompressOp)
BLOCKSCALE_DEFINE_TILING(DecompressOp)
#undef BLOCKSCALE_DEFINE_TILING
