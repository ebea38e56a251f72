//===- SplatsToFills.cpp - Large constants at run time --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As data, a splat constant would be as large in the program as in memory.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SPLATSTOFILLSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

static LogicalResult fillSplat(arith::ConstantOp op,
                               PatternRewriter &rewriter) {
  constexpr int64_t maxDataElements = 1024;
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!splat || !type || type.getNumElements() <= maxDataElements)
    return rewriter.notifyMatchFailure(op, "no large splat tensor");
  auto value = dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
  if (!value)
    return rewriter.notifyMatchFailure(op, "element is no constant");
  Location loc = op.getLoc();
  Value scalar = arith::ConstantOp::create(rewriter, loc, value);
  Value empty = tensor::EmptyOp::create(rewriter, loc, type, ValueRange());
  rewriter.replaceOpWithNewOp<linalg::FillOp>(op, scalar, empty);
  return success();
}

namespace {
struct SplatsToFillsPass final
    : mlir::blockscale::impl::SplatsToFillsPassBase<SplatsToFillsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(fillSplat);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
