//===- QuantizeTiling.cpp - Tiling of quantize and dequantize -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The iteration domain of both ops is the shape of the elements, with parallel
// loops. A tile has whole blocks along the last dimension, or all of it.
//
//===----------------------------------------------------------------------===//

#include "Tiling.h"
#include "blockscale/Dialect/IR/KnownMultiple.h"
#include "blockscale/Dialect/IR/ScaleRules.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// The blocks of an op along the last dimension of `elements`.
struct Blocks {
  Operation *op;
  Value elements;
  int64_t size;
  /// Whether the last block of a row may have fewer elements.
  bool mayEnd;

  bool isLastSize(Value value) const {
    return isSizeOf(value, elements,
                    cast<ShapedType>(elements.getType()).getRank() - 1);
  }

  bool isWhole(OpFoldResult value) const {
    return isKnownMultiple(value, size, [&](Value of, int64_t divisor) {
      return !mayEnd && size % divisor == 0 && isLastSize(of);
    });
  }

  /// Whether a tile of `count` elements from `offset` on is a whole row.
  bool isRow(OpFoldResult offset, OpFoldResult count) const {
    int64_t k = cast<ShapedType>(elements.getType()).getShape().back();
    if (!isZeroInteger(offset))
      return false;
    if (std::optional<int64_t> known = getConstantIntValue(count))
      return *known == k;
    return isLastSize(cast<Value>(count));
  }

  LogicalResult verifyTile(Sizes offsets, Sizes sizes) const {
    if (failed(verifyTensors(op, isa<TensorType>(elements.getType()))))
      return failure();
    if (isRow(offsets.back(), sizes.back()) ||
        (isWhole(offsets.back()) && isWhole(sizes.back())))
      return success();
    return op->emitOpError("expected tiles of whole blocks along the last "
                           "dimension, of a multiple of ")
           << size << " elements";
  }

  SmallVector<OpFoldResult> toBlocks(OpBuilder &builder, Sizes elements) const {
    return getScaleSizes(builder, op->getLoc(), elements, size);
  }

  /// Offsets or sizes in elements, from those in blocks.
  SmallVector<OpFoldResult> toElements(OpBuilder &builder, Sizes blocks) const {
    SmallVector<OpFoldResult> result(blocks);
    result.back() =
        scaleSize(builder, op->getLoc(), blocks.back(), size, /*divisor=*/1);
    return result;
  }
};
} // namespace

static Blocks getBlocks(QuantizeOp op) {
  return {op, op.getX(), op.getBlock(), op.getPad()};
}

static Blocks getBlocks(DequantizeOp op) {
  return {op, op.getElements(), op.getBlock(), /*mayEnd=*/true};
}

/// Tiles would have to be whole blocks of rows, too.
static LogicalResult verifyNoCoarseScales(Operation *op, bool hasCoarseScales) {
  if (!hasCoarseScales)
    return success();
  return op->emitOpError("expected scales with 'block_size' to tile, got "
                         "coarse scales");
}

//===----------------------------------------------------------------------===//
// quantize
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> QuantizeOp::getLoopIteratorTypes() {
  return getParallelLoops(getX());
}

SmallVector<Range> QuantizeOp::getIterationDomain(OpBuilder &builder) {
  return getDomain(builder, getSizes(builder, getLoc(), getX()));
}

FailureOr<TilingResult> QuantizeOp::getTiledImplementation(OpBuilder &builder,
                                                           Sizes offsets,
                                                           Sizes sizes) {
  if (failed(verifyNoCoarseScales(*this, hasCoarseScales())))
    return failure();
  Blocks blocks = getBlocks(*this);
  if (getAmax())
    return emitOpError("expected no largest magnitude of an op to tile");
  if (failed(blocks.verifyTile(offsets, sizes)))
    return failure();
  Value x = extractTile(builder, getLoc(), getX(), offsets, sizes);
  auto typeOf = [](Sizes of, Value like) {
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    dispatchIndexOpFoldResults(of, dynamic, shape);
    return RankedTensorType::get(shape, getElementTypeOrSelf(like.getType()));
  };
  auto tiled = QuantizeOp::create(
      builder, getLoc(),
      {typeOf(sizes, getElements()),
       typeOf(blocks.toBlocks(builder, sizes), getScales())},
      getTensorScale() ? ValueRange{x, getTensorScale()} : ValueRange{x},
      getOperation()->getAttrs());
  return TilingResult{{tiled},
                      {tiled.getElements(), tiled.getScales()},
                      getSlices(ValueRange{x})};
}

LogicalResult
QuantizeOp::getResultTilePosition(OpBuilder &builder, unsigned resultNumber,
                                  Sizes offsets, Sizes sizes,
                                  SmallVector<OpFoldResult> &resultOffsets,
                                  SmallVector<OpFoldResult> &resultSizes) {
  if (hasCoarseScales())
    return failure();
  Blocks blocks = getBlocks(*this);
  bool isScales = resultNumber == 1;
  resultOffsets = isScales ? blocks.toBlocks(builder, offsets)
                           : SmallVector<OpFoldResult>(offsets);
  resultSizes = isScales ? blocks.toBlocks(builder, sizes)
                         : SmallVector<OpFoldResult>(sizes);
  return success();
}

LogicalResult QuantizeOp::getIterationDomainTileFromResultTile(
    OpBuilder &builder, unsigned resultNumber, Sizes offsets, Sizes sizes,
    SmallVectorImpl<OpFoldResult> &iterDomainOffsets,
    SmallVectorImpl<OpFoldResult> &iterDomainSizes) {
  // A tile of scales has whole blocks only if all blocks are whole.
  if (!hasTensorSemantics() || getAmax() || hasCoarseScales() ||
      (resultNumber == 1 && getPad()))
    return failure();
  Blocks blocks = getBlocks(*this);
  if (resultNumber == 1) {
    iterDomainOffsets = blocks.toElements(builder, offsets);
    iterDomainSizes = blocks.toElements(builder, sizes);
    return success();
  }
  iterDomainOffsets.assign(offsets.begin(), offsets.end());
  iterDomainSizes.assign(sizes.begin(), sizes.end());
  return success();
}

FailureOr<TilingResult>
QuantizeOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                    Sizes offsets, Sizes sizes) {
  return generateTile(builder, *this, resultNumber, offsets, sizes);
}

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> DequantizeOp::getLoopIteratorTypes() {
  return getParallelLoops(getElements());
}

SmallVector<Range> DequantizeOp::getIterationDomain(OpBuilder &builder) {
  return getDomain(builder, getSizes(builder, getLoc(), getElements()));
}

FailureOr<TilingResult> DequantizeOp::getTiledImplementation(OpBuilder &builder,
                                                             Sizes offsets,
                                                             Sizes sizes) {
  if (failed(verifyNoCoarseScales(*this, hasCoarseScales())))
    return failure();
  Blocks blocks = getBlocks(*this);
  if (failed(blocks.verifyTile(offsets, sizes)))
    return failure();
  SmallVector<Value> operands = {
      extractTile(builder, getLoc(), getElements(), offsets, sizes),
      extractTile(builder, getLoc(), getScales(),
                  blocks.toBlocks(builder, offsets),
                  blocks.toBlocks(builder, sizes))};
  SmallVector<Operation *> slices = getSlices(operands);
  auto type = cast<RankedTensorType>(operands[0].getType())
                  .clone(getElementTypeOrSelf(getResult().getType()));
  // Tiles may have dynamic sizes, so the block size is always given.
  auto tiled = DequantizeOp::create(builder, getLoc(), type, operands[0],
                                    operands[1], getTensorScale(),
                                    builder.getI64IntegerAttr(getBlock()));
  tiled->setDiscardableAttrs(
      llvm::to_vector(getOperation()->getDiscardableAttrs()));
  return TilingResult{{tiled}, {tiled.getResult()}, slices};
}

LogicalResult
DequantizeOp::getResultTilePosition(OpBuilder &, unsigned, Sizes offsets,
                                    Sizes sizes,
                                    SmallVector<OpFoldResult> &resultOffsets,
                                    SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), offsets.end());
  resultSizes.assign(sizes.begin(), sizes.end());
  return success();
}

LogicalResult DequantizeOp::getIterationDomainTileFromResultTile(
    OpBuilder &, unsigned, Sizes offsets, Sizes sizes,
    SmallVectorImpl<OpFoldResult> &iterDomainOffsets,
    SmallVectorImpl<OpFoldResult> &iterDomainSizes) {
  if (!hasTensorSemantics() || hasCoarseScales())
    return failure();
  iterDomainOffsets.assign(offsets.begin(), offsets.end());
  iterDomainSizes.assign(sizes.begin(), sizes.end());
  return success();
}

FailureOr<TilingResult>
DequantizeOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                      Sizes offsets, Sizes sizes) {
  return generateTile(builder, *this, resultNumber, offsets, sizes);
}
