//===- CarrySwizzles.cpp - Swizzles through slices and transposes ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A swizzle moves up, to the source of the scales, where fewer swizzles are
// needed. An unswizzle moves down, to `mma_scaled`, whose lowering folds it. So
// no pattern undoes another.
//
//===----------------------------------------------------------------------===//

#include "ScaleLayout/ScaleTrace.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::blockscale;

static bool isTranspose(Operation *op) { return isa<linalg::TransposeOp>(op); }

/// swizzle(slice(s)) is slice(swizzle(s)), if the slice needs no padding.
static LogicalResult carrySwizzleThroughSlices(SwizzleScalesOp op,
                                               PatternRewriter &rewriter) {
  if (!isa<RankedTensorType>(op.getType()))
    return rewriter.notifyMatchFailure(op, "expected tensors");
  ScaleTrace trace = traceScales(op.getSource(), /*rowsLast=*/false);
  if (trace.slices.empty())
    return rewriter.notifyMatchFailure(op, "expected slices");
  if (trace.source.getDefiningOp<UnswizzleScalesOp>())
    return rewriter.notifyMatchFailure(op, "the unswizzle moves, not this");
  for (const ScaleSlice &slice : trace.slices)
    if (std::string reason = describeCutAtom(slice, /*toItsEnd=*/true);
        !reason.empty())
      return rewriter.notifyMatchFailure(op, reason);

  // In a loop that defines the scales, all of them would be swizzled for one
  // slice.
  Operation *point = getHoistPoint(op, trace.source);
  if (op->getParentOfType<LoopLikeOpInterface>() && point == op &&
      !matchPattern(trace.source, m_Constant()))
    return rewriter.notifyMatchFailure(op, "its loop makes the source");
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(point);
  Value swizzled = emitSwizzle(rewriter, loc, trace.source, trace.rowsLast);
  rewriter.setInsertionPoint(op);
  for (const ScaleSlice &slice : trace.slices)
    swizzled = sliceSwizzled(rewriter, loc, slice, swizzled);
  rewriter.replaceOp(op, swizzled);
  return success();
}

/// slice(unswizzle(t)) is unswizzle(slice(t)), also if there is a transpose in
/// between.
static LogicalResult carryUnswizzleThroughSlice(tensor::ExtractSliceOp op,
                                                PatternRewriter &rewriter) {
  // The other end of the trace shows whether rows are last.
  ScaleTrace trace =
      traceScales(op.getSource(), /*rowsLast=*/false, isTranspose);
  auto unswizzle = trace.source.getDefiningOp<UnswizzleScalesOp>();
  if (!unswizzle)
    return rewriter.notifyMatchFailure(op, "expected an unswizzle");
  // A slice of unknown sizes may cut atoms.
  SmallVector<int64_t> atoms =
      getSwizzledShape(cast<ShapedType>(unswizzle.getType()).getShape());
  for (auto [expected, got] : llvm::zip_equal(
           atoms, cast<ShapedType>(unswizzle.getSource().getType()).getShape()))
    if (ShapedType::isDynamic(expected) && !ShapedType::isDynamic(got))
      return rewriter.notifyMatchFailure(op, "atoms tell more than sizes");
  ScaleTrace slice = traceScales(op.getResult(), trace.rowsLast,
                                 [&](Operation *any) { return any == op; });
  if (slice.slices.empty())
    return rewriter.notifyMatchFailure(op, "expected a slice of the matrix");
  if (std::string reason = describeCutAtom(slice.slices.front());
      !reason.empty())
    return rewriter.notifyMatchFailure(op, reason);

  Value swizzled = sliceSwizzled(rewriter, op.getLoc(), slice.slices.front(),
                                 unswizzle.getSource());
  rewriter.replaceOp(op, getUnswizzled(rewriter, op.getLoc(), swizzled,
                                       op.getType(), trace.rowsLast,
                                       getResultSizes(op)));
  return success();
}

/// swizzle(unswizzle(t)) is t if there is no padding. The op's folder does
/// this, except with transposes in between.
static LogicalResult cancelThroughTransposes(SwizzleScalesOp op,
                                             PatternRewriter &rewriter) {
  auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  if (!type || !type.hasStaticShape() ||
      type.getShape().take_back(2)[0] % kScaleAtomRows != 0 ||
      type.getShape().take_back(2)[1] % kScaleAtomBlocks != 0)
    return rewriter.notifyMatchFailure(op, "expected whole atoms");
  ScaleTrace trace =
      traceScales(op.getSource(), /*rowsLast=*/false, isTranspose);
  auto unswizzle = trace.source.getDefiningOp<UnswizzleScalesOp>();
  if (!unswizzle || trace.rowsLast ||
      unswizzle.getSource().getType() != op.getType() ||
      unswizzle.getSource() == op.getResult()) // A cycle, in a graph region.
    return rewriter.notifyMatchFailure(op, "expected its unswizzle");
  rewriter.replaceOp(op, unswizzle.getSource());
  return success();
}

void blockscale::populateCarrySwizzlesPatterns(RewritePatternSet &patterns) {
  patterns.add(carrySwizzleThroughSlices)
      .add(carryUnswizzleThroughSlice)
      .add(cancelThroughTransposes);
}
