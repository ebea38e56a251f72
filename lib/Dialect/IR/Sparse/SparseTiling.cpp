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

#include "Tiling.h"
#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "blockscale/Dialect/IR/Sparse.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Checks that a tile of K is of whole units of `divisor` elements.
static LogicalResult
verifyTileOfK(Operation *op, OpFoldResult offset, OpFoldResult size,
              int64_t divisor, StringRef what,
              ArrayRef<std::pair<Value, int64_t>> wholeSizes) {
  auto isWhole = [&](Value value, int64_t by) {
    return divisor % by == 0 && llvm::any_of(wholeSizes, [&](auto of) {
             return isSizeOf(value, of.first, of.second);
           });
  };
  for (OpFoldResult value : {offset, size})
    if (!isKnownMultiple(value, divisor, isWhole))
      return op->emitOpError("expected the offset and the size of a tile along "
                             "K to be multiples of ")
             << what << ", " << divisor;
  return success();
}

//===----------------------------------------------------------------------===//
// sparse_mma_scaled
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> SparseMmaScaledOp::getLoopIteratorTypes() {
  return getProductLoops(getAcc());
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
  return getDomain(builder, sizes);
}

FailureOr<TilingResult>
SparseMmaScaledOp::getTiledImplementation(OpBuilder &builder, Sizes offsets,
                                          Sizes sizes) {
  int64_t yRank = cast<ShapedType>(getY().getType()).getRank();
  if (failed(verifyTensors(*this, hasTensorSemantics())) ||
      failed(verifyTileOfK(*this, offsets.back(), sizes.back(), getBlock(),
                           "the block size", {{getY(), yRank - 2}})))
    return failure();
  ProductTile tile(builder, getLoc(), getAcc(), offsets, sizes);
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
  tiled.setLegalMetadata(getLegalMetadata());
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
      scaleSize(builder, op.getLoc(), sizes.back(), kUnitsPerChunk, kKeptUnits);
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
      extractTile(builder, op.getLoc(), op.getSource(), offsets, sizes));
  return SparsifyOp::create(builder, op.getLoc(), slices[0].getType(),
                            slices[0], op.getGranularityAttr());
}
static Operation *createTile(OpBuilder &builder, CompressOp op, Sizes offsets,
                             Sizes sizes, SmallVectorImpl<Value> &slices) {
  slices.push_back(
      extractTile(builder, op.getLoc(), op.getSource(), offsets, sizes));
  return CompressOp::create(builder, op.getLoc(), slices[0],
                            op.getGranularity().getValue());
}
static Operation *createTile(OpBuilder &builder, DecompressOp op, Sizes offsets,
                             Sizes sizes, SmallVectorImpl<Value> &slices) {
  auto add = [&](Value source, int64_t perElement) {
    slices.push_back(
        extractTile(builder, op.getLoc(), source,
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
    return getParallelLoops(getOperation()->getOperand(0));                    \
  }                                                                            \
  SmallVector<Range> Op::getIterationDomain(OpBuilder &builder) {              \
    return getDomain(builder, getDense(builder, *this));                       \
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
