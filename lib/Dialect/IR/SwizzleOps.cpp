//===- SwizzleOps.cpp - swizzle_scales and unswizzle_scales ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes of the 32x4x4 layout, for verifiers, type inference and dynamic sizes.
//
//===----------------------------------------------------------------------===//

#include "AtomLayout.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

SmallVector<int64_t> blockscale::getSwizzledShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape.drop_back(2));
  for (auto [size, extent] :
       llvm::zip_equal(shape.take_back(2), kScaleAtomExtents))
    result.push_back(countAtoms(size, extent));
  result.append({kScaleAtomOuter, kScaleAtomInner});
  return result;
}

SmallVector<OpFoldResult>
blockscale::getSwizzledSizes(OpBuilder &builder, Location loc,
                             ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> result(sizes.drop_back(2));
  for (auto [size, extent] :
       llvm::zip_equal(sizes.take_back(2), kScaleAtomExtents))
    result.push_back(countAtoms(builder, loc, size, extent));
  for (int64_t size : {kScaleAtomOuter, kScaleAtomInner})
    result.push_back(builder.getIndexAttr(size));
  return result;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

ArrayRef<NamedTile> SwizzleScalesOp::getTileOperands() {
  static constexpr NamedTile tile = {"source", TileType::Scales};
  return tile;
}

NamedTile SwizzleScalesOp::getTileResult() {
  return {"the result", TileType::SwizzledScales};
}

ArrayRef<NamedTile> UnswizzleScalesOp::getTileOperands() {
  static constexpr NamedTile tile = {"source", TileType::SwizzledScales};
  return tile;
}

NamedTile UnswizzleScalesOp::getTileResult() {
  return {"the result", TileType::Scales};
}

/// Checks (S1) to (S3) and (U1) to (U3): `inAtoms`, the source or the result,
/// is the 32x4x4 form of `rowMajor`. Unless `isInferred`, a dynamic size
/// matches a static one.
static LogicalResult verifySwizzle(Operation *op, ShapedType rowMajor,
                                   const NamedShape &inAtoms, bool isInferred) {
  ShapedType swizzled = inAtoms.type();
  for (ShapedType type : {rowMajor, swizzled})
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (tensor.getEncoding())
        return op->emitOpError("expected tensors without encoding, got ")
               << type;
  if (isa<TensorType>(rowMajor) != isa<TensorType>(swizzled))
    return op->emitOpError("expected source and result to be both tensors or "
                           "both vectors, got ")
           << op->getOperand(0).getType() << " and "
           << op->getResult(0).getType();
  if (rowMajor.getElementType() != swizzled.getElementType())
    return op->emitOpError("expected source and result to have one element "
                           "type, got ")
           << op->getOperand(0).getType() << " and "
           << op->getResult(0).getType();
  for (ShapedType type : {rowMajor, swizzled})
    if (llvm::is_contained(type.getShape(), 0))
      return op->emitOpError("expected all sizes to be at least 1, got ")
             << type;

  return verifyInAtoms(op, rowMajor, inAtoms,
                       getSwizzledShape(rowMajor.getShape()), "32x4x4 layout",
                       isInferred);
}

LogicalResult SwizzleScalesOp::verify() {
  return verifySwizzle(getOperation(), cast<ShapedType>(getSource().getType()),
                       {"the result", getResult()}, /*isInferred=*/true);
}

LogicalResult UnswizzleScalesOp::verify() {
  auto result = cast<ShapedType>(getResult().getType());
  if (failed(verifySwizzle(getOperation(), result, {"the source", getSource()},
                           /*isInferred=*/false)))
    return failure();
  return verifyNumSizes(*this, result, getSizes());
}

//===----------------------------------------------------------------------===//
// Types and shapes
//===----------------------------------------------------------------------===//

LogicalResult SwizzleScalesOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &inferredReturnTypes) {
  auto source = dyn_cast<ShapedType>(adaptor.getSource().getType());
  if (!source || !source.hasRank() || source.getRank() < 2)
    return emitOptionalError(location, "expected scales of rank 2 or 3");
  SmallVector<int64_t> shape = getSwizzledShape(source.getShape());
  // Not `clone`: a vector would keep its list of scalable dimensions, which
  // has the length of the old rank.
  if (isa<VectorType>(source))
    inferredReturnTypes.push_back(
        VectorType::get(shape, source.getElementType()));
  else
    inferredReturnTypes.push_back(
        RankedTensorType::get(shape, source.getElementType()));
  return success();
}

LogicalResult SwizzleScalesOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!isa<TensorType>(getSource().getType()))
    return failure();
  reifiedReturnShapes.push_back(
      getSwizzledSizes(builder, getLoc(),
                       tensor::getMixedSizes(builder, getLoc(), getSource())));
  return success();
}

SmallVector<OpFoldResult> UnswizzleScalesOp::getMixedSizes() {
  Builder builder(getContext());
  return mlir::getMixedValues(
      cast<ShapedType>(getResult().getType()).getShape(), getSizes(), builder);
}

LogicalResult UnswizzleScalesOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  if (!isa<TensorType>(getResult().getType()))
    return failure();
  reifiedReturnShapes.push_back(getMixedSizes());
  return success();
}

/// With dynamic sizes the op may fail at run time, so it stays where it is.
Speculation::Speculatability UnswizzleScalesOp::getSpeculatability() {
  return hasStaticShapes(getOperation()) ? Speculation::Speculatable
                                         : Speculation::NotSpeculatable;
}
