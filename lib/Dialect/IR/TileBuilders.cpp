//===- TileBuilders.cpp - Ops of the tile level from their operands -------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders that infer result types from operands. The verifier checks whether
// operands match.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// A tensor or vector type, like `like`, with another shape and element type.
static Type makeLike(Type like, ArrayRef<int64_t> shape, Type element) {
  if (isa<VectorType>(like))
    return VectorType::get(shape, element);
  return RankedTensorType::get(shape, element);
}

/// The shape of a type; empty for a type that the op does not support.
static ArrayRef<int64_t> getShape(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() ? shaped.getShape() : ArrayRef<int64_t>();
}

static IntegerAttr makeBlockSize(OpBuilder &builder, int64_t blockSize) {
  return blockSize == 0 ? IntegerAttr() : builder.getI64IntegerAttr(blockSize);
}

//===----------------------------------------------------------------------===//
// mma_scaled
//===----------------------------------------------------------------------===//

void MmaScaledOp::build(OpBuilder &builder, OperationState &state, Value x,
                        Value xScale, Value y, Value yScale, Value acc,
                        IntegerAttr blockSize) {
  build(builder, state, acc.getType(), x, xScale, y, yScale, acc, blockSize,
        ScaleBlockAttr(), ScaleBlockAttr(), AccumulateAttr());
}

void MmaScaledOp::build(OpBuilder &builder, OperationState &state, Value x,
                        Value xScale, Value y, Value yScale, Value acc) {
  build(builder, state, x, xScale, y, yScale, acc, IntegerAttr());
}

void MmaScaledOp::build(OpBuilder &builder, OperationState &state, Value x,
                        Value xScale, Value y, Value yScale, Value acc,
                        int64_t blockSize) {
  build(builder, state, x, xScale, y, yScale, acc,
        makeBlockSize(builder, blockSize));
}

//===----------------------------------------------------------------------===//
// unswizzle_scales
//===----------------------------------------------------------------------===//

void UnswizzleScalesOp::build(OpBuilder &builder, OperationState &state,
                              Value source, ArrayRef<OpFoldResult> sizes) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  Type type =
      makeLike(source.getType(), shape, getElementTypeOrSelf(source.getType()));
  build(builder, state, type, source, dynamic);
}

void UnswizzleScalesOp::build(OpBuilder &builder, OperationState &state,
                              Value source, ArrayRef<int64_t> shape) {
  Type type =
      makeLike(source.getType(), shape, getElementTypeOrSelf(source.getType()));
  build(builder, state, type, source, ValueRange());
}

//===----------------------------------------------------------------------===//
// quantize and dequantize
//===----------------------------------------------------------------------===//

void QuantizeOp::build(OpBuilder &builder, OperationState &state, Value x,
                       Type elementType, Type scaleType, int64_t blockSize,
                       Value tensorScale, bool hasAmax, bool isPadded) {
  constexpr int64_t kMxBlock = 32, kNvfp4Block = 16;
  if (!scaleType)
    scaleType = Float8E8M0FNUType::get(builder.getContext());
  if (blockSize == 0)
    blockSize = isa<Float8E4M3FNType>(scaleType) ? kNvfp4Block : kMxBlock;
  auto shape = llvm::to_vector(getShape(x.getType()));
  Type elements = makeLike(x.getType(), shape, elementType);
  if (!shape.empty() && !ShapedType::isDynamic(shape.back()) && blockSize > 0)
    shape.back() = llvm::divideCeilSigned(shape.back(), blockSize);
  Type scales = makeLike(x.getType(), shape, scaleType);
  Type amax;
  if (hasAmax)
    amax = isa<VectorType>(x.getType())
               ? Type(builder.getF32Type())
               : RankedTensorType::get({}, builder.getF32Type());
  build(builder, state, elements, scales, amax, x, tensorScale,
        builder.getI64IntegerAttr(blockSize), ScaleRuleAttr(),
        isPadded ? builder.getUnitAttr() : UnitAttr(), ScaleBlockAttr());
}

void DequantizeOp::build(OpBuilder &builder, OperationState &state, Type type,
                         Value elements, Value scales, Value tensorScale,
                         IntegerAttr blockSize) {
  build(builder, state, type, elements, scales, tensorScale, blockSize,
        ScaleBlockAttr());
}

void DequantizeOp::build(OpBuilder &builder, OperationState &state,
                         Value elements, Value scales, Type resultType,
                         Value tensorScale, int64_t blockSize) {
  if (!resultType)
    resultType = builder.getF32Type();
  Type type =
      makeLike(elements.getType(), getShape(elements.getType()), resultType);
  build(builder, state, type, elements, scales, tensorScale,
        makeBlockSize(builder, blockSize));
}
