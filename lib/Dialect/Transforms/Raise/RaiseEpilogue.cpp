//===- RaiseEpilogue.cpp - Scales of whole tensors ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma_scaled has no operand for an f32 scale. Its result is multiplied by it,
// by an elementwise op that kernels fuse into their epilogue.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseEpilogue.h"

#include "Utils/OperandView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

static Value createEmpty(OpBuilder &builder, Location loc, Value like,
                         Type element) {
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), element);
}

bool blockscale::isZeros(Value acc) {
  if (auto fill = acc.getDefiningOp<linalg::FillOp>())
    acc = fill.getInputs().front();
  return matchPattern(acc, m_PosZeroFloat());
}

Value blockscale::createZeros(OpBuilder &builder, Location loc, Value acc,
                              FloatType element) {
  auto type = cast<ShapedType>(acc.getType());
  if (!element)
    element = cast<FloatType>(type.getElementType());
  if (type.hasStaticShape())
    return arith::ConstantOp::create(
        builder, loc,
        cast<TypedAttr>(builder.getZeroAttr(type.clone(element))));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  return linalg::FillOp::create(builder, loc, zero,
                                createEmpty(builder, loc, acc, element))
      .getResult(0);
}

static SmallVector<int64_t> getConstantIndex(const Access &access) {
  return llvm::map_to_vector(access.index, [](AffineExpr expr) {
    return cast<AffineConstantExpr>(expr).getValue();
  });
}

/// The scale as a scalar; null if it is an element of a tensor.
static Value getScalar(OpBuilder &builder, Location loc,
                       const TensorScale &scale) {
  Value value = scale.access.value;
  if (scale.splat)
    return arith::ConstantOp::create(builder, loc, scale.splat);
  if (isa<RankedTensorType>(value.getType()))
    return nullptr;
  if (isa<VectorType>(value.getType()))
    return vector::ExtractOp::create(builder, loc, value,
                                     getConstantIndex(scale.access));
  return value;
}

Value blockscale::createScalar(OpBuilder &builder, Location loc,
                               const TensorScale &scale) {
  if (Value scalar = getScalar(builder, loc, scale))
    return scalar;
  SmallVector<Value> index;
  for (int64_t at : getConstantIndex(scale.access))
    index.push_back(arith::ConstantIndexOp::create(builder, loc, at));
  return tensor::ExtractOp::create(builder, loc, scale.access.value, index);
}

static Value scaleVector(OpBuilder &builder, Location loc, Value product,
                         ArrayRef<TensorScale> scales, Value acc) {
  for (const TensorScale &scale : scales) {
    Value factor = vector::BroadcastOp::create(builder, loc, product.getType(),
                                               getScalar(builder, loc, scale));
    product = arith::MulFOp::create(builder, loc, product, factor);
  }
  return arith::AddFOp::create(builder, loc, acc, product);
}

Value blockscale::scaleAndAdd(OpBuilder &builder, Location loc, Value product,
                              ArrayRef<TensorScale> scales, Value acc) {
  if (isa<VectorType>(product.getType()))
    return scaleVector(builder, loc, product, scales, acc);

  auto type = cast<RankedTensorType>(product.getType());
  unsigned rank = type.getRank();
  SmallVector<Value> inputs = {product, acc}, scalars;
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  for (const TensorScale &scale : scales) {
    scalars.push_back(getScalar(builder, loc, scale));
    if (scalars.back())
      continue;
    inputs.push_back(scale.access.value);
    maps.push_back(
        AffineMap::get(rank, 0, scale.access.index, builder.getContext()));
  }
  return computeElements(
      builder, loc, inputs, maps,
      createEmpty(builder, loc, acc, getElementTypeOrSelf(acc)),
      [&](OpBuilder &nested, Location access, ValueRange elements) -> Value {
        Value value = elements[0];
        unsigned next = 2;
        for (Value scalar : scalars)
          value = arith::MulFOp::create(nested, access, value,
                                        scalar ? scalar : elements[next++]);
        return arith::AddFOp::create(nested, access, elements[1], value);
      });
}
