//===- MetadataOps.cpp - tile_metadata and untile_metadata ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes of tiled metadata, for verifiers, builders and dynamic sizes, and the
// folds of both ops.
//
//===----------------------------------------------------------------------===//

#include "SizeChecker.h"
#include "Sparse/SparseShapes.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Rows, bytes: the extents of an atom.
static constexpr int64_t kExtents[] = {kMetadataAtomRows, kMetadataAtomBytes};

SmallVector<int64_t>
blockscale::getTiledMetadataShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape.drop_back(2));
  // Atoms along K come first.
  for (unsigned dim : {1, 0}) {
    int64_t size = shape.take_back(2)[dim];
    result.push_back(ShapedType::isDynamic(size)
                         ? size
                         : llvm::divideCeilSigned(size, kExtents[dim]));
  }
  result.append({kMetadataAtomRows, kMetadataAtomBytes});
  return result;
}

SmallVector<OpFoldResult>
blockscale::getTiledMetadataSizes(OpBuilder &builder, Location loc,
                                  ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> result(sizes.drop_back(2));
  AffineExpr d0 = builder.getAffineDimExpr(0);
  for (unsigned dim : {1, 0}) {
    OpFoldResult atoms = affine::makeComposedFoldedAffineApply(
        builder, loc, d0.ceilDiv(kExtents[dim]), {sizes.take_back(2)[dim]});
    // A negative size, in an invalid program, does not become static.
    if (getConstantIntValue(atoms).value_or(0) < 0)
      atoms = getValueOrCreateConstantIndexOp(builder, loc, atoms);
    result.push_back(atoms);
  }
  for (int64_t size : kExtents)
    result.push_back(builder.getIndexAttr(size));
  return result;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Checks (N1) to (N3) and (V1) to (V3): `tiled` holds `rowMajor` in atoms.
/// Unless `isInferred`, a dynamic size matches a static one.
static LogicalResult verifyTiled(Operation *op, const NamedShape &rowMajor,
                                 const NamedShape &tiled, bool isInferred) {
  if (failed(verifySameKind(op, {rowMajor, tiled})))
    return failure();
  int64_t rank = rowMajor.type().getRank();
  if (rank != 2 && rank != 3)
    return op->emitOpError("expected ")
           << rowMajor.name << " to have rank 2 or 3, got " << rowMajor.type();
  if (failed(verifyNoZeroSize(op, {rowMajor, tiled})))
    return failure();
  SmallVector<int64_t> expected =
      getTiledMetadataShape(rowMajor.type().getShape());
  ArrayRef<int64_t> shape = tiled.type().getShape();
  bool matches = expected.size() == shape.size();
  for (auto [want, got] : llvm::zip(expected, shape))
    matches &= want == got || (!isInferred && (ShapedType::isDynamic(want) ||
                                               ShapedType::isDynamic(got)));
  // The atom itself is never dynamic.
  matches &= shape.size() >= 2 && shape.take_back(2) == ArrayRef(kExtents);
  if (matches)
    return success();
  std::string text;
  for (int64_t size : expected)
    text += (text.empty() ? "" : "x") +
            (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return op->emitOpError("expected ")
         << tiled.name << " to have shape " << text << ", the atoms of "
         << rowMajor.type() << ", got " << tiled.type();
}

LogicalResult TileMetadataOp::verify() {
  return verifyTiled(*this, {"the source", getSource()},
                     {"the result", getResult()}, /*isInferred=*/true);
}

LogicalResult UntileMetadataOp::verify() {
  if (failed(verifyTiled(*this, {"the result", getResult()},
                         {"the source", getSource()}, /*isInferred=*/false)))
    return failure();
  auto result = cast<ShapedType>(getResult().getType());
  if (getSizes().size() != result.getNumDynamicDims())
    return emitOpError("expected ")
           << result.getNumDynamicDims() << " sizes, one for each dynamic size "
           << "of " << result << ", got " << getSizes().size();
  return success();
}

//===----------------------------------------------------------------------===//
// Types and shapes
//===----------------------------------------------------------------------===//

static Type makeMetadata(Type like, ArrayRef<int64_t> shape) {
  Type i8 = IntegerType::get(like.getContext(), 8);
  if (isa<VectorType>(like))
    return VectorType::get(shape, i8);
  return RankedTensorType::get(shape, i8);
}

void TileMetadataOp::build(OpBuilder &builder, OperationState &state,
                           Value source) {
  auto type = cast<ShapedType>(source.getType());
  build(builder, state,
        makeMetadata(type, getTiledMetadataShape(type.getShape())), source);
}

LogicalResult TileMetadataOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!isa<TensorType>(getSource().getType()))
    return failure();
  reifiedReturnShapes.push_back(getTiledMetadataSizes(
      builder, getLoc(),
      tensor::getMixedSizes(builder, getLoc(), getSource())));
  return success();
}

void UntileMetadataOp::build(OpBuilder &builder, OperationState &state,
                             Value source, ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  build(builder, state, makeMetadata(source.getType(), shape), source, dynamic);
}

SmallVector<OpFoldResult> UntileMetadataOp::getMixedSizes() {
  Builder builder(getContext());
  return mlir::getMixedValues(
      cast<ShapedType>(getResult().getType()).getShape(), getSizes(), builder);
}

LogicalResult UntileMetadataOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!isa<TensorType>(getResult().getType()))
    return failure();
  reifiedReturnShapes.push_back(getMixedSizes());
  return success();
}

/// With dynamic sizes the op may fail at run time, so it stays where it is.
Speculation::Speculatability UntileMetadataOp::getSpeculatability() {
  return hasStaticShapes(getOperation()) ? Speculation::Speculatable
                                         : Speculation::NotSpeculatable;
}

void UntileMetadataOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  if (hasStaticShapes(getOperation()))
    return;
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);

  // (V2) and (V3)
  SmallVector<OpFoldResult> sizes = getMixedSizes();
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    // There may be no rows.
    int64_t least = dim + 1 == sizes.size() ? 1 : 0;
    if (isa<Value>(size))
      check.expect(check.isAtLeast(cast<Value>(size), least),
                   "sizes of at least 0, and bytes of at least 1");
  }
  SmallVector<OpFoldResult> tiled = getTiledMetadataSizes(builder, loc, sizes);
  for (auto [dim, atoms] : llvm::enumerate(ArrayRef(tiled).drop_back(2)))
    check.expect(
        check.isEqual(getValueOrCreateConstantIndexOp(builder, loc, atoms),
                      check.getSize(getSource(), dim)),
        "sizes that round up to the atoms of the source");
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// Tiles a constant. Otherwise, tile(untile(t)) is t only without padding: the
/// op writes 0x44 there, while t may hold anything.
OpFoldResult TileMetadataOp::fold(FoldAdaptor adaptor) {
  if (auto bytes = dyn_cast_if_present<DenseElementsAttr>(adaptor.getSource()))
    return tileMetadataConstant(bytes, cast<ShapedType>(getType()));
  auto untile = getSource().getDefiningOp<UntileMetadataOp>();
  if (!untile || untile.getSource().getType() != getType() ||
      untile.getSource() == getResult()) // A cycle, in a graph region.
    return {};
  auto rowMajor = cast<ShapedType>(getSource().getType());
  ArrayRef<int64_t> tail = rowMajor.getShape().take_back(2);
  if (!rowMajor.hasStaticShape() || tail[0] % kMetadataAtomRows != 0 ||
      tail[1] % kMetadataAtomBytes != 0)
    return {};
  return untile.getSource();
}

/// untile(tile(m)) is m, if sizes cannot differ.
OpFoldResult UntileMetadataOp::fold(FoldAdaptor adaptor) {
  auto type = cast<ShapedType>(getType());
  if (!type.hasStaticShape())
    return {};
  if (auto bytes = dyn_cast_if_present<DenseElementsAttr>(adaptor.getSource()))
    return untileMetadataConstant(bytes, type);
  auto tile = getSource().getDefiningOp<TileMetadataOp>();
  if (!tile || tile.getSource().getType() != type ||
      tile.getSource() == getResult()) // A cycle, in a graph region.
    return {};
  return tile.getSource();
}

/// untile(tile(m)) is m if the dynamic sizes are known to be those of m.
static LogicalResult foldUntileOfDynamicTile(UntileMetadataOp op,
                                             PatternRewriter &rewriter) {
  auto tile = op.getSource().getDefiningOp<TileMetadataOp>();
  if (!tile)
    return rewriter.notifyMatchFailure(op, "source is not tile_metadata");
  Value metadata = tile.getSource();
  if (metadata == op.getResult())
    return rewriter.notifyMatchFailure(op, "cycle in a graph region");
  if (!isa<RankedTensorType>(metadata.getType()))
    return rewriter.notifyMatchFailure(op, "vectors are left to the folder");
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes())) {
    FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual(
        ValueBoundsConstraintSet::Variable(size),
        ValueBoundsConstraintSet::Variable(metadata,
                                           static_cast<int64_t>(dim)));
    if (failed(equal) || !*equal)
      return rewriter.notifyMatchFailure(op, "sizes may differ");
  }
  if (metadata.getType() == op.getType())
    rewriter.replaceOp(op, metadata);
  else
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getType(), metadata);
  return success();
}

/// Constants in `sizes` become static sizes of the result.
static LogicalResult foldConstantSizes(UntileMetadataOp op,
                                       PatternRewriter &rewriter) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type)
    return rewriter.notifyMatchFailure(op, "vectors have static sizes");
  auto source = cast<ShapedType>(op.getSource().getType());
  // Invalid sizes stay dynamic, because a static one would not verify.
  auto isPossible = [&](ArrayRef<int64_t> shape, int64_t size) {
    if (size < 1)
      return false;
    for (auto [want, got] :
         llvm::zip(getTiledMetadataShape(shape), source.getShape()))
      if (want != got && !ShapedType::isDynamic(want) &&
          !ShapedType::isDynamic(got))
        return false;
    return true;
  };

  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> sizes;
  unsigned next = 0;
  for (int64_t &size : shape) {
    if (!ShapedType::isDynamic(size))
      continue;
    Value operand = op.getSizes()[next++];
    std::optional<int64_t> constant = getConstantIntValue(operand);
    size = constant.value_or(ShapedType::kDynamic);
    if (constant && isPossible(shape, *constant))
      continue;
    size = ShapedType::kDynamic;
    sizes.push_back(operand);
  }
  if (sizes.size() == op.getSizes().size())
    return rewriter.notifyMatchFailure(op, "no size is a usable constant");
  Value untiled = UntileMetadataOp::create(
      rewriter, op.getLoc(), type.clone(shape), op.getSource(), sizes);
  rewriter.replaceOpWithNewOp<tensor::CastOp>(op, type, untiled);
  return success();
}

void UntileMetadataOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                                   MLIRContext *) {
  results.add(foldConstantSizes).add(foldUntileOfDynamicTile);
}
