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

#include "AtomLayout.h"
#include "Sparse/SparseShapes.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Rows, bytes: the extents of an atom.
static constexpr int64_t kExtents[] = {kMetadataAtomRows, kMetadataAtomBytes};

SmallVector<int64_t>
blockscale::getTiledMetadataShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape.drop_back(2));
  // Atoms along K come first.
  for (unsigned dim : {1, 0})
    result.push_back(countAtoms(shape.take_back(2)[dim], kExtents[dim]));
  result.append({kMetadataAtomRows, kMetadataAtomBytes});
  return result;
}

SmallVector<OpFoldResult>
blockscale::getTiledMetadataSizes(OpBuilder &builder, Location loc,
                                  ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> result(sizes.drop_back(2));
  for (unsigned dim : {1, 0})
    result.push_back(
        countAtoms(builder, loc, sizes.take_back(2)[dim], kExtents[dim]));
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
  return verifyInAtoms(op, rowMajor.type(), tiled,
                       getTiledMetadataShape(rowMajor.type().getShape()),
                       "atoms", isInferred);
}

LogicalResult TileMetadataOp::verify() {
  return verifyTiled(*this, {"the source", getSource()},
                     {"the result", getResult()}, /*isInferred=*/true);
}

LogicalResult UntileMetadataOp::verify() {
  if (failed(verifyTiled(*this, {"the result", getResult()},
                         {"the source", getSource()}, /*isInferred=*/false)))
    return failure();
  return verifyNumSizes(*this, cast<ShapedType>(getResult().getType()),
                        getSizes());
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
  for (size_t dim = 0; dim != sizes.size(); ++dim)
    checkLeast(check, sizes, dim, "bytes");
  SmallVector<OpFoldResult> tiled = getTiledMetadataSizes(builder, loc, sizes);
  for (auto [dim, atoms] : llvm::enumerate(ArrayRef(tiled).drop_back(2)))
    checkAtoms(check, getSource(), dim,
               getValueOrCreateConstantIndexOp(builder, loc, atoms));
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
  if (untile && canReplace(untile.getSource(), getResult()) &&
      fillsAtoms(cast<ShapedType>(getSource().getType()), kExtents))
    return untile.getSource();
  return {};
}

/// untile(tile(m)) is m, if sizes cannot differ.
OpFoldResult UntileMetadataOp::fold(FoldAdaptor adaptor) {
  auto type = cast<ShapedType>(getType());
  if (!type.hasStaticShape())
    return {};
  if (auto bytes = dyn_cast_if_present<DenseElementsAttr>(adaptor.getSource()))
    return untileMetadataConstant(bytes, type);
  auto tile = getSource().getDefiningOp<TileMetadataOp>();
  if (tile && canReplace(tile.getSource(), getResult()))
    return tile.getSource();
  return {};
}

/// untile(tile(m)) is m if the dynamic sizes are known to be those of m.
static LogicalResult foldUntileOfDynamicTile(UntileMetadataOp op,
                                             PatternRewriter &rewriter) {
  auto tile = op.getSource().getDefiningOp<TileMetadataOp>();
  return replaceByOriginal(rewriter, op, op.getMixedSizes(),
                           tile ? tile.getSource() : Value(), "tile_metadata");
}

void UntileMetadataOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                                   MLIRContext *) {
  results.add(foldConstantSizes<UntileMetadataOp, getTiledMetadataShape>)
      .add(foldUntileOfDynamicTile);
}
