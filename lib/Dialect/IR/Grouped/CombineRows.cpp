//===- CombineRows.cpp - Weighted sums of rows ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grouped/GroupedRules.h"
#include "Tiling.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// (W2); the result is a value only in messages.
static SmallVector<SizeRelation> getRelations(CombineRowsOp op) {
  NamedShape positions = {"positions", op.getPositions()},
             weights = {"weights", op.getWeights()},
             source = {"source", op.getSource()},
             result = {"the result", op.getResult()};
  return {{{weights, 0, "S"}, {positions, 0, "S"}},
          {{weights, 1, "J"}, {positions, 1, "J"}},
          {{result, 0, "S"}, {positions, 0, "S"}},
          {{result, 1, "N"}, {source, 1, "N"}}};
}

LogicalResult CombineRowsOp::verify() {
  NamedShape values[] = {{"source", getSource()},
                         {"positions", getPositions()},
                         {"weights", getWeights()},
                         {"the result", getResult()}};
  if (failed(verifySameKind(*this, values)))
    return failure();
  for (const NamedShape &value : values)
    if (value.type().getDimSize(1) == 0)
      return emitOpError("expected N and J to be at least 1, got 0 in "
                         "dimension 1 of ")
             << value.name << " (" << value.type() << ")";
  return verifySizes(*this, getRelations(*this));
}

LogicalResult CombineRowsOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  auto type = cast<RankedTensorType>(getType());
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(builder, getLoc(), getPositions(), 0),
      tensor::getMixedSize(builder, getLoc(), getSource(), 1)};
  for (auto [size, known] : llvm::zip_equal(sizes, type.getShape()))
    if (!ShapedType::isDynamic(known))
      size = builder.getIndexAttr(known);
  reifiedReturnShapes.push_back(sizes);
  return success();
}

void CombineRowsOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  SizeChecker check(builder, loc, *this, generateErrorMessage);
  for (auto [name, value] :
       {std::pair("N", getSource()), {"J", getPositions()}})
    if (isDynamic(value, 1))
      check.expect(check.isPositive(check.getSize(value, 1)),
                   Twine(name) + " to be at least 1");
  // The sizes of the result are those of operands, or known.
  SmallVector<SizeRelation> relations = getRelations(*this);
  checkSizes(check, ArrayRef(relations).take_front(2));
  auto result = cast<RankedTensorType>(getType());
  for (auto [dim, of] : {std::pair(0, getPositions()), {1, getSource()}})
    if (!result.isDynamicDim(dim) && isDynamic(of, dim))
      check.expect(check.isEqual(check.getSize(of, dim),
                                 check.getConstant(result.getDimSize(dim))),
                   relations[2 + dim].describe());
  // Positions are checked where they are read.
}

//===----------------------------------------------------------------------===//
// Tiling
//===----------------------------------------------------------------------===//

// The iteration domain is that of the result.

SmallVector<utils::IteratorType> CombineRowsOp::getLoopIteratorTypes() {
  return getParallelLoops(getResult());
}

SmallVector<Range> CombineRowsOp::getIterationDomain(OpBuilder &builder) {
  ReifiedRankedShapedTypeDims shapes;
  (void)reifyResultShapes(builder, shapes);
  return getDomain(builder, shapes.front());
}

FailureOr<TilingResult>
CombineRowsOp::getTiledImplementation(OpBuilder &builder, Sizes offsets,
                                      Sizes sizes) {
  Location loc = getLoc();
  OpFoldResult zero = builder.getIndexAttr(0);
  auto getSlots = [&](Value slots) {
    return extractTile(
        builder, loc, slots, {offsets[0], zero},
        {sizes[0], tensor::getMixedSize(builder, loc, slots, 1)});
  };
  Value source = extractTile(
      builder, loc, getSource(), {zero, offsets[1]},
      {tensor::getMixedSize(builder, loc, getSource(), 0), sizes[1]});
  Value positions = getSlots(getPositions()), weights = getSlots(getWeights());
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(getType()));
  auto tiled =
      CombineRowsOp::create(builder, loc, type, source, positions, weights);
  tiled->setDiscardableAttrs(
      llvm::to_vector(getOperation()->getDiscardableAttrs()));
  return TilingResult{
      {tiled}, {tiled.getResult()}, getSlices({source, positions, weights})};
}

LogicalResult
CombineRowsOp::getResultTilePosition(OpBuilder &, unsigned, Sizes offsets,
                                     Sizes sizes,
                                     SmallVector<OpFoldResult> &resultOffsets,
                                     SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets = llvm::to_vector(offsets);
  resultSizes = llvm::to_vector(sizes);
  return success();
}

LogicalResult CombineRowsOp::getIterationDomainTileFromResultTile(
    OpBuilder &, unsigned, Sizes offsets, Sizes sizes,
    SmallVectorImpl<OpFoldResult> &iterDomainOffsets,
    SmallVectorImpl<OpFoldResult> &iterDomainSizes) {
  iterDomainOffsets.assign(offsets.begin(), offsets.end());
  iterDomainSizes.assign(sizes.begin(), sizes.end());
  return success();
}

FailureOr<TilingResult> CombineRowsOp::generateResultTileValue(
    OpBuilder &builder, unsigned resultNumber, Sizes offsets, Sizes sizes) {
  return generateTile(builder, *this, resultNumber, offsets, sizes);
}
