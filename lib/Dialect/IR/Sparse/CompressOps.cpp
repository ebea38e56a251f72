//===- CompressOps.cpp - sparsify, compress and decompress ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers, types and folds of the ops between dense and compressed matrices.
//
//===----------------------------------------------------------------------===//

#include "SizeChecker.h"
#include "Sparse/SparseShapes.h"
#include "Tiling.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Checks of shapes
//===----------------------------------------------------------------------===//

LogicalResult blockscale::verifyNoZeroSize(Operation *op,
                                           ArrayRef<NamedShape> values) {
  for (const NamedShape &value : values)
    if (llvm::is_contained(value.type().getShape(), 0))
      return op->emitOpError("expected all sizes to be at least 1, got ")
             << value.type() << " for " << value.name;
  return success();
}

LogicalResult blockscale::verifyAlongK(Operation *op, ArrayRef<AlongK> values) {
  for (size_t i = 1; i < values.size(); ++i)
    for (const AlongK &other : values.take_front(i)) {
      const AlongK &value = values[i];
      ShapedType type = value.shape.type(), otherType = other.shape.type();
      auto emit = [&](StringRef what) {
        return op->emitOpError("expected ")
               << value.shape.name << " to have the " << what << " of "
               << other.shape.name << ", got " << type << " with " << otherType;
      };
      if (type.getRank() != otherType.getRank())
        return emit("rank");
      auto differ = [](int64_t a, int64_t b) {
        return a != b && !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b);
      };
      for (auto [a, b] : llvm::zip_equal(type.getShape().drop_back(),
                                         otherType.getShape().drop_back()))
        if (differ(a, b))
          return emit("rows");
      int64_t k = type.getShape().back(), otherK = otherType.getShape().back();
      if (ShapedType::isDynamic(k) || ShapedType::isDynamic(otherK) ||
          k * value.factor == otherK * other.factor)
        continue;
      return op->emitOpError("expected ")
             << value.factor << " logical elements for each "
             << (value.factor == 2 ? "kept element" : "byte of metadata")
             << " of " << value.shape.name << ", and " << other.factor
             << " for each of " << other.shape.name << ", got " << type
             << " with " << otherType;
    }
  return success();
}

SmallVector<OpFoldResult>
blockscale::scaleLastSize(OpBuilder &builder, Location loc,
                          ArrayRef<OpFoldResult> sizes, int64_t factor,
                          int64_t divisor) {
  SmallVector<OpFoldResult> result(sizes);
  result.back() = scaleSize(builder, loc, sizes.back(), factor, divisor);
  return result;
}

/// A type like `like` whose last size is multiplied by `factor` and divided by
/// `divisor`. The rest of a division is dropped; verifiers check it.
static Type scaleLastDim(Type like, Type element, int64_t factor,
                         int64_t divisor) {
  auto shaped = cast<ShapedType>(like);
  SmallVector<int64_t> shape(shaped.getShape());
  if (!shape.empty() && !ShapedType::isDynamic(shape.back()))
    shape.back() = shape.back() * factor / divisor;
  if (isa<VectorType>(like))
    return VectorType::get(shape, element);
  return RankedTensorType::get(shape, element);
}

/// The size along K as a multiple of `divisor`.
static LogicalResult verifyMultiple(Operation *op, const NamedShape &dense,
                                    int64_t divisor, StringRef of) {
  int64_t k = dense.type().getShape().back();
  if (ShapedType::isDynamic(k) || k % divisor == 0)
    return success();
  return op->emitOpError("expected the last size of ")
         << dense.name << " to be a multiple of " << divisor << ", " << of
         << ", got " << k;
}

/// The check at run time that corresponds to `verifyMultiple`. Messages call
/// the size `name`.
static void checkMultiple(SizeChecker &check, Value dense, int64_t divisor,
                          StringRef of, StringRef name) {
  int64_t last = cast<ShapedType>(dense.getType()).getRank() - 1;
  if (!isDynamic(dense, last))
    return;
  Value k = check.getSize(dense, last);
  check.expect(check.isPositive(k), name + " to be at least 1");
  check.expect(check.isMultiple(k, divisor),
               name + " to be a multiple of " + of + ", " + Twine(divisor));
}

/// The checks at run time that correspond to `verifyAlongK`.
static void checkAlongK(SizeChecker &check, OpBuilder &builder,
                        ArrayRef<AlongK> values) {
  AffineExpr d0 = builder.getAffineDimExpr(0);
  const AlongK &first = values.front();
  int64_t last = first.shape.type().getRank() - 1;
  auto getK = [&](const AlongK &of) {
    Value size = check.getSize(of.shape.value, last);
    return check.apply(d0 * of.factor, {OpFoldResult(size)});
  };
  if (isDynamic(first.shape.value, last))
    check.expect(check.isPositive(check.getSize(first.shape.value, last)),
                 "K to be at least 1");
  for (const AlongK &value : values.drop_front())
    for (int64_t dim = 0; dim <= last; ++dim) {
      if (!isDynamic(value.shape.value, dim) &&
          !isDynamic(first.shape.value, dim))
        continue;
      if (dim == last) {
        check.expect(check.isEqual(getK(value), getK(first)),
                     "K of " + value.shape.name + " to be K of " +
                         first.shape.name);
        continue;
      }
      check.expect(check.isEqual(check.getSize(value.shape.value, dim),
                                 check.getSize(first.shape.value, dim)),
                   value.shape.name + " to have the rows of " +
                       first.shape.name);
    }
}

//===----------------------------------------------------------------------===//
// sparsify
//===----------------------------------------------------------------------===//

const GranularityInfo &SparsifyOp::getUnits() {
  return getGranularityInfo(getGranularity().getValue());
}

bool SparsifyOp::hasTensorSemantics() {
  return isa<TensorType>(getSource().getType());
}

LogicalResult SparsifyOp::verify() {
  NamedShape source = {"the source", getSource()};
  if (failed(verifySameKind(*this, source)) ||
      failed(verifyNoZeroSize(*this, source)))
    return failure();
  return verifyMultiple(*this, source, getUnits().chunk(),
                        "the elements of a chunk");
}

/// With dynamic sizes the op may fail at run time, so it stays where it is.
Speculation::Speculatability SparsifyOp::getSpeculatability() {
  return hasStaticShapes(getOperation()) ? Speculation::Speculatable
                                         : Speculation::NotSpeculatable;
}

LogicalResult SparsifyOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!hasTensorSemantics())
    return failure();
  reifiedReturnShapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getSource()));
  return success();
}

/// sparsify(sparsify(v)) is sparsify(v): what was kept is at least as large as
/// the zeros beside it, in the same order.
OpFoldResult SparsifyOp::fold(FoldAdaptor adaptor) {
  auto source = getSource().getDefiningOp<SparsifyOp>();
  if (source && source != *this && source.getGranularity() == getGranularity())
    return getSource();
  if (auto values = dyn_cast_if_present<DenseElementsAttr>(adaptor.getSource()))
    return sparsifyConstant(values, getUnits());
  return {};
}

void SparsifyOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);
  checkMultiple(check, getSource(), getUnits().chunk(),
                "the elements of a chunk", "the last size");
}

//===----------------------------------------------------------------------===//
// compress and decompress
//===----------------------------------------------------------------------===//

/// The dense matrix, its kept elements and its metadata.
static SmallVector<AlongK> getAlongK(CompressOp op) {
  return {{{"the source", op.getSource()}, 1},
          {{"elements", op.getElements()}, kUnitsPerChunk / kKeptUnits},
          {{"metadata", op.getMetadata()}, op.getUnits().elementsPerByte()}};
}

static SmallVector<AlongK> getAlongK(DecompressOp op) {
  return {{{"the result", op.getResult()}, 1},
          {{"elements", op.getElements()}, kUnitsPerChunk / kKeptUnits},
          {{"metadata", op.getMetadata()}, op.getUnits().elementsPerByte()}};
}

/// (K1) to (K4) and (R1) to (R4).
static LogicalResult verifyCompressed(Operation *op, ArrayRef<AlongK> values,
                                      const GranularityInfo &units) {
  SmallVector<NamedShape> shapes = llvm::map_to_vector(
      values, [](const AlongK &value) { return value.shape; });
  if (failed(verifySameKind(op, shapes)) ||
      failed(verifyNoZeroSize(op, shapes)))
    return failure();
  Type dense = shapes[0].type().getElementType();
  Type kept = shapes[1].type().getElementType();
  if (dense != kept)
    return op->emitOpError("expected ")
           << shapes[0].name << " and " << shapes[1].name
           << " to have one element type, got " << dense << " and " << kept;
  if (failed(verifyMultiple(op, shapes[0], units.elementsPerByte(),
                            "the elements of a byte of metadata")))
    return failure();
  return verifyAlongK(op, values);
}

const GranularityInfo &CompressOp::getUnits() {
  return getGranularityInfo(getGranularity().getValue());
}

bool CompressOp::hasTensorSemantics() {
  return isa<TensorType>(getSource().getType());
}

/// The types of the elements and of the metadata of a dense type.
static std::pair<Type, Type> inferCompressed(Type dense,
                                             const GranularityInfo &units) {
  return {scaleLastDim(dense, getElementTypeOrSelf(dense), kKeptUnits,
                       kUnitsPerChunk),
          scaleLastDim(dense, IntegerType::get(dense.getContext(), 8), 1,
                       units.elementsPerByte())};
}

/// Inferred types do not have more static sizes than what they are inferred
/// from.
static LogicalResult verifyInferred(Operation *op, const NamedShape &result,
                                    Type expected) {
  if (result.value.getType() == expected)
    return success();
  return op->emitOpError("expected ")
         << result.name << " to have the type " << expected << ", got "
         << result.value.getType();
}

LogicalResult CompressOp::verify() {
  SmallVector<AlongK> values = getAlongK(*this);
  if (failed(verifyCompressed(*this, values, getUnits())))
    return failure();
  auto [elements, metadata] =
      inferCompressed(getSource().getType(), getUnits());
  if (failed(verifyInferred(*this, values[1].shape, elements)))
    return failure();
  return verifyInferred(*this, values[2].shape, metadata);
}

void CompressOp::build(OpBuilder &builder, OperationState &state, Value source,
                       Granularity granularity) {
  auto [elements, metadata] =
      inferCompressed(source.getType(), getGranularityInfo(granularity));
  build(builder, state, elements, metadata, source,
        GranularityAttr::get(builder.getContext(), granularity));
}

LogicalResult CompressOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!hasTensorSemantics())
    return failure();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getSource());
  for (const AlongK &value : ArrayRef(getAlongK(*this)).drop_front())
    reifiedReturnShapes.push_back(blockscale::scaleLastSize(
        builder, getLoc(), sizes, /*factor=*/1, value.factor));
  return success();
}

LogicalResult CompressOp::fold(FoldAdaptor adaptor,
                               SmallVectorImpl<OpFoldResult> &results) {
  auto source = dyn_cast_if_present<DenseElementsAttr>(adaptor.getSource());
  if (!source)
    return failure();
  std::optional<CompressedConstant> constant = compressConstant(source, *this);
  if (!constant)
    return failure();
  results.assign({constant->elements, constant->metadata});
  return success();
}

void CompressOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  // (K4). Sizes of results follow from those of the source; that there are at
  // most two non-zero units in a chunk is checked by the decomposition.
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);
  checkMultiple(check, getSource(), getUnits().elementsPerByte(),
                "the elements of a byte of metadata", "K");
}

const GranularityInfo &DecompressOp::getUnits() {
  return getGranularityInfo(getGranularity().getValue());
}

bool DecompressOp::hasTensorSemantics() {
  return isa<TensorType>(getElements().getType());
}

LogicalResult DecompressOp::verify() {
  return verifyCompressed(*this, getAlongK(*this), getUnits());
}

void DecompressOp::build(OpBuilder &builder, OperationState &state,
                         Value elements, Value metadata,
                         Granularity granularity) {
  Type type = elements.getType();
  build(builder, state,
        scaleLastDim(type, getElementTypeOrSelf(type), kUnitsPerChunk,
                     kKeptUnits),
        elements, metadata,
        GranularityAttr::get(builder.getContext(), granularity));
}

LogicalResult DecompressOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!hasTensorSemantics())
    return failure();
  reifiedReturnShapes.push_back(blockscale::scaleLastSize(
      builder, getLoc(),
      tensor::getMixedSizes(builder, getLoc(), getElements()), kUnitsPerChunk,
      kKeptUnits));
  return success();
}

OpFoldResult DecompressOp::fold(FoldAdaptor adaptor) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(adaptor.getElements());
  auto metadata = dyn_cast_if_present<DenseElementsAttr>(adaptor.getMetadata());
  if (!elements || !metadata)
    return {};
  return decompressConstant(elements, metadata, *this);
}

void DecompressOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  if (hasStaticShapes(getOperation()))
    return;
  SizeChecker check(builder, loc, getOperation(), generateErrorMessage);
  // The sizes of the result follow from those of its elements.
  checkAlongK(check, builder, ArrayRef(getAlongK(*this)).drop_front());
}
