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

#include "AtomLayout.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Swizzles a constant. Otherwise, swizzle(unswizzle(t)) is t only without
/// padding: the swizzle writes 0x00 there, while t may hold anything.
OpFoldResult SwizzleScalesOp::fold(FoldAdaptor adaptor) {
  if (auto scales = dyn_cast_if_present<DenseElementsAttr>(adaptor.getSource()))
    return swizzleConstant(scales, cast<ShapedType>(getType()));
  auto unswizzle = getSource().getDefiningOp<UnswizzleScalesOp>();
  if (unswizzle && canReplace(unswizzle.getSource(), getResult()) &&
      fillsAtoms(cast<ShapedType>(getSource().getType()), kScaleAtomExtents))
    return unswizzle.getSource();
  return {};
}

/// unswizzle(swizzle(s)) is s. Dynamic sizes that may differ from those of s
/// are left to the pattern below.
OpFoldResult UnswizzleScalesOp::fold(FoldAdaptor) {
  auto swizzle = getSource().getDefiningOp<SwizzleScalesOp>();
  if (swizzle && canReplace(swizzle.getSource(), getResult()) &&
      cast<ShapedType>(getType()).hasStaticShape())
    return swizzle.getSource();
  return {};
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
  return replaceByOriginal(rewriter, op, op.getMixedSizes(),
                           swizzle ? swizzle.getSource() : Value(),
                           "swizzle_scales");
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
  results.add(foldConstantSizes<UnswizzleScalesOp, getSwizzledShape>)
      .add(foldUnswizzleOfConstant)
      .add(foldUnswizzleOfDynamicSwizzle);
}
