//===- SwizzleGroupScales.cpp - Scales of groups in atoms -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AtomLayout.h"
#include "NamedShape.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The number of row atoms of `rows` rows in `groups` groups.
static AffineExpr getRowAtoms(AffineExpr rows, AffineExpr groups) {
  return (rows + groups * (kScaleAtomRows - 1)).floorDiv(kScaleAtomRows);
}

/// The shape of the result, as far as it is known.
static SmallVector<int64_t> getResultShape(Value source, Value offsets,
                                           Value rowsOrSource) {
  auto getSize = [](Value value, unsigned dim) {
    return cast<ShapedType>(value.getType()).getDimSize(dim);
  };
  MLIRContext *context = source.getContext();
  int64_t rows = getSize(rowsOrSource, 0), groups = getSize(offsets, 0),
          blocks = getSize(source, 1), atoms = ShapedType::kDynamic;
  if (!ShapedType::isDynamic(rows) && !ShapedType::isDynamic(groups))
    atoms = cast<AffineConstantExpr>(
                getRowAtoms(getAffineConstantExpr(rows, context),
                            getAffineConstantExpr(groups, context)))
                .getValue();
  SmallVector<int64_t> shape = getSwizzledShape({kScaleAtomRows, blocks});
  shape[0] = atoms;
  return shape;
}

void SwizzleGroupScalesOp::build(OpBuilder &builder, OperationState &state,
                                 Value source, Value offsets, Value rows) {
  auto type = RankedTensorType::get(
      getResultShape(source, offsets, rows ? rows : source),
      getElementTypeOrSelf(source.getType()));
  build(builder, state, type, source, offsets, rows);
}

SmallVector<OpFoldResult>
SwizzleGroupScalesOp::getResultSizes(OpBuilder &builder, Location loc,
                                     Value source, Value offsets, Value rows) {
  auto getSize = [&](Value value, unsigned dim) {
    return tensor::getMixedSize(builder, loc, value, dim);
  };
  OpFoldResult counted[] = {getSize(rows ? rows : source, 0),
                            getSize(offsets, 0)};
  SmallVector<OpFoldResult> sizes = getSwizzledSizes(
      builder, loc, {builder.getIndexAttr(kScaleAtomRows), getSize(source, 1)});
  sizes[0] = affine::makeComposedFoldedAffineApply(
      builder, loc,
      getRowAtoms(builder.getAffineDimExpr(0), builder.getAffineDimExpr(1)),
      counted);
  return sizes;
}

LogicalResult SwizzleGroupScalesOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  reifiedReturnShapes.push_back(
      getResultSizes(builder, getLoc(), getSource(), getOffsets(), getRows()));
  return success();
}

LogicalResult SwizzleGroupScalesOp::verify() {
  SmallVector<NamedShape> values = {{"source", getSource()},
                                    {"offsets", getOffsets()},
                                    {"the result", getResult()}};
  if (getRows())
    values.push_back({"rows", getRows()});
  if (failed(verifySameKind(*this, values)))
    return failure();
  auto source = cast<ShapedType>(getSource().getType());
  if (source.getElementType() != getElementTypeOrSelf(getType()))
    return emitOpError("expected source and result to have one element type, "
                       "got ")
           << source << " and " << getType();
  auto offsets = cast<ShapedType>(getOffsets().getType());
  if (source.getDimSize(1) == 0 || offsets.getDimSize(0) == 0)
    return emitOpError("expected K_s and G to be at least 1, got ")
           << source << " and " << offsets;
  SmallVector<int64_t> shape =
      getResultShape(getSource(), getOffsets(), getRowsOrSource());
  ArrayRef<int64_t> given = cast<ShapedType>(getType()).getShape();
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip_equal(shape, given))) {
    auto [expected, size] = sizes;
    // A result may know less than its operands.
    if (!ShapedType::isDynamic(expected) && !ShapedType::isDynamic(size) &&
        expected != size)
      return emitOpError("expected the shape (T + 127 G) / 128, "
                         "ceil(K_s / 4), 32, 16 of the result, ")
             << expected << " in dimension " << dim << ", got " << size;
  }
  return success();
}
