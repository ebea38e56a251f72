//===- CreateScaleOfAll.cpp - One scale for all elements ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseCoarse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

/// `value`, a tensor of one element, with `rank` dimensions of size 1.
static Value reshapeUnit(OpBuilder &builder, Location loc, Value value,
                         int64_t rank) {
  auto type = cast<RankedTensorType>(value.getType());
  auto group = [](int64_t from, int64_t to) {
    SmallVector<ReassociationIndices> groups(to);
    for (int64_t dim = 0; to != 0 && dim != from; ++dim)
      groups[std::max<int64_t>(0, dim - (from - to))].push_back(dim);
    return groups;
  };
  if (type.getRank() > rank)
    return tensor::CollapseShapeOp::create(builder, loc, value,
                                           group(type.getRank(), rank));
  if (type.getRank() < rank)
    return tensor::ExpandShapeOp::create(
        builder, loc, type.clone(SmallVector<int64_t>(rank, 1)), value,
        group(rank, type.getRank()));
  return value;
}

/// `scale` as a tensor of type `scales`, one for each batch, of `sizes`.
static Value createUnit(OpBuilder &builder, Location loc,
                        const TensorScale &scale, RankedTensorType scales,
                        ArrayRef<OpFoldResult> sizes) {
  Value value = scale.access.value;
  auto source = dyn_cast<RankedTensorType>(value.getType());
  // An element that is read in front becomes a slice, which kernels read.
  SmallVector<OpFoldResult> index;
  if (source)
    index = llvm::map_to_vector(
        scale.access.index, [&](AffineExpr expr) -> OpFoldResult {
          return builder.getIndexAttr(
              cast<AffineConstantExpr>(expr).getValue());
        });
  else if (auto extract = value.getDefiningOp<tensor::ExtractOp>()) {
    value = extract.getTensor();
    source = extract.getTensor().getType();
    index = getAsOpFoldResult(extract.getIndices());
  }
  bool isOne = scales.hasStaticShape() && scales.getNumElements() == 1;
  if (!source || !isOne || source.getEncoding())
    return tensor::SplatOp::create(builder, loc,
                                   createScalar(builder, loc, scale), sizes);
  if (!source.hasStaticShape() || source.getNumElements() != 1) {
    SmallVector<OpFoldResult> ones(source.getRank(), builder.getIndexAttr(1));
    value = tensor::ExtractSliceOp::create(
        builder, loc, RankedTensorType::get({}, source.getElementType()), value,
        index, ones, ones);
  }
  return reshapeUnit(builder, loc, value, scales.getRank());
}

Value blockscale::createScaleOfAll(OpBuilder &builder, Location loc,
                                   const RaisedSide &side, Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  Type element =
      side.splatScale ? side.splatScale.getType() : Type(builder.getF32Type());
  SmallVector<int64_t> shape(type.getRank(), 1);
  if (type.getRank() == 3)
    shape.front() = type.getDimSize(0);
  RankedTensorType scales = RankedTensorType::get(shape, element);
  if (side.splatScale && scales.hasStaticShape())
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(scales, side.splatScale));

  SmallVector<OpFoldResult> sizes(type.getRank(), builder.getIndexAttr(1));
  if (type.getRank() == 3)
    sizes.front() = tensor::getMixedSize(builder, loc, matrix, 0);
  if (side.splatScale) {
    Value one = arith::ConstantOp::create(builder, loc, side.splatScale);
    return tensor::SplatOp::create(builder, loc, one, sizes);
  }
  return createUnit(builder, loc, *side.tensorScale, scales, sizes);
}
