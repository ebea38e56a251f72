//===- SwizzleFolds.cpp - Folds of the swizzle ops ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cancels pairs of swizzles and folds constants, so that scales are not moved
// unnecessarily.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Swizzles a constant. Otherwise, swizzle(unswizzle(t)) is t only without
/// padding: the swizzle writes 0x00 there, while t may hold anything.
OpFoldResult SwizzleScalesOp::fold(FoldAdaptor adaptor) {
  if (auto scales = dyn_cast_if_present<DenseElementsAttr>(adaptor.getSource()))
    return swizzleConstant(scales, cast<ShapedType>(getType()));
  auto unswizzle = getSource().getDefiningOp<UnswizzleScalesOp>();
  if (!unswizzle || unswizzle.getSource().getType() != getType() ||
      unswizzle.getSource() == getResult()) // A cycle, in a graph region.
    return {};
  auto scales = cast<ShapedType>(getSource().getType());
  ArrayRef<int64_t> tail = scales.getShape().take_back(2);
  if (!scales.hasStaticShape() || tail[0] % kScaleAtomRows != 0 ||
      tail[1] % kScaleAtomBlocks != 0)
    return {};
  return unswizzle.getSource();
}

/// unswizzle(swizzle(s)) is s. Dynamic sizes that may differ from those of s
/// are left to the pattern below.
OpFoldResult UnswizzleScalesOp::fold(FoldAdaptor) {
  auto swizzle = getSource().getDefiningOp<SwizzleScalesOp>();
  if (!swizzle || swizzle.getSource().getType() != getType() ||
      !cast<ShapedType>(getType()).hasStaticShape() ||
      swizzle.getSource() == getResult()) // A cycle, in a graph region.
    return {};
  return swizzle.getSource();
}

/// Whether `scales`, perhaps transposed, is a scale operand of `mma_scaled` on
/// tensors.
static bool feedsMmaScaled(Value scales) {
  auto isMma = [](Operation *user) {
    auto op = dyn_cast<MmaScaledOp>(user);
    return op && op.hasTensorSemantics();
  };
  return llvm::any_of(scales.getUsers(), [&](Operation *user) {
    return isMma(user) || (isa<linalg::TransposeOp>(user) &&
                           llvm::any_of(user->getUsers(), isMma));
  });
}

/// unswizzle(swizzle(s)) is s if the dynamic sizes are known to be those of s.
static LogicalResult foldUnswizzleOfDynamicSwizzle(UnswizzleScalesOp op,
                                                   PatternRewriter &rewriter) {
  auto swizzle = op.getSource().getDefiningOp<SwizzleScalesOp>();
  if (!swizzle)
    return rewriter.notifyMatchFailure(op, "source is not swizzle_scales");
  Value scales = swizzle.getSource();
  if (scales == op.getResult())
    return rewriter.notifyMatchFailure(op, "cycle in a graph region");
  if (!isa<RankedTensorType>(scales.getType()))
    return rewriter.notifyMatchFailure(op, "vectors are left to the folder");
  for (auto [dim, size] : llvm::enumerate(op.getMixedSizes())) {
    FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual(
        ValueBoundsConstraintSet::Variable(size),
        ValueBoundsConstraintSet::Variable(scales, static_cast<int64_t>(dim)));
    if (failed(equal) || !*equal)
      return rewriter.notifyMatchFailure(op, "sizes may differ");
  }
  if (scales.getType() == op.getType())
    rewriter.replaceOp(op, scales);
  else
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getType(), scales);
  return success();
}

/// Constants in `sizes` become static sizes of the result.
static LogicalResult foldConstantSizes(UnswizzleScalesOp op,
                                       PatternRewriter &rewriter) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type)
    return rewriter.notifyMatchFailure(op, "vectors have static sizes");
  // Invalid sizes stay dynamic, because a static one would not verify.
  auto isPossible = [&](unsigned dim, int64_t size) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
    int64_t got = cast<ShapedType>(op.getSource().getType()).getDimSize(dim);
    return size >= 1 &&
           (ShapedType::isDynamic(got) || getSwizzledShape(shape)[dim] == got);
  };

  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> sizes;
  unsigned next = 0;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(size))
      continue;
    Value operand = op.getSizes()[next++];
    std::optional<int64_t> constant = getConstantIntValue(operand);
    if (constant && isPossible(dim, *constant))
      size = *constant;
    else
      sizes.push_back(operand);
  }
  if (sizes.size() == op.getSizes().size())
    return rewriter.notifyMatchFailure(op, "no size is a usable constant");
  Value unswizzled = UnswizzleScalesOp::create(
      rewriter, op.getLoc(), type.clone(shape), op.getSource(), sizes);
  rewriter.replaceOpWithNewOp<tensor::CastOp>(op, type, unswizzled);
  return success();
}

/// Folds to the row-major scales of a swizzled constant, except for operands of
/// `mma_scaled`: its lowering reads the swizzled constant, which should keep
/// the layout that `blockscale-swizzle-scale-operands` gave it.
static LogicalResult foldUnswizzleOfConstant(UnswizzleScalesOp op,
                                             PatternRewriter &rewriter) {
  auto type = cast<ShapedType>(op.getType());
  DenseElementsAttr swizzled;
  if (!matchPattern(op.getSource(), m_Constant(&swizzled)) ||
      !type.hasStaticShape())
    return rewriter.notifyMatchFailure(op, "source is no static constant");
  if (feedsMmaScaled(op.getResult()))
    return rewriter.notifyMatchFailure(op, "is read as it is");
  DenseElementsAttr scales = unswizzleConstant(swizzled, type);
  if (!scales)
    return rewriter.notifyMatchFailure(op, "too large");
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, scales);
  return success();
}

void UnswizzleScalesOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                                    MLIRContext *context) {
  results.add(foldConstantSizes)
      .add(foldUnswizzleOfConstant)
      .add(foldUnswizzleOfDynamicSwizzle);
}
