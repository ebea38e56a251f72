//===- ExpandsToCasts.cpp - Views of several unknown sizes ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's expand-strided-metadata computes the dynamic size of a group from
// that of the source, and aborts if a group has two of them. The op has all of
// its sizes, from which the strides follow.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_EXPANDSTOCASTSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

static OpFoldResult multiply(OpBuilder &b, Location loc, OpFoldResult lhs,
                             OpFoldResult rhs) {
  Value left = getValueOrCreateConstantIndexOp(b, loc, lhs);
  Value right = getValueOrCreateConstantIndexOp(b, loc, rhs);
  return getAsOpFoldResult(b.createOrFold<arith::MulIOp>(loc, left, right));
}

static LogicalResult castExpanded(memref::ExpandShapeOp op,
                                  PatternRewriter &rewriter) {
  MemRefType type = op.getResultType();
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  auto isOpen = [&](const ReassociationIndices &group) {
    return llvm::count_if(
               group, [&](int64_t dim) { return type.isDynamicDim(dim); }) > 1;
  };
  if (llvm::none_of(groups, isOpen))
    return rewriter.notifyMatchFailure(op, "expected two dynamic sizes in a "
                                           "group");
  Location loc = op.getLoc();
  auto metadata =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> outer = metadata.getConstifiedMixedStrides();
  SmallVector<OpFoldResult> strides(sizes.size());
  for (auto [group, stride] : llvm::zip_equal(groups, outer)) {
    OpFoldResult next = stride;
    for (int64_t dim : llvm::reverse(group)) {
      strides[dim] = next;
      if (dim != group.front())
        next = multiply(rewriter, loc, next, sizes[dim]);
    }
  }
  // Sizes and strides that are dynamic in the type are values.
  auto [typeStrides, typeOffset] = type.getStridesAndOffset();
  auto fit = [&](OpFoldResult number, int64_t known) -> OpFoldResult {
    if (!ShapedType::isDynamic(known))
      return rewriter.getIndexAttr(known);
    return getValueOrCreateConstantIndexOp(rewriter, loc, number);
  };
  for (auto [stride, known] : llvm::zip_equal(strides, typeStrides))
    stride = fit(stride, known);
  OpFoldResult offset = fit(metadata.getConstifiedMixedOffset(), typeOffset);
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, type, metadata.getBaseBuffer(), offset, sizes, strides);
  return success();
}

namespace {
struct ExpandsToCastsPass final
    : mlir::blockscale::impl::ExpandsToCastsPassBase<ExpandsToCastsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(castExpanded);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
