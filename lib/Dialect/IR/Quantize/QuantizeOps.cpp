//===- QuantizeOps.cpp - quantize and dequantize --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Quantize/BlockTypes.h"
#include "blockscale/Dialect/IR/ScaleRules.h"
#include "blockscale/Support/SparseMetadata.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Checks of quantized tensors
//===----------------------------------------------------------------------===//

LogicalResult blockscale::verifyBlockTypes(Operation *op, Type element,
                                           Type scale, int64_t blockSize) {
  std::optional<Format> elementFormat = getElementFormat(element);
  std::optional<Format> scaleFormat = getScaleFormat(scale);
  if (!elementFormat || !scaleFormat)
    return op->emitOpError("expected elements of f8E4M3FN, f8E5M2, f6E3M2FN, "
                           "f6E2M3FN or f4E2M1FN and scales of f8E8M0FNU or "
                           "f8E4M3FN, got ")
           << element << " and " << scale;
  // Those of dense and of sparse products.
  std::vector<unsigned> legal =
      getLegalSparseBlockSizes(*elementFormat, *elementFormat, *scaleFormat);
  if (legal.empty())
    return op->emitOpError("expected scales of type f8E8M0FNU for ")
           << element << ", got " << scale;
  if (!llvm::is_contained(legal, blockSize))
    return op->emitOpError("expected a block size of ")
           << llvm::interleaved(legal, " or ") << " for " << element << " with "
           << scale << " scales, got " << blockSize;
  return success();
}

LogicalResult blockscale::verifyScaleRule(Operation *op, Type scale,
                                          std::optional<ScaleRule> rule,
                                          bool hasTensorScale) {
  bool isUe4m3 = getScaleFormat(scale) == Format::UE4M3;
  if (rule && isUe4m3)
    return op->emitOpError("expected no 'rule' for scales of type ") << scale;
  if (hasTensorScale && !isUe4m3)
    return op->emitOpError("expected no tensor scale for scales of type ")
           << scale;
  return success();
}

namespace {
/// A value with its name in messages.
struct Named {
  StringRef name;
  Type type;
};
} // namespace

/// (Q1), (E1): values of one kind.
static LogicalResult verifyKind(Operation *op, ArrayRef<Named> values) {
  for (const Named &value : values) {
    if (isa<TensorType>(value.type) != isa<TensorType>(values[0].type))
      return op->emitOpError("expected all to be tensors or all to be vectors, "
                             "got ")
             << values[0].type << " and " << value.type;
    if (auto tensor = dyn_cast<RankedTensorType>(value.type))
      if (tensor.getEncoding())
        return op->emitOpError("expected tensors without encoding, got ")
               << value.type;
  }
  return success();
}

/// (Q6), (E5)
static LogicalResult verifyPositive(Operation *op, ArrayRef<Named> values) {
  for (const Named &value : values)
    if (llvm::is_contained(cast<ShapedType>(value.type).getShape(), 0))
      return op->emitOpError("expected all sizes to be at least 1, got ")
             << value.type << " for " << value.name;
  return success();
}

/// (Q2), (E2) and all dimensions except the last of (Q3), (E3). An inferred
/// type must not have more static sizes than the type that it is inferred from.
static LogicalResult verifySameSizes(Operation *op, const Named &got,
                                     const Named &expected, bool hasColumns,
                                     bool isInferred = false) {
  auto gotType = cast<ShapedType>(got.type);
  auto expectedType = cast<ShapedType>(expected.type);
  auto emit = [&]() {
    InFlightDiagnostic error = op->emitOpError("expected ")
                               << got.name << " to have the "
                               << (hasColumns ? "shape" : "rows") << " of "
                               << expected.name << ", got " << got.type
                               << " with " << expected.type;
    return error;
  };
  if (gotType.getRank() != expectedType.getRank())
    return emit();
  for (int64_t dim = 0, end = gotType.getRank() - (hasColumns ? 0 : 1);
       dim != end; ++dim) {
    int64_t a = gotType.getDimSize(dim), b = expectedType.getDimSize(dim);
    if (a != b && (isInferred ||
                   (!ShapedType::isDynamic(a) && !ShapedType::isDynamic(b))))
      return emit();
  }
  return success();
}

/// K_s of (Q3), (E3).
static LogicalResult verifyBlocks(Operation *op, ShapedType matrix,
                                  ShapedType scales, int64_t blockSize,
                                  bool isInferred = false) {
  int64_t k = matrix.getShape().back(), got = scales.getShape().back();
  if (isInferred && ShapedType::isDynamic(k) != ShapedType::isDynamic(got))
    return op->emitOpError("expected K_s to be dynamic where K is, got ")
           << scales << " with " << matrix;
  if (ShapedType::isDynamic(k) || ShapedType::isDynamic(got))
    return success();
  int64_t expected = llvm::divideCeilSigned(k, blockSize);
  if (got == expected)
    return success();
  return op->emitOpError("expected scales of ")
         << expected << " blocks of " << blockSize << " for K = " << k
         << ", got " << got << " (" << scales << " with " << matrix << ")";
}

/// Ops with dynamic sizes may fail at run time, so they stay where they are.
static Speculation::Speculatability speculateStatic(Operation *op) {
  return hasStaticShapes(op) ? Speculation::Speculatable
                             : Speculation::NotSpeculatable;
}

static std::optional<float> getConstantScale(Attribute attr) {
  if (auto number = dyn_cast_if_present<FloatAttr>(attr))
    return static_cast<float>(number.getValueAsDouble());
  return std::nullopt;
}

SmallVector<OpFoldResult>
blockscale::getScaleSizes(OpBuilder &builder, Location loc,
                          ArrayRef<OpFoldResult> sizes, int64_t blockSize) {
  SmallVector<OpFoldResult> result(sizes);
  AffineExpr d0 = builder.getAffineDimExpr(0);
  result.back() = affine::makeComposedFoldedAffineApply(
      builder, loc, d0.ceilDiv(blockSize), {sizes.back()});
  return result;
}

//===----------------------------------------------------------------------===//
// quantize
//===----------------------------------------------------------------------===//

bool QuantizeOp::hasTensorSemantics() {
  return isa<TensorType>(getX().getType());
}

Format QuantizeOp::getElementFormat() {
  return *blockscale::getElementFormat(
      getElementTypeOrSelf(getElements().getType()));
}

Format QuantizeOp::getScaleFormat() {
  return *blockscale::getScaleFormat(
      getElementTypeOrSelf(getScales().getType()));
}

std::optional<ScaleRule> QuantizeOp::getScaleRule() {
  Type scale = getElementTypeOrSelf(getScales().getType());
  if (isa<Float8E8M0FNUType>(scale))
    return getRule().value_or(ScaleRule::Rceil);
  return scale.isF32() ? getRule() : std::nullopt;
}

bool QuantizeOp::hasCoarseScales() { return getScaleBlockAttr() != nullptr; }

ScaleBlock QuantizeOp::getBlockShape() {
  if (hasCoarseScales())
    return getScaleBlockAttr().getBlock();
  return {/*rows=*/1, getBlock()};
}

int64_t QuantizeOp::getBlock() { return getBlockSizeAttr().getInt(); }

/// The rows of (Q3), (Q4)
static LogicalResult verifyBlockSize(QuantizeOp op, const Named &x,
                                     const Named &scales) {
  if (!op.getBlockSizeAttr())
    return op.emitOpError("requires attribute 'block_size'");
  auto scalesType = cast<ShapedType>(scales.type);
  if (failed(verifySameSizes(op, scales, x, /*hasColumns=*/false,
                             /*isInferred=*/true)))
    return failure();
  return verifyBlockTypes(op, getElementTypeOrSelf(op.getElements().getType()),
                          scalesType.getElementType(), op.getBlock());
}

LogicalResult QuantizeOp::verify() {
  Named x = {"x", getX().getType()},
        elements = {"elements", getElements().getType()},
        scales = {"scales", getScales().getType()};
  auto xType = cast<ShapedType>(x.type);
  auto scalesType = cast<ShapedType>(scales.type);
  bool isCoarse = hasCoarseScales() || scalesType.getElementType().isF32();
  if (failed(verifyKind(*this, {x, elements, scales})) ||
      failed(verifyPositive(*this, {x, elements, scales})) ||
      failed(verifySameSizes(*this, elements, x, /*hasColumns=*/true,
                             /*isInferred=*/true)) ||
      failed(isCoarse ? verifyCoarseScales(*this)
                      : verifyBlockSize(*this, x, scales)) ||
      failed(verifyScaleRule(*this, scalesType.getElementType(), getRule(),
                             getTensorScale() != nullptr)))
    return failure();
  if (getAmax() && isa<TensorType>(getAmax().getType()) != hasTensorSemantics())
    return emitOpError("expected the largest magnitude to be ")
           << (hasTensorSemantics() ? "tensor<f32>" : "f32") << " with "
           << x.type << ", got " << getAmax().getType();
  if (isCoarse)
    return success();
  int64_t k = xType.getShape().back();
  if (!getPad() && !ShapedType::isDynamic(k) && k % getBlock() != 0)
    return emitOpError("expected K to be a multiple of the block size, ")
           << getBlock() << ", or the attribute 'pad', got K = " << k;
  return verifyBlocks(*this, xType, scalesType, getBlock(),
                      /*isInferred=*/true);
}

Speculation::Speculatability QuantizeOp::getSpeculatability() {
  return speculateStatic(*this);
}

LogicalResult QuantizeOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!hasTensorSemantics())
    return failure();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, getLoc(), getX());
  SmallVector<OpFoldResult> scaleSizes =
      hasCoarseScales()
          ? getCoarseScaleSizes(builder, getLoc(), sizes, getBlockShape())
          : getScaleSizes(builder, getLoc(), sizes, getBlock());
  reifiedReturnShapes = {sizes, scaleSizes};
  if (getAmax())
    reifiedReturnShapes.emplace_back();
  return success();
}

LogicalResult QuantizeOp::fold(FoldAdaptor adaptor,
                               SmallVectorImpl<OpFoldResult> &results) {
  auto x = dyn_cast_if_present<DenseElementsAttr>(adaptor.getX());
  std::optional<float> scale = getConstantScale(adaptor.getTensorScale());
  if (!x || (getTensorScale() && !scale) || hasCoarseScales())
    return failure();
  std::optional<QuantizedConstant> constant = quantizeConstant(x, scale, *this);
  if (!constant)
    return failure();
  results.assign({constant->elements, constant->scales});
  if (constant->amax)
    results.push_back(constant->amax);
  return success();
}

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

bool DequantizeOp::hasTensorSemantics() {
  return isa<TensorType>(getElements().getType());
}

Format DequantizeOp::getElementFormat() {
  return *blockscale::getElementFormat(
      getElementTypeOrSelf(getElements().getType()));
}

Format DequantizeOp::getScaleFormat() {
  return *blockscale::getScaleFormat(
      getElementTypeOrSelf(getScales().getType()));
}

bool DequantizeOp::hasCoarseScales() {
  return getScaleBlockAttr() ||
         getElementTypeOrSelf(getScales().getType()).isF32();
}

ScaleBlock DequantizeOp::getBlockShape() {
  if (hasCoarseScales())
    return blockscale::getScaleBlock(getCoarseOperand(*this));
  return {/*rows=*/1, getBlock()};
}

int64_t DequantizeOp::getBlock() {
  if (IntegerAttr size = getBlockSizeAttr())
    return size.getInt();
  return cast<ShapedType>(getElements().getType()).getShape().back() /
         cast<ShapedType>(getScales().getType()).getShape().back();
}

LogicalResult DequantizeOp::verify() {
  Named elements = {"elements", getElements().getType()},
        scales = {"scales", getScales().getType()},
        result = {"the result", getResult().getType()};
  auto elementsType = cast<ShapedType>(elements.type);
  auto scalesType = cast<ShapedType>(scales.type);
  if (failed(verifyKind(*this, {elements, scales, result})) ||
      failed(verifyPositive(*this, {elements, scales, result})) ||
      failed(verifySameSizes(*this, result, elements, /*hasColumns=*/true)))
    return failure();
  if (hasCoarseScales())
    return verifyCoarseScales(*this);
  if (failed(verifySameSizes(*this, scales, elements, /*hasColumns=*/false)))
    return failure();
  if (!getBlockSizeAttr()) {
    int64_t k = elementsType.getShape().back();
    int64_t blocks = scalesType.getShape().back();
    if (ShapedType::isDynamic(k) || ShapedType::isDynamic(blocks) ||
        k % blocks != 0)
      return emitOpError("expected attribute 'block_size', because K is "
                         "dynamic or no multiple of K_s, got ")
             << elements.type << " and " << scales.type;
  }
  if (failed(verifyBlockTypes(*this, elementsType.getElementType(),
                              scalesType.getElementType(), getBlock())))
    return failure();
  return verifyBlocks(*this, elementsType, scalesType, getBlock());
}

Speculation::Speculatability DequantizeOp::getSpeculatability() {
  return speculateStatic(*this);
}

LogicalResult DequantizeOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!hasTensorSemantics())
    return failure();
  reifiedReturnShapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getElements()));
  return success();
}

OpFoldResult DequantizeOp::fold(FoldAdaptor adaptor) {
  auto elements = dyn_cast_if_present<DenseElementsAttr>(adaptor.getElements());
  auto scales = dyn_cast_if_present<DenseElementsAttr>(adaptor.getScales());
  std::optional<float> scale = getConstantScale(adaptor.getTensorScale());
  if (!elements || !scales || (getTensorScale() && !scale) || hasCoarseScales())
    return {};
  return dequantizeConstant(elements, scales, scale, *this);
}
